"""Solution of contacts by a method for contacts only, alternated with the solution of other rows by Gauss-Seidel."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any

import numpy as np

from ..errors import SolfecError
from ..kinds import ROW_FAMILIES
from . import merit
from .constraint_solver import ConstraintSolver
from .contact_problem import norm
from .gauss_seidel import GaussSeidelSolver
from .local_dynamics import LocalDynamics, RowKind
from .reduced_rows import ReducedRows
from .report import SolverReport

FRICTION = 4  # place in the law data of a contact
CONES = tuple(kind for kind, family in ROW_FAMILIES.items() if family.plain_contact and kind != RowKind.OPEN)
MOST_ALTERNATIONS = 200
MOST_TIGHTENINGS = 4  # of the accuracy that a method is asked for, when it reaches it by its own measure but not by the residual


class ContactsOnlySolver(ConstraintSolver):
    """Solver that alternates between contacts, solved by `solve_contacts` of a derived class, and other constraints, solved by Gauss-Seidel.

    Attributes
    ----------
    NAME : str
        Name in reports.
    epsilon : float
        Accuracy of the laws, over the norm of the free velocity; the alternation ends when other rows have it.
    error : str
        Outcome of the last solution: 'OK', or 'DIVERGED' when the contacts, the alternation, or the residual of all rows did not reach their
        accuracy.
    iters : int
        Iterations over contacts in the last solution, summed over the alternations.
    alternations : int
        Number of solutions of the contacts in the last solution.
    """

    stored_form = True  # the blocks of W
    NAME = ""

    def __init__(self, epsilon: float):
        self.epsilon = epsilon
        self.error = "OK"
        self.iters = 0
        self.alternations = 0
        self._others = GaussSeidelSolver(1e-9, 1000, diagepsilon=1e-12, diagmaxiter=100)

    @abstractmethod
    def solve_contacts(self, problem: Contacts, accuracy: float) -> tuple[np.ndarray, bool, int]:
        """Return reactions (3, n) of the contacts with those of other rows fixed, whether they are accurate, and the number of iterations.

        `accuracy` is `epsilon`, or less if the method's own measure has proved weaker than the residual.
        """

    def solve(self, local: LocalDynamics) -> SolverReport:
        """Solve for the reactions of assembled local dynamics; R and U are left in `local.rows`.

        Raises
        ------
        SolfecError
            A number in W, B or friction is not finite; a contact follows a law of its own; the method itself fails.
        """
        rows, n = local.rows, local.n
        kind = rows.kind[:n]
        local.refuse_other_laws(self.command)
        local.require_blocks()
        start = rows.R[:, :n].copy()
        self.iters = self.alternations = 0
        converged = self._solved(local, np.flatnonzero(np.isin(kind, CONES)))
        if not np.isfinite(rows.R[:, :n]).all():
            rows.R[:, :n] = start
            converged = False
        found = self._others.conclude(local)
        self.error = "OK" if converged and found.residual <= 2.0 * self.epsilon else "DIVERGED"  # whatever the method says of itself
        return SolverReport(self.iters, math.nan, found.merit, found.residual, self.error, solver=self.NAME)

    def _solved(self, local: LocalDynamics, cones: np.ndarray) -> bool:
        """Solve other rows and contacts alternately, in `local.rows.R`, until the laws of both hold."""
        rows, n, contacts = local.rows, local.n, local.contacts
        size, counted = local.free_size(), contacts + np.flatnonzero(rows.driving[contacts:n] == 0)
        problem = Contacts(local, cones, self.command) if cones.size else None
        accuracy, tightenings = self.epsilon, 0
        for _ in range(MOST_ALTERNATIONS):
            solved = n == contacts or self._others.sweep(local, contacts, False).status == "OK"
            if problem is None:
                return solved
            reactions, accurate, iterations = self.solve_contacts(problem, accuracy)
            problem.take(reactions)
            self.iters += iterations
            self.alternations += 1
            if not accurate or not solved or not np.isfinite(reactions).all():
                return False
            local.velocities(rows.U)
            merit.evaluate(local)
            left = norm(rows.residual[cones])
            if left > 2.0 * self.epsilon * size:
                if tightenings == MOST_TIGHTENINGS:
                    return False
                accuracy, tightenings = 0.5 * accuracy * self.epsilon * size / left, tightenings + 1
            elif norm(rows.residual[counted]) <= self.epsilon * size:
                return True
        return False


class Contacts:
    """The contacts of a step as a separate problem.

    Attributes
    ----------
    row, column : (count,) int
        Contacts of the off-diagonal blocks of W; `off_diagonal` (3, 3, count) are these blocks, in the order (T1, T2, N).
    diagonal : (3, 3, n) float64
    friction : (n,) float64
    prepared
        What the method makes of W, which stays the same through an alternation; None at first.
    """

    def __init__(self, local: LocalDynamics, cones: np.ndarray, command: str):
        rows, n = local.rows, local.n
        self.local, self.cones, self._command = local, cones, command
        form = ReducedRows(local)
        self.free, self.cohesion = form.q, form.cohesion[: local.n]
        self.friction = rows.law[FRICTION, cones].copy()
        number = np.full(n, -1)
        number[cones] = np.arange(cones.size)
        count = int(rows.block_ptr[n])
        row = np.repeat(np.arange(n), np.diff(rows.block_ptr[: n + 1]))
        column, block = local.blocks.column[:count], local.blocks.block[..., :count]
        inner = (number[row] >= 0) & (number[column] >= 0)
        self.row, self.column, self.off_diagonal = number[row[inner]], number[column[inner]], block[..., inner]
        self.diagonal = rows.diagonal[..., cones]
        self.prepared: Any = None
        self._check()

    def right_side(self) -> tuple[np.ndarray, np.ndarray]:
        """Return free velocities, which include the reactions of other constraints, and reactions to start from, both (3, n)."""
        rows, cones = self.local.rows, self.cones
        kept = rows.R[:, cones].copy()
        rows.R[:, cones] = 0.0
        free = self.local.velocities(rows.U)[:, cones] - rows.B[:, cones] + self.free[:, cones]
        rows.R[:, cones] = kept
        kept[2] += self.cohesion[cones]
        return free, kept

    def matrix(self, components: list[int]):
        """Return W as a scipy block-sparse matrix (3 n, 3 n), with the components of a contact in another order than (T1, T2, N)."""
        from scipy.sparse import bsr_array

        n = self.friction.size
        rows, columns = np.concatenate([self.row, np.arange(n)]), np.concatenate([self.column, np.arange(n)])
        order = np.lexsort((columns, rows))
        blocks = np.concatenate([self.off_diagonal, self.diagonal], axis=2)[np.ix_(components, components)]
        pointers = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n))])
        return bsr_array((np.ascontiguousarray(blocks.transpose(2, 0, 1)[order]), columns[order], pointers), shape=(3 * n, 3 * n))

    def take(self, reactions: np.ndarray) -> None:
        """Store reactions of the reduced form in the rows."""
        reactions = np.array(reactions)
        reactions[2] -= self.cohesion[self.cones]
        self.local.rows.R[:, self.cones] = reactions

    def _check(self) -> None:
        """Raise an error that names numbers that are not finite, which no method can use."""
        rows = self.local.rows
        bad = ~np.isfinite(self.free[:, self.cones]).all(axis=0) | ~np.isfinite(rows.diagonal[..., self.cones]).all(axis=(0, 1))
        if bad.any():
            where = self.local.name(int(self.cones[np.argmax(bad)]))
            raise SolfecError(f"{self._command}: {where} has a free velocity or a W that is not finite")
