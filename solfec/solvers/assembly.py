"""Assemble rows, laws and blocks of W of a step, and apply reactions to the bodies, by kernels."""

from __future__ import annotations

import numpy as np

from .. import _kernels
from ..errors import SolfecError
from ..tables import opened

#: Average number of off-diagonal blocks per row above which the velocity form is faster (benchmarks/gauss_seidel.py).
VELOCITY_FORM_FROM = 7.0
#: Average number of triples per row up to which it is faster in sweeps by colours, which visit contacts side by side (rows_in_lanes.py): those of two rigid bodies.
VELOCITY_FORM_IN_LANES = 4.0
#: Forms of W besides stored (1) and velocity form (0): the cheaper one; stored unless there are too many blocks.
CHEAPER, UNLESS_MANY = -1, -2
#: Under the latter, W is stored if it has at most FULL_ROWS blocks per row, or at most SMALL_MATRIX blocks in all.
FULL_ROWS, SMALL_MATRIX = 300.0, 1e6
NO_MARKS = np.zeros(0, np.int32)
ENTRIES_LACK, BLOCKS_LACK, ROWS_LACK = 1, 4, 5  # statuses of kernels that lack memory

_assemble_rows = _kernels.local_dynamics.assemble_rows
_add_obstacle_motion = _kernels.local_dynamics.add_obstacle_motion
_assemble_laws = _kernels.local_dynamics.assemble_laws
_mark_struck_bodies = _kernels.waiting_contacts.mark_struck_bodies
_leave_to_next_step = _kernels.waiting_contacts.leave_to_next_step
_assemble_matrix = _kernels.coupling_blocks.assemble_matrix
_assemble_springs = _kernels.spring_rows.assemble_springs
_apply_reactions = _kernels.local_dynamics.apply_reactions


def assemble_rows(local) -> None:
    """List the rows; assemble their operators, V, B and the diagonal blocks of W; choose the form of W.

    Parameters
    ----------
    local : LocalDynamics

    Raises
    ------
    SolfecError
        A constraint acts on bodies that it cannot move.
    """
    constraints, users, count = local.constraints, local.constraints.user_count, local.constraints.n
    local.rows.reserve(count + 1)
    while True:
        local.colours, local.n, entries, attachments, local.visits, failed, status = _assemble_rows(
            local.bodies.handles, constraints.handle, local.materials.handle, local.handles, local.elements.handle, users,
            count > local.coloured_above, local.colour_ptr, local.implicit, local.step,
        )  # fmt: skip
        if status == ROWS_LACK:
            local.rows.reserve(2 * count - users + 1)
        elif status == ENTRIES_LACK:
            local.entries.reserve(entries)
            local.attachments.reserve(attachments)
        else:
            break
    local.contacts = local.n - users  # contacts on bodies that sleep have no rows
    if failed >= 0 or status:
        _fail(local, failed, status)
    if local.driven is not None and local.driven.obstacles.size:
        moving, change = local.driven.obstacles, local.driven.change
        opened(_add_obstacle_motion(local.bodies.handles, constraints.handle, local.handles, local.n, local.epsilon, moving, change))
    local.coupled = local.has_implicit_rows()
    local.stored = local.coupled or is_stored(local)


def is_stored(local) -> bool:
    """Whether W is stored in blocks: as `form` prescribes, or where that is cheaper."""
    if local.form >= 0:
        return local.form > 0
    if local.form == CHEAPER:
        if local.colours and local.rows.entry_ptr[local.n] <= VELOCITY_FORM_IN_LANES * local.n:
            return False
        return local.visits <= VELOCITY_FORM_FROM * local.total
    return local.visits <= SMALL_MATRIX or local.visits <= FULL_ROWS * local.total


def assemble_laws(local) -> None:
    """Assemble the laws of rows, once diagonal blocks of W are complete.

    Raises
    ------
    SolfecError
        A constraint acts on bodies that it cannot move.
    """
    local.asked, failed, status = _assemble_laws(
        local.bodies.handles, local.constraints.handle, local.materials.handle, local.handles, local.n, local.dynamic, local.epsilon,
        local.step,
    )  # fmt: skip
    if failed >= 0 or status:
        _fail(local, failed, status)


def may_wait(materials, dynamic: bool) -> bool:
    """Whether some material has gap-aware contacts with restitution, which wait for the next step if their bodies are struck."""
    return dynamic and bool(((materials.view("restitution") > 0.0) & (materials.view("gap_aware") > 0.0)).any())


def struck_bodies(local) -> np.ndarray:
    """Return marks of the bodies that gap-aware contacts with restitution strike in this step, from the laws of rows; empty if no material has such contacts."""
    materials = local.materials
    if not may_wait(materials, local.dynamic):
        return NO_MARKS
    struck = np.zeros(local.bodies.n, np.int32)
    opened(_mark_struck_bodies(local.bodies.handles, local.constraints.handle, materials.handle, local.handles, local.n, local.epsilon, local.step, struck))
    return struck


def leave_to_next_step(local, struck: np.ndarray) -> None:
    """Open gap-aware contacts that do not close in this step, and one of whose bodies is struck in it."""
    tables = local.bodies.handles, local.constraints.handle, local.materials.handle, local.handles
    opened(_leave_to_next_step(*tables, local.n, local.epsilon, local.step, struck))


def assemble_blocks(local, laying_out: bool, adding: bool) -> None:
    """Lay out the off-diagonal blocks of W, filled with zeros, and add the contributions of explicit bodies."""
    while True:
        blocks, status = _assemble_matrix(
            local.bodies.handles, local.constraints.handle, local.handles, local.n, local.implicit, laying_out, adding
        )
        if status != BLOCKS_LACK:
            break
        local.blocks.reserve(blocks)
    if status:
        _fail(local, -1, status)


def _fail(local, failed: int, status: int) -> None:
    """Raise the error of a kernel that has not succeeded."""
    if failed >= 0:
        raise SolfecError(local.describe(failed))
    raise RuntimeError(f"a kernel of local dynamics does not know its tables: status {status}")


def assemble_springs(local) -> int:
    """Assemble the laws of springs, between laws and blocks; return the number of springs that Python functions describe."""
    constraints = local.constraints
    held, failed, status = _assemble_springs(
        constraints.handle, constraints.curves.handle, local.handles, local.n, local.dynamic, local.step
    )
    if failed >= 0:
        raise SolfecError(
            f"the curve of constraint {int(constraints.id[failed])} (SPRING) is unknown: a continued run needs the input"
            " to put its springs again"
        )
    if status:
        _fail(local, -1, status)
    return held


def apply_reactions(local) -> tuple[float, float]:
    """Apply reactions to bodies, copy R and U to the constraint table; return the work of normal and tangential reactions."""
    elements = local.elements
    time = local.step if local.dynamic else 0.0  # in quasi-statics no work is counted
    contact, friction, status = _apply_reactions(
        local.bodies.handles, local.constraints.handle, local.handles, elements.handle, local.n, time
    )
    if status:
        _fail(local, -1, status)
    return contact, friction
