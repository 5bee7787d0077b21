"""The projected quasi-Newton solver (Solfec-1.0's `nts`)."""

from __future__ import annotations

import copy
import math

import numpy as np

from .. import _kernels
from ..errors import NotBuiltYet
from ..tables import TABLE_UNKNOWN, Record, opened
from . import parameters
from .constraint_solver import ConstraintSolver
from .gauss_seidel import GaussSeidelSolver
from .local_dynamics import NO_ROWS, LocalDynamics, RowKind
from .report import SolverReport
from .spring_tangents import SpringTangents

_iterate = _kernels.newton.iterate

STATUS = ("OK", "DIVERGED", "DIVERGED")
BLOCKS_WANTED, UNAFFORDABLE = 4, 5
NO_BETTER = 10.0  # times a residual, for which sweeps are preferred
LINEAR_SOLVERS = ("GMRES", "DIAG")
RELATIVE_DELTAS = {"OFF": None, "avgWii": np.mean, "minWii": np.min, "maxWii": np.max}


class NewtonSettings(Record):
    """Options and history of an iteration, for the kernel."""

    COLUMNS = {
        "merits": ((), "f8"),  # by iteration: merit
        "products": ((), "i4"),  # and products with W so far
    }
    NUMBERS = {
        "averaged": "i4",  # 1: averages of diagonal steps, 0: flexible GMRES
        "linmaxiter": "i4",  # directions of one GMRES solution
        "epsilon": "f8",  # and its relative accuracy
        "theta": "f8",  # share of the new step in averages
        "omega": "f8",  # smoothing of the contact equation
        "meritval": "f8",  # merit that ends the iteration
        "stiff": "i4",  # 1: linear systems are factorised if that is affordable, since W has eigenvalues of very different sizes
        "direct": "i4",  # 1: nothing is done unless linear systems are factorised
    }


class NewtonSolver(ConstraintSolver):
    """Newton steps on the contact equation, projected on the friction cones, until the merit is small.

    Parameters
    ----------
    meritval : float
        Merit to reach.
    maxiter : int
        Largest number of iterations.
    locdyn : bool
        True: products with W use the assembled form; False: body velocities.
    linver : str
        'GMRES' (steps solve the linearised equations approximately) or 'DIAG' (steps use their diagonal blocks only, averaged).
    linmaxiter, epsilon : int, float
        Directions and relative accuracy of a GMRES solution.
    maxmatvec : int
        Largest number of products with W in all GMRES solutions; by default ``linmaxiter * maxiter``.
    delta : float
        Diagonal regularisation of GMRES.
    theta : float
        Share of the new step in the average of 'DIAG', in (0, 1].
    omega : float
        Smoothing of the contact equation; by default a hundredth of `meritval`.
    gsflag : bool
        Whether Gauss-Seidel solves the step from its initial reactions when the iteration fails.
    reldelta : str
        'OFF', or the diagonal entry of W that multiplies delta: 'avgWii', 'minWii' or 'maxWii'.

    Attributes
    ----------
    iters : int
        Iterations of the last solution.
    error : str
        Outcome of the last solution: 'OK' or 'DIVERGED' (of Gauss-Seidel, if it solved the step).
    fallback : int
        Sweeps of Gauss-Seidel in the last solution; 0 if the iteration succeeded.
    merhist, mvhist : list
        Merit after every iteration of the last solution, and products with W so far.
    itershist : list of int or None
        Iterations of all solutions since it was set to an empty list; None: they are not recorded.
    """

    SETTINGS = (
        "meritval", "maxiter", "locdyn", "linver", "linmaxiter", "maxmatvec", "epsilon", "delta", "theta", "omega", "gsflag", "reldelta",
    )  # fmt: skip

    OUTCOME = ("iters", "fallback", "error", "itershist")

    springs = False
    ends_by_sums = True

    def __init__(
        self,
        meritval: float = 1e-8,
        maxiter: int = 1000,
        locdyn: bool = True,
        linver: str = "GMRES",
        linmaxiter: int = 10,
        maxmatvec: int | None = None,
        epsilon: float = 0.25,
        delta: float = 0.0,
        theta: float = 0.25,
        omega: float | None = None,
        gsflag: bool = True,
        reldelta: str = "OFF",
    ):
        parameters.positive(meritval=meritval, maxiter=maxiter, linmaxiter=linmaxiter, epsilon=epsilon)
        if not (delta >= 0.0 and 0.0 < theta <= 1.0):
            raise ValueError("delta must not be negative, and theta must be in (0, 1]")
        parameters.one_of(LINEAR_SOLVERS, linver=linver)
        parameters.one_of(RELATIVE_DELTAS, reldelta=reldelta)
        self.meritval = float(meritval)
        self.maxiter = int(maxiter)
        self.locdyn = bool(locdyn)
        self.linver = linver
        self.linmaxiter = int(linmaxiter)
        self.maxmatvec = self.linmaxiter * self.maxiter if maxmatvec is None else int(maxmatvec)
        self.epsilon = float(epsilon)
        self.delta = float(delta)
        self.theta = float(theta)
        self.omega = 0.01 * self.meritval if omega is None else float(omega)
        self.gsflag = bool(gsflag)
        self.reldelta = reldelta
        self.iters = self.fallback = 0
        self.error = "OK"
        self.itershist = None
        self._unit = 1.0
        self._settings = NewtonSettings()

    def __copy__(self) -> NewtonSolver:
        """Return a solver with the same settings, and its own memory."""
        copied = type(self).__new__(type(self))
        copied.__dict__.update(self.__dict__, _settings=copy.deepcopy(self._settings))
        return copied

    @property
    def merhist(self) -> list[float]:
        """Merit after every iteration of the last solution."""
        return self._settings.merits[: self.iters].tolist()

    @property
    def mvhist(self) -> list[int]:
        """Products with W made up to the end of every iteration of the last solution."""
        return self._settings.products[: self.iters].tolist()

    @property
    def stored_form(self) -> bool | None:
        """Form of W to assemble; None: the cheaper one."""
        return None if self.locdyn else False

    def outcome(self) -> dict:
        """Return what describes the last solution."""
        return super().outcome() | {"merits": self.merhist, "products": self.mvhist}

    def take_outcome(self, found: dict) -> None:
        """Take over what the solver of another process has found."""
        super().take_outcome({name: found[name] for name in self.OUTCOME})
        self.make_room()
        self._settings.merits[: self.iters], self._settings.products[: self.iters] = found["merits"], found["products"]

    def solve(self, local: LocalDynamics) -> SolverReport:
        """Solve for the reactions of assembled local dynamics; R and U are left in `local.rows`.

        Raises
        ------
        NotBuiltYet
            A kind of constraint that this solver does not know.
        """
        rows, n = local.rows, local.n
        start = rows.R[:, :n].copy(order="F") if self.gsflag else None
        solution = self._solve if local.held is NO_ROWS else self._solve_with_functions
        report, failed, status = solution(local)
        return self.finish(local, report, failed, status, start)

    def finish(self, local: LocalDynamics, report: SolverReport, failed: int, status: int, start: np.ndarray | None) -> SolverReport:
        """Evaluate an iteration whose kernel returned `failed` and `status`; `start`: reactions before it."""
        rows, n = local.rows, local.n
        if status == 3:
            identifier = int(local.constraints.id[rows.order[failed]])
            raise NotBuiltYet(
                f"NEWTON_SOLVER for {_name(rows.kind[failed])} is not built yet in this version of solfec (constraint {identifier})"
            )
        self.iters, self.fallback, kept = report.iterations, 0, self.gsflag and report.status != "OK"
        if self.itershist is not None:
            self.itershist.append(self.iters)
        if kept:
            found = rows.R[:, :n].copy() if self._stiff(local) and math.isfinite(report.residual) else None
            rows.R[:, :n] = start[:, :n]
            report = self._fall_back(local, report, found)
        self.error = report.status
        return report

    def _solve(self, local: LocalDynamics) -> tuple[SolverReport, int, int]:
        """Run all iterations; return the report, the row that failed and the kernel's status."""
        self.make_room()
        report, _, failed, status = self._iterate(local, self.maxiter, self.maxmatvec, True)
        return report, failed, status

    def _solve_with_functions(self, local: LocalDynamics) -> tuple[SolverReport, int, int]:
        """Replace springs with Python functions by their tangents, and renew these until the merit with the newest ones is small enough."""
        self.make_room()
        springs = SpringTangents(local)
        local.velocities(local.rows.U)
        merits, products = [], []
        while True:
            springs.draw_lines()
            report, _, failed, status = self._iterate(
                local, self.maxiter - len(merits), self.maxmatvec - (products[-1] if products else 0), False
            )
            count, before = report.iterations, products[-1] if products else 0
            products += (self._settings.products[:count] + before).tolist()
            merits += self._settings.merits[:count].tolist()
            if status or not count:
                break
        if not status:
            report, _, failed, status = self._iterate(local, 0, 0, True)  # the end of cohesion
        springs.take_back()
        report.iterations = len(merits)
        self._settings.merits[: len(merits)], self._settings.products[: len(merits)] = merits, products
        return report, failed, status

    def _iterate(
        self, local: LocalDynamics, maxiter: int, maxmatvec: int, check_cohesion: bool
    ) -> tuple[SolverReport, int, int, int]:
        """Run the kernel; also return the products made, the row that failed and the kernel's status."""
        settings = self._settings
        settings.choose(self.linver == "DIAG", self.linmaxiter, self.epsilon, self.theta, self.omega, self.meritval, self._stiff(local))
        iterations, matvecs, g, residual, self._unit, failed, status = _iterate(
            local.handles, settings.handle, local.n, local.stored, local.bodies.triples.n, local.half_step, local.step,
            self._regularisation(local), maxiter, maxmatvec, check_cohesion,
        )  # fmt: skip
        if status == TABLE_UNKNOWN:
            opened(status)
        if status == BLOCKS_WANTED:
            local.require_blocks()
            return self._iterate(local, maxiter, maxmatvec, check_cohesion)
        report = SolverReport(iterations, math.nan, g, residual, STATUS[min(status, 2)], solver="NEWTON")
        return report, matvecs, failed, status

    @staticmethod
    def _stiff(local: LocalDynamics) -> bool:
        """Whether W may have eigenvalues of very different sizes: a long quasi-static step moves elastic bodies much farther than it deforms them."""
        return local.coupled and not local.dynamic

    def _regularisation(self, local: LocalDynamics) -> float:
        """Return delta, or delta times a diagonal entry of W."""
        measure = RELATIVE_DELTAS[self.reldelta]
        if measure is None or not local.n:
            return self.delta
        return self.delta * float(measure(np.einsum("iik->ik", local.rows.diagonal[..., : local.n])))

    def factorised(self, local: LocalDynamics) -> SolverReport | None:
        """Iterate by factorising linear systems; None if a row cannot be linearised or this is too expensive."""
        self.make_room()
        self._settings.direct = 1
        report, _, _, status = self._iterate(local, self.maxiter, self.maxmatvec, True)
        return None if status in (3, UNAFFORDABLE) else report

    def make_room(self) -> None:
        """Allocate memory for the history of one solution."""
        if self._settings.merits.size < self.maxiter:
            self._settings.replace(merits=np.zeros(self.maxiter), products=np.zeros(self.maxiter, np.int32))

    def sweeps(self, unit: float) -> GaussSeidelSolver:
        """Return the solver that takes over, with the merit of this one: its `unit` of force, too, in which errors of small bodies count."""
        solver = GaussSeidelSolver(1.0, self.maxiter, self.meritval, diagepsilon=1e-9, diagmaxiter=100)
        solver.unit = unit
        return solver

    def _fall_back(self, local: LocalDynamics, failed: SolverReport, found: np.ndarray | None) -> SolverReport:
        """Solve by Gauss-Seidel from the reactions at the start of the step (docs/language-objects.md, NEWTON_SOLVER).

        Unless this succeeds, or has about as small errors, reactions `found` by the iteration are kept: sweeps hardly converge in long quasi-static steps.
        """
        report = self.sweeps(self._unit).sweep(local)
        self.fallback = report.iterations
        if found is not None and report.status != "OK" and not failed.residual * NO_BETTER >= report.residual:
            local.rows.R[:, : local.n] = found
            report = self._iterate(local, 0, 0, True)[0]
        report.iterations = failed.iterations
        report.solver = "NEWTON"
        return report


def _name(kind: int) -> str:
    known = RowKind._value2member_map_
    return f"constraints of kind {known[kind].name if kind in known else int(kind)}"

