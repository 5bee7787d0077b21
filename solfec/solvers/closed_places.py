"""Joints placed, within a step, where their points and axes meet; bodies do not stay there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from .. import _kernels
from ..bodies.finite_elements import within_step
from ..constraints import user
from ..constraints.elsewhere import Elsewhere
from ..constraints.joint_correction import HOLDS, LOOPED, solved
from ..constraints.joint_starts import IS_LINK
from ..kinds import BodyKind
from ..tables import opened, ranges, unique

CLOSED = 1e-9  # gaps over the geometric epsilon that are round-off of coordinates
MOST_MOVES = 3  # each leaves the square of a gap
OTHER_THAN_PLACES = "gap", "travel", "value"  # columns that are those of the bodies' own places
LINK_ENDS = "point", "other_point"  # the same, of links: they restore their length from where bodies are

_list_loops = _kernels.closed_loops.list_loops
_loop_motion = _kernels.closed_loops.loop_motion
_move_loops = _kernels.closed_loops.move_loops
_keep_rows = _kernels.user_constraints.keep_rows


class ClosedPlaces:
    """Some joints of a model, and their bodies, which can be shown where the joints' gaps are closed.

    Attributes
    ----------
    rows : ndarray of int32
        Rows of the joints, ascending.
    """

    def __init__(self):
        self.rows = self._bodies = np.zeros(0, np.int32)

    def take(self, model, rows: np.ndarray) -> None:
        """Take these joints, and all of their bodies that move."""
        constraints, bodies = model.constraints, model.bodies
        self.rows = rows
        sides = unique(np.append(constraints.master[rows], constraints.slave[rows]))
        sides = sides[sides >= 0]
        self._bodies = sides[bodies.kind[sides] != BodyKind.OBSTACLE].astype(np.int32)

    @contextmanager
    def placed(self, model, elsewhere: Elsewhere) -> Iterator[None]:
        """Show bodies and the user's rows where gaps are closed; afterwards, where they were."""
        bodies, constraints = model.bodies, model.constraints
        places = ranges(bodies.conf_ptr[self._bodies], np.full(self._bodies.size, 4))
        conf, users = bodies.configurations.conf[:, places], constraints.user_count
        constraints.kept.reserve(users)
        opened(_keep_rows(constraints.handle, constraints.kept.handle, users, False))
        others = {name: getattr(constraints, name)[..., :users].copy() for name in OTHER_THAN_PLACES}
        links = np.flatnonzero(IS_LINK[constraints.kind[:users]])
        ends = {name: getattr(constraints, name)[:, links] for name in LINK_ENDS}
        try:
            self._close(model, elsewhere)
            for name, column in others.items():
                getattr(constraints, name)[..., :users] = column
            for name, column in ends.items():
                getattr(constraints, name)[:, links] = column
            yield
            others["value"] = constraints.value[:, :users].copy()  # joint_terms changes them
        finally:
            bodies.configurations.conf[:, places] = conf
            opened(_keep_rows(constraints.handle, constraints.kept.handle, users, True))
            constraints.value[:, :users] = others["value"]

    def list_gaps(self, model, more: int = 0) -> int:
        """List the gaps of the joints here in `model.gaps`, with room for some `more` rows; return their number."""
        room, count = model.gaps, 0
        room.reserve(3 * self.rows.size + more)
        if self.rows.size:
            count, status = _list_loops(
                model.bodies.handles, model.constraints.handle, within_step(model.bodies).handle, room.handle, self.rows, HOLDS
            )
            opened(status)
        return count

    def listed(self, model, elsewhere: Elsewhere) -> tuple:
        """List the gaps of the joints in all processes (`Elsewhere.all_scaled`)."""
        return elsewhere.all_scaled(model.gaps, self.list_gaps(model), model.bodies)

    def _close(self, model, elsewhere: Elsewhere) -> None:
        """Move bodies to where the joints meet, and the user's rows with them."""
        for _ in range(MOST_MOVES):
            gaps, count, triples, place = self.listed(model, elsewhere)
            if not are_open(gaps, count, model.epsilon):
                return
            motion = _motion(gaps, count, triples)
            if motion is None:
                return
            if self._bodies.size:
                opened(_move_loops(model.bodies.handles, self._bodies, place, motion))
            user.follow(model.constraints, model.bodies, model.time + model.step, model.step)


def _motion(gaps, count: int, triples: int) -> np.ndarray | None:
    """Return the scaled motion (3, triples) that closes gaps; None: there is none."""
    motion = np.zeros((3, triples), order="F")
    return motion if solved(lambda share: _loop_motion(gaps.handle, count, share, motion), LOOPED) else None


def are_open(gaps, count: int, epsilon: float) -> bool:
    """Whether any of some gaps is more than round-off."""
    return bool(np.abs(gaps.gap[:count]).max(initial=0.0) > CLOSED * epsilon)
