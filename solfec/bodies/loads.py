"""Gravity, point forces, torques, pressures and user callbacks (docs/language-running.md, Loads)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .. import _kernels
from ..errors import SolfecError
from ..kinds import LoadKind
from ..tables import Table, opened
from ..time_series import SeriesTable, TimeSeries
from . import finite_elements, state
from .pressure import UNKNOWN_SURFACE, Pressures
from .table import BodyKind, BodyTable

_add_point_loads = _kernels.point_loads.add_point_loads

RIGID_CALLBACK_SIZE = 9  # spatial force, spatial torque, referential torque


class PointLoadTable(Table):
    """One row per point force or torque with a numeric or tabulated value."""

    COLUMNS = {
        "kind": ((), "i4", 0),  # LoadKind
        "body": ((), "i4", 0),  # row of the body table
        "point": ((3,), "f8", 0.0),  # referential point of attack
        "direction": ((3,), "f8", 0.0),  # unit vector
        "value": ((), "f8", 0.0),  # magnitude, where `series` is -1
        "series": ((), "i4", -1),  # row of the time series of the magnitude
        "element": ((), "i4", -1),  # of a finite element body: the element that holds the point,
        "natural": ((3,), "f8", 0.0),  # its natural coordinates there
        "weights": ((8,), "f8", 0.0),  # and its shape functions
    }
    POINTS_INTO = {"body": "BodyTable", "series": "SeriesTable"}


@dataclass
class LoadCallback:
    """A user's function on one body: ``function(q, u, t, h)`` returns the generalised force, or the torque about an axis."""

    body: int
    function: Callable
    axis: np.ndarray | None = None
    convected: bool = False  # whether the axis follows the body

    @property
    def name(self) -> str:
        return "force" if self.axis is None else "torque"


class BodyCallbacks(list[LoadCallback]):
    """Functions that load one body each, in the order of their making; together they are a source of forces like others."""

    def __call__(self, bodies: BodyTable, time: float, step: float) -> None:
        """Add what they return to their bodies' forces."""
        for callback in self:
            _add_returned(bodies, callback, time, step)

    def on(self, body: int) -> bool:
        """Whether any of them loads the body of a row."""
        return any(callback.body == body for callback in self)

    def remap(self, renumbered: np.ndarray) -> None:
        """Follow a renumbering of body rows (old row -> new row, -1: removed with its functions)."""
        for callback in self:
            callback.body = int(renumbered[callback.body])
        self[:] = [callback for callback in self if callback.body >= 0]


Source = Callable[[BodyTable, float, float], None]


class Loads:
    """All loads of a model.

    Parameters
    ----------
    bodies : BodyTable
        The bodies that are loaded.
    epsilon : float
        Distance by which a loaded point of a finite element body may be outside of its elements.

    Attributes
    ----------
    gravity : ndarray (3,)
        Acceleration at the last evaluation.
    table : PointLoadTable
        Forces and torques.
    pressures : Pressures
        Pressures on surfaces.
    callbacks : BodyCallbacks
        Functions of the user that load one body each.
    sources : list of callable
        ``source(bodies, time, step)`` adds to `bodies.triples.force`, for many bodies at once; `callbacks` are the first one.
        One with a true attribute `on_parts` can be given any of the bodies, others are given all of them.
    of_step : list of callable
        Sources of one step: the next evaluation uses them up.
    series : SeriesTable
        Every time series that a load uses.
    """

    def __init__(self, bodies: BodyTable):
        self.bodies = bodies
        self.epsilon = 1e-6
        self.gravity = np.zeros(3)
        self.gravity_series: list[tuple[int, int]] = []  # (component, row of the series)
        self.table = PointLoadTable()
        self.pressures = Pressures()
        self.callbacks = BodyCallbacks()
        self.sources: list[Source] = [self.callbacks]
        self.of_step: list[Source] = []
        self.series = SeriesTable()

    @property
    def on_bodies(self) -> bool:
        """Whether there are loads besides gravity."""
        return bool(self.table.n or self.pressures.table.n) or self.in_python

    @property
    def in_python(self) -> bool:
        """Whether a step calls functions for its loads."""
        return bool(self.callbacks or self.of_step) or len(self.sources) > 1

    def set_gravity(self, vector) -> None:
        """Set the gravitational acceleration: three numbers or `TimeSeries`."""
        if len(vector) != 3:
            raise ValueError(f"gravity must have three components, not {len(vector)}")
        gravity, series = np.zeros(3), []
        for i, item in enumerate(vector):
            if isinstance(item, TimeSeries):
                series.append((i, self.series.add(item)))
            else:
                gravity[i] = _finite(item, "gravity")
        self.gravity[:], self.gravity_series = gravity, series  # in memory that kernels read

    def add_force(self, body_row: int, kind: str, point, direction, value) -> None:
        """Apply a point force.

        Parameters
        ----------
        body_row : int
            Row of the loaded body, no obstacle.
        kind : str
            'SPATIAL' or 'CONVECTED' (the direction follows the body).
        point : sequence of 3 floats
            Referential point of attack.
        direction : sequence of 3 floats
            Direction of the force, normalised here.
        value : float, TimeSeries or callable
            Magnitude [force]; a callable returns the whole generalised force, see `add_callback`.

        Raises
        ------
        ValueError
            An obstacle, an unknown kind, a zero direction, numbers that are not finite.
        """
        if callable(value) and not isinstance(value, TimeSeries):
            _named(kind, LoadKind, "_FORCE")
            self.add_callback(body_row, value)
            return
        self._check_body(body_row, "force")
        self._append(body_row, _named(kind, LoadKind, "_FORCE"), _vector(point, "point"), direction, value)

    def add_torque(self, body_row: int, kind: str, direction, value) -> None:
        """Apply a torque to a rigid body: `kind`, `direction` and `value` as for `add_force`, without callables.

        Raises
        ------
        ValueError
            A body that is not rigid, an unknown kind, a zero direction, numbers that are not finite.
        """
        self._check_body(body_row, "torque")
        if self.bodies.kind[body_row] != BodyKind.RIGID:
            raise ValueError(f"body {self._id(body_row)} is not RIGID; a torque can only be applied to rigid bodies")
        self._append(body_row, _named(kind, LoadKind, "_TORQUE"), np.zeros(3), direction, value)

    def add_pressure(self, body_row: int, triangles: np.ndarray, nodal: np.ndarray | None, value, surface: int = UNKNOWN_SURFACE) -> None:
        """Put a pressure, a number or `TimeSeries`, on a surface; see `Pressures.add` for the surface.

        Raises
        ------
        ValueError
            An obstacle, a number that is not finite.
        """
        self._check_body(body_row, "pressure")
        if isinstance(value, TimeSeries):
            self.pressures.add(body_row, triangles, nodal, 0.0, self.series.add(value), surface)
        else:
            self.pressures.add(body_row, triangles, nodal, _finite(value, "value"), -1, surface)

    def add_callback(self, body_row: int, function: Callable) -> None:
        """Load a body by a user's function.

        ``function(q, u, t, h)`` receives the configuration at mid-step and the velocity at the beginning of the
        step as tuples, the time of mid-step and the length of the step.  It returns 9 numbers for a rigid body
        (spatial force, spatial torque about the mass centre, referential torque), as many as `u` has otherwise.

        Raises
        ------
        ValueError
            For an obstacle.
        """
        self._check_body(body_row, "force")
        self.callbacks.append(LoadCallback(int(body_row), function))

    def add_torque_callback(self, body_row: int, kind: str, direction, function: Callable) -> None:
        """Apply the torque of a user's function about an axis to a rigid body; see `add_callback` for its arguments, it returns a number.

        Raises
        ------
        ValueError
            An unknown kind, an invalid direction.
        """
        _named(kind, LoadKind, "_TORQUE")
        axis = _vector(direction, "direction")
        self.callbacks.append(LoadCallback(int(body_row), function, axis / np.linalg.norm(axis), kind == "CONVECTED"))

    def remap(self, renumbered: np.ndarray) -> None:
        """Follow a renumbering of body rows (old row -> new row, -1: removed with its loads)."""
        table = self.table
        table.view("body")[:] = renumbered[table.view("body")]
        table.keep(table.view("body") >= 0)
        self.pressures.remap(renumbered)
        self.callbacks.remap(renumbered)

    def apply(self, bodies: BodyTable, time: float, step: float) -> np.ndarray:
        """Add the loads at `time` in the present configuration to `bodies.triples.force`; return gravity (3,).

        Raises
        ------
        SolfecError
            A callback returned an invalid value.  Exceptions of a callback pass through.
        """
        gravity, series, table = self.gravity_at(time), self.series, self.table
        if table.n:
            elements = finite_elements.within_step(bodies)
            failure, row = _add_point_loads(bodies.handles, table.handle, series.handle, elements.handle)
            if row >= 0:
                self._refuse(row)
            opened(failure)
        self.pressures.apply(bodies, series)
        for source in (*self.sources, *self.of_step):
            source(bodies, time, step)
        self.of_step.clear()
        return gravity

    def gravity_at(self, time: float) -> np.ndarray:
        """Evaluate all series at a time; return gravity (3,), which is the whole load where there are none `on_bodies`."""
        series = self.series
        if series.n:
            series.evaluate(time)
            for component, row in self.gravity_series:
                self.gravity[component] = series.result[row]
        return self.gravity

    def _refuse(self, row: int) -> None:
        self._check_body(int(self.table.body[row]), "load")
        raise SolfecError(f"{self.bodies.name(self._id(int(self.table.body[row])))} cannot take its load")

    def _append(self, body_row: int, kind: LoadKind, point, direction, value) -> None:
        direction = _vector(direction, "direction")
        length = float(np.linalg.norm(direction))
        if length == 0.0:
            raise ValueError("the direction of a load must not be zero")
        located = None
        if self.bodies.kind[body_row] == BodyKind.FINITE_ELEMENT:
            located = finite_elements.find(self.bodies, body_row, point, self.epsilon)
        tabulated = isinstance(value, TimeSeries)
        self.table.append(
            kind=int(kind),
            body=int(body_row),
            value=0.0 if tabulated else _finite(value, "value"),
            series=self.series.add(value) if tabulated else -1,
        )
        if located is not None:
            self.table.element[self.table.n - 1] = located[0]
            self.table.natural[:, self.table.n - 1] = located[1]
            self.table.weights[:, self.table.n - 1] = located[2]
        self.table.point[:, self.table.n - 1] = point
        self.table.direction[:, self.table.n - 1] = direction / length

    def _check_body(self, row: int, what: str) -> None:
        kind = BodyKind(int(self.bodies.kind[row]))
        if kind == BodyKind.OBSTACLE:
            raise ValueError(f"{self.bodies.name(self._id(row))} is of kind {kind.name}; a {what} needs a body that moves")

    def _id(self, row: int) -> int:
        return int(self.bodies.id[row])


def _add_returned(bodies: BodyTable, callback: LoadCallback, time: float, step: float) -> None:
    """Call one function of the user and add what it returns to its body's force."""
    row = callback.body
    conf, velo = state.configuration(bodies, row, within_step=True), state.velocity(bodies, row)
    rigid = bodies.kind[row] == BodyKind.RIGID
    size = RIGID_CALLBACK_SIZE if rigid else velo.size
    where = f"{callback.name} callback of {bodies.name(int(bodies.id[row]))} at time {time:g}"
    try:
        returned = callback.function(tuple(conf.tolist()), tuple(velo.tolist()), time, step)
    except Exception as error:  # the user's own exception goes on, saying where it comes from
        error.add_note(f"in the {where}")
        raise
    values = _callback_values(returned, size, where) if callback.axis is None else _torques(returned, callback, where)
    force = bodies.triples.force[:, bodies.velo_slice(row)]
    if rigid:
        force[:, 0] += conf[:9].reshape(3, 3) @ values[3:6] + values[6:9]
        force[:, 1] += values[:3]
        return
    if bodies.mode_count[row]:  # reduced forces stand behind those of the nodes
        force = force[:, int(bodies.node_count[row]) :]
        values = np.pad(values, (0, force.size - size))
    force += values.reshape(-1, 3).T


def _callback_values(returned, size: int, where: str) -> np.ndarray:
    """Return the value of a callback as a flat array of `size` finite numbers."""
    try:
        values = np.concatenate([np.ravel(np.asarray(item, float)) for item in returned])
    except (TypeError, ValueError, OverflowError):
        raise SolfecError(f"{where}: a sequence of {size} numbers is expected, not {_shown(returned)}") from None
    if values.size != size:
        raise SolfecError(f"{where}: {size} numbers are expected, {values.size} were returned")
    if not np.isfinite(values).all():
        raise SolfecError(f"{where}: number {int(np.flatnonzero(~np.isfinite(values))[0])} of the result is not finite")
    return values


def _torques(returned, callback: LoadCallback, where: str) -> np.ndarray:
    """Return the generalised force of a torque about a callback's axis."""
    try:
        torque = float(returned)
    except (TypeError, ValueError, OverflowError):
        raise SolfecError(f"{where}: a number is expected, not {_shown(returned)}") from None
    if not np.isfinite(torque):
        raise SolfecError(f"{where}: the result is not finite")
    values = np.zeros(RIGID_CALLBACK_SIZE)
    values[slice(6, 9) if callback.convected else slice(3, 6)] = torque * callback.axis
    return values


def _shown(value) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _named(kind: str, kinds, suffix: str):
    if kind not in ("SPATIAL", "CONVECTED"):
        raise ValueError(f"unknown kind of load {kind!r}; use 'SPATIAL' or 'CONVECTED'")
    return kinds[kind + suffix]


def _finite(value, name: str) -> float:
    value = float(value)
    if not np.isfinite(value):
        raise ValueError(f"{name} must be finite, not {value}")
    return value


def _vector(values, name: str) -> np.ndarray:
    vector = np.asarray(values, float)
    if vector.shape != (3,) or not np.isfinite(vector).all():
        raise ValueError(f"{name} must be three finite numbers, not {_shown(values)}")
    return vector
