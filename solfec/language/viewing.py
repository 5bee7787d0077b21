"""RENDER and VIEW: what scripts of the viewer do (docs/viewer.md)."""

from __future__ import annotations

from collections.abc import Sequence

from . import checks, session
from .bodies import BODY, body_of
from .checks import BadType, BadValue, command
from .handles import simulation_of
from .model import SOLFEC


@command("RENDER")
def RENDER(solfec: SOLFEC, object: BODY | Sequence[BODY] | None = None) -> None:
    """Show a model in the viewer, all of it or some bodies; `previous selection` there takes it back.  Without effect outside of the viewer.

    Parameters
    ----------
    solfec : SOLFEC
    object : BODY or list of BODY, optional
        The bodies that are shown; left out: all of them.
    """
    simulation, found = simulation_of(solfec), None
    if object is not None:
        if not isinstance(object, (BODY, list, tuple)):
            raise BadType(f"'object' must be a BODY object or a list of them, not {checks.kind_of(object)}")
        found = [body_of(body, "object") for body in ([object] if isinstance(object, BODY) else object)]
        if not found:
            raise BadValue("'object' is an empty list; leave it out to show all bodies")
        for body in found:
            if body._simulation is not simulation:
                raise BadValue(f"'object' holds body {body.id} of another SOLFEC object")
    if (viewer := session.current().viewer) is not None:
        viewer.render(simulation, None if found is None else [body.id for body in found])


@command("VIEW")
def VIEW(command: str) -> None:
    """Do an entry of the viewer's menus with its words.  Without effect outside of the viewer.

    Parameters
    ----------
    command : str
        As in ``VIEW ('result mises')``; what `save script` there records.
    """
    command = checks.string(command, "command")
    if (viewer := session.current().viewer) is not None:
        viewer.obey(command)
