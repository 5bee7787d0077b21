"""The user's constraints of a model: joints, links, prescribed velocities and springs (docs/language-objects.md, Constraints)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .bodies import finite_elements, point_values
from .bodies.table import BodyKind
from .constraints import element_points, joint_starts, user
from .constraints.joint_operators import relative_velocities
from .constraints.table import ConstraintKind, DirectionUpdate
from .kinds import DRIVES, Motor
from .time_series import TimeSeries

if TYPE_CHECKING:
    from .domain import Domain


@dataclass(frozen=True)
class Mechanism:
    """Composition of a kind of joint.

    Attributes
    ----------
    rows : tuple of ConstraintKind
        What it holds: a point (FIXPNT) or a line (GUIDE), all turning (LOCK), all but that about its axis (PIVOT), the angle of two
        axes (SWIVEL), the distance of two points (RIGLNK), or the coordinates of two other joints at a ratio (GEAR, RACK).
    drives : tuple of ConstraintKind
        What may act along its coordinates: AXIAL along its axis, TORSIONAL about it.
    """

    rows: tuple[ConstraintKind, ...]
    drives: tuple[ConstraintKind, ...] = ()


MECHANISMS = {
    "BALL": Mechanism((ConstraintKind.FIXPNT,)),
    "HINGE": Mechanism((ConstraintKind.FIXPNT, ConstraintKind.PIVOT), (ConstraintKind.TORSIONAL,)),
    "UNIVERSAL": Mechanism((ConstraintKind.FIXPNT, ConstraintKind.SWIVEL)),
    "WELD": Mechanism((ConstraintKind.FIXPNT, ConstraintKind.LOCK)),
    "CYLINDRICAL": Mechanism((ConstraintKind.GUIDE, ConstraintKind.PIVOT), (ConstraintKind.AXIAL, ConstraintKind.TORSIONAL)),
    "SLIDER": Mechanism((ConstraintKind.GUIDE, ConstraintKind.LOCK), (ConstraintKind.AXIAL,)),
    "ROPE": Mechanism((), (ConstraintKind.SPAN,)),
    "DISTANCE": Mechanism((ConstraintKind.RIGLNK,)),
    "GEAR": Mechanism((ConstraintKind.GEAR,)),
    "RACK": Mechanism((ConstraintKind.RACK,)),
}
WHEELS = (ConstraintKind.GEAR, ConstraintKind.RACK)
FORCES = (ConstraintKind.FIXPNT, ConstraintKind.GUIDE, ConstraintKind.AXIAL, ConstraintKind.SPAN, ConstraintKind.RIGLNK)
TORQUES = (ConstraintKind.PIVOT, ConstraintKind.LOCK, ConstraintKind.SWIVEL, ConstraintKind.TORSIONAL)
CARRIERS = {  # rows that have a coordinate, which rows of laws along this coordinate share
    ConstraintKind.AXIAL: (ConstraintKind.GUIDE, ConstraintKind.AXIAL),
    ConstraintKind.TORSIONAL: (ConstraintKind.PIVOT, ConstraintKind.TORSIONAL),
    ConstraintKind.SPAN: (ConstraintKind.SPAN, ConstraintKind.RIGLNK),
}
COAXIAL = 1e-9  # part of the distance of two points below which the points count as one
EFFORT, FRICTION, STIFFNESS, DAMPING, REST, RESTITUTION = range(6)  # places in the column `drive`


@dataclass(frozen=True)
class Wheel:
    """A body that turns or slides against a frame, in the present configuration.

    Attributes
    ----------
    body : int
        Its row, -1: space.
    row_id : int
        Identifier of the constraint that has its coordinate.
    axis : (3,) ndarray
        Unit axis, about or along which the coordinate of the body against the frame grows.
    place : (3,) ndarray
        Point of the axis.
    coordinate : float
        Angle or travel of the joint.
    """

    body: int
    row_id: int
    axis: np.ndarray
    place: np.ndarray
    coordinate: float


def mesh_points(one: Wheel, two: Wheel, ratio: float) -> tuple[np.ndarray, np.ndarray] | None:
    """Return points a, b of two axes, with b - a square to m = axis one - ratio axis two, as module wheels needs; None if the axes coincide.

    Parallel axes: a is the place of the first wheel.  Others: the points are about as far from the axes' nearest points as the places are.
    """
    n, p, apart = one.axis, two.axis, two.place - one.place
    cosine = float(n @ p)
    size = float(np.linalg.norm(apart))
    if 1.0 - cosine**2 < COAXIAL:
        apart = apart - (apart @ n) * n
        return None if np.linalg.norm(apart) <= COAXIAL * max(size, 1e-300) else (one.place, one.place + apart)
    way = np.linalg.solve([[1.0, -cosine], [cosine, -1.0]], [apart @ n, apart @ p])  # to the axes' nearest points
    near = one.place + way[0] * n, two.place + way[1] * p
    m = n - ratio * p
    steps = np.array([p @ m, n @ m])  # along the axes, which keep the connection square to m
    scales = [-way[k] / steps[k] for k in (0, 1) if abs(steps[k]) > COAXIAL and abs(way[k]) > COAXIAL * size]
    scale = scales[0] if scales else 1.0 / np.linalg.norm(steps)
    return near[0] + scale * steps[0] * n, near[1] + scale * steps[1] * p


def axes_square_to(axis) -> np.ndarray:
    """Return a right-handed frame (3, 3), rows, whose first vector is a unit axis."""
    axis = np.asarray(axis, float)
    other = np.zeros(3)
    other[np.argmin(np.abs(axis))] = 1.0
    return frame_of(axis, other - (other @ axis) * axis)


def frame_of(axis, second) -> np.ndarray:
    """Return a right-handed frame (3, 3), rows, of a unit axis and a perpendicular vector of any length."""
    second = np.asarray(second, float) / np.linalg.norm(second)
    return np.array([axis, second, np.cross(axis, second)])


class Joints:
    """Insertion and deletion of a model's constraints."""

    def __init__(self, domain: Domain):
        self.domain = domain
        self.labels: dict[int, str] = {}  # of joints of mechanisms, by identifier
        self.commands: dict[int, str] = {}  # that made the labelled joints

    def fix_point(self, identifier: int, point, strength: float = math.inf) -> int:
        """Fix a referential point in space (docs/language-objects.md, FIX_POINT); return the constraint's identifier."""
        row, place = self.domain.body_row(identifier), np.add(point, self.domain.points.displacement(identifier, point))
        return self.put(ConstraintKind.FIXPNT, master=row, master_point=point, slave_point=place, strength=strength)

    def rigid_link(self, one: int | None, two: int | None, point1, point2, strength: float = math.inf) -> int:
        """Keep the distance of two referential points (docs/language-objects.md, PUT_RIGID_LINK); return the constraint's identifier.

        Coincident points are coupled instead.  A body given as None leaves a fixed spatial point.
        """
        if one is None:
            one, two, point1, point2 = two, None, point2, point1
        point1, point2 = np.asarray(point1, float), np.asarray(point2, float)
        length = float(np.linalg.norm(point1 - point2))
        kind = ConstraintKind.RIGLNK if length >= self.domain.epsilon else ConstraintKind.FIXPNT
        return self.put(
            kind,
            master=self.domain.body_row(one),
            slave=-1 if two is None else self.domain.body_row(two),
            master_point=point1,
            slave_point=point2,
            length=length if kind == ConstraintKind.RIGLNK else 0.0,
            strength=strength,
        )

    def fix_direction(self, identifier: int, point, direction, other: int | None = None, other_point=None) -> int:
        """Stop the motion of a point along a unit direction (docs/language-objects.md, FIX_DIRECTION); return the constraint's identifier.

        With another body, the motion of its point relative to the first body is stopped, along a direction convected
        with the first one.
        """
        row = self.domain.body_row(identifier)
        if other is None:
            return self.put(
                ConstraintKind.FIXDIR,
                master=row,
                master_point=point,
                slave_point=np.add(point, self.domain.points.displacement(identifier, point)),
                direction=direction,
                update=DirectionUpdate.FIXED,
            )
        return self.put(
            ConstraintKind.FIXDIR,
            master=row,
            slave=self.domain.body_row(other),
            master_point=point,
            slave_point=other_point,
            direction=point_values.referential_direction(self.domain.bodies, row, direction, point, self.domain.epsilon),
            update=DirectionUpdate.CONV1,
        )

    def mechanism(self, kind: str, one: int, two: int | None, point, axis=None, second=None, strength: float = math.inf) -> int:
        """Put a joint of a mechanism between two bodies, or between a body and space; return its identifier, that of its first constraint.

        Parameters
        ----------
        kind : str
            Name of a `MECHANISMS` record.
        point : array_like (3,)
            Place of the joint in the present configuration.
        axis, second : array_like (3,), optional
            Unit vectors in the present configuration: the joint's axis, and of a UNIVERSAL joint the axis that the second body carries,
            square to it.
        strength : float
            Force beyond which the joint breaks.
        """
        point, record = np.asarray(point, float), MECHANISMS[kind]
        base = np.eye(3) if axis is None else axes_square_to(axis) if second is None else frame_of(axis, second)
        mine, other = (base[:2], base[:2]) if second is None else (base[:2], base[[1, 0]])
        if second is not None and two is None:
            mine, other = other, mine
        columns = self._ends(one, two, point)
        columns["axes"] = self._axes((one, two), (mine, other), columns)
        arm, first = self._arm(one, two), 0
        for row in record.rows:
            extra = {"length": arm} if row in TORQUES else {"strength": strength}
            identifier = self.put(row, **columns, **extra, joint=first or self.domain.constraints.next_id)
            first = first or identifier
        return first

    def span(self, one: int, two: int | None, point, point2, strength: float = math.inf) -> int:
        """Join two places of the present configuration by a law along the line between them; return the joint's identifier."""
        columns = self._ends(one, two, point, point2)
        return self.put(
            ConstraintKind.SPAN, **columns, strength=strength, limits=(-math.inf, math.inf), joint=self.domain.constraints.next_id
        )

    def rod(self, one: int, two: int | None, point, point2, strength: float = math.inf) -> int:
        """Keep the distance of two places of the present configuration; return the joint's identifier."""
        length = float(np.linalg.norm(np.subtract(point, point2)))
        columns = self._ends(one, two, point, point2) | {"length": length, "strength": strength}
        return self.put(ConstraintKind.RIGLNK, **columns, joint=self.domain.constraints.next_id)

    def wheels(self, joint: int, other: int, kind: ConstraintKind) -> tuple[Wheel, Wheel, int] | None:
        """Return the wheels of a HINGE and of another joint, and the body row of the frame that both joints share, -1: space.

        `kind` is the row of the other joint that has its coordinate.  None: the joints do not share exactly one side.
        """
        constraints, found = self.domain.constraints, []
        with user.present(constraints, self.domain.bodies, self.domain.time):
            for identifier, carrier in ((joint, ConstraintKind.PIVOT), (other, kind)):
                row, first = int(self.rows_of(identifier, (carrier,))[0]), int(self.rows_of(identifier)[0])
                sides = int(constraints.master[row]), int(constraints.slave[row])
                found.append((sides, row, constraints.base[:, 2, row].copy(), constraints.point[:, first].copy()))
            shared = set(found[0][0]) & set(found[1][0])
            if len(shared) != 1:
                return None
            frame, made = shared.pop(), []
            for sides, row, axis, place in found:
                body = sides[0] if sides[1] == frame else sides[1]
                made.append(Wheel(body, int(constraints.id[row]), axis if sides[1] == frame else -axis, place, float(constraints.gap[row])))
        return made[0], made[1], frame

    def gear(self, one: Wheel, two: Wheel, ratio: float, places) -> int:
        """Let wheel `one`, which must be able to move, turn `ratio` times as much as `two`; return the joint's identifier.

        `places` are points of both axes whose connection is square to axis one - ratio axis two (`mesh_points`); None: the frame is space, and
        torques act alone.
        """
        first, second = (one.place, two.place) if places is None else places
        return self._mesh(ConstraintKind.GEAR, one, two, (one, two), first, second, (ratio, places is not None))

    def rack(self, pinion: Wheel, rack: Wheel, radius: float) -> int:
        """Let a rack move by `radius` times the angle of a pinion, which must be a body; return the joint's identifier."""
        if rack.body < 0:
            return self._mesh(ConstraintKind.RACK, pinion, rack, (rack, pinion), pinion.place, pinion.place, (radius, 1.0))
        soft = self.domain.bodies.kind[rack.body] == BodyKind.FINITE_ELEMENT  # it is held where its slider holds it (module wheels)
        return self._mesh(ConstraintKind.RACK, rack, pinion, (rack, pinion), rack.place if soft else pinion.place, pinion.place, (radius, 1.0))

    def _mesh(self, kind: ConstraintKind, one: Wheel, two: Wheel, coordinates, place, place2, gearing) -> int:
        """Put a row of wheels between the bodies of two wheels."""
        ids = [int(self.domain.bodies.id[wheel.body]) if wheel.body >= 0 else None for wheel in (one, two)]
        ratio, at_rims = gearing
        first, second = coordinates
        ends = self._ends(*ids, place, place2)
        return self.put(
            kind,
            **ends,
            axes=self._axes(ids, [axes_square_to(wheel.axis)[:2] for wheel in (one, two)], ends),
            length=self._arm(*ids),
            joint=self.domain.constraints.next_id,
            geared=(first.row_id, second.row_id),
            gearing=(ratio, first.coordinate - ratio * second.coordinate, at_rims),
        )

    def labelled(self, label: str) -> int:
        """Return the identifier of the first joint with a label, of one that exists if there is any; 0: none."""
        found = sorted(identifier for identifier, known in self.labels.items() if known == label)
        return next((identifier for identifier in found if self.rows_of(identifier).size), found[0] if found else 0)

    def rows_of(self, joint: int, kinds=None) -> np.ndarray:
        """Return the rows of a joint in the constraint table, of some kinds if these are given."""
        constraints = self.domain.constraints
        users = slice(0, constraints.user_count)
        mine = constraints.joint[users] == joint
        return np.flatnonzero(mine if kinds is None else mine & np.isin(constraints.kind[users], kinds))

    def drive(self, joint: int, kind: ConstraintKind) -> int:
        """Return the row of the law along a joint's coordinate; make it if it does not exist."""
        found = self.rows_of(joint, (kind,))
        if found.size:
            return int(found[0])
        constraints = self.domain.constraints
        carrier = int(self.rows_of(joint, CARRIERS[kind])[0])
        names = ("master", "slave", "master_point", "slave_point", "axes", "travel", "joint")
        columns = {name: getattr(constraints, name)[..., carrier].copy() for name in names}
        arm = constraints.length[carrier] if kind == ConstraintKind.TORSIONAL else 0.0
        identifier = self.put(kind, **columns, length=arm, limits=(-math.inf, math.inf))
        return constraints.row_of(identifier)

    def set_motor(self, joint: int, kind: ConstraintKind, mode: Motor, value, effort: float) -> None:
        """Put a motor on a joint's coordinate: `value` is a number, a TimeSeries or a function (constraints/motors.py)."""
        self.domain.guard.refuse("change motors")
        row, constraints = self.drive(joint, kind), self.domain.constraints
        called = callable(value) and not isinstance(value, TimeSeries)
        constraints.motor[row] = mode | (Motor.CALLED if called else 0)
        constraints.drive[EFFORT, row] = effort
        constraints.series_rows[:, row] = -1
        constraints.value[:, row] = 0.0
        constraints.functions.pop(int(constraints.id[row]), None)
        if called:
            constraints.functions[int(constraints.id[row])] = value
        elif mode:
            constraints.value[0, row], constraints.series_rows[0, row] = self._prescribed(value)
            if mode == Motor.COORDINATE and isinstance(value, TimeSeries):
                _, constraints.series_rows[1, row] = self._prescribed(value.derivative())

    def state(self, joint: int) -> dict[str, tuple[float, float]]:
        """Return coordinates and rates of a joint at the present configuration, by the names of laws along them."""
        domain = self.domain
        found = {}
        with user.present(domain.constraints, domain.bodies, domain.time):
            for kind, carriers in CARRIERS.items():
                rows = self.rows_of(joint, carriers)[:1]
                if rows.size:
                    rigid = domain.constraints.kind[rows[0]] == ConstraintKind.RIGLNK
                    start = domain.constraints.length[rows[0]] if rigid else 0.0  # the gap of a rod is its excess length
                    found[kind.name] = float(domain.constraints.gap[rows[0]] + start), self._rate(int(rows[0]), kind)
        return found

    def _rate(self, row: int, kind: ConstraintKind) -> float:
        """Return the rate of a coordinate, also if its row prescribes other components only."""
        constraints, n = self.domain.constraints, [row]
        kept = constraints.kind[row]
        constraints.kind[row] = kind
        velocity = relative_velocities(constraints, self.domain.bodies, np.array(n))
        constraints.kind[row] = kept
        return float(velocity[2, 0] / (constraints.length[row] if kind == ConstraintKind.TORSIONAL else 1.0))

    def load(self, joint: int) -> tuple[np.ndarray, np.ndarray, dict[str, float]]:
        """Return spatial force and torque of a joint on its first body, and efforts along its coordinates by their names."""
        constraints = self.domain.constraints
        spatial = {}
        for kinds, factor in ((FORCES, None), (TORQUES, "length")):
            rows = self.rows_of(joint, kinds)
            size = 1.0 if factor is None else constraints.length[rows]
            spatial[kinds] = np.einsum("ijn,jn->i", constraints.base[:, :, rows], constraints.R[:, rows] * size)
        wheels = self.rows_of(joint, WHEELS)
        levers = constraints.levers[:, :, 0, wheels] @ constraints.R[2, wheels]
        spatial[FORCES], spatial[TORQUES] = spatial[FORCES] + levers[:, 1], spatial[TORQUES] + levers[:, 0]
        rows = self.rows_of(joint, (*DRIVES, ConstraintKind.RIGLNK))
        turning = constraints.kind[rows] == ConstraintKind.TORSIONAL
        efforts = constraints.R[2, rows] * np.where(turning, constraints.length[rows], 1.0)
        kinds = np.where(constraints.kind[rows] == ConstraintKind.RIGLNK, ConstraintKind.SPAN, constraints.kind[rows])
        names = (ConstraintKind(int(kind)).name for kind in kinds)
        return spatial[FORCES], spatial[TORQUES], dict(zip(names, efforts.tolist(), strict=True))

    def _ends(self, one: int, two: int | None, place, place2=None) -> dict:
        """Return columns of a joint that holds a place of one body at a place of another, or of space."""
        place2 = place if place2 is None else np.asarray(place2, float)
        return {
            "master": self.domain.body_row(one),
            "slave": -1 if two is None else self.domain.body_row(two),
            "master_point": self._referential(one, np.asarray(place, float)),
            "slave_point": place2 if two is None else self._referential(two, place2),
        }

    def _axes(self, ids, present, ends: dict) -> np.ndarray:
        """Return referential axes (3, 2, 2) of both sides of a joint, which they carry to present ones at their points."""
        sides = zip(ids, present, (ends["master_point"], ends["slave_point"]), strict=True)
        return np.stack([self._carried(*side) for side in sides], axis=-1)

    def _carried(self, identifier: int | None, axes, point) -> np.ndarray:
        """Return referential vectors (3, n) that a body, or space, carries at a referential point to the present ones, rows of `axes`."""
        columns = np.array(axes, float).T
        if identifier is None:
            return columns
        bodies, row = self.domain.bodies, self.domain.body_row(identifier)
        conf = bodies.configurations.conf[:, bodies.conf_slice(row)]
        if bodies.kind[row] == BodyKind.FINITE_ELEMENT:
            element, natural, _ = finite_elements.find(bodies, row, point, self.domain.epsilon)
            gradient = finite_elements.deformation_gradients(bodies, np.array([row]), np.array([element]), natural[:, None])[:, :, 0]
        elif bodies.kind[row] == BodyKind.PSEUDO_RIGID:
            gradient = conf[:, :3].T
        else:
            return conf[:, :3].T @ columns
        left, _, right = np.linalg.svd(gradient)
        return (left @ right).T @ columns

    def _arm(self, one: int, two: int | None) -> float:
        """Return the arm that turns angular velocities into velocities [length]: the smaller root of trace(tensor)/mass of moving bodies.

        Rotation and translation then have similar weights in the joint's block of W.
        """
        bodies = self.domain.bodies
        rows = [self.domain.body_row(identifier) for identifier in (one, two) if identifier is not None]
        moving = [row for row in rows if bodies.kind[row] != BodyKind.OBSTACLE] or rows
        return min(math.sqrt(float(np.trace(bodies.tensor[:, :, row])) / float(bodies.mass[row])) for row in moving)

    def _referential(self, identifier: int, place) -> np.ndarray:
        """Return the referential point of a body at a present place."""
        bodies, row = self.domain.bodies, self.domain.body_row(identifier)
        if bodies.kind[row] == BodyKind.FINITE_ELEMENT:
            return finite_elements.referential_point(bodies, row, place, self.domain.epsilon)
        conf = bodies.configurations.conf[:, bodies.conf_slice(row)]
        gradient = conf[:, :3].T if bodies.kind[row] == BodyKind.PSEUDO_RIGID else conf[:, :3]
        return bodies.centre[:, row] + np.linalg.solve(gradient, place - conf[:, 3])

    def prescribe_velocity(self, identifier: int, point, direction, value: float | TimeSeries) -> int:
        """Prescribe the velocity of a point along a unit direction (docs/language-objects.md, Prescribed motion); return the identifier."""
        number, series = self._prescribed(value)
        return self.put(
            ConstraintKind.VELODIR,
            master=self.domain.body_row(identifier),
            master_point=point,
            direction=direction,
            update=DirectionUpdate.FIXED,
            value=(number, 0.0, 0.0),
            series_rows=(series, -1, -1),
        )

    def prescribe_velocities(self, identifier: int, point, base, values) -> int:
        """Prescribe a point's velocities along three unit vectors, columns of `base` (docs/language-objects.md, Prescribed motion)."""
        numbers, series = zip(*(self._prescribed(value) for value in values), strict=True)
        return self.put(
            ConstraintKind.VELODIR3,
            master=self.domain.body_row(identifier),
            master_point=point,
            base=base,
            value=numbers,
            series_rows=series,
        )

    def _prescribed(self, value: float | TimeSeries) -> tuple[float, int]:
        """Return a constant and -1, or 0 and the row of a time series."""
        if isinstance(value, TimeSeries):
            return 0.0, self.domain.constraints.series.add(value)
        return float(value), -1

    def spring(
        self,
        one: int,
        point1,
        two: int,
        point2,
        law,
        limits,
        direction=None,
        update: DirectionUpdate = DirectionUpdate.FOLLOW,
        dashpot: float = 0.0,
        implicit: bool = False,
    ) -> int:
        """Put a spring between points of two bodies (docs/language-objects.md, PUT_SPRING); return the constraint's identifier.

        Parameters
        ----------
        law : callable or array_like (m, 2)
            ``law(stroke, velocity)`` returning the force on body `one` along the direction, or points (stroke, force).
        limits : tuple of 2
            Strokes beyond which rigid stops hold.
        direction : array_like (3,), optional
            Unit spatial direction; by default from the second point to the first.
        dashpot : float
            Force per velocity that opposes the stroke, in addition to a curve.
        implicit : bool
            Whether the force follows from the mean stroke and velocity of the step, instead of those at mid-step.
        """
        master, slave = self.domain.body_row(one), self.domain.body_row(two)
        carrier = {DirectionUpdate.CONV1: master, DirectionUpdate.CONV2: slave}.get(update)
        if carrier is not None:
            onto = point1 if update == DirectionUpdate.CONV1 else point2
            direction = point_values.referential_direction(self.domain.bodies, carrier, direction, onto, self.domain.epsilon)
        identifier = self.put(
            ConstraintKind.SPRING,
            master=master,
            slave=slave,
            master_point=point1,
            slave_point=point2,
            direction=(0.0, 0.0, 0.0) if direction is None else direction,
            update=update,
            limits=limits,
            curve=-1 if callable(law) else self.domain.constraints.curves.add(law),
            dashpot=dashpot,
            implicit=implicit,
        )
        row = self.domain.constraints.row_of(identifier)
        self.domain.constraints.length[row] = self.domain.constraints.gap[row]  # the stroke starts at zero
        self.domain.constraints.gap[row] = 0.0
        if callable(law):
            self.domain.constraints.functions[identifier] = law
        return identifier

    def put(self, kind: ConstraintKind, **columns) -> int:
        """Insert a constraint into the model: a row after the user's other constraints and before the contacts.

        Parameters
        ----------
        kind : ConstraintKind
        **columns
            Columns of `ConstraintTable` that differ from their defaults; `master` and `slave` are rows of bodies.

        Returns
        -------
        int
            The constraint's identifier.
        """
        self.domain.guard.refuse("insert constraints")
        constraints = self.domain.constraints
        identifier = int(constraints.new_ids(1)[0])
        row = constraints.append(kind=int(kind), id=identifier, birth=self.domain.step_number)
        for name, value in columns.items():
            getattr(constraints, name)[..., row] = value
        if kind in joint_starts.JOINTS:
            constraints.start[row] = joint_starts.Start.NEW
        if constraints.contact_count > 1:
            first = constraints.user_count
            for name in constraints.COLUMNS:
                column = constraints.view(name)
                column[..., first:] = np.roll(column[..., first:], 1, axis=-1)
        constraints.user_count += 1
        element_points.attach(constraints, self.domain.bodies, constraints.user_count - 1, self.domain.epsilon)
        user.update(constraints, self.domain.bodies, self.domain.time, 0.0)
        return identifier

    def delete_constraint(self, identifier: int) -> None:
        """Delete a constraint if it exists."""
        self.domain.guard.refuse("delete constraints")
        row = self.domain.constraints.row_of(identifier)
        if row >= 0:
            mask = np.ones(self.domain.constraints.n, bool)
            mask[row] = False
            self.domain.constraints.keep_marked(mask)
