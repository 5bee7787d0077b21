"""Joints in loops, whose operators a step takes where their points and axes meet (fortran/constraints/closed_loops.f90).

Joints that hold a motion twice, such as two hinges of a door or the four of a linkage in a plane, fit together in such places only.  In the middle
of a step their points are apart, by the drift of joints and by half a step's motion.  If the joints' axes turn in space, too, they then hold motions
that they leave free in truth: with small forces on bodies, but for solvers at any price.

Links keep a length, and other joints U = -V, which differ by terms of second order in the step.  Where a link and other joints hold a motion twice it
prescribes U = -V, too, and its length is restored at the end of the step.  So it does in quasi-statics, U = 0, whose steps begin where loops are closed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from .. import _kernels
from ..constraints.elsewhere import NOWHERE, Elsewhere
from ..constraints.joint_starts import IS_LINK
from ..constraints.supports import joints_in_loops
from ..kinds import LoopedLink
from ..tables import opened
from .closed_places import ClosedPlaces, are_open

FITTING = 1e-12  # misfit of redundant joints that is round-off
CLOSED_MISFIT = 1e-8  # the same, where loops have been closed
MISFITS = 1e-6  # squares of misfits that are looked for

_measure_misfit = _kernels.closed_loops.measure_misfit


class ClosedLoops:
    """Joints in loops of a model, found once per set of bodies and user's constraints."""

    def __init__(self):
        self._examined: tuple | None = None
        self.redundant = False  # whether some of them are redundant in this step, as far as they have opened
        self.drifts = False  # whether H of this step is that of the places where they meet, or links prescribe velocities: no later step closes gaps
        self._places = ClosedPlaces()
        self._all = self._links = self._couplings = self._alone = self.rows  # links and coupled points among joints in loops, and others

    @property
    def rows(self) -> np.ndarray:
        """Return the rows of joints in loops that are closed in this step."""
        return self._places.rows

    @contextmanager
    def closed(self, model, elsewhere: Elsewhere = NOWHERE) -> Iterator[None]:
        """Show bodies and the user's rows, within a step, where loops are closed; afterwards, where they were."""
        self.redundant = self.drifts = False
        if not self._find(model, elsewhere):
            yield
            return
        fits = self._choose(model, elsewhere)
        if fits:
            yield
            return
        with self._places.placed(model, elsewhere):
            yield

    def _choose(self, model, elsewhere: Elsewhere) -> bool:
        """Find whether redundant joints fit together where bodies are, and whether links among them prescribe velocities.

        A link that passes a place where it holds nothing, such as that of a parallelogram whose bars lie in line, is redundant for a step or two.  Closed
        loops do not fit there, and it keeps its length.
        """
        constraints, linked = model.constraints, elsewhere.has_linked_loops(self._links.size > 0)
        self._places.rows = self._all
        fits = self._fit(model, elsewhere)
        by_velocity = linked and self.redundant
        if by_velocity and not fits:
            with self._places.placed(model, elsewhere):
                by_velocity = self._misfit(*self._places.listed(model, elsewhere)[:3]) <= CLOSED_MISFIT and self.redundant
            if not by_velocity:
                self._places.rows = self._alone
                fits = self._fit(model, elsewhere)
        constraints.damped[self._couplings] = 1
        constraints.damped[self._links] = LoopedLink.VELOCITY if by_velocity else LoopedLink.BESIDE_JOINTS
        self.drifts = by_velocity or not fits
        return fits

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
        rows = self._all = np.flatnonzero(looped).astype(np.int32)
        self._places.take(model, rows)
        links = IS_LINK[constraints.kind[rows]]
        coupled = ~links & (constraints.joint[rows] == 0) & (constraints.slave[rows] >= 0)
        self._links, self._couplings, self._alone = rows[links], rows[coupled], rows[~links & ~coupled]
        return elsewhere.has_loops(rows.size > 0)

    def _fit(self, model, elsewhere: Elsewhere) -> bool:
        """Whether redundant joints fit together where bodies are.  Quasi-static steps begin where loops are closed: redundant ones are looked for, too."""
        gaps, count, triples, _ = self._places.listed(model, elsewhere)
        if model.dynamic and not are_open(gaps, count, model.epsilon):
            return True
        return self._misfit(gaps, count, triples) <= FITTING

    def _misfit(self, gaps, count: int, triples: int) -> float:
        """Return how far reactions of redundant joints are from balancing one another."""
        redundant, misfit, status = _measure_misfit(gaps.handle, count, triples, MISFITS)
        opened(status)
        self.redundant = redundant == 1
        return misfit
