"""Joints in loops, whose operators a step takes where their points and axes meet (fortran/constraints/closed_loops.f90).

Joints that hold a motion twice, such as two hinges of a door or the four of a linkage in a plane, fit together in such places only.  In the middle
of a step their points are apart, by the drift of joints and by half a step's motion.  If the joints' axes turn in space, too, they then hold motions
that they leave free in truth: with small forces on bodies, but for solvers at any price.

Links keep a length, and other joints U = -V, which differ by terms of second order in the step.  Where a link and other joints hold a motion twice it
prescribes U = -V, too, and its length is restored at the end of the step.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from .. import _kernels
from ..bodies.finite_elements import within_step
from ..constraints import user
from ..constraints.elsewhere import NOWHERE, Elsewhere
from ..constraints.joint_correction import HOLDS, LOOPED, solved
from ..constraints.joint_starts import IS_LINK
from ..constraints.supports import joints_in_loops
from ..kinds import BodyKind, LoopedLink
from ..tables import opened, ranges, unique

FITTING = 1e-12  # misfit of redundant joints that is round-off
CLOSED_MISFIT = 1e-8  # the same, where loops have been closed
CLOSED = 1e-9  # gaps over the geometric epsilon that are round-off of coordinates
MOST_MOVES = 3  # each leaves the square of a gap
MISFITS = 1e-6  # squares of misfits that are looked for
OTHER_THAN_PLACES = "gap", "travel", "value"  # columns that are those of the bodies' own places
LINK_ENDS = "point", "other_point"  # the same, of links: they restore their length from where bodies are

_list_loops = _kernels.closed_loops.list_loops
_measure_misfit = _kernels.closed_loops.measure_misfit
_loop_motion = _kernels.closed_loops.loop_motion
_move_loops = _kernels.closed_loops.move_loops
_keep_rows = _kernels.user_constraints.keep_rows


class ClosedLoops:
    """Joints in loops of a model, found once per set of bodies and user's constraints."""

    def __init__(self):
        self._examined: tuple | None = None
        self.redundant = False  # whether some of them are redundant in this step, as far as they have opened
        self.drifts = False  # whether H of this step is that of the places where they meet, or links prescribe velocities: no later step closes gaps
        self.rows = self._bodies = np.zeros(0, np.int32)  # of joints in loops, of their bodies
        self._all = self._links = self._couplings = self._alone = self.rows  # links and coupled points among these joints, and others

    @contextmanager
    def closed(self, model, elsewhere: Elsewhere = NOWHERE) -> Iterator[None]:
        """Show bodies and the user's rows, within a step, where loops are closed; afterwards, where they were."""
        self.redundant = self.drifts = False
        if not (model.dynamic and self._find(model, elsewhere)):
            yield
            return
        fits = self._choose(model, elsewhere)
        if fits:
            yield
            return
        with self._placed(model, elsewhere):
            yield

    def _choose(self, model, elsewhere: Elsewhere) -> bool:
        """Find whether redundant joints fit together where bodies are, and whether links among them prescribe velocities.

        A link that passes a place where it holds nothing, such as that of a parallelogram whose bars lie in line, is redundant for a step or two.  Closed
        loops do not fit there, and it keeps its length.
        """
        constraints, linked = model.constraints, elsewhere.has_linked_loops(self._links.size > 0)
        self.rows = self._all
        fits = self._fit(model, elsewhere)
        by_velocity = linked and self.redundant
        if by_velocity and not fits:
            with self._placed(model, elsewhere):
                by_velocity = self._misfit(*self._listed(model, elsewhere)[:3]) <= CLOSED_MISFIT and self.redundant
            if not by_velocity:
                self.rows = self._alone
                fits = self._fit(model, elsewhere)
        constraints.damped[self._couplings] = 1
        constraints.damped[self._links] = LoopedLink.VELOCITY if by_velocity else LoopedLink.BESIDE_JOINTS
        self.drifts = by_velocity or not fits
        return fits

    @contextmanager
    def _placed(self, model, elsewhere: Elsewhere) -> Iterator[None]:
        """Show bodies and the user's rows where loops are closed; afterwards, where they were."""
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

    def _find(self, model, elsewhere: Elsewhere) -> bool:
        """Find joints in loops, and their bodies; return whether the whole model has any."""
        constraints, bodies = model.constraints, model.bodies
        users = constraints.user_count
        looped = elsewhere.looped(constraints)
        examined = users, int(constraints.id[users - 1]) if users else 0, bodies.edits, model.joint_impacts
        if looped is None and examined == self._examined:
            return self._all.size > 0
        self._examined = examined
        if looped is None:
            looped = np.isin(constraints.id[:users], joints_in_loops(model))
        rows = self.rows = self._all = np.flatnonzero(looped).astype(np.int32)
        links = IS_LINK[constraints.kind[rows]]
        coupled = ~links & (constraints.joint[rows] == 0) & (constraints.slave[rows] >= 0)
        self._links, self._couplings, self._alone = rows[links], rows[coupled], rows[~links & ~coupled]
        sides = unique(np.append(constraints.master[rows], constraints.slave[rows]))
        sides = sides[sides >= 0]
        self._bodies = sides[bodies.kind[sides] != BodyKind.OBSTACLE].astype(np.int32)
        return elsewhere.has_loops(rows.size > 0)

    def _listed(self, model, elsewhere: Elsewhere) -> tuple:
        """List the gaps of joints in loops of the whole model (`Elsewhere.all_scaled`)."""
        bodies, room = model.bodies, model.gaps
        room.reserve(3 * self.rows.size)
        count = 0
        if self.rows.size:
            count, status = _list_loops(bodies.handles, model.constraints.handle, within_step(bodies).handle, room.handle, self.rows, HOLDS)
            opened(status)
        return elsewhere.all_scaled(room, count, bodies)

    def _fit(self, model, elsewhere: Elsewhere) -> bool:
        """Whether redundant joints fit together where bodies are."""
        gaps, count, triples, _ = self._listed(model, elsewhere)
        if not _open(gaps, count, model.epsilon):
            return True
        return self._misfit(gaps, count, triples) <= FITTING

    def _misfit(self, gaps, count: int, triples: int) -> float:
        """Return how far reactions of redundant joints are from balancing one another."""
        redundant, misfit, status = _measure_misfit(gaps.handle, count, triples, MISFITS)
        opened(status)
        self.redundant = redundant == 1
        return misfit

    def _close(self, model, elsewhere: Elsewhere) -> None:
        """Move bodies to where joints in loops meet, and the user's rows with them."""
        for _ in range(MOST_MOVES):
            gaps, count, triples, place = self._listed(model, elsewhere)
            if not _open(gaps, count, model.epsilon):
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


def _open(gaps, count: int, epsilon: float) -> bool:
    """Whether any of some gaps is more than round-off."""
    return bool(np.abs(gaps.gap[:count]).max(initial=0.0) > CLOSED * epsilon)
