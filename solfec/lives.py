"""Births and deaths of bodies, with what caused them: which bodies fell apart, and into which."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class Cause(IntEnum):
    """Why a body came or went."""

    USER = 0  # BODY or DELETE, after the first step
    CRACK = 1  # SIMPLIFIED_CRACK
    SPLIT = 2  # RT_SPLIT
    EXTENTS = 3  # it left the scene


@dataclass(frozen=True)
class Event:
    """A birth or a death.

    Attributes
    ----------
    body : int
        Identifier.
    born : bool
        Birth, or death.
    cause : Cause
    parent : int
        The body that a fragment comes from, 0: none.
    time, step : float, int
        When it happened, and after which step.
    energy : float
        Kinetic energy that a split has added, told with the death of the body that fell apart.
    """

    body: int
    born: bool
    cause: Cause
    parent: int
    time: float
    step: int
    energy: float = 0.0


class Lives:
    """All events of a run, in their order; `fragments` lists the identifiers of what bodies fell apart into."""

    def __init__(self):
        self.events: list[Event] = []
        self.fragments: dict[int, list[int]] = {}
        self.parents: dict[int, int] = {}
        self._followed: set[int] = set()  # bodies of which the first fragment takes the place

    def successor(self, body: int) -> int | None:
        """The body that goes by the handle of one that RT_SPLIT has split; None for others."""
        return self.fragments[body][0] if body in self._followed else None

    def note(self, event: Event) -> None:
        """Add an event."""
        self.events.append(event)
        if not event.born and event.cause == Cause.SPLIT:
            self._followed.add(event.body)
        if event.born and event.parent:
            self.fragments.setdefault(event.parent, []).append(event.body)
            self.parents[event.body] = event.parent

    def set(self, events) -> None:
        """Put other events in the place of all."""
        self.__init__()
        for event in events:
            self.note(event)

    def split(self, parent: int, children: list[int], cause: Cause, time: float, step: int, energy: float) -> None:
        """A body fell apart."""
        self.note(Event(parent, False, cause, 0, time, step, energy))
        for child in children:
            self.note(Event(child, True, cause, parent, time, step))
