"""Gauss-Seidel over the parts of a model: exact sweeps by colours, with the same bits for any number of processes."""

from __future__ import annotations

import math

import numpy as np

from .. import _kernels
from ..errors import SolfecError
from ..solvers.constraint_solver import ConstraintSolver
from ..solvers.gauss_seidel import GaussSeidelSolver
from ..solvers.report import STATUS, SolverReport
from ..tables import opened
from .colours import colour
from .part import Part, _spans, pairs_of_rows
from .sums import ordered_nowhere

_begin = _kernels.part_sweeps.begin_parts
_sweep = _kernels.part_sweeps.sweep_part
_finish = _kernels.part_sweeps.finish_parts


class PartSweeps(ConstraintSolver):
    """Gauss-Seidel sweeps over the rows on the bodies of one part; momenta of copies are updated after every colour.

    Both owners sweep a row on bodies of two owners, with the same numbers.

    Parameters
    ----------
    part : Part
    settings : GaussSeidelSolver
        Accuracy, bound on sweeps, block solver; `meritval` and `reverse` are not supported and raise an error.
    """

    stored_form = False
    colouring = "OFF"

    def __init__(self, part: Part, settings: GaussSeidelSolver):
        if settings.meritval < 1.0 or settings.reverse:
            raise SolfecError("GAUSS_SEIDEL_SOLVER: 'meritval' and 'reverse' cannot be used by several processes yet")
        self.part, self.given = part, settings
        self.failure = settings.failure

    def solve(self, local) -> SolverReport:
        """Compute reactions and velocities of the rows on own bodies; merit and residual are NaN."""
        part, given, rows = self.part, self.given, local.rows
        ends = pairs_of_rows(local.constraints, rows.order[: local.n], part.moving)
        mine = part.owned[ends[1]] & (ends[1] >= 0)
        mine |= part.owned[ends[0]] & (ends[0] >= 0)
        swept = np.flatnonzero(mine).astype(np.int32)
        colours = np.zeros(local.n, int)
        colours[swept] = colour(part, ends[:, swept])
        count = int(part.world.largest(np.array([colours[swept].max(initial=-1) + 1.0]))[0])
        lists = [swept[colours[swept] == c] for c in range(count)]
        counted = swept[part.owned[ends[1, swept]]]  # counted by the owner of the body with the higher identifier, which always moves
        first = part.model.bodies.velo_ptr
        out, into = ({rank: _spans(first[bodies], 2) for rank, bodies in plan.items()} for plan in (part.sent, part.received))
        momentum, sums = local.triples.momentum, np.zeros((3, max(local.n, 1)), order="F")
        self._gather(local, out, into)
        counts, fallbacks, iterations, error, converged = np.zeros(3, np.int32), 0, 0, 0.0, False
        while not converged and iterations < given.maxiter and math.isfinite(error):
            iterations += 1
            counts[:] = 0
            for listed in lists:
                _, status = _sweep(
                    local.handles, listed, local.half_step, local.step, given.diagonal_solver, given.diagepsilon, given.diagmaxiter, sums, counts
                )
                opened(status)
                part.copy_columns(momentum, out, into)
            change, size, postponed = ordered_nowhere(sums[:, counted], part.world)
            left = part.world.largest(counts.astype(np.int64))  # of the part with most colours
            fallbacks += int(left[0])
            error = math.sqrt(change / size) if size > 0.0 else math.sqrt(change)
            converged = error <= given.epsilon and postponed <= given.epsilon**2 * size
        self._gather(local, out, into)
        opened(_finish(local.handles, local.n))
        status = 3 if left[2] or not math.isfinite(error) else 2 if left[1] else int(not converged)
        report = SolverReport(iterations, error, math.nan, math.nan, STATUS[status], fallbacks)
        given.take(local, report)
        return report

    def _gather(self, local, out: dict, into: dict) -> None:
        """Compute momenta from reactions; copies get those of their owners."""
        opened(_begin(local.handles, local.n, self.part.model.bodies.triples.n))
        self.part.copy_columns(local.triples.momentum, out, into)
