"""The viewer's state, and what its commands change.  No ImGui and no window here: tests and scripts drive it by words."""

from __future__ import annotations

import shlex
import time

import numpy as np

from ..errors import NotBuiltYet, SolfecError
from . import picking
from .gl.renderer import Renderer
from .presentation import Presentation

BUDGET = 0.02  # seconds of steps between two pictures of a model that runs


class MissingArgument(Exception):
    """A command needs a word more; `question` asks the user for it."""

    def __init__(self, name: str, question: str):
        super().__init__(question)
        self.name, self.question = name, question


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
        What a click or a drag of the left button does; empty: it turns the scene.
    points : list of ndarray
        Picked so far by a tool of measurement.
    message, error : str
        Shown in the top line.
    log : list of str
        Commands that have been done: a script.
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
        self.tool, self.points, self.message, self.error = "", [], "", ""
        self.log: list[str] = []
        self.dirty = self.legend_shown = True
        self.closing = self.playing = self.path_shown = self.energies_shown = self.help_shown = self.following = False
        self.selections: list[np.ndarray] = []
        self.speed, self.skip, self._clock = 1.0, 1, (0.0, 0.0)
        self._looked = time.monotonic()
        for view in self.views:
            view.fit(size[0] / size[1])

    @property
    def view(self) -> Presentation:
        """Of the domain that is shown."""
        return self.views[self.number]

    @property
    def source(self):
        """Of the domain that is shown."""
        return self.view.source

    # -- commands -------------------------------------------------------------------------------------------

    def do(self, line: str) -> None:
        """Do a command: its name and words, as `seek to 12`.

        Raises
        ------
        SolfecError, NotBuiltYet
            It cannot be done.
        MissingArgument
            It needs a word more.
        """
        from .commands import find

        command, rest = find(line)
        try:
            words = shlex.split(rest) if command.words != "text" else [rest] * bool(rest)
        except ValueError as error:
            raise SolfecError(f"{line!r} cannot be read: {error}") from None
        if command.question and not words:
            raise MissingArgument(command.name, command.question)
        if words and not command.question:
            raise SolfecError(f"{command.name!r} takes no words, and {rest!r} stands behind it")
        command.run(self, *words)
        self.log.append(line)
        self.dirty = True

    def try_to(self, line: str) -> MissingArgument | None:
        """The same for users: errors are shown, not raised; what is missing is returned."""
        self.error = ""
        try:
            self.do(line)
        except MissingArgument as missing:
            return missing
        except (SolfecError, NotBuiltYet) as error:
            self.error, self.dirty = str(error), True
        return None

    # -- playing --------------------------------------------------------------------------------------------

    def tick(self) -> bool:
        """Go on with what plays, at the pace of the stored times, or with results that grow; whether something changed."""
        self._look_for_frames()
        if not self.playing:
            return False
        source = self.source
        if source.live:
            self._run(BUDGET)
            return True
        started, first = self._clock
        moment = first + self.speed * (time.monotonic() - started)
        frame = int(np.searchsorted(source.times, moment, side="right")) - 1
        last = len(source.times) - 1
        if frame <= source.frame and source.frame < last:
            return False
        self.playing = frame < last and source.frame < last
        if frame > source.frame:
            source.seek(min(frame, last))
            self.view.refresh()
            self.dirty = True
        return True

    def _look_for_frames(self) -> None:
        """Once a second: frames that another process has written; who follows sees the last one."""
        if time.monotonic() - self._looked < 1.0:
            return
        self._looked = time.monotonic()
        before = self.source.frame
        if self.source.refresh() and len(self.source.times):
            if self.following or self.source.frame != before:
                self.seek(-1)
            self.dirty = True

    def play(self) -> None:
        """Play from the present frame, or stop playing; behind the last frame from the first one."""
        self.playing = not self.playing
        if self.playing and not self.source.live:
            if self.source.frame == len(self.source.times) - 1:
                self.seek(0)
            self._clock = time.monotonic(), self.source.time

    def step(self) -> None:
        """One step of a model that runs, or the next frame of stored results."""
        if self.source.live:
            self._run(0.0)
        else:
            self.seek(min(self.source.frame + 1, len(self.source.times) - 1))

    def _run(self, budget: float) -> None:
        """Steps of a model that runs."""
        self.source.go_on(budget)
        if self.source.finished:
            self.playing, self.message = False, f"the run has ended at time {self.source.time:.6g}"
        self.view.refresh()
        self.dirty = True

    def seek(self, frame: int) -> None:
        """Show a frame."""
        self.source.seek(frame)
        self.view.refresh()
        self._clock = time.monotonic(), self.source.time

    def seek_time(self, moment: float) -> None:
        """Show the frame nearest to a time."""
        self.source.seek_time(moment)
        self.seek(self.source.frame)

    # -- pictures -------------------------------------------------------------------------------------------

    def draw(self, quick: bool = False):
        """Draw the picture where something changed; return the targets that hold it."""
        renderer = self.view.renderer
        if self.dirty or renderer.targets is None or (renderer.targets.width, renderer.targets.height) != self.size:
            lighting = renderer.lighting
            renderer.lighting = min(lighting, 1) if quick else lighting
            renderer.draw(self.view.camera, *self.size)
            renderer.lighting = lighting
            self.dirty = quick
        return renderer.targets

    def resize(self, width: int, height: int) -> None:
        """Another size of the window; windows without any area change nothing."""
        if width > 0 and height > 0 and (width, height) != self.size:
            self.size, self.dirty = (width, height), True

    # -- mouse ----------------------------------------------------------------------------------------------

    def click(self, x: int, y: int) -> None:
        """A click on a pixel, y from above: inspect the body, or use the tool."""
        from .tools import CLICKS

        if not (0 <= x < self.size[0] and 0 <= y < self.size[1]):
            return
        self.draw()
        found = picking.pick(self.view, x, y)
        self.error, self.dirty = "", True
        try:
            CLICKS.get(self.tool, CLICKS[""])(self, found)
        except SolfecError as error:
            self.error = str(error)

    def rectangle(self, x0: int, y0: int, x1: int, y1: int) -> None:
        """A rectangle drawn with a tool of selection."""
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
        """Show these bodies alone, until `previous selection`."""
        self.selections.append(self.view.looks[:, 3].copy())
        kept = np.zeros(len(self.view.looks), bool)
        kept[self.view.rows(identifiers)] = True
        self.view.looks[~kept, 3] = 0.0
        self.view.refresh()
        self.view.fit(self.size[0] / self.size[1])

    def visible(self) -> np.ndarray:
        """Identifiers of bodies that are not hidden."""
        return self.view.domain.bodies.view("id")[self.view.looks[:, 3] != 0.0]
