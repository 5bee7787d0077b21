"""One time step of all finite element bodies (docs/theory.md, Time integration): the counterpart of `motion` for nodes.

Kernels alone move explicit bodies (DEF_EXP); bodies of scheme DEF_LIM solve with the factors in `implicit`.
"""

from __future__ import annotations

import numpy as np

from .. import _kernels
from ..tables import opened
from .failures import raise_failure
from .finite_elements import FiniteElements, compiled
from .table import BodyTable, Energy

_motion = _kernels.finite_element_motion
_drift = _motion.drift
_kick = _motion.kick
_finish = _motion.finish
_damped_velocities = _motion.damped_velocities
_add_dissipation = _motion.add_dissipation
_local_displacements = _motion.local_displacements
_to_body_frame = _motion.to_body_frame
_add_energies = _kernels.element_blocks.add_energies
_least_step = _kernels.critical_time_step.least_element_step

TURNED_INSIDE_OUT, NOT_FINITE, BAD_REACTION = 5, 8, 9  # failures as in the kernel body_motion


def initialise(bodies: BodyTable, rows: np.ndarray | None = None) -> tuple[int, int]:
    """Inverse lumped masses, KINETIC and INTERNAL energies; returns (failure, row of the body).

    Of bodies that have come since the last call alone, where these are all in `rows` whose states have changed.
    """
    fe = compiled(bodies)
    if not fe.count:
        return 0, -1
    fe.reduced.check(bodies)
    first = fe.initialised
    if rows is None or fe.reduced.count or np.isin(fe.rows[:first], rows).any():
        first = 0
    triples, start = bodies.triples, fe.first[first]
    if first < fe.count:
        triples.inverse_inertia[:, :, fe.velo_row[start:]] = np.eye(3)[:, :, None] / fe.mass[start:]
        kinetic = 0.5 * fe.mass[start:] * (triples.velo[:, fe.velo_row[start:]] ** 2).sum(0)
        bodies.energy[Energy.KINETIC, fe.rows[first:]] = np.add.reduceat(kinetic, fe.first[first:-1] - start)
    failure = follow(fe, bodies, first)
    if failure[0]:
        return failure
    store_internal_energy(fe, bodies, first)
    fe.initialised = fe.count
    fe.current = True
    return 0, -1


def follow(fe: FiniteElements, bodies: BodyTable, first: int = 0) -> tuple[int, int]:
    """Update rotations, and displacements in elements' frames, of the bodies from number `first` on to the present configuration."""
    failure, failed = _local_displacements(bodies.handles, fe.handle, first)
    return failure, int(fe.rows[failed]) if failed >= 0 else -1


def corotated(fe: FiniteElements, bodies: BodyTable, rows: list[int]) -> tuple[list[np.ndarray], int]:
    """Return co-rotated displacements (3, n) of the nodes of bodies, for any form: R^T (X + q) - X.

    The second value is the row of the first of these bodies that is turned inside out, and has no rotation, or -1.
    """
    numbers = [fe.number(row) for row in rows]
    seen = np.zeros_like(fe.displacement)
    marked = np.isin(np.arange(fe.count), numbers).astype(np.int32)
    failure, failed = _motion.seen_displacements(bodies.handles, fe.handle, marked, fe.rotation.copy(order="F"), seen)
    opened(failure)
    return [seen[:, fe.first[k] : fe.first[k + 1]] for k in numbers], int(fe.rows[failed]) if failed >= 0 else -1


def rotations(fe: FiniteElements, bodies: BodyTable) -> np.ndarray:
    """Return mean rotations (3, 3, count) of all bodies at the present configuration, for any form."""
    found = fe.rotation.copy(order="F")
    failure, _ = _motion.seen_displacements(bodies.handles, fe.handle, np.ones(fe.count, np.int32), found, np.zeros_like(fe.displacement))
    opened(failure)
    return found


def drift(fe: FiniteElements, bodies: BodyTable, step: float) -> tuple[bool, int, int]:
    """Move bodies to mid-step; return whether some have damping, and (failure, row)."""
    damped, failure, failed = _drift(bodies.handles, fe.handle, step)
    fe.damped = bool(damped)
    if fe.reduced.count:
        fe.reduced.begin(bodies)
    return fe.damped, failure, int(fe.rows[failed]) if failed >= 0 else -1


def kick(fe: FiniteElements, bodies: BodyTable, gravity: np.ndarray, step: float, damped: bool) -> None:
    """Compute u* from the loads in `triples.force`, gravity, internal and (`damped`) damping forces at mid-step."""
    if damped:
        opened(_to_body_frame(bodies.handles, fe.handle))
        fe.assembly.strain_rate_force(fe.displacement, fe.net, fe.viscous)
    fe.assembly.element_forces(fe.displacement)
    opened(_kick(bodies.handles, fe.handle, fe.assembly.handle, step, gravity, damped))


def dissipate(fe: FiniteElements, bodies: BodyTable, step: float) -> None:
    """Add the work of damping forces to DISSIPATED at mid-step, when velocities of implicit bodies include reactions."""
    opened(_damped_velocities(bodies.handles, fe.handle))
    fe.assembly.strain_rate_force(fe.displacement, fe.net, fe.viscous)
    opened(_add_dissipation(bodies.handles, fe.handle, step))


def finish(fe: FiniteElements, bodies: BodyTable, step: float) -> tuple[int, int]:
    """Compute u(t+h), conf(t+h) and energies; return (failure, row)."""
    failure, failed = _finish(bodies.handles, fe.handle, step)
    if failure:
        return failure, int(fe.rows[failed]) if failed >= 0 else -1
    if fe.reduced.count:
        fe.reduced.represent(bodies)
        failure, row = follow(fe, bodies)
        if failure:
            return failure, row
    store_internal_energy(fe, bodies)
    fe.current = True
    return 0, -1


def between_steps(bodies: BodyTable) -> FiniteElements:
    """Return the elements with the strains of bodies' states: those of copied models, and of bodies from elsewhere, are found anew."""
    fe = compiled(bodies)
    if fe.count and not fe.current:
        kept = bodies.energy[Energy.INTERNAL, fe.rows]
        failure, row = follow(fe, bodies)
        if failure:
            raise_failure(bodies, failure, row)
        store_internal_energy(fe, bodies)
        bodies.energy[Energy.INTERNAL, fe.rows] = kept
        fe.current = True
    return fe


def store_internal_energy(fe: FiniteElements, bodies: BodyTable, first: int = 0) -> None:
    """INTERNAL, and the largest strain, on which the critical step depends, of the bodies from number `first` on."""
    if first:
        bodies.energy[Energy.INTERNAL, fe.rows[first:]] = fe.strain[first:] = 0.0
    for number, group in enumerate(fe.assembly.groups):
        lane = int(np.searchsorted(group.numbers, fe.first_element[first])) if first else 0
        if lane == group.count:
            continue
        group.energies(fe.displacement, lane)
        _add_energies(number == 0 and not first, lane, group.count, group.body, group.energy, group.strain, fe.row, bodies.energy, fe.strain)
    if fe.reduced.count:
        fe.reduced.store_energy(bodies)


def critical_step(bodies: BodyTable, wanted: float = np.inf) -> tuple[float, int]:
    """Return half of the stability limit of the explicit bodies, and the row of the body that bounds it; (inf, -1): none.

    The limit follows from a bound, the largest frequency at rest plus what the present strains can add (`frequencies`), unless
    `square_present` is known.  Of new bodies the frequency at rest is found only if a cheaper bound of it gives a step below `wanted`.
    So results below `wanted` do not depend on it, and others are at least `wanted`.
    """
    fe = between_steps(bodies)
    if not fe.count:
        return np.inf, -1
    step, worst = _least(fe, bodies, -1, False, wanted)
    return (step, int(fe.rows[worst])) if worst >= 0 else (np.inf, -1)


def resting_step(bodies: BodyTable, row: int) -> float:
    """Return half of the stability limit of one finite element body at rest, for any scheme."""
    fe = compiled(bodies)
    return _least(fe, bodies, fe.number(row), True)[0]


def _least(fe: FiniteElements, bodies: BodyTable, only: int, at_rest: bool, wanted: float = np.inf) -> tuple[float, int]:
    """Return the least step of explicit bodies (or of number `only`), and the number of the body that bounds it."""
    while True:
        step, worst, unknown, failure = _least_step(bodies.handles, fe.handle, only, bodies.rank, at_rest, wanted)
        opened(failure)
        if unknown < 0:
            return step, worst
        if wanted < np.inf and np.isnan(fe.laplacian[unknown]):
            fe.bound_frequencies()
        else:
            fe.find_frequency(bodies, unknown)
