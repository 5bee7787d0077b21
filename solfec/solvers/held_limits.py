"""Limits along axes, and ropes, whose motion joints hold already, within a step.

A rope from a point on the axis of a door to its edge, or to the ground, never gets longer: the hinge holds its length.  Joints prescribe U = -V, and a
rope that is taut a rate at the end of the step; in quasi-statics U = 0, and ropes and limits take back what steps have turned points off their axes.
These differ by terms of second order in the step, and solvers answer a contradiction by forces of any
size.  So what holds from one side does nothing in a step in which joints hold its motion from both sides; where they hold it in part, or break, it holds.

Joints fit together where their points and axes meet, and whether they hold a motion is asked there (closed_places).
"""

from __future__ import annotations

from contextlib import nullcontext

import numpy as np

from .. import _kernels
from ..bodies.finite_elements import within_step
from ..constraints.elsewhere import NOWHERE, Elsewhere
from ..constraints.joint_correction import LOOPED, solved
from ..constraints.supports import HeldBodies
from ..kinds import ConstraintKind
from ..tables import opened
from .closed_places import ClosedPlaces, are_open

NEARLY = 1e-3  # part of the row of a limit that joints leave where they have opened within a step, if they hold it where they meet
HELD = 1e-8  # the same, where they meet
NOTHING = np.zeros(0, np.int32)

_list_limits = _kernels.held_limits.list_limits
_find_held = _kernels.held_limits.find_held


class HeldLimits:
    """Limits in loops with joints, found once per set of bodies and user's constraints."""

    def __init__(self):
        self._examined: tuple | None = None
        self._anywhere = False  # whether the whole model has any
        self._limits = NOTHING
        self._joints = ClosedPlaces()

    def find(self, model, elsewhere: Elsewhere = NOWHERE) -> None:
        """Write column `held` of limits in this step."""
        constraints = model.constraints
        if not self._choose(model, elsewhere):
            return
        constraints.held[self._limits] = 0
        reached = self._reached(model)
        if not elsewhere.any(reached.size > 0):
            return
        nearly, is_open = self._held(model, elsewhere, reached, NEARLY)
        if not elsewhere.any(nearly.size > 0):
            return
        with self._joints.placed(model, elsewhere) if is_open else nullcontext():
            held, _ = self._held(model, elsewhere, nearly, HELD)
        constraints.held[held] = 1

    def _choose(self, model, elsewhere: Elsewhere) -> bool:
        """Find limits in loops, and the joints in these; return whether the whole model has any."""
        constraints, bodies = model.constraints, model.bodies
        held, count = elsewhere.held_bodies(), constraints.user_count
        examined = count, int(constraints.id[count - 1]) if count else 0, bodies.edits, held
        if examined != self._examined:
            self._examined = examined
            limits, joints = (held or HeldBodies.of(constraints, bodies)).joints_about_limits()
            self._anywhere = limits.size > 0 and joints.size > 0
            users = slice(0, count)
            self._limits, rows = (np.flatnonzero(np.isin(constraints.id[users], some)).astype(np.int32) for some in (limits, joints))
            constraints.held[users] = 0
            self._joints.take(model, rows)
        return self._anywhere

    def _reached(self, model) -> np.ndarray:
        """Return the rows of limits that coordinates have reached, up to the geometric epsilon, as their law looks at it (fortran/rows/drive_rows.f90)."""
        constraints, rows = model.constraints, self._limits
        turns = constraints.kind[rows] == ConstraintKind.TORSIONAL
        gap, limits = constraints.gap[rows], constraints.limits[:, rows]
        touch = model.epsilon / np.where(turns, constraints.length[rows], 1.0)
        return rows[(gap <= limits[0] + touch) | (gap >= limits[1] - touch)]

    def _held(self, model, elsewhere: Elsewhere, limits: np.ndarray, misfit: float) -> tuple[np.ndarray, bool]:
        """Return those of some limits whose motions joints hold where bodies are, and whether these joints are open."""
        constraints, room = model.constraints, model.gaps
        joints = self._joints.list_gaps(model, limits.size)
        count = joints
        if limits.size:
            handles = model.bodies.handles, constraints.handle, within_step(model.bodies).handle, room.handle
            count, status = _list_limits(*handles, limits, joints)
            opened(status)
        gaps, number, triples, _ = elsewhere.all_scaled(room, count, model.bodies)
        joints = number - int(np.count_nonzero(gaps.limit[:number]))
        is_open, names = are_open(gaps, joints, model.epsilon), gaps.constraint[joints:number].copy()
        held = np.zeros(number - joints, np.int32)
        if not solved(lambda share: _find_held(gaps.handle, joints, triples, share, misfit, held), LOOPED):
            held[:] = 0
        return limits[np.isin(constraints.id[limits], names[held == 1])], is_open
