"""The entries of the menus: Solfec-1.0's words and keys, and ours."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from ..errors import SolfecError
from . import camera_commands, fields, mode_commands, script_commands, space_commands  # noqa: F401  # put their entries into the table
from .camera import VIEWS
from .command_table import COMMANDS, MissingArgument, entry, find, number  # noqa: F401  # whose readers look here
from .gl.renderer import INK
from .tools import chosen

# -- domain -------------------------------------------------------------------------------------------------


@entry("previous domain", "domain", "<")
def _previous(app):
    """Show the model before this one."""
    app.number = (app.number - 1) % len(app.views)


@entry("next domain", "domain", ">")
def _next(app):
    """Show the next model."""
    app.number = (app.number + 1) % len(app.views)


# -- render -------------------------------------------------------------------------------------------------


def _tool(name: str, menu: str, key: str, help: str):
    """Make a tool of the mouse; its command again leaves it."""

    @entry(name, menu, key, help=help)
    def use(app):
        app.tool, app.points = ("" if app.tool == name else name), []


_tool("2D selection", "render", "2", "Draw a rectangle: bodies that are seen in it stay.")
_tool("3D selection", "render", "3", "Draw a rectangle: bodies that are in it, seen or not, stay.")
_tool("2D wireframe", "render", "4", "Draw a rectangle: bodies that are seen in it are drawn as edges, or filled again.")
_tool("3D wireframe", "render", "5", "Draw a rectangle: bodies that are in it are drawn as edges, or filled again.")


def _switch(name: str, menu: str, key: str, member: str, help: str) -> None:
    """Make a command that turns a member of the application on and off."""

    @entry(name, menu, key, help=help)
    def switch(app):
        setattr(app, member, not getattr(app, member))


@entry("previous selection", "render", "p")
def _previous_selection(app):
    """Show what was shown before the last selection."""
    if app.selections:
        app.view.put_opacities(app.selections.pop())
        app.view.refresh()
        app.view.fit(app.size[0] / app.size[1])


@entry("toggle bodies", "render", "b")
def _toggle_bodies(app):
    """Draw faces, or none."""
    app.view.renderer.filled = not app.view.renderer.filled


# -- tools --------------------------------------------------------------------------------------------------


def _matching(app, label: str) -> set[int]:
    return chosen(app.view.domain, [label])


@entry("highlight by label", "tools", "K", "label (a regular expression):", "text")
def _highlight(app, label):
    """Tint the bodies whose labels match; a click of hide and the like on one acts on all."""
    app.view.highlight(_matching(app, label))


@entry("highlight none", "tools")
def _highlight_none(app):
    """Take the tint of highlighted bodies away."""
    app.view.highlight(())


@entry("select by label", "tools", "k", "label (a regular expression):", "text")
def _select_by_label(app, label):
    """Show those bodies alone whose labels match."""
    app.select(_matching(app, label))


@entry("legend extents", "tools", "e", "least and greatest value, or auto, all (frames), symmetric, logarithm:")
def _extents(app, low, high=None):
    """Fix the range of colours, or let it follow the values: of this frame (auto), of all frames (all), the same to both sides of zero."""
    switch = {"all": "over_all", "symmetric": "symmetric", "logarithm": "logarithmic"}.get(low)
    if low == "auto" and high is None:
        app.view.set_range(None, None)
    elif switch and high is None:
        app.view.switch_range(switch)
    elif high is None:
        raise SolfecError("the legend needs two numbers, or the word auto")
    else:
        app.view.set_range(number(low, "number"), number(high, "number"))


def _tool_or_words(name: str, menu: str, key: str, act: Callable, help: str):
    """Make a tool for clicks; with words it applies at once to the bodies with these labels or numbers."""

    @entry(name, menu, key, "label or number; without one the mouse clicks:", "text", True, help)
    def use(app, label=None):
        if label is None:
            app.tool, app.points = ("" if app.tool == name else name), []
        else:
            act(app, _matching(app, label))


def _fade(app, bodies):
    view = app.view
    rows = view.rows(bodies)
    view.looks[rows, 3] = np.where(view.looks[rows, 3] == 1.0, 0.35, 1.0)
    view.refresh()


_tool_or_words("toggle transparent", "tools", "t", _fade, "Click bodies that become transparent, or whole again.")


@entry("transparent all", "tools", "T")
def _transparent_all(app):
    """Make all bodies transparent."""
    app.view.looks[app.view.looks[:, 3] != 0.0, 3] = 0.35
    app.view.refresh()


@entry("transparent none", "tools", "n")
def _transparent_none(app):
    """Make no body transparent."""
    app.view.looks[app.view.looks[:, 3] != 0.0, 3] = 1.0
    app.view.refresh()


@entry("Euler cut", "tools", "c", "plane, as x, -z:0.5 or 1,1,0:0.5:")
def _cut(app, plane):
    """Cut away what is beyond a plane in space; drag its handle, or use the panel of cuts."""
    app.view.cut(plane)


@entry("Lagrange cut", "tools", "C", "referential plane, as x, -z:0.5 or 1,1,0:0.5:")
def _material_cut(app, plane):
    """Cut the referential shape: the section moves with the material."""
    app.view.cut(plane, referential=True)


@entry("move cut", "", "", "number and offset:")
def _move_cut(app, which, offset):
    """Move a plane to another offset from the origin."""
    app.view.move_cut(number(which, "number of a cut", int), number(offset, "offset"))


@entry("remove cut", "", "", "number:")
def _remove_cut(app, which):
    """Take one plane away."""
    which = number(which, "number of a cut", int)
    if not 1 <= which <= len(app.view.planes):
        raise SolfecError(f"there is no cut {which}; there are {len(app.view.planes)}")
    del app.view.planes[which - 1]
    app.view.refresh()


@entry("clear cuts", "tools", "s")
def _clear_cuts(app):
    """Take all cuts away."""
    app.view.clear_cuts()


_tool_or_words("hide", "tools", "h", lambda app, bodies: app.view.set_opacity(bodies, 0.0), "Click bodies that are hidden.")


def _rough(app, bodies):
    app.view.rough ^= app.view.with_elements(bodies)
    app.view.draw_lines()


_tool_or_words("toggle rough mesh", "tools", "r", _rough, "Click bodies whose elements are drawn, or no more.")


@entry("hide body", "", "", "number:")
def _hide_body(app, body):
    """Hide one body."""
    app.view.set_opacity([number(body, "number of a body", int)], 0.0)


@entry("show body", "", "", "number:")
def _show_body(app, body):
    """Show one body again."""
    app.view.set_opacity([number(body, "number of a body", int)], 1.0)


@entry("inspect", "", "", "number of a body:")
def _inspect(app, body):
    """Outline a body and tell its numbers."""
    app.inspect(number(body, "number of a body", int))


@entry("click", "", "", "place in the window, fractions of its width and height from above:")
def _click(app, across, down):
    """Click, as the mouse does."""
    width, height = app.size
    app.click(int(number(across, "place") * width), int(number(down, "place") * height))


@entry("rectangle", "", "", "two corners, fractions of the window's width and height:")
def _rectangle(app, left, top, right, bottom):
    """Draw the rectangle of a tool of selection, as the mouse does."""
    (width, height), places = app.size, [number(word, "place") for word in (left, top, right, bottom)]
    app.rectangle(*(int(place * size) for place, size in zip(places, (width, height, width, height))))


@entry("show all", "tools", "a")
def _show_all(app):
    """Show all bodies."""
    app.selections = []
    app.view.set_opacity(None, 1.0)


def _step_result(app, by: int) -> None:
    names = ["", *fields.RESULTS]
    place = names.index(app.view.result)
    for count in range(1, len(names) + 1):
        try:
            app.view.show(names[(place + by * count) % len(names)])
            return
        except SolfecError:  # forces say, where there are none: the one after it
            continue


entry("next result", "tools", "+", help="Show the next result.")(partial(_step_result, by=1))
entry("previous result", "tools", "-", help="Show the result before.")(partial(_step_result, by=-1))


@entry("bigger arrows", "tools", "]")
def _bigger(app):
    """Draw longer arrows, or a larger modal shape."""
    if app.view.shape is not None:
        app.view.shape.scale = min(app.view.shape.scale * 1.25, 1e4)
        app.view.refresh()
        return
    app.view.renderer.arrow_scale = min(app.view.renderer.arrow_scale * 1.25, 100.0)


@entry("smaller arrows", "tools", "[")
def _smaller(app):
    """Draw shorter arrows, or a smaller modal shape."""
    if app.view.shape is not None:
        app.view.shape.scale = max(app.view.shape.scale / 1.25, 1e-4)
        app.view.refresh()
        return
    app.view.renderer.arrow_scale = max(app.view.renderer.arrow_scale / 1.25, 0.01)


_switch("toggle output path", "tools", "o", "path_shown", "Write the path of the results in the top line.")
_tool("point coordinates", "tools", "x", "Click a point: its coordinates are told and printed.")
_tool("points distance", "tools", "d", "Click two points: their distance is told and printed.")
_tool("points angle", "tools", "g", "Click three points: the angle at the second is told and printed.")
_tool("trackball center", "tools", "L", "Click the point about which the scene turns.")


@entry("wireframe all", "tools", "w")
def _wire(app):
    """Draw all bodies as edges."""
    app.view.looks[app.view.looks[:, 3] != 0.0, 3] = -1.0
    app.view.refresh()


@entry("wireframe none", "tools", "W")
def _no_wire(app):
    """Draw no body as edges."""
    app.view.looks[app.view.looks[:, 3] < 0.0, 3] = 1.0
    app.view.refresh()


_switch("legends on/off", "tools", "l", "legend_shown", "Show legend and axes, or none.")


@entry("lighting on/off", "tools", "m")
def _lighting(app):
    """Shade faces by light, or show plain colours."""
    app.view.renderer.lighting = 0 if app.view.renderer.lighting else 2


@entry("colours", "tools", "", "colour map: viridis, cividis, terrain, diverging or classic")
def _colours(app, name):
    """Choose the colour map."""
    app.view.set_colours(name)


# -- analysis -----------------------------------------------------------------------------------------------


@entry("run/stop", "analysis", "RETURN")
def _run(app):
    """Run the model or play the frames; again: stop."""
    app.play()


@entry("step", "analysis", "SPACE")
def _step(app):
    """Make one step, or show the next frame."""
    app.step()


@entry("seek to", "analysis", "UP", "time:")
def _seek(app, moment):
    """Show the frame that is nearest to a time."""
    app.seek_time(number(moment, "time"))


@entry("frame", "analysis", "", "number of the frame:")
def _frame(app, frame):
    """Show a frame by its number."""
    app.seek(number(frame, "frame", int))


@entry("forward", "analysis", "RIGHT")
def _forward(app):
    """Go on by some frames."""
    app.seek(min(app.source.frame + app.skip, len(app.source.times) - 1))


@entry("backward", "analysis", "LEFT")
def _backward(app):
    """Go back by some frames."""
    app.seek(max(app.source.frame - app.skip, 0))


@entry("skip", "analysis", "DOWN", "frames that forward and backward go:")
def _skip(app, count):
    """Set how many frames forward and backward go."""
    count = number(count, "number of frames", int)
    if count < 1:
        raise SolfecError(f"forward and backward go by one frame at least, not {count}")
    app.skip = count


@entry("speed", "analysis", "", "seconds of the model per second, or max:")
def _speed(app, factor):
    """Seconds of the model per second of the clock; a model that runs goes as fast as it can with `max`."""
    if factor == "max":
        app.keeping_pace = False
        return
    factor = number(factor, "speed")
    if not factor > 0:
        raise SolfecError(f"the speed must be positive, not {factor:g}")
    if app.playing and not app.source.live:
        app.play()
    app.speed, app.keeping_pace = factor, True
    app.restart_clock()


_switch("loop on/off", "analysis", "", "looping", "Play the frames again and again.")


@entry("run until", "analysis", "", "time:")
def _until(app, moment):
    """Run a model, or play frames, up to a time."""
    moment = number(moment, "time")
    if not moment > app.source.time:
        raise SolfecError(f"the model is at time {app.source.time:g}; run until a later one, not {moment:g}")
    app.until = moment
    if not app.playing:
        app.play()


@entry("stop run", "analysis")
def _stop(app):
    """End the run for good: its last state is written, as at a STOP file."""
    if not app.source.live:
        raise SolfecError("these are stored results: no run goes on here")
    app.playing = False
    app.source.close()
    app.message = f"the run has ended at time {app.source.time:.6g}"


@entry("follow last frame", "analysis")
def _follow(app):
    """Show new frames of a run that another process computes."""
    app.following = not app.following
    if app.following:
        app.seek(-1)


def _panel(name: str, menu: str, help: str) -> None:
    _switch(f"{name} on/off", menu, "", f"{name}_shown", help)


_panel("energies", "analysis", "Plot energies over time.")
_panel("iterations", "analysis", "Plot the solver's iterations and the number of contacts over time.")
_panel("histories", "analysis", "Plot the quantities that 'plot' has chosen.")
_panel("inspector", "tools", "Show the numbers of what was clicked.")
_panel("bodies", "tools", "List all bodies.")
_panel("cuts", "tools", "Show a slider for every cut.")


@entry("plot", "analysis", "", "quantity (dx ... |v|, sx ... mises, cx, cy, cz) at the point clicked last:")
def _plot(app, name):
    """Plot a quantity over time at the point that was clicked last."""
    from .histories import at

    history = at(app.view.domain, app.picked, name)
    history.values(app.source)
    app.histories.append(history)
    app.histories_shown = True


@entry("clear plots", "analysis")
def _clear_plots(app):
    """Forget the plotted quantities."""
    app.histories = []


# -- kinds and results --------------------------------------------------------------------------------------


@entry("result", "", "", "name of the result:", "text")
def _result(app, name):
    """Colour by a result."""
    app.view.show("" if name == "none" else name)


def _result_entry(name: str, menu: str) -> None:
    @entry(f"show {name}", menu, help="Show bodies in the colours of their kinds." if name == "plain" else f"Show {name}.")
    def show(app):
        app.view.show("" if name == "plain" else name)


for _group, _names in (
    ("kinds of", ("plain", *fields.KINDS)), ("results/displacements", fields.DISPLACEMENTS), ("results/velocities", fields.VELOCITIES),
    ("results/stresses", fields.STRESSES), ("results/constraints", fields.AT_CONSTRAINTS),
):  # fmt: skip
    for _name in _names:
        _result_entry(_name, _group)

# -- view ---------------------------------------------------------------------------------------------------


@entry("perspective/ortho", "view")
def _ortho(app):
    """Draw in perspective, or in parallel projection."""
    app.view.camera.ortho = not app.view.camera.ortho


@entry("outline/fill", "view")
def _outline(app):
    """Draw edges, or none."""
    app.view.renderer.edges = not app.view.renderer.edges


def _view_entry(name: str) -> None:
    @entry(name, "view", help=f"Look from the {name}.")
    def look(app):
        app.view.look(name)
        app.view.fit(app.size[0] / app.size[1], near=True)


for _name in VIEWS:
    _view_entry(_name)


@entry("look", "", "", "azimuth,elevation:")
def _look(app, words):
    """Look from azimuth and elevation in degrees."""
    app.view.look(words)


@entry("fit", "view")
def _fit(app):
    """See all bodies that are not hidden."""
    app.view.fit(app.size[0] / app.size[1])


# -- export, help, quit -------------------------------------------------------------------------------------


def _export(ending: str, help: str) -> None:
    @entry(ending, "export", "", "name of the file:", "text", help=help)
    def save(app, path):
        from .pictures import picture
        from .pictures import save as write

        path = path if path.lower().endswith("." + ending.lower()) else f"{path}.{ending.lower()}"
        size = [app.picture_scale * side for side in app.size]
        if ending in ("PDF", "EPS"):
            from .vector import save as save_vectors

            save_vectors(app.view, *size, path, annotated=app.legend_shown)
        else:
            write(picture(app.view, *size, app.picture_clear, app.legend_shown), path)
        app.message = f"written: {path}"


for _ending in ("PNG", "BMP"):
    _export(_ending, "Write a picture.")
for _ending in ("PDF", "EPS"):
    _export(_ending, "Write a picture with legend and words as vectors.")


@entry("picture scale", "export", "", "1 to 8 times the pixels of the window:")
def _scale(app, factor):
    """Write pictures that have more pixels each way than the window."""
    factor = number(factor, "factor", int)
    if not 1 <= factor <= 8:
        raise SolfecError(f"pictures have 1 to 8 times the pixels of the window, not {factor}")
    app.picture_scale = factor


_switch("transparent background on/off", "export", "", "picture_clear", "Write PNG pictures without the white background.")


@entry("AVI START/STOP", "export", "", "name of the movie (.avi, .mp4, .gif); without one a recording stops:", "text", True)
def _film(app, path=None):
    """Film the window from now on: every frame or step that is drawn; again: stop."""
    if app.recorder is None and path is None:
        raise MissingArgument("AVI START/STOP", "name of the movie (.avi, .mp4, .gif):")
    if app.recorder is None:
        app.film(path)
    else:
        app.cut_film()


@entry("HTML", "export", "", "name of the file:", "text")
def _page(app, path):
    """Write a page that shows this scene in any browser."""
    from .page import write

    path = path if path.lower().endswith((".html", ".htm")) else path + ".html"
    write(app, path)
    app.message = f"written: {path}"


_switch("help", "help", "F1", "help_shown", "Show all keys.")


@entry("font size", "help", "", "pixels:")
def _font(app, size):
    """Write larger or smaller."""
    height = number(size, "size")
    if not 6 <= height <= 60:
        raise SolfecError(f"letters are 6 to 60 pixels high, not {height:g}")
    app.font_size = height


@entry("contrast on/off", "help")
def _contrast(app):
    """Black text and edges on white, with borders round all that can be pressed."""
    app.contrast = not app.contrast
    for view in app.views:
        view.renderer.ink = (0.0, 0.0, 0.0) if app.contrast else INK


@entry("copy message", "tools", "^C")
def _copy(app):
    """Put what the top line tells into the clipboard."""
    app.clipboard = app.message


@entry("leave tool", "", "ESC")
def _leave(app):
    """Leave the tool of the mouse; without one switch the legend off."""
    if app.tool:
        app.tool, app.points = "", []
    else:
        app.legend_shown = False


@entry("quit", "quit", "q", "the run goes on; yes ends it, and its last state is written:", "", True)
def _quit(app, word=None):
    """Close the window; where a run writes results, it asks first."""
    if word not in (None, "yes"):
        raise SolfecError(f"'quit' takes the word yes or none, not {word!r}")
    if word is None and any(view.source.writes for view in app.views):
        raise MissingArgument("quit", "the run goes on; yes ends it, and its last state is written:")
    app.closing = True
