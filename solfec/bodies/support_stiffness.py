"""Supports in the matrices of quasi-static bodies of form 'TL' (kernel `support_stiffness`, which says why and how).

The tangent of a slender body under load may be indefinite though its supports hold it.  Springs between supported points and the
velocities asked of them make it definite where supports do, and take nothing from the reactions, which are put right after the step.
"""

from __future__ import annotations

import numpy as np

from .. import _kernels
from ..kernel_programs import TIMINT, Call, Numbers, Phase
from .finite_elements import within_step

FACTOR = 1e3  # stiffness of a spring over that of the stiffest node at its point

_add = _kernels.support_stiffness.add_supports
_pull = _kernels.support_stiffness.pull_supports


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
        self.given = Numbers(factor="f8", users="i4", step="f8")
        self._room(16)

    def _room(self, rows: int) -> None:
        self.stiffness, self.known = np.zeros(rows), np.zeros((3, rows), order="F")

    def settle(self) -> None:
        """Take up what kernels are given."""
        model = self.model
        self.given.set(FACTOR if model.exact_supports else 0.0, model.constraints.user_count, model.step)
        if len(self.stiffness) < model.constraints.user_count:
            self._room(2 * model.constraints.user_count)

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

    def add_call(self, wanted: np.ndarray) -> Call:
        """Springs into A, after it has been assembled."""
        return Call(
            "support_stiffness.add_supports", self.given["factor"], self.given["users"], *self._add_columns(), unless_zero=wanted
        )

    def add(self, always: bool = False) -> None:
        """The same; `always`: springs are needed."""
        factor, users, _ = self.given.get()
        _add(FACTOR if always else factor, users, *self._add_columns())

    @property
    def added(self) -> bool:
        """Whether A holds springs."""
        return bool((self.stiffness[: self.given.get()[1]] > 0.0).any())

    def pull_call(self, nonzero: np.ndarray) -> Call:
        """What springs pull at, to the forces in `ElementSolver.unknowns`; `nonzero` (1,) is set where there are any."""
        return Call("support_stiffness.pull_supports", self.given["step"], self.given["users"], *self._pull_columns(), nonzero)

    def pull(self, nonzero: np.ndarray) -> None:
        """The same."""
        _, users, step = self.given.get()
        _pull(step, users, *self._pull_columns(), nonzero)


class Release(Phase):
    """The reactions of supports without what springs have carried."""

    phase = TIMINT

    def __init__(self, supports: SupportStiffness):
        self.supports = supports

    def settle(self) -> None:
        self.supports.settle()

    def calls(self) -> list[Call]:
        supports = self.supports
        rows, given = supports.model.constraints, supports.given
        return [
            Call(
                "support_stiffness.release_supports", given["step"], given["users"], rows.kind, rows.base, supports.stiffness, supports.known,
                rows.U, rows.R,
            )
        ]  # fmt: skip
