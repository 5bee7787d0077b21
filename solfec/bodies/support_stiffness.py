"""Supports in the matrices of quasi-static bodies of form 'TL' (kernel `support_stiffness`, which says why and how).

The tangent of a slender body under load may be indefinite though its supports hold it.  Springs between supported points and the
velocities asked of them make it definite where supports do, and take nothing from the reactions, which are put right after the step.
"""

from __future__ import annotations

import numpy as np

from .. import _kernels
from ..tables import Record, opened
from .finite_elements import within_step

FACTOR = 1e3  # stiffness of a spring over that of the stiffest node at its point

_add = _kernels.support_stiffness.add_supports
_pull = _kernels.support_stiffness.pull_supports
_release = _kernels.support_stiffness.release_supports


class SupportStiffness(Record):
    """Springs of supports in A of one ElementSolver.

    Parameters
    ----------
    solver : ElementSolver
        Of form 'TL'.
    model
        Has `bodies`, `constraints`, `step` and `exact_supports`: whether springs are in A in every step, or only where A without them has no
        Cholesky factor.
    """

    COLUMNS = {
        "stiffness": ((), "f8"),  # of the user's constraints: k [mass], 0: not in the matrix
        "known": ((3,), "f8"),  # c, in space
    }

    def __init__(self, solver, model):
        super().__init__()
        self.solver, self.model = solver, model
        self._room(16)

    def _room(self, rows: int) -> None:
        self.replace(stiffness=np.zeros(rows), known=np.zeros((3, rows), order="F"))

    def make_room(self) -> None:
        """For all constraints of the user."""
        if len(self.stiffness) < self.model.constraints.user_count:
            self._room(2 * self.model.constraints.user_count)

    @property
    def _tables(self) -> tuple:
        """Handles of bodies, constraints, elements, A and springs."""
        bodies = self.model.bodies
        return bodies.handles, self.model.constraints.handle, within_step(bodies).handle, self.solver.handle, self.handle

    def add(self, always: bool = False) -> None:
        """Springs into A, after it has been assembled; `always`: they are needed."""
        factor = FACTOR if always or self.model.exact_supports else 0.0
        opened(_add(*self._tables, factor, self.model.constraints.user_count))

    @property
    def added(self) -> bool:
        """Whether A holds springs."""
        return bool((self.stiffness[: self.model.constraints.user_count] > 0.0).any())

    def pull(self, nonzero: np.ndarray) -> None:
        """What springs pull at, to the forces in `ElementSolver.unknowns`; `nonzero` (1,) is set where there are any."""
        opened(_pull(*self._tables, self.model.step, self.model.constraints.user_count, nonzero))

    def release(self) -> None:
        """Leave the reactions of supports without what springs have carried."""
        constraints = self.model.constraints
        opened(_release(constraints.handle, self.handle, self.model.step, constraints.user_count))
