"""Phases of a step that belong to local dynamics: rows, laws and blocks of W are assembled, reactions go to the bodies."""

from __future__ import annotations

import numpy as np

from ..bodies.finite_elements import within_step
from ..errors import SolfecError
from ..kernel_programs import LOCDYN, TIMINT, Call, Numbers, Pause, Phase

#: Average number of off-diagonal blocks per row above which the velocity form is faster (benchmarks/gauss_seidel.py).
VELOCITY_FORM_FROM = 7.0
ROWS, PATTERN, LAWS, BLOCKS = 1, 2, 3, 4  # stages of the kernel `assemble`
ENTRIES_LACK, BLOCKS_LACK, ROWS_LACK = 1, 4, 5  # and what it may ask for
TAKEN = -1  # in the place of a stage: nobody has to take the results


class Assembly(Phase):
    """Stages of the kernel `assemble`: rows, where blocks are that implicit bodies add to, laws, and the blocks that couple rows.

    Parameters
    ----------
    local : LocalDynamics
    first, last : int
        The stages.
    before : Assembly, optional
        What has done the stages before these, and found the form that W has.

    Attributes
    ----------
    results : Numbers
        What the kernel returned: `colours` and `stored` are for the sweeps; its `stage` is `TAKEN` once local dynamics has them.
    """

    phase = LOCDYN

    def __init__(self, local, first: int = ROWS, last: int = BLOCKS, before: Assembly | None = None):
        self.local, self._stages = local, (first, last)
        names = ("stage", "last", "users", "coloured_above", "bodies", "triples", "dynamic", "form", "colours")
        self._given = Numbers(**dict.fromkeys(names, "i4"), visits="i8", epsilon="f8", step="f8")
        names = ("colours", "entries", "attachments", "blocks", "stored", "coupled", "stage", "failed", "status")
        self.results = Numbers(**dict.fromkeys(names, "i4"), visits="i8")
        self.results["stage"][0] = TAKEN
        self._known = before.results if before else self._given  # colours, visits
        self._form = before.results["stored"] if before else self._given["form"]

    def ask(self) -> None:
        """All stages, in the form that local dynamics wants W in."""
        self._ask(self._stages[0], self.local.form)

    def _ask(self, stage: int, form: int) -> None:
        local = self.local
        self._given.set(
            stage, self._stages[1], local.constraints.user_count, local.coloured_above, local.bodies.n, local.bodies.triples.n,
            local.dynamic, form, local.colours, local.visits, local.epsilon, local.step,
        )  # fmt: skip

    def calls(self) -> list[Call]:
        local, given, known = self.local, self._given, self._known
        return [
            Call(
                "assembly_phases.assemble", given["stage"], given["last"], local.constraints.counts["left"], given["users"],
                given["coloured_above"], given["bodies"], given["triples"], given["dynamic"], given["epsilon"], given["step"], self._form,
                VELOCITY_FORM_FROM, known["colours"], known["visits"], *_columns(local),
                results=self.results, wanted={"status": 0},
            )  # fmt: skip
        ]

    def stopped(self, call: int) -> int:
        local = self.local
        colours, entries, attachments, blocks, stored, _, stage, failed, status, visits = self.results.get()
        for phase in (self, local.assembly[-1]):  # what the latter holds is of the step before
            phase.results["stage"][0] = TAKEN
        local.take_counts()
        local.colours, local.visits = colours, visits
        if status == ROWS_LACK:
            local.rows.reserve(local.n + 1)
            stored = local.form
        elif status == ENTRIES_LACK:
            local.entries.reserve(entries)
            local.attachments.reserve(attachments)
        elif status == BLOCKS_LACK:
            local.blocks.reserve(blocks)
        else:
            raise SolfecError(local.describe(failed))
        self._ask(stage, stored)
        return 0

    def recover(self) -> None:
        self.ask()


class Springs(Phase):
    """Laws of springs, between laws and blocks."""

    phase = LOCDYN

    def __init__(self, local):
        self.local = local
        self._given, self._results = Numbers(curves="i4", dynamic="i4", step="f8"), Numbers(held="i4", failed="i4")

    def ask(self) -> None:
        """Numbers that kernels take."""
        local = self.local
        self._given.set(local.constraints.curves.n, local.dynamic, local.step)

    def calls(self) -> list[Call]:
        constraints, rows, given = self.local.constraints, self.local.rows, self._given
        curves = constraints.curves
        return [
            Call(
                "spring_rows.assemble_springs", 0, constraints.counts["left"], rows.order, rows.kind, rows.V,
                constraints.limits, constraints.gap, constraints.dashpot, constraints.implicit, constraints.curve,
                curves.start, curves.strokes, curves.forces, given["curves"], given["dynamic"], given["step"], rows.law,
                rows.block, results=self._results, wanted={"failed": -1},
            ),
            Pause(self._results["held"]),
        ]  # fmt: skip

    def stopped(self, call: int) -> int:
        held, failed = self._results.get()
        if failed < 0:
            self.local.take_counts()
            self.local.find_held(held)
            return call + 1
        raise SolfecError(
            f"the curve of constraint {int(self.local.constraints.id[failed])} (SPRING) is unknown: a continued run needs the input"
            " to put its springs again"
        )


class Reactions(Phase):
    """Reactions to the bodies, and what solvers found to the constraint table.

    Attributes
    ----------
    works : Numbers
        Work of normal and of tangential contact reactions over the step.
    """

    phase = TIMINT

    def __init__(self, local):
        self.local = local
        self._given = Numbers(bodies="i4", triples="i4", time="f8")
        self.works = Numbers(contact_work="f8", friction_work="f8")

    def settle(self) -> None:
        local = self.local
        time = local.step if local.dynamic else 0.0  # quasi-statics count no work
        self._given.set(local.bodies.n, local.bodies.triples.n, time)

    def calls(self) -> list[Call]:
        local, given = self.local, self._given
        return [
            Call(
                "local_dynamics.apply_reactions", local.constraints.counts["left"], given["bodies"], given["triples"], given["time"],
                *_reaction_columns(local), results=self.works,
            )  # fmt: skip
        ]


def _columns(local) -> tuple[np.ndarray, ...]:
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
        rows.order, rows.chunk_ptr, rows.kind, rows.block, rows.law, rows.diagonal, rows.B, rows.free, rows.V, rows.R, rows.U,
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
