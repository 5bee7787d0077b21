"""The clock of a model: time, number of steps, and sums over steps, in memory that kernels advance."""

from __future__ import annotations

from math import inf

import numpy as np

from .kernel_programs import TIMINT, Call, Numbers, Phase

WAITED, UNSOLVED = 2, 4  # what `Clock` can say of a step besides 1


class Clock(Numbers):
    """Time and what is summed up over steps.

    Members are `time`, the number of steps `step_number`, `origin` and `origin_number`, the time and step number since which the
    step has been constant, `contact_energy` and `friction_energy`, the work of contact reactions, and `sparsified`, the contacts
    that sparsification removed in the last step.  `idle` says after a step what has to be done: 0: something is due, since time has come to
    the `alarm`; 1: nothing; 1 + 2: a look at the world, since the last one was `patience` seconds ago (`since`, in ticks of the
    computer's clock); 4 more: constraints are `unsolved`.
    """

    def __init__(self):
        reals = dict.fromkeys(("time", "origin", "contact_energy", "friction_energy"), "f8")
        numbers = dict.fromkeys(("step_number", "origin_number", "since"), "i8")
        super().__init__(**reals, **numbers, **dict.fromkeys(("sparsified", "unsolved", "idle"), "i4"), alarm="f8", patience="f8")
        self.wake_at(-inf, 0.0)

    def wake_at(self, time: float, patience: float) -> None:
        """Nobody has to look at steps that end before this time, for so many seconds by the computer's clock."""
        self["alarm"][0], self["since"][0], self["patience"][0] = time, 0, patience

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
                works["friction_work"], self.removed, clock["unsolved"], clock["alarm"], clock["patience"], clock["since"], clock["time"],
                clock["step_number"], clock["contact_energy"], clock["friction_energy"], clock["sparsified"], clock["idle"],
            )
        ]  # fmt: skip
