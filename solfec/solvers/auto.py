"""AUTO_SOLVER: solves the contact problem of a step island by island, and chooses a method for each by its residual.

Cheap sweeps with Anderson acceleration come first.  If they stagnate on an island, methods that factorise follow:
an interior point iteration, semismooth Newton steps, and ADMM alternating with more Newton steps.  An island that is too large to
factorise gets sweeps for reactions that hold it still.  Counts and residuals decide, never clocks, so runs are repeatable bit by bit.
"""

from __future__ import annotations

import math

import numpy as np

from ..kinds import ROW_FAMILIES, Cone
from . import parameters
from .constraint_solver import ConstraintSolver
from .contact_problem import COUNTS, ContactProblem, Islands, Method, joined, summary
from .dashpot_rows import DashpotRows
from .eliminated import Eliminated
from .gauss_seidel import SUSPICIOUS, GaussSeidelSolver
from .local_dynamics import NO_ROWS, LocalDynamics, RowKind, bits_of
from .newton import NewtonSolver
from .reduced_rows import CONE_OF_KIND, UNKNOWN, ReducedRows
from .report import SolverReport
from .spring_tangents import SpringTangents

FRICTION = 4  # place in the law data of a contact
LINK_LENGTH = 3
LINK = int(RowKind.RIGLNK)
# Sets of kinds of rows, by bits
LINKS, DASHPOTS, SPRINGS = bits_of([LINK]), bits_of([DashpotRows.KIND]), bits_of(SpringTangents.KINDS)
BENT = LINKS | DASHPOTS | SPRINGS  # not linear in U
MASKED = bits_of(kind for kind, family in ROW_FAMILIES.items() if family.masked)
TREATED = bits_of(np.flatnonzero(CONE_OF_KIND != UNKNOWN)) | SPRINGS | DASHPOTS  # kinds of rows that need no sweeps
GROWING = "; reactions grew without end: bodies are pressed together by motions that no constraint lets go of"
NEWTON_MERIT, SMALLEST_MERIT, MOST_NEWTON = 1e-10, 1e-20, 200  # of steps with bonds that peel
MOST_UPDATES = 20  # of linearised links and springs
SOFT = 0.1  # |g| W_NN, the effect of a spring's force on its own velocity: below this value the force counts as given


class AutoSolver(ConstraintSolver):
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
    """

    SETTINGS = ("epsilon", "maxiter", "anderson")  # kept with results
    OUTCOME = ("iters", "error", "methods", "iterations", "islands")
    rolling = True
    stored_form = -2  # factorisations need the blocks of W, unless there are too many of them

    def __init__(
        self, epsilon: float = 1e-6, maxiter: int = 1000, anderson: int = 5, method: Method = Method.AUTO,
        split: bool = True,
    ):
        parameters.positive(epsilon=epsilon, maxiter=maxiter)
        if not anderson >= 0:
            raise ValueError(f"anderson must not be negative; got {anderson!r}")
        self.epsilon = float(epsilon)
        self.maxiter = int(maxiter)
        self.anderson = int(anderson)
        self.method = method
        self.iters = 0
        self.error = "OK"
        self.islands = 0
        self.methods: dict[str, int] = {}
        self.iterations: dict[str, int] = dict.fromkeys(COUNTS, 0)
        self._islands = Islands(split)
        self._reduced = ReducedRows()
        self._sweeps = GaussSeidelSolver(self.epsilon, max(self.maxiter, 1000))

    def solve(self, local: LocalDynamics) -> SolverReport:
        """Compute reactions R and velocities U of assembled local dynamics, in `local.rows`.

        Gauss-Seidel solves the whole step in three cases: the step has cohesive SPRING_DASHPOT contacts, whose law is no cone; it has other laws
        that only sweeps can solve; or iterations with the tangents of springs and contacts do not converge to their forces.  Bonds that peel are
        solved by Newton steps.
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
        self.methods, self.islands = {"NEWTON": 1}, 1
        self.iterations = dict.fromkeys(COUNTS, 0) | {"newton": iterations}
        self.error = report.status = "OK" if report.residual <= 2.0 * self.epsilon else "DIVERGED"
        self.iters, report.iterations, report.solver = iterations, iterations, "AUTO"
        return report

    def by_islands(self, local: LocalDynamics) -> SolverReport | None:
        """Solve island by island; leave reactions as they are and return None if the whole step needs sweeps.

        Several processes may each have some of the islands (`local.others`).
        """
        present, sizes = local.survey()
        if local.total == 0 or present & ~TREATED or (present & DASHPOTS and DashpotRows.cohesive(local)):
            return None
        # Many contacts of one pair of bodies are all coupled: the number of blocks of W grows with the square of their number, although the
        # rank of W is at most the number of the bodies' degrees of freedom.  Sweeps in the velocity form need no blocks.
        if self.method == Method.AUTO and local.form == -2 and not local.stored:
            return None
        local.require_blocks()
        start = local.rows.R[:, : local.n].copy()
        solution = self._solved(local, present, sizes)
        if solution is None:
            local.rows.R[:, : local.n] = start
            return None
        last = self._sweeps.conclude(local)
        local.others.measured(local, last)
        solution = joined(local.others.gathered(solution))
        self.methods, self.iterations, self.islands = solution.methods, solution.iterations, solution.islands
        self.iters = solution.total_iterations
        self.error = "OK" if solution.status == "OK" and last.residual <= 2.0 * self.epsilon else "DIVERGED"
        report = SolverReport(self.iters, math.nan, last.merit, last.residual, self.error, solver="AUTO")
        if solution.status == "NO_SOLUTION":
            report.cause = GROWING
        return report

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
        self.methods, self.islands = {"GAUSS_SEIDEL": 1}, 1
        self.iterations = dict.fromkeys(COUNTS, 0) | {"sweeps": iterations}
        self.iters, self.error, report.iterations, report.solver = iterations, report.status, iterations, "AUTO"
        return report

    def _solved(self, local: LocalDynamics, present: int, sizes: tuple[float, float]):
        """Compute reactions in `local.rows.R`; linearise links and springs, which are not linear in U, until their laws hold.

        `present` and `sizes` are those of `LocalDynamics.survey`.  Return the solution, or None if the laws of springs do not hold in the end.
        """
        rows, n, others = local.rows, local.n, local.others
        form = self._reduced
        form.fill(local)
        kind, q = form.cone, form.q
        lines = SpringRows(local, SpringTangents(local), kind, q) if present & SPRINGS else None
        block, diagonal = (lines.block, lines.diagonal) if lines else (rows.block, rows.diagonal)
        q_used, off_diagonal = (lines.q, lines.off_diagonal) if lines else (q, local.blocks.block)
        dashpots = None
        if present & DASHPOTS:
            if not lines:
                block, diagonal, q_used = (values.copy(order="F") for values in (block, diagonal, q))
            dashpots = DashpotRows(local, kind, diagonal, block, q_used)
        matrix = diagonal, q_used, rows.block_ptr, local.blocks.column, off_diagonal
        links = np.flatnonzero(rows.kind[:n] == LINK) if present & LINKS else NO_ROWS
        operators = local.operators()
        size, driven_size = sizes
        reactions, unmet, total = rows.R, 0.0, None
        bent = present & BENT
        if not (others.any(form.moving) or lines or present & LINKS):
            reactions[:, :n] = 0.0  # there is no velocity to stop, so reactions of the last step are no good start
        reduced = None if lines or dashpots or form.cohesive or self.method != Method.AUTO else Eliminated.of(local, kind)
        yields = bool(lines or dashpots or present & MASKED)  # diagonal blocks of masked rows are larger than the bodies' contributions
        for update in range(MOST_UPDATES if bent else 1):
            if bent:
                local.velocities(rows.U)
                targets = link_velocity(local, links)
                unmet = others.norm(targets - rows.U[2, links])
                q[2, links] = rows.B[2, links] - targets
            if lines:
                unmet = math.hypot(unmet, lines.renew())
                if unmet == math.inf:
                    return None
                lines.scale()
            if dashpots:
                if not lines:
                    np.copyto(q_used, q)
                unmet = math.hypot(unmet, dashpots.renew(q_used))
            if reduced:
                given = self.method, self.epsilon, self.maxiter, self.anderson
                counts = reduced.solve(self._islands, kind, q, size, driven_size, given)
                if reduced.missed(q) <= self.epsilon * size:
                    total = counts.copy() if total is None else _added(total, counts)
                    if update and unmet <= 0.1 * self.epsilon * size:
                        break
                    continue
                reduced = total = None  # W is too close to singular for this elimination
            if form.cohesive:
                reactions[2, :n] += form.cohesion[:n]
            counts = self._islands.solve(
                n, kind, block, matrix, self.method, False, self.epsilon, self.maxiter, self.anderson, reactions, size,
                lines.scaled(operators) if lines else operators, yields=yields,
                driving=rows.driving, driven_size=driven_size, speed=rows.speed, total=local.total,
            )  # fmt: skip
            if form.cohesive:
                reactions[2, :n] -= form.cohesion[:n]
            if lines:
                lines.unscale()
            total = counts.copy() if total is None else _added(total, counts)
            # `unmet` was measured before this solution; after the first solution, in which contacts may begin to act, it is no proof
            iterated = others.any(counts[0].any())
            if (update or not iterated) and unmet <= 0.1 * self.epsilon * size:
                break
            if not iterated and self._missed(local, lines, dashpots) <= self.epsilon * size:
                break  # the newest lines needed no iteration, and the laws hold
        if not self._missed(local, lines, dashpots) <= 2.0 * self.epsilon * size:
            return None
        if reduced and not len(reduced.kept):
            self._islands.count = 0
        solution = summary(reactions[:, :0], rows.U[:, :0], math.nan, math.nan, self._islands.count, total)
        if reduced:
            solution.methods["DIRECT"] = 1
        return solution

    @staticmethod
    def _missed(local: LocalDynamics, lines: SpringRows | None, dashpots: DashpotRows | None) -> float:
        """Compute velocities, and return the norm of their errors in the laws of springs and SPRING_DASHPOT contacts."""
        if not (lines or dashpots):
            return 0.0
        local.velocities(local.rows.U)
        return math.hypot(lines.missed() if lines else 0.0, dashpots.missed() if dashpots else 0.0)


def _added(before: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the counts per island (method, status, numbers of iterations) of two successive solutions together."""
    total = before + counts
    total[0] = np.where(counts[0] > 0, counts[0], before[0])
    total[1] = counts[1]
    return total


class SpringRows:
    """Springs of a step as rows of the reduced problem, R_N = p + g U_N.

    A stiff spring is a joint with compliance: 0 = (W R)_N + B_N + (p - R_N)/g, which adds -1/g to the diagonal.  Its row is scaled by
    s = -g W_NN, R_N = s R', so that the solver measures the residual W_NN (R_N - p - g U_N) there.  A soft spring, whose force hardly
    changes its own velocity, gets its force at the present velocity.  A stop prescribes U_N.

    Attributes
    ----------
    block, diagonal, q, off_diagonal : ndarray
        Arrays for the solver, instead of those of the rows.
    """

    def __init__(self, local: LocalDynamics, tangents: SpringTangents, kind: np.ndarray, q: np.ndarray):
        self.local, self.tangents, self.rows = local, tangents, tangents.rows
        self._kind, self._free = kind, q
        self.q = q.copy(order="F")
        self.diagonal = local.rows.diagonal.copy(order="F")
        self.block = local.rows.block.copy(order="F")
        self.block[:, self.rows] = 0.0  # these numbers are knots of curves, not of friction
        self.off_diagonal = local.blocks.block.copy(order="F")
        blocks = int(local.rows.block_ptr[local.n])
        row = np.repeat(np.arange(local.n), np.diff(local.rows.block_ptr[: local.n + 1]))
        is_spring = np.isin(np.arange(local.n), self.rows)
        self._touched = np.flatnonzero(is_spring[row] | is_spring[local.blocks.column[:blocks]])  # blocks of springs
        self._ends = row[self._touched], local.blocks.column[self._touched]
        self._scale = np.ones(local.n)
        self._soft = np.zeros(0, int)
        self._forces = np.zeros(0)
        self._unit = np.zeros_like(local.rows.R)

    def renew(self) -> float:
        """Draw tangents at the present U and R; return the norm by which velocities miss the laws of springs.

        Infinite if the force of a stiff spring grows with its velocity, so that no joint can replace it.
        """
        rows, springs = self.local.rows, self.rows
        constant, slope, stopped, target = self.tangents.tangents()
        w = rows.diagonal[2, 2, springs]
        forces = constant + slope * rows.U[2, springs]
        missed = self.local.others.norm(self.tangents.missed(constant, slope, stopped, target))
        soft = ~stopped & (np.abs(slope) * w <= SOFT)
        stiff = ~stopped & ~soft
        if self.local.others.any((slope[stiff] > 0.0).any()):
            return math.inf
        self._kind[springs] = np.where(soft, Cone.NONE, Cone.NORMAL)
        self._soft, self._forces = springs[soft], forces[soft]
        self.q[...] = self._free + self._pull()
        self.q[2, springs[stopped]] -= target[stopped]
        self.q[2, springs[stiff]] += constant[stiff] / slope[stiff]
        scale = np.where(stiff, -slope * w, 1.0)
        if not np.array_equal(scale, self._scale[springs]):
            self._scale[springs] = scale
            one, other = self._ends
            touched = self.local.blocks.block[..., self._touched] * (self._scale[one] * self._scale[other])
            self.off_diagonal[..., self._touched] = touched
        self.q[:, springs] *= scale
        self.diagonal[..., springs] = rows.diagonal[..., springs]
        self.diagonal[2, 2, springs[stiff]] -= 1.0 / slope[stiff]
        self.diagonal[..., springs] *= scale**2
        return missed

    def missed(self) -> float:
        """Return the norm of the errors of the present velocities in the laws of springs."""
        return self.local.others.norm(self.tangents.missed(*self.tangents.tangents()))

    def _pull(self) -> np.ndarray:
        """Return the velocities that the forces of soft springs make."""
        rows = self.local.rows
        if not self._soft.size:
            return 0.0
        kept = rows.R.copy()
        rows.R[...] = 0.0
        rows.R[2, self._soft] = self._forces
        made = self.local.velocities(self._unit) - rows.B
        rows.R[...] = kept
        return made

    def scaled(self, operators: tuple | None) -> tuple | None:
        """Return operators of rows (`LocalDynamics.operators`) with the scaling of the solver."""
        if operators is None:
            return None
        first, triple, entry, triples = operators
        entries = int(first[self.local.n])
        entry = entry[..., :entries].copy(order="F")
        entry *= np.repeat(self._scale, np.diff(first[: self.local.n + 1]))
        return first, triple[:entries], entry, triples

    def scale(self) -> None:
        """Scale reactions in place for the solver, R' = R/s."""
        self.local.rows.R[:, self.rows] /= self._scale[self.rows]

    def unscale(self) -> None:
        """Undo the scaling of reactions in place, and set those of soft springs."""
        self.local.rows.R[:, self.rows] *= self._scale[self.rows]
        self.local.rows.R[:, self._soft] = 0.0
        self.local.rows.R[2, self._soft] = self._forces


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

    def solve_alone(self, local: LocalDynamics) -> SolverReport:
        if not (self.anderson or self.islands):
            return super().solve_alone(local)
        method = Method.ANDERSON if self.anderson else Method.GAUSS_SEIDEL
        report = AutoSolver(self.epsilon, self.maxiter, method=method, split=self.islands).solve(local)
        report.solver = "GAUSS_SEIDEL"
        self._errors = np.full(report.iterations, math.nan)  # sweeps measure the residual instead
        self._merits = np.zeros(report.iterations)
        return report


def link_velocity(local: LocalDynamics, links: np.ndarray) -> np.ndarray:
    """Return the normal velocities with which links have their length at the end of the step, given the present tangential ones."""
    law, k = local.rows.law, local.half_step
    sideways = law[:2, links] + k * local.rows.U[:2, links]
    square = law[LINK_LENGTH, links] ** 2 - (sideways**2).sum(axis=0)
    along = np.sqrt(np.maximum(square, 0.0)) * np.where(law[2, links] < 0.0, -1.0, 1.0)
    # points too fast to be held: no normal velocity, as in the sweeps
    return np.where(square > 0.0, (along - law[2, links]) / k, 0.0)


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
