"""Supports in the matrices of quasi-static bodies of form 'TL' (kernel `support_stiffness`, which says why and how).

The tangent of a slender body under load may be indefinite though its supports hold it.  Springs between supported points and the
velocities asked of them make it definite where supports do, and take nothing from the reactions, which are put right after the step.
"""

from __future__ import annotations

import numpy as np

from .. import _kernels
from .finite_elements import within_step

FACTOR = 1e3  # stiffness of a spring over that of the stiffest node at its point

_add = _kernels.support_stiffness.add_supports
_pull = _kernels.support_stiffness.pull_supports
_release = _kernels.support_stiffness.release_supports


class SupportStiffness:
    """Springs of supports in A of one ElementSolver.

    Parameters
    ----------
    solver : ElementSolver
        Of form 'TL'.
    model
        Has `bodies`, `constraints`, `step` and `exact_supports`: whether springs are in A in every step, or only where A without them has no
        Cholesky factor.
    """

    def __init__(self, solver, model):
        self.solver, self.model = solver, model
        self._room(16)

    def _room(self, rows: int) -> None:
        self.stiffness, self.known = np.zeros(rows), np.zeros((3, rows), order="F")

    def make_room(self) -> None:
        """For all constraints of the user."""
        if len(self.stiffness) < self.model.constraints.user_count:
            self._room(2 * self.model.constraints.user_count)

    @property
    def _bodies(self) -> tuple[np.ndarray, ...]:
        solver, bodies = self.solver, self.model.bodies
        fe = within_step(bodies)
        return solver.rows, solver.dof_first, bodies.element_ptr, fe.element_size, fe.element_node

    def _add_columns(self) -> tuple[np.ndarray, ...]:
        rows, pattern = self.model.constraints, self.solver.pattern
        return (
            rows.kind, rows.update, rows.master, rows.slave, rows.element, rows.weights, rows.direction, rows.base, rows.value,
            *self._bodies, pattern.indptr, pattern.indices, self.solver.values, self.stiffness, self.known,
        )  # fmt: skip

    def _pull_columns(self) -> tuple[np.ndarray, ...]:
        rows = self.model.constraints
        return rows.master, rows.element, rows.weights, self.stiffness, self.known, *self._bodies, self.solver.unknowns

    def add(self, always: bool = False) -> None:
        """Springs into A, after it has been assembled; `always`: they are needed."""
        factor = FACTOR if always or self.model.exact_supports else 0.0
        _add(factor, self.model.constraints.user_count, *self._add_columns())

    @property
    def added(self) -> bool:
        """Whether A holds springs."""
        return bool((self.stiffness[: self.model.constraints.user_count] > 0.0).any())

    def pull(self, nonzero: np.ndarray) -> None:
        """What springs pull at, to the forces in `ElementSolver.unknowns`; `nonzero` (1,) is set where there are any."""
        _pull(self.model.step, self.model.constraints.user_count, *self._pull_columns(), nonzero)

    def release(self) -> None:
        """Leave the reactions of supports without what springs have carried."""
        rows = self.model.constraints
        _release(self.model.step, rows.user_count, rows.kind, rows.base, self.stiffness, self.known, rows.U, rows.R)
