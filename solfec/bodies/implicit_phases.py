"""The phases of a step in which bodies of scheme DEF_LIM move: solutions with A, after prediction and before correction."""

from __future__ import annotations

from ..kernel_programs import GIVE_UP, TIMINT, Call, Numbers, Phase
from . import reduced, static_phases
from .element_solver import ElementSolver
from .failures import raise_failure
from .finite_element_motion import TURNED_INSIDE_OUT
from .finite_elements import within_step
from .implicit import Implicit, PseudoRigidSolver
from .reduced import ReducedBodies
from .tangent_phases import Tangents


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
        self._found = Numbers(changed="i4")

    def settle(self) -> None:
        bodies = self.model.bodies
        self._known = bodies.scheme.copy(), bodies.damping.copy()

    def calls(self) -> list[Call]:
        bodies = self.model.bodies
        return [
            Call(
                "body_options.compare_options", bodies.handles[:1], *self._known, results=self._found, wanted={"changed": 0},
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
