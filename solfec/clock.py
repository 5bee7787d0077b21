"""The clock of a model: time, number of steps, and sums over steps, in memory that kernels advance."""

from __future__ import annotations

import numpy as np

from .kernel_programs import TIMINT, Call, Numbers, Phase


class Clock(Numbers):
    """Time and what is summed up over steps.

    Members are `time`, the number of steps `step_number`, `origin` and `origin_number`, the time and step number since which the
    step has been constant, `contact_energy` and `friction_energy`, the work of contact reactions, and `sparsified`, the contacts
    that sparsification removed in the last step.
    """

    def __init__(self):
        reals = dict.fromkeys(("time", "origin", "contact_energy", "friction_energy"), "f8")
        super().__init__(**reals, step_number="i8", origin_number="i8", sparsified="i4")

    def instant(self, step: np.ndarray, share: float, reached: Numbers) -> Call:
        """The call that finds the time a `share` of the `step` (1,) after its start, as the number `reached`."""
        return Call("step_clock.instant", self["time"], step, share, results=reached)


class Advance(Phase):
    """The end of a step: the clock moves on.

    Parameters
    ----------
    model
        Has `clock` and `step`.
    removed : ndarray of int32 (1,)
        How many contacts sparsification has removed.
    works : Numbers
        `contact_work` and `friction_work` of the step.
    """

    phase = TIMINT

    def __init__(self, model, removed: np.ndarray, works: Numbers):
        self.model, self.removed, self.works = model, removed, works
        self._given = Numbers(step="f8")

    def settle(self) -> None:
        self._given.set(self.model.step)

    def calls(self) -> list[Call]:
        clock, works = self.model.clock, self.works
        return [
            Call(
                "step_clock.advance", self._given["step"], clock["origin"], clock["origin_number"], works["contact_work"],
                works["friction_work"], self.removed, clock["time"], clock["step_number"], clock["contact_energy"],
                clock["friction_energy"], clock["sparsified"],
            )
        ]  # fmt: skip
