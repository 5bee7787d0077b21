"""Supports in the matrices of quasi-static bodies of form 'TL' (docs/theory.md, Quasi-statics; kernel `support_stiffness`).

The tangent of a slender body under load may be indefinite although its supports hold it.  Springs that pull supported points to their
prescribed velocities make it definite where supports do.  After the step the reactions take over the spring forces.
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
        A solver of form 'TL'.
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
        """Make room for all constraints of the user."""
        if len(self.stiffness) < self.model.constraints.user_count:
            self._room(2 * self.model.constraints.user_count)

    @property
    def _tables(self) -> tuple:
        """Handles of bodies, constraints, elements, A and springs."""
        bodies = self.model.bodies
        return bodies.handles, self.model.constraints.handle, within_step(bodies).handle, self.solver.handle, self.handle

    def add(self, always: bool = False) -> None:
        """Add springs to the assembled A; `always`: even if `exact_supports` is off."""
        factor = FACTOR if always or self.model.exact_supports else 0.0
        opened(_add(*self._tables, factor, self.model.constraints.user_count))

    @property
    def added(self) -> bool:
        """Whether A holds springs."""
        return bool((self.stiffness[: self.model.constraints.user_count] > 0.0).any())

    def pull(self, nonzero: np.ndarray) -> None:
        """Add the springs' forces from prescribed velocities to `ElementSolver.unknowns`; `nonzero` (1,) is set if there are any."""
        opened(_pull(*self._tables, self.model.step, self.model.constraints.user_count, nonzero))

    def release(self) -> None:
        """Correct the reactions of supports by the spring forces."""
        constraints = self.model.constraints
        opened(_release(constraints.handle, self.handle, self.model.step, constraints.user_count))
