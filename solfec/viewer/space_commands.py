"""Commands for lines in space, and for a camera that follows a body."""

from __future__ import annotations

from .command_table import entry, number


def _switch(name: str, menu: str, key: str, kind: str, help: str) -> None:
    @entry(name, menu, key, help=help)
    def use(app):
        app.view.shown_in_space ^= {kind}
        app.view.draw_lines(app.points or None)


_switch("display points", "tools", "D", "display points", "Draw the points that DISPLAY_POINT attached to bodies.")
_switch("frames of bodies", "render", "", "frames", "Draw the axes of every body at its mass centre.")
_switch("inertia of bodies", "render", "", "inertia", "Draw the ellipsoid of each body's mass and inertia: its principal axes and outlines.")
_switch("boxes of bodies", "render", "", "boxes", "Draw the box round every body.")
_switch("joints", "render", "", "joints", "Draw joints, links and springs.")
_switch("labels of bodies", "render", "", "labels", "Write labels or numbers of bodies.")
_switch("planes of cuts", "render", "", "planes", "Draw the borders and handles of cuts.")


@entry("clear measures", "tools")
def _clear(app):
    """Take away the points that tools have measured."""
    app.points, app.view.measured = [], []
    app.view.draw_lines()


def _follow(app, body, riding: bool) -> None:
    body = app.picked.body if body is None else number(body, "number of a body", int)
    app.view.follow(body, riding)


@entry("follow body", "view", "", "number of the body; without one that was clicked last:", "", True)
def _follow_body(app, body=None):
    """Move the camera along with a body."""
    _follow(app, body, False)


@entry("ride body", "view", "", "number of the body; without one that was clicked last:", "", True)
def _ride_body(app, body=None):
    """Move and turn the camera along with a body."""
    _follow(app, body, True)


@entry("stop following", "view")
def _stop(app):
    """Leave the camera where it is."""
    app.view.follow(0, False)
