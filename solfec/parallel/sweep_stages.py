"""Sweeps in which each process sweeps the rows that it counts, in stages after which processes exchange changes of momenta.

The variants differ in the stage to which a row belongs, and thereby in whether its neighbours in other processes have their old or their new
reactions when it is swept:

==================  ====================================================================================================
'BOUNDARY_JACOBI'   one stage: all neighbours in other processes are old
'SPLIT'             the same, with the mass of a body that m processes sweep divided among them, as in Tonge's mass splitting: W_aa
                    counts its triples m times, as do changes of their momenta; the mean of the m changes holds after the exchange
'MIDDLE_JACOBI'     top, middle, bottom rows: neighbours are old between middle rows alone
'RANK_COLOURS'      top rows, middle rows from the highest colour of a process to the lowest, bottom rows: neighbours are never old
==================  ====================================================================================================

Processes whose rows are coupled have different colours.  The neighbours of a top row in other processes are all in ones of lower
colours, those of a bottom row in ones of higher colours, those of a middle row in both (Koziara and Bićanić, A distributed memory
parallel multibody contact dynamics code, 2011, section 5).  Inner rows have none, and come last.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from ..tables import ranges
from .part import Part

WORD = 62  # processes in one word of the masks of processes
TOP, MIDDLE, BOTTOM, INNER = range(4)
MOST_MIDDLE = 0.25  # share of middle rows above which MIDDLE_JACOBI may diverge
OPENING = 15  # of a row's block: whether the contact was open in the last visit (fortran/rows/diagonal_block.f90)
LAWS = ("kind", "block", "law", "diagonal", "free")  # columns of rows that make up laws


@dataclass
class Stage:
    """Rows that processes sweep at the same time, and what they exchange after that.

    Attributes
    ----------
    rows : ndarray of int32
        Rows of this process.
    changed : ndarray of int
        Triples of bodies that they change and other processes sweep, too.
    weights : ndarray or float
        Factors of the changes of these.
    sent : dict
        For each process that gets changes, their places among `changed`.
    received : dict
        For each process that sends some, the triples that they change.
    """

    rows: np.ndarray
    changed: np.ndarray
    weights: np.ndarray | float = 1.0
    sent: dict[int, np.ndarray] = field(default_factory=dict)
    received: dict[int, np.ndarray] = field(default_factory=dict)

    def exchange(self, momentum: np.ndarray, before: np.ndarray, world) -> None:
        """Add the changes that all processes have made, in the order of their numbers, so that all of them get the same bits."""
        change = (momentum[:, self.changed] - before) * self.weights
        momentum[:, self.changed] = before
        incoming = {rank: np.empty((triples.size, 3)) for rank, triples in self.received.items()}
        world.exchange({rank: np.ascontiguousarray(change[:, places].T) for rank, places in self.sent.items()}, incoming)
        for rank in sorted({world.rank, *incoming}):
            if rank == world.rank:
                momentum[:, self.changed] += change
            else:
                momentum[:, self.received[rank]] += incoming[rank].T


class SweepStages:
    """The stages of one sweep.

    Parameters
    ----------
    part : Part
    ends : ndarray (2, n)
        Bodies on which all rows act, rows of the body table or -1.
    held, swept : ndarray of int
        Rows on own bodies without those on obstacles that constraints move, and those of them that this process sweeps.
    variant : str

    Attributes
    ----------
    counts : ndarray (4,)
        Numbers of top, middle, bottom and inner rows of this process.
    total : ndarray (4,)
        Those of all processes.
    colours : int
        Number of colours of processes.
    seconds_of_middle : float
        Wall time of the messages about middle rows so far.
    """

    def __init__(self, part: Part, ends: np.ndarray, held: np.ndarray, swept: np.ndarray, variant: str):
        self._part, self._ends, self._held, self._swept = part, ends[:, held], held, np.isin(held, swept)
        self._owner = np.append(part.model.bodies.view("owner"), -1)  # the last one: no body
        self._sweeper = self._owner[self._ends[1]]
        self._sweepers = self._marked(np.ones(held.size, bool), driven=part.driven.size > 0)
        self.variant = variant
        self._list_reactions()
        self._classify()
        self.stages = [self._stage(number) for number in range(self._count)]
        self._columns: dict | None = None
        self.seconds_of_middle = 0.0

    # --- who sweeps what --------------------------------------------------------------------------------------

    def _marked(self, chosen: np.ndarray, driven: bool = False) -> np.ndarray:
        """Return a mask (processes, bodies) of the processes that sweep chosen rows on a body.

        Owners of bodies hold all rows on them, so they know; others get their masks.
        `driven`: owners count as well, since they send momenta to the process that sweeps rows on obstacles.
        """
        part, bodies = self._part, self._part.model.bodies
        words = np.zeros((-(-part.world.size // WORD), bodies.n + 1), np.int64)
        for side in self._ends:
            np.bitwise_or.at(words, (self._sweeper[chosen] // WORD, side[chosen]), np.int64(1) << (self._sweeper[chosen] % WORD))
        if driven:
            own = part.own[words[:, part.own].any(axis=0)]
            words[part.world.rank // WORD, own] |= np.int64(1) << (part.world.rank % WORD)
        words[:, -1] = 0
        part.copy(words.view(float), np.arange(bodies.n), np.ones(bodies.n, int))
        ranks = np.arange(part.world.size)
        return words[ranks // WORD] >> (ranks % WORD)[:, None] & 1 > 0

    def _list_reactions(self) -> None:
        """List the rows whose reactions the owner of the other body gets."""
        other, mine = self._owner[self._ends[0]], self._part.world.rank
        out = {rank: self._held[self._swept & (other == rank)] for rank in np.unique(other[self._swept]).tolist() if rank not in (-1, mine)}
        into = {rank: self._held[self._sweeper == rank] for rank in np.unique(self._sweeper).tolist() if rank != mine}
        self.reactions = out, into

    def _classify(self) -> None:
        """Find the stage of each of the held rows, from the processes to whose rows it is coupled."""
        world = self._part.world
        coupled = self._sweepers[:, self._ends[0]] | self._sweepers[:, self._ends[1]]
        coupled[self._sweeper, np.arange(self._held.size)] = False
        adjacent = world.gathered(np.flatnonzero(coupled[:, self._swept].any(axis=1)))
        colours = colours_of(adjacent)
        mine = colours[self._sweeper]
        lower = (coupled & (colours[:, None] < mine)).any(axis=0)
        higher = (coupled & (colours[:, None] > mine)).any(axis=0)
        kinds = np.where(lower, np.where(higher, MIDDLE, TOP), np.where(higher, BOTTOM, INNER))
        by_colours = self.variant in ("RANK_COLOURS", "MIDDLE_JACOBI")
        if not by_colours:  # rows of the boundary count as middle ones: nothing but their being coupled matters
            kinds = np.where(kinds == INNER, INNER, MIDDLE)
        self.counts = np.bincount(kinds[self._swept], minlength=4)
        self.total, self.colours = world.total(self.counts.astype(np.int64)), int(colours.max()) + 1
        self._of_middle = range(0)  # stages
        if self.variant == "MIDDLE_JACOBI" and self.total[MIDDLE] > MOST_MIDDLE * self.total.sum():
            self.variant = "RANK_COLOURS"
        if self.variant == "MIDDLE_JACOBI":
            self._of_row, self._count, self._of_middle = kinds, 4, range(MIDDLE, MIDDLE + 1)
        elif self.variant == "RANK_COLOURS":
            turn, last = self.colours - 1 - mine, self.colours
            self._of_row = np.choose(kinds, [np.zeros_like(turn), 1 + turn, np.full_like(turn, last + 1), np.full_like(turn, last + 2)])
            self._count, self._of_middle = last + 3, range(1, last + 1)
        else:
            self._of_row, self._count = np.zeros(self._held.size, int), 1

    def _stage(self, number: int) -> Stage:
        """Return one stage."""
        part, rank = self._part, self._part.world.rank
        chosen = self._of_row == number
        changers = self._marked(chosen)
        first, width = part.spans["velo"]
        shared = np.flatnonzero(self._sweepers[rank, :-1] & (self._sweepers[:, :-1].sum(axis=0) > 1))
        mine = shared[changers[rank, shared]]
        place = ranges(np.cumsum(width[mine]) - width[mine], width[mine])
        of_body = np.repeat(np.arange(mine.size), width[mine])
        sent, received = {}, {}
        for other in range(part.world.size):
            if other != rank and self._sweepers[other, mine].any():
                sent[other] = place[self._sweepers[other, mine][of_body]]
            bodies = shared[changers[other, shared]]
            if other != rank and bodies.size:
                received[other] = ranges(first[bodies], width[bodies])
        stage = Stage(self._held[chosen & self._swept].astype(np.int32), ranges(first[mine], width[mine]), 1.0, sent, received)
        if self.variant == "SPLIT":
            self._masses = np.ones(part.model.bodies.triples.n)
            self._masses[ranges(first, width)] = np.repeat(np.maximum(changers[:, :-1].sum(axis=0), 1), width)
            stage.weights = 1.0 / self._masses[stage.changed]
        return stage

    # --- sweeps -----------------------------------------------------------------------------------------------

    def sweep(self, local, backwards: bool, visit: Callable[[np.ndarray], None]) -> None:
        """Sweep all rows once; or backwards, in the opposite order."""
        momentum = local.triples.momentum
        if self.variant == "SPLIT":
            momentum[:, : self._masses.size] /= np.sqrt(self._masses)
            self._divide_masses(local)
        world = self._part.world
        for number in range(self._count)[::-1] if backwards else range(self._count):
            stage = self.stages[number]
            before = momentum[:, stage.changed]
            visit(stage.rows)
            began = world.traffic.seconds
            stage.exchange(momentum, before, world)
            if number in self._of_middle:
                self.seconds_of_middle += world.traffic.seconds - began
        if self.variant == "SPLIT":
            self._swap(local)
            momentum[:, : self._masses.size] *= np.sqrt(self._masses)

    def _divide_masses(self, local) -> None:
        """Divide the masses of bodies among the processes that sweep them; `_swap` undoes that.

        With operators sqrt (m) H' and momenta p/sqrt (m) sweeps need not know of m: sqrt (m) H' (p/sqrt (m)) = H' p, W_aa becomes the sum of
        m H' H'^T, and dp = m H'^T dR.
        """
        if self._columns is not None:
            self._swap(local)
            return
        rows, entries, n = local.rows, local.entries, local.n
        used = int(rows.entry_ptr[n])
        operators = entries.operator[..., :used].copy(order="F")
        self._columns = {name: getattr(rows, name)[..., :n].copy(order="F") for name in LAWS} | {"operator": operators}
        reactions = rows.R[:, :n].copy()
        mass = self._masses[entries.triple[:used]]
        heavy = np.flatnonzero(mass > 1.0)
        row = np.repeat(np.arange(n), np.diff(rows.entry_ptr[: n + 1]))[heavy]
        more = np.einsum("ike,jke,e->eij", operators[..., heavy], operators[..., heavy], mass[heavy] - 1.0)
        np.add.at(rows.diagonal.transpose(2, 0, 1), row, more)
        entries.operator[..., :used] = operators * np.sqrt(mass)
        local.make_laws()
        rows.R[:, :n] = reactions  # those of open contacts are zero already

    def _swap(self, local) -> None:
        """Exchange laws and operators for those of the other masses; contacts stay open."""
        openings = local.rows.block[OPENING, : local.n].copy()
        for name, kept in self._columns.items():
            table = local.entries if name == "operator" else local.rows
            column = getattr(table, name)[..., : kept.shape[-1]]
            now = column.copy(order="F")
            column[...] = kept
            self._columns[name] = now
        local.rows.block[OPENING, : local.n] = openings

    def forget(self) -> None:
        """Forget the laws of the last step."""
        self._columns = None


def colours_of(adjacent: list[np.ndarray]) -> np.ndarray:
    """Return colours (processes,) from the numbers of those to which each is coupled: the lowest that is free, in the order of processes."""
    colours = np.full(len(adjacent), -1)
    for rank, others in enumerate(adjacent):
        used = np.zeros(len(others) + 1, bool)
        taken = colours[others]
        used[taken[(taken >= 0) & (taken < used.size)]] = True
        colours[rank] = np.argmin(used)
    return colours
