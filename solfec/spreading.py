"""What a simulation keeps for its spread model (docs/parallel.md, Spread models): the user's handles, and the course that one RUN leaves to the next."""

from __future__ import annotations

from weakref import WeakValueDictionary

from .errors import SolfecError
from .spread import Spread, join


class Spreading:
    """Whether a model is spread, and what follows from it.

    Parameters
    ----------
    processes : int
    writing : bool
        Whether the simulation makes results, and does not read them.

    Attributes
    ----------
    asked : bool
        SOLFEC.spread.
    on : bool
        Whether each of several processes keeps its own bodies only.
    """

    def __init__(self, processes: int, writing: bool):
        self._processes, self._possible = processes, processes > 1 and writing
        self.asked = False
        self._course: Spread | None = None
        self._handles: WeakValueDictionary | None = None  # whose identifiers the first RUN changes

    @property
    def on(self) -> bool:
        return self.asked and self._possible

    def choose(self, asked: bool) -> None:
        """Choose whether the model is spread."""
        self.asked = asked
        self._handles = WeakValueDictionary() if self.on else None

    def note(self, handle) -> None:
        """Note a handle of the user's."""
        if self._handles is not None:
            self._handles[id(handle)] = handle

    def _rename(self, simulation, bodies: dict[int, int], constraints: dict[int, int]) -> None:
        """Give the user's handles the identifiers on which processes have agreed; those of what has been deleted get 0, which nothing has."""
        for handle in list(self._handles.values()) if self._handles is not None else ():
            handle._id = (bodies if handle._names == "body" else constraints).get(handle._id, 0)
        self._handles = None
        simulation.display_points = {bodies[body]: points for body, points in simulation.display_points.items() if body in bodies}

    def join(self, simulation, world, solver) -> None:
        """Give all processes all bodies, before the state of a run that is continued is read."""
        if self.on:
            join(simulation.domain, world, solver, lambda *new: self._rename(simulation, *new))

    def course(self, simulation, world, solver, requests, described) -> Spread:
        """Return the course of a RUN."""
        if simulation.sampled:
            raise SolfecError("RUN: samples of displacements need SOLFEC.spread = 'OFF'")
        if self._course is None:
            renamed = lambda *new: self._rename(simulation, *new)  # noqa: E731
            self._course = Spread(simulation.domain, world, solver, simulation.balancing, requests, described, renamed)
        else:
            self._course.go_on(solver, simulation.balancing, requests, described)
        return self._course

    def told(self, domain) -> str:
        """Return a line for the beginning of a run, or ''."""
        if not self.on or domain.step_number:
            return ""
        return f"spread: all of {self._processes} processes have made {self._course.common} of these bodies, one each the others"
