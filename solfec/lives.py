"""Births and deaths of bodies with their causes, and fragments of bodies that fell apart."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class Cause(IntEnum):
    """Cause of a body's birth or death."""

    USER = 0  # BODY or DELETE, after the first step
    CRACK = 1  # SIMPLIFIED_CRACK
    SPLIT = 2  # RT_SPLIT
    EXTENTS = 3  # it left the scene
    SWITCH = 4  # BODY_SWITCH: a body of another kind goes on in its place


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
        Kinetic energy that a split has added, kinetic and internal energy that a switch has added, recorded with the death of the body.
    """

    body: int
    born: bool
    cause: Cause
    parent: int
    time: float
    step: int
    energy: float = 0.0


class Lives:
    """All events of a run, in their order; `fragments` lists the identifiers of each body's fragments."""

    def __init__(self):
        self.events: list[Event] = []
        self.fragments: dict[int, list[int]] = {}
        self.parents: dict[int, int] = {}
        self._followed: set[int] = set()  # bodies whose handle refers to their first fragment

    def successor(self, body: int) -> int | None:
        """Return the body to which the handle of a body refers after RT_SPLIT or BODY_SWITCH; None for others."""
        return self.fragments[body][0] if body in self._followed else None

    def origin(self, body: int) -> int:
        """Return the first body whose handle refers to this one by now, which never changes; a body that follows no other is its own origin."""
        parent = self.parents.get(body)
        while parent in self._followed and self.fragments[parent][0] == body:
            body, parent = parent, self.parents.get(parent)
        return body

    def note(self, event: Event) -> None:
        """Add an event."""
        self.events.append(event)
        if not event.born and event.cause in (Cause.SPLIT, Cause.SWITCH):
            self._followed.add(event.body)
        if event.born and event.parent:
            self.fragments.setdefault(event.parent, []).append(event.body)
            self.parents[event.body] = event.parent

    def set(self, events) -> None:
        """Replace all events."""
        self.__init__()
        for event in events:
            self.note(event)

    def split(self, parent: int, children: list[int], cause: Cause, time: float, step: int, energy: float) -> None:
        """Record that a body fell apart, or that another one goes on in its place."""
        self.note(Event(parent, False, cause, 0, time, step, energy))
        for child in children:
            self.note(Event(child, True, cause, parent, time, step))
