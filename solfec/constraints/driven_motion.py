"""Velocities at the end of a step of bodies that the user's constraints drive.

Contacts do not act on obstacles, so their velocities are known before contacts are found.  The predicted ways of bodies take them, and so do contacts, and joints
of mechanisms, which follow one step later otherwise, as in Solfec-1.0.  Velocities that are prescribed for rigid bodies are what these will have unless
contacts act on them: the predicted ways take them, too, so that a body that is driven from rest meets what stands before it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from .. import _kernels
from ..bodies.finite_elements import within_step
from ..bodies.table import BodyKind, BodyTable
from ..kinds import PRESCRIBED
from ..tables import opened
from .elsewhere import NOWHERE, Elsewhere
from .joint_starts import ASKED_FOR
from .table import ConstraintKind, ConstraintTable

OBSTACLE = int(BodyKind.OBSTACLE)
NO_ROWS, NO_CHANGES = np.zeros(0, np.int32), np.zeros((6, 0), order="F")
DRIVES_BODIES = np.zeros(max(ConstraintKind) + 1, np.int32)  # 1: kinds of constraints that drive rigid bodies
DRIVES_BODIES[list(PRESCRIBED)] = 1

_change_velocities = _kernels.driven_motion.change_velocities


class DrivenMotion:
    """Bodies whose velocities constraints change in the present step.

    Attributes
    ----------
    obstacles : ndarray of int32, shape (k,)
        Obstacles.
    change : ndarray, shape (6, k)
        By what their velocities change: u(t+h) - u*.
    """

    def __init__(self):
        self.forget()

    def forget(self) -> None:
        """Let all bodies keep their velocities."""
        self.obstacles = self._bodies = NO_ROWS
        self.change = self._change = NO_CHANGES

    def find(self, constraints: ConstraintTable, bodies: BodyTable, step: float, elsewhere: Elsewhere = NOWHERE) -> None:
        """Find the changes that the user's constraints, up to date, make in a step."""
        users = constraints.user_count
        on_obstacles = bodies.kind[constraints.master[:users]] == OBSTACLE
        if on_obstacles.any() or DRIVES_BODIES[constraints.kind[:users]].any():
            rows, change = np.zeros(users, np.int32), np.zeros((6, users), order="F")
            elements = within_step(bodies)
            count, status = _change_velocities(
                bodies.handles, constraints.handle, elements.handle, users, ASKED_FOR, DRIVES_BODIES, step, rows, change
            )
            opened(status)
            still = bodies.kind[rows[:count]] == OBSTACLE
            self.obstacles, self.change = rows[:count][still], np.asfortranarray(change[:, :count][:, still])
            self._bodies, self._change = rows[:count][~still], change[:, :count][:, ~still]
        self.obstacles, self.change = elsewhere.moving_obstacles(self.obstacles, self.change)

    @contextmanager
    def ahead(self, bodies: BodyTable) -> Iterator[None]:
        """Show the velocities that bodies have at the end of the step, as if no loads made them."""
        if not (self.obstacles.size or self._bodies.size):
            yield
            return
        first = bodies.velo_ptr[np.append(self.obstacles, self._bodies)]
        changes = np.append(self.change, self._change, axis=1)
        triples, change = np.append(first, first + 1), np.append(changes[:3], changes[3:], axis=1)
        columns = bodies.triples.velo, bodies.triples.velo_prev
        kept = [column[:, triples] for column in columns]
        for column in columns:
            column[:, triples] = kept[0] + change
        try:
            yield
        finally:
            for column, values in zip(columns, kept):
                column[:, triples] = values
