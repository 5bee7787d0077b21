"""What kernels do for local dynamics in a step: rows, laws and blocks of W are assembled, reactions go to the bodies."""

from __future__ import annotations

import numpy as np

from .. import _kernels
from ..bodies.finite_elements import within_step
from ..errors import SolfecError

#: Average number of off-diagonal blocks per row above which the velocity form is faster (benchmarks/gauss_seidel.py).
VELOCITY_FORM_FROM = 7.0
ROWS, PATTERN, LAWS, BLOCKS = 1, 2, 3, 4  # stages of the kernel `assemble`
ENTRIES_LACK, BLOCKS_LACK, ROWS_LACK = 1, 4, 5  # and what it may ask for

_assemble = _kernels.assembly_phases.assemble
_assemble_springs = _kernels.spring_rows.assemble_springs
_apply_reactions = _kernels.local_dynamics.apply_reactions


def assemble_stages(local, first: int, last: int, form: int) -> None:
    """Stages of the kernel `assemble`: rows, where blocks are that implicit bodies add to, laws, and the blocks that couple rows.

    Parameters
    ----------
    local : LocalDynamics
    first, last : int
        The stages.
    form : int
        Of W: 1, stored in blocks; 0, not; others leave it to the kernel, which says so in `local.stored`.

    Raises
    ------
    SolfecError
        A constraint acts on bodies that it cannot move.
    """
    constraints, bodies, stage = local.constraints, local.bodies, first
    while True:
        local.colours, entries, attachments, blocks, local.visits, stored, coupled, stage, failed, status = _assemble(
            stage, last, constraints.n, constraints.user_count, local.coloured_above, bodies.n, bodies.triples.n, local.dynamic,
            local.epsilon, local.step, form, VELOCITY_FORM_FROM, local.colours, local.visits,
            *local.columns.of(_assembly_columns, local),
        )  # fmt: skip
        local.stored, local.coupled = stored > 0, coupled > 0
        if not status:
            return
        if status == ROWS_LACK:
            local.rows.reserve(constraints.n + 1)
            continue
        form = stored
        if status == ENTRIES_LACK:
            local.entries.reserve(entries)
            local.attachments.reserve(attachments)
        elif status == BLOCKS_LACK:
            local.blocks.reserve(blocks)
        else:
            raise SolfecError(local.describe(failed))


def assemble_springs(local) -> int:
    """Laws of springs, between laws and blocks; returns the number of springs that Python functions describe."""
    constraints, rows, curves = local.constraints, local.rows, local.constraints.curves
    held, failed = _assemble_springs(
        0, constraints.n, rows.order, rows.kind, rows.V, constraints.limits, constraints.gap, constraints.dashpot,
        constraints.implicit, constraints.curve, curves.start, curves.strokes, curves.forces, curves.n, local.dynamic, local.step,
        rows.law, rows.block,
    )  # fmt: skip
    if failed >= 0:
        raise SolfecError(
            f"the curve of constraint {int(constraints.id[failed])} (SPRING) is unknown: a continued run needs the input"
            " to put its springs again"
        )
    return held


def apply_reactions(local) -> tuple[float, float]:
    """Reactions to the bodies, and what solvers found to the constraint table; returns the work of normal and tangential ones."""
    time = local.step if local.dynamic else 0.0  # quasi-statics count no work
    return _apply_reactions(
        local.constraints.n, local.bodies.n, local.bodies.triples.n, time, *local.columns.of(_reaction_columns, local)
    )


def _assembly_columns(local) -> tuple[np.ndarray, ...]:
    constraints, bodies, materials, rows = local.constraints, local.bodies, local.materials, local.rows
    elements, triples = within_step(bodies), bodies.triples
    return (
        constraints.kind, constraints.master, constraints.slave, constraints.birth, constraints.start,
        constraints.master_point, constraints.slave_point, constraints.base, constraints.R, constraints.U,
        constraints.material, constraints.point, constraints.other_point, constraints.gap, constraints.area,
        constraints.cohesion, constraints.length, constraints.master_primitive, constraints.slave_primitive, constraints.value, constraints.element, constraints.weights,
        bodies.kind, bodies.centre, bodies.conf_ptr, bodies.velo_ptr, bodies.element_ptr, local.implicit,
        bodies.configurations.conf, elements.element_size, elements.element_node,
        triples.velo, triples.velo_prev, triples.inverse_inertia,
        materials.model, materials.friction, materials.restitution, materials.spring, materials.dashpot, materials.hpow,
        materials.gap_aware,
        rows.order, rows.chunk_ptr, rows.kind, rows.block, rows.law, rows.diagonal, rows.B, rows.speed, rows.free, rows.V, rows.R, rows.U,
        rows.lost, rows.driving, rows.patch, rows.entry_ptr, rows.slave_entry, rows.block_ptr, local.colour_ptr,
        local.entries.triple, local.entries.operator, local.triples.factor,
        local.pointers.attachment, local.attachments.row, local.attachments.entry,
        local.blocks.column, local.blocks.block,
    )  # fmt: skip


def _reaction_columns(local) -> tuple[np.ndarray, ...]:
    rows, constraints, bodies, elements = local.rows, local.constraints, local.bodies, within_step(local.bodies)
    return (
        constraints.kind, constraints.master, constraints.slave,
        constraints.master_point, constraints.slave_point, constraints.base,
        bodies.kind, bodies.centre, bodies.conf_ptr, bodies.velo_ptr, bodies.element_ptr,
        bodies.configurations.conf, constraints.element, constraints.weights,
        elements.element_size, elements.element_node, bodies.triples.reaction, bodies.energy,
        rows.order, rows.R, rows.U, rows.V, rows.merit, rows.residual, rows.lost,
        local.pointers.attachment, local.attachments.row,
        constraints.R, constraints.U, constraints.V, constraints.merit, constraints.residual,
        constraints.cohesion,
    )  # fmt: skip
