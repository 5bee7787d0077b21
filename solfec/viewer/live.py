"""`solfec -v input.py`: the models of an input in a window, run or read."""

from __future__ import annotations

from ..errors import SolfecError
from .sources import Live, Stored


def sources(now) -> list:
    """Return the sources of a session: models in WRITE mode, to be run, and the results of others.

    Parameters
    ----------
    now : language.session.Session
        After the input.
    """
    found = []
    for simulation in now.simulations:
        if simulation.mode == "READ":
            found.append(Stored(simulation.outpath, simulation))
        else:
            found.append(Live(simulation, [(solver, duration) for bound, solver, duration in now.viewed if bound is simulation]))
    return found


def look(now, size: tuple[int, int] | None = None, wire: bool = False) -> None:
    """Open a window on the display and run until the user quits.

    Parameters
    ----------
    size : tuple of 2 int, optional
        Of the window in pixels.
    wire : bool
        Whether only edges are shown at first.

    Raises
    ------
    SolfecError
        The input makes no SOLFEC object.
    """
    found = sources(now)
    if not found:
        raise SolfecError("the input makes no SOLFEC object: there is nothing to look at")
    from .screen import Screen

    screen = Screen(found, *(size or (1024, 768)))
    try:
        if wire:
            screen.app.do("wireframe all")
        screen.loop()
    finally:
        screen.close()
