"""DURATION, SEEK, HISTORY and other commands that read results (docs/language-running.md, Results access)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from ..errors import SolfecError
from ..results import history
from ..suggestions import did_you_mean
from ..time_step import CLOCKS
from . import checks, session
from .bodies import BODY, body_of
from .checks import BadType, BadValue, command
from .handles import simulation_of
from .hints import Switch, Vector
from .mechanisms import JOINT
from .model import SOLFEC

JOINT_MEMBERS = ("ANGLE", "TURNING", "TRAVEL", "SPEED", "DISTANCE", "TORQUE", "THRUST", "TENSION")
REACTIONS = ("FX", "FY", "FZ", "TX", "TY", "TZ")


class _Energies(NamedTuple):
    kinetic: float
    internal: float
    external: float
    contact: float
    friction: float


class Energies(_Energies):
    """Energies in the order of Solfec-1.0's manual.  `dissipated`, which is new, is no item, so that inputs may unpack five."""

    dissipated: float

    def __new__(cls, *values: float):
        """Make the tuple from six energies."""
        energies = super().__new__(cls, *values[:5])
        energies.dissipated = values[5]
        return energies

    def __getnewargs__(self) -> tuple:
        return (*self, self.dissipated)


@command("DURATION")
def DURATION(solfec: SOLFEC) -> tuple[float, float] | float:
    """First and last stored time (t0, t1) in READ mode, the present time in WRITE mode.

    Parameters
    ----------
    solfec : SOLFEC

    Returns
    -------
    tuple of 2, or float
    """
    return simulation_of(solfec).duration()


@command("FORWARD")
def FORWARD(solfec: SOLFEC, steps: int, corotated_displacements: Literal["TRUE", "FALSE"] | None = None) -> None:
    """Move forward by a number of frames, not beyond the last one; ignored in WRITE mode.

    With corotated_displacements = 'TRUE' the lists of COROTATED_DISPLACEMENTS get snapshots of every frame on the way.

    Parameters
    ----------
    solfec : SOLFEC
    steps : int
        Number of frames, not negative.
    corotated_displacements : str, optional
        'TRUE' or 'FALSE' (default).
    """
    simulation = simulation_of(solfec)
    steps = checks.integer(steps, "steps", minimum=0)
    sampled = corotated_displacements is not None
    sampled = sampled and checks.choice(corotated_displacements, "corotated_displacements", ("TRUE", "FALSE")) == "TRUE"
    simulation.forward(steps, sampled)


@command("BACKWARD")
def BACKWARD(solfec: SOLFEC, steps: int) -> None:
    """Move backward by a number of frames, not beyond the first one; ignored in WRITE mode.

    Parameters
    ----------
    solfec : SOLFEC
    steps : int
        Number of frames, not negative.
    """
    simulation = simulation_of(solfec)
    simulation.backward(checks.integer(steps, "steps", minimum=0))


@command("SEEK")
def SEEK(solfec: SOLFEC, time: float) -> None:
    """Move to the frame nearest to a time; ignored in WRITE mode.

    Parameters
    ----------
    solfec : SOLFEC
    time : float
        The earlier one of two frames that are equally near.
    """
    simulation = simulation_of(solfec)
    simulation.seek(checks.number(time, "time"))


@command("DISPLACEMENT")
def DISPLACEMENT(body: BODY, point: Vector) -> tuple[float, ...]:
    """Displacement of a referential point of a body.

    Parameters
    ----------
    body : BODY
    point : tuple of 3
        Referential point; for finite elements within the mesh.

    Returns
    -------
    tuple of 3
        In units of length.
    """
    return _at_point("displacement", body, point)


@command("VELOCITY")
def VELOCITY(body: BODY, point: Vector) -> tuple[float, ...]:
    """Spatial velocity of a referential point of a body.

    Parameters
    ----------
    body, point
        See DISPLACEMENT.

    Returns
    -------
    tuple of 3
        In units of length over time.
    """
    return _at_point("velocity", body, point)


@command("STRESS")
def STRESS(body: BODY, point: Vector) -> tuple[float, ...]:
    """Cauchy stress (sx, sy, sz, sxy, sxz, syz) and von Mises stress at a referential point; zeros for rigid bodies.

    Parameters
    ----------
    body, point
        See DISPLACEMENT.

    Returns
    -------
    tuple of 7
        sx, sy, sz, sxy, sxz, syz and von Mises' norm, in units of force over area.
    """
    return _at_point("stress", body, point)


def _at_point(quantity: str, body, point) -> tuple[float, ...]:
    """Call the method `quantity` of the domain's points for a point of a body."""
    checks.instance(body, "body", BODY)
    body._simulation.load_first()
    body, point = body_of(body, "body"), checks.vector(point, "point")
    try:
        return tuple(getattr(body._simulation.domain.points, quantity)(body._id, point).tolist())
    except SolfecError as error:
        raise BadValue(f"'point': {error}") from None


@command("DISPLAY_POINT")
def DISPLAY_POINT(body: BODY, point: Vector, label: str | None = None) -> None:
    """Attach a point to a body; BODY.display_points returns its present place. It has no effect on motion.

    Parameters
    ----------
    body : BODY
    point : tuple of 3
        Referential point in or on the body's shape.
    label : str, optional
    """
    body, point = body_of(body, "body"), checks.vector(point, "point")
    text = "" if label is None else checks.string(label, "label")
    if not body._simulation.domain.points.contains(body._id, point):
        raise BadValue(f"'point' {point} lies outside of the shape of body {body.id} ({body.label or body.kind})")
    body._simulation.display_points.setdefault(body._id, []).append((text, point))


@command("ENERGY")
def ENERGY(solfec: SOLFEC | BODY, object: SOLFEC | BODY | Sequence[BODY] | None = None) -> Energies:
    """Energies (kinetic, internal, external, contact, friction).

    Parameters
    ----------
    solfec : SOLFEC or BODY
        A single BODY is its own `object`.
    object
        SOLFEC (default), BODY or list of BODY, each counted once.  The model's contact and friction figures
        count each contact once, a body's figures count all of its contacts.

    Returns
    -------
    named tuple
        kinetic, internal, external, contact and friction, in units of work; its member `dissipated` is the energy that
        damping of bodies has dissipated.
    """
    if object is None and isinstance(solfec, BODY):
        object, simulation = solfec, solfec._simulation
    else:
        simulation = simulation_of(solfec)
    simulation.load_first()
    domain = simulation.domain
    bodies = bodies_of(object, "object", simulation)
    if bodies is None:
        return Energies(*domain.energy().tolist())
    identifiers = list(dict.fromkeys(body_of(body, "object")._id for body in bodies))
    return Energies(*domain.energy(identifiers).tolist())


def bodies_of(value, name: str, simulation) -> list[BODY] | None:
    """Return the bodies of an object argument; None for the whole model."""
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
def TIMING(solfec: SOLFEC, kind: str) -> float:
    """Seconds spent in a stage of the time steps since the previous frame.

    Parameters
    ----------
    solfec : SOLFEC
    kind : str
        'TIMINT', 'CONUPD', 'CONDET', 'LOCDYN', 'CONSOL'; 'PARBAL', 'GSINIT', 'GSRUN', 'GSCOM', 'GSMCOM' (0 in serial runs).

    Returns
    -------
    float
    """
    simulation = simulation_of(solfec)
    kind = checks.choice(kind, "kind", CLOCKS)
    simulation.load_first()
    return float(simulation.domain.timings[kind])


# --- HISTORY -----------------------------------------------------------------------------------------------

ENERGY_KINDS = (*(kind.upper() for kind in Energies._fields), "DISSIPATED")


@command("HISTORY")
def HISTORY(
    solfec: SOLFEC, list: str | tuple | Sequence[str | tuple], t0: float, t1: float, skip: int = 1, progress: Switch | None = None
) -> tuple[list[float], ...] | None:
    """Time histories of entities; None in WRITE mode, an error for runs in memory.

    Parameters
    ----------
    solfec : SOLFEC
    list
        Items, or one item: (body or label, point, 'CX' ...), (object, energy kind), (object, 'GAP' 'R' 'U' 'CR'
        'CU'), (joint or label, 'ANGLE' 'TURNING' 'TRAVEL' 'SPEED' 'DISTANCE' 'TORQUE' 'THRUST' 'TENSION' 'FX' ... 'TZ'),
        (object, direction or None, surface pair or None, entity), or a string such as 'STEP' or 'TIMINT'
        (docs/language-running.md, HISTORY).
    t0, t1 : float
        Interval, ends included.
    skip : int
        Every skip-th frame.
    progress : str
        'ON' prints a percentage while frames are read; 'OFF' by default.

    Returns
    -------
    tuple of lists
        Times, and values of each item.
    """
    simulation = simulation_of(solfec)
    items = list if type(list) is type([]) else [list]
    items = [_item(item, f"list[{i}]", simulation) for i, item in enumerate(items)]
    joints = [item for item in items if callable(item)]
    t0, t1 = checks.number(t0, "t0"), checks.number(t1, "t1")
    if t0 > t1:
        raise BadValue(f"'t0' ({t0:g}) must not be larger than 't1' ({t1:g})")
    skip = checks.integer(skip, "skip", minimum=1)
    shown = progress is not None and checks.switch(progress, "progress")
    if simulation.outpath is None:
        raise BadValue("the run stays in memory (output = None) and keeps no frames; give SOLFEC an 'output', or collect values in a CALLBACK")
    if simulation.mode == "WRITE":
        return None
    others = [item for item in items if not callable(item)] or ["STEP"]
    times, *values = (np.asarray(values).tolist() for values in simulation.history(others, t0, t1, skip, shown))
    if not items:
        return (times,)
    if not joints:
        return (times, *values)
    of_joints, of_others = iter(simulation.sample_frames(joints, t0, t1, skip)), iter(values)
    return (times, *(next(of_joints if callable(item) else of_others) for item in items))


def _item(item, name: str, simulation):
    """Convert one item to the form of the results reader: bodies by identifier or label, None for the whole model."""
    if isinstance(item, str):
        if item in ENERGY_KINDS:
            raise BadValue(f"'{name}' must tell whose energy: (solfec, {item!r}), or a body instead of solfec")
        return checks.choice(item, name, history.NAMES)
    if not checks.is_sequence(item):
        raise BadType(f"'{name}' must be a string or a tuple, not {checks.kind_of(item)}")
    if len(item) not in (2, 3, 4):
        raise BadValue(f"'{name}' must hold 2, 3 or 4 items, it holds {len(item)}")
    entity = checks.string(item[-1], f"{name}: entity")
    if len(item) == 2 and (isinstance(item[0], JOINT) or entity in (*JOINT_MEMBERS, *REACTIONS)):
        return _joint_item(item[0], entity, name, simulation)
    if len(item) == 3:
        return _point_item(item[0], item[1], entity, name, simulation)
    known = history.CONSTRAINT_ENTITIES if len(item) == 4 else ENERGY_KINDS + history.CONSTRAINT_ENTITIES
    checks.choice(entity, f"{name}: entity", known)
    bodies = bodies_of(item[0], f"{name}: object", simulation)
    identifiers = None if bodies is None else [body._id for body in dict.fromkeys(bodies)]
    if len(item) == 2:
        return identifiers, entity
    direction = None if item[1] is None else checks.direction(item[1], f"{name}: direction")
    pair = None if item[2] is None else tuple(checks.integers(item[2], f"{name}: pair"))
    if pair is not None and len(pair) != 2:
        raise BadValue(f"'{name}: pair' must hold 2 surface identifiers, it holds {len(pair)}")
    return identifiers, direction, pair, entity


def _joint_item(joint, entity: str, name: str, simulation):
    """Return a function of the present value of an item of a joint."""
    checks.choice(entity, f"{name}: entity", JOINT_MEMBERS + REACTIONS)
    if isinstance(joint, str):
        simulation.load_first()
        label, joint = joint, JOINT._labelled(simulation, joint)
        if joint is None:
            raise BadValue(f"'{name}: joint': no joint is labelled {label!r}{did_you_mean(label, simulation.domain.joints.labels.values())}")
    if not isinstance(joint, JOINT):
        raise BadType(f"'{name}: joint' must be a JOINT object or a label, not {checks.kind_of(joint)}")
    if joint._simulation is not simulation:
        raise BadValue(f"'{name}: joint' belongs to another SOLFEC object")
    if entity in JOINT_MEMBERS:
        return lambda: getattr(joint, entity.lower())
    place = REACTIONS.index(entity)
    return lambda: None if joint.reaction is None else joint.reaction[place]


def _point_item(body, point, entity: str, name: str, simulation):
    checks.choice(entity, f"{name}: entity", history.POINT_ENTITIES + history.STRESS_ENTITIES)
    point = checks.vector(point, f"{name}: point")
    if isinstance(body, BODY):
        if body._simulation is not simulation:
            raise BadValue(f"'{name}: body' belongs to another SOLFEC object")
        body = body._id
    elif not isinstance(body, str):
        raise BadType(f"'{name}: body' must be a BODY object or a label, not {checks.kind_of(body)}")
    else:  # it may be that of a body that never came to be
        known = simulation.reader.labels.values() if simulation.mode == "READ" else simulation.labels.union(simulation.domain.body_labels.values())
        if body not in known and (simulation.mode == "READ" or simulation.domain.step_number):
            session.warn(f"HISTORY: '{name}': no body of the results is labelled {body!r}{did_you_mean(body, known)}")
    return body, point, entity
