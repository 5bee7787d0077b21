"""AUTO_SOLVER: solves the contact problem of a step island by island, and chooses a method for each by its residual.

Newton steps come first on narrow islands, such as mechanisms and stacks, and on all others cheap sweeps with Anderson acceleration.
If they stagnate on an island, methods that factorise follow: an interior point iteration, semismooth Newton steps, and ADMM alternating
with more Newton steps.  An island that is too large to factorise gets sweeps for reactions that hold it still.  Counts and residuals decide,
never clocks, so runs are repeatable bit by bit.
"""

from __future__ import annotations

import math

import numpy as np

from ..kinds import DRIVES, ROW_FAMILIES, Cone
from . import parameters
from .assembly import UNLESS_MANY
from .constraint_solver import ConstraintSolver
from .contact_problem import COUNTS, DIRECT, METHODS, ContactProblem, Islands, Method, SolvedIslands
from .dashpot_rows import DashpotRows
from .eliminated import Eliminated
from .gauss_seidel import PEELING, SUSPICIOUS, GaussSeidelSolver
from .local_dynamics import NO_ROWS, LocalDynamics, RowKind, bits_of
from .newton import NewtonSolver
from .other_processes import NO_OTHERS
from .reduced_rows import CONE_OF_KIND, UNKNOWN, ReducedRows
from .report import SolverReport
from .spring_lines import SpringLines
from .spring_tangents import SpringTangents, link_velocity

FRICTION = 4  # place in the law data of a contact
LINK = int(RowKind.RIGLNK)
# Sets of kinds of rows, by bits
LINKS, DASHPOTS, SPRINGS = bits_of([LINK]), bits_of([DashpotRows.KIND]), bits_of(SpringTangents.KINDS)
BENT = LINKS | DASHPOTS | SPRINGS  # not linear in U
POINT_SPRINGS = SPRINGS & ~bits_of(DRIVES)
MASKED = bits_of(kind for kind, family in ROW_FAMILIES.items() if family.masked)
TREATED = bits_of(np.flatnonzero(CONE_OF_KIND != UNKNOWN)) | SPRINGS | DASHPOTS  # kinds of rows that need no sweeps
GROWING = "; reactions grew without end: bodies are pressed together by motions that no constraint lets go of"
STIFF = "; bonds soften that their neighbours hold, which sweeps cannot follow, and Newton steps cost too much or have failed"
NEWTON_MERIT, SMALLEST_MERIT, MOST_NEWTON = 1e-10, 1e-20, 1000  # of steps with bonds that peel, in which many may let go one by one
NO_BETTER = 10.0  # times a residual, for which reactions of any size are no better
MOST_UPDATES = 20  # of linearised links and springs


class AutoSolver(SolvedIslands, ConstraintSolver):
    """Solve every island to a given residual, choosing among methods.

    Parameters
    ----------
    epsilon : float
        Residual to reach (docs/solvers.md, Automatic solver): norm of the errors of velocity conditions over the norm of the free velocity.
    maxiter : int
        Largest number of sweeps before methods that factorise; sweeps that stagnate end sooner.
    anderson : int
        Columns of Anderson acceleration of the sweeps; 0: none.
    method : Method
        Use this method only.
    split : bool
        Solve independent groups of constraints separately.

    Attributes
    ----------
    iters : int
        Iterations of all kinds in the last solution: the sum over kinds of the largest number of any island.
    error : str
        Outcome of the last solution: 'OK', or 'DIVERGED' when no method reached the residual.
    methods : dict
        Number of islands of the last solution by the method that solved them; 'NONE': the reactions of the last step were still accurate.
    iterations : dict
        Largest numbers of sweeps, ADMM iterations, Newton, gradient and interior point steps of the last solution.
    islands : int
        Independent groups of constraints in the last solution.
    unsoftened : bool
        Whether it was not solved and one process, with all rows, would have compared its reactions with those of sweeps.
    """

    SETTINGS = ("epsilon", "maxiter", "anderson")  # kept with results
    OUTCOME = ("iters", "error", "counts")
    rolling = True
    stored_form = UNLESS_MANY  # factorisations need the blocks of W

    def __init__(self, epsilon: float = 1e-6, maxiter: int = 1000, anderson: int = 5, method: Method = Method.AUTO, split: bool = True):
        parameters.positive(epsilon=epsilon, maxiter=maxiter)
        if not anderson >= 0:
            raise ValueError(f"anderson must not be negative; got {anderson!r}")
        self.epsilon = float(epsilon)
        self.maxiter = int(maxiter)
        self.anderson = int(anderson)
        self.method = method
        self.iters = 0
        self.error = "OK"
        self.counts = np.zeros((8, 0), np.int32)  # of the islands of the last solution (Islands.solve)
        self.unsoftened = False
        self._islands = Islands(split)
        self._reduced, self._lines = ReducedRows(), SpringLines()
        self._sweeps = GaussSeidelSolver(self.epsilon, max(self.maxiter, 1000))

    @property
    def islands(self) -> int:
        """Number of independent groups of constraints."""
        return int(np.count_nonzero(self.counts[0] != DIRECT))

    def solve(self, local: LocalDynamics) -> SolverReport:
        """Compute reactions R and velocities U of assembled local dynamics, in `local.rows`.

        Gauss-Seidel solves the whole step in four cases: the step has cohesive SPRING_DASHPOT contacts, whose law is no cone; it has other laws
        that only sweeps can solve; W has too many blocks; or iterations with the tangents of springs and contacts do not converge to their forces.
        Bonds that peel are solved by Newton steps.
        """
        return self.by_islands(local) or self.together(local)

    def together(self, local: LocalDynamics) -> SolverReport:
        """Solve the whole step by Newton steps, if there are bonds that sweeps cannot follow, or by sweeps."""
        return (self._by_newton(local) if local.peels() else None) or self.by_sweeps(local)

    def _by_newton(self, local: LocalDynamics) -> SolverReport | None:
        """Solve bonds that peel; None, and reactions as they are, if linear systems are too expensive or nothing like a solution is found.

        Where the residual remains too large, the best reactions are kept nevertheless, since sweeps would break all bonds.
        """
        if not local.stored or local.held is not NO_ROWS or local.survey()[0] & DASHPOTS:
            return None
        start, newton, iterations = local.rows.R[:, : local.n].copy(), NewtonSolver(NEWTON_MERIT, MOST_NEWTON, gsflag=False), 0
        while True:
            report = newton.factorised(local)
            if report is None:
                break
            iterations += report.iterations
            if report.residual <= self.epsilon or report.status != "OK" or newton.meritval <= SMALLEST_MERIT:
                break
            newton.meritval *= 1e-3
        if report is None or not report.residual <= SUSPICIOUS:
            local.rows.R[:, : local.n] = start
            return None
        self.counts = _all_rows("NEWTON", newton=iterations)
        self.error = report.status = "OK" if report.residual <= 2.0 * self.epsilon else "DIVERGED"
        self.iters, report.iterations, report.solver = iterations, iterations, "AUTO"
        return report

    def by_islands(self, local: LocalDynamics) -> SolverReport | None:
        """Solve island by island; leave reactions as they are and return None if the whole step needs sweeps.

        Several processes may each have some of the islands (`local.others`).
        """
        form, self.unsoftened = self._reduced, False
        form.fill(local)
        present, sizes = local.surveyed(*form.surveyed)
        if local.total == 0 or present & ~TREATED or (present & DASHPOTS and DashpotRows.cohesive(local)):
            return None
        # Many contacts of one pair of bodies are all coupled: the number of blocks of W grows with the square of their number, although the
        # rank of W is at most the number of the bodies' degrees of freedom.  Sweeps in the velocity form need no blocks.
        if self.method == Method.AUTO and local.form == UNLESS_MANY and not local.stored:
            return None
        local.require_blocks()
        form.add_cohesion(local)
        start = local.rows.R[:, : local.n].copy() if present & BENT or local.n > local.contacts else None
        counts = self._solved(local, present, sizes)
        if counts is None:
            local.rows.R[:, : local.n] = start
            return None
        report = self._sweeps.conclude(local)
        local.others.measured(local, report)
        self.counts = local.others.joined_columns(counts)
        status, self.iters = self._islands.status_and_iterations(self.counts)
        self.error = "OK" if status == "OK" and report.residual <= 2.0 * self.epsilon else "DIVERGED"
        report.iterations, report.error, report.status, report.solver = self.iters, math.nan, self.error, "AUTO"
        if status == "NO_SOLUTION":
            report.cause = GROWING
            return report
        if self.error == "OK" or self.method != Method.AUTO or not self._meets_contacts(local, start is not None):
            return report
        if local.others is NO_OTHERS:
            return self._softened(local, start, report)
        self.unsoftened = True
        return report

    def _meets_contacts(self, local: LocalDynamics, others_than_contacts: bool) -> bool:
        """Whether there are contacts, without cohesion, and rows with other laws."""
        both = local.others.any(others_than_contacts), local.others.any(local.contacts > 0)
        return all(both) and not local.others.any(self._reduced.cohesive)

    def _softened(self, local: LocalDynamics, start: np.ndarray, report: SolverReport) -> SolverReport:
        """Return the solution that is in `local.rows` afterwards, that by islands or one by sweeps: the smaller reactions, if they have hardly larger errors.

        Where constraints contradict one another a little and contacts act, no reactions fulfil all, and those of least error may be of any size.  Sweeps
        never come to these.
        """
        rows, n, found = local.rows, local.n, [values[:, : local.n].copy() for values in (local.rows.R, local.rows.U)]
        rows.R[:, :n] = start
        swept = self._sweeps.sweep(local)
        size = np.abs(found[0]).max()
        if not (swept.residual <= NO_BETTER * report.residual and np.abs(rows.R[:, :n]).max() < size):
            rows.R[:, :n], rows.U[:, :n] = found
            self._sweeps.conclude(local)  # measures of rows, which messages name
            return report
        self.counts = _all_rows("GAUSS_SEIDEL", sweeps=swept.iterations)
        self.error = swept.status = "OK" if swept.residual <= 2.0 * self.epsilon else "DIVERGED"
        self.iters, swept.solver = swept.iterations, "AUTO"
        return swept

    def by_sweeps(self, local: LocalDynamics) -> SolverReport:
        """Solve by sweeps alone until the residual is small enough or no sweeps are left.

        Sweeps end when reactions stop changing, relative to their size, whatever the residual.  Then they go on with a smaller bound of the change.
        Reactions of constraints that contradict one another grow without bound, so that no change of them is large.
        """
        sweeps, iterations, accuracy = self._sweeps, 0, self._sweeps.epsilon
        try:
            while True:
                report = sweeps.solve(local)
                iterations += report.iterations
                if report.residual <= self.epsilon or report.status != "OK" or sweeps.epsilon <= 1e-6 * accuracy:
                    break
                sweeps.epsilon *= 0.1
        finally:
            sweeps.epsilon = accuracy
        if report.status in ("OK", "DIVERGED"):  # reactions that are not unique may keep changing
            report.status = "OK" if report.residual <= 2.0 * self.epsilon else "DIVERGED"
        if report.cause == PEELING:  # which sends users to this solver
            report.cause = STIFF
        self.counts = _all_rows("GAUSS_SEIDEL", sweeps=iterations)
        self.iters, self.error, report.iterations, report.solver = iterations, report.status, iterations, "AUTO"
        return report

    def _solved(self, local: LocalDynamics, present: int, sizes: tuple[float, float]) -> np.ndarray | None:
        """Compute reactions in `local.rows.R`.

        `present` and `sizes` are those of `LocalDynamics.survey`.  Return the counts of islands, or None if the laws of springs do not hold in the end.
        """
        form, rows, blocks = self._reduced, local.rows, local.blocks
        if present & BENT:
            return self._solved_by_lines(local, present, sizes)
        if not local.others.any(form.moving):
            rows.R[:, : local.n] = 0.0  # there is no velocity to stop, so reactions of the last step are no good start
        if local.coupled and (reduced := self._eliminated(local)):
            counts = self._solved_without_supports(reduced, sizes)
            if counts is not None:
                return np.concatenate([counts, _all_rows("DIRECT")], axis=1)
        matrix = rows.diagonal, form.q, rows.block_ptr, blocks.column, blocks.block
        return self._solved_by_cones(local, rows.block, matrix, local.operators(), sizes, bool(present & MASKED))

    def _solved_by_cones(
        self, local: LocalDynamics, block: np.ndarray, matrix: tuple, operators: tuple | None, sizes: tuple[float, float], yields: bool
    ) -> np.ndarray:
        """Solve rows that are linear in U, or have been made so, from the reactions in `local.rows.R` on; return the counts of islands (Islands.solve)."""
        form, rows, n = self._reduced, local.rows, local.n
        size, driven_size = sizes
        if form.cohesive:
            rows.R[2, :n] += form.cohesion[:n]
        counts = self._islands.solve(
            n, form.cone, block, matrix, self.method, False, self.epsilon, self.maxiter, self.anderson, rows.R, size, operators, yields,
            rows.driving, driven_size, rows.speed, local.total,
        )  # fmt: skip
        if form.cohesive:
            rows.R[2, :n] -= form.cohesion[:n]
        return counts

    def _eliminated(self, local: LocalDynamics) -> Eliminated | None:
        """Return the problem without supports of implicit bodies; None if there are none, or they stay in it."""
        return None if self._reduced.cohesive or self.method != Method.AUTO else Eliminated.of(local, self._reduced.cone)

    def _solved_without_supports(self, reduced: Eliminated, sizes: tuple[float, float]) -> np.ndarray | None:
        """Solve the reduced problem; return the counts of islands, or None if W is too close to singular for this elimination."""
        q, given = self._reduced.q, (self.method, self.epsilon, self.maxiter, self.anderson)
        counts = reduced.solve(self._islands, self._reduced.cone, q, *sizes, given)
        return counts if reduced.missed(q) <= self.epsilon * sizes[0] else None

    def _solved_by_lines(self, local: LocalDynamics, present: int, sizes: tuple[float, float]) -> np.ndarray | None:
        """Do what `_solved` does with links and springs, which are not linear in U: linearise them until their laws hold."""
        rows, n, others = local.rows, local.n, local.others
        form = self._reduced
        kind, q = form.cone, form.q
        lines = self._lines if present & SPRINGS else None
        springs_here = lines is not None and lines.begin(local)
        block, diagonal, q_used = (lines.block, lines.diagonal, lines.q) if springs_here else (rows.block, rows.diagonal, q)
        off_diagonal = lines.off_diagonal if springs_here else local.blocks.block
        dashpots = None
        if present & DASHPOTS:
            if not springs_here:
                block, diagonal, q_used = (values.copy(order="F") for values in (block, diagonal, q))
            dashpots = DashpotRows(local, kind, diagonal, block, q_used)
        matrix = diagonal, q_used, rows.block_ptr, local.blocks.column, off_diagonal
        links = np.flatnonzero(rows.kind[:n] == LINK) if present & LINKS else None
        operators = lines.operators() if springs_here else local.operators()
        size, missed, total, iterated = sizes[0], 0.0, None, True
        if not (others.any(form.moving or (lines is not None and local.asked > 0.0)) or present & (LINKS | POINT_SPRINGS)):
            rows.R[:, :n] = 0.0  # as in `_solved`; motors and springs of joints ask for nothing either
        reduced = None if lines or dashpots else self._eliminated(local)
        yields = bool(lines or dashpots or present & MASKED)  # diagonal blocks of masked rows are larger than the bodies' contributions
        only_lines = links is None and dashpots is None and others is NO_OTHERS
        for update in range(MOST_UPDATES + 1):
            # what was unmet before the first solution, in which contacts may begin to act, is no proof
            enough = (0.1 if iterated else 1.0) * self.epsilon * size if update else -1.0
            local.velocities(rows.U)
            unmet = 0.0 if links is None else self._hold_links(local, links, q)
            missed = self._renew(lines, dashpots, kind, q, q_used, enough if only_lines else -1.0)
            if missed == math.inf:
                return None
            unmet = math.hypot(unmet, missed)
            if update == MOST_UPDATES or unmet <= enough:
                break
            if reduced:
                counts = self._solved_without_supports(reduced, sizes)
                if counts is not None:
                    total = counts if total is None else _added(total, counts)
                    continue
                reduced = total = None
            if springs_here:
                lines.scale_reactions()
            counts = self._solved_by_cones(local, block, matrix, operators, sizes, yields)
            if springs_here:
                lines.take_reactions()
            total = counts.copy() if total is None else _added(total, counts)
            iterated = others.any(np.count_nonzero(counts[0]) > 0)
        if not missed <= 2.0 * self.epsilon * size:
            return None
        return np.concatenate([total, _all_rows("DIRECT")], axis=1) if reduced else total

    @staticmethod
    def _hold_links(local: LocalDynamics, links: np.ndarray, q: np.ndarray) -> float:
        """Write the free velocities of links for their lengths at the end of the step; return the norm by which velocities miss them."""
        rows, targets = local.rows, link_velocity(local, links)
        q[2, links] = rows.B[2, links] - targets
        return local.others.norm(targets - rows.U[2, links])

    @staticmethod
    def _renew(lines: SpringLines | None, dashpots: DashpotRows | None, kind: np.ndarray, q: np.ndarray, q_used: np.ndarray, enough: float) -> float:
        """Renew the lines of springs, unless velocities miss them by no more than `enough`, and of SPRING_DASHPOT contacts; return the norm by which velocities miss their laws."""
        missed = lines.renew(kind, q, enough) if lines else 0.0
        if dashpots and missed < math.inf:
            if not (lines and q_used is lines.q):
                np.copyto(q_used, q)
            missed = math.hypot(missed, dashpots.renew(q_used))
        return missed


def _all_rows(method: str, **iterations: int) -> np.ndarray:
    """Return counts (8, 1) of all rows as one island (Islands.solve)."""
    return np.array([[METHODS.index(method)], [0], *([iterations.get(name, 0)] for name in COUNTS)], np.int32)


def _added(before: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the counts per island (method, status, numbers of iterations) of two successive solutions together."""
    total = before + counts
    total[0] = np.where(counts[0] > 0, counts[0], before[0])
    total[1] = counts[1]
    return total


class AcceleratedGaussSeidel(GaussSeidelSolver):
    """Gauss-Seidel with two options: accelerated sweeps, and separate islands.

    Attributes
    ----------
    anderson, islands : bool
        True: sweeps are accelerated; independent groups of constraints are solved separately.  With either, sweeps end when the
        residual is at most `epsilon`, and contacts are solved by the direct block solver.
    """

    SETTINGS = (*GaussSeidelSolver.SETTINGS, "anderson", "islands")  # kept with results
    anderson = islands = False

    @property
    def ends_by_sums(self) -> bool:
        """Whether sweeps end by sums over the whole model: residuals have no weight."""
        return not (self.anderson or self.islands)

    def solve_alone(self, local: LocalDynamics) -> SolverReport:
        if not (self.anderson or self.islands):
            return super().solve_alone(local)
        method = Method.ANDERSON if self.anderson else Method.GAUSS_SEIDEL
        report = AutoSolver(self.epsilon, self.maxiter, method=method, split=self.islands).solve(local)
        report.solver = "GAUSS_SEIDEL"
        self._errors = np.full(report.iterations, math.nan)  # sweeps measure the residual instead
        self._merits = np.zeros(report.iterations)
        return report


def contact_problem(local: LocalDynamics, name: str = "") -> ContactProblem:
    """Return the reduced problem of a step, to be solved or written elsewhere; W in velocity per force.

    The target of a link is the normal velocity with which it keeps its length at the tangential one of the step.
    """
    rows, n = local.rows, local.n
    local.require_blocks()
    form = ReducedRows(local)
    kind, q = form.cone[:n], form.q
    if (kind == UNKNOWN).any():
        raise ValueError("constraints follow laws that are no cones")
    blocks = int(rows.block_ptr[n])
    links = np.flatnonzero(rows.kind[:n] == RowKind.RIGLNK)
    q[2, links] = rows.B[2, links] - link_velocity(local, links)
    friction = np.where(kind == Cone.CONTACT, rows.law[FRICTION, :n], 0.0)
    return ContactProblem(
        rows.block_ptr[: n + 1].copy(), local.blocks.column[:blocks].copy(), local.blocks.block[..., :blocks].copy(order="F"),
        rows.diagonal[..., :n].copy(order="F"), q[:, :n].copy(order="F"), friction, kind, name,
    )  # fmt: skip
