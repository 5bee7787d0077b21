"""The user's constraints of a model: joints, links, prescribed velocities and springs (docs/language-objects.md, Constraints)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .bodies import point_values
from .bodies.table import BodyKind
from .constraints import element_points, joint_starts, user
from .constraints.table import ConstraintKind, DirectionUpdate
from .time_series import TimeSeries


@dataclass(frozen=True)
class Mechanism:
    """What a kind of joint holds.

    Attributes
    ----------
    held : bool
        Whether its point is held in all directions.
    planes : tuple of (int or None, int)
        Points that stay in planes: each the axis of the joint's frame on which the point lies (None: in its origin), and the axis that
        is the plane's normal.  Axis 0 is the joint's own.
    """

    held: bool
    planes: tuple[tuple[int | None, int], ...] = ()


MECHANISMS = {
    "BALL": Mechanism(True),
    "HINGE": Mechanism(True, ((0, 1), (0, 2))),
    "UNIVERSAL": Mechanism(True, ((1, 0),)),
    "WELD": Mechanism(True, ((0, 1), (0, 2), (1, 2))),
    "CYLINDRICAL": Mechanism(False, ((None, 1), (None, 2), (0, 1), (0, 2))),
    "SLIDER": Mechanism(False, ((None, 1), (None, 2), (0, 1), (0, 2), (1, 2))),
}


def axes_square_to(axis) -> np.ndarray:
    """A right-handed frame (3, 3), rows, that begins with a unit axis."""
    axis = np.asarray(axis, float)
    other = np.zeros(3)
    other[np.argmin(np.abs(axis))] = 1.0
    return frame_of(axis, other - (other @ axis) * axis)


def frame_of(axis, second) -> np.ndarray:
    """A right-handed frame (3, 3), rows, of a unit axis and another one square to it, of any length."""
    second = np.asarray(second, float) / np.linalg.norm(second)
    return np.array([axis, second, np.cross(axis, second)])


class Joints:
    """What puts constraints into a model and takes them out again.

    Parameters
    ----------
    domain : Domain
    """

    def __init__(self, domain):
        self.domain = domain

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

    def mechanism(self, kind: str, one: int, two: int | None, point, axis=None, second=None) -> list[int]:
        """Put a joint of a mechanism between two bodies, or between a body and space; return the identifiers of its constraints.

        A joint is made of as many independent rows as it takes degrees of freedom away: its point, held in all directions, and points
        of the second body (of the only one, beside space) that stay in planes which the first body (space) carries along.

        Parameters
        ----------
        kind : str
            Name of a `MECHANISMS` record.
        point : array_like (3,)
            Place of the joint in the present configuration.
        axis, second : array_like (3,), optional
            Unit vectors in the present configuration: the joint's axis, carried by the first body, and of a UNIVERSAL joint the axis
            that the second body carries, square to it.
        """
        point, record = np.asarray(point, float), MECHANISMS[kind]
        base = np.eye(3) if axis is None else axes_square_to(axis) if second is None else frame_of(axis, second)
        arm = self._arm(one, two)
        made = [self._hold(one, two, point)] if record.held else []
        for place, direction in record.planes:
            made.append(self._keep_in_plane(one, two, point + (0.0 if place is None else arm * base[place]), base[direction]))
        return made

    def _arm(self, one: int, two: int | None) -> float:
        """How far from a joint's point its other points lie [length]: the smaller root of trace(tensor)/mass of the bodies that move.

        Turning then weighs about as much as moving in the joint's block of W.
        """
        bodies = self.domain.bodies
        rows = [self.domain.body_row(identifier) for identifier in (one, two) if identifier is not None]
        moving = [row for row in rows if bodies.kind[row] != BodyKind.OBSTACLE]
        return min(math.sqrt(float(np.trace(bodies.tensor[:, :, row])) / float(bodies.mass[row])) for row in moving)

    def _hold(self, one: int, two: int | None, place) -> int:
        """Couple two bodies, or a body and space, at a place."""
        other = -1 if two is None else self.domain.body_row(two)
        return self.put(
            ConstraintKind.FIXPNT,
            master=self.domain.body_row(one),
            slave=other,
            master_point=self._referential(one, place),
            slave_point=place if two is None else self._referential(two, place),
        )

    def _keep_in_plane(self, one: int, two: int | None, place, normal) -> int:
        """Keep a point in a plane: the second body's point that is at a place now in one of the first; the only body's in one of space."""
        if two is None:
            return self.fix_direction(one, self._referential(one, place), normal)
        return self.fix_direction(one, self._referential(one, place), normal, two, self._referential(two, place))

    def _referential(self, identifier: int, place) -> np.ndarray:
        """The referential point of a rigid or pseudo-rigid body that is at a place now."""
        bodies, row = self.domain.bodies, self.domain.body_row(identifier)
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
        """A constant and -1, or 0 and the row of a time series."""
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
            Unit spatial direction; points from the second point to the first when omitted.
        dashpot : float
            Force per velocity that opposes the stroke, beside a curve.
        implicit : bool
            Whether the force follows from the mean stroke and velocity of the step, or from those at hand.
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
        self.domain.constraints.length[row] = self.domain.constraints.gap[row]  # the stroke starts from here
        self.domain.constraints.gap[row] = 0.0
        if callable(law):
            self.domain.constraints.functions[identifier] = law
        return identifier

    def put(self, kind: ConstraintKind, **columns) -> int:
        """Put a constraint into the model: a row behind the user's other constraints and before the contacts.

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
        self.domain.refuse_within_step("insert constraints")
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
        """Delete a constraint; nothing happens when it is gone already."""
        self.domain.refuse_within_step("delete constraints")
        row = self.domain.constraints.row_of(identifier)
        if row >= 0:
            mask = np.ones(self.domain.constraints.n, bool)
            mask[row] = False
            self.domain.constraints.keep_marked(mask)
