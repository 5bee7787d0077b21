"""Joints whose points move when they begin: the first step stops the points (an impact), later steps conserve energy.

The law of joints, U = -V (docs/theory.md, Joints), is of second order if the points are at rest.  Otherwise it reverses the relative velocity
in every step, forever.  So a joint that is new, or whose bodies have got new velocities, is examined in the
configuration at the start of the step: if its points move relative to each other, the step prescribes U = 0 instead.

An impact of bodies leaves such a velocity, too, however well the step is solved.  U + V = 0 holds with the directions at mid-step, which have
turned at the end of the step, and the errors from turning cancel only if no impact changes the velocity in between.  The remaining velocity
is of the size h w |dU|, with the angular velocity w.  The next two steps remove it (fortran/rows/joint_rows.f90).
"""

from __future__ import annotations

import numpy as np

from .. import _kernels
from ..bodies.table import BodyTable
from ..kinds import JOINTS, LINKS
from ..kinds import JointStart as Start
from ..tables import opened
from . import user
from .elsewhere import NOWHERE, Elsewhere
from .joint_operators import relative_velocities
from .table import ConstraintKind, ConstraintTable

COMPONENTS = {kind.value: kind.components for kind in ConstraintKind}
ASKED_FOR = np.array([[c in COMPONENTS.get(kind, ()) for kind in range(max(COMPONENTS) + 1)] for c in range(3)])  # prescribed components, by kinds
IS_JOINT, IS_LINK = (np.isin(np.arange(ASKED_FOR.shape[1]), kinds) for kinds in (JOINTS, LINKS))  # by kinds
NO_ROWS = np.zeros(0, int)
NEW, IMPACT, MET = int(Start.NEW), int(Start.IMPACT), int(Start.MET)  # members of enumerations are slow to access
ROUNDING = 1e-9  # relative to the velocities of its bodies: smaller velocities of a joint count as zero
AFTER = np.array([Start.MET, Start.NEW, Start.MET, Start.HALVED, Start.MET], np.int32)  # state after a step, by the state before it

_mark_struck_joints = _kernels.struck_joints.mark_struck_joints


def mark(constraints: ConstraintTable, bodies) -> None:
    """Mark the joints of one or several bodies (rows), whose velocities have been set, for examination before the next step."""
    users = slice(0, constraints.user_count)
    attached = np.isin(constraints.master[users], bodies) | np.isin(constraints.slave[users], bodies)
    constraints.start[users][attached & IS_JOINT[constraints.kind[users]]] = NEW


def find(constraints: ConstraintTable, bodies: BodyTable, time: float, impacts: bool, elsewhere: Elsewhere = NOWHERE) -> bool:
    """Decide for marked joints whether the next step stops their points, from the configuration at its start.

    Parameters
    ----------
    constraints, bodies
        State tables; column `start` is set.
    time : float
        Start of the step.
    impacts : bool
        Whether steps stop joints at all.
    elsewhere : Elsewhere
        Joints that other processes hold.

    Returns
    -------
    bool
        Whether the next step stops any joint, here or elsewhere.
    """
    rows = constraints.start[: constraints.user_count].nonzero()[0] if constraints.user_count else NO_ROWS
    if not elsewhere.any(rows.size > 0):
        return False
    if impacts:
        user.update(constraints, bodies, time, 0.0)
        local, size = relative_velocities(constraints, bodies, rows)
        kind, fresh = constraints.kind[rows], constraints.start[rows] == NEW
        held = np.sqrt((np.where(ASKED_FOR[:, kind], local, 0.0) ** 2).sum(axis=0))
        constraints.start[rows[fresh]] = np.where(held > ROUNDING * size, IMPACT, MET)[fresh]
        local[0] = np.where(IS_LINK[kind], constraints.gap[rows], local[0])
        constraints.value[:, rows[~fresh]] = local[:, ~fresh]
        _stop_links_beside(constraints, bodies, elsewhere)
    else:
        constraints.start[rows] = MET
    return elsewhere.any(bool((constraints.start[: constraints.user_count] > NEW).any()))


def _stop_links_beside(constraints: ConstraintTable, bodies: BodyTable, elsewhere: Elsewhere) -> None:
    """Stop also the links of bodies that are stopped.

    Points move by half a step until they stop; a link would restore its length although a fixed point holds its end.
    """
    users = slice(0, constraints.user_count)
    start, master, slave = constraints.start[users], constraints.master[users], constraints.slave[users]
    stopped = start == IMPACT
    if not elsewhere.any(bool(stopped.any())):
        return
    touched = np.zeros(bodies.n + 1, bool)  # the last one means no body
    touched[master[stopped]] = touched[slave[stopped]] = True
    touched[:-1] = elsewhere.spread(touched[:-1])
    touched[-1] = False
    start[IS_LINK[constraints.kind[users]] & (touched[master] | touched[slave])] = IMPACT


def finish(constraints: ConstraintTable, bodies: BodyTable, time: float, keep_lengths: bool, elsewhere: Elsewhere = NOWHERE) -> None:
    """After the step, mark joints as met, and set the lengths of stopped links to the present ones, unless they must keep theirs."""
    start, kind = (column[: constraints.user_count] for column in (constraints.start, constraints.kind))
    links = np.flatnonzero((start == IMPACT) & IS_LINK[kind])
    constraints.value[:, np.flatnonzero(start > IMPACT)] = 0.0
    start[...] = AFTER[start]
    if elsewhere.any(links.size > 0) and not keep_lengths:
        user.update(constraints, bodies, time, 0.0)
        constraints.length[links] += constraints.gap[links]
        constraints.gap[links] = 0.0


def note_impacts(constraints: ConstraintTable, bodies: BodyTable, local, elsewhere: Elsewhere = NOWHERE) -> None:
    """After a step with local dynamics `local`, mark the joints of bodies that an impact has reached."""
    known, hit = elsewhere.known(local), np.zeros(bodies.n, np.int32)

    def mark() -> None:
        _, status = _mark_struck_joints(bodies.handles, constraints.handle, local.handles, local.n, constraints.user_count, known, hit)
        opened(status)

    mark()
    if not elsewhere.any(bool(hit.any())):
        return
    while elsewhere.any(bool(((spread := elsewhere.spread(hit)) > hit).any())):
        np.maximum(hit, spread, out=hit)
        mark()
