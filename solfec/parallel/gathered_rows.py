"""Rows of several parts together in one process, in the order of a serial run, for solvers that need them all.

A part packs the rows that it counts: their laws, velocities and operators, with velocity triples of the whole model.  Joined, they are
the local dynamics that a serial run would have assembled, with the same bits, whatever the parts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..constraints.table import ConstraintTable
from ..kinds import RowKind
from ..solvers.assembly import assemble_blocks, is_stored
from ..solvers.local_dynamics import NO_ROWS, LocalDynamics
from ..solvers.other_processes import NO_OTHERS, NoOthers
from ..solvers.taken_rows import TakenRows
from ..tables import ranges
from .part import Part, is_implicit

CONTACT, ROLLING, USERS = 0, 1, 2  # order of the three kinds of rows
COLUMNS = ("arm", "kind", "block", "law", "diagonal", "B", "speed", "free", "V", "R", "driving", "residual")  # that assembly writes, and errors for messages
CONSTRAINT_COLUMNS = ("id", "kind", "joint")


@dataclass
class PackedRows:
    """Rows of one part.

    Attributes
    ----------
    keys : ndarray (9, m)
        Keys in whose order rows stand in a serial run: of the n rows that follow, and then of others whose reactions the part needs.
    rows, constraints : dict
        Columns of the rows, and of their constraints.
    sides : ndarray (2, n)
        Identifiers of master and slave; 0: none.
    contact : ndarray (n,)
        Of a rolling row: the place of its contact among the n rows; else -1.
    patch : ndarray (n,)
        Places among the n rows of the first rows of patches.
    entries : ndarray (2, n)
        Numbers of entries on the master, and of all.
    triple, operator : ndarray
        Entries, row after row, with triples of the whole model; no operators if W comes in blocks, by which all solvers compute velocities, and the model
        has no constraints of the user, whose contradictions are sought in operators.
    first_identifier : int
        Identifier that the first new contact of the whole model gets.
    blocks : tuple of ndarray, optional
        Blocks of W off its diagonal, if implicit bodies couple rows: places (2, k) of their rows and columns among the m rows, and values (3, 3, k).
    """

    keys: np.ndarray
    rows: dict[str, np.ndarray]
    constraints: dict[str, np.ndarray]
    sides: np.ndarray
    contact: np.ndarray
    patch: np.ndarray
    entries: np.ndarray
    triple: np.ndarray
    operator: np.ndarray
    first_identifier: int
    blocks: tuple[np.ndarray, np.ndarray] | None = None


def keys_of(part: Part, local: LocalDynamics, listed: np.ndarray) -> np.ndarray:
    """Return keys (9, n) of rows: kind, birth step from the newest on, identifier or, in the step of birth, the contact's own key."""
    model, rows = part.model, local.rows
    order = rows.order[listed]
    result = np.zeros((9, listed.size), np.int64)
    user, new = listed >= local.contacts, order >= model.geometry.workspace.first_new
    new &= ~user
    result[0] = np.where(user, USERS, np.where(rows.contact[listed] >= 0, ROLLING, CONTACT))
    result[1] = np.where(user, 0, -model.constraints.birth[order])
    result[2] = np.where(new, 0, np.where(user, -1, 1) * model.constraints.id[order])
    result[3:, new] = part.contact_keys(order[new])
    return result


def pack(part: Part, local: LocalDynamics, counted: np.ndarray, needed: np.ndarray, coupled: bool = False) -> PackedRows:
    """Pack the rows that a part counts; `needed` are others whose reactions it needs; `coupled`: with blocks of W."""
    rows, constraints, ids = local.rows, part.model.constraints, np.append(part.model.bodies.view("id"), 0)
    order = rows.order[counted]
    first, last = rows.entry_ptr[counted], rows.entry_ptr[counted + 1]
    at = ranges(first, last - first)
    place = np.full(local.n + 1, -1)
    place[counted] = np.arange(counted.size)
    return PackedRows(
        keys_of(part, local, np.concatenate([counted, needed])),
        {name: getattr(rows, name)[..., counted] for name in COLUMNS},
        {name: getattr(constraints, name)[order] for name in CONSTRAINT_COLUMNS},
        np.array([ids[constraints.master[order]], ids[constraints.slave[order]]]),
        place[rows.contact[counted]],
        place[rows.patch[counted]],
        np.array([rows.slave_entry[counted] - first, last - first]),
        part.triples[local.entries.triple[at]], local.entries.operator[..., at if part.linked or not coupled else NO_ROWS],
        part.first_identifier,
        pack_blocks(part, local, np.concatenate([counted, needed])) if coupled else None,
    )  # fmt: skip


def pack_blocks(part: Part, local: LocalDynamics, listed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the blocks of W of listed rows that act on a body which this process moves, and no process moves a later body of both rows.

    This process has all rows on this body, and copies of the other bodies on which they act, so it knows the whole block.
    """
    head, ends = local.rows.block_ptr[: local.n + 1], part.ends(local.rows.order[: local.n])
    row, column = np.repeat(np.arange(local.n), np.diff(head)), local.blocks.column[: head[-1]]
    last, first = ends[1, row], ends[0, row]
    shared = np.where((last >= 0) & (last == ends[:, column]).any(axis=0), last, first)  # the last body that both rows have
    known = np.flatnonzero(part.mine[shared] & (shared >= 0))
    place = np.full(local.n, -1)
    place[listed] = np.arange(listed.size)
    return place[np.array([row[known], column[known]])], local.blocks.block[..., known]


def places_of(several: list[PackedRows]) -> list[np.ndarray]:
    """Return, for each part, the places of its rows among those of all parts in the order of their keys."""
    keys = np.concatenate([packed.keys for packed in several], axis=1)
    order = np.lexsort(keys[::-1])
    ascending = keys[:, order]
    place = np.empty(order.size, int)
    place[order] = np.cumsum(np.append(False, (np.diff(ascending, axis=1) != 0).any(axis=0))[: order.size])
    return np.split(place, np.cumsum([packed.keys.shape[1] for packed in several])[:-1])


class GatheredRows(TakenRows):
    """Local dynamics of rows from several parts.

    Parameters
    ----------
    whole : Domain
        The whole model, whose bodies have the triples that the rows act on; it need not be up to date.
    others : NoOthers
        Processes that have other rows of the same problem.
    """

    def __init__(self, whole, others: NoOthers = NO_OTHERS):
        super().__init__()
        self.others = others
        self.bodies, self.materials, self.constraints = whole.bodies, whole.surface_materials, ConstraintTable()
        self.constraints.functions = whole.constraints.functions

    def take(self, several: list[PackedRows], like: LocalDynamics, form: bool | int | None, coupled: bool = False) -> list[np.ndarray]:
        """Take the rows of parts; return the places of each part's rows.

        Parameters
        ----------
        several : list of PackedRows
        like : LocalDynamics
            Has the step and other numbers that all parts share.
        form : bool or int, optional
            Form of W (`ConstraintSolver.stored_form`).
        coupled : bool
            Whether implicit bodies couple rows, so that W comes in blocks.
        """
        self.step, self.dynamic, self.epsilon, self.asked = like.step, like.dynamic, like.epsilon, like.asked
        self.form, self.held, self.coloured_above = -1 if form is None else int(form), NO_ROWS, like.coloured_above
        self.coupled, self.implicit = coupled, is_implicit(self.bodies).astype(np.int32)
        places = places_of(several)
        counts = [packed.contact.size for packed in several]
        where = np.argsort(np.concatenate([place[:count] for place, count in zip(places, counts)]))  # of the row at each place
        self.n = where.size
        self.rows.reserve(self.n + 1)
        for name in several[0].rows:
            getattr(self.rows, name)[..., : self.n] = np.concatenate([packed.rows[name] for packed in several], axis=-1)[..., where]
        contact = np.concatenate([np.append(place, -1)[packed.contact] for place, packed in zip(places, several)])[where]
        contact[np.concatenate([packed.contact for packed in several])[where] < 0] = -1
        self.rows.contact[: self.n] = contact
        self.rows.patch[: self.n] = np.concatenate([place[packed.patch] for place, packed in zip(places, several)])[where]
        self.rows.lost[: self.n] = 0
        self._take_entries(several, where)
        keys = np.concatenate([packed.keys[:, :count] for packed, count in zip(several, counts)], axis=1)[:, where]
        self._take_constraints(several, where, keys)
        self._find_held(np.count_nonzero(self.rows.kind[: self.n] == RowKind.HELD))
        self._attach()
        self.others.agree(self)
        self.stored = coupled or is_stored(self)
        if coupled:
            given = [place[packed.blocks[0]] for packed, place in zip(several, places)]
            self._take_blocks(*np.concatenate(given, axis=1), np.concatenate([packed.blocks[1] for packed in several], axis=-1))
        elif self.stored:
            assemble_blocks(self, laying_out=True, adding=True)
        return places

    def _take_entries(self, several: list[PackedRows], where: np.ndarray) -> None:
        """Take the operators of rows."""
        rows = self.rows
        numbers = np.concatenate([packed.entries for packed in several], axis=1)
        end = np.cumsum(numbers[1])
        start, (masters, count) = (end - numbers[1])[where], numbers[:, where]
        at = ranges(start, count)
        rows.entry_ptr[0] = 0
        rows.entry_ptr[1 : self.n + 1] = np.cumsum(count)
        rows.slave_entry[: self.n] = rows.entry_ptr[: self.n] + masters
        self.entries.reserve(at.size)
        self.entries.triple[: at.size] = np.concatenate([packed.triple for packed in several])[at]
        operators = np.concatenate([packed.operator for packed in several], axis=-1)
        if operators.size:
            self.entries.operator[..., : at.size] = operators[..., at]
        self.triples.reserve(self.bodies.triples.n)

    def _take_constraints(self, several: list[PackedRows], where: np.ndarray, keys: np.ndarray) -> None:
        """Fill the table of constraints with what kernels and messages need: those of the user in the order of their creation, then contacts."""
        constraints, n = self.constraints, self.n
        users, rolling = int((keys[0] == USERS).sum()), int((keys[0] == ROLLING).sum())
        self.contacts, contacts = n - users, n - users - rolling
        order = np.concatenate([users + np.arange(contacts), users + self.rows.contact[contacts : self.contacts], np.arange(users)[::-1]])
        self.rows.order[:n] = order
        constraints.reserve(n - rolling)
        constraints.n, constraints.user_count = n - rolling, users
        for name in several[0].constraints:
            getattr(constraints, name)[..., order] = np.concatenate([packed.constraints[name] for packed in several], axis=-1)[..., where]
        born = int((keys[2, :contacts] == 0).sum())  # they are the first rows
        constraints.id[users : users + born] = several[0].first_identifier + np.arange(born)
        sides = np.concatenate([packed.sides for packed in several], axis=1)[:, where]
        bodies = np.searchsorted(self.bodies.view("id"), sides)
        constraints.master[order], constraints.slave[order] = np.where(sides > 0, bodies, -1)


class Gathering:
    """Rows of all parts that travel to the processes that need them together, and results that travel back.

    Parameters
    ----------
    part : Part
    whole : Domain
        The whole model of this process.
    rows : GatheredRows, optional
        Takes the rows.

    Attributes
    ----------
    rows : GatheredRows
        In a process that has got them.
    here : bool
        Whether this is such a process.
    mine : ndarray
        Rows of this part for which there will be results.
    """

    HOME = 0  # rank of the process that gets the rows

    def __init__(self, part: Part, whole, rows: GatheredRows | None = None):
        self.part, self.rows, self.here = part, rows or GatheredRows(whole), part.world.rank == self.HOME

    def collect(
        self, local: LocalDynamics, counted: np.ndarray, held: np.ndarray, form: bool | int | None, homes: np.ndarray | None = None, coupled: bool = False
    ) -> None:
        """Send the rows that this part counts; it needs the reactions of those that it holds.

        `form` of W: `ConstraintSolver.stored_form`.  `homes`: rank of the process that gets each row of `local`; without it one gets all.
        `coupled`: with the blocks of W, which all parts have assembled, since implicit bodies of some part couple rows.
        """
        world = self.part.world
        needed = np.setdiff1d(held, counted)
        self.mine = np.concatenate([counted, needed])
        self._home = np.full(self.mine.size, self.HOME) if homes is None else homes[self.mine]
        self.here = homes is not None or world.rank == self.HOME
        parcels: list = [None] * world.size
        for rank in range(world.size) if homes is not None else (self.HOME,):
            there = self._home == rank
            parcels[rank] = pack(self.part, local, counted[there[: counted.size]], needed[there[counted.size :]], coupled)
        received = world.dealt(parcels)
        if self.here:
            self._places = self.rows.take(received, local, form, coupled)

    def spread(self, results: np.ndarray | None, width: int) -> np.ndarray:
        """Return results (m, width) for `mine`, from those (n, width) that each process gives for the rows that it has got."""
        world, found = self.part.world, np.empty((self.mine.size, width))
        lists = {rank: np.flatnonzero(self._home == rank) for rank in range(world.size)}
        incoming = {rank: np.empty((listed.size, width)) for rank, listed in lists.items() if listed.size and rank != world.rank}
        places = dict(enumerate(self._places)) if self.here else {}
        world.exchange({rank: results[place] for rank, place in places.items() if place.size and rank != world.rank}, incoming)
        if self.here:
            found[lists[world.rank]] = results[places[world.rank]]
        for rank, values in incoming.items():
            found[lists[rank]] = values
        return found
