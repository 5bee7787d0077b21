"""The phases of a step in which explicit finite element bodies move: the kernels of `motion` and `finite_element_motion`."""

from __future__ import annotations

from ..kernel_programs import TIMINT, Call, Numbers, Phase
from . import finite_element_motion, motion
from .failures import raise_failure
from .finite_elements import FiniteElements, within_step


def _raise(bodies, elements: FiniteElements, failure: int, failed: int) -> None:
    raise_failure(bodies, failure, int(elements.rows[failed]))


def _tangent_products(fe: FiniteElements) -> list[Call]:
    """K `fe.net` into `fe.viscous`, if there is damping."""
    damped, assembly = fe.drifted["damped"], fe.assembly
    products = [group.product_call(fe.displacement, fe.net, damped) for group in assembly.groups]
    return [
        *products,
        Call("element_blocks.gather_nodes", assembly.first, assembly.position, assembly.flat, fe.viscous, unless_zero=damped),
    ]


class Prediction(motion.Prediction):
    """`motion.predict` of explicit finite element bodies, and of implicit ones as if they were explicit."""

    def calls(self) -> list[Call]:
        bodies, loads, given = self.model.bodies, self.model.loads, self._given
        fe = within_step(bodies)
        step, damped = given["step"], fe.drifted["damped"]
        drift = Call(
            "finite_element_motion.drift", step, fe.count, *finite_element_motion.drift_columns(fe, bodies),
            results=fe.drifted, wanted={"failure": 0},
        )  # fmt: skip
        rotated = Call(
            "finite_element_motion.to_body_frame", *fe.ranges, fe.velo_row, fe.rotation, bodies.triples.velo, fe.net,
            unless_zero=damped,
        )  # fmt: skip
        kick = Call(
            "finite_element_motion.kick", step, loads.gravity, damped, fe.count, *finite_element_motion.kick_columns(fe, bodies)
        )
        forces = [group.force_call(fe.displacement) for group in fe.assembly.groups]
        named = [("predict", self._predict(motion.DRIFT)), ("drift", drift)]
        if fe.reduced.count:
            named.append(("drift", fe.reduced.begin_call(bodies)))
        named += [*self._loads(), ("predict", self._predict(motion.KICK))]
        return self._listed(named + [("kick", call) for call in (rotated, *_tangent_products(fe), *forces, kick)])

    def stopped(self, call: int) -> int:
        model = self.model
        elements = within_step(model.bodies)
        damped, failure, failed = elements.drifted.get()
        if self._names[call] == "drift":
            _raise(model.bodies, elements, failure, failed)
        again = super().stopped(call)
        finite_element_motion.kick(elements, model.bodies, model.loads.gravity, model.step, bool(damped))
        return again


class Correction(motion.Correction):
    """`motion.correct` of such a model."""

    def __init__(self, model):
        super().__init__(model)
        self._finished, self._followed = Numbers(failure="i4", failed="i4"), Numbers(failed="i4")

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
        self._finish = len(calls) - 1
        return [*calls, *shape_calls(fe, bodies, False, self._followed), *energy_calls(fe, bodies)]

    def stopped(self, call: int) -> int:
        if call == 0:
            return super().stopped(call)
        elements = within_step(self.model.bodies)
        if call == self._finish:
            _raise(self.model.bodies, elements, *self._finished.get())
        _raise(self.model.bodies, elements, finite_element_motion.TURNED_INSIDE_OUT, *self._followed.get())


def shape_calls(fe: FiniteElements, bodies, whole: bool, followed: Numbers) -> list[Call]:
    """Bodies in bases take the shapes that these can represent (`ReducedBodies.represent`)."""
    if not fe.reduced.count:
        return []
    return [
        fe.reduced.represent_call(bodies, whole),
        Call(
            "finite_element_motion.local_displacements", fe.count, *finite_element_motion.follow_columns(fe, bodies),
            results=followed, wanted={"failed": -1},
        ),
    ]  # fmt: skip


def energy_calls(fe: FiniteElements, bodies) -> list[Call]:
    """`finite_element_motion.store_internal_energy`."""
    calls = []
    for number, group in enumerate(fe.assembly.groups):
        calls += [
            group.energy_call(fe.displacement),
            Call(
                "element_blocks.add_energies", number == 0, group.count, group.body, group.energy, group.strain, fe.row,
                bodies.energy, fe.strain,
            ),
        ]  # fmt: skip
    return calls + ([fe.reduced.energy_call(bodies)] if fe.reduced.count else [])


class EmbeddedVertices(Phase):
    """Current vertices of shapes inside meshes.

    Parameters
    ----------
    model
        Has `bodies` and `geometry`.
    """

    phase = TIMINT

    def __init__(self, model):
        self.model = model

    def calls(self) -> list[Call]:
        bodies = self.model.bodies
        fe = within_step(bodies)
        if not len(fe.embedded):
            return []
        return [Call("cut_elements.place_vertices", *fe.vertex_columns(bodies, self.model.geometry))]
