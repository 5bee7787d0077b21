"""The phases of a quasi-static step in which bodies move: the kernels of `quasi_static`."""

from __future__ import annotations

from ..kernel_programs import TIMINT, Call, Numbers, Phase
from . import element_phases, finite_element_motion, quasi_static
from .failures import raise_failure
from .finite_elements import within_step
from .implicit import PseudoRigidSolver


class Prediction(Phase):
    """`quasi_static.predict` without implicit bodies, whose phases follow, and without callbacks of loads.

    Parameters
    ----------
    model
        Has `bodies`, `loads`, `clock` and `step`.
    """

    phase = TIMINT

    def __init__(self, model):
        self.model = model
        self._given, self._time = Numbers(bodies="i4", triples="i4", loaded="i4", step="f8"), Numbers(reached="f8")
        self._moved, self._nodes, self._followed = Numbers(failure="i4", row="i4"), Numbers(failed="i4"), Numbers(failed="i4")

    def settle(self) -> None:
        model = self.model
        self._given.set(model.bodies.n, model.bodies.triples.n, model.loads.on_bodies, model.step)
        model.loads.series.settle()

    def calls(self) -> list[Call]:
        bodies, loads, given = self.model.bodies, self.model.loads, self._given
        elements = within_step(bodies)
        move = Call(
            "quasi_static.move_rigid", given["bodies"], given["triples"], given["loaded"], given["step"],
            *quasi_static.move_columns(bodies), results=self._moved, wanted={"failure": 0},
        )  # fmt: skip
        begin = Call(
            "quasi_static.begin_rigid", given["bodies"], given["loaded"], given["step"], loads.gravity,
            *quasi_static.begin_columns(bodies),
        )  # fmt: skip
        named = [("move", move), *loads.named_calls(self.model, given["step"], 1.0, self._time), ("begin", begin)]
        if elements.count:
            named += [
                ("nodes", Call(
                    "quasi_static.begin_nodes", elements.count, *quasi_static.begin_node_columns(elements, bodies),
                    results=self._nodes, wanted={"failed": -1},
                )),
                ("follow", follow_call(elements, bodies, self._followed)),
                *(("force", group.force_call(elements.displacement)) for group in elements.assembly.groups),
                ("kick", Call(
                    "finite_element_motion.kick", given["step"], loads.gravity, False, elements.count,
                    *finite_element_motion.kick_columns(elements, bodies),
                )),
            ]  # fmt: skip
        self._names = [name for name, _ in named]
        return [call for _, call in named]

    def stopped(self, call: int) -> int:
        bodies, place = self.model.bodies, self._names[call]
        if place == "load":
            self.model.loads.fail()
        if place == "move":
            raise_failure(bodies, *self._moved.get())
        row = int(within_step(bodies).rows[(self._nodes if place == "nodes" else self._followed).get()[0]])
        raise_failure(bodies, quasi_static.NOT_FINITE if place == "nodes" else finite_element_motion.TURNED_INSIDE_OUT, row)


def follow_call(elements, bodies, followed: Numbers) -> Call:
    """`finite_element_motion.follow`."""
    return Call(
        "finite_element_motion.local_displacements", elements.count, *finite_element_motion.follow_columns(elements, bodies),
        results=followed, wanted={"failed": -1},
    )  # fmt: skip


class RigidCorrection(Phase):
    """The end of the step of rigid bodies."""

    phase = TIMINT

    def __init__(self, model):
        self.model = model
        self._given, self._results = Numbers(bodies="i4", step="f8"), Numbers(failure="i4", row="i4")

    def settle(self) -> None:
        self._given.set(self.model.bodies.n, self.model.step)

    def calls(self) -> list[Call]:
        bodies, given = self.model.bodies, self._given
        return [
            Call(
                "quasi_static.finish_rigid", given["bodies"], given["step"], *quasi_static.finish_columns(bodies),
                results=self._results, wanted={"failure": 0},
            )  # fmt: skip
        ]

    def stopped(self, call: int) -> int:
        raise_failure(self.model.bodies, *self._results.get())


class ElementCorrection(Phase):
    """The end of the step of finite elements, whose velocities are known."""

    phase = TIMINT

    def __init__(self, model):
        self.model = model
        self._given, self._nodes, self._followed = Numbers(step="f8"), Numbers(failed="i4"), Numbers(failed="i4")

    def settle(self) -> None:
        self._given.set(self.model.step)

    def calls(self) -> list[Call]:
        bodies = self.model.bodies
        elements = within_step(bodies)
        finish = Call(
            "quasi_static.finish_nodes", elements.count, self._given["step"], *quasi_static.finish_node_columns(elements, bodies),
            results=self._nodes, wanted={"failed": -1},
        )  # fmt: skip
        shapes = [elements.reduced.represent_call(bodies, True)] if elements.reduced.count else []
        follow = follow_call(elements, bodies, self._followed)
        return [finish, follow, *shapes, *element_phases.energy_calls(elements, bodies)]

    def stopped(self, call: int) -> int:
        found, failure = (self._followed, finite_element_motion.TURNED_INSIDE_OUT) if call else (self._nodes, quasi_static.BAD_REACTION)
        raise_failure(self.model.bodies, failure, int(within_step(self.model.bodies).rows[found.get()[0]]))


class PseudoRigid(Phase):
    """`PseudoRigidSolver.begin_static` or, `reacting`, its `finish_static`."""

    phase = TIMINT

    def __init__(self, model, solver: PseudoRigidSolver, reacting: bool):
        self.model, self.solver, self.reacting = model, solver, reacting
        self._given, self._failed = Numbers(step="f8"), Numbers(failure="i4", row="i4")

    def settle(self) -> None:
        self._given.set(self.model.step)

    def calls(self) -> list[Call]:
        bodies, solver, step = self.model.bodies, self.solver, self._given["step"]
        if self.reacting:
            return [
                Call(
                    "implicit_pseudo_rigid.finish_static", step, *solver.finish_columns(bodies), results=self._failed,
                    wanted={"failure": 0},
                )
            ]  # fmt: skip
        return [
            Call(
                "implicit_pseudo_rigid.invert", step, False, *solver.matrix_columns(bodies), results=self._failed,
                wanted={"failure": 0},
            ),
            Call("implicit_pseudo_rigid.begin_static", step, self.model.loads.gravity, *solver.begin_columns(bodies)),
        ]  # fmt: skip

    def stopped(self, call: int) -> int:
        raise_failure(self.model.bodies, *self._failed.get())
