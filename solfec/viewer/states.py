"""The viewer's state as a dictionary in types of JSON: for undo, saved states and recorded scripts."""

from __future__ import annotations

import json

from ..errors import SolfecError
from .cuts import Plane

SWITCHES = ("filled", "edges", "arrows_shown", "lighting", "arrow_scale")  # of the renderer
LOOKS = ("result", "colour_map")
RANGES = ("over_all", "symmetric", "logarithmic")  # of the presentation
KEPT = 200  # steps that can be undone


def capture(app) -> dict:
    """Return the state of the displayed model."""
    view = app.view
    return {
        "domain": app.number, "frame": int(view.source.frame), "camera": json.loads(view.camera.to_json()),
        "range": view.fixed_range, "planes": [[plane.words(), plane.referential] for plane in view.planes], "legend": app.legend_shown,
        "in_space": sorted(view.shown_in_space), "rough": sorted(view.rough), "followed": view.followed, "riding": view.riding,
        "highlighted": sorted(view.highlighted),
        "opacity": {str(body): round(value, 6) for body, value in sorted(view.opacities().items())},
    } | {key: getattr(view, key) for key in (*LOOKS, *RANGES)} | {key: getattr(view.renderer, key) for key in SWITCHES}  # fmt: skip


def restore(app, state: dict) -> None:
    """Restore a state of `capture`.

    Raises
    ------
    SolfecError
        The dictionary is not such a state.
    """
    try:
        number = int(state["domain"])
        if not 0 <= number < len(app.views):
            raise ValueError(f"there is no model {number}")
        view = app.views[number]
        planes = [Plane.of(words, (0.0, 0.0, 0.0), bool(referential)) for words, referential in state["planes"]]
        highlighted = {int(body) for body in state["highlighted"]}
        in_space, rough = {str(word) for word in state["in_space"]}, {int(body) for body in state["rough"]}
        followed, riding = int(state["followed"]), bool(state["riding"])
        opacity = {int(identifier): float(value) for identifier, value in state["opacity"].items()}
        fixed = state["range"]
        fixed = None if fixed is None else (float(fixed[0]), float(fixed[1]))
        view.camera.from_json(json.dumps(state["camera"]))
        frame = int(state["frame"])
        colours = str(state["colour_map"])
        kept = {key: type(getattr(view.renderer, key))(state[key]) for key in SWITCHES}
        result, ranges, legend = str(state["result"]), {key: bool(state[key]) for key in RANGES}, bool(state["legend"])
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        raise SolfecError(f"this is no state of the viewer: {error}") from None
    app.number = number
    if not view.source.live and frame != view.source.frame:
        view.source.seek(min(frame, len(view.source.times) - 1))
    for key, value in kept.items():
        setattr(view.renderer, key, value)
    view.set_colours(colours)
    view.planes, view.fixed_range, app.legend_shown = planes, fixed, legend
    view.highlighted = highlighted
    view.shown_in_space, view.rough, view.followed, view.riding = in_space, rough, followed, riding
    for key, value in ranges.items():
        setattr(view, key, value)
    view.keep_up()
    view.put_opacities(opacity)
    view.show(result)


class Undo:
    """States before the last commands, and undone ones."""

    def __init__(self):
        self.past: list[tuple[str, dict]] = []
        self.future: list[dict] = []

    def note(self, name: str, state: dict) -> None:
        """Store the state before a command; of the same command many times in a row, such as a slider's, only the first."""
        if not (self.past and self.past[-1][0] == name and name in ("frame", "camera", "move cut")):
            self.past.append((name, state))
            del self.past[:-KEPT]
        self.future.clear()

    def back(self, app) -> None:
        """Restore the state before the last command."""
        if not self.past:
            raise SolfecError("there is nothing to undo")
        now = capture(app)
        restore(app, self.past.pop()[1])
        self.future.append(now)

    def forward(self, app) -> None:
        """Restore the state that was undone last."""
        if not self.future:
            raise SolfecError("there is nothing to do again")
        now = capture(app)
        restore(app, self.future.pop())
        self.past.append(("redo", now))


def save(app, path: str) -> None:
    """Write the state to a file."""
    write(path, json.dumps(capture(app), indent=1) + "\n")


def load(app, path: str) -> None:
    """Restore the state in a file."""
    try:
        restore(app, json.loads(read(path)))
    except ValueError as error:
        raise SolfecError(f"{path}: this is no state of the viewer: {error}") from None
    except SolfecError as error:
        raise error if str(error).startswith(path) else SolfecError(f"{path}: {error}") from None


def read(path: str) -> str:
    """Return the text of a file."""
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise SolfecError(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from None


def write(path: str, text: str) -> None:
    """Write a text file."""
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise SolfecError(f"{path}: cannot be written: {error.strerror or error}") from None


def script(app) -> str:
    """Return the commands done so far as a viewer script."""
    lines = [f"# Recorded by the viewer in a window of {app.size[0]}x{app.size[1]} pixels; run it by P, or with --script."]
    return "\n".join([*lines, *(f"VIEW({command!r})" for command in app.log)]) + "\n"
