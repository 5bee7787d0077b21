"""Local dynamics `U = B + W R` of all constraints, and reactions back on the bodies (Solfec-1.0's `ldy`).

Rows stand in the order of the Gauss-Seidel sweep: contacts by birth step, newest first, then the user's constraints,
last created first.  `W` is kept in one of two forms, chosen by counts: block-CSR with one summed 3x3 block per pair of
rows, or the velocity form, which keeps the rows' operators on the bodies instead and costs the same however many
neighbours a row has.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from .. import _kernels
from ..bodies.finite_elements import within_step
from ..bodies.implicit import implicit_of_step
from ..bodies.reduced import ReducedBodies
from ..bodies.table import BodyTable
from ..constraints.table import ConstraintKind, ConstraintTable, SurfaceMaterialTable
from ..errors import SolfecError
from ..kernel_programs import CONSOL, LOCDYN, PHASES, TIMINT, Call, Numbers, Phase, Program
from ..tables import KernelColumns, Table, note_reallocation

_assemble_springs = _kernels.spring_rows.assemble_springs
_place_blocks = _kernels.compliance.place_blocks
_most_rows = _kernels.compliance.most_rows
_fill_columns = _kernels.compliance.fill_columns
_inverse_columns = _kernels.compliance.inverse_columns
_add_compliance = _kernels.compliance.add_compliance

#: Average number of off-diagonal blocks per row above which the velocity form is faster (benchmarks/gauss_seidel.py).
VELOCITY_FORM_FROM = 7.0
ROWS, LAWS, BLOCKS = 1, 2, 3  # stages of the kernel `assemble`
ENTRIES_LACK, BLOCKS_LACK, ROWS_LACK, SPRINGS_WAIT = 1, 4, 5, 6  # and what it may ask for
NO_ROWS = np.zeros(0, int)
NO_WORK = np.zeros(0)
NO_BLOCKS = np.zeros((3, 3, 1), order="F")

#: Rows above which contacts are swept by colours unless a solver says otherwise.
COLOURED_FROM = 2000
NEVER = 2**31 - 1
MOST_COLOURS = 63


class RowKind(IntEnum):
    """Kinds of rows: the constraint's kind, and contacts that follow another law in this step."""

    CONTACT = 0
    FIXPNT = 1
    FIXDIR = 2
    VELODIR = 3
    VELODIR3 = 4
    RIGLNK = 5
    SPRING = 6  # with a tabulated curve
    SPRING_DASHPOT = 7  # contact of a SPRING_DASHPOT material
    OPEN = 8  # cohesive contact with an open gap: R = 0, U = B
    HELD = 9  # spring with a Python function: sweeps leave its reaction alone


class RowTable(Table):
    """One row per constraint in the order of the sweep (one more is kept for the pointers)."""

    COLUMNS = {
        "order": ((), "i4", 0),  # row of the constraint table
        "kind": ((), "i4", 0),  # RowKind
        "block": ((16,), "f8", 0.0),  # numbers of the contact's block solve
        "law": ((8,), "f8", 0.0),  # gap, spring, dashpot, hpow, friction, restitution, cohesion force, shift
        "diagonal": ((3, 3), "f8", 0.0),  # W_aa
        "B": ((3,), "f8", 0.0),  # free velocity
        "free": ((3,), "f8", 0.0),  # the same less what is asked for, as the sweep uses it
        "V": ((3,), "f8", 0.0),
        "R": ((3,), "f8", 0.0),
        "U": ((3,), "f8", 0.0),
        "merit": ((), "f8", 0.0),
        "residual": ((), "f8", 0.0),
        "lost": ((), "i4", 0),  # 1: cohesion ended in this step
        "entry_ptr": ((), "i4", 0),  # first entry of the row
        "slave_entry": ((), "i4", 0),  # first entry of its slave
        "block_ptr": ((), "i4", 0),  # first off-diagonal block of the row
        "chunk_ptr": ((), "i4", 0),  # first row of a chunk of rows that one thread sweeps
    }


class EntryTable(Table):
    """Operator blocks H' of the rows: W_ab = sum H'_a H'_b^T over shared velocity triples."""

    COLUMNS = {"triple": ((), "i4", 0), "operator": ((3, 3), "f8", 0.0)}


class BlockTable(Table):
    """Off-diagonal blocks of W, row after row, columns ascending."""

    COLUMNS = {"column": ((), "i4", 0), "block": ((3, 3), "f8", 0.0)}


class AttachmentTable(Table):
    """Rows acting on bodies, body after body."""

    COLUMNS = {"row": ((), "i4", 0), "entry": ((), "i4", 0)}


class PointerTable(Table):
    """First attachment of every body (one more at the end)."""

    COLUMNS = {"attachment": ((), "i4", 0)}


class TripleWork(Table):
    """Per velocity triple: L with L L^T = h A^-1, and the scaled momentum of the velocity form."""

    COLUMNS = {"factor": ((3, 3), "f8", 0.0), "momentum": ((3,), "f8", 0.0)}


class LocalDynamics:
    """Assembled rows of one step; arrays are kept and grown from step to step.

    Attributes
    ----------
    n : int
        Rows.
    contacts : int
        Leading rows that are contacts; the user's constraints follow.
    rows : RowTable
        V, B, R, U and laws of the rows.
    colours : int
        Colours that contacts stand in (`colour_ptr`, `rows.chunk_ptr`); 0: rows stand in the order of keys.
    stored : bool
        True: W is in block-CSR (`blocks`); False: velocity form.
    visits : int
        Upper bound of the number of off-diagonal blocks of W.
    held : ndarray
        Rows of springs with Python functions; solvers take their reactions from `spring_functions`.
    unmet : ndarray
        By how much their velocities missed their laws when they were visited last.
    """

    def __init__(self):
        self.columns = KernelColumns()
        self.rows = RowTable()
        self.entries = EntryTable()
        self.blocks = BlockTable()
        self.attachments = AttachmentTable()
        self.pointers = PointerTable()
        self.triples = TripleWork()
        self.n = 0
        self.contacts = 0
        self.visits = 0
        self.dense, self.coupled = NO_BLOCKS, False  # W of all pairs of rows on implicit bodies, if there are any
        self.assembly, self.reactions = Assembly(self), Reactions(self)
        self._assemble, self._apply = (Program([phase], np.zeros(len(PHASES))) for phase in (self.assembly, self.reactions))
        self._buffers: dict[str, np.ndarray] = {}
        self.implicit = self.dense_ptr = np.zeros(0, np.int32)
        self.implicit_solvers, self._listed = [], None
        self.held = NO_ROWS
        self.unmet = np.zeros(0)
        self.stored = False
        self.colours = 0
        self.colour_ptr = np.zeros(MOST_COLOURS + 1, np.int32)
        self.step = 0.0
        self.dynamic = True

    @property
    def half_step(self) -> float:
        """Time by which a velocity at the end of the step moves the points: h/2 in dynamics, h in quasi-statics."""
        return 0.5 * self.step if self.dynamic else self.step

    def assemble(
        self,
        constraints: ConstraintTable,
        bodies: BodyTable,
        surface_materials: SurfaceMaterialTable,
        step: float,
        dynamic: bool = True,
        stored: bool | None = None,
        colouring: str = "OFF",
    ) -> None:
        """V = H u(t), B = H u*, W = h H A^-1 H^T at the mid configuration, with all couplings.

        Parameters
        ----------
        constraints, bodies, surface_materials
            State tables after detection; velocities are u* (`velo`) and u(t) (`velo_prev`).
        step : float
            Time step h.
        dynamic : bool
            Dynamics (True) or quasi-statics.
        stored : bool, optional
            Force block-CSR (True) or the velocity form (False); chosen by counts when omitted.
        colouring : str
            'ON': contacts stand by colours, which threads sweep side by side; 'OFF': in the order of keys; 'AUTO': by
            colours above `COLOURED_FROM` rows.

        Raises
        ------
        SolfecError
            A constraint acts on bodies that it cannot move.
        """
        self.prepare(constraints, bodies, surface_materials, step, dynamic, stored, colouring)
        stage = ROWS
        if self.implicit_solvers:
            self._run(ROWS, ROWS)
            self._add_compliance()
            stage = LAWS
            if self.coupled:  # A^-1 of implicit bodies has no factor by triples
                self.form = 1
        self._run(stage, BLOCKS)

    def prepare(self, constraints, bodies, surface_materials, step, dynamic, stored, colouring) -> None:
        """What `assemble` does before kernels are called."""
        self.constraints, self.bodies, self.materials = constraints, bodies, surface_materials
        self._list_implicit(within_step(bodies))
        self.step, self.dynamic = step, bool(dynamic)
        if bodies.n >= self.pointers.capacity:
            self.pointers.reserve(bodies.n + 1)
        if self.triples.capacity != bodies.triples.capacity:
            self.triples = TripleWork(bodies.triples.capacity)
        self.coupled, self.held = False, NO_ROWS
        self.coloured_above = {"ON": -1, "AUTO": COLOURED_FROM}.get(colouring, NEVER)
        self.form = -1 if stored is None else int(stored)
        self.assembly.ask(ROWS, BLOCKS, self.form)

    def _run(self, stage: int, last: int) -> None:
        """Stages of the kernel."""
        self.constraints.left.set(self.constraints.n)
        self.assembly.ask(stage, last, self.form)
        self._assemble.run()

    def take_counts(self) -> None:
        """Rows in use, as detection has left them."""
        (self.n,) = self.constraints.left.get()
        self.contacts = self.n - self.constraints.user_count

    def _list_implicit(self, elements) -> None:
        """Numbers of velocity triples of bodies whose A^-1 couples them, 0 for others; anew when these bodies change."""
        bodies, known = self.bodies, implicit_of_step(self.bodies, elements)
        if known is self._listed and len(self.implicit) == bodies.capacity:
            return
        self._listed, self.implicit_solvers = known, known.solvers
        self.implicit = np.zeros(bodies.capacity, np.int32)
        self.dense_ptr = np.full(bodies.capacity, -1, np.int32)
        note_reallocation()
        for solver in self.implicit_solvers:
            self.implicit[solver.rows] = np.diff([*solver.dof_first, solver.size]) // 3

    def _add_compliance(self) -> None:
        """W of rows on implicit bodies: all columns A^-1 H^T of a solver at once."""
        bodies, attachment = self.bodies, self.pointers.attachment
        blocks = _place_blocks(bodies.n, self.implicit, attachment, self.dense_ptr)
        if not blocks:
            return
        self.coupled = True
        if self.dense.shape[2] < blocks:
            self.dense = np.empty((3, 3, blocks + blocks // 4 + 1), order="F")
            note_reallocation()
        rest = self.columns.of(_attached_columns, self)
        for solver in self.implicit_solvers:
            if isinstance(solver, ReducedBodies):
                solver.add_compliance(bodies, self.step, self.dense_ptr, rest, self.dense, self.rows.diagonal)
                continue
            width = 3 * _most_rows(solver.rows, attachment)
            if not width:
                continue
            which = (solver.rows, solver.dof_first, solver.rotation)
            columns = self._work("columns", solver.size * width).reshape(solver.size, width, order="F")
            inverses = solver.inverses
            if inverses is not None:
                _inverse_columns(*which, bodies.velo_ptr, *rest, inverses, columns)
            else:
                _fill_columns(*which, bodies.velo_ptr, *rest, columns)
                columns = np.asfortranarray(solver.solve(columns))
            _add_compliance(self.step, *which, bodies.velo_ptr, self.dense_ptr, *rest, columns, self.dense, self.rows.diagonal)

    def _work(self, name: str, size: int) -> np.ndarray:
        """Memory kept from step to step: fresh pages cost as much as what is written to them."""
        if self._buffers.get(name, NO_WORK).size < size:
            self._buffers[name] = np.empty(size + size // 4)
        return self._buffers[name][:size]

    def assemble_springs(self) -> None:
        """Laws of springs."""
        constraints, rows = self.constraints, self.rows
        curves = constraints.curves
        held, failed = _assemble_springs(
            self.contacts, self.n, rows.order, rows.kind, rows.V,
            constraints.limits, constraints.gap, constraints.dashpot, constraints.implicit, constraints.curve,
            curves.start, curves.strokes, curves.forces, curves.n, self.dynamic, self.step, rows.law, rows.block,
        )  # fmt: skip
        if failed >= 0:
            raise SolfecError(
                f"the curve of constraint {int(constraints.id[failed])} (SPRING) is unknown: a continued run needs the input to"
                " put its springs again"
            )
        if held:
            self.held = self.contacts + np.flatnonzero(rows.kind[self.contacts : self.n] == RowKind.HELD)

    def require_blocks(self) -> None:
        """Assemble W in block-CSR if the step is in velocity form."""
        if not self.stored:
            self._assemble_matrix()
            self.stored = True

    def operators(self) -> tuple | None:
        """First entry of every row, triple and block H' of every entry, and triples; None where W is no sum of H'_a H'_b^T."""
        if self.coupled:
            return None
        return self.rows.entry_ptr, self.entries.triple, self.entries.operator, self.bodies.triples.n

    def _assemble_matrix(self) -> None:
        """Off-diagonal blocks of W."""
        stored, self.form = self.stored, 1
        self._run(BLOCKS, BLOCKS)
        self.stored = stored

    def velocities(self, result: np.ndarray) -> np.ndarray:
        """U = B + W R of all rows into (and as) `result`, a (3, capacity) array."""
        rows, entries, blocks = self.rows, self.entries, self.blocks
        _kernels.newton.relative_velocities(
            self.n, self.stored, rows.diagonal, rows.block_ptr, blocks.column, blocks.block,
            rows.entry_ptr, entries.triple, entries.operator, self.bodies.triples.n, self.triples.momentum,
            rows.R, rows.B, result,
        )  # fmt: skip
        return result

    def name(self, row: int) -> str:
        """A row in the user's words: its constraint and bodies."""
        constraint = int(self.rows.order[row])
        sides = self.constraints.master[constraint], self.constraints.slave[constraint]
        bodies = " and ".join(f"body {int(self.bodies.id[k])}" for k in sides if k >= 0)
        kind = ConstraintKind(int(self.constraints.kind[constraint])).name
        return f"constraint {int(self.constraints.id[constraint])} ({kind}) of {bodies}"

    def describe(self, row: int) -> str:
        """Message about a row whose diagonal block of W is singular."""
        constraint = int(self.rows.order[row])
        sides = (int(side[constraint]) for side in (self.constraints.master, self.constraints.slave))
        if any(k >= 0 and self.implicit[k] for k in sides):
            return (
                f"{self.name(row)} cannot act: the tangent matrix of a body with scheme 'DEF_LIM' is not positive definite, as of one"
                " that buckles; take a smaller step, smaller loads, or form 'BC'"
            )
        return f"{self.name(row)} cannot act: zero inverse inertia or an unknown kind of body"

    def apply_reactions(self) -> tuple[float, float]:
        """Reactions to the bodies (`triples.reaction`), contact work to their energies, R, U, V to the constraint table.

        Returns
        -------
        contact_work, friction_work : float
            Work of normal and tangential contact reactions over the step, each contact counted once.
        """
        self.constraints.left.set(self.constraints.n)
        self.reactions.settle()
        self._apply.run()
        return self.reactions.works.get()

    def reaction_columns(self) -> tuple[np.ndarray, ...]:
        """Arrays that the kernel of reactions takes."""
        rows, constraints, bodies, elements = self.rows, self.constraints, self.bodies, within_step(self.bodies)
        return (
            constraints.kind, constraints.master, constraints.slave,
            constraints.master_point, constraints.slave_point, constraints.base,
            bodies.kind, bodies.centre, bodies.conf_ptr, bodies.velo_ptr, bodies.element_ptr,
            bodies.configurations.conf, constraints.element, constraints.weights,
            elements.element_size, elements.element_node, bodies.triples.reaction, bodies.energy,
            rows.order, rows.R, rows.U, rows.V, rows.merit, rows.residual, rows.lost,
            self.pointers.attachment, self.attachments.row,
            constraints.R, constraints.U, constraints.V, constraints.merit, constraints.residual,
            constraints.cohesion,
        )  # fmt: skip

    def matrix(self) -> np.ndarray:
        """W as a dense (3n, 3n) array; for tests and dumps, whatever the form in use."""
        self._assemble_matrix()
        n = self.n
        dense = np.zeros((n, 3, n, 3))
        pointer = self.rows.block_ptr[: n + 1]
        row = np.repeat(np.arange(n), np.diff(pointer))
        count = pointer[n]
        dense[row, :, self.blocks.column[:count], :] = self.blocks.block[..., :count].transpose(2, 0, 1)
        dense[np.arange(n), :, np.arange(n), :] = self.rows.diagonal[..., :n].transpose(2, 0, 1)
        return dense.reshape(3 * n, 3 * n)


class Assembly(Phase):
    """The kernel `assemble`: rows, their laws, and the blocks that couple them.

    Attributes
    ----------
    results : Numbers
        What the kernel returned: `colours` and `stored` are for the sweeps.
    """

    phase = LOCDYN

    def __init__(self, local: LocalDynamics):
        self.local, self._interrupted = local, False
        names = ("stage", "last", "users", "coloured_above", "bodies", "triples", "dynamic", "form", "colours")
        self._given = Numbers(**dict.fromkeys(names, "i4"), visits="i8", step="f8")
        names = ("colours", "entries", "attachments", "blocks", "stored", "stage", "failed", "status")
        self.results = Numbers(**dict.fromkeys(names, "i4"), visits="i8")

    def ask(self, stage: int, last: int, form: int) -> None:
        """Stages that the kernel goes through, and the form of W, or -1."""
        local = self.local
        self._last = last
        self._given.set(
            stage, last, local.constraints.user_count, local.coloured_above, local.bodies.n, local.bodies.triples.n, local.dynamic,
            form, local.colours, local.visits, local.step,
        )  # fmt: skip

    def calls(self) -> list[Call]:
        local, given = self.local, self._given
        return [
            Call(
                "assembly_phases.assemble", given["stage"], given["last"], local.constraints.left["left"], given["users"],
                given["coloured_above"], given["bodies"], given["triples"], given["dynamic"], given["step"], given["form"],
                VELOCITY_FORM_FROM, given["colours"], given["visits"], local.dense, *_columns(local),
                results=self.results, wanted={"status": 0},
            )  # fmt: skip
        ]

    def stopped(self, call: int) -> int:
        local = self.local
        local.take_counts()
        local.colours, entries, attachments, blocks, stored, stage, failed, status, local.visits = self.results.get()
        if status == ROWS_LACK:
            local.rows.reserve(local.n + 1)
            stored = local.form
        elif status == ENTRIES_LACK:
            local.entries.reserve(entries)
            local.attachments.reserve(attachments)
        elif status == BLOCKS_LACK:
            local.blocks.reserve(blocks)
        elif status == SPRINGS_WAIT:
            local.assemble_springs()
        else:
            raise SolfecError(local.describe(failed))
        self.ask(stage, self._last, stored)
        self._interrupted = True
        return 0

    def end(self) -> None:
        local = self.local
        local.take_counts()
        local.colours, _, _, _, stored, _, _, _, local.visits = self.results.get()
        local.stored = stored > 0
        if self._interrupted:
            self._interrupted = False
            self.ask(ROWS, BLOCKS, local.form)


class Reactions(Phase):
    """Reactions to the bodies, and what solvers found to the constraint table.

    Attributes
    ----------
    works : Numbers
        Work of normal and of tangential contact reactions over the step.
    """

    phase = TIMINT

    def __init__(self, local: LocalDynamics):
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
                "local_dynamics.apply_reactions", local.constraints.left["left"], given["bodies"], given["triples"], given["time"],
                *local.reaction_columns(), results=self.works,
            )  # fmt: skip
        ]


def _columns(local: LocalDynamics) -> tuple[np.ndarray, ...]:
    constraints, bodies, materials, rows = local.constraints, local.bodies, local.materials, local.rows
    elements, triples = within_step(bodies), bodies.triples
    return (
        constraints.kind, constraints.master, constraints.slave, constraints.birth,
        constraints.master_point, constraints.slave_point, constraints.base, constraints.R, constraints.U,
        constraints.material, constraints.point, constraints.other_point, constraints.gap, constraints.area,
        constraints.cohesion, constraints.length, constraints.value, constraints.element, constraints.weights,
        bodies.kind, bodies.centre, bodies.conf_ptr, bodies.velo_ptr, bodies.element_ptr, local.implicit, local.dense_ptr,
        bodies.configurations.conf, elements.element_size, elements.element_node,
        triples.velo, triples.velo_prev, triples.inverse_inertia,
        materials.model, materials.friction, materials.restitution, materials.spring, materials.dashpot, materials.hpow,
        materials.gap_aware,
        rows.order, rows.chunk_ptr, rows.kind, rows.block, rows.law, rows.diagonal, rows.B, rows.free, rows.V, rows.R, rows.U,
        rows.lost, rows.entry_ptr, rows.slave_entry, rows.block_ptr, local.colour_ptr,
        local.entries.triple, local.entries.operator, local.triples.factor,
        local.pointers.attachment, local.attachments.row, local.attachments.entry,
        local.blocks.column, local.blocks.block,
    )  # fmt: skip


def _attached_columns(local: LocalDynamics) -> tuple[np.ndarray, ...]:
    rows, entries = local.rows, local.entries
    return (
        local.pointers.attachment, local.attachments.row, local.attachments.entry, rows.entry_ptr, rows.slave_entry,
        entries.triple, entries.operator,
    )  # fmt: skip
