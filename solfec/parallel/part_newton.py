"""The projected quasi-Newton solver over the parts of a model: every process has the rows on its bodies, and products with W exchange momenta or velocities."""

from __future__ import annotations

import math

import numpy as np

from .. import _kernels
from ..kinds import RowKind
from ..solvers.newton import NewtonSolver
from ..solvers.report import SolverReport
from ..tables import Record, opened, pointers_of, ranges
from .colour_messages import ColourMessages, Plan
from .gathered_solver import GatheredSolver
from .measures import UNBOUNDED, measured
from .part import Part
from .part_sweeps import NO_ROWS
from .reductions import Operation, Reduction

#: Rows above which processes share a solution; below, messages cost more than one process that solves for all of them.
SHARED_FROM = 2000
# As in fortran/solvers/newton.f90, which explains them:
RESTART, PATIENCE, LIFT, REDUNDANCY, BEYOND_MEASURE = 20, 100, 1e-3, 1e-6, 1e6
BLOCKS = ("own_ptr", "own", "common_ptr", "common", "part")  # columns of KrylovCourse for coupled rows
RHO = 14  # row of the inverse of W's largest eigenvalue in `block` (b_rho of fortran/rows/diagonal_block.f90)

_soften = _kernels.part_newton.soften_rows
_linearise = _kernels.part_newton.linearise_rows
_spread = _kernels.part_newton.spread_rows
_solve_linear = _kernels.part_newton.solve_linear
_precondition = _kernels.part_newton.precondition_rows
_step = _kernels.part_newton.step_rows
_multiply_rows = _kernels.part_newton.multiply_rows
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
        self._at_hand: tuple[Plan, ColourMessages] | None = None  # columns of a product's messages, and these
        self.dots = Reduction.of(part.world, [Operation.SUM] * (RESTART + 2))

    def momenta(self, between: dict[int, np.ndarray]) -> Plan:
        """Return the triples of bodies on which rows between two processes act, whose momenta they exchange."""
        part, (first, width) = self.part, self.part.spans["velo"]
        plan: Plan = {}, {}
        for rank, rows in between.items():
            for side, listed in zip(plan, (part.sent.get(rank, NO_ROWS), part.received.get(rank, NO_ROWS))):
                bodies = listed[np.isin(listed, self.ends[:, rows])]
                if bodies.size:
                    side[rank] = ranges(first[bodies], width[bodies])
        return plan

    def messages(self, plan: Plan) -> ColourMessages:
        """Return the messages of a product with W, which stay while their columns do."""
        if self._at_hand is None or not _same(self._at_hand[0], plan):
            self._at_hand = plan, ColourMessages.between(self.part.world, [NO_ROWS], np.zeros(0, bool), [plan], NO_ROWS)
        return self._at_hand[1]

    def solve(self, local) -> SolverReport:
        """Compute reactions and velocities of the rows on own bodies."""
        self._regard_all(local)
        self._find_rows(local)
        if self._is_shared(local):
            report = self._solve_in_parts(local, self._is_coupled(local))
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

    def _is_coupled(self, local) -> bool:
        """Whether implicit bodies couple rows in any process."""
        return self._implicit and bool(self.part.world.largest(np.array([float(local.coupled)]))[0])

    def _solve_in_parts(self, local, coupled: bool) -> SolverReport:
        """Solve for all reactions, each process for the rows that it holds; fall back to sweeps as a serial run does."""
        given, rows, start = self.given, local.rows, local.rows.R[:, : local.n].copy()
        iteration = (NewtonByBlocks if coupled else NewtonInParts)(self, local)
        report = iteration.run()
        iterations = report.iterations
        fallback = 0
        if given.gsflag and report.status != "OK":
            rows.R[:, : local.n] = start
            if coupled:
                return self._solve_together(local)
            self._choose_rows(0, None)
            report = self._iterate(local, given.sweeps(iteration.unit))
            fallback, report.iterations, report.solver = report.iterations, iterations, "NEWTON"
        else:
            opened(_finish(local.handles, local.n))
        history = None if given.itershist is None else [*given.itershist, iterations]
        given.take_outcome(
            {"iters": iterations, "fallback": fallback, "error": report.status, "itershist": history, "merits": iteration.merits, "products": iteration.products}
        )
        return report


def _same(one: Plan, two: Plan) -> bool:
    """Whether two plans list the same triples for the same processes."""
    return all(a.keys() == b.keys() and all(np.array_equal(a[rank], b[rank]) for rank in a) for a, b in zip(one, two))


class KrylovCourse(Record):
    """Linear problems of one solution: their rows, operators and vectors, and what a later call of the kernel needs."""

    COLUMNS = {
        "listed": ((), "i4"),  # rows: on copies, on other bodies that several processes hold, all others
        "place": ((), "i4"),  # of each row among them; empty if W is not stored
        "own_ptr": ((), "i4"),  # of rows on copies, if implicit bodies couple rows: start of their blocks of W that own bodies alone make,
        "own": ((), "i4"),  # and these blocks
        "common_ptr": ((), "i4"),  # likewise those of rows on the same two bodies
        "common": ((), "i4"),
        "part": ((3,), "f8"),  # of a product, what own bodies make of rows on copies; behind these, what bodies of others make
        "counted": ((), "f8"),  # 1: this process counts the row, 0: another one does
        "operator": ((3, 3, 3), "f8"),  # X, Y, T^-1 of each
        "rhs": ((3,), "f8"),
        "change": ((3,), "f8"),  # the solution dR
        "product": ((3,), "f8"),
        "basis": ((3,), "f8"),  # vectors one behind another
        "direction": ((3,), "f8"),
        "triangle": ((21,), "f8"),  # upper Hessenberg matrix, made triangular by rotations
        "cosine": ((), "f8"),
        "sine": ((), "f8"),
        "right": ((), "f8"),  # rotated right-hand side of the small problem
    }
    NUMBERS = {
        "size": "i4",  # rows
        "copied": "i4",  # of them on copies,
        "shared": "i4",  # and on bodies that several processes hold
        "triples": "i4",  # velocity triples of bodies
        "coupled": "i4",  # 1: implicit bodies couple rows
        "epsilon": "f8",  # accuracy
        "most": "i4",  # largest number of directions
        "phase": "i4",  # 0: at the beginning
        "column": "i4",  # of the triangle
        "pass": "i4",  # of Gram-Schmidt
        "used": "i4",  # columns that count
        "made": "i4",  # directions in earlier cycles
        "products": "i4",  # with W, of all problems
        "target": "f8",  # length of the residual that ends a problem
        "largest": "f8",  # entry on the diagonal
    }


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

    coupled = False  # whether implicit bodies couple rows

    def __init__(self, solver: PartNewton, local):
        self.part, self.given, self.local = solver.part, solver.given, local
        self.between = solver.rows_between(solver.held)
        self.world, self.counted, self.ends = solver.part.world, solver.counted, solver.ends
        copied, shared = (marks[solver.held] for marks in (solver.copied_rows(), solver.shared_rows(self.between)))
        self.rows = solver.held[np.argsort(np.where(copied, 0, np.where(shared, 1, 2)), kind="stable")]
        self.copied, self.shared = int(np.count_nonzero(copied)), int(np.count_nonzero(shared))
        self.plan = self._plan(solver)
        self.messages = solver.messages(self.plan)
        self.places = NO_ROWS
        if local.stored:
            self.places = np.zeros(local.n, np.int32)
            self.places[self.rows] = np.arange(self.rows.size)
        self.dots, self.linear = solver.dots, self._linear_problem()
        self.merits: list[float] = []
        self.products: list[int] = []

    def _plan(self, solver: PartNewton) -> Plan:
        """Return what a product exchanges."""
        return solver.momenta(self.between)

    def _linear_problem(self) -> KrylovCourse:
        """Return the linear problem of all steps, without numbers yet."""
        size, given = self.rows.size, self.given
        directions = max(min(given.linmaxiter, RESTART), 1)
        vectors = {name: np.zeros((3, size), order="F") for name in ("rhs", "change", "product")}
        problem = KrylovCourse(
            listed=self.rows, place=self.places, counted=np.isin(self.rows, self.counted).astype(float), operator=np.zeros((3, 3, 3, size), order="F"), **vectors,
            basis=np.empty((3, directions * size), order="F"), direction=np.empty((3, directions * size), order="F"),
            triangle=np.zeros((RESTART + 1, RESTART), order="F"), cosine=np.zeros(RESTART), sine=np.zeros(RESTART), right=np.zeros(RESTART + 1),
            **self._blocks(),
        )  # fmt: skip
        problem.size, problem.copied, problem.shared, problem.triples = size, self.copied, self.shared, self.part.model.bodies.triples.n
        problem.epsilon, problem.most, problem.coupled = given.epsilon, given.linmaxiter, int(self.coupled)
        return problem

    def _blocks(self) -> dict[str, np.ndarray]:
        """Return the columns of the linear problem about blocks of W that products treat one by one: there are none."""
        return {name: np.zeros((3, 0) if name == "part" else 0, KrylovCourse.COLUMNS[name][1], order="F") for name in BLOCKS}

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
            if not averaged and self.linear.products >= given.maxmatvec or not self._linearise(0.0 if averaged else added):
                break
            if averaged:
                self._average()
            else:
                self._solve_linear()
            before, start = merit, local.rows.R[:, self.rows].copy()
            self._step()
            merit, residual = self._measure()
            if merit > BEYOND_MEASURE * max(before, 1.0) and not averaged:  # along reactions that cause no motion
                local.rows.R[:, self.rows] = start
                self.linear.change[:] = 0.0
                merit, residual = self._measure()
                added = max(10.0 * added, REDUNDANCY * mean)
            self.merits.append(merit)
            self.products.append(self.linear.products)
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
        self._find_velocities()
        return measured(local, self.counted, self.part.driven.size > 0, False, self.world, self.unit, exact=True)

    def _find_velocities(self) -> None:
        """Compute velocities from the momenta of reactions; copies on which rows act get those of their owners."""
        local = self.local
        if self.rows.size:
            opened(_spread(local.handles, self.rows, np.asfortranarray(local.rows.R[:, self.rows]), self.part.model.bodies.triples.n))
        self.part.copy_columns(local.triples.momentum, *self.plan)
        opened(_find_velocities(local.handles, local.n))

    def _linearise(self, added: float) -> bool:
        """Linearise the contact equation; return whether no diagonal block is singular in any process."""
        local, failed = self.local, -1
        if self.rows.size:
            failed, status = _linearise(local.handles, self.rows, added, self.unit, local.half_step, self.given.omega, self.linear.operator, self.linear.rhs)
            opened(status)
        return self.world.largest(np.array([float(failed >= 0)]))[0] == 0.0

    def _average(self) -> None:
        """Compute dR = (1 - theta) dR + theta T^-1 rhs."""
        linear = self.linear
        if self.rows.size:
            _precondition(linear.operator, linear.rhs, linear.product)
        linear.change += self.given.theta * (linear.product - linear.change)

    def _step(self) -> None:
        """Compute R = P(R + dR)."""
        if self.rows.size:
            opened(_step(self.local.handles, self.rows, self.linear.change))

    def _solve_linear(self) -> None:
        """Solve for dR by flexible GMRES, from the last dR."""
        linear, messages, before = self.linear, self.messages, self.linear.products
        linear.phase = linear.made = 0
        handles = self.local.handles, messages.handle, self.dots.handle, linear.handle
        messages.complete(lambda: opened(_solve_linear(*handles)), self.world, self.dots, lambda: linear.products - before)


class NewtonByBlocks(NewtonInParts):
    """One solution where implicit bodies couple rows.

    Momenta do not tell how such bodies move.  So a process multiplies by the blocks of W that its own bodies make, and rows between two processes
    get the part of the other one.  Blocks between rows on the same two bodies, one of each process, are complete in both (shared_compliance).
    """

    coupled = True

    def _plan(self, solver: PartNewton) -> Plan:
        seams, plan = self.rows[: self.copied], ({}, {})
        for rank, rows in self.between.items():
            places = np.flatnonzero(np.isin(seams, rows))
            if places.size:
                plan[0][rank], plan[1][rank] = places, places + self.copied
        return plan

    def _blocks(self) -> dict[str, np.ndarray]:
        seams, rows, ends, mine = self.rows[: self.copied], self.local.rows, self.ends, np.append(self.part.mine, False)
        count = rows.block_ptr[seams + 1] - rows.block_ptr[seams]
        at, number = ranges(rows.block_ptr[seams], count), np.repeat(np.arange(seams.size), count)
        first_is_own, others = mine[ends[0, seams]], ends[:, self.local.blocks.column[at]]
        acts = [(others == np.where(first_is_own == own, *ends[:, seams])[number]).any(axis=0) for own in (True, False)]
        columns = {"part": np.zeros((3, 2 * seams.size), order="F")}
        for name, chosen in (("own", acts[0] & ~acts[1]), ("common", acts[0] & acts[1])):
            columns[name] = at[chosen].astype(np.int32)
            columns[name + "_ptr"] = pointers_of(np.bincount(number[chosen], minlength=seams.size), np.int32)
        return columns

    def run(self) -> SolverReport:
        """Take steps; then rows between two processes have the reactions of the one that counts them, in both."""
        report = super().run()
        seams = self.rows[: self.copied]
        counts = np.isin(seams, self.counted)
        sides = ({rank: seams[places[counts[places] == mine]] for rank, places in self.plan[0].items()} for mine in (True, False))
        self.part.copy_columns(self.local.rows.R, *({rank: rows for rank, rows in side.items() if rows.size} for side in sides))
        return report

    def _find_velocities(self) -> None:
        """Compute U = B + W R."""
        rows, linear, messages = self.local.rows, self.linear, self.messages
        reactions, handles = np.zeros((3, max(self.rows.size, 1)), order="F"), (self.local.handles, messages.handle, linear.handle)
        reactions[:, : self.rows.size] = rows.R[:, self.rows]
        messages.complete(lambda: opened(_multiply_rows(*handles, reactions)), self.world)
        rows.U[:, self.rows] = rows.B[:, self.rows] + linear.product
