"""Islands of rigid bodies that sleep while they rest, on request (docs/running.md, Sleeping).

A body that sleeps does not move, and contacts on it keep their reactions without being solved.  A sleeping body never touches an
awake one: its island wakes in the step in which detection finds such a contact, before constraints are assembled.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING

import numpy as np

from . import _kernels
from .bodies import motion
from .contact.detection import Settings
from .tables import opened

if TYPE_CHECKING:
    from .domain import Domain

_fall_asleep = _kernels.sleeping.fall_asleep
_wake = _kernels.sleeping.wake

STEPS = 100  # of rest, before an island sleeps
PART = 0.1  # of the velocity that gravity gives in a step: what is slow, unless the user says
TURNING = 0.1  # part of gravity with which bodies turn back: they are slow for a while at the highest point of their way, and do not rest
SET_BY_USER = [field.name for field in fields(Settings) if field.name != "margin"]  # a margin that is not asked for follows the shapes
ASLEEP, WAKES = -1, -2  # values of BodyTable.rest


class Sleeping:
    """Which islands of a model sleep, and what wakes them.

    Attributes
    ----------
    on : bool
        Whether islands may sleep.
    speed : float or None
        Bodies are slow below this velocity; None: below `PART` of gravity times the step.
    steps : int
        Steps for which all bodies of an island are slow before it sleeps.
    """

    def __init__(self, model: Domain):
        self.model = model
        self.on, self.speed, self.steps = False, None, STEPS
        self.seen = 0  # changes of states by the user that have been looked at
        self._gravity: np.ndarray | None = None  # at the last step
        self._materials: list[bytes] | None = None  # surface materials at the last step
        self._detection: list = []  # the user's settings of detection at the last step

    @property
    def setting(self) -> list:
        """What the user has asked for, as numbers that a file holds."""
        return [self.on, self.speed, self.steps]

    @setting.setter
    def setting(self, values) -> None:
        self.on, self.speed, self.steps = values
        if not self.on:
            self.wake_all()

    @property
    def any_asleep(self) -> bool:
        """Whether any body sleeps."""
        return bool((self.model.bodies.view("rest") < 0).any())

    def wake_all(self) -> None:
        """Wake all bodies between steps, and count their rest anew."""
        self.model.bodies.view("rest")[:] = 0

    def wake(self, rows) -> None:
        """Wake the islands of bodies in these rows, and islands that obstacles among them touch, between steps."""
        if self.on and len(rows) and self.any_asleep:
            self._wake(rows, within=False)
            rest = self.model.bodies.view("rest")
            rest[rest == WAKES] = 0

    def after_changes(self, changes: int, rows: list[int] | None) -> None:
        """Wake what the user has changed since the last step: bodies in `rows`, None: any; `changes` counts all changes so far."""
        fresh, self.seen = changes != self.seen, changes
        if not (self.on and fresh):
            return
        if rows is None:
            self.wake_all()
        else:
            self.wake(rows)

    def before_step(self) -> None:
        """Wake what loads, materials and functions disturb in the step that begins."""
        model, loads = self.model, self.model.loads
        table = model.surface_materials
        materials = [getattr(table, name)[..., : table.n].tobytes() for name in table.COLUMNS]
        detection = [getattr(model.settings, name) for name in SET_BY_USER]
        if self._gravity is None:  # the first step, or the first one of a continued run
            before = model.time - 0.5 * model.step if model.step_number else model.time + 0.5 * model.step
            self._gravity, self._materials, self._detection = loads.gravity_at(before).copy(), materials, detection
        gravity = loads.gravity_at(model.time + 0.5 * model.step)
        changed = materials != self._materials or not np.array_equal(gravity, self._gravity)
        changed = changed or not all(new is old or np.array_equal(new, old) for new, old in zip(detection, self._detection, strict=True))
        self._gravity[:], self._materials, self._detection = gravity, materials, detection
        if changed or model.hooks or len(loads.sources) > 1 or loads.of_step:
            self.wake_all()
        elif loads.on_bodies:
            self.wake(self._loaded())

    def _loaded(self) -> np.ndarray:
        """Return the rows of bodies with loads of their own."""
        loads = self.model.loads
        called = [callback.body for callback in loads.callbacks]
        return np.concatenate((loads.table.view("body"), loads.pressures.table.view("body"), np.array(called, np.int32)))

    def within_step(self) -> None:
        """Wake islands that detection has found in contact with what moves, and predict their motion in the step."""
        if not self.any_asleep:
            return
        model = self.model
        woken = self._wake((), within=True)
        if woken:
            motion.predict_waking(model.bodies, model.loads, model.step)
            rest = model.bodies.view("rest")
            rest[rest == WAKES] = 0

    def after_step(self) -> None:
        """Count steps of rest, and let islands sleep that have rested for long enough."""
        model = self.model
        bodies, constraints = model.bodies, model.constraints
        fall = model.step * float(np.linalg.norm(model.loads.gravity))
        speed = self.speed if self.speed is not None else PART * fall
        steps = max(self.steps, int(min(2.0 * speed / (TURNING * fall), 2**30)) + 1) if fall > 0.0 else self.steps
        kept = np.zeros(bodies.n, np.int32)
        if model.loads.on_bodies:
            kept[self._loaded()] = 1
        if model.cracks.of_body:
            kept[[row for row in map(bodies.row_of, model.cracks.of_body) if row >= 0]] = 1
        opened(_fall_asleep(bodies.handles, constraints.handle, constraints.user_count, speed, steps, kept))

    def _wake(self, rows, within: bool) -> int:
        """Mark islands as waking; return the number of bodies."""
        bodies, constraints = self.model.bodies, self.model.constraints
        marked = np.zeros(bodies.n, np.int32)
        if not isinstance(rows, tuple):
            marked[rows] = 1
        woken, status = _wake(bodies.handles, constraints.handle, constraints.user_count, within, marked)
        opened(status)
        return woken

    def before_removal(self, mask: np.ndarray) -> None:
        """Wake what rests on bodies, marked by `mask`, that are about to go."""
        self.wake(np.flatnonzero(mask))
