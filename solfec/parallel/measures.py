"""Merit and residual of a whole model, from the rows that each process counts (fortran/solvers/constraint_measures.f90)."""

from __future__ import annotations

import math

import numpy as np

from .. import _kernels
from ..tables import opened
from .communicator import Communicator
from .sums import ordered_by_rows, ordered_nowhere

_measure = _kernels.part_sweeps.measure_part
_measure_without_reactions = _kernels.part_sweeps.measure_part_without_reactions

NO_ENERGY = np.finfo(float).tiny
UNBOUNDED = 1e300  # merit of rows with errors if there is no free energy


def measured(local, counted: np.ndarray, driven: bool, noting: bool, world: Communicator, unit: float = 1.0, exact: bool = False) -> tuple[float, float]:
    """Return merit and residual of the whole model, from the rows that each process counts; write those of each row.

    Parameters
    ----------
    local : LocalDynamics
        Rows with reactions and velocities.
    counted : ndarray
        Rows that this process counts.
    driven : bool
        Whether constraints move obstacles.
    noting : bool
        Note opening velocities of contacts for the next sweep.
    world : Communicator
    unit : float
        Unit of force in which the merit adds reactions to velocities.
    exact : bool
        Errors are those of the equations that Newton steps solve, instead of those of sweeps.
    """

    def totals(terms: np.ndarray) -> np.ndarray:
        """Sums (m, k) of terms (m, n) over all rows of the whole model; k = 2: those that drive obstacles apart, after the others."""
        if not driven:
            return ordered_by_rows(counted, terms, world)[:, None]
        mine = terms[:, counted]
        drives = local.rows.driving[counted] > 0
        both = np.concatenate([np.where(drives, 0.0, mine), np.where(drives, mine, 0.0)])
        return ordered_nowhere(both, world).reshape(2, -1).T

    terms = np.zeros((4, max(local.n, 1)), order="F")
    opened(_measure(local.handles, local.n, local.half_step, exact, unit, noting, terms))
    local.rows.residual[local.held], terms[3, local.held] = local.unmet, local.unmet**2
    merit, energy, size, unmet = totals(terms)
    if (np.less_equal(size, 0.0) & np.greater(unmet, 0.0)).any():
        asked = np.zeros((1, max(local.n, 1)), order="F")
        opened(_measure_without_reactions(local.handles, local.n, local.half_step, asked[0]))
        size = np.where(size > 0.0, size, totals(asked)[0])
        size = np.where(size > 0.0, size, size.sum())
        if not (size > 0.0).any():  # no reaction is needed: errors are relative to what is left of reactions
            size = np.full_like(size, totals(_of_reactions(local)[:1])[0].sum())
    energy = np.where(energy > 0.0, energy, energy.sum())  # an obstacle moves bodies that were at rest, through springs or links
    if not (energy > 0.0).any() and (merit > 0.0).any():
        energy = np.full_like(energy, totals(_of_reactions(local)[1:])[0].sum())
    rows = local.rows.merit[: local.n]
    if len(energy) == 1 and energy[0] > NO_ENERGY:
        rows /= energy[0]
    else:
        _divide(rows, energy, local.rows.driving[: local.n])
    return 0.5 * larger(map(_share, merit, energy)), math.sqrt(larger(map(_share, unmet, size)))


def _of_reactions(local) -> np.ndarray:
    """Return squared velocities and energies (2, n) of the reactions, each alone in its row."""
    reaction = local.rows.R[:, : max(local.n, 1)]
    velocity = np.einsum("ija,ja->ia", local.rows.diagonal[:, :, : max(local.n, 1)], reaction)
    return np.array([(velocity**2).sum(0), 0.5 * (reaction * velocity).sum(0)])


def _divide(rows: np.ndarray, energy: np.ndarray, driving: np.ndarray) -> None:
    """Divide the merits of rows by the free energy, of those that drive obstacles by its own."""
    energies = energy[np.minimum(driving, len(energy) - 1)]
    rows[:] = np.where(energies > NO_ENERGY, rows / np.where(energies > NO_ENERGY, energies, 1.0), np.where(rows > 0.0, UNBOUNDED, rows))


def larger(errors) -> float:
    """Return the largest error; not a number if one of them is none."""
    return float(np.max(list(errors)))


def _share(errors: float, free: float) -> float:
    """Return errors over free energy or velocity; without these 0 if there are no errors."""
    if free > NO_ENERGY:
        return float(errors / free)
    return UNBOUNDED if errors > 0.0 else float(errors)
