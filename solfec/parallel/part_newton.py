"""The projected quasi-Newton solver over the parts of a model: every process has the rows on its bodies, and products with W exchange momenta."""

from __future__ import annotations

import math

import numpy as np

from .. import _kernels
from ..kinds import RowKind
from ..solvers.gauss_seidel import GaussSeidelSolver
from ..solvers.newton import NewtonSolver
from ..solvers.report import SolverReport
from ..tables import opened
from .colour_messages import ColourMessages
from .gathered_solver import GatheredSolver
from .part import Part
from .part_sweeps import NO_ROWS, UNBOUNDED, measured

#: Rows above which processes share a solution; below, messages cost more than one process that solves for all of them.
SHARED_FROM = 2000
# As in fortran/solvers/newton.f90, which explains them:
RESTART, PATIENCE, LIFT, REDUNDANCY, BREAKDOWN, BEYOND_MEASURE = 20, 100, 1e-3, 1e-6, 1e-8, 1e6
KEPT = 0.1  # part of a product's norm that must stay when it is made orthogonal to the basis, or round-off counts and it is made so again
RHO = 14  # row of the inverse of W's largest eigenvalue in `block` (b_rho of fortran/rows/diagonal_block.f90)

_soften = _kernels.part_newton.soften_rows
_linearise = _kernels.part_newton.linearise_rows
_spread = _kernels.part_newton.spread_rows
_multiply = _kernels.part_newton.multiply_rows
_multiply_with_messages = _kernels.part_newton.multiply_with_messages
_precondition = _kernels.part_newton.precondition_rows
_step = _kernels.part_newton.step_rows
_find_velocities = _kernels.part_sweeps.find_part_velocities
_finish = _kernels.part_sweeps.finish_parts
_peels = _kernels.newton.peels


class PartNewton(GatheredSolver):
    """NEWTON_SOLVER: all processes solve together for the reactions of many contacts; one process does where there are few, or other constraints.

    Results agree with those of a serial run to the accuracy of the solver: sums over rows depend on the number of processes.

    Parameters
    ----------
    part, settings, told, whole
        As in GatheredSolver.
    """

    given: NewtonSolver

    def __init__(self, part: Part, settings: NewtonSolver, told: set[str], whole):
        super().__init__(part, settings, told, whole)
        self.stored_form = self.stored_form or settings.stored_form
        self._momenta: tuple[int, ColourMessages | None] = -1, None  # arrangement of the part, and messages of a product

    def messages(self) -> ColourMessages | None:
        """Return the messages of a product with W, which stay while the part holds the same bodies; None: `Communicator.exchange` makes them."""
        if self._momenta[0] != self.part.arrangement:
            found = ColourMessages.between(self.part.world, [NO_ROWS], np.zeros(0, bool), [self.everything]) if any(self.everything) else None
            self._momenta = self.part.arrangement, found
        return self._momenta[1]

    def solve(self, local) -> SolverReport:
        """Compute reactions and velocities of the rows on own bodies."""
        self._regard_all(local)
        self._find_rows(local)
        if self._is_shared(local):
            report = self._solve_in_parts(local)
        else:
            report = self._solve_together(local)
        self._leave_to_others(local)
        return report

    def _is_shared(self, local) -> bool:
        """Whether all rows are contacts, of laws that need no factors, and many."""
        world, given = self.part.world, self.given
        softening, status = _peels(local.handles, local.n)
        opened(status)
        most = world.largest(np.array([local.n > local.contacts, self.whole.constraints.user_count > 0, softening], float))
        many = world.total(np.array([self.counted.size], np.int64))[0] > SHARED_FROM
        return bool(many) and not most.any() and given.reldelta == "OFF"

    def _solve_in_parts(self, local) -> SolverReport:
        """Solve for all reactions, each process for the rows that it holds; fall back to sweeps as a serial run does."""
        given, rows, start = self.given, local.rows, local.rows.R[:, : local.n].copy()
        iteration = NewtonInParts(self, local)
        report = iteration.run()
        iterations = report.iterations
        fallback = 0
        if given.gsflag and report.status != "OK":
            rows.R[:, : local.n] = start
            sweeps = GaussSeidelSolver(1.0, given.maxiter, given.meritval, diagepsilon=1e-9, diagmaxiter=100)
            self._choose_rows(local, 0, None)
            report = self._iterate(local, sweeps)
            fallback, report.iterations, report.solver = report.iterations, iterations, "NEWTON"
        else:
            opened(_finish(local.handles, local.n))
        history = None if given.itershist is None else [*given.itershist, iterations]
        given.take_outcome(
            {"iters": iterations, "fallback": fallback, "error": report.status, "itershist": history, "merits": iteration.merits, "products": iteration.products}
        )
        return report


class NewtonInParts:
    """One solution.

    Parameters
    ----------
    solver : PartNewton
    local : LocalDynamics

    Attributes
    ----------
    merits, products : list
        Merit after every iteration, and products with W so far.
    """

    def __init__(self, solver: PartNewton, local):
        self.part, self.given, self.local, self.everything = solver.part, solver.given, local, solver.everything
        self.world, self.counted, self.messages = solver.part.world, solver.counted, solver.messages()
        copied, shared = (marks[solver.held] for marks in (solver.copied_rows(), solver.shared_rows()))
        self.rows = solver.held[np.argsort(np.where(copied, 0, np.where(shared, 1, 2)), kind="stable")]
        self.copied, self.shared = int(np.count_nonzero(copied)), int(np.count_nonzero(shared))
        self.places = NO_ROWS
        if local.stored:
            self.places = np.zeros(local.n, np.int32)
            self.places[self.rows] = np.arange(self.rows.size)
        size = self.rows.size
        self.counts = np.repeat(np.isin(self.rows, self.counted), 3).astype(float)  # others count the other rows
        self.operator = np.zeros((3, 3, 3, size), order="F")
        self.rhs, self.change, self.product = (np.zeros((size, 3)) for _ in range(3))
        directions = min(self.given.linmaxiter, RESTART)
        self.basis, self.directions = np.zeros((directions + 1, 3 * size)), np.zeros((directions, size, 3))
        self.merits: list[float] = []
        self.products: list[int] = []
        self.made = 0

    def run(self) -> SolverReport:
        """Take steps until the merit is small enough, and return how it went."""
        local, given = self.local, self.given
        failed, status = _soften(local.handles, local.n, local.half_step, local.step)
        opened(status)
        self.unit, mean = self._scales()
        merit, residual = self._measure()
        if merit >= 0.5 * UNBOUNDED:  # there is no velocity to stop, so reactions of the last step are no good start
            local.rows.R[:, : local.n] = 0.0
            merit, residual = self._measure()
        averaged = given.linver == "DIAG"
        added, halved, since = given.delta, merit, 0
        while len(self.merits) < given.maxiter and merit > given.meritval and math.isfinite(merit):
            if not averaged and self.made >= given.maxmatvec or not self._linearise(0.0 if averaged else added):
                break
            if averaged:
                self._average()
            else:
                self._krylov_step()
            before, start = merit, local.rows.R[:, self.rows].copy()
            self._step()
            merit, residual = self._measure()
            if merit > BEYOND_MEASURE * max(before, 1.0) and not averaged:  # along reactions that cause no motion
                local.rows.R[:, self.rows] = start
                self.change[:] = 0.0
                merit, residual = self._measure()
                added = max(10.0 * added, REDUNDANCY * mean)
            self.merits.append(merit)
            self.products.append(self.made)
            since += 1
            if merit <= 0.5 * halved:
                halved, since = merit, 0
            elif since >= PATIENCE and not averaged:
                added = max(added, LIFT * mean)
        status = "OK" if merit <= given.meritval else "DIVERGED"
        return SolverReport(len(self.merits), math.nan, merit, residual, status, solver="NEWTON")

    def _scales(self) -> tuple[float, float]:
        """Return the unit of force (unit_of_force of fortran/solvers/newton.f90), and the mean of the diagonal entries of W."""
        rows, counted = self.local.rows, self.counted
        contacts = counted[rows.kind[counted] == RowKind.CONTACT]
        velocity, count, diagonal, entries = self.world.total(
            np.array([(1.0 / rows.block[RHO, contacts]).sum(), contacts.size, np.einsum("iik->", rows.diagonal[..., counted]), 3 * counted.size])
        )
        return float(count / velocity if velocity > count else 1.0), float(diagonal / max(entries, 1.0))

    def _measure(self) -> tuple[float, float]:
        """Compute velocities from reactions; return merit and residual of all rows."""
        local = self.local
        self._spread(local.rows.R[:, self.rows])
        opened(_find_velocities(local.handles, local.n))
        return measured(local, self.counted, self.part.driven.size > 0, False, self.world, self.unit)

    def _spread(self, x: np.ndarray) -> None:
        """Compute the momenta of reactions x (3, n); copies get those of their owners."""
        triples = self.local.triples.momentum
        opened(_spread(self.local.handles, self.rows, np.asfortranarray(x), self.part.model.bodies.triples.n))
        self.part.copy_columns(triples, *self.everything)

    def _linearise(self, added: float) -> bool:
        """Linearise the contact equation; return whether no diagonal block is singular in any process."""
        local = self.local
        failed, status = _linearise(local.handles, self.rows, added, self.unit, local.half_step, self.given.omega, self.operator, self.rhs.T)
        opened(status)
        return self.world.largest(np.array([float(failed >= 0)]))[0] == 0.0

    def _average(self) -> None:
        """Compute dR = (1 - theta) dR + theta T^-1 rhs."""
        _precondition(self.operator, self.rhs.T, self.product.T)
        self.change += self.given.theta * (self.product - self.change)

    def _step(self) -> None:
        """Compute R = P(R + dR)."""
        opened(_step(self.local.handles, self.rows, self.change.T))

    def _apply(self, x: np.ndarray) -> np.ndarray:
        """Return X W x + Y x as one row of numbers; the next call overwrites it."""
        if self.messages:
            triples = self.part.model.bodies.triples.n
            given = self.copied, self.shared, triples, self.places, self.rows, self.operator, x.T, self.product.T
            self.messages.complete(lambda handle: opened(_multiply_with_messages(self.local.handles, handle, *given)), self.world)
        else:
            self._spread(x.T)
            opened(_multiply(self.local.handles, self.rows, self.operator, x.T, self.product.T))
        self.made += 1
        return self.product.ravel()

    def _dots(self, vectors: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Return the products of vectors (k, 3 n) and x over the rows of all processes."""
        return self.world.total(vectors @ (self.counts * x))

    def _norm(self, x: np.ndarray) -> float:
        """Return the norm over the rows of all processes."""
        return math.sqrt(self._dots(x[None], x)[0])

    def _krylov_step(self) -> None:
        """Solve for dR by flexible GMRES, right-preconditioned by the diagonal blocks, from the last dR (krylov_step of fortran/solvers/newton.f90)."""
        given, rhs = self.given, self.rhs.ravel()
        target, made = given.epsilon * self._norm(rhs), 0
        while True:
            residual = rhs - self._apply(self.change)
            length = self._norm(residual)
            if not length > 0.0 or made >= given.linmaxiter or 0 < made and length <= target:
                return
            room = min(RESTART, given.linmaxiter - made)
            used, steps, weights = self._cycle(residual / length, length, room, target)
            self.change += np.tensordot(weights, self.directions[:used], 1)
            made += steps
            if made >= given.linmaxiter or used < room:
                return

    def _cycle(self, first: np.ndarray, length: float, room: int, target: float) -> tuple[int, int, np.ndarray]:
        """Make directions until the residual is at most `target`; return how many count, how many there are, and their weights."""
        triangle, rotations, right = np.zeros((room + 1, room)), np.zeros((room, 2)), np.zeros(room + 1)
        right[0], largest, used = length, 0.0, 0
        self.basis[0] = first
        for j in range(room):
            _precondition(self.operator, self.basis[j].reshape(-1, 3).T, self.directions[j].T)
            product, length = self._orthogonal(j, self._apply(self.directions[j]), triangle[:, j])
            _rotate(j, rotations, triangle[:, j], right)
            largest = max(largest, abs(triangle[j, j]))
            if not abs(triangle[j, j]) > BREAKDOWN * largest:  # along reactions that cause no motion
                break
            used = j + 1
            if not length > 0.0 or abs(right[used]) <= target:
                break
            product /= length  # in the memory of the basis
        weights = np.linalg.solve(np.triu(triangle[:used, :used]), right[:used]) if used else np.zeros(0)
        return used, j + 1, weights

    def _orthogonal(self, j: int, product: np.ndarray, column: np.ndarray) -> tuple[np.ndarray, float]:
        """Make a product orthogonal to the basis; return it and its norm, and write the coefficients.

        Classical Gram-Schmidt, made twice where round-off counts: one sum over all processes, or two; the modified one takes j + 2 of them.
        """
        basis = self.basis[: j + 1]
        self.basis[j + 1], product = product, self.basis[j + 1]
        column[: j + 1], square = 0.0, np.inf
        for _ in range(2):
            *parts, whole = self._dots(self.basis[: j + 2], product)
            column[: j + 1] += parts
            product -= np.array(parts) @ basis
            square = max(whole - float(np.dot(parts, parts)), 0.0)
            if square > KEPT**2 * whole:
                break
        column[j + 1] = math.sqrt(square)
        return product, column[j + 1]


def _rotate(j: int, rotations: np.ndarray, column: np.ndarray, right: np.ndarray) -> None:
    """Apply the earlier rotations to column j, add one that removes its last entry, and apply that to the right-hand side."""
    for i in range(j):
        cosine, sine = rotations[i]
        column[i], column[i + 1] = cosine * column[i] + sine * column[i + 1], cosine * column[i + 1] - sine * column[i]
    length = math.hypot(column[j], column[j + 1])
    rotations[j] = (column[j] / length, column[j + 1] / length) if length > 0.0 else (1.0, 0.0)
    column[j], column[j + 1] = length, 0.0
    right[j], right[j + 1] = rotations[j, 0] * right[j], -rotations[j, 1] * right[j]
