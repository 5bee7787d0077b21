"""The table of commands: what menus, keys, scripts and tests call; Solfec-1.0's words and keys."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..errors import NotBuiltYet, SolfecError
from . import fields
from .camera import VIEWS
from .tools import chosen


@dataclass(frozen=True)
class Command:
    """One entry.

    Attributes
    ----------
    name : str
        What scripts write and menus show.
    menu : str
        The menu, or the menu and the sub-menu, in which it stands.
    key : str
        A character, or UP, DOWN, LEFT, RIGHT, RETURN, SPACE, ESC, F1.
    question : str
        Asks for its words; empty: it takes none.
    words : str
        'text': all behind the name is one word.
    run : callable
        ``run (application, *words)``.
    """

    name: str
    menu: str
    key: str
    run: Callable
    question: str = ""
    words: str = ""


COMMANDS: dict[str, Command] = {}


def entry(name: str, menu: str, key: str = "", question: str = "", words: str = ""):
    """Put a function into the table."""

    def put(function):
        COMMANDS[name] = Command(name, menu, key, function, question, words)
        return function

    return put


def find(line: str) -> tuple[Command, str]:
    """The command with which a line begins, the longest that fits, and what stands behind it."""
    line = line.strip()
    for name in sorted(COMMANDS, key=len, reverse=True):
        if line == name or line.startswith(name + " "):
            return COMMANDS[name], line[len(name) :].strip()
    raise SolfecError(f"there is no command {line!r}")


def number(text: str, what: str, kind=float):
    """A number that was typed."""
    try:
        value = kind(text)
    except ValueError:
        value = np.nan
    if not np.isfinite(value):
        raise SolfecError(f"{text!r} is no {what}")
    return value


# -- domain -------------------------------------------------------------------------------------------------


@entry("previous domain", "domain", "<")
def _previous(app):
    app.number = (app.number - 1) % len(app.views)


@entry("next domain", "domain", ">")
def _next(app):
    app.number = (app.number + 1) % len(app.views)


# -- render -------------------------------------------------------------------------------------------------


def _tool(name: str, menu: str, key: str):
    @entry(name, menu, key)
    def use(app):
        app.tool, app.points = ("" if app.tool == name else name), []


for _name, _key in (("2D selection", "2"), ("3D selection", "3"), ("2D wireframe", "4"), ("3D wireframe", "5")):
    _tool(_name, "render", _key)


@entry("previous selection", "render", "p")
def _previous_selection(app):
    if app.selections:
        opacity = app.selections.pop()
        if len(opacity) == len(app.view.looks):
            app.view.looks[:, 3] = opacity
        app.view.refresh()
        app.view.fit(app.size[0] / app.size[1])


@entry("toggle bodies", "render", "b")
def _toggle_bodies(app):
    app.view.renderer.filled = not app.view.renderer.filled


# -- tools --------------------------------------------------------------------------------------------------


def _not_built(name: str, menu: str, key: str = ""):
    @entry(name, menu, key)
    def refuse(app):
        raise NotBuiltYet(f"{name} is not built yet")


def _matching(app, label: str) -> set[int]:
    return chosen(app.view.domain, [label])


@entry("highlight by label", "tools", "K", "label (a regular expression):", "text")
def _highlight(app, label):
    app.view.set_opacity(None, 0.35)
    app.view.set_opacity(_matching(app, label), 1.0)


@entry("select by label", "tools", "k", "label (a regular expression):", "text")
def _select_by_label(app, label):
    app.select(_matching(app, label))


@entry("legend extents", "tools", "e", "least and greatest value, or auto:")
def _extents(app, low, high=None):
    if low == "auto" and high is None:
        app.view.set_range(None, None)
    elif high is None:
        raise SolfecError("the legend needs two numbers, or the word auto")
    else:
        app.view.set_range(number(low, "number"), number(high, "number"))


_tool("toggle transparent", "tools", "t")


@entry("transparent all", "tools", "T")
def _transparent_all(app):
    app.view.looks[app.view.looks[:, 3] != 0.0, 3] = 0.35
    app.view.refresh()


@entry("transparent none", "tools", "n")
def _transparent_none(app):
    app.view.looks[app.view.looks[:, 3] != 0.0, 3] = 1.0
    app.view.refresh()


@entry("Euler cut", "tools", "c", "plane, as x, -z:0.5 or 1,1,0:0.5:")
def _cut(app, plane):
    app.view.cut(plane)


@entry("clear cuts", "tools", "s")
def _clear_cuts(app):
    app.view.clear_cuts()


_tool("hide", "tools", "h")


@entry("show all", "tools", "a")
def _show_all(app):
    app.selections = []
    app.view.set_opacity(None, 1.0)


def _step_result(app, by: int) -> None:
    names = ["", *fields.RESULTS]
    app.view.show(names[(names.index(app.view.result) + by) % len(names)])


@entry("next result", "tools", "+")
def _next_result(app):
    _step_result(app, 1)


@entry("previous result", "tools", "-")
def _previous_result(app):
    _step_result(app, -1)


@entry("bigger arrows", "tools", "]")
def _bigger(app):
    app.view.renderer.arrow_scale = min(app.view.renderer.arrow_scale * 1.25, 100.0)


@entry("smaller arrows", "tools", "[")
def _smaller(app):
    app.view.renderer.arrow_scale = max(app.view.renderer.arrow_scale / 1.25, 0.01)


@entry("toggle output path", "tools", "o")
def _path(app):
    app.path_shown = not app.path_shown


for _name, _key in (("point coordinates", "x"), ("points distance", "d"), ("points angle", "g"), ("trackball center", "L")):
    _tool(_name, "tools", _key)


@entry("wireframe all", "tools", "w")
def _wire(app):
    app.view.looks[app.view.looks[:, 3] != 0.0, 3] = -1.0
    app.view.refresh()


@entry("wireframe none", "tools", "W")
def _no_wire(app):
    app.view.looks[app.view.looks[:, 3] < 0.0, 3] = 1.0
    app.view.refresh()


@entry("legends on/off", "tools", "l")
def _legends(app):
    app.legend_shown = not app.legend_shown


@entry("lighting on/off", "tools", "m")
def _lighting(app):
    app.view.renderer.lighting = 0 if app.view.renderer.lighting else 2


@entry("colours", "tools", "", "colour map: viridis, cividis, diverging or classic")
def _colours(app, name):
    app.view.set_colours(name)


for _name, _key in (("run python script", "P"), ("display points", "D"), ("Lagrange cut", "C"), ("toggle rough mesh", "r")):
    _not_built(_name, "tools", _key)

# -- analysis -----------------------------------------------------------------------------------------------


@entry("run/stop", "analysis", "RETURN")
def _run(app):
    app.play()


@entry("step", "analysis", "SPACE")
def _step(app):
    app.step()


@entry("seek to", "analysis", "UP", "time:")
def _seek(app, moment):
    app.seek_time(number(moment, "time"))


@entry("frame", "analysis", "", "number of the frame:")
def _frame(app, frame):
    app.seek(number(frame, "frame", int))


@entry("forward", "analysis", "RIGHT")
def _forward(app):
    app.seek(min(app.source.frame + app.skip, len(app.source.times) - 1))


@entry("backward", "analysis", "LEFT")
def _backward(app):
    app.seek(max(app.source.frame - app.skip, 0))


@entry("skip", "analysis", "DOWN", "frames that forward and backward go:")
def _skip(app, count):
    count = number(count, "number of frames", int)
    if count < 1:
        raise SolfecError(f"forward and backward go by one frame at least, not {count}")
    app.skip = count


@entry("speed", "analysis", "", "seconds of the model per second:")
def _speed(app, factor):
    factor = number(factor, "speed")
    if not factor > 0:
        raise SolfecError(f"the speed must be positive, not {factor:g}")
    if app.playing:
        app.play()
    app.speed = factor


@entry("follow last frame", "analysis")
def _follow(app):
    app.following = not app.following
    if app.following:
        app.seek(-1)


@entry("energies on/off", "analysis")
def _energies(app):
    app.energies_shown = not app.energies_shown


# -- kinds and results --------------------------------------------------------------------------------------


@entry("result", "", "", "name of the result:")
def _result(app, name):
    app.view.show("" if name == "none" else name)


def _result_entry(name: str, menu: str) -> None:
    @entry(f"show {name}", menu)
    def show(app):
        app.view.show("" if name == "plain" else name)


for _group, _names in (
    ("kinds of", ("plain", *fields.KINDS)), ("results/displacements", fields.DISPLACEMENTS), ("results/velocities", fields.VELOCITIES),
    ("results/stresses", fields.STRESSES), ("results/constraints", fields.AT_CONSTRAINTS),
):  # fmt: skip
    for _name in _names:
        _result_entry(_name, _group)
for _name in ("constraint ranks", "forces", "body ranks"):
    _not_built(_name, "kinds of")

# -- view ---------------------------------------------------------------------------------------------------


@entry("perspective/ortho", "view")
def _ortho(app):
    app.view.camera.ortho = not app.view.camera.ortho


@entry("outline/fill", "view")
def _outline(app):
    app.view.renderer.edges = not app.view.renderer.edges


def _view_entry(name: str) -> None:
    @entry(name, "view")
    def look(app):
        app.view.look(name)
        app.view.fit(app.size[0] / app.size[1])


for _name in VIEWS:
    _view_entry(_name)


@entry("look", "", "", "azimuth,elevation:")
def _look(app, words):
    app.view.look(words)


@entry("fit", "view")
def _fit(app):
    app.view.fit(app.size[0] / app.size[1])


# -- export, help, quit -------------------------------------------------------------------------------------


def _export(ending: str) -> None:
    @entry(ending, "export", "", "name of the file:", "text")
    def save(app, path):
        from .pictures import picture
        from .pictures import save as write

        path = path if path.lower().endswith("." + ending.lower()) else f"{path}.{ending.lower()}"
        write(picture(app.view, *app.size, annotated=app.legend_shown), path)
        app.message = f"written: {path}"


for _name in ("PNG", "BMP", "PDF", "EPS"):
    _export(_name)
_not_built("AVI START/STOP", "export")


@entry("help", "help", "F1")
def _help(app):
    app.help_shown = not app.help_shown


@entry("leave tool", "", "ESC")
def _leave(app):
    if app.tool:
        app.tool, app.points = "", []
    else:
        app.legend_shown = False


@entry("quit", "quit", "q")
def _quit(app):
    app.closing = True
