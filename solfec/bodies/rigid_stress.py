"""Mean stresses of rigid bodies, from the forces that act on them and from their inertia (docs/theory.md, Fragmentation).

A rigid body has no strain, but equilibrium gives the mean of its stress: V sigma = sum (f y^T) - int (rho a y^T) dV, with forces f at arms y
from the mass centre, and accelerations a.  The tensors here are those of the body's frame, so they do not depend on its rotation.
"""

from __future__ import annotations

import numpy as np

from ..kinds import ConstraintKind, DirectionUpdate, LoadKind
from .table import BodyTable

_FAMILIES = [kind.family for kind in ConstraintKind]
_ANGULAR = np.array([kind for kind, family in zip(ConstraintKind, _FAMILIES) if family.angular])
_CARRIED = np.array([kind for kind, family in zip(ConstraintKind, _FAMILIES) if family.carried])
_GEARED = np.array([kind for kind, family in zip(ConstraintKind, _FAMILIES) if family.geared])


def mean_stresses(bodies: BodyTable, constraints, loads, rows: np.ndarray, step: float, dynamic: bool) -> np.ndarray:
    """Return the mean Cauchy stresses (n, 3, 3) of rigid bodies over a step, in their frames.

    To be called within the step, when reactions act and velocities are still the free ones; so forces, arms and rotations are those of mid-step.

    Parameters
    ----------
    bodies : BodyTable
    constraints : ConstraintTable
    loads : Loads
    rows : ndarray (n,)
        Rows of rigid bodies, ascending.
    step : float
    dynamic : bool
        Whether bodies have inertia.
    """
    stress = _Sum(bodies, rows)
    _add_reactions(stress, constraints)
    _add_point_loads(stress, loads)
    _add_pressures(stress, loads)
    if dynamic:
        _add_inertia(stress, step)
    stress.total += stress.total.transpose(0, 2, 1).copy()
    return 0.5 * stress.total / bodies.volume[rows][:, None, None]


class _Sum:
    """Sums over forces of force times arm in the frames of some bodies, `total` (n, 3, 3)."""

    def __init__(self, bodies: BodyTable, rows: np.ndarray):
        self.bodies, self.rows = bodies, rows
        self.total = np.zeros((len(rows), 3, 3))
        self._place = np.full(bodies.n + 1, -1)  # row -1 is no body
        self._place[rows] = np.arange(len(rows))
        first = bodies.conf_ptr[rows]
        conf = bodies.configurations.conf
        self.rotation = np.stack([conf[:, first + k].T for k in range(3)], axis=2)
        self.position = conf[:, first + 3].T

    def on(self, body: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return which of these rows of bodies are here, and their places."""
        place = self._place[body]
        which = np.flatnonzero(place >= 0)
        return which, place[which]

    def arm(self, place: np.ndarray, point: np.ndarray) -> np.ndarray:
        """Return arms in the bodies' frames of referential points (n, 3)."""
        return point - self.bodies.centre[:, self.rows[place]].T

    def spatial_arm(self, place: np.ndarray, point: np.ndarray) -> np.ndarray:
        """Return arms in the bodies' frames of spatial points (n, 3)."""
        return self.turned(place, point - self.position[place])

    def turned(self, place: np.ndarray, vector: np.ndarray) -> np.ndarray:
        """Return spatial vectors (n, 3) in the bodies' frames."""
        return np.einsum("nji,nj->ni", self.rotation[place], vector)

    def add(self, place: np.ndarray, force: np.ndarray, arm: np.ndarray) -> None:
        """Add forces at arms, both (n, 3) in the bodies' frames."""
        np.add.at(self.total, place, force[:, :, None] * arm[:, None, :])


def _add_reactions(stress: _Sum, constraints) -> None:
    """Add reactions of contacts and joints; couples, of joints that resist turning and of rolling friction, have no symmetric part."""
    angular = np.isin(constraints.view("kind"), _ANGULAR)
    for side, (name, sense) in enumerate((("master", 1.0), ("slave", -1.0))):
        which, place = stress.on(np.where(angular, -1, constraints.view(name)))
        force = sense * np.einsum("ijn,jn->ni", constraints.base[:, :, which], constraints.R[:, which])
        geared = np.isin(constraints.kind[which], _GEARED)
        force[geared] = sense * (constraints.levers[:, 1, side, which[geared]] * constraints.R[2, which[geared]]).T
        arm = stress.arm(place, getattr(constraints, name + "_point")[:, which].T)
        # on a body that carries the frame of a joint, or the direction of a spring, the force acts at the other body's point
        carried = np.isin(constraints.kind[which], _CARRIED) if side == 1 else np.zeros(len(which), bool)
        update = (DirectionUpdate.CONV1, DirectionUpdate.CONV2)[side]
        carried |= (constraints.kind[which] == ConstraintKind.SPRING) & (constraints.update[which] == update)
        other = (constraints.other_point, constraints.point)[side]
        arm[carried] = stress.spatial_arm(place[carried], other[:, which[carried]].T)
        stress.add(place, stress.turned(place, force), arm)


def _add_point_loads(stress: _Sum, loads) -> None:
    """Add point forces; torques are couples."""
    table = loads.table
    which, place = stress.on(table.view("body"))
    forces = table.kind[which] <= LoadKind.CONVECTED_FORCE
    which, place = which[forces], place[forces]
    force = (_values(table, which, loads.series) * table.direction[:, which]).T
    spatial = table.kind[which] == LoadKind.SPATIAL_FORCE
    force[spatial] = stress.turned(place[spatial], force[spatial])
    stress.add(place, force, stress.arm(place, table.point[:, which].T))


def _add_pressures(stress: _Sum, loads) -> None:
    """Add pressures, of which tables hold sums of area vectors times points."""
    table = loads.pressures.table
    which, place = stress.on(table.view("body"))
    centre = stress.bodies.centre[:, stress.rows[place]]
    moment = table.moment[:, :, which] - table.area[:, None, which] * centre[None]
    np.add.at(stress.total, place, (_values(table, which, loads.series) * moment).transpose(2, 0, 1))


def _values(table, which: np.ndarray, series) -> np.ndarray:
    """Return the values of loads at mid-step, where their time series have been evaluated last."""
    known = np.append(series.result[: series.n], 0.0)  # row -1 is no series
    return np.where(table.series[which] >= 0, known[table.series[which]], table.value[which])


def _add_inertia(stress: _Sum, step: float) -> None:
    """Subtract (A + O O) E0 with O the matrix of the angular velocity and A that of its rate, both means over the step."""
    bodies, rows = stress.bodies, stress.rows
    triples, first = bodies.triples, bodies.velo_ptr[rows]
    before = triples.velo_prev[:, first].T
    after = triples.velo[:, first].T + step * np.einsum("ijn,jn->ni", triples.inverse_inertia[:, :, first], triples.reaction[:, first])
    inertia = bodies.tensor[:, :, rows].transpose(2, 0, 1)
    euler = 0.5 * np.trace(inertia, axis1=1, axis2=2)[:, None, None] * np.eye(3) - inertia
    spin = _matrix(0.5 * (before + after))
    stress.total -= (_matrix((after - before) / step) + spin @ spin) @ euler


def _matrix(vector: np.ndarray) -> np.ndarray:
    """Return the matrices (n, 3, 3) that multiply as the cross product with vectors (n, 3)."""
    x, y, z = vector.T
    zero = np.zeros_like(x)
    return np.array([[zero, -z, y], [z, zero, -x], [-y, x, zero]]).transpose(2, 0, 1)
