"""Local dynamics `U = B + W R` of all constraints, and reactions back on the bodies (Solfec-1.0's `ldy`).

Rows stand in the order of the Gauss-Seidel sweep: contacts by birth step, newest first, then their rolling and spinning friction, then the user's
constraints, last created first.  `W` has one of two forms, chosen by counts.  Block-CSR stores one summed 3x3 block per pair of
rows.  The velocity form stores the rows' operators on the bodies instead; its cost per row does not grow with the number of
neighbours.
"""

from __future__ import annotations

import copy
from typing import NoReturn

import numpy as np

from .. import _kernels
from ..bodies.finite_elements import within_step
from ..bodies.implicit import implicit_of_step
from ..bodies.table import BodyTable
from ..constraints.driven_motion import DrivenMotion
from ..constraints.elsewhere import NOWHERE, Elsewhere
from ..constraints.table import ConstraintKind, ConstraintTable, SurfaceMaterialTable
from ..errors import SolfecError
from ..kinds import DRIVES, BodyKind, RowKind, SurfaceModel
from ..tables import Table, handles_of, opened
from .assembly import (
    CHEAPER,
    NO_MARKS,
    apply_reactions,
    assemble_blocks,
    assemble_laws,
    assemble_rows,
    assemble_springs,
    leave_to_next_step,
    struck_bodies,
)
from .implicit_rows import SliceRoom, rows_of
from .other_processes import NO_OTHERS, NoOthers
from .rows_in_lanes import RowsInLanes

_relative_velocities = _kernels.newton.relative_velocities
_draw_lines = _kernels.row_lines.draw_lines
survey_rows = _kernels.reduced_form.survey_rows

NO_ROWS = np.zeros(0, int)

NO_ROLLING = (
    "{} does not solve rolling and spinning friction (SURFACE_MATERIAL, 'rolling_length', 'spinning_length'); use GAUSS_SEIDEL_SOLVER or AUTO_SOLVER"
)

NO_SPRINGS = (
    "{} takes contacts of SPRING_DASHPOT materials for SIGNORINI_COULOMB ones, without `spring`, `dashpot` and `hpow`;"
    " AUTO_SOLVER and GAUSS_SEIDEL_SOLVER keep their law"
)

LEVERAGE = 1024.0  # of a mechanism: velocities that single reactions make, over those that motors and springs ask for
NO_VELOCITY = 1e-120  # squares of smaller ones could underflow; well below the errors that `constraint_measures` counts as none

#: Rows above which contacts are swept by colours unless a solver says otherwise.
COLOURED_FROM = 2000
COLOURED_ABOVE = {"ON": -1, "AUTO": COLOURED_FROM, "OFF": 2**31 - 1}
MOST_COLOURS = 63
SPRING = int(ConstraintKind.SPRING)  # a plain number, since members of enumerations are slow to access


def mask_of(kinds) -> np.ndarray:
    """Return a mask over the kinds of rows: ``mask[kind]`` takes a tenth of the time of `np.isin`."""
    mask = np.zeros(max(RowKind) + 1, bool)
    mask[list(kinds)] = True
    return mask


def bits_of(kinds) -> int:
    """Return a set of kinds of rows as an integer with a bit for each."""
    return sum(1 << int(kind) for kind in set(kinds))


#: Kinds of contacts' rows with a law of their own, by bits.
OWN_LAWS = bits_of([RowKind.ROLLING, *(int(model.row) for model in SurfaceModel if not model.row.family.plain_contact)])


class RowTable(Table):
    """Rows in the order of the sweep, and one more that ends the pointers."""

    COLUMNS = {
        "order": ((), "i4", 0),  # row of the constraint table
        "contact": ((), "i4", -1),  # of a rolling row, the second row of a contact: the first one; else -1
        "arm": ((), "f8", 0.0),  # of a rolling row: length at which turning counts as moving
        "kind": ((), "i4", 0),  # RowKind
        "block": ((16,), "f8", 0.0),  # numbers of the contact's block solve
        "law": ((8,), "f8", 0.0),  # gap, spring, dashpot, hpow, friction, restitution, cohesion force, shift
        "diagonal": ((3, 3), "f8", 0.0),  # W_aa
        "B": ((3,), "f8", 0.0),  # free velocity
        "turning": ((3,), "f8", 0.0),  # part of B and U: h/2 times the acceleration of the gap between bodies that turn (fortran/solvers/turning_contacts.f90)
        "speed": ((), "f8", 0.0),  # size of the velocities of which U is the sum, for its round-off: terms of B, and what motors and springs of joints ask for
        "free": ((3,), "f8", 0.0),  # B less the prescribed velocity, for sweeps
        "V": ((3,), "f8", 0.0),
        "R": ((3,), "f8", 0.0),
        "U": ((3,), "f8", 0.0),
        "merit": ((), "f8", 0.0),
        "residual": ((), "f8", 0.0),
        "lost": ((), "i4", 0),  # 1: cohesion ended in this step
        "patch": ((), "i4", 0),  # first row of the cohesive points of the same two primitives
        "driving": ((), "i4", 0),  # 1: a constraint that moves or holds obstacles alone
        "entry_ptr": ((), "i4", 0),  # first entry of the row
        "slave_entry": ((), "i4", 0),  # first entry of its slave
        "block_ptr": ((), "i4", 0),  # first off-diagonal block of the row
        "chunk_ptr": ((), "i4", 0),  # first row of a chunk of rows that one thread sweeps
        "group_ptr": ((), "i4", 0),  # first row of a group: contacts of one pair of bodies, in the order of colours
    }
    POINTS_INTO = {
        "order": "ConstraintTable",
        "contact": "RowTable",
        "patch": "RowTable",
        "entry_ptr": "EntryTable",
        "slave_entry": "EntryTable",
        "block_ptr": "BlockTable",
        "chunk_ptr": "RowTable",
        "group_ptr": "RowTable",
    }


class EntryTable(Table):
    """Operator blocks H' of the rows: W_ab = sum H'_a H'_b^T over shared velocity triples."""

    COLUMNS = {"triple": ((), "i4", 0), "operator": ((3, 3), "f8", 0.0)}
    POINTS_INTO = {"triple": "TripleTable"}


class BlockTable(Table):
    """Off-diagonal blocks of W, row after row, columns ascending."""

    COLUMNS = {"column": ((), "i4", 0), "block": ((3, 3), "f8", 0.0)}
    POINTS_INTO = {"column": "RowTable"}


class AttachmentTable(Table):
    """Rows acting on bodies, body after body."""

    COLUMNS = {"row": ((), "i4", 0), "entry": ((), "i4", 0)}
    POINTS_INTO = {"row": "RowTable", "entry": "EntryTable"}


class PointerTable(Table):
    """First attachment of every body (one more at the end)."""

    COLUMNS = {"attachment": ((), "i4", 0)}
    POINTS_INTO = {"attachment": "AttachmentTable"}


class TripleWork(Table):
    """One row per velocity triple: L with L L^T = h A^-1, and the scaled momentum of the velocity form."""

    COLUMNS = {"factor": ((3, 3), "f8", 0.0), "momentum": ((3,), "f8", 0.0)}


OPENED_TOGETHER = {
    "local_tables": {
        "rows": "RowTable", "entries": "EntryTable", "blocks": "BlockTable", "attachments": "AttachmentTable", "pointers": "PointerTable",
        "triples": "TripleWork",
    }
}  # fmt: skip


class LocalDynamics:
    """Assembled rows of one step; arrays are reused, and enlarged, from step to step.

    Attributes
    ----------
    n : int
        Rows.
    contacts : int
        Leading rows that belong to contacts: their own, then rolling ones; the user's constraints follow.
    rows : RowTable
        V, B, R, U and laws of the rows.
    colours : int
        Number of colours of contacts (`colour_ptr`, `rows.chunk_ptr`); 0: rows are in the order of keys.
    stored : bool
        True: W is in block-CSR (`blocks`); False: velocity form.
    coupled : bool
        Whether rows act on implicit bodies, so that W is no sum of H'_a H'_b^T.
    visits : int
        Upper bound of the number of off-diagonal blocks of W.
    epsilon : float
        Gap up to which bodies touch.
    asked : float
        Largest velocity that laws along axes of joints ask for.
    held : ndarray
        Rows of springs with Python functions; solvers take their reactions from `spring_functions`.
    unmet : ndarray
        Errors of their velocities in their laws at the last visit.
    others : NoOthers
        Processes that have other islands.
    driven : DrivenMotion or None
        Obstacles that constraints drive, and what their velocities change in the step.
    arranged : RowsInLanes
        Rows while sweeps by colours visit them.
    """

    others: NoOthers = NO_OTHERS

    def __init__(self):
        self.rows = RowTable()
        self.entries = EntryTable()
        self.blocks = BlockTable()
        self.attachments = AttachmentTable()
        self.pointers = PointerTable()
        self.triples = TripleWork()
        self.arranged = RowsInLanes()
        self.n = self.contacts = self.visits = self.colours = 0
        self.stored = self.coupled = False
        self._prepared_for = None
        self.implicit = np.zeros(0, np.int32)
        self._implicit_rows, self._listed, self._slices = [], None, SliceRoom()
        self.held, self._struck = NO_ROWS, NO_MARKS
        self.driven: DrivenMotion | None = None
        self.unmet = np.zeros(0)
        self._named: tuple[np.ndarray, ...] | None = None
        self.colour_ptr = np.zeros(MOST_COLOURS + 1, np.int32)
        self.step = 0.0
        self.epsilon = self.asked = 0.0
        self.dynamic = True
        self._join_handles()

    def __deepcopy__(self, memo: dict):
        copied = memo[id(self)] = type(self).__new__(type(self))
        vars(copied).update(copy.deepcopy(vars(self), memo))
        copied._join_handles()
        return copied

    def _join_handles(self) -> None:
        """Keep the handles of all tables side by side."""
        self.handles = handles_of(self, OPENED_TOGETHER["local_tables"])

    @property
    def total(self) -> int:
        """Number of rows in all processes."""
        return self.others.total(self.n)

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
        stored: bool | int | None = None,
        colouring: str = "OFF",
        elsewhere: Elsewhere = NOWHERE,
    ) -> None:
        """Assemble V = H u(t), B = H u* and W = h H A^-1 H^T at the mid configuration, with all couplings.

        Parameters
        ----------
        constraints, bodies, surface_materials
            State tables after detection; velocities are u* (`velo`) and u(t) (`velo_prev`).
        step : float
            Time step h.
        dynamic : bool
            Dynamics (True) or quasi-statics.
        stored : bool or int, optional
            Form of W (`ConstraintSolver.stored_form`).
        colouring : str
            Order of contacts: 'ON', by colours, which threads sweep in parallel; 'OFF', by keys; 'AUTO', by
            colours above `COLOURED_FROM` rows.
        elsewhere : Elsewhere
            Adds what implicit bodies of other processes contribute to W, and tells which bodies contacts of other processes strike.

        Raises
        ------
        SolfecError
            A constraint acts on bodies that it cannot move.
        """
        self.constraints, self.bodies, self.materials = constraints, bodies, surface_materials
        self.step, self.dynamic = step, bool(dynamic)
        self.coloured_above = COLOURED_ABOVE[colouring]
        self.form = CHEAPER if stored is None else int(stored)
        self.held, self.unmet = NO_ROWS, np.zeros(0)
        self._named = None
        self.elements = within_step(bodies)
        self._list_implicit(self.elements)
        self.pointers.reserve(bodies.n + 1)
        self.triples.reserve(bodies.triples.n)
        self._prepared_for = constraints.edits, bodies.edits
        assemble_rows(self)
        if self.coupled or not elsewhere.has_nothing:
            self._add_implicit_rows(elsewhere)
        self._struck = NO_MARKS
        self.make_laws()
        self._struck = struck_bodies(self)
        if self._struck.size:
            self._struck = elsewhere.struck(self._struck)
            leave_to_next_step(self, self._struck)
        if self.stored:
            assemble_blocks(self, laying_out=not self.coupled, adding=True)

    def _add_implicit_rows(self, elsewhere: Elsewhere) -> None:
        """Add what implicit bodies, also those that other processes move, contribute to W."""
        with elsewhere.sharing(self):
            if self.coupled:
                assemble_blocks(self, laying_out=True, adding=False)
                for part in self._implicit_rows:
                    part.add()

    def make_laws(self) -> None:
        """Make the laws of all rows, from the diagonal blocks of W."""
        assemble_laws(self)
        if self._struck.size:  # laws are made again
            leave_to_next_step(self, self._struck)
        self.raise_speeds(self.asked)
        users = self.constraints.user_count
        if users and np.count_nonzero(self.constraints.kind[:users] == SPRING):
            self._find_held(assemble_springs(self))

    def raise_speeds(self, asked: float) -> None:
        """Raise `rows.speed`, the size of the terms of velocities, to that of motors and springs of joints.

        Where a motor presses a mechanism against a spring, nothing moves and B is round-off.  But reactions balance these velocities in all rows,
        through levers, and leave their round-off.
        """
        if asked > 0.0:
            speed = self.rows.speed[: self.n]
            np.maximum(speed, LEVERAGE * asked, out=speed)

    def has_implicit_rows(self) -> bool:
        """Whether rows act on implicit bodies."""
        n = self.bodies.n
        first = self.pointers.attachment
        if not (self._implicit_rows or self._listed.copies.size):
            return False
        return bool(((first[1 : n + 1] > first[:n]) & (self.implicit[:n] > 0)).any())

    def survey(self) -> tuple[int, tuple[float, float]]:
        """Return the kinds of rows that there are (bit k: kind k), and the sizes of the rows that do not drive obstacles, and of those that do.

        The size is the norm of B; if it is zero, that of B less prescribed velocities, or 1.  Velocities below `NO_VELOCITY` count as zero.
        """
        present, _, _, size, driven_size, status = survey_rows(self.handles, self.n, NO_VELOCITY)
        opened(status)
        return self.surveyed(present, size, driven_size)

    def surveyed(self, present: int, size: float, driven_size: float) -> tuple[int, tuple[float, float]]:
        """Return what `survey` returns, from what a kernel has found of the rows here."""
        present, (size, driven_size) = self.others.surveyed(self, present, (size, driven_size))
        return present, (size or self._asked_size(False), driven_size or self._asked_size(True))

    def peels(self) -> bool:
        """Whether a bond may have several solutions with the reactions of all others held, which sweeps cannot follow (docs/solvers.md, Projected quasi-Newton solver)."""
        if not (self.rows.kind[: self.n] == RowKind.COHESIVE).any():
            return False
        found, status = _kernels.newton.peels(self.handles, self.n)
        opened(status)
        return found == 1

    def free_size(self) -> float:
        """Return the size of the rows that do not drive obstacles (`survey`)."""
        return self.survey()[1][0]

    def _asked_size(self, driving: bool) -> float:
        """Return the size of rows that nothing but the laws of joints moves, or 1."""
        return self.others.norm(self._asked((self.rows.driving[: self.n] > 0) == driving)) or 1.0

    def _asked(self, rows: np.ndarray) -> np.ndarray:
        """Return the velocities that laws along axes of joints cause in some rows, for a model that nothing else moves."""
        drives = np.flatnonzero(rows & np.isin(self.rows.kind[: self.n], DRIVES)).astype(np.int32)
        if not drives.size:
            return np.zeros(0)
        rows, count = self.rows, drives.size
        kept = rows.R[:, drives].copy(), rows.U[:, drives].copy()
        rows.R[:, drives], rows.U[:, drives] = 0.0, rows.B[:, drives]
        constant, slope, target, held = np.zeros(count), np.zeros(count), np.zeros(count), np.zeros(count, np.int32)
        opened(_draw_lines(self.handles, drives, self.half_step, constant, slope, target, held))
        rows.R[:, drives], rows.U[:, drives] = kept
        return np.where(held > 0, target, rows.diagonal[2, 2, drives] * constant)

    @property
    def stands(self) -> bool:
        """Whether rows still match the tables: no constraint or body was added or removed since the step."""
        return self._prepared_for is not None and self._prepared_for == (self.constraints.edits, self.bodies.edits)

    def _list_implicit(self, elements) -> None:
        """List, per body, the number of velocity triples that its A^-1 couples, 0 for explicit bodies; renew the list when these bodies change."""
        bodies, known = self.bodies, implicit_of_step(self.bodies, elements)
        if known is self._listed and len(self.implicit) == bodies.capacity:
            return
        self._listed, self._implicit_rows = known, [rows_of(self, solver, self._slices) for solver in known.solvers]
        self.implicit = np.zeros(bodies.capacity, np.int32)
        for solver in known.solvers:
            self.implicit[solver.rows] = np.diff(solver.dof_first, append=solver.size) // 3
        self.implicit[known.copies] = bodies.node_count[known.copies]

    def _find_held(self, count: int) -> None:
        """Find the rows of the `count` springs of Python functions."""
        if count:
            self.held = self.contacts + np.flatnonzero(self.rows.kind[self.contacts : self.n] == RowKind.HELD)

    def require_blocks(self) -> None:
        """Assemble W in block-CSR if the step is in velocity form, and use it from now on."""
        self.fill_blocks()
        self.stored = True

    def operators(self) -> tuple | None:
        """Return the first entry of every row, triple and block H' of every entry, and the number of triples; None if W is no sum of H'_a H'_b^T."""
        if self.coupled:
            return None
        return self.rows.entry_ptr, self.entries.triple, self.entries.operator, self.bodies.triples.n

    def fill_blocks(self) -> None:
        """Assemble the off-diagonal blocks of W, if they are not there; its form stays."""
        if not self.stored:
            assemble_blocks(self, laying_out=True, adding=True)

    def velocities(self, result: np.ndarray) -> np.ndarray:
        """Write U = B + W R of all rows into `result`, a (3, capacity) array, and return it."""
        opened(_relative_velocities(self.handles, self.n, self.stored, self.bodies.triples.n, result))
        return result

    def keep_names(self) -> None:
        """Keep what names rows in messages about this step, before constraints or bodies go and others take their places."""
        if self._named is None:
            self._named = self._names_of(self.rows.order[: self.n])

    def name(self, row: int) -> str:
        """Return the name of a row for messages: its constraint and bodies."""
        named, place = (self._names_of(self.rows.order[row : row + 1]), 0) if self._named is None else (self._named, row)
        identifier, kind, *sides = (int(values[place]) for values in named)
        bodies = " and ".join(f"body {side}" for side in sides if side >= 0)
        what = "rolling friction" if self.rows.contact[row] >= 0 else ConstraintKind(kind).name
        return f"constraint {identifier} ({what}) of {bodies}"

    def _names_of(self, order: np.ndarray) -> tuple[np.ndarray, ...]:
        """Return identifiers and kinds of constraints, and identifiers of their bodies, -1 for none."""
        constraints, bodies = self.constraints, self.bodies
        sides = (np.where(side >= 0, bodies.id[side], -1) for side in (constraints.master[order], constraints.slave[order]))
        return constraints.id[order], constraints.kind[order], *sides

    def refuse_other_laws(self, solver: str) -> None:
        """Raise SolfecError if a contact has law data of its own kind, for a solver that replaces the laws of contacts."""
        found = OWN_LAWS >> self.rows.kind[: self.contacts].astype(np.int64) & 1
        if found.any():
            self.refuse_law(int(np.argmax(found)), solver)

    def refuse_law(self, row: int, solver: str) -> NoReturn:
        """Raise SolfecError: a solver cannot replace the law of a contact's row."""
        if self.rows.contact[row] >= 0:
            raise SolfecError(NO_ROLLING.format(solver))
        raise SolfecError(
            f"{solver}: {self.name(row)} has the surface model {RowKind(int(self.rows.kind[row])).name!r}, whose law it does not know; "
            "use GAUSS_SEIDEL_SOLVER, NEWTON_SOLVER or AUTO_SOLVER"
        )

    def describe(self, row: int) -> str:
        """Return a message about a row whose diagonal block of W is singular."""
        constraint = int(self.rows.order[row])
        sides = (int(side[constraint]) for side in (self.constraints.master, self.constraints.slave))
        if self.rows.contact[row] >= 0 and (self.bodies.kind[list(sides)] == BodyKind.FINITE_ELEMENT).any():
            return (
                f"{self.name(row)} has rolling or spinning friction, which finite element bodies do not have; "
                "give their surfaces a SURFACE_MATERIAL without 'rolling_length' and 'spinning_length'"
            )
        if any(k >= 0 and self.implicit[k] for k in sides):
            return (
                f"{self.name(row)} cannot act: the tangent matrix of a body with scheme 'DEF_LIM'"
                f"{'' if self.dynamic else ', supports included,'} is not positive definite, as of one that buckles"
                f"{'' if self.dynamic else ' or that contacts alone hold'}; take a smaller step, smaller loads,"
                f"{'' if self.dynamic else ' more supports,'} or finite elements of form 'BC'"
            )
        return f"{self.name(row)} cannot act: zero inverse inertia or an unknown kind of body"

    def apply_reactions(self) -> tuple[float, float]:
        """Write reactions to the bodies (`triples.reaction`), contact work to their energies, and R, U, V to the constraint table.

        Returns
        -------
        contact_work, friction_work : float
            Work of normal and tangential contact reactions over the step, each contact counted once.
        """
        return apply_reactions(self)

    def matrix(self) -> np.ndarray:
        """Return W as a dense (3n, 3n) array, whatever its form; for tests and dumps."""
        self.fill_blocks()
        n = self.n
        dense = np.zeros((n, 3, n, 3))
        pointer = self.rows.block_ptr[: n + 1]
        row = np.repeat(np.arange(n), np.diff(pointer))
        count = pointer[n]
        dense[row, :, self.blocks.column[:count], :] = self.blocks.block[..., :count].transpose(2, 0, 1)
        dense[np.arange(n), :, np.arange(n), :] = self.rows.diagonal[..., :n].transpose(2, 0, 1)
        return dense.reshape(3 * n, 3 * n)

