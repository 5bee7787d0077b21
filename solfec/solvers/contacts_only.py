"""Solution of contacts by a method for contacts only; other rows are linear equations that are eliminated from its problem (`LinearRows`)."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any

import numpy as np

from ..kinds import ROW_FAMILIES
from ..tables import pointers_of
from . import merit
from .constraint_solver import ConstraintSolver
from .contact_problem import norm
from .gauss_seidel import GaussSeidelSolver
from .linear_rows import LinearRows, refuse_bad_numbers
from .local_dynamics import LocalDynamics, RowKind
from .reduced_rows import ReducedRows
from .report import SolverReport

FRICTION = 4  # place in the law data of a contact
CONES = tuple(kind for kind, family in ROW_FAMILIES.items() if family.plain_contact and kind != RowKind.OPEN)
MOST_ALTERNATIONS = 100
ACCURATE = 0.01  # errors of linear rows, over the accuracy of the contacts
MOST_TIGHTENINGS = 4  # of the accuracy that a method is asked for, when it reaches it by its own measure but not by the residual


class ContactsOnlySolver(ConstraintSolver):
    """Solver of contacts by `solve_contacts` of a derived class, whose problem includes what contacts do to one another through other constraints.

    Attributes
    ----------
    NAME : str
        Name in reports.
    epsilon : float
        Accuracy of the laws, over the norm of the free velocity.
    error : str
        Outcome of the last solution: 'OK', or 'DIVERGED' when the contacts or the residual of all rows did not reach their accuracy.
    iters : int
        Iterations over contacts in the last solution, summed over the alternations.
    alternations : int
        Number of solutions of the contacts in the last solution, one for each set of tangents of springs, and for each smaller accuracy that the method is asked for.
    """

    stored_form = True  # the blocks of W
    springs = False
    NAME = ""

    def __init__(self, epsilon: float):
        self.epsilon = epsilon
        self.error = "OK"
        self.iters = 0
        self.alternations = 0
        self._measures = GaussSeidelSolver(1.0, 1)

    @abstractmethod
    def solve_contacts(self, problem: Contacts, accuracy: float) -> tuple[np.ndarray, bool, int]:
        """Return reactions (3, n) of the contacts, whether they are accurate, and the number of iterations.

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
        found = self._measures.conclude(local)
        self.error = "OK" if converged and found.residual <= 2.0 * self.epsilon else "DIVERGED"  # whatever the method says of itself
        return SolverReport(self.iters, math.nan, found.merit, found.residual, self.error, solver=self.NAME)

    def _solved(self, local: LocalDynamics, cones: np.ndarray) -> bool:
        """Solve contacts with the present tangents of other rows, in `local.rows.R`, and draw these anew, until the laws of both hold."""
        rows, n, size = local.rows, local.n, local.free_size()
        counted = local.contacts + np.flatnonzero(rows.driving[local.contacts : n] == 0)
        others = LinearRows(local, cones, ACCURATE * self.epsilon * size, self.command) if n > local.contacts else None
        problem = Contacts(local, cones, self.command) if cones.size else None
        accuracy, tightenings = self.epsilon, 0
        for _ in range(MOST_ALTERNATIONS):
            if others:
                if others.draw() and problem:
                    problem.join(others)
                if not others.hold():
                    return False
            if problem:
                reactions, accurate, iterations = self.solve_contacts(problem, accuracy)
                problem.take(reactions)
                self.iters += iterations
                self.alternations += 1
                if not accurate or not np.isfinite(reactions).all():
                    return False
            if others:
                others.hold()
                others.measure()
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
        What the method makes of W; None until it has made it, and when other rows have changed W.
    """

    def __init__(self, local: LocalDynamics, cones: np.ndarray, command: str):
        rows, n = local.rows, local.n
        self.local, self.cones = local, cones
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
        self._through: Any = None
        refuse_bad_numbers(local, cones, self.free, command)

    def join(self, others: LinearRows) -> None:
        """Let W be that of contacts together with other rows."""
        if self._through is None:
            self._alone = self.matrix([0, 1, 2]).tocsr()
        self._through, self.prepared = others.through(), None
        joint = (self._alone - self._through).tobsr((3, 3))
        n = self.friction.size
        row, blocks = np.repeat(np.arange(n), np.diff(joint.indptr)), joint.data.transpose(1, 2, 0)
        inner = row == joint.indices
        self.row, self.column, self.off_diagonal = row[~inner], joint.indices[~inner], blocks[..., ~inner]
        self.diagonal = blocks[..., inner]

    def right_side(self) -> tuple[np.ndarray, np.ndarray]:
        """Return free velocities, in which other constraints hold beside reactions to start from, and these reactions, both (3, n)."""
        rows, cones = self.local.rows, self.cones
        kept = rows.R[:, cones].copy()
        rows.R[:, cones] = 0.0
        free = self.local.velocities(rows.U)[:, cones] - rows.B[:, cones] + self.free[:, cones]
        rows.R[:, cones] = kept
        kept[2] += self.cohesion[cones]
        if self._through is not None:
            free += (self._through @ kept.T.ravel()).reshape(-1, 3).T
        return free, kept

    def matrix(self, components: list[int]):
        """Return W as a scipy block-sparse matrix (3 n, 3 n), with the components of a contact in another order than (T1, T2, N)."""
        from scipy.sparse import bsr_array

        n = self.friction.size
        rows, columns = np.concatenate([self.row, np.arange(n)]), np.concatenate([self.column, np.arange(n)])
        order = np.lexsort((columns, rows))
        blocks = np.concatenate([self.off_diagonal, self.diagonal], axis=2)[np.ix_(components, components)]
        pointers = pointers_of(np.bincount(rows, minlength=n))
        return bsr_array((np.ascontiguousarray(blocks.transpose(2, 0, 1)[order]), columns[order], pointers), shape=(3 * n, 3 * n))

    def take(self, reactions: np.ndarray) -> None:
        """Store reactions of the reduced form in the rows."""
        reactions = np.array(reactions)
        reactions[2] -= self.cohesion[self.cones]
        self.local.rows.R[:, self.cones] = reactions
