"""Joints of mechanisms: BALL, HINGE, SLIDER, CYLINDRICAL, UNIVERSAL, WELD, DISTANCE, ROPE, GEAR, RACK; motors: MOTOR, SET_ROTATION."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from ..bodies.table import BodyKind
from ..constraints.table import ConstraintKind
from ..joints import DAMPING, FRICTION, MECHANISMS, REST, RESTITUTION, STIFFNESS, Wheel, mesh_points
from ..kinds import Motor
from . import checks
from .bodies import BODY, CONSTRAINT, body_of
from .checks import BadType, BadValue, command
from .constraints import check_pair, limits_of, strength_of
from .handles import Handle
from .hints import Member, Numbers, Vector
from .loads import first_arguments, refuse_data, with_data
from .series import TIME_SERIES, number_or_series

ROUNDING = 1e-12  # part of a length that counts as none
TURNED = ("HINGE", "SLIDER", "CYLINDRICAL", "UNIVERSAL")  # joints with an axis
SQUARE = 1e-6  # cosine of the angle of two axes below which they count as square to each other
ABOUT = ConstraintKind.TORSIONAL
ALONG = ConstraintKind.AXIAL
BETWEEN = ConstraintKind.SPAN
LARGEST_RATIO = 1e9  # of gears; squares of it and of its inverse are in range beside other numbers of a row
COORDINATES = {"ANGLE": ABOUT, "TRAVEL": ALONG}
MODES = {"RATE": Motor.RATE, "POSITION": Motor.COORDINATE, "EFFORT": Motor.EFFORT}


def _state(kind: ConstraintKind, part: int, doc: str) -> Member[float | None]:
    """Return a coordinate (part 0) or its rate (1); None if the joint has none or is gone."""

    def get(self):
        found = self._simulation.domain.joints.state(self._id).get(kind.name)
        return None if found is None else found[part]

    return Member(get, doc=doc)


def _effort(kind: ConstraintKind, doc: str) -> Member[float | None]:
    def get(self):
        joints = self._simulation.domain.joints
        if not joints.rows_of(self._id).size or kind.name not in _drives_of(self) + ((BETWEEN.name,) if self._kind == "DISTANCE" else ()):
            return None
        return joints.load(self._id)[2].get(kind.name, 0.0)

    return Member(get, doc=doc)


def _drives_of(joint: JOINT) -> tuple[str, ...]:
    """Names of what may act along the coordinates of a joint."""
    return tuple(kind.name for kind in MECHANISMS[joint._kind].drives)


class JOINT(Handle):
    """A joint of a mechanism; a handle that finds it by (SOLFEC, id), made by HINGE and its like.

    All members are read-only, and None when the joint does not exist any more, because it broke or a body of it was deleted.  Coordinates and rates
    are those of `body` against `body2`, or against space, at the present configuration; forces are averaged over the last step.
    """

    __slots__ = ("_kind",)
    _names = "constraint"
    _SHOWN = "kind label angle turning travel speed distance torque thrust tension reaction"

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        raise BadType("JOINT objects come from commands such as HINGE")

    @classmethod
    def _made(cls, simulation, identifier: int, kind: str, label: str | None) -> JOINT:
        joint = cls._of(simulation, identifier)
        joint._kind = kind
        if label is not None:
            simulation.domain.joints.labels[identifier] = label
            simulation.domain.joints.commands[identifier] = kind
        return joint

    @classmethod
    def _labelled(cls, simulation, label: str) -> JOINT | None:
        """Return the first joint with a label, of a run that is read, too."""
        joints = simulation.domain.joints
        identifier = joints.labelled(label)
        return cls._made(simulation, identifier, joints.commands[identifier], None) if identifier else None

    def __repr__(self):
        label = f" {self.label!r}" if self.label else ""
        return f"JOINT {self._id}{label} ({self._kind if self.alive else 'gone'})"

    def _exists(self) -> bool:
        return self.alive

    @property
    def id(self) -> int:
        """Identifier, that of the joint's first constraint."""
        return self._id

    @property
    def kind(self) -> str:
        """The command that made it."""
        return self._kind

    @property
    def label(self) -> str | None:
        return self._simulation.domain.joints.labels.get(self._id)

    @property
    def alive(self) -> bool:
        """Whether it exists."""
        return bool(self._simulation.domain.joints.rows_of(self._id).size)

    @property
    def constraints(self) -> tuple[CONSTRAINT, ...]:
        """What it is made of."""
        domain = self._simulation.domain
        rows = domain.joints.rows_of(self._id)
        return tuple(CONSTRAINT._of(self._simulation, int(k)) for k in domain.constraints.id[rows])

    angle = _state(ABOUT, 0, "Angle about the axis [radians], turns counted; None of joints without one.")
    turning = _state(ABOUT, 1, "Rate of the angle.")
    travel = _state(ALONG, 0, "Way along the axis; None of joints without one.")
    speed = _state(ALONG, 1, "Rate of the travel.")
    distance = _state(BETWEEN, 0, "Distance of the ends of a rope or rod; None of other joints.")
    torque = _effort(ABOUT, "What motor, friction, spring, damper and limits do about the axis: torque on `body`.")
    thrust = _effort(ALONG, "What motor, friction, spring, damper and limits do along the axis: force on `body`.")
    tension = _effort(BETWEEN, "Force along a rope or rod on `body`, negative where it pulls.")

    @property
    def reaction(self) -> tuple[float, float, float, float, float, float] | None:
        """Spatial force and torque on `body` of all that the joint does, at the joint's point.

        Of a GEAR: on the wheel of its first joint, at a point of its axis; of a RACK: on the rack, at the point of the pinion's axis,
        or if it is of finite elements at that of its slider.  If space
        or an obstacle stands for this wheel: on the other one.
        """
        joints = self._simulation.domain.joints
        if not joints.rows_of(self._id).size:
            return None
        force, torque, _ = joints.load(self._id)
        return (*force.tolist(), *torque.tolist())


@command("BALL")
def BALL(body: BODY, body2: BODY | None, point: Vector, label: str | None = None, strength: float | None = None) -> JOINT:
    """Hold a point of a body at a point of another body, or in space.

    Parameters
    ----------
    body, body2 : BODY, BODY or None
        Two bodies, one of which may be an obstacle; None means space.
    point : tuple of 3
        Place of the joint in the present placement of the bodies, also outside of their shapes.
    label : str, optional
    strength : float
        Force at the joint's point beyond which the joint breaks (default: infinity).

    Returns
    -------
    JOINT
    """
    return _joint("BALL", body, body2, point, label=label, strength=strength)


@command("HINGE")
def HINGE(
    body: BODY,
    body2: BODY | None,
    point: Vector,
    axis: Vector,
    limits: Numbers | None = None,
    restitution: float = 0.0,
    friction: float = 0.0,
    spring: float = 0.0,
    damper: float = 0.0,
    rest: float = 0.0,
    label: str | None = None,
    strength: float | None = None,
) -> JOINT:
    """Let two bodies, or a body and space, turn against each other about an axis.

    Parameters
    ----------
    body, body2 : BODY, BODY or None
        Two bodies, one of which may be an obstacle; None means space.
    point, axis : tuple of 3
        A point of the axis and its direction, of any length, in the present placement.
    limits : tuple of 2, optional
        Least and largest angle [radians], which is zero at first; either may be infinite.
    restitution : float
        Of limits: rate after an impact over that before it, from 0 to 1.
    friction : float
        Largest torque of dry friction.
    spring, damper, rest : float
        Torque per angle and per rate, and the angle at which the spring is without force.
    label : str, optional
    strength : float
        Force at the joint's point beyond which the joint breaks (default: infinity).

    Returns
    -------
    JOINT
    """
    acts = _acting(limits, restitution, friction, spring, damper, rest)
    joint = _joint("HINGE", body, body2, point, axis, label=label, strength=strength)
    _put(joint, ABOUT, *acts)
    return joint


@command("SLIDER")
def SLIDER(
    body: BODY,
    body2: BODY | None,
    point: Vector,
    axis: Vector,
    limits: Numbers | None = None,
    restitution: float = 0.0,
    friction: float = 0.0,
    spring: float = 0.0,
    damper: float = 0.0,
    rest: float = 0.0,
    label: str | None = None,
    strength: float | None = None,
) -> JOINT:
    """Let two bodies, or a body and space, slide against each other along an axis without turning.

    Parameters
    ----------
    body, body2, point, axis, restitution, label, strength
        See HINGE.
    limits : tuple of 2, optional
        Least and largest travel, which is zero at first; either may be infinite.
    friction : float
        Largest force of dry friction.
    spring, damper, rest : float
        Force per travel and per rate, and the travel at which the spring is without force.

    Returns
    -------
    JOINT
    """
    acts = _acting(limits, restitution, friction, spring, damper, rest)
    joint = _joint("SLIDER", body, body2, point, axis, label=label, strength=strength)
    _put(joint, ALONG, *acts)
    return joint


@command("CYLINDRICAL")
def CYLINDRICAL(
    body: BODY, body2: BODY | None, point: Vector, axis: Vector, label: str | None = None, strength: float | None = None
) -> JOINT:
    """Let two bodies, or a body and space, slide along an axis and turn about it.

    Parameters
    ----------
    body, body2, point, axis, label, strength
        See HINGE.

    Returns
    -------
    JOINT
    """
    return _joint("CYLINDRICAL", body, body2, point, axis, label=label, strength=strength)


@command("UNIVERSAL")
def UNIVERSAL(
    body: BODY, body2: BODY | None, point: Vector, axis: Vector, axis2: Vector, label: str | None = None, strength: float | None = None
) -> JOINT:
    """Hold a point of two bodies together, and an axis of the one square to an axis of the other (a Cardan joint).

    Parameters
    ----------
    body, body2, label, strength
        See HINGE.
    point : tuple of 3
        Intersection of the axes, in the present placement.
    axis, axis2 : tuple of 3
        Axes of any length, square to each other in the present placement.  `body` carries `axis` and `body2` carries `axis2`; beside
        space, `axis` stays in space and `body` carries `axis2`.

    Returns
    -------
    JOINT
    """
    return _joint("UNIVERSAL", body, body2, point, axis, axis2, label=label, strength=strength)


@command("WELD")
def WELD(body: BODY, body2: BODY | None, point: Vector, label: str | None = None, strength: float | None = None) -> JOINT:
    """Let two bodies, or a body and space, neither slide nor turn against each other.

    Parameters
    ----------
    body, body2, point, label, strength
        See BALL.

    Returns
    -------
    JOINT
    """
    return _joint("WELD", body, body2, point, label=label, strength=strength)


@command("DISTANCE")
def DISTANCE(
    body: BODY, body2: BODY | None, point: Vector, point2: Vector, label: str | None = None, strength: float | None = None
) -> JOINT:
    """Keep the distance of two points, as a rod without mass does that has ball joints at its ends.

    Parameters
    ----------
    body, body2, label
        See BALL.
    point, point2 : tuple of 3
        Ends of the rod on `body` and `body2`, in the present placement.
    strength : float
        Tension beyond which the rod breaks (default: infinity).

    Returns
    -------
    JOINT
    """
    one, two = _bodies_of(body, body2)
    first, second = checks.vector(point, "point"), checks.vector(point2, "point2")
    domain = one._simulation.domain
    apart = float(np.linalg.norm(np.subtract(first, second)))
    if apart < domain.epsilon:
        raise BadValue(f"'point' and 'point2' are {apart:g} apart, which counts as the same place; BALL holds a point at another one")
    label, strength = _label(label), strength_of(strength)
    identifier = domain.joints.rod(one._id, None if two is None else two._id, first, second, strength)
    return JOINT._made(one._simulation, identifier, "DISTANCE", label)


@command("GEAR")
def GEAR(joint: JOINT, joint2: JOINT, ratio: float, label: str | None = None) -> JOINT:
    """Let two hinges of one frame turn at a ratio, as gears do.

    Parameters
    ----------
    joint, joint2 : JOINT
        Hinges of two wheels with the same other side, which is the gears' frame and may move: a body, an obstacle or space.
    ratio : float
        Angle of `joint` per angle of `joint2`, from now on, of a size from 1E-9 to 1E9; negative where parallel wheels turn in opposite directions.
    label : str, optional

    Returns
    -------
    JOINT
        It is deleted with either of the hinges.
    """
    ratio = checks.number(ratio, "ratio")
    if ratio == 0.0:
        raise BadValue("'ratio' is zero; it must be the angle of 'joint' per angle of 'joint2'")
    if not 1.0 / LARGEST_RATIO <= abs(ratio) <= LARGEST_RATIO:
        raise BadValue(f"the size of 'ratio' must be from {1.0 / LARGEST_RATIO:g} to {LARGEST_RATIO:g}, not {abs(ratio):g}")
    one, two, frame = _wheels("GEAR", joint, joint2, "HINGE", ABOUT)
    label, simulation = _label(label), joint._simulation
    if not _moves(simulation, one):
        one, two, ratio = two, one, 1.0 / ratio
    if not _moves(simulation, one):
        raise BadValue("neither wheel of 'joint' and 'joint2' can move; both are obstacles or space")
    places = mesh_points(one, two, ratio)
    if places is None and frame >= 0:
        raise BadValue(
            "the axes of 'joint' and 'joint2' coincide, and their frame is a body; such wheels turn together through a third one beside"
            " them: give it a HINGE and two GEARs (space as frame needs none)"
        )
    return JOINT._made(simulation, simulation.domain.joints.gear(one, two, ratio, places), "GEAR", label)


@command("RACK")
def RACK(joint: JOINT, joint2: JOINT, radius: float, label: str | None = None) -> JOINT:
    """Let a rack slide as its pinion turns.

    Parameters
    ----------
    joint : JOINT
        Hinge of the pinion.
    joint2 : JOINT
        Slider of the rack, whose other side is that of the hinge: a body, an obstacle or space.
    radius : float
        Travel of `joint2` per angle of `joint` [length per radian], from now on; negative where the rack moves the other way.
    label : str, optional

    Returns
    -------
    JOINT
        It is deleted with the hinge or the slider.
    """
    radius = checks.number(radius, "radius")
    if radius == 0.0:
        raise BadValue("'radius' is zero; it must be the travel of 'joint2' per angle of 'joint'")
    pinion, rack, _ = _wheels("RACK", joint, joint2, "SLIDER", ALONG)
    label, simulation = _label(label), joint._simulation
    if pinion.body < 0:
        raise BadValue("space stands for the pinion of 'joint'; a pinion must be a body (let the frame be space instead)")
    if not (_moves(simulation, rack) or _moves(simulation, pinion)):
        raise BadValue("neither the pinion of 'joint' nor the rack of 'joint2' can move; both are obstacles or space")
    return JOINT._made(simulation, simulation.domain.joints.rack(pinion, rack, radius), "RACK", label)


def _wheels(kind: str, joint, joint2, second: str, coordinate: ConstraintKind) -> tuple[Wheel, Wheel, int]:
    """Check the joints of wheels; return the wheels and the row of their frame."""
    for name, item, wanted in (("joint", joint, "HINGE"), ("joint2", joint2, second)):
        checks.instance(item, name, JOINT)
        if not item.alive:
            raise BadValue(f"'{name}' {item.id} does not exist any more")
        if item.kind != wanted:
            raise BadValue(f"'{name}' is a {item.kind}; a {kind} wants a {wanted} there")
    if joint._simulation is not joint2._simulation:
        raise BadValue("'joint' and 'joint2' belong to different SOLFEC objects")
    carrier = ConstraintKind.PIVOT if coordinate == ABOUT else ConstraintKind.GUIDE
    found = joint._simulation.domain.joints.wheels(joint._id, joint2._id, carrier)
    if found is None:
        raise BadValue(
            f"'joint' {joint.id} and 'joint2' {joint2.id} must have one side in common, the frame that holds both axes, and two different"
            " sides, the wheels; put the hinges of both wheels on the same body, or beside space"
        )
    return found


def _moves(simulation, wheel: Wheel) -> bool:
    """Whether a wheel is a body that is no obstacle."""
    return wheel.body >= 0 and simulation.domain.bodies.kind[wheel.body] != BodyKind.OBSTACLE


@command("ROPE")
def ROPE(
    body: BODY,
    body2: BODY | None,
    point: Vector,
    point2: Vector,
    length: float | None = None,
    restitution: float = 0.0,
    label: str | None = None,
    strength: float | None = None,
) -> JOINT:
    """Let two points not come further apart than a rope is long; it pulls and does not push.

    Parameters
    ----------
    body, body2, label
        See BALL.
    point, point2 : tuple of 3
        Ends of the rope on `body` and `body2`, in the present placement.
    length : float, optional
        Of the rope, not below the present distance of its ends, which it is when omitted.
    restitution : float
        Speed at which a rope that has come tight throws its ends together, over that at which it came tight, from 0 to 1.
    strength : float
        Tension beyond which the rope breaks (default: infinity).

    Returns
    -------
    JOINT
    """
    one, two = _bodies_of(body, body2)
    first, second = checks.vector(point, "point"), checks.vector(point2, "point2")
    apart = float(np.linalg.norm(np.subtract(first, second)))
    length = apart if length is None else checks.positive(length, "length")
    if length < (1.0 - ROUNDING) * apart:
        raise BadValue(f"'length' ({length:g}) is less than the distance of the ends, {apart:g}")
    if not apart > 0.0:
        raise BadValue("'point' and 'point2' are the same place; a rope needs a direction")
    restitution = checks.between(restitution, "restitution", 0.0, 1.0)
    label, strength = _label(label), strength_of(strength)
    domain = one._simulation.domain
    identifier = domain.joints.span(one._id, None if two is None else two._id, first, second, strength)
    joint = JOINT._made(one._simulation, identifier, "ROPE", label)
    _put(joint, BETWEEN, {RESTITUTION: restitution}, (-math.inf, length))
    return joint


@command("MOTOR")
def MOTOR(
    joint: JOINT,
    kind: Literal["RATE", "POSITION", "EFFORT", "OFF"],
    value: float | TIME_SERIES | Callable[..., float] = 0.0,
    limit: float | None = None,
    coordinate: Literal["ANGLE", "TRAVEL"] | None = None,
    data: Any = None,
) -> None:
    """Let a motor drive a joint, in place of the one that it may have.

    Parameters
    ----------
    joint : JOINT
        A HINGE, SLIDER or CYLINDRICAL joint.
    kind : str
        What `value` is: 'RATE' of the angle or the travel, 'POSITION' (angle or travel), 'EFFORT' (torque or force on `body`); 'OFF': there is no
        motor any more.
    value : number, TIME_SERIES or callable
        Called as ``value(data..., time)``, of 'EFFORT' ``value(data..., coordinate, rate, time)``, once or thrice a step.
    limit : float
        Torque or force that the motor cannot exceed: beyond, it slips (default: infinity).
    coordinate : str
        Of a CYLINDRICAL joint: 'ANGLE' or 'TRAVEL'; other joints have one of them.
    data
        First arguments of the function, several when it is a tuple.
    """
    joint = checks.instance(joint, "joint", JOINT)
    kind = checks.choice(kind, "kind", (*MODES, "OFF"))
    if not joint.alive:
        raise BadValue(f"'joint' {joint.id} does not exist any more")
    axis = _axis_of(joint, coordinate)
    limit = math.inf if limit is None else checks.positive(limit, "limit", infinite=True)
    joints = joint._simulation.domain.joints
    if kind == "OFF":
        joints.set_motor(joint._id, axis, Motor.NONE, 0.0, math.inf)
        return
    if callable(value) and not isinstance(value, TIME_SERIES):
        joints.set_motor(joint._id, axis, MODES[kind], with_data(value, first_arguments(data)), limit)
        return
    refuse_data(data, "MOTOR")
    joints.set_motor(joint._id, axis, MODES[kind], number_or_series(value, "value"), limit)


@command("SET_ROTATION")
def SET_ROTATION(
    body: BODY, point: Vector, axis: Vector, value: float | TIME_SERIES | Callable[[float], float], kind: Literal["RATE", "POSITION"] = "RATE"
) -> JOINT:
    """Turn an obstacle or a body about an axis that stays in space, at a given rate or to a given angle.

    Parameters
    ----------
    body : BODY
        An obstacle, a rigid or a pseudo-rigid body.
    point, axis : tuple of 3
        A point of the axis and its direction, of any length, in the present placement.
    value : number, TIME_SERIES or callable
        Rate [radians per time] or angle [radians]; called as ``value(time)``.
    kind : str
        'RATE' or 'POSITION'.

    Returns
    -------
    JOINT
        A HINGE with a motor, which cannot slip.
    """
    mode = MODES[checks.choice(kind, "kind", ("RATE", "POSITION"))]
    if not callable(value) or isinstance(value, TIME_SERIES):
        value = number_or_series(value, "value")
    if not body_of(body, "body")._simulation.domain.dynamic:
        raise BadValue("a rotation cannot be prescribed in a quasi-static analysis")
    joint = _joint("HINGE", body, None, point, axis, driven=True)
    joint._simulation.domain.joints.set_motor(joint._id, ABOUT, mode, value, math.inf)
    return joint


def _axis_of(joint: JOINT, coordinate) -> ConstraintKind:
    """Return the coordinate of a joint for a law."""
    known = {name: axis for name, axis in COORDINATES.items() if axis.name in _drives_of(joint)}
    if not known:
        raise BadValue(f"'joint' is a {joint.kind}, which has no motor; HINGE, SLIDER and CYLINDRICAL joints have")
    if coordinate is None:
        if len(known) > 1:
            raise BadValue(f"'coordinate' must say which one of {' and '.join(known)} of a {joint.kind} joint the motor drives")
        return next(iter(known.values()))
    return known[checks.choice(coordinate, "coordinate", tuple(known))]


def _acting(limits, restitution, friction, spring, damper, rest) -> tuple[dict[int, float], tuple[float, float]]:
    """Check the laws along a coordinate; return numbers by their places in the column `drive`, and limits."""
    low, high = (-math.inf, math.inf) if limits is None else limits_of(limits)
    if low >= high or low > 0.0 or high < 0.0:
        raise BadValue(f"'limits' must be (least, largest) with least <= 0 <= largest, where the joint is now; they are ({low:g}, {high:g})")
    numbers = {
        RESTITUTION: checks.between(restitution, "restitution", 0.0, 1.0),
        FRICTION: checks.nonnegative(friction, "friction"),
        STIFFNESS: checks.nonnegative(spring, "spring"),
        DAMPING: checks.nonnegative(damper, "damper"),
        REST: checks.number(rest, "rest"),
    }
    return numbers, (low, high)


def _put(joint: JOINT, axis: ConstraintKind, numbers: dict[int, float], limits: tuple[float, float]) -> None:
    """Put laws along a coordinate, if there are any."""
    acts = any(value for place, value in numbers.items() if place not in (REST, RESTITUTION))
    if not acts and limits == (-math.inf, math.inf):
        return
    domain = joint._simulation.domain
    row = domain.joints.drive(joint._id, axis)
    for place, value in numbers.items():
        domain.constraints.drive[place, row] = value
    domain.constraints.limits[:, row] = limits


def _bodies_of(body, body2, driven: bool = False) -> tuple[BODY, BODY | None]:
    """Check the bodies of a joint."""
    one = body_of(body, "body")
    two = None if body2 is None else body_of(body2, "body2")
    if two is None and one._kind == BodyKind.OBSTACLE and not driven:
        raise BadValue("'body' is an obstacle; it needs no joint with space, since only SET_ROTATION, SET_VELOCITY and its like move it")
    if two is not None:
        check_pair((one, two), ("body", "body2"))
    return one, two


def _joint(kind: str, body, body2, point, axis=None, second=None, label=None, strength=None, driven: bool = False) -> JOINT:
    """Check arguments that all joints share, and make a joint."""
    one, two = _bodies_of(body, body2, driven)
    place = checks.vector(point, "point")
    axis = _unit(axis, "axis") if kind in TURNED else None
    second = _unit(second, "axis2") if kind == "UNIVERSAL" else None
    if second is not None:
        if abs(axis @ second) > SQUARE:
            angle = np.degrees(np.arccos(np.clip(axis @ second, -1.0, 1.0)))
            raise BadValue(f"'axis' and 'axis2' must be square to each other; the angle between them is {angle:g} degrees")
        second = second - (axis @ second) * axis
    label, strength = _label(label), strength_of(strength)
    simulation = one._simulation
    other = None if two is None else two._id
    identifier = simulation.domain.joints.mechanism(kind, one._id, other, place, axis, second, strength)
    return JOINT._made(simulation, identifier, kind, label)


def _label(value) -> str | None:
    return None if value is None else checks.string(value, "label")


def _unit(value, name: str) -> np.ndarray:
    vector = np.array(checks.direction(value, name))
    return vector / np.linalg.norm(vector)
