"""The course of a run: what makes its steps and has their outcome; here that of a whole model in one process.

`Divided` and `Spread` are courses of models in parts, with the same members.
"""

from __future__ import annotations

from collections.abc import Callable

from .divided import Requests
from .domain import Domain


class Course:
    """The course of a whole model on one process.

    Attributes
    ----------
    model : Domain
        Has the local dynamics of the last step.
    collect, show, take, end : callable
        Bring the whole model up to date for a frame, and for readers; take over what they have changed; end the run.  Here they do nothing.
    signal, stop : int or None, bool
        What asks the run to end: a signal, the file STOP.
    watch : callable
        Gets the local dynamics of every step, None if they do not stand any more, and the rows that this process counts.
    statistics : Statistics or None
        Counts of processes; None: this is the only one.
    worst : callable or None
        Returns the name of the worst row of the last step, where several processes have rows.
    """

    def __init__(self, domain: Domain, solver, requests: Requests, advance: Callable[[], None] | None = None):
        self.model, self._requests = domain, requests
        self._advance = advance or (lambda: domain.advance(solver))
        self.collect = self.show = self.take = self.end = lambda: None
        self.stop, self.statistics, self.worst = False, None, None
        self.watch: Callable = lambda local, counted: None

    def advance(self) -> None:
        """Make a step."""
        self._advance()
        local = self.model.local_dynamics
        self.watch(local if local.stands else None, slice(None))

    @property
    def signal(self) -> int | None:
        return self._requests.signal()

    @property
    def constraints(self) -> int:
        """Number of constraints."""
        return self.model.constraints.n

    @property
    def reported(self):
        """The local dynamics whose rows the report of the last step names."""
        return self.model.local_dynamics
