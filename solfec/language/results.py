"""Results access (manual, 4.7)."""

from __future__ import annotations

from typing import NamedTuple

from ..domain import PHASES
from . import checks
from .bodies import BODY, body_of
from .checks import BadType, BadValue, command
from .model import SOLFEC, simulation_of

CLOCKS = (*PHASES, "PARBAL")  # of TIMING; nothing is balanced in a serial run


class Energies(NamedTuple):
    """Energies in the manual's order."""

    kinetic: float
    internal: float
    external: float
    contact: float
    friction: float


@command("DURATION")
def DURATION(solfec):
    """First and last stored time (t0, t1) in READ mode, the present time in WRITE mode."""
    return simulation_of(solfec).duration()


@command("FORWARD")
def FORWARD(solfec, steps, corotated_displacements=None):
    """Move forward by a number of frames, not beyond the last one; ignored in WRITE mode."""
    simulation = simulation_of(solfec)
    steps = checks.integer(steps, "steps", minimum=0)
    if corotated_displacements is not None:
        flag = checks.choice(corotated_displacements, "corotated_displacements", ("TRUE", "FALSE"))
        if flag == "TRUE":
            from .unbuilt import not_built

            raise not_built("FORWARD: corotated_displacements")
    simulation.forward(steps)


@command("BACKWARD")
def BACKWARD(solfec, steps):
    """Move backward by a number of frames, not beyond the first one; ignored in WRITE mode."""
    simulation = simulation_of(solfec)
    simulation.backward(checks.integer(steps, "steps", minimum=0))


@command("SEEK")
def SEEK(solfec, time):
    """Move to the frame nearest to a time; ignored in WRITE mode."""
    simulation = simulation_of(solfec)
    simulation.seek(checks.number(time, "time"))


@command("DISPLACEMENT")
def DISPLACEMENT(body, point) -> tuple[float, ...]:
    """Displacement of a referential point of a body."""
    body, point = _body_and_point(body, point)
    return tuple(body._simulation.domain.displacement(body._id, point).tolist())


@command("VELOCITY")
def VELOCITY(body, point) -> tuple[float, ...]:
    """Spatial velocity of a referential point of a body."""
    body, point = _body_and_point(body, point)
    return tuple(body._simulation.domain.velocity(body._id, point).tolist())


def _body_and_point(body, point):
    checks.instance(body, "body", BODY)
    body._simulation.load_first()
    return body_of(body, "body"), checks.vector(point, "point")


@command("ENERGY")
def ENERGY(solfec, object=None) -> Energies:
    """Energies (kinetic, internal, external, contact, friction).

    Parameters
    ----------
    solfec : SOLFEC
    object
        SOLFEC (default), BODY or list of BODY, each counted once.  The model's contact and friction figures
        count each contact once, a body's figures count all of its contacts.
    """
    if object is None and isinstance(solfec, BODY):
        object, simulation = solfec, solfec._simulation
    else:
        simulation = simulation_of(solfec)
    simulation.load_first()
    domain = simulation.domain
    domain.refresh_energy()
    bodies = bodies_of(object, "object", simulation)
    if bodies is None:
        return Energies(*domain.energy().tolist())
    identifiers = list(dict.fromkeys(body_of(body, "object")._id for body in bodies))
    return Energies(*domain.energy(identifiers).tolist())


def bodies_of(value, name: str, simulation) -> list[BODY] | None:
    """The bodies of an object argument; None for the whole model."""
    if value is None:
        return None
    items = list(value) if checks.is_sequence(value) else [value]
    for item in items:
        if not isinstance(item, (SOLFEC, BODY)):
            raise BadType(f"'{name}' must be a SOLFEC object, a BODY object or a list of them, not {checks.kind_of(item)}")
        if item._simulation is not simulation:
            raise BadValue(f"'{name}' belongs to another SOLFEC object")
    if not items:
        raise BadValue(f"'{name}' must hold at least one BODY object")
    return None if any(isinstance(item, SOLFEC) for item in items) else items


@command("TIMING")
def TIMING(solfec, kind) -> float:
    """Seconds spent in a stage of the time steps since the previous frame.

    Parameters
    ----------
    solfec : SOLFEC
    kind : str
        'TIMINT', 'CONUPD', 'CONDET', 'LOCDYN', 'CONSOL' or 'PARBAL' (0 in serial runs).
    """
    simulation = simulation_of(solfec)
    kind = checks.choice(kind, "kind", CLOCKS)
    simulation.load_first()
    return float(simulation.domain.timings.get(kind, 0.0))
