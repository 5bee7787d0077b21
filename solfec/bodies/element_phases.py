"""The phases of a step in which explicit finite element bodies move: the kernels of `motion` and `finite_element_motion`."""

from __future__ import annotations

from ..kernel_programs import GIVE_UP, Call, Numbers
from . import finite_element_motion, motion
from .failures import raise_failure
from .finite_elements import FiniteElements, within_step


def suits(elements: FiniteElements) -> bool:
    """Whether nothing but kernels is needed: no bodies in bases, no enhanced strains."""
    return not elements.reduced.count and not any(group.enhanced for group in elements.assembly.groups)


def _raise(bodies, elements: FiniteElements, failure: int, failed: int) -> None:
    raise_failure(bodies, failure, int(elements.rows[failed]))


def _tangent_products(fe: FiniteElements) -> list[Call]:
    """K `fe.net` into `fe.viscous`, if there is damping."""
    damped, assembly = fe.drifted["damped"], fe.assembly
    products = [
        Call("element_blocks.tangent_products", *group.columns, fe.displacement, fe.net, group.force, unless_zero=damped)
        for group in assembly.groups
    ]
    return [
        *products,
        Call("element_blocks.gather_nodes", assembly.first, assembly.position, assembly.flat, fe.viscous, unless_zero=damped),
    ]


class Prediction(motion.Prediction):
    """`motion.predict` of a model whose finite element bodies are explicit, with gravity as the only load."""

    def calls(self) -> list[Call]:
        bodies, gravity, given = self.model.bodies, self.model.loads.gravity, self._given
        fe = within_step(bodies)
        columns, step, damped = motion.predict_columns(bodies), given["step"], fe.drifted["damped"]
        rotated = Call(
            "finite_element_motion.to_body_frame", *fe.ranges, fe.velo_row, fe.rotation, bodies.triples.velo, fe.net,
            unless_zero=damped,
        )  # fmt: skip
        return [
            Call(
                "body_motion.predict", given["bodies"], motion.DRIFT, step, gravity, *columns, results=self._results,
                wanted={"failure": 0},
            ),
            Call(
                "finite_element_motion.drift", step, fe.count, *finite_element_motion.drift_columns(fe, bodies),
                results=fe.drifted, wanted={"failure": 0},
            ),
            Call(
                "body_motion.predict", given["bodies"], motion.KICK, step, gravity, *columns, results=self._results,
                wanted={"failure": 0, "implicit": 0},
            ),
            rotated,
            *_tangent_products(fe),
            *(
                Call("element_blocks.internal_forces", *group.columns, fe.displacement, group.force)
                for group in fe.assembly.groups
            ),
            Call(
                "finite_element_motion.kick", step, gravity, damped, fe.count,
                *finite_element_motion.kick_columns(fe, bodies),
            ),
        ]  # fmt: skip

    def stopped(self, call: int) -> int:
        model = self.model
        elements = within_step(model.bodies)
        damped, failure, failed = elements.drifted.get()
        if call == 1:
            _raise(model.bodies, elements, failure, failed)
        super().stopped(call)
        finite_element_motion.kick(elements, model.bodies, model.loads.gravity, model.step, bool(damped))
        return GIVE_UP


class Correction(motion.Correction):
    """`motion.correct` of such a model."""

    def __init__(self, model):
        super().__init__(model)
        self._finished = Numbers(failure="i4", failed="i4")

    def calls(self) -> list[Call]:
        bodies = self.model.bodies
        fe = within_step(bodies)
        columns, damped = finite_element_motion.damping_columns(fe, bodies), fe.drifted["damped"]
        calls = [
            *super().calls(),
            Call("finite_element_motion.damped_velocities", fe.count, *columns, unless_zero=damped),
            *_tangent_products(fe),
            Call(
                "finite_element_motion.add_dissipation", self._given["step"], fe.count, *columns, fe.viscous, fe.mass,
                bodies.triples.reaction, bodies.energy, unless_zero=damped,
            ),
            Call(
                "finite_element_motion.finish", self._given["step"], fe.count, *finite_element_motion.finish_columns(fe, bodies),
                results=self._finished, wanted={"failure": 0},
            ),
        ]  # fmt: skip
        for number, group in enumerate(fe.assembly.groups):
            calls += [
                Call("element_blocks.internal_energies", *group.columns, fe.displacement, group.energy, group.strain),
                Call(
                    "element_blocks.add_energies", number == 0, group.count, group.body, group.energy, group.strain, fe.row,
                    bodies.energy, fe.strain,
                ),
            ]  # fmt: skip
        return calls

    def stopped(self, call: int) -> int:
        if call == 0:
            return super().stopped(call)
        _raise(self.model.bodies, within_step(self.model.bodies), *self._finished.get())
