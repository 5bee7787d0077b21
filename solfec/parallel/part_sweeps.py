"""Gauss-Seidel over the parts of a model: exact sweeps by colours, with the same bits for any number of processes."""

from __future__ import annotations

import math

import numpy as np

from .. import _kernels
from ..solvers.constraint_solver import ConstraintSolver
from ..solvers.gauss_seidel import GaussSeidelSolver
from ..solvers.report import STATUS, SolverReport
from ..tables import opened, ranges
from .colours import colour
from .part import Part, pairs_of_rows
from .sums import largest_of, ordered_nowhere, summed, words

_begin = _kernels.part_sweeps.begin_parts
_sweep = _kernels.part_sweeps.sweep_part
_find_velocities = _kernels.part_sweeps.find_part_velocities
_measure = _kernels.part_sweeps.measure_part
_finish = _kernels.part_sweeps.finish_parts

NO_ENERGY = np.finfo(float).tiny
UNBOUNDED = 1e300  # merit of rows with errors if there is no free energy (fortran/solvers/constraint_measures.f90)


class PartSweeps(ConstraintSolver):
    """Gauss-Seidel sweeps over the rows on the bodies of one part; momenta of copies are updated after every colour.

    Both owners sweep a row on bodies of two owners, with the same numbers.

    Parameters
    ----------
    part : Part
    settings : GaussSeidelSolver
        Accuracy, bound on sweeps, block solver, order, failure policy.
    """

    stored_form = False
    colouring = "OFF"
    names_contradictions = True

    def __init__(self, part: Part, settings: GaussSeidelSolver):
        self.part, self.given = part, settings
        self.failure = settings.failure
        self._coloured: tuple | None = None  # what the colours are for

    def solve(self, local) -> SolverReport:
        """Compute reactions and velocities of the rows on own bodies."""
        part, given = self.part, self.given
        given.make_room()
        self._choose_rows(local)
        if given.meritval < 1.0 and not self._any_velocity(local):
            local.rows.R[:, : local.n] = 0.0  # as in fortran/solvers/gauss_seidel.f90
        sums, counts = np.zeros((3, max(local.n, 1)), order="F"), np.zeros(3, np.int32)
        fallbacks, iterations, error, merit, converged = 0, 0, 0.0, 0.0, False
        left = np.zeros(3, np.int64)
        self._gather(local)
        while not converged and iterations < given.maxiter and math.isfinite(error) and math.isfinite(merit):
            iterations += 1
            counts[:] = 0
            self._sweep(local, given.reverse and iterations % 2 == 0, sums, counts)
            terms = sums[:, self.counted]
            largest = part.world.largest(np.concatenate([largest_of(terms), counts]))
            left = largest[3:].astype(np.int64)  # of the process that has most of them
            change, size, postponed = summed(part.world.total(words(terms, largest[:3])), largest[:3])
            fallbacks += int(left[0])
            error = math.sqrt(change / size) if size > 0.0 else math.sqrt(change)
            if given.meritval < 1.0:
                self._gather(local)
                merit, _ = self._measured(local, noting=True)
            given.record(iterations - 1, error, merit)
            converged = error <= given.epsilon and postponed <= given.epsilon**2 * size and (given.meritval >= 1.0 or merit <= given.meritval)
        self._gather(local)
        merit, residual = self._measured(local, noting=False)
        opened(_finish(local.handles, local.n))
        if not left[1:].any() and residual == 0.0:  # all errors are within round-off; reactions may keep changing
            converged = converged or given.meritval >= 1.0 or merit <= given.meritval
        status = 3 if left[2] or not math.isfinite(error) else 2 if left[1] else int(not converged)
        report = SolverReport(iterations, error, merit, residual, STATUS[status], fallbacks)
        given.take(local, report)
        return report

    def _choose_rows(self, local) -> None:
        """Find the rows of each colour, and what is exchanged after each of them."""
        part = self.part
        ends, swept = self._find_rows(local)
        if not self._known(ends[:, swept]):
            self._colours, self._used = colour(part, ends[:, swept])
        colours, used = self._colours, self._used
        count = int(part.world.largest(np.array([colours.max(initial=-1) + 1.0]))[0])
        self.lists = [swept[colours == c] for c in range(count)]
        first, width = part.spans["velo"]
        self.plans = []
        for c in range(count):
            changed = used >> c & 1 > 0
            plans = ({rank: bodies[changed[bodies]] for rank, bodies in plan.items()} for plan in (part.sent, part.received))
            self.plans.append(tuple({rank: ranges(first[b], width[b]) for rank, b in plan.items() if b.size} for plan in plans))

    def _find_rows(self, local) -> tuple[np.ndarray, np.ndarray]:
        """Find the rows that this process counts, and the triples of all copies; return the bodies (2, n) of all rows, and the rows on own bodies."""
        part, rows = self.part, local.rows
        ends = pairs_of_rows(local.constraints, rows.order[: local.n], part.moving)
        mine = part.owned[ends[1]] & (ends[1] >= 0)
        mine |= part.owned[ends[0]] & (ends[0] >= 0)
        swept = np.flatnonzero(mine).astype(np.int32)
        self.counted = swept[part.owned[ends[1, swept]]]  # by the owner of the body with the higher identifier, which always moves
        first, width = part.spans["velo"]
        self.everything = tuple({rank: ranges(first[b], width[b]) for rank, b in plan.items()} for plan in (part.sent, part.received))
        return ends, swept

    def _known(self, ends: np.ndarray) -> bool:
        """Whether the rows of all processes act on the same bodies as in the last step, so that their colours are known."""
        ids = np.where(ends >= 0, self.part.model.bodies.id[np.maximum(ends, 0)], 0)
        state = self.part.arrangement, ids
        same = self._coloured is not None and self._coloured[0] == state[0] and np.array_equal(self._coloured[1], ids)
        self._coloured = state
        return self.part.world.largest(np.array([not same], float))[0] == 0.0

    def _sweep(self, local, backwards: bool, sums: np.ndarray, counts: np.ndarray) -> None:
        """Sweep all colours once, or backwards in the opposite order."""
        given, momentum = self.given, local.triples.momentum
        for listed, plan in zip(self.lists[::-1], self.plans[::-1]) if backwards else zip(self.lists, self.plans):
            listed = np.ascontiguousarray(listed[::-1]) if backwards else listed
            _, status = _sweep(
                local.handles, listed, local.half_step, local.step, given.diagonal_solver, given.diagepsilon, given.diagmaxiter, sums, counts
            )
            opened(status)
            self.part.copy_columns(momentum, *plan)

    def _gather(self, local) -> None:
        """Compute momenta from reactions; copies get those of their owners."""
        opened(_begin(local.handles, local.n, self.part.model.bodies.triples.n))
        self.part.copy_columns(local.triples.momentum, *self.everything)

    def _any_velocity(self, local) -> bool:
        """Whether a free velocity of any row of the whole model is not zero."""
        return bool(self.part.world.largest(np.abs(local.rows.B[:, self.counted]).max(initial=0.0, keepdims=True).ravel())[0] > 0.0)

    def _measured(self, local, noting: bool) -> tuple[float, float]:
        """Compute velocities from momenta, then merit and residual of the whole model."""
        terms = np.zeros((4, max(local.n, 1)), order="F")
        opened(_find_velocities(local.handles, local.n))
        opened(_measure(local.handles, local.n, local.half_step, noting, terms))
        merit, energy, size, unmet = ordered_nowhere(terms[:, self.counted], self.part.world)
        rows = local.rows.merit[: local.n]
        rows[:] = rows / energy if energy > NO_ENERGY else np.where(rows > 0.0, UNBOUNDED, rows)
        return 0.5 * _share(merit, energy), math.sqrt(_share(unmet, size))


class PartPenalty(PartSweeps):
    """The penalty solver in one part: reactions of its own bodies follow from its own rows; only the residual is a sum over all parts.

    Parameters
    ----------
    part : Part
    settings : PenaltySolver
    """

    names_contradictions = False

    def solve(self, local) -> SolverReport:
        """Compute reactions and velocities of contacts."""
        report = self.given.solve(local)
        velocities = local.rows.U[:, : local.n].copy()  # from the contact's own reaction alone, as for its force
        self._find_rows(local)
        self._gather(local)
        _, report.residual = self._measured(local, noting=False)
        local.rows.merit[: local.n] = 0.0
        local.rows.U[:, : local.n] = velocities
        return report


def _share(errors: float, free: float) -> float:
    """Return errors over free energy or velocity; without these 0 if there are no errors."""
    if free > NO_ENERGY:
        return float(errors / free)
    return UNBOUNDED if errors > 0.0 else float(errors)
