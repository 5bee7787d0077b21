"""The block Gauss-Seidel solver (Solfec-1.0's `bgs`)."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from enum import IntEnum

import numpy as np

from .. import _kernels
from ..errors import SolfecWarning
from ..tables import TABLE_UNKNOWN, Record, opened
from . import diagnosis, merit, parameters
from .constraint_solver import ConstraintSolver
from .local_dynamics import NO_ROWS, LocalDynamics
from .other_processes import NO_OTHERS
from .report import STATUS, SolverReport
from .spring_functions import SpringFunctions

_sweep_rows = _kernels.gauss_seidel.iterate

SUSPICIOUS = 1e-2  # residual above which a solution whose reactions changed little counts as unsolved: they may be growing slowly
PEELING = "; bonds soften that their neighbours hold, which sweeps cannot follow: use NEWTON_SOLVER or AUTO_SOLVER"
NO_LANES = np.zeros(4, np.longlong)
FAILURE_POLICIES = ("CONTINUE", "EXIT", "CALLBACK")
COLOURINGS = ("AUTO", "ON", "OFF")
VARIANTS = ("FULL", "RANK_COLOURS", "MIDDLE_JACOBI", "SPLIT", "BOUNDARY_JACOBI")


def warn(text: str) -> None:
    """Issue a Python warning."""
    warnings.warn(text, SolfecWarning, stacklevel=2)


class SweepSettings(Record):
    """Options and history of sweeps, for the kernel."""

    COLUMNS = {
        "errors": ((), "f8"),  # by sweep: relative change of the reactions
        "merits": ((), "f8"),  # and merit, 0 if it is not evaluated
    }
    NUMBERS = {
        "solver": "i4",  # DiagonalSolver
        "tolerance": "f8",  # accuracy of the block solver
        "bound": "i4",  # largest number of its iterations
        "reverse": "i4",  # 1: odd sweeps run backwards, 2: all do
        "epsilon": "f8",  # largest relative change that ends sweeps
        "maxiter": "i4",  # largest number of sweeps
        "meritval": "f8",  # largest merit that ends them; 1 or more: any
        "unit": "f8",  # of force, in which the merit adds reactions to velocities
    }


class DiagonalSolver(IntEnum):
    """Block solvers of contacts (docs/language-objects.md, GAUSS_SEIDEL_SOLVER.diagsolver)."""

    SEMISMOOTH_NEWTON = 0
    PROJECTED_GRADIENT = 1
    DE_SAXCE_FENG = 2
    PROJECTED_NEWTON = 3


class GaussSeidelSolver(ConstraintSolver):
    """Sweeps over the rows, each solved with the newest reactions of its neighbours, until reactions stop changing.

    Parameters
    ----------
    epsilon : float
        Relative change of the reactions in one sweep, |dR|/|R|, at which sweeps end.
    maxiter : int
        Sweeps allowed.
    meritval : float
        Merit that must be reached, too; if 1 or more, the merit is not evaluated in the sweeps.
    failure : str
        Policy for a failed solution: 'CONTINUE', 'EXIT' (RuntimeError) or 'CALLBACK'.
    diagepsilon, diagmaxiter : float, int
        Accuracy of the block solver and largest number of its iterations; by default derived from `epsilon` and `maxiter`.
    diagsolver : str
        'SEMISMOOTH_NEWTON', 'PROJECTED_GRADIENT', 'DE_SAXCE_FENG' or 'PROJECTED_NEWTON'.
    callback : callable
        Under the policy 'CALLBACK', called with the solver after a failure; if it returns 0, the program ends.

    Attributes
    ----------
    reverse : bool
        True: every other sweep runs backwards.
    colouring : str
        'ON': contacts are swept by colours, on all cores; 'OFF': one after another, in the order of their keys;
        'AUTO': by colours in models of more than 2000 constraints.
    variant, innerloops : str, int
        How several processes sweep together (solfec/parallel/sweep_stages.py), and how often each sweeps before it exchanges.
    unit : float
        Unit of force in which the merit adds reactions to velocities: 1, that of the model; NEWTON_SOLVER, which falls back on sweeps, may have
        a smaller one.
    error : str
        Outcome of the last solution: 'OK', 'DIVERGED', 'DIAGONAL_DIVERGED' or 'DIAGONAL_FAILED'.
    iters : int
        Sweeps of the last solution.
    rerhist, merhist : list of float
        Relative change and merit after every sweep of the last solution.
    itershist : list of int or None
        Sweeps of all solutions since it was set to an empty list; None: they are not recorded.
    notify : callable
        Receives warnings.
    """

    SETTINGS = ("epsilon", "maxiter", "meritval", "failure", "diagepsilon", "diagmaxiter", "diagsolver", "reverse", "colouring", "variant", "innerloops")  # kept with results
    OUTCOME = ("_errors", "_merits")
    names_contradictions = rolling = ends_by_sums = True

    def __init__(
        self,
        epsilon: float,
        maxiter: int,
        meritval: float = 1.0,
        failure: str = "CONTINUE",
        diagepsilon: float | None = None,
        diagmaxiter: int | None = None,
        diagsolver: str = "SEMISMOOTH_NEWTON",
        callback: Callable | None = None,
    ):
        parameters.positive(epsilon=epsilon, maxiter=maxiter, meritval=meritval)
        parameters.one_of(FAILURE_POLICIES, failure=failure)
        if failure == "CALLBACK" and callback is None:
            raise ValueError("failure 'CALLBACK' needs a callback")
        self.epsilon = float(epsilon)
        self.maxiter = int(maxiter)
        self.meritval = float(meritval)
        self.failure = failure
        self.callback = callback
        if diagepsilon is None:
            diagepsilon = max(np.finfo(float).eps, 0.01 * min(epsilon, meritval, 1e-4))
        if diagmaxiter is None:
            diagmaxiter = max(100, int(maxiter) // 100)
        self.diagepsilon = float(diagepsilon)
        self.diagmaxiter = int(diagmaxiter)
        self.diagsolver = diagsolver
        self.reverse = False
        self.colouring = "AUTO"
        self.variant = "FULL"
        self.innerloops = 1
        self.unit = 1.0
        self.iters = 0
        self.error = "OK"
        self.itershist = None
        self.notify: Callable[[str], None] = warn
        self._contradictions = diagnosis.Contradictions()
        self._settings = SweepSettings()
        self._errors = self._merits = np.zeros(0)

    def __copy__(self) -> GaussSeidelSolver:
        """Return a solver with the same settings, and its own memory."""
        copied = type(self).__new__(type(self))
        copied.__dict__.update(self.__dict__, _contradictions=diagnosis.Contradictions(), _settings=SweepSettings())
        copied._errors, copied._merits = self._errors.copy(), self._merits.copy()
        return copied

    @property
    def diagsolver(self) -> str:
        """Block solver of contacts, a name in `DiagonalSolver`."""
        return DiagonalSolver(self.diagonal_solver).name

    @diagsolver.setter
    def diagsolver(self, name: str) -> None:
        parameters.one_of(DiagonalSolver.__members__, diagsolver=name)
        self.diagonal_solver = int(DiagonalSolver[name])

    @property
    def rerhist(self) -> list[float]:
        """Relative change of the reactions after every sweep of the last solution."""
        return self._errors[: self.iters].tolist()

    @property
    def merhist(self) -> list[float]:
        """Merit after every sweep of the last solution (zeros when it was not evaluated)."""
        return self._merits[: self.iters].tolist()

    def solve(self, local: LocalDynamics) -> SolverReport:
        """Solve for the reactions of assembled local dynamics; R and U are left in `local.rows`.

        Raises
        ------
        RuntimeError
            The solution failed and the policy is 'EXIT'.
        SystemExit
            The callback of the 'CALLBACK' policy returned 0.
        """
        report = self.solve_alone(local)
        self.explain(local, report)
        self.take(local, report)
        return report

    @staticmethod
    def explain(local: LocalDynamics, report: SolverReport) -> None:
        """Give the report of a solution that failed the cause that sweeps cannot follow bonds, if these rows show it and no other is known."""
        if report.status != "OK" and not report.cause and local.peels():
            report.cause = PEELING

    def take(
        self, local: LocalDynamics, report: SolverReport, agreed: Callable[[str], str] = str, reason: Callable[..., str] = diagnosis.reason
    ) -> None:
        """Record the outcome of a solution, apply the failure policy, and warn of contradictions.

        `agreed` returns the contradiction to warn of ('': none), from the one that these rows show; `reason` what to say of a solution that failed.
        """
        self.error = report.status
        self.iters = report.iterations
        if self.itershist is not None:
            self.itershist.append(self.iters)
        if report.status != "OK":
            self._fail(local, report, agreed, reason)
        elif report.residual > SUSPICIOUS:
            self._warn_of_contradiction(local, agreed)

    def solve_alone(self, local: LocalDynamics) -> SolverReport:
        """Solve without recording the outcome (`take`); derived classes with other options replace this method."""
        return self.sweep(local)

    def sweep(self, local: LocalDynamics) -> SolverReport:
        """Sweep all rows; apply no failure policy."""
        self.make_room()
        if local.held is not NO_ROWS:
            return self._sweep_with_functions(local)
        return self._iterate(local, self.maxiter, int(self.reverse))

    def conclude(self, local: LocalDynamics) -> SolverReport:
        """Compute velocities, the end of cohesion, merit and residual from the reactions of another solver in `local.rows`."""
        report = self._iterate(local, 0, 0)  # no sweep
        if local.held is not NO_ROWS and local.others is NO_OTHERS:  # others, of which some hold no rows, measure all together
            report.merit, report.residual = merit.evaluate(local)
        return report

    def make_room(self) -> None:
        """Allocate memory for the history of one solution."""
        if self._settings.errors.size < self.maxiter:
            self._settings.replace(errors=np.zeros(self.maxiter), merits=np.zeros(self.maxiter))

    def record(self, sweep: int, error: float, merit: float) -> None:
        """Record relative change and merit after a sweep that another module has made; `make_room` comes first."""
        settings = self._settings
        settings.errors[sweep], settings.merits[sweep] = error, merit
        self._errors, self._merits = settings.errors, settings.merits

    def sweep_settings(self, maxiter: int, reverse: int) -> SweepSettings:
        """Return options and room for the history of one solution, for kernels; `make_room` comes first."""
        settings = self._settings
        settings.choose(self.diagonal_solver, self.diagepsilon, self.diagmaxiter, reverse, self.epsilon, maxiter, self.meritval, self.unit)
        self._errors, self._merits = settings.errors, settings.merits
        return settings

    def _iterate(self, local: LocalDynamics, maxiter: int, reverse: int) -> SolverReport:
        """Call the kernel once; with `reverse` 2 all sweeps run backwards."""
        settings = self.sweep_settings(maxiter, reverse)
        beside = local.colours and not local.stored and maxiter > 1  # a single sweep takes less time than arranging its rows
        lanes = self._in_lanes(local) if beside else NO_LANES
        fallbacks, iterations, error, g, residual, failed, status = _sweep_rows(
            local.handles, lanes, settings.handle, local.n, local.stored, local.bodies.triples.n, local.colours, local.colour_ptr,
            local.half_step, local.step,
        )  # fmt: skip
        if status == TABLE_UNKNOWN:
            opened(status)
        return SolverReport(iterations, error, g, residual, STATUS[status], fallbacks, failed_row=failed)

    def _in_lanes(self, local: LocalDynamics) -> np.ndarray:
        """Arrange the rows of colours for visits side by side; return handles."""
        parts = local.rows.chunk_ptr[local.colour_ptr[: local.colours + 1]]
        row = np.arange(parts[-1], dtype=np.int32)
        local.arranged.arrange(local, row, local.rows.group_ptr[: local.contacts + 1], parts, row, self.diagonal_solver, self.meritval >= 1.0)
        return local.arranged.handles

    def _sweep_with_functions(self, local: LocalDynamics) -> SolverReport:
        """Alternate sweeps of the kernel with visits to the springs of Python functions."""
        springs = SpringFunctions(local)
        errors, merits = np.zeros(self.maxiter), np.zeros(self.maxiter)
        report, fallbacks = None, 0
        for k in range(self.maxiter):
            report = self._iterate(local, 1, 2 if self.reverse and k % 2 else 0)
            fallbacks += report.fallbacks
            change = springs.visit()
            counted = local.rows.driving[: local.n] == 0
            size = float((local.rows.R[:, : local.n][:, counted] ** 2).sum())
            report.error = math.sqrt(report.error**2 + change / (size or 1.0))
            errors[k], merits[k] = report.error, report.merit if self.meritval < 1.0 else 0.0
            converged = report.error <= self.epsilon and report.status == "OK"
            if converged or not math.isfinite(report.error):
                break
        if report.status == "OK" and not converged:
            report.status = "DIVERGED"
        local.velocities(local.rows.U)
        report.merit, report.residual = merit.evaluate(local)
        self._errors, self._merits = errors, merits
        report.iterations, report.fallbacks = k + 1, fallbacks
        return report

    def _fail(self, local: LocalDynamics, report: SolverReport, agreed: Callable[[str], str], reason: Callable[..., str]) -> None:
        if self.failure == "EXIT":
            raise RuntimeError(f"GAUSS_SEIDEL_SOLVER failed with error code {self.error}: {reason(local, report)}")
        self._warn_of_contradiction(local, agreed)
        if self.failure == "CALLBACK" and self.callback(self) == 0:
            raise SystemExit(0)

    def _warn_of_contradiction(self, local: LocalDynamics, agreed: Callable[[str], str]) -> None:
        """Warn, once per set of constraints, if they contradict one another: their reactions grow without bound."""
        fault = agreed(self._contradictions.new(local))
        if fault:
            self.notify(f"GAUSS_SEIDEL_SOLVER: {fault}")
