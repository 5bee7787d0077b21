"""The viewer's state and the actions of its commands, without ImGui and window: tests and scripts drive it by words."""

from __future__ import annotations

import shlex
import time

import numpy as np

from ..errors import NotBuiltYet, SolfecError
from . import paths, picking
from .command_table import MissingArgument, find
from .gl.renderer import Renderer
from .modes import PERIOD
from .presentation import Presentation
from .states import Undo, capture
from .tools import NODES, POINTING

NOT_UNDONE = ("undo", "redo", "run/stop", "step", "python", "run python script", "quit", "help", "speed", "skip", "contrast on/off")  # commands that do not change the picture, or cannot be undone
NOT_RECORDED = ("run python script", "save script", "quit", "console on/off", "help", "contrast on/off")  # the commands of a script are recorded instead
MOVES = ("frame", "camera", "move cut")  # of many in a row only the last one is recorded
BUDGET = 0.02  # seconds of steps between two pictures of a model that runs


class Application:
    """Domains on the screen, a tool of the mouse, selections, and the commands of `commands.COMMANDS`.

    Parameters
    ----------
    sources : list of Stored
    size : tuple of 2 int
        Of the picture in pixels.

    Attributes
    ----------
    tool : str
        Tool of clicks and drags of the left button; empty: they turn the scene.
    points : list of ndarray
        Points picked so far by a tool of measurement.
    message, error, hint : str
        Shown in the top line; the hint tells what a tool points at.
    pointed : ndarray (3,), optional
        The vertex at which a tool of measurement points.
    contrast : bool
        Whether the window is black on white.
    picture_scale, picture_clear : int, bool
        By which pictures in files are larger than the window, and whether they have no background.
    log : list of str
        Commands that have been done, as lines of a script.
    following : bool
        Whether the last frame of results that grow is shown.
    dirty : bool
        Whether the picture must be drawn again.
    """

    def __init__(self, sources: list, size: tuple[int, int] = (1024, 768)):
        if not sources:
            raise SolfecError("there is nothing to look at")
        self.size, self.number = size, 0
        self.views = [Presentation(source, Renderer()) for source in sources]
        self.tool, self.points, self.message, self.error, self.hint = "", [], "", "", ""
        self.pointed, self.contrast, self._outlined = None, False, True
        self.picture_scale, self.picture_clear = 1, False
        self.log: list[str] = []
        self.dirty = self.legend_shown = True
        self.closing = self.playing = self.path_shown = self.help_shown = self.following = self.looping = self.path_playing = False
        self.energies_shown = self.iterations_shown = self.histories_shown = self.inspector_shown = self.bodies_shown = False
        self.cuts_shown = self.console_shown = False
        self.picked, self.histories, self.camera_keys, self.until = picking.Picked(), [], [], np.inf
        self.recorder, self.clipboard, self.font_size = None, "", 15.0
        self.selections: list[dict[int, float]] = []
        self.speed, self.skip, self._clock, self.keeping_pace = 1.0, 1, (0.0, 0.0), False
        self._looked = time.monotonic()
        self.undo, self.names, self.console = Undo(), None, ""
        for view in self.views:
            view.fit(size[0] / size[1], near=True)

    @property
    def view(self) -> Presentation:
        """Presentation of the domain that is shown."""
        return self.views[self.number]

    @property
    def source(self):
        """Source of the domain that is shown."""
        return self.view.source

    # -- commands -------------------------------------------------------------------------------------------

    def do(self, line: str) -> None:
        """Do a command, given by its name and words such as `seek to 12`.

        Raises
        ------
        SolfecError, NotBuiltYet
            The command cannot be done.
        MissingArgument
            The command needs another word.
        """
        from . import commands  # noqa: F401  # fills the table

        command, rest = find(line)
        try:
            words = shlex.split(rest) if command.words != "text" else [rest] * bool(rest)
        except ValueError as error:
            raise SolfecError(f"{line!r} cannot be read: {error}") from None
        if command.question and not words and not command.optional:
            raise MissingArgument(command.name, command.question)
        if words and not command.question:
            raise SolfecError(f"{command.name!r} takes no words, and {rest!r} stands behind it")
        before = None if command.name in NOT_UNDONE else capture(self)
        try:
            command.run(self, *words)
        except TypeError as error:
            if "positional argument" not in str(error):
                raise
            raise SolfecError(f"{command.name!r} takes other words: {command.question}") from None
        if command.name in ("undo", "redo"):
            pass
        elif before is not None:
            self.undo.note(command.name, before)
        if command.name not in NOT_RECORDED:
            self.record(line)
        self.dirty = True

    def try_to(self, line: str) -> MissingArgument | None:
        """Do a command line for the user: show an error instead of raising it; return a missing argument."""
        self.error = ""
        try:
            self.do(line)
        except MissingArgument as missing:
            return missing
        except (SolfecError, NotBuiltYet) as error:
            self.error, self.dirty = str(error), True
        return None

    def record(self, line: str) -> None:
        """Add a command to the record; of many moves of the slider or the camera in a row keep the last one."""
        before = find(self.log[-1])[0].name if self.log else ""
        if before in MOVES and before == find(line)[0].name and (before != "move cut" or self.log[-1].split()[2] == line.split()[2]):
            self.log.pop()
        self.log.append(line)

    def obey(self, line: str) -> None:
        """Do a command of a script, in which a missing argument is an error."""
        self.view.keep_up()
        try:
            self.do(line)
        except MissingArgument as missing:
            raise SolfecError(f"{missing.name!r} needs words: {missing.question}") from None

    def render(self, simulation, identifiers) -> None:
        """Show a model, with all of its bodies or the given ones."""
        for number, view in enumerate(self.views):
            if view.source.simulation is simulation:
                self.number = number
                view.keep_up()
                if identifiers is None:
                    view.set_opacity(None, 1.0)
                    view.fit(self.size[0] / self.size[1], near=True)
                else:
                    self.select(identifiers)
                self.dirty = True
                return
        raise SolfecError("RENDER: the viewer does not show this SOLFEC object")

    def told(self, text: str) -> None:
        """Store output of scripts for the console."""
        self.console = (self.console + text)[-100_000:]

    # -- playing --------------------------------------------------------------------------------------------

    def tick(self) -> bool:
        """Advance what plays, at the pace of the stored times, or show growing results; return whether something changed."""
        self._look_for_frames()
        changed = self._widen_range() | self._oscillate()
        if not self.playing:
            return changed
        source = self.source
        started, first = self._clock
        moment = min(first + self.speed * (time.monotonic() - started), self.until)
        if source.live:
            if self.keeping_pace and source.time + source.domain.step > moment and moment < self.until:
                return changed
            self._run(BUDGET, moment if self.keeping_pace else self.until)
            if source.time >= self.until - 0.5 * source.domain.step:
                self.playing, self.until = False, np.inf
            return True
        return self._play_frames(moment) or changed

    def _play_frames(self, moment: float) -> bool:
        """Show the frame of a time; at the last one stop, or begin again."""
        source = self.source
        frame = int(np.searchsorted(source.times, moment, side="right")) - 1
        last = len(source.times) - 1
        if frame <= source.frame and source.frame < last and moment < self.until:
            return False
        if frame > source.frame:
            source.seek(min(frame, last))
            self.moved()
        if source.frame >= last and self.looping and moment < self.until:
            self._clock = time.monotonic(), float(source.times[0])
            source.seek(0)
            self.moved()
        elif source.frame >= last or moment >= self.until:
            self.playing, self.until = False, np.inf
            self.cut_film()
        return True

    def moved(self) -> None:
        """Update the picture after the source has moved to another frame or step."""
        if self.path_playing and self.camera_keys:
            paths.place(self.view.camera, self.camera_keys, self.source.time)
        self.view.refresh()
        self.dirty = True
        if self.recorder is not None:
            try:
                self.recorder.add(self.view)
            except SolfecError as error:
                self.recorder, self.error = None, str(error)

    def _widen_range(self) -> bool:
        """Read some more frames for the range over all of them."""
        view = self.view
        if not view.over_all or view.fixed_range is not None or not view.result or view.ranges.complete(view.result):
            return False
        view.refresh()
        self.dirty = True
        return True

    def _oscillate(self) -> bool:
        """Move a modal shape that is animated."""
        shape = self.view.shape
        if shape is None or not shape.animated:
            return False
        shape.phase = 2.0 * np.pi * time.monotonic() / PERIOD
        self.view.refresh()
        self.dirty = True
        return True

    def film(self, path: str) -> None:
        """Begin a movie of the window's picture."""
        from .movies import Recorder

        self.recorder = Recorder(path, self.size, annotated=self.legend_shown)
        self.recorder.add(self.view)
        self.message = f"filming: {path}"

    def cut_film(self) -> None:
        """End the movie, if one is being made."""
        if self.recorder is not None:
            recorder, self.recorder = self.recorder, None
            try:
                recorder.close()
                self.message = f"written: {recorder.path}"
            except SolfecError as error:
                self.error = str(error)

    def _look_for_frames(self) -> None:
        """Check once a second for frames that another process has written; when following, show the last one."""
        if time.monotonic() - self._looked < 1.0:
            return
        self._looked = time.monotonic()
        before = self.source.frame
        if self.source.refresh() and len(self.source.times):
            if self.following or self.source.frame != before:
                self.seek(-1)
            self.dirty = True

    def restart_clock(self) -> None:
        """Start the clock of the pace now."""
        self._clock = time.monotonic(), self.source.time

    def play(self) -> None:
        """Play from the present frame, or stop playing; after the last frame begin with the first one."""
        self.playing = not self.playing
        if self.playing and not self.source.live:
            if self.source.frame == len(self.source.times) - 1:
                self.seek(0)
        self._clock = time.monotonic(), self.source.time
        if not self.playing:
            self.until = np.inf

    def step(self) -> None:
        """Make one step of a model that runs, or show the next frame of stored results."""
        if self.source.live:
            self._run(0.0, np.inf)
        else:
            self.seek(min(self.source.frame + 1, len(self.source.times) - 1))

    def _run(self, budget: float, moment: float) -> None:
        """Make steps of a model that runs."""
        self.source.go_on(budget, moment)
        if self.source.finished:
            self.playing, self.message = False, f"the run has ended at time {self.source.time:.6g}"
        self.moved()

    def seek(self, frame: int) -> None:
        """Show a frame."""
        self.source.seek(frame)
        self.moved()
        self._clock = time.monotonic(), self.source.time

    def seek_time(self, moment: float) -> None:
        """Show the frame nearest to a time."""
        self.source.seek_time(moment)
        self.seek(self.source.frame)

    # -- pictures -------------------------------------------------------------------------------------------

    def draw(self, quick: bool = False):
        """Draw the picture if something changed; return the targets that hold it."""
        renderer = self.view.renderer
        if self.dirty or renderer.targets is None or (renderer.targets.width, renderer.targets.height) != self.size:
            lighting = renderer.lighting
            renderer.lighting = min(lighting, 1) if quick else lighting
            renderer.draw(self.view.camera, *self.size)
            renderer.lighting = lighting
            self.dirty, self._outlined = quick, True
        elif not self._outlined:
            renderer.outline(self.view.camera)
            self._outlined = True
        return renderer.targets

    def resize(self, width: int, height: int) -> None:
        """Change the size of the picture; ignore windows without area."""
        if width > 0 and height > 0 and (width, height) != self.size:
            self.size, self.dirty = (width, height), True

    # -- mouse ----------------------------------------------------------------------------------------------

    def click(self, x: int, y: int) -> None:
        """Handle a click on a pixel, y from above: inspect the body, or use the tool."""
        from .tools import CLICKS

        if not (0 <= x < self.size[0] and 0 <= y < self.size[1]):
            return
        self.draw()
        self.picked = found = picking.pick(self.view, x, y)
        self.error, self.dirty = "", True
        try:
            CLICKS.get(self.tool, CLICKS[""])(self, found)
        except SolfecError as error:
            self.error = str(error)

    def hover(self, x: int, y: int) -> None:
        """Tell what the tool of the mouse would act on at a pixel, y from above: outline the body, or note the vertex."""
        view, targets = self.view, self.view.renderer.targets
        inside = targets is not None and (targets.width, targets.height) == self.size and 0 <= x < self.size[0] and 0 <= y < self.size[1]
        found = picking.pick(view, x, y) if self.tool in POINTING and inside else picking.Picked()
        self.hint, self.pointed = "", None
        if found.body:
            self.hint = f"{self.tool}: body {found.body} {view.domain.body_labels.get(found.body, '')}".rstrip()
            if self.tool in NODES and (vertex := picking.nearest_vertex(view, found)) is not None:
                vertices = view.domain.geometry.vertices
                self.pointed = vertices.current[:, vertex].copy()
                self.hint += f", node {int(vertices.node[vertex])}" if vertices.node[vertex] >= 0 else ""
        if view.renderer.hovered != found.body:
            view.renderer.hovered, self._outlined = found.body, False

    def note_camera(self) -> None:
        """Record the place of the camera after the mouse has moved it."""
        line = "camera " + self.view.camera.to_json()
        self.record(line)

    def inspect(self, body: int) -> None:
        """Outline a body and show its numbers, as a click does; the picked point is the mass centre.

        Raises
        ------
        SolfecError
            There is no such body.
        """
        from .tools import CLICKS

        rows = self.view.rows([body])
        if not len(rows):
            raise SolfecError(f"there is no body {body}")
        bodies = self.view.domain.bodies
        extents = bodies.view("extents")[:, int(rows[0])]
        self.picked = picking.Picked(body=body, point=0.5 * (extents[:3] + extents[3:]))
        CLICKS[""](self, self.picked)

    def rectangle(self, x0: int, y0: int, x1: int, y1: int) -> None:
        """Handle a rectangle of a tool of selection."""
        from .tools import within

        found = within(self, x0, y0, x1, y1)
        if "wireframe" in self.tool:
            rows = self.view.rows(found)
            self.view.looks[rows, 3] = np.where(self.view.looks[rows, 3] < 0.0, 1.0, -1.0)
            self.view.refresh()
        elif found:
            self.select(found)
        self.tool, self.dirty = "", True

    def select(self, identifiers) -> None:
        """Show only these bodies, until `previous selection`."""
        self.selections.append(self.view.opacities())
        kept = np.zeros(len(self.view.looks), bool)
        kept[self.view.rows(identifiers)] = True
        self.view.looks[~kept, 3] = 0.0
        self.view.refresh()
        self.view.fit(self.size[0] / self.size[1])

    def close(self) -> None:
        """End movies, runs and results, and free the graphics card."""
        self.cut_film()
        for view in self.views:
            view.renderer.delete()
            view.source.close()

    def visible(self) -> np.ndarray:
        """Identifiers of bodies that are not hidden."""
        return self.view.domain.bodies.view("id")[self.view.looks[:, 3] != 0.0]
