"""The phases of a step in which bodies of scheme DEF_LIM move: solutions with A, after prediction and before correction."""

from __future__ import annotations

import numpy as np

from ..kernel_programs import GIVE_UP, TIMINT, Call, Numbers, Pause, Phase
from . import energy_momentum, reduced, static_phases
from .conjugate_gradients import nodal
from .element_solver import ElementSolver
from .factorisation import Cholesky
from .failures import raise_failure
from .finite_element_motion import TURNED_INSIDE_OUT
from .finite_elements import within_step
from .implicit import Implicit, PseudoRigidSolver
from .reduced import ReducedBodies


def suits(implicit: Implicit) -> bool:
    """Whether nothing but kernels is needed, once factors are made."""
    return all(not solver.linear or solver.kept or solver.inverses is not None for solver in implicit.elements)


def prediction(model, implicit: Implicit) -> list[Phase]:
    """u* of implicit bodies, after a prediction as if they were explicit."""
    return [Options(model), *solutions(model, implicit, False)]


def solutions(model, implicit: Implicit, reacting: bool) -> list[Phase]:
    """Of all solvers: A^-1 times forces or, at the end of the step, reactions."""
    return [_phase(model, solver, reacting) for solver in implicit.solvers]


def _phase(model, solver, reacting: bool) -> Phase:
    if isinstance(solver, ElementSolver):
        return (Elements if solver.linear else Tangents)(model, solver, reacting)
    if isinstance(solver, ReducedBodies):
        return Reduced(model, solver, reacting)
    return (PseudoRigid if model.dynamic else static_phases.PseudoRigid)(model, solver, reacting)


class Options(Phase):
    """Gives the program up when schemes or damping are not what solvers have been made for.

    Users change them without a word; the step then goes on with `motion.predict_implicit`.
    """

    phase = TIMINT

    def __init__(self, model):
        self.model = model
        self._given, self._found = Numbers(bodies="i4"), Numbers(changed="i4")

    def settle(self) -> None:
        bodies = self.model.bodies
        self._given.set(bodies.n)
        self._known = bodies.scheme.copy(), bodies.damping.copy()

    def calls(self) -> list[Call]:
        bodies = self.model.bodies
        return [
            Call(
                "body_options.compare_options", self._given["bodies"], bodies.scheme, bodies.damping, *self._known,
                results=self._found, wanted={"changed": 0},
            )  # fmt: skip
        ]

    def stopped(self, call: int) -> int:
        return GIVE_UP


class Solutions(Phase):
    """Velocities from solutions of one solver.

    Parameters
    ----------
    model
        Has `bodies` and `step`.
    solver
        One of `Implicit.solvers`.
    reacting : bool
        What A is solved with: reactions at the end of the step, or the other forces at its beginning.
    """

    phase = TIMINT

    def __init__(self, model, solver, reacting: bool):
        self.model, self.solver, self.reacting = model, solver, reacting
        self._given = Numbers(step="f8")

    def settle(self) -> None:
        self._given.set(self.model.step)


class Elements(Solutions):
    """`ElementSolver.add_velocities` of bodies of form 'BC'."""

    def __init__(self, model, solver: ElementSolver, reacting: bool):
        super().__init__(model, solver, reacting)
        self._found = Numbers(nonzero="i4")

    def settle(self) -> None:
        super().settle()
        if not self.reacting:
            self.solver.refresh(self.model.bodies, self.model.step, self.model.dynamic)

    def calls(self) -> list[Call]:
        bodies, solver = self.model.bodies, self.solver
        fe, velo, step = within_step(bodies), bodies.triples.velo, self._given["step"]
        source = bodies.triples.reaction if self.reacting else fe.net
        calls = []
        if not self.reacting and solver.rotation is not fe.rotation:
            calls.append(Call("nodal_vectors.take_rotations", solver.number, fe.rotation, solver.rotation))
        if solver.inverses is not None:
            which = solver.number, solver.rotation, solver.inverses, fe.first, fe.velo_row
            return [*calls, Call("small_inverses.add_solutions", step, self.reacting, *which, source, velo)]
        which, unknowns = (solver.number, solver.rotation, fe.first, fe.velo_row), solver.unknowns
        vector, found = unknowns.reshape(-1, order="F"), self._found
        return [
            *calls,
            Call("nodal_vectors.collect", self.reacting, solver.linear, *which, source, unknowns, results=found),
            Call("supernodal_solution.solve_vector", *solver.kept.arrays_between(vector, solver.solution), unless_zero=found["nonzero"]),
            Call(
                "nodal_vectors.add_unknowns", step, solver.linear, *which, solver.solution.reshape(3, -1, order="F"), velo,
                unless_zero=found["nonzero"],
            ),
        ]  # fmt: skip


class Tangents(Solutions):
    """The same of bodies of form 'TL': conjugate gradients, which pause where a library solves with the factor.

    Solvers decide in Python what the factor of a step is, and whether iterations are needed.
    """

    def __init__(self, model, solver: ElementSolver, reacting: bool):
        super().__init__(model, solver, reacting)
        self._found, self._flags, self._counted = Numbers(nonzero="i4", found="i4"), Numbers(iterating="i4"), False

    def settle(self) -> None:
        super().settle()
        self.solver.make_room()
        self._settled = True  # and nothing else: `Options` gives up where damping has changed

    @property
    def _iterates(self) -> bool:
        """Whether nothing is to be decided."""
        return self.reacting and self.model.dynamic and isinstance(self.solver.factor, Cholesky)

    def calls(self) -> list[Call]:
        bodies, solver = self.model.bodies, self.solver
        fe, found = within_step(bodies), self._found
        source = bodies.triples.reaction if self.reacting else fe.net
        which = solver.number, solver.rotation, fe.first, fe.velo_row
        right = Call("nodal_vectors.collect", self.reacting, False, *which, source, solver.unknowns, results=found)
        start = [] if self._iterates else [("start", Pause(found["nonzero"] if self.reacting else None))]
        add = Call(
            "nodal_vectors.add_unknowns", self._given["step"], False, *which, solver.gradients.solution, bodies.triples.velo,
            unless_zero=found["nonzero"],
        )  # fmt: skip
        named = [("collect", right), *start, *self._iterations(), ("broken", Pause(solver.gradients.counts[2:3])), ("add", add)]
        if self.model.dynamic:
            marked = Call("nodal_vectors.any_marked", solver.rows, bodies.conserving, results=found)
            named += [("marked", marked), ("newton", Pause(found["found"]))]
        self._names = [name for name, _ in named]
        return [call for _, call in named]

    def _iterations(self) -> list[tuple[str, Call]]:
        """`ConjugateGradients.solve`."""
        solver, gradients, factor = self.solver, self.solver.gradients, self.solver.factor
        busy, local = gradients.counts[1:2], nodal(factor.vector)
        wanted = self._found["nonzero"] if self._iterates else self._flags["iterating"]
        begin = Call("conjugate_gradients.begin", *gradients.begin_columns(solver.unknowns, local), unless_zero=wanted)
        solve = (
            Call("supernodal_solution.solve_vector", *factor.vector_arrays, unless_zero=busy)
            if isinstance(factor, Cholesky)
            else Pause(busy)
        )
        choice = Call("conjugate_gradients.choose_direction", *gradients.choice_columns(nodal(factor.solved)), unless_zero=busy)
        products = [group.product_call(solver.displacement, gradients.direction, busy) for group in solver.assembly.groups]
        advance = Call(
            "conjugate_gradients.advance", *gradients.advance_columns(solver.beta, local), unless_zero=busy, back=len(products) + 2
        )
        return [("begin", begin), ("solve", solve), *(("iterate", call) for call in (choice, *products, advance))]

    def stopped(self, call: int) -> int:
        solver, place = self.solver, self._names[call]
        if place == "solve":
            solver.factor.solve_vector()
        elif place == "start":
            self._start()
        elif place == "broken":
            self._put(solver.solve_afresh(solver.unknowns.ravel(order="F")))
            solver.gradients.counts[:] = 0
        else:
            self._count()  # before other solutions follow
            bodies = self.model.bodies
            energy_momentum.iterate(within_step(bodies), bodies, solver, self.model.step, self.reacting)
        return call + 1

    def _start(self) -> None:
        """The factor and the way to solutions."""
        solver = self.solver
        if not self.reacting:
            solver.refresh(self.model.bodies, self.model.step, self.model.dynamic, unchanged=not self._settled)
            self._settled = False
        wanted = self._found.get()[0]
        iterating = wanted and not solver.exact
        if wanted and not iterating:
            self._put(solver.factor.solve(solver.unknowns.ravel(order="F")))
        self._flags.set(iterating)

    def _put(self, solution: np.ndarray) -> None:
        self.solver.gradients.solution[:] = nodal(solution)

    def _count(self) -> None:
        """What iterations have cost."""
        gradients = self.solver.gradients
        if not self._counted and self._found.get()[0] and (self._iterates or self._flags.get()[0]):
            self.solver.count(int(gradients.counts[0]))
        self._counted = True

    def end(self) -> None:
        self._count()
        self._counted = False


class PseudoRigid(Solutions):
    """The same of pseudo-rigid bodies."""

    def __init__(self, model, solver: PseudoRigidSolver, reacting: bool):
        super().__init__(model, solver, reacting)
        self._failed = Numbers(failure="i4", row="i4")

    def calls(self) -> list[Call]:
        bodies, solver, step = self.model.bodies, self.solver, self._given["step"]
        if self.reacting:
            return [Call("implicit_pseudo_rigid.add_reactions", step, *solver.reaction_columns(bodies))]
        return [
            Call(
                "implicit_pseudo_rigid.invert", step, True, *solver.matrix_columns(bodies), results=self._failed,
                wanted={"failure": 0},
            ),
            Call("implicit_pseudo_rigid.free_velocities", *solver.velocity_columns(bodies)),
        ]  # fmt: skip

    def stopped(self, call: int) -> int:
        raise_failure(self.model.bodies, *self._failed.get())


class Reduced(Solutions):
    """The same of bodies that move in a base."""

    def __init__(self, model, solver: ReducedBodies, reacting: bool):
        super().__init__(model, solver, reacting)
        self._found = Numbers(changed="i4", failed="i4")

    def calls(self) -> list[Call]:
        bodies, solver, step = self.model.bodies, self.solver, self._given["step"]
        if self.reacting:
            end = Call(
                "reduced_motion.end_velocities", step, *reduced.end_columns(solver, bodies), results=self._found, wanted={"failed": -1}
            )
            react = Call("reduced_motion.add_reactions", step, *reduced.reaction_columns(solver, bodies))
            return [react, end] if self.model.dynamic else [react]
        return [
            Call(
                "reduced_motion.frames_and_weights", step, self.model.dynamic, *reduced.weight_columns(solver, bodies), results=self._found,
                wanted={"changed": 0},
            ),
            Call("reduced_motion.free_velocities", step, self.model.dynamic, *reduced.free_columns(solver, bodies)),
        ]  # fmt: skip

    def stopped(self, call: int) -> int:
        if self.reacting:
            raise_failure(self.model.bodies, TURNED_INSIDE_OUT, self._found.get()[1])
        self.solver.invert()
        return call + 1
