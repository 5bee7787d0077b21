"""What may be done to a model: much between two steps, little within one, nothing after an error in the midst of one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from .errors import SolfecError

READY, PREPARING, WITHIN, BROKEN_OFF = range(4)


class StepGuard:
    """Where a model stands in a step; the context of the phases of one.

    Errors that leave the context break off the model, whose bodies stand in the midst of a step.

    Attributes
    ----------
    standing : int
        READY, PREPARING, WITHIN or BROKEN_OFF.
    shown : bool
        Whether users may read the model's state; False while its parts make a step.
    """

    def __init__(self):
        self.standing = READY
        self.shown = True

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind, error, trace) -> None:
        if kind is not None:
            self.standing = BROKEN_OFF

    @property
    def within_step(self) -> bool:
        """Whether a step is in progress, as for callbacks within it."""
        return self.standing in (PREPARING, WITHIN)

    def refuse(self, what: str) -> None:
        """Raise an error within a step, when rows must not move."""
        if self.within_step:
            raise SolfecError(f"a callback in the midst of a time step cannot {what}; use CALLBACK, which comes after a step")

    def refuse_to_advance(self, time: float) -> None:
        """Raise the error that prevents another step from beginning at this time."""
        self.refuse("start another one")
        raise SolfecError(
            f"an error has broken off the step that began at time {time:g}, and bodies stand in its midst: no other step can "
            "follow; make the model again, or continue the run from its last frame (-c)"
        )

    @contextmanager
    def step_of_parts(self) -> Iterator[None]:
        """Let the model count as within a step, which its parts make: users cannot read or change it."""
        self.standing, self.shown = WITHIN, False
        try:
            with self:
                yield
        finally:
            self.shown = True
        self.standing = READY

    @contextmanager
    def shown_within_step(self) -> Iterator[None]:
        """Let functions of the user read the model, which has got the states of its parts within a step."""
        self.shown = True
        yield
        self.shown = False
