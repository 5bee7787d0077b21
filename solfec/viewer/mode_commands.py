"""Commands for modal shapes."""

from __future__ import annotations

from ..errors import SolfecError
from . import modes
from .command_table import entry, number


def _show(app, base, body: int, which: int) -> None:
    if not 0 <= which < base.mode_count:
        raise SolfecError(f"there is no mode {which + 1}; there are {base.mode_count}")
    app.view.result = ""
    app.view.shape = modes.Shape(body, base, which)
    app.view.refresh()
    app.message = app.view.shape.title


@entry("modal analysis", "results/modal analysis", "", "number of modes:")
def _analyse(app, count):
    """Compute the lowest modes of a finite element body, and show the first one that deforms it."""
    body = modes.candidate(app.view, app.view.renderer.chosen)
    base = modes.base_of(app.view, body, number(count, "number of modes", int))
    _show(app, base, body, min(6, base.mode_count - 1))


@entry("modal shape", "results/modal analysis", "", "number of the mode, from 1:")
def _shape(app, which):
    """Show a mode of the base in which a body moves, or of those that were computed."""
    body = modes.candidate(app.view, app.view.renderer.chosen)
    _show(app, modes.base_of(app.view, body), body, number(which, "number of a mode", int) - 1)


def _step(app, by: int) -> None:
    shape = app.view.shape
    if shape is None:
        body = modes.candidate(app.view, app.view.renderer.chosen)
        _show(app, modes.base_of(app.view, body), body, 0)
        return
    shape.number = (shape.number + by) % shape.base.mode_count
    app.view.refresh()
    app.message = shape.title


@entry("next eigenshape", "results/modal analysis", "}")
def _next(app):
    """Show the next mode."""
    _step(app, 1)


@entry("previous eigenshape", "results/modal analysis", "{")
def _previous(app):
    """Show the mode before."""
    _step(app, -1)


@entry("animate eigenshape", "results/modal analysis")
def _animate(app):
    """Let the mode oscillate, or stand still."""
    if app.view.shape is None:
        raise SolfecError("no mode is shown; 'modal shape 7' shows one")
    app.view.shape.animated = not app.view.shape.animated


@entry("no eigenshape", "results/modal analysis")
def _none(app):
    """Show the body as it is."""
    app.view.shape = None
    app.view.refresh()
