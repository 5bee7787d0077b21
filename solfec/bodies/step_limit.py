"""The critical step of all explicit bodies in one call: the kernels of `motion.critical_step`."""

from __future__ import annotations

import math

import numpy as np

from ..kernel_programs import GIVE_UP, PHASES, TIMINT, Call, Numbers, Phase, Program
from . import finite_element_motion, motion
from .finite_elements import compiled, material_columns
from .table import BodyTable


class Limits(Phase):
    """The kernels that find the limits of all bodies; what they cannot find they leave to Python.

    Parameters
    ----------
    bodies : BodyTable
    """

    phase = TIMINT

    def __init__(self, bodies: BodyTable):
        self.bodies = bodies
        self._massive = Numbers(step="f8", row="i4", failure="i4")
        self._elements = Numbers(least="f8", worst="i4", unknown="i4", changed="i4")

    def calls(self) -> list[Call]:
        bodies = self.bodies
        fe = bodies.finite_elements or compiled(bodies)
        calls = [
            Call(
                "critical_time_step.critical_step", bodies.handles, results=self._massive, wanted={"failure": 0},
            )
        ]  # fmt: skip
        if fe.count:
            calls += [
                Call(
                    "finite_element_motion.materials_changed", fe.count, *material_columns(fe, bodies), results=self._elements,
                    wanted={"changed": 0},
                ),
                Call(
                    "critical_time_step.least_element_step", fe.count, -1, False,
                    *finite_element_motion.limit_columns(fe, bodies), results=self._elements, wanted={"unknown": -1},
                ),
            ]  # fmt: skip
        return calls

    def stopped(self, call: int) -> int:
        return GIVE_UP


class StepLimit(Limits):
    """`motion.critical_step` for models that ask in every step."""

    def __init__(self, bodies: BodyTable):
        super().__init__(bodies)
        self._program = Program([self], np.zeros(len(PHASES)))

    def find(self) -> tuple[float, int]:
        """Admissible time step and the row of the body that asks for it; ``(inf, -1)`` when none does.

        Raises
        ------
        SolfecError
            A pseudo-rigid body without stiffness.
        """
        fe = self.bodies.finite_elements
        if fe is None or (fe.count and fe.mixed) or not self._program.run():  # something is to be made anew, or wrong
            return motion.critical_step(self.bodies)
        step, row, _ = self._massive.get()
        if row < 0:
            step = math.inf
        if fe.count:
            least, worst, _, _ = self._elements.get()
            if worst >= 0 and least < step:
                return least, int(fe.rows[worst])
        return step, row


class WithinLimit(Limits):
    """The limits at the beginning of a step, which is given up if it is longer.

    Parameters
    ----------
    model
        Has `bodies` and `step`.
    """

    def __init__(self, model):
        super().__init__(model.bodies)
        self.model = model
        self._step, self._exceeded = Numbers(step="f8"), Numbers(exceeded="i4")

    def settle(self) -> None:
        self._step.set(self.model.step)

    def calls(self) -> list[Call]:
        calls, massive, elements = super().calls(), self._massive, self._elements
        least = (elements["least"], elements["worst"]) if len(calls) > 1 else (math.inf, -1)
        return [
            *calls,
            Call(
                "critical_time_step.exceeds_limit", self._step["step"], massive["step"], massive["row"], *least,
                results=self._exceeded, wanted={"exceeded": 0},
            ),
        ]  # fmt: skip
