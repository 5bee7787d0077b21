"""Terms that joints add to U = -V, fitted to one another.

After impacts, and in mechanisms always, joints remove velocities that were found in earlier configurations (fortran/rows/joint_rows.f90).  Joints that
hold a motion twice would contradict one another by the turn of half a step, and solvers that factorise would answer with reactions that balance one
another, of any size.  So the terms are the nearest ones that some motion has in the configuration of the step.
"""

from __future__ import annotations

import numpy as np

from .. import _kernels
from ..bodies.finite_elements import within_step
from ..bodies.table import BodyTable
from ..tables import opened
from .elsewhere import NOWHERE, Elsewhere
from .joint_correction import JointGapTable, solved
from .joint_starts import ASKED_FOR, IS_LINK, Start
from .table import ConstraintTable

ROUNDING = 1e-9  # part of terms by which joints that are not redundant may change: they keep their bits
STRUCK = int(Start.STRUCK)

_list_terms = _kernels.joint_terms.list_terms
_fit_terms = _kernels.joint_terms.fit_terms
_take_terms = _kernels.joint_terms.take_terms


def fit(constraints: ConstraintTable, bodies: BodyTable, looped: np.ndarray, room: JointGapTable, elsewhere: Elsewhere = NOWHERE) -> None:
    """Fit the terms of joints that an impact has reached, and of joints in loops (rows `looped`), at the present places of the user's rows.

    Links stay as they are, since they have a length, but for those among joints in loops.
    """
    users = constraints.user_count
    struck = (constraints.start[:users] >= STRUCK) & ~IS_LINK[constraints.kind[:users]]
    struck[looped] = True
    fit_rows(constraints, bodies, np.flatnonzero(struck).astype(np.int32), room, elsewhere)


def fit_rows(constraints: ConstraintTable, bodies: BodyTable, rows: np.ndarray, room: JointGapTable, elsewhere: Elsewhere = NOWHERE) -> None:
    """Fit the terms of these rows, ascending, to one another."""
    users = constraints.user_count
    room.reserve(3 * rows.size)
    count = 0
    if rows.size:
        count, status = _list_terms(bodies.handles, constraints.handle, within_step(bodies).handle, room.handle, rows, ASKED_FOR)
        opened(status)
    names, components, before = (column[:count].copy() for column in (room.constraint, room.component, room.gap))
    terms, number, triples, _ = elsewhere.all_scaled(room, count, bodies)
    if not terms.gap[:number].any() or terms.constraint[0] == terms.constraint[number - 1]:  # a joint does not contradict itself
        return
    whole = terms.gap[:number].copy()
    if not solved(lambda share: _fit_terms(terms.handle, number, triples, share)):
        return
    if np.abs(terms.gap[:number] - whole).max() <= ROUNDING * np.abs(whole).max():
        return
    # rows of `terms` ascend by constraints and components; every process has them all
    places = np.searchsorted(3 * terms.constraint[:number] + terms.component[:number], 3 * names + components)
    rows = np.searchsorted(constraints.id[:users], names).astype(np.int32)
    if rows.size:
        opened(_take_terms(constraints.handle, rows, components, before - terms.gap[places]))
