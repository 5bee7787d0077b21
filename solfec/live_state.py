"""The present state of a model as arrays: for notebooks, couplings and loads on many bodies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .bodies.finite_element_motion import rotations
from .bodies.finite_elements import compiled
from .bodies.table import BodyKind, BodyTable
from .constraints.table import ConstraintKind, ConstraintTable
from .errors import SolfecError


@dataclass
class Bodies:
    """Bodies of a model, in the order of their identifiers; vectors are spatial.

    Attributes
    ----------
    id, kind : ndarray (n,) of int
        Identifiers, and kinds (`solfec.kinds.BodyKind`).
    mass : ndarray (n,)
        [mass]
    centre, velocity : ndarray (n, 3)
        Of mass centres [length, velocity].
    rotation : ndarray (n, 3, 3)
        From the referential to the present placement; for pseudo-rigid bodies the deformation gradient, for finite elements the mean rotation.
    angular_velocity : ndarray (n, 3)
        Of obstacles and rigid bodies [1/time]; NaN for others, which deform.
    """

    id: np.ndarray
    kind: np.ndarray
    mass: np.ndarray
    centre: np.ndarray
    velocity: np.ndarray
    rotation: np.ndarray
    angular_velocity: np.ndarray

    @classmethod
    def of(cls, bodies: BodyTable) -> Bodies:
        """Copy the present state of bodies."""
        n, kind = bodies.n, bodies.view("kind")
        conf, velo = bodies.configurations.conf, bodies.triples.velo
        made = cls(
            bodies.view("id").copy(), kind.copy(), bodies.view("mass").copy(), np.zeros((n, 3)), np.zeros((n, 3)),
            np.tile(np.eye(3), (n, 1, 1)), np.full((n, 3), np.nan),
        )  # fmt: skip
        plain = np.flatnonzero(kind != BodyKind.FINITE_ELEMENT)
        first, start = bodies.conf_ptr[plain], bodies.velo_ptr[plain]
        made.centre[plain] = conf[:, first + 3].T
        made.rotation[plain] = np.stack([conf[:, first + k] for k in range(3)], axis=2).transpose(1, 0, 2)
        soft = kind[plain] == BodyKind.PSEUDO_RIGID
        made.rotation[plain[soft]] = made.rotation[plain[soft]].transpose(0, 2, 1)  # triples are rows of the gradient
        made.velocity[plain] = velo[:, start + np.where(soft, 3, 1)].T
        rigid = plain[~soft]
        made.angular_velocity[rigid] = np.einsum("nij,jn->ni", made.rotation[rigid], velo[:, bodies.velo_ptr[rigid]])
        made._add_elements(bodies)
        return made

    def _add_elements(self, bodies: BodyTable) -> None:
        """Mean places, velocities and rotations of finite element bodies."""
        fe = compiled(bodies)
        if not fe.count:
            return
        total = np.add.reduceat(fe.mass, fe.first[:-1])
        place = fe.reference + bodies.configurations.conf[:, fe.conf_row]
        for target, values in ((self.centre, place), (self.velocity, bodies.triples.velo[:, fe.velo_row])):
            target[fe.rows] = (np.add.reduceat(fe.mass * values, fe.first[:-1], axis=1) / total).T
        self.rotation[fe.rows] = rotations(fe, bodies).transpose(2, 0, 1)


@dataclass
class Constraints:
    """Constraints of a model: those of the user first, then contacts; local components are (T1, T2, N).

    Attributes
    ----------
    id : ndarray (n,) of int
        Identifiers; `kind` (n,) are of `solfec.kinds.ConstraintKind`.
    bodies : ndarray (n, 2) of int
        Identifiers of master and slave; 0: there is no slave.
    point : ndarray (n, 3)
        Spatial points [length].
    base : ndarray (n, 3, 3)
        Columns are the local directions t1, t2, n.
    R, U : ndarray (n, 3)
        Local reactions on the master [force], and relative velocities [velocity].
    gap : ndarray (n,)
        [length]
    """

    id: np.ndarray
    kind: np.ndarray
    bodies: np.ndarray
    point: np.ndarray
    base: np.ndarray
    R: np.ndarray
    U: np.ndarray
    gap: np.ndarray

    @classmethod
    def of(cls, constraints: ConstraintTable, bodies: BodyTable) -> Constraints:
        """Copy the present state of constraints."""
        view = constraints.view
        ids = np.append(bodies.view("id"), 0)
        sides = np.stack([ids[view(side)] for side in ("master", "slave")], axis=1)  # row -1: the zero at the end
        vectors = (view(name).T.copy() for name in ("R", "U"))
        return cls(
            view("id").copy(), view("kind").copy(), sides, view("point").T.copy(), view("base").transpose(2, 0, 1).copy(), *vectors,
            view("gap").copy(),
        )  # fmt: skip

    @property
    def contacts(self) -> np.ndarray:
        """Mask (n,) of contacts."""
        return self.kind == ConstraintKind.CONTACT


@dataclass
class Snapshot:
    """State of a model at a `time`, after `step_number` steps: `bodies` and `constraints`."""

    time: float
    step_number: int
    bodies: Bodies
    constraints: Constraints


class ForceArrays:
    """A user's function that loads many bodies at once.

    Parameters
    ----------
    function : callable
        ``function(bodies, time, step)`` returns spatial forces at mass centres (n, 3), or these and spatial torques (n, 3), in the order of
        `bodies`, a `Bodies`.
    notify : callable
        Tells the user once that obstacles take no loads; by default nobody does.
    """

    def __init__(self, function, notify: Callable[[str], None] = str):
        self.function, self._obstacles = function, UselessLoads("SOLFEC.add_forces", notify)

    def __call__(self, table: BodyTable, time: float, step: float) -> None:
        """Add forces at mid-step to `triples.force`."""
        bodies = Bodies.of(table)
        try:
            returned = self.function(bodies, time, step)
        except Exception as error:  # the user's own exception is raised with a note on its origin
            error.add_note(f"in a function of SOLFEC.add_forces at time {time:g}")
            raise
        parts = returned if isinstance(returned, tuple) else (returned, None)
        if len(parts) != 2:
            raise SolfecError(f"SOLFEC.add_forces: the function returned {len(parts)} arrays at time {time:g}; forces, or forces and torques, are expected")
        force, torque = (None if part is None else finite_rows(part, table.n, "SOLFEC.add_forces: what the function returns", time) for part in parts)
        self._obstacles.look(table, force, torque)
        add_loads(table, bodies, force, torque, f"SOLFEC.add_forces: at time {time:g}")


class UselessLoads:
    """Tells once that a function gives loads to obstacles, which take none.

    Parameters
    ----------
    name : str
        The command that took the function.
    notify : callable
    """

    def __init__(self, name: str, notify: Callable[[str], None]):
        self._name, self._notify, self._told = name, notify, False

    def look(self, table: BodyTable, *loads: np.ndarray | None) -> None:
        """Look at loads (n, 3) of all bodies; None: there are none of this kind."""
        if self._told:
            return
        obstacles = np.flatnonzero(table.view("kind") == BodyKind.OBSTACLE)
        loaded = obstacles[np.any([values[obstacles].any(1) for values in loads if values is not None], axis=0)] if obstacles.size else obstacles
        if loaded.size:
            self._told = True
            others = f" and {loaded.size - 1} more" if loaded.size > 1 else ""
            self._notify(f"{self._name}: obstacles take no loads, and those on {table.name(int(table.id[loaded[0]]))}{others} have no effect")


def finite_rows(values, count: int, what: str, time: float) -> np.ndarray:
    """An array (count, 3) of finite numbers; an error that says `what` has to be one."""
    try:
        array = np.asarray(values, float)
    except (TypeError, ValueError):
        raise SolfecError(f"{what} must be finite numbers of the shape ({count}, 3), not {values!r:.80} (time {time:g})") from None
    if array.shape != (count, 3) or not np.isfinite(array).all():
        shape = "" if array.shape == (count, 3) else f", not {array.shape}"
        raise SolfecError(f"{what} must be finite numbers of the shape ({count}, 3){shape} (time {time:g})")
    return array


def add_loads(table: BodyTable, bodies: Bodies, force: np.ndarray | None, torque: np.ndarray | None, where: str) -> None:
    """Add spatial forces and torques (n, 3) at mass centres to `triples.force`; obstacles take none.

    Parameters
    ----------
    table : BodyTable
    bodies : Bodies
        Its present state.
    force, torque : ndarray (n, 3) or None
    where : str
        Beginning of an error's text.

    Raises
    ------
    SolfecError
        A torque on a body that deforms.
    """
    if force is not None:
        moves = bodies.kind != BodyKind.OBSTACLE
        _add_forces(table, bodies.kind, np.where(moves[:, None], force, 0.0))
    if torque is not None:
        rigid = np.flatnonzero(bodies.kind == BodyKind.RIGID)
        wrong = np.flatnonzero(torque.any(1) & (bodies.kind != BodyKind.RIGID) & (bodies.kind != BodyKind.OBSTACLE))
        if wrong.size:
            raise SolfecError(f"{where} {table.name(int(bodies.id[wrong[0]]))} deforms and takes no torque; give forces")
        table.triples.force[:, table.velo_ptr[rigid]] += np.einsum("nji,nj->in", bodies.rotation[rigid], torque[rigid])


def _add_forces(table: BodyTable, kind: np.ndarray, force: np.ndarray) -> None:
    """Forces (n, 3) at mass centres; meshes take them by mass, so that no node gets another acceleration."""
    loads = table.triples.force
    plain = np.flatnonzero(kind != BodyKind.FINITE_ELEMENT)
    place = table.velo_ptr[plain] + np.where(kind[plain] == BodyKind.PSEUDO_RIGID, 3, 1)
    loads[:, place] += force[plain].T
    fe = compiled(table)
    if fe.count:
        owner = np.repeat(np.arange(fe.count), np.diff(fe.first))
        total = np.add.reduceat(fe.mass, fe.first[:-1])
        loads[:, fe.velo_row] += (force[fe.rows] / total[:, None])[owner].T * fe.mass
