"""The interface between a time step and a constraint solver."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from .local_dynamics import LocalDynamics
from .report import SolverReport


class ConstraintSolver(ABC):
    """A solver of C(B + W R, R) = 0 for the reactions R of one step.

    Attributes
    ----------
    SETTINGS : tuple of str
        Members that are kept with results, and restored when a run is continued.
    stored_form : bool, int or None
        Form of W that it needs: True, the blocks of W; False, operators on bodies (velocity form); -2, blocks where these are not too many;
        None, whichever costs less.
    colouring : str
        'ON' or 'AUTO': rows are to stand by colours, for sweeps on several threads; 'OFF': in the order of keys.
    failure : str
        What happens when it does not solve a step: 'CONTINUE', 'EXIT' or 'CALLBACK'.
    names_contradictions : bool
        Whether it tells by itself of joints that contradict one another.
    """

    SETTINGS: tuple[str, ...] = ()
    stored_form: bool | int | None = None
    colouring = "OFF"
    failure = "CONTINUE"
    names_contradictions = False

    @abstractmethod
    def solve(self, local: LocalDynamics) -> SolverReport:
        """Leave reactions R and velocities U in `local.rows`; `local.rows.R` holds those of the last step at first."""

    @property
    def class_name(self) -> str:
        """Name under which results store the settings of the solver."""
        return type(self).__name__

    def settings(self) -> dict[str, Any]:
        """The members in `SETTINGS`."""
        return {name: getattr(self, name) for name in self.SETTINGS}

    def restore(self, settings: dict[str, Any]) -> None:
        """Set those of the members in `SETTINGS` that are given."""
        for name in self.SETTINGS:
            if name in settings:
                setattr(self, name, settings[name])
