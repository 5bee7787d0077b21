"""Position correction of joints: on request, bodies are moved after a step so that the points of joints meet again.

Joints are solved for velocities, so their points drift apart by the error of time integration, which grows with
time.  The correction moves bodies by the smallest displacement, in the metric of their masses, that closes the gaps g:

    dq = M^-1 H^T x,   (H M^-1 H^T) x = -g

with H of the joints' rows at the end of the step.  Bodies of scheme DEF_LIM, whose vibrations may be faster than steps, move as rigid ones, and deform
only where this does not close gaps (fortran/constraints/rigid_shares.f90).  Velocities do not change, except for the referential angular velocity of a turned
body, whose angular momentum in space is kept.  Forces between bodies come in pairs in H^T x, so the common mass centre does not move.

Two kinds of joints are left out: fixed directions between two bodies, whose plane has no place of its own, and joints on bodies in a
reduced base, whose points cannot be moved independently.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .. import _kernels
from ..bodies import finite_element_motion
from ..bodies.failures import raise_failure
from ..bodies.finite_elements import compiled, within_step
from ..bodies.table import BodyTable
from ..kinds import DRIVES, JOINTS, Scheme
from ..tables import Table, opened
from . import user
from .elsewhere import NOWHERE, Elsewhere
from .table import ConstraintKind, ConstraintTable

SLIDING = tuple(kind for kind in JOINTS if kind.family.slides)
TREATMENT = np.zeros(max(ConstraintKind) + 1, np.int32)  # how kinds of constraints take part (fortran/constraints/joint_closing.f90)
for _kinds, _treatment in ((JOINTS, 1), (SLIDING, 2), (user.PRESCRIBED, 3), (DRIVES, 4)):
    TREATMENT[list(_kinds)] = _treatment
HOLDS = np.zeros((3, TREATMENT.size), np.int32, order="F")  # components whose drift is corrected
for _kind in ConstraintKind:
    HOLDS[[2] if _kind in DRIVES else [0, 1] if _kind.family.masked else list(_kind.components), _kind] = 1
CLOSED = 1e-9  # gaps over the geometric epsilon that are round-off of coordinates
REDUNDANT = 1e-12, 1e-9, 1e-6  # added to the diagonal, so that redundant joints share the displacement; more if there are no factors
LOOPED = REDUNDANT[1:]  # for redundant joints in loops: motions that they hold by a turn of some ten-thousandths only, as where they are apart, are not made

_list_gaps = _kernels.joint_closing.list_gaps
_close_gaps = _kernels.joint_closing.close_gaps
_move_bodies = _kernels.joint_closing.move_bodies
_carry_along = _kernels.joint_closing.carry_along


class JointGapTable(Table):
    """Components of the user's constraints that hold, at the end of a step."""

    COLUMNS = {
        "constraint": ((), "i8", 0),  # identifier
        "component": ((), "i4", 0),  # of its local frame, from 1
        "gap": ((), "f8", 0.0),  # [length]
        "force": ((), "f8", 0.0),  # x: the displacement is M^-1 H^T x
        "triple": ((20,), "i4", -1),  # velocity triples of the master and two of its rigid motion, if it has them, those of the slave, then -1
        "operator": ((3, 20), "f8", 0.0),  # row of H on them; anything where there is none
        "limit": ((), "i4", 0),  # 1: of a limit, not of a joint; these come last
    }


class LeftOut:
    """Joints that the correction leaves out, collected for a warning that names each of them once."""

    def __init__(self):
        self._known: set[int] = set()
        self._new: dict[str, list[int]] = {}
        self._looked = -1, -1

    def note(self, constraints: ConstraintTable, bodies: BodyTable) -> None:
        """Collect the joints that are left out in a step and were not collected before."""
        if self._looked == (constraints.edits, bodies.edits):
            return
        self._looked = constraints.edits, bodies.edits
        for reason, out in _left_out(constraints, bodies).items():
            new = sorted(set(constraints.id[np.flatnonzero(out)].tolist()) - self._known)
            if new:
                self._known.update(new)
                self._new.setdefault(reason, []).extend(new)

    def told(self) -> str:
        """Return the warning about newly collected joints; '' if there are none."""
        if not self._new:
            return ""
        parts = [f"{reason} ({_listed(sorted(ids))})" for reason, ids in self._new.items()]
        self._new = {}
        return (
            f"SOLFEC.joint_correction leaves out {' and '.join(parts)}: their points drift apart slowly, with the error of the time"
            " integration; a smaller step makes the drift smaller"
        )


def _listed(ids: list[int]) -> str:
    """List identifiers of some constraints, at most five by number."""
    more = f" and {len(ids) - 5} more" if len(ids) > 5 else ""
    return f"constraint{'s' if len(ids) > 1 else ''} {', '.join(map(str, ids[:5]))}{more}"


def _left_out(constraints: ConstraintTable, bodies: BodyTable) -> dict[str, np.ndarray]:
    """Return, by reason, masks (n,) of the user's constraints that are left out."""
    users = slice(0, constraints.user_count)
    kind, slave = constraints.kind[users], constraints.slave[users]
    reduced = user.on_reduced_bodies(constraints, bodies, users)
    joint = np.isin(kind, JOINTS)
    return {
        "joints on bodies of form 'BC-MODAL' or 'BC-RO'": joint & reduced,
        "fixed directions between two bodies": np.isin(kind, SLIDING) & (slave >= 0) & ~reduced,
    }


def correct(
    constraints: ConstraintTable,
    bodies: BodyTable,
    room: JointGapTable,
    time: float,
    epsilon: float,
    redundant: bool,
    elsewhere: Elsewhere = NOWHERE,
) -> bool:
    """Close the gaps of the user's joints at the end of a step; return whether a displacement of the bodies does.

    Parameters
    ----------
    constraints, bodies
        State tables at the end of the step.
    room : JointGapTable
        Memory for the gaps.
    time : float
        End of the step.
    epsilon : float
        Geometric epsilon [length]; gaps below `CLOSED` of it, round-off of coordinates, are not corrected.
    redundant : bool
        Whether joints in loops are redundant.
    elsewhere : Elsewhere
        Gaps of joints that other processes hold.
    """
    with user.present(constraints, bodies, time):
        gaps, count, largest = elsewhere.all_gaps(*_gaps(constraints, bodies, room))
        if largest > CLOSED * epsilon:
            inverse, shares = elsewhere.inverse_inertia(bodies), LOOPED if redundant else REDUNDANT
            moved = _displacement(gaps, count, inverse, elsewhere.body_count(bodies), shares)
            if moved is None:
                return False
            moved = elsewhere.here(moved)
            opened(_carry_along(bodies.handles, within_step(bodies).handle, moved))
            moved = moved[:, : bodies.triples.n]
            elsewhere.jump(moved)
            opened(_move_bodies(bodies.handles, moved))
            elements = within_step(bodies)
            if elements.count and (bodies.scheme[elements.rows] == Scheme.DEF_EXP).any():
                _strain(bodies)
    return True


def solved(kernel: Callable[[float], tuple[int, int]], shares: tuple[float, ...] = REDUNDANT) -> bool:
    """Whether a kernel, given the least of some `shares` for which this is so, finds factors; it returns 1 if it does, and the status of its tables."""
    for share in shares:
        regular, status = kernel(share)
        opened(status)
        if regular:
            return True
    return False


def _strain(bodies: BodyTable) -> None:
    """Give finite elements the energies and strains of their new places; the limit of explicit steps depends on them.

    Raises
    ------
    SolfecError
        A body has been turned inside out.
    """
    elements = compiled(bodies)
    failure, row = finite_element_motion.follow(elements, bodies)
    if failure:
        raise_failure(bodies, failure, row)
    finite_element_motion.store_internal_energy(elements, bodies)


def largest_gap(constraints: ConstraintTable, bodies: BodyTable, time: float) -> float:
    """Return the largest gap that a correction at `time` would close [length]."""
    with user.present(constraints, bodies, time):
        return _gaps(constraints, bodies, JointGapTable())[2]


def _gaps(constraints: ConstraintTable, bodies: BodyTable, gaps: JointGapTable) -> tuple[JointGapTable, int, float]:
    """List components of constraints that hold; return their table, their number, and the largest gap."""
    gaps.reserve(3 * constraints.user_count)
    count, largest, status = _list_gaps(
        bodies.handles, constraints.handle, within_step(bodies).handle, gaps.handle, constraints.user_count, TREATMENT, HOLDS
    )
    opened(status)
    return gaps, count, largest


def _displacement(gaps: JointGapTable, count: int, inverse: np.ndarray, bodies: int, shares: tuple[float, ...]) -> np.ndarray | None:
    """Return the displacement that closes gaps and is smallest in the metric of masses; None: there is none.

    Its columns are the triples, whose inverse inertia (3, 3, triples) is `inverse`, and two of the rigid motion of each body (fortran/constraints/rigid_shares.f90).
    """
    moved = np.zeros((3, inverse.shape[2] + 2 * bodies), order="F")
    return moved if solved(lambda share: _close_gaps(gaps.handle, count, inverse, share, moved), shares) else None
