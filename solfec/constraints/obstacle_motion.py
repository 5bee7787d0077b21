"""Velocities at the end of a step of obstacles that the user's constraints drive.

Contacts do not act on obstacles, so their velocities are known before contacts are found.  The predicted ways of bodies take them, and so do contacts, and joints
of mechanisms, which follow one step later otherwise, as in Solfec-1.0.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from .. import _kernels
from ..bodies.finite_elements import within_step
from ..bodies.table import BodyKind, BodyTable
from ..tables import opened
from .elsewhere import NOWHERE, Elsewhere
from .joint_starts import ASKED_FOR
from .table import ConstraintTable

OBSTACLE = int(BodyKind.OBSTACLE)
NO_ROWS, NO_CHANGES = np.zeros(0, np.int32), np.zeros((6, 0), order="F")

_change_velocities = _kernels.obstacle_motion.change_velocities


class ObstacleMotion:
    """Obstacles whose velocities constraints change in the present step.

    Attributes
    ----------
    rows : ndarray of int32, shape (k,)
        These bodies.
    change : ndarray, shape (6, k)
        By what their velocities change: u(t+h) - u*.
    """

    def __init__(self):
        self.forget()

    def forget(self) -> None:
        """Let all obstacles keep their velocities."""
        self.rows, self.change = NO_ROWS, NO_CHANGES

    def find(self, constraints: ConstraintTable, bodies: BodyTable, step: float, elsewhere: Elsewhere = NOWHERE) -> None:
        """Find the changes that the user's constraints, up to date, make in a step."""
        users = constraints.user_count
        if users and np.count_nonzero(bodies.kind[constraints.master[:users]] == OBSTACLE):
            rows, change = np.zeros(users, np.int32), np.zeros((6, users), order="F")
            elements = within_step(bodies)
            count, status = _change_velocities(bodies.handles, constraints.handle, elements.handle, users, ASKED_FOR, step, rows, change)
            opened(status)
            self.rows, self.change = rows[:count], change[:, :count]
        self.rows, self.change = elsewhere.moving_obstacles(self.rows, self.change)

    @contextmanager
    def ahead(self, bodies: BodyTable) -> Iterator[None]:
        """Show the velocities that obstacles have at the end of the step, as if no loads made them."""
        if not self.rows.size:
            yield
            return
        first = bodies.velo_ptr[self.rows]
        triples, change = np.concatenate([first, first + 1]), np.concatenate([self.change[:3], self.change[3:]], axis=1)
        columns = bodies.triples.velo, bodies.triples.velo_prev
        kept = [column[:, triples] for column in columns]
        for column in columns:
            column[:, triples] = kept[0] + change
        try:
            yield
        finally:
            for column, values in zip(columns, kept):
                column[:, triples] = values
