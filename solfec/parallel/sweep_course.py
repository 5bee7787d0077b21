"""Sweeps over the rows of all processes until reactions stop changing, by one kernel (fortran/solvers/part_sweeps.f90)."""

from __future__ import annotations

import numpy as np

from .. import _kernels
from ..solvers.gauss_seidel import GaussSeidelSolver
from ..tables import Record, opened
from .colour_messages import ColourMessages
from .communicator import Communicator
from .reductions import Operation, Reduction

_sweep_until_settled = _kernels.part_sweeps.sweep_until_settled

FIGURES = 5  # of a row: squared changes of reactions, and of those that drive obstacles; squared sizes likewise; gaps that must still close
COUNTS = 3  # of blocks solved by a fall-back, not solved within the bound, not solved
OPERATIONS = [Operation.MAXIMUM] * (COUNTS + FIGURES) + [Operation.INTEGER_SUM] * (2 * FIGURES)


class SweepCourse(Record):
    """One solution by sweeps: rows, sums, and what a later call of the kernel needs."""

    COLUMNS = {
        "figures": ((5,), "f8"),  # of rows that are visited one by one
        "scale": ((), "f8"),  # powers of two of the words of figures (sums.py)
        "counts": ((), "i4"),  # of blocks in this sweep
        "left": ((), "i4"),  # counts of the last sweep in the process that has most of them
    }
    NUMBERS = {
        "phase": "i4",  # 0: sweeping, 1, 2: processes add up figures, for the second time in 2, 3: settled
        "sweeps": "i4",  # that are done
        "fallbacks": "i4",  # of all sweeps
        "converged": "i4",
        "error": "f8",  # relative change of the reactions in the last sweep
    }

    @classmethod
    def run(
        cls, local, messages: ColourMessages, sums: Reduction, judged: np.ndarray, given: GaussSeidelSolver, world: Communicator
    ) -> SweepCourse:
        """Sweep until reactions stop changing.

        Parameters
        ----------
        local : LocalDynamics
            Rows with momenta of their reactions.
        messages : ColourMessages
            Rows of each colour, and what is exchanged after it.
        sums : Reduction
            Of `OPERATIONS`.
        judged : ndarray of int32
            Rows whose figures this process adds.
        given : GaussSeidelSolver
            Options, and room for the history (`make_room`).
        world : Communicator
        """
        arranged = local.arranged
        arranged.arrange(local, messages.row, messages.group, messages.part_ptr, judged, given.diagonal_solver)
        course = cls(figures=np.zeros((FIGURES, max(local.n, 1)), order="F"), scale=np.zeros(FIGURES),
                     counts=np.zeros(COUNTS, np.int32), left=np.zeros(COUNTS, np.int32))  # fmt: skip
        settings = given.sweep_settings(given.maxiter, int(given.reverse))
        given_to_kernel = local.handles, messages.handle, arranged.handles, sums.handle, course.handle, settings.handle, local.half_step, local.step
        messages.complete(lambda: opened(_sweep_until_settled(*given_to_kernel)), world, sums, lambda: course.sweeps)
        arranged.give_back(local)
        return course
