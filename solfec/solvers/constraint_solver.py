"""The interface between a time step and a constraint solver."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from typing import Any

from .local_dynamics import LocalDynamics
from .report import SolverReport


class ConstraintSolver(ABC):
    """A solver of C(B + W R, R) = 0 for the reactions R of one step.

    Attributes
    ----------
    SETTINGS : tuple of str
        Members that results store, and that are restored when a run is continued.
    OUTCOME : tuple of str
        Members that describe the last solution; processes that share a model get them from the one that has solved.
    stored_form : bool, int or None
        Form of W that it needs: True, the blocks of W; False, operators on bodies (velocity form); `assembly.UNLESS_MANY`, blocks unless there are
        too many of them; None, the cheaper form.
    colouring : str
        Order of contacts: 'ON' or 'AUTO', by colours, for sweeps on several threads; 'OFF', by keys.
    failure : str
        Policy for a step that it does not solve: 'CONTINUE', 'EXIT' or 'CALLBACK'.
    names_contradictions : bool
        Whether the solver itself reports joints that contradict one another.
    rolling : bool
        Whether it solves rolling rows, that is rolling and spinning friction of contacts.
    springs : bool
        Whether contacts of SPRING_DASHPOT materials keep their law; without it they become SIGNORINI_COULOMB ones.
    holds_supports : bool
        Whether it corrects supports of quasi-static steps itself, since only one process has all rows.
    ends_by_sums : bool
        Whether it ends by sums of forces or energies over the whole model, in which heavy bodies hide errors of light ones.
    noted : str
        A warning about the steps of a run, for its end, or ''.
    """

    SETTINGS: tuple[str, ...] = ()
    OUTCOME: tuple[str, ...] = ()
    stored_form: bool | int | None = None
    colouring = "OFF"
    failure = "CONTINUE"
    names_contradictions = False
    rolling = False
    springs = True
    holds_supports = False
    ends_by_sums: bool = False
    noted: str = ""

    @abstractmethod
    def solve(self, local: LocalDynamics) -> SolverReport:
        """Compute reactions R and velocities U in `local.rows`; at first `local.rows.R` holds the reactions of the last step."""

    def told(self) -> str:
        """Return `noted` once."""
        found, self.noted = self.noted, ""
        return found

    @property
    def class_name(self) -> str:
        """Name under which results store the settings of the solver."""
        return type(self).__name__

    @property
    def command(self) -> str:
        """Name of its command, for messages: NewtonSolver is NEWTON_SOLVER."""
        return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", type(self).__name__).upper()

    def settings(self) -> dict[str, Any]:
        """Return the members in `SETTINGS`."""
        return {name: getattr(self, name) for name in self.SETTINGS}

    def outcome(self) -> dict[str, Any]:
        """Return the members in `OUTCOME`."""
        return {name: getattr(self, name) for name in self.OUTCOME}

    def take_outcome(self, found: dict[str, Any]) -> None:
        """Take over what the solver of another process has found."""
        vars(self).update(found)

    def restore(self, settings: dict[str, Any]) -> None:
        """Set members in `SETTINGS` from stored ones; those that are not stored stay."""
        for name in self.SETTINGS:
            if name in settings:
                setattr(self, name, settings[name])
