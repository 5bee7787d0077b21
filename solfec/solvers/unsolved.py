"""Warnings about steps whose constraints were not solved to the required accuracy."""

from __future__ import annotations

import math
from collections.abc import Callable

from . import diagnosis


class UnsolvedSteps:
    """Steps of one run whose constraints were not solved.

    Parameters
    ----------
    notify : callable
        Receives warnings: one for each set of joints that contradict one another, and one at the end.
    names_contradictions : bool
        False if the solver itself reports contradictions.
    """

    def __init__(self, notify: Callable[[str], None], names_contradictions: bool = True):
        self._notify = notify
        self._contradictions = diagnosis.Contradictions() if names_contradictions else None
        self._first = self._unsolved = 0
        self._worst = -1.0
        self._text = ""

    def begin(self, step_number: int) -> None:
        """Begin a run with the step of this number."""
        self._first = step_number

    def after_step(self, model, local, worst: Callable[[], str] | None = None) -> None:
        """Count a step of a model, with these local dynamics, if it was not solved; calls for solved steps may be omitted.

        `worst` returns the name of the worst row of several processes, of which this one may have none.
        """
        report, time = model.report, model.time
        if report.status == "OK" or not (local.n or worst or report.worst):
            return
        self._unsolved += 1
        fault = self._contradictions.new(local, report.contradiction) if self._contradictions else ""
        if fault:
            self._notify(f"{report.solver}_SOLVER: {fault}")
        residual = report.residual if math.isfinite(report.residual) else math.inf
        if residual > self._worst:
            self._worst = residual
            row = report.worst or (worst() if worst else diagnosis.worst_row(local, report))
            self._text = f"the worst one, at time {time:g}, left a residual of {residual:.2g}: {row}{report.cause}"

    def end(self, solver: str, step_number: int) -> None:
        """Warn once of unsolved steps up to this number."""
        if self._unsolved:
            count = step_number - self._first
            steps = "1 step" if count == 1 else f"{count} steps"
            self._notify(f"{solver}_SOLVER did not reach its accuracy in {self._unsolved} of {steps}; {self._text}")
            self._unsolved = 0
