"""The projected quasi-Newton solver (Solfec-1.0's `nts`)."""

from __future__ import annotations

import math
from copy import copy

import numpy as np

from .. import _kernels
from ..errors import NotBuiltYet
from ..kernel_programs import CONSOL, Call, Numbers, Pause, Phase, remembered
from ..tables import Noted, note_reallocation
from . import parameters
from .constraint_solver import ConstraintSolver
from .gauss_seidel import GaussSeidelSolver
from .local_dynamics import NO_ROWS, LocalDynamics, RowKind
from .report import SolverReport
from .solution import STATUS as OUTCOMES
from .solution import note_call, set_solver
from .spring_tangents import SpringTangents

STATUS = ("OK", "DIVERGED", "DIVERGED")
LINEAR_SOLVERS = ("GMRES", "DIAG")
RELATIVE_DELTAS = {"OFF": None, "avgWii": np.mean, "minWii": np.min, "maxWii": np.max}
RESTART = 20  # directions that the kernel's GMRES keeps
FIXED_VECTORS = 5  # work vectors besides two per direction
FELL_BACK = len(OUTCOMES)  # added to the number of an outcome, that of Gauss-Seidel


class NewtonSolver(ConstraintSolver):
    """Newton steps on the contact equation, projected on the friction cones, until the merit is small.

    Parameters
    ----------
    meritval : float
        Merit to reach.
    maxiter : int
        Iterations allowed.
    locdyn : bool
        True: products with W in the form it was assembled in; False: through body velocities.
    linver : str
        'GMRES' (steps solve the linearised equations roughly) or 'DIAG' (their diagonal blocks only, averaged).
    linmaxiter, epsilon : int, float
        Directions and relative accuracy of a GMRES solution.
    maxmatvec : int
        Products with W that GMRES may use in all; ``linmaxiter * maxiter`` when omitted.
    delta : float
        Diagonal regularisation of GMRES.
    theta : float
        Share of the new step in the average of 'DIAG', in (0, 1].
    omega : float
        Smoothing of the contact equation; a hundredth of `meritval` when omitted.
    gsflag : bool
        Whether Gauss-Seidel takes over, from the reactions at the start of the step, when the iteration fails.
    reldelta : str
        'OFF', or which diagonal entry of W multiplies delta: 'avgWii', 'minWii' or 'maxWii'.

    Attributes
    ----------
    iters : int
        Iterations of the last solution.
    error : str
        Outcome of the last solution: 'OK' or 'DIVERGED' (with `gsflag`, of Gauss-Seidel if it took over).
    fallback : int
        Sweeps of Gauss-Seidel in the last solution; 0 when it was not needed.
    merhist, mvhist : list
        Merit after every iteration of the last solution, and products with W so far.
    itershist : list of int or None
        Iterations of all solutions since `collect_iterations()`.
    """

    SETTINGS = (
        "meritval", "maxiter", "locdyn", "linver", "linmaxiter", "maxmatvec", "epsilon", "delta", "theta", "omega", "gsflag", "reldelta",
    )  # fmt: skip
    meritval, maxiter, locdyn, linver, linmaxiter, maxmatvec, epsilon, delta, theta, omega, gsflag, reldelta = (Noted() for _ in range(12))
    itershist = Noted()
    iters = remembered("latest", "iterations")
    settings_noted = True

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
        self.latest = Numbers(iterations="i4", status="i4")
        self._fallback = 0
        self.itershist = None
        self._merits = np.zeros(0)
        self._products = np.zeros(0, np.int32)
        self._operator = np.zeros((3, 3, 3, 0), order="F")
        self._vectors = np.zeros((3, 0, 0), order="F")

    def __copy__(self) -> NewtonSolver:
        """A solver with the same settings, and memory of its own."""
        copied = type(self).__new__(type(self))
        copied.__dict__.update(self.__dict__, latest=copy(self.latest))
        for name in ("_merits", "_products", "_operator", "_vectors"):
            setattr(copied, name, getattr(self, name).copy(order="F"))
        return copied

    @property
    def error(self) -> str:
        """Outcome of the last solution."""
        return OUTCOMES[self.latest["status"][0] % FELL_BACK]

    @property
    def fallback(self) -> int:
        """Sweeps of Gauss-Seidel in the last solution."""
        return self._fallback if self.latest["status"][0] >= FELL_BACK else 0

    @property
    def is_one_kernel(self) -> bool:
        """Whether a solution that succeeds needs no Python."""
        return self.reldelta == "OFF"

    def phase(self, model) -> Iterations:
        """The solution as a phase of the steps of a model."""
        return Iterations(self, model)

    @property
    def merhist(self) -> list[float]:
        """Merit after every iteration of the last solution."""
        return self._merits[: self.iters].tolist()

    @property
    def mvhist(self) -> list[int]:
        """Products with W made up to the end of every iteration of the last solution."""
        return self._products[: self.iters].tolist()

    @property
    def stored_form(self) -> bool | None:
        """The form of W to assemble: None leaves the choice to its cost."""
        return None if self.locdyn else False

    def collect_iterations(self) -> None:
        """Start a new record of iteration counts in `itershist`."""
        self.itershist = []

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
        """What follows the iteration, whose kernel returned `failed` and `status`; `start`: reactions before it."""
        rows, n = local.rows, local.n
        if status == 3:
            identifier = int(local.constraints.id[rows.order[failed]])
            raise NotBuiltYet(
                f"NEWTON_SOLVER for {_name(rows.kind[failed])} is not built yet in this version of solfec (constraint {identifier})"
            )
        iterations, self._fallback, kept = report.iterations, 0, self.gsflag and report.status != "OK"
        if self.itershist is not None:
            self.itershist.append(iterations)
        if kept:
            rows.R[:, :n] = start[:, :n]
            report = self._fall_back(local, report)
        self.latest.set(iterations, OUTCOMES.index(report.status) + FELL_BACK * kept)
        return report

    def _solve(self, local: LocalDynamics) -> tuple[SolverReport, int, int]:
        """All iterations; also return the row that failed and the kernel's status."""
        self.reserve(local.rows.capacity)
        report, _, failed, status = self._iterate(local, self.maxiter, self.maxmatvec, True)
        return report, failed, status

    def _solve_with_functions(self, local: LocalDynamics) -> tuple[SolverReport, int, int]:
        """Springs with Python functions are their tangents, drawn anew until the merit with the newest ones will do."""
        self.reserve(local.rows.capacity)
        springs = SpringTangents(local)
        local.velocities(local.rows.U)
        merits, products = [], []
        while True:
            springs.draw_lines()
            report, _, failed, status = self._iterate(
                local, self.maxiter - len(merits), self.maxmatvec - (products[-1] if products else 0), False
            )
            count, before = report.iterations, products[-1] if products else 0
            products += (self._products[:count] + before).tolist()
            merits += self._merits[:count].tolist()
            if status or not count:
                break
        if not status:
            report, _, failed, status = self._iterate(local, 0, 0, True)  # the end of cohesion
        springs.take_back()
        report.iterations = len(merits)
        self._merits[: len(merits)], self._products[: len(merits)] = merits, products
        return report, failed, status

    def _iterate(
        self, local: LocalDynamics, maxiter: int, maxmatvec: int, check_cohesion: bool
    ) -> tuple[SolverReport, int, int, int]:
        """Run the kernel; also return the products made, the row that failed and the kernel's status."""
        iterations, matvecs, g, residual, failed, status = _kernels.newton.iterate(
            local.n, local.stored, *_matrix_columns(local), local.bodies.triples.n, local.triples.momentum, local.half_step,
            local.step, self.linver == "DIAG", self.linmaxiter, maxmatvec, self.epsilon, self._regularisation(local),
            self.theta, self.omega, maxiter, self.meritval, check_cohesion, *self.columns(local),
        )  # fmt: skip
        report = SolverReport(iterations, math.nan, g, residual, STATUS[min(status, 2)], solver="NEWTON")
        return report, matvecs, failed, status

    def columns(self, local: LocalDynamics) -> tuple[np.ndarray, ...]:
        """Arrays that the kernel writes."""
        rows = local.rows
        return (
            rows.R, rows.U, rows.merit, rows.residual, rows.lost, self._operator, self._vectors, self._merits, self._products,
        )  # fmt: skip

    def _regularisation(self, local: LocalDynamics) -> float:
        """delta, or delta times a diagonal entry of W."""
        measure = RELATIVE_DELTAS[self.reldelta]
        if measure is None or not local.n:
            return self.delta
        return self.delta * float(measure(np.einsum("iik->ik", local.rows.diagonal[..., : local.n])))

    def reserve(self, capacity: int) -> None:
        """Work space and histories, kept from step to step."""
        if self._merits.size < self.maxiter:
            self._merits = np.zeros(self.maxiter)
            self._products = np.zeros(self.maxiter, np.int32)
            note_reallocation()
        directions = min(self.linmaxiter, RESTART) if self.linver == "GMRES" else 0
        if self._vectors.shape[1] != capacity or self._vectors.shape[2] < FIXED_VECTORS + 2 * directions:
            self._vectors = np.zeros((3, capacity, FIXED_VECTORS + 2 * directions), order="F")
            note_reallocation()
        if self._operator.shape[3] != capacity:
            self._operator = np.zeros((3, 3, 3, capacity), order="F")
            note_reallocation()

    def _fall_back(self, local: LocalDynamics, failed: SolverReport) -> SolverReport:
        """Gauss-Seidel from the reactions at the start of the step (manual, NEWTON_SOLVER)."""
        solver = GaussSeidelSolver(1.0, self.maxiter, self.meritval, diagepsilon=1e-9, diagmaxiter=100)
        report = solver.sweep(local, 0, True)
        self._fallback = report.iterations
        report.iterations = failed.iterations
        report.solver = "NEWTON"
        return report


def _name(kind: int) -> str:
    known = RowKind._value2member_map_
    return f"constraints of kind {known[kind].name if kind in known else int(kind)}"


def _matrix_columns(local: LocalDynamics) -> tuple[np.ndarray, ...]:
    rows, entries, blocks = local.rows, local.entries, local.blocks
    return (
        rows.kind, rows.driving, rows.patch, rows.block, rows.law, rows.diagonal, rows.B, rows.V,
        rows.block_ptr, blocks.column, blocks.block, rows.entry_ptr, entries.triple, entries.operator,
    )  # fmt: skip


class Iterations(Phase):
    """All iterations without Python, unless they do not lead to a solution.

    Parameters
    ----------
    solver : NewtonSolver
    model
        Has `local_dynamics`, `solution`, `clock` and `report`.
    """

    phase = CONSOL

    def __init__(self, solver: NewtonSolver, model):
        self.solver, self.model, self.local = solver, model, model.local_dynamics
        whole = dict.fromkeys(("triples", "averaged", "linmaxiter", "maxmatvec", "maxiter", "silent", "always"), "i4")
        reals = dict.fromkeys(("half_step", "step", "epsilon", "delta", "theta", "omega", "meritval"), "f8")
        self._given, self._notes, self._made = Numbers(**whole, **reals), Numbers(notable="i4"), Numbers(matvecs="i4")
        self._start = np.zeros((3, 0), order="F")

    def settle(self) -> None:
        solver, local, solution = self.solver, self.local, self.model.solution
        set_solver(self.model, "NEWTON")
        solution["error"][0], solution["fallbacks"][0] = math.nan, 0
        self._given.set(
            local.bodies.triples.n, solver.linver == "DIAG", solver.linmaxiter, solver.maxmatvec, solver.maxiter, False,
            solver.itershist is not None, local.half_step, local.step, solver.epsilon, solver.delta, solver.theta, solver.omega,
            solver.meritval,
        )  # fmt: skip

    def calls(self) -> list[Call]:
        solver, local, given, solution = self.solver, self.local, self._given, self.model.solution
        rows, left, stored = local.rows, local.constraints.counts["left"], local.assembly[-1].results["stored"]
        solver.reserve(rows.capacity)  # rows may be enlarged in the midst of a step
        if self._start.shape[1] != rows.capacity:
            self._start = np.zeros((3, rows.capacity), order="F")
        keep = [Call("solution_notes.copy_columns", left, rows.R, self._start)] if solver.gsflag else []
        iterate = Call(
            "newton.iterate", left, stored, *_matrix_columns(local), given["triples"], local.triples.momentum, given["half_step"],
            given["step"], given["averaged"], given["linmaxiter"], given["maxmatvec"], given["epsilon"], given["delta"],
            given["theta"], given["omega"], given["maxiter"], given["meritval"], 1, *solver.columns(local),
            results=(solution, self._made), wanted={"status": 0},
        )  # fmt: skip
        note = note_call(self.model, solver.latest, given["silent"], given["always"], self._notes, math.inf)
        self._last = len(keep) + 3
        return [*keep, iterate, note, Pause(self._notes["notable"])]

    def stopped(self, call: int) -> int:
        """The solution failed, or a record of iterations is kept."""
        solution = self.model.solution
        failed, status = solution["failed"].item(), solution["status"].item()
        solution["status"][0] = min(status, 1)
        report = solution.report()
        self.model.report = self.solver.finish(self.local, report, failed, status, self._start)
        return self._last
