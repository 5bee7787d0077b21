"""The phases of a step in which bodies of scheme DEF_LIM and form 'TL' move: factors, conjugate gradients, and what counts decide.

Kernels decide, factorise and iterate (tangent_factors.f90).  Programs pause where iterations fail, for bodies that conserve energy,
and where A has no Cholesky factor: from then on SuperLU solves, in pauses.
"""

from __future__ import annotations

from ..kernel_programs import TIMINT, Call, Numbers, Pause, Phase
from . import energy_momentum
from .conjugate_gradients import nodal
from .element_solver import ElementSolver
from .finite_elements import within_step

Named = list[tuple[str, Call]]  # calls by names that `Phase.stopped` asks for

RENEWING, LAGGING, ITERATING, ALONE, SEPARATE, COLUMN, TOGETHER = range(5, 12)  # of `ElementSolver.course`


def flag(solver: ElementSolver, place: int):
    """One of the numbers that decide, as a condition of calls."""
    return solver.course[place : place + 1]


def renewal(solver: ElementSolver, failed: Numbers) -> Named:
    """`ElementSolver.renew`, where it has been decided on."""
    wanted, seen = flag(solver, RENEWING), solver.displacement
    calls = [group.stiffness_call(seen, dense, wanted) for group, dense in zip(solver.assembly.groups, solver.dense)]
    calls.append(Call("element_tangents.assemble_matrix", *solver.matrix_columns(), unless_zero=wanted))
    if solver.supports:
        calls.append(solver.supports.add_call(wanted))
    factor = Call(
        "supernodal_cholesky.factorise", *solver.factor.factor_arrays(solver.values), results=failed, wanted={"failed": 0},
        unless_zero=wanted,
    )  # fmt: skip
    keep = Call("tangent_factors.keep_factor", seen, solver.made, solver.gradients.frame, solver.course, unless_zero=wanted)
    return [*(("matrix", call) for call in calls), ("factor", factor), ("keep", keep)]


def iterations(solver: ElementSolver) -> Named:
    """`ConjugateGradients.solve` for `ElementSolver.unknowns`, and its count."""
    gradients, factor, wanted = solver.gradients, solver.factor, flag(solver, ITERATING)
    busy, local = gradients.counts[1:2], nodal(factor.vector)
    begin = Call("conjugate_gradients.begin", *gradients.begin_columns(solver.unknowns, local), unless_zero=wanted)
    solve = Call("supernodal_solution.solve_vector", *factor.vector_arrays, unless_zero=busy)
    choice = Call("conjugate_gradients.choose_direction", *gradients.choice_columns(nodal(factor.solved)), unless_zero=busy)
    products = [group.product_call(solver.displacement, gradients.direction, busy) for group in solver.assembly.groups]
    advance = Call(
        "conjugate_gradients.advance", *gradients.advance_columns(solver.beta, local), unless_zero=busy, back=len(products) + 2
    )
    count = Call("tangent_factors.note_products", gradients.counts[:1], solver.course, unless_zero=wanted)
    calls = (begin, solve, choice, *products, advance)
    return [*(("iterate", call) for call in calls), ("broken", Pause(gradients.counts[2:3])), ("count", count)]


class Tangents(Phase):
    """`ElementSolver.add_velocities`, and what comes before it in a step.

    Parameters
    ----------
    model
        Has `bodies` and `step`.
    solver : ElementSolver
    reacting : bool
        What A is solved with: reactions at the end of the step, or the other forces at its beginning.
    """

    phase = TIMINT

    def __init__(self, model, solver: ElementSolver, reacting: bool):
        self.model, self.solver, self.reacting = model, solver, reacting
        self._given, self._found = Numbers(step="f8"), Numbers(nonzero="i4", found="i4", failed="i4")

    def settle(self) -> None:
        model = self.model
        self._given.set(model.step)
        if not self.reacting:  # and nothing else: `Options` gives up where damping has changed
            self.solver.settle(model.bodies, model.step, model.dynamic)
            if self.solver.supports:
                self.solver.supports.settle()

    def calls(self) -> list[Call]:
        bodies, solver, found = self.model.bodies, self.solver, self._found
        fe = within_step(bodies)
        source = bodies.triples.reaction if self.reacting else fe.net
        which = solver.number, solver.rotation, fe.first, fe.velo_row
        collect = Call("nodal_vectors.collect", self.reacting, False, *which, source, solver.unknowns, results=found)
        add = Call(
            "nodal_vectors.add_unknowns", self._given["step"], False, *which, solver.gradients.solution, bodies.triples.velo,
            unless_zero=found["nonzero"],
        )  # fmt: skip
        named = [("collect", collect), *(self._solution() if solver.kernel_factor else [("pause", Pause())]), ("add", add)]
        if self.model.dynamic:
            marked = Call("nodal_vectors.any_marked", solver.rows, bodies.conserving, results=found)
            named += [("marked", marked), ("newton", Pause(found["found"]))]
        self._names = [name for name, _ in named]
        return [call for _, call in named]

    def _solution(self) -> Named:
        """By kernels."""
        solver, direct = self.solver, not self.model.dynamic
        right, solution = (part.reshape(-1, order="F") for part in (solver.unknowns, solver.gradients.solution))
        choose = Call("tangent_factors.choose_solution", direct, self._found["nonzero"], solver.course)
        alone = Call("supernodal_solution.solve_vector", *solver.factor.arrays_between(right, solution), unless_zero=flag(solver, ALONE))
        pull = [("pull", solver.supports.pull_call(self._found["nonzero"]))] if solver.supports else []
        begin = [] if self.reacting else [*self._beginning(direct), *pull]
        return [*begin, ("choose", choose), ("alone", alone), *iterations(solver)]

    def _beginning(self, direct: bool) -> Named:
        """`ElementSolver.refresh`."""
        solver = self.solver
        fe, seen, named = solver.fe, solver.displacement, []
        if solver.rotation is not fe.rotation:
            named.append(Call("nodal_vectors.take_rotations", solver.number, fe.rotation, solver.rotation))
        if seen is not fe.displacement:
            named.append(Call("nodal_vectors.take_nodes", solver.node, fe.displacement, seen))
        named.append(Call("tangent_factors.begin_step", solver.factor.WORTH, direct, solver.course))
        follow = solver.gradients.follow_columns(solver.made, seen)
        turn = Call("conjugate_gradients.follow_bodies", *follow, unless_zero=flag(solver, LAGGING))
        return [*(("begin", call) for call in named), *renewal(solver, self._found), ("turn", turn)]

    def stopped(self, call: int) -> int:
        model, solver, place = self.model, self.solver, self._names[call]
        bodies = model.bodies
        if place == "newton":
            energy_momentum.iterate(within_step(bodies), bodies, solver, model.step, self.reacting)
            return call + 1
        if place == "factor":  # the present matrix has none
            solver.factorise_otherwise()
        elif place == "pause" and not self.reacting:
            solver.refresh(bodies, model.step, model.dynamic)
        if place in ("factor", "pause") and solver.supports and not self.reacting:
            solver.supports.pull(self._found["nonzero"])
        right = solver.unknowns.ravel(order="F")
        if place in ("factor", "pause"):
            solution = solver.solve(right)
        else:
            solution = solver.solve_afresh(right)
            solver.gradients.counts[:] = 0
        solver.gradients.solution[:] = nodal(solution)
        self.calls()  # which may be others now
        return self._names.index("add")
