"""Bodies that have left the scene (manual, EXTENTS)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..kernel_programs import CONDET, Call, Numbers, Pause, Phase


class Lost(Phase):
    """Finds bodies whose boxes are outside of the scene.

    Parameters
    ----------
    model
        Has `bodies` and `extents`, six numbers [length].
    notice : callable
        Called where there are any.

    Attributes
    ----------
    found : Numbers
        The `count` of these bodies.
    """

    phase = CONDET

    def __init__(self, model, notice: Callable[[], None]):
        self.model, self.notice = model, notice
        self.outside = np.zeros(0, np.int32)
        self.found = Numbers(count="i4")

    def settle(self) -> None:
        bodies = self.model.bodies
        self._scene = np.array(self.model.extents, float)
        if len(self.outside) != bodies.capacity:
            self.outside = np.zeros(bodies.capacity, np.int32)

    def calls(self) -> list[Call]:
        bodies = self.model.bodies
        return [
            Call(
                "body_options.find_outside", bodies.handles[:1], self._scene, self.outside, results=self.found,
            ),
            Pause(self.found["count"]),
        ]  # fmt: skip

    def stopped(self, call: int) -> int:
        self.notice()
        return call + 1

    @property
    def mask(self) -> np.ndarray | None:
        """Bodies (n,) that are outside; None: all are inside."""
        if not self.found.get()[0]:
            return None
        return self.outside[: self.model.bodies.n] == 1
