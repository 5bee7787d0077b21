"""Joints whose points move when they begin: the first step stops the points (an impact), later steps conserve energy.

The law of joints, U = -V (docs/theory.md, Joints), is of second order if the points are at rest.  Otherwise it reverses the relative velocity
in every step, forever.  So a joint that is new, or whose bodies have got new velocities, is examined in the
configuration at the start of the step: if its points move relative to each other, the step prescribes U = 0 instead.

An impact of bodies leaves such a velocity, too, however well the step is solved.  U + V = 0 holds with the directions at mid-step, which have
turned at the end of the step, and the errors from turning cancel only if no impact changes the velocity in between.  The remaining velocity
is of the size h w |dU|, with the angular velocity w.  The next two steps remove it (fortran/rows/joint_rows.f90), as far as some motion can at
mid-step (joint_terms).
"""

from __future__ import annotations

import numpy as np

from .. import _kernels
from ..bodies.finite_elements import compiled
from ..bodies.table import BodyTable
from ..kinds import JOINTS, LINKS
from ..kinds import JointStart as Start
from ..tables import opened
from . import user
from .elsewhere import NOWHERE, Elsewhere
from .table import ConstraintKind, ConstraintTable

COMPONENTS = {kind.value: kind.components for kind in ConstraintKind}
ASKED_FOR = np.array([[c in COMPONENTS.get(kind, ()) for kind in range(max(COMPONENTS) + 1)] for c in range(3)], np.int32, order="F")  # prescribed components, by kinds
IS_JOINT, IS_LINK = (np.isin(np.arange(ASKED_FOR.shape[1]), kinds) for kinds in (JOINTS, LINKS))  # by kinds
LINK_MARKS = IS_LINK.astype(np.int32)
NEW, IMPACT, MET = int(Start.NEW), int(Start.IMPACT), int(Start.MET)  # members of enumerations are slow to access
AFTER = np.array([Start.MET, Start.NEW, Start.MET, Start.HALVED, Start.MET], np.int32)  # state after a step, by the state before it

_examine_starts = _kernels.joint_operators.examine_starts
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
    users = constraints.user_count
    if not elsewhere.any(np.count_nonzero(constraints.start[:users]) > 0):
        return False
    if not impacts:
        constraints.start[:users] = MET
        return False
    user.update(constraints, bodies, time, 0.0)
    treated, stopped, status = _examine_starts(bodies.handles, constraints.handle, compiled(bodies).handle, users, ASKED_FOR, LINK_MARKS)
    opened(status)
    if elsewhere.any(stopped > 0):
        _stop_links_beside(constraints, bodies, elsewhere)
    return elsewhere.any(treated > 0)


def _stop_links_beside(constraints: ConstraintTable, bodies: BodyTable, elsewhere: Elsewhere) -> None:
    """Stop also the links of bodies that are stopped.

    Points move by half a step until they stop; a link would restore its length although a fixed point holds its end.
    """
    users = slice(0, constraints.user_count)
    start, master, slave = constraints.start[users], constraints.master[users], constraints.slave[users]
    stopped = start == IMPACT
    touched = np.zeros(bodies.n + 1, bool)  # the last one means no body
    touched[master[stopped]] = touched[slave[stopped]] = True
    touched[:-1] = elsewhere.spread(touched[:-1])
    touched[-1] = False
    start[IS_LINK[constraints.kind[users]] & (touched[master] | touched[slave])] = IMPACT


def finish(constraints: ConstraintTable, bodies: BodyTable, time: float, corrected_later: bool, elsewhere: Elsewhere = NOWHERE) -> None:
    """After the step, mark joints as met, and set the lengths of stopped links to the present ones, unless `joint_correction` restores them."""
    start = constraints.start[: constraints.user_count]
    links, corrected = (start == IMPACT).nonzero()[0], (start >= IMPACT).nonzero()[0]
    if links.size:
        links = links[IS_LINK[constraints.kind[links]]]
    if corrected.size:
        constraints.value[:, corrected] = 0.0
    start[...] = AFTER[start]
    if corrected_later:
        links = links[user.on_reduced_bodies(constraints, bodies, links)]  # which it leaves out
    if elsewhere.any(links.size > 0):
        with user.present(constraints, bodies, time):
            change = constraints.gap[links]
        constraints.length[links] += change
        constraints.gap[links] -= change


def note_impacts(constraints: ConstraintTable, bodies: BodyTable, local, elsewhere: Elsewhere = NOWHERE) -> None:
    """After a step with local dynamics `local`, mark the joints of bodies that an impact has reached."""
    known, hit = elsewhere.known(local), np.zeros(bodies.n, np.int32)

    def mark() -> None:
        _, status = _mark_struck_joints(bodies.handles, constraints.handle, local.handles, local.n, constraints.user_count, known, hit)
        opened(status)

    mark()
    if elsewhere.has_nothing or not elsewhere.any(np.count_nonzero(hit) > 0):
        return
    while elsewhere.any(np.count_nonzero((spread := elsewhere.spread(hit)) > hit) > 0):
        np.maximum(hit, spread, out=hit)
        mark()
