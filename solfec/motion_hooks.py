"""Functions of users that are called before and after the motion of every step."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from . import step_limit
from .bodies.finite_elements import compiled
from .bodies.table import BodyKind, BodyTable
from .constraints import joint_starts
from .errors import SolfecError
from .live_state import Bodies, UselessLoads, add_loads, finite_rows

BEFORE, AFTER = "SOLFEC.before_motion", "SOLFEC.after_motion"


class Hooks:
    """Functions that every step of a model calls before and after its motion; they may do what users may do between steps.

    Attributes
    ----------
    before : list of callable
        ``hook(domain)`` is called when the length of the step is known, before any motion.
    after : list of callable
        ``hook(domain)`` is called when the step has ended, before results are written.
    """

    def __init__(self):
        self.before: list[Callable] = []
        self.after: list[Callable] = []

    def __bool__(self):
        return bool(self.before or self.after)

    def call_before(self, domain) -> None:
        """Call the hooks before motion."""
        domain.settle()
        step_limit.limit_step(domain)
        domain.loads.of_step.clear()  # loads of a step that a hook has stopped
        for hook in tuple(self.before):
            hook(domain)

    def call_after(self, domain) -> None:
        """Call the hooks after motion."""
        for hook in tuple(self.after):
            hook(domain)


def _of_computed(name: str, doc: str) -> property:
    """Make a read-only property of an array in `BodiesAfter._computed`."""
    return property(lambda self: getattr(self._computed, name), doc=doc)


class BodiesAfter:
    """Bodies of a model in the order of their identifiers, for a function of `SOLFEC.after_motion`.

    Every array is read-only and valid in this step only.  Columns of the model itself are views; other arrays are computed on
    first use.

    Parameters
    ----------
    domain : Domain

    Attributes
    ----------
    id, kind, mass, velo_ptr, conf_ptr : ndarray (n,)
        Views of columns: identifiers, kinds (`solfec.kinds.BodyKind`), masses [mass], and numbers of a body's first triples in `velo` and `conf`.
    velo, conf : ndarray (3, m)
        Views of the velocities and configurations of all bodies, one triple a column, in the order in which BODY.velo and BODY.conf list them.
    centre, velocity, rotation, angular_velocity : ndarray
        As in `live_state.Bodies`.
    """

    def __init__(self, domain):
        bodies: BodyTable = domain.bodies
        self.id, self.kind, self.mass = (_read_only(bodies.view(name)) for name in ("id", "kind", "mass"))
        self.velo_ptr, self.conf_ptr = _read_only(bodies.view("velo_ptr")), _read_only(bodies.view("conf_ptr"))
        self.velo, self.conf = _read_only(bodies.triples.view("velo")), _read_only(bodies.configurations.view("conf"))
        self._domain, self._table, self._edits = domain, bodies, bodies.edits
        self._copies: Bodies | None = None

    @property
    def _computed(self) -> Bodies:
        """Positions and velocities, computed on first use."""
        if self._copies is None:
            if self._table.edits != self._edits:
                raise SolfecError("bodies have been made or deleted since this function was called; look at its arrays before")
            self._copies = Bodies.of(self._table)
            for array in vars(self._copies).values():
                array.setflags(write=False)
        return self._copies

    centre = _of_computed("centre", "Mass centres (n, 3) [length].")
    rotation = _of_computed("rotation", "Rotations (n, 3, 3) from the referential to the present placement.")
    velocity = _of_computed("velocity", "Velocities (n, 3) of mass centres.")
    angular_velocity = _of_computed("angular_velocity", "Angular velocities (n, 3) of obstacles and rigid bodies [1/time]; NaN for others.")


class BodiesBefore(BodiesAfter):
    """Bodies for a function of `SOLFEC.before_motion`, which can write four arrays.

    Attributes
    ----------
    velocity, angular_velocity : ndarray (n, 3)
        Their values after the call are the state from which the step begins.
    force, torque : ndarray (n, 3)
        Spatial loads at mass centres for this step, zero at first [force, force x length].
    """

    def __init__(self, domain):
        super().__init__(domain)
        self._ids = self.id.copy()
        self._written: dict[str, np.ndarray] = {}

    def _writable(self, name: str) -> np.ndarray:
        """Return one of the four arrays, made on first use."""
        if name not in self._written:
            self._written[name] = np.zeros((len(self._ids), 3)) if name in ("force", "torque") else getattr(self._computed, name).copy()
        return self._written[name]

    def _write(self, name: str, values) -> None:
        self._writable(name)[:] = values

    velocity = property(lambda self: self._writable("velocity"), lambda self, values: self._write("velocity", values))
    angular_velocity = property(lambda self: self._writable("angular_velocity"), lambda self, values: self._write("angular_velocity", values))
    force = property(lambda self: self._writable("force"), lambda self, values: self._write("force", values))
    torque = property(lambda self: self._writable("torque"), lambda self, values: self._write("torque", values))

    def hand_over(self, obstacles: UselessLoads) -> None:
        """Write the arrays into the model, whose bodies may have changed in the meantime; `obstacles` looks at loads.

        Raises
        ------
        SolfecError
            Numbers are not finite, or a body cannot have the velocity.
        """
        written, time = self._written, self._domain.time
        if "velocity" in written or "angular_velocity" in written:
            self._set_velocities(*rows_of(self._ids, self._table))
        loads = {name: finite_rows(written[name], len(self._ids), f"{BEFORE}: 'bodies.{name}'", time) for name in ("force", "torque") if name in written}
        if loads:
            given = StepLoad(self._ids, **loads)
            obstacles.look(self._table, *given.rows(self._table))
            self._domain.loads.of_step.append(given)

    def _set_velocities(self, here: np.ndarray, rows: np.ndarray) -> None:
        """Set changed velocities of bodies (`here`, in `rows` of the model); others keep their bits."""
        table, old = self._table, self._computed
        velocity, angular = (self._written.get(name, getattr(old, name))[here] for name in ("velocity", "angular_velocity"))
        moved = (velocity != old.velocity[here]).any(1)
        turned = ((angular != old.angular_velocity[here]) & ~(np.isnan(angular) & np.isnan(old.angular_velocity[here]))).any(1)
        if not (moved.any() or turned.any()):
            return
        kind, start, velo = old.kind[here], table.velo_ptr[rows], table.triples.velo
        self._refuse(rows, moved & ~np.isfinite(velocity).all(1) | turned & ~np.isfinite(angular).all(1), "cannot take a velocity that is not finite")
        self._refuse(rows, turned & (kind > BodyKind.RIGID), "deforms and has no angular velocity; write 'velocity', or set BODY.velo in a CALLBACK")
        self._refuse(rows, moved & (table.mode_count[rows] > 0), "moves in a base; set BODY.velo in a CALLBACK")
        plain = np.flatnonzero(moved & (kind != BodyKind.FINITE_ELEMENT))
        velo[:, start[plain] + np.where(kind[plain] == BodyKind.PSEUDO_RIGID, 3, 1)] = velocity[plain].T
        velo[:, start[turned]] = np.einsum("nji,nj->in", old.rotation[here[turned]], angular[turned])
        meshed = np.flatnonzero(moved & (kind == BodyKind.FINITE_ELEMENT))
        if meshed.size:
            fe, change = compiled(table), np.zeros((table.n, 3))
            change[rows[meshed]] = velocity[meshed] - old.velocity[here[meshed]]
            velo[:, fe.velo_row] += np.repeat(change[fe.rows], np.diff(fe.first), axis=0).T
        joint_starts.mark(self._domain.constraints, rows[moved | turned])
        self._domain.state_changes += 1  # so that the kinetic energy is computed again

    def _refuse(self, rows: np.ndarray, wrong: np.ndarray, why: str) -> None:
        """Raise an error that names the first of the bodies in `rows` that is marked as wrong."""
        if wrong.any():
            name = self._table.name(int(self._table.id[rows[np.flatnonzero(wrong)[0]]]))
            raise SolfecError(f"{BEFORE}: at time {self._domain.time:g} {name} {why}")


class StepLoad:
    """Spatial forces and torques (n, 3) at mass centres for one step, of bodies with the identifiers `ids` (n,)."""

    def __init__(self, ids: np.ndarray, force: np.ndarray | None = None, torque: np.ndarray | None = None):
        self.ids, self.force, self.torque = ids, force, torque

    def __call__(self, table: BodyTable, time: float, step: float) -> None:
        """Add them to `triples.force`, with bodies at their mid-step positions; ignore bodies that are gone."""
        add_loads(table, Bodies.of(table), *self.rows(table), f"{BEFORE}: at time {time:g}")

    def rows(self, table: BodyTable) -> list[np.ndarray | None]:
        """Return forces and torques of all bodies of a table, None where there are none."""
        here, rows = rows_of(self.ids, table)
        loads: list[np.ndarray | None] = [None, None]
        for k, values in enumerate((self.force, self.torque)):
            if values is not None:
                loads[k] = np.zeros((table.n, 3))
                loads[k][rows] = values[here]
        return loads


def rows_of(ids: np.ndarray, table: BodyTable) -> tuple[np.ndarray, np.ndarray]:
    """Return which of the bodies `ids` exist in a table, as places in `ids`, and their rows in the table."""
    present = table.view("id")
    rows = np.searchsorted(present, ids)
    here = np.flatnonzero(np.append(present, 0)[rows] == ids)
    return here, rows[here]


class BeforeMotion:
    """A function of the user before the motion of every step: ``function(bodies, time, step)``, with a BodiesBefore."""

    def __init__(self, function: Callable[[BodiesBefore, float, float], None], notify: Callable[[str], None]):
        self.function, self._obstacles = function, UselessLoads(BEFORE, notify)

    def __call__(self, domain) -> None:
        """Call it, and write its changes into the model."""
        bodies = BodiesBefore(domain)
        _call(self.function, bodies, domain, BEFORE)
        bodies.hand_over(self._obstacles)


class AfterMotion:
    """A function of the user after the motion of every step: ``function(bodies, time, step)``, with a BodiesAfter."""

    def __init__(self, function: Callable[[BodiesAfter, float, float], None]):
        self.function = function

    def __call__(self, domain) -> None:
        """Call it."""
        _call(self.function, BodiesAfter(domain), domain, AFTER)


def _call(function: Callable, bodies: BodiesAfter, domain, name: str) -> None:
    """Call a function of the user, which is to return nothing."""
    time = domain.time
    try:
        returned = function(bodies, time, domain.step)
    except Exception as error:  # the user's own exception is raised with a note on its origin
        error.add_note(f"in a function of {name} at time {time:g}")
        raise
    if returned is not None:
        raise SolfecError(f"{name}: at time {time:g} the function returned {type(returned).__name__}; it must return nothing")


def _read_only(column: np.ndarray) -> np.ndarray:
    """A view that cannot be written."""
    view = column.view()
    view.setflags(write=False)
    return view
