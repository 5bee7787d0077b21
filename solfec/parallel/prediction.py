"""What several processes would have to do for a step of a model: bodies, rows, messages, bytes, memory and time, counted without running them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..kinds import BodyKind
from ..solvers.assembly import may_wait
from ..tables import ranges
from .colours import colour
from .communicator import Alone
from .machine import Machine
from .part import CARRIED, MOVER, Part
from .partition import Balance, Partition

NUMBER = 8  # bytes
REDUCTIONS = 1  # sums over all processes in a sweep
COPIES = 3  # of the state that processes tell one another: as it arrives, as arrays of each process, and joined
GATHERED = 2  # times in a solution that copies get all momenta


@dataclass
class Shares:
    """What each of several processes does in a step in which no contact comes or goes.

    Attributes
    ----------
    bodies, held : ndarray (processes,)
        Numbers of bodies that it moves, and of moving bodies that it holds, copies included.
    rows : ndarray (processes,)
        Numbers of constraints that it sweeps; those between bodies of two processes count in both.
    neighbours : ndarray (processes,)
        Numbers of processes to which it sends.
    messages, sent : ndarray (processes,)
        What it sends in one sweep: numbers of messages, and of bytes.
    messages_beside, sent_beside : ndarray (processes,)
        What it sends in the rest of a step: numbers of messages, and of bytes.
    colours : int
        Number of colours of constraints, which a sweep takes one after the other.
    """

    bodies: np.ndarray
    held: np.ndarray
    rows: np.ndarray
    neighbours: np.ndarray
    messages: np.ndarray
    sent: np.ndarray
    messages_beside: np.ndarray
    sent_beside: np.ndarray
    colours: int

    def of_step(self, sweeps: float) -> tuple[np.ndarray, np.ndarray]:
        """Return what each process sends in a step of so many sweeps: numbers of messages (processes,), and of bytes (processes,)."""
        return sweeps * self.messages + self.messages_beside, sweeps * self.sent + self.sent_beside


def shares(model, owner: np.ndarray, reach: float, size: int) -> Shares:
    """Count what processes do, if bodies have these owners.

    Parameters
    ----------
    model : Domain
        The whole model, with the contacts of its last step.
    owner : ndarray (bodies,)
        Ranks of the owners of bodies; of obstacles 0.
    reach : float
        Distance within which a part holds bodies of others [length].
    size : int
        Number of processes.

    Returns
    -------
    Shares
        Arrays (size,).
    """
    part = Part(model, Alone(), reach)
    bodies, places = model.bodies, part.places(part.moving)
    rows = np.flatnonzero(part.moving)
    places = replace(places, owner=owner[rows])
    holds = [np.flatnonzero(places.held_by(rank, reach, part.links)) for rank in range(size)]
    held = np.array([one.size for one in holds])
    copies = [rows[one[places.owner[one] != rank]] for rank, one in enumerate(holds)]
    holder, body = np.repeat(np.arange(size), [len(one) for one in copies]), np.concatenate(copies)
    ends = part.ends(np.arange(model.constraints.n))
    of_row, _ = colour(part, ends)
    ranks = np.append(owner, -1)[ends]
    swept = np.bincount(ranks[1], minlength=size) + np.bincount(ranks[0, (ranks[0] >= 0) & (ranks[0] != ranks[1])], minlength=size)
    colours = int(of_row.max(initial=-1)) + 1
    width = 3 * NUMBER * part.spans["velo"][1]
    changed, receiver, turn = _sent_after_colours(np.where(np.append(part.moving, False)[ends], ends, -1), of_row, np.append(owner, -1))
    messages, sent = _messages(owner[changed], receiver, turn, width[changed], size)
    neighbours, gathered = _messages(owner[body], holder, np.zeros(body.size, int), width[body], size)
    whole = width + 3 * NUMBER * part.spans["conf"][1] + NUMBER * sum(len(getattr(bodies, name)) for name in CARRIED)
    _, states = _messages(owner[body], holder, np.zeros(body.size, int), whole[body], size)
    own = np.bincount(owner[rows], minlength=size)
    struck = NUMBER * np.bincount(owner[body], minlength=size) if may_wait(model.surface_materials, model.dynamic) else 0
    beside = (GATHERED + 1 + int(np.any(struck))) * neighbours
    return Shares(own, held, swept, neighbours, messages, sent, beside, GATHERED * gathered + states + struck, colours)


def _sent_after_colours(ends: np.ndarray, colours: np.ndarray, owner: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return bodies, processes and colours (sent,): the momenta of which bodies go to which processes after which colours.

    A process needs those of a body if a row acts on it and on one that this process moves; not after the colours of such rows, which both processes sweep.
    """
    body, partner, turn = ends.ravel(), owner[ends[::-1].ravel()], np.tile(colours, 2)
    changed = np.unique(np.array([body, turn, partner])[:, body >= 0], axis=1)  # by bodies
    needed = np.unique(np.array([body, partner])[:, (body >= 0) & (partner >= 0) & (partner != owner[body])], axis=1)
    first, end = (np.searchsorted(changed[0], needed[0], side) for side in ("left", "right"))
    receiver, change = np.repeat(needed[1], end - first), ranges(first, end - first)
    kept = changed[2, change] != receiver
    return changed[0, change][kept], receiver[kept], changed[1, change][kept]


def _messages(sender: np.ndarray, receiver: np.ndarray, turn: np.ndarray, size: np.ndarray, processes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return how many messages each process sends (processes,), one to each receiver in each turn, and their bytes (processes,).

    Arrays (copies,) tell who sends to whom, in which turn, and how many bytes.
    """
    key = (turn.astype(np.int64) * processes + sender) * processes + receiver
    return np.bincount(np.unique(key) // processes % processes, minlength=processes), np.bincount(sender, size, processes).astype(np.int64)


def divided(model, reach: float, size: int, balance: Balance) -> np.ndarray:
    """Return ranks (bodies,) of the owners of a model's bodies among `size` processes, so that their work is even; of obstacles `MOVER`.

    `reach` is the distance within which parts hold bodies of others [length].
    """
    part = Part(model, Alone(), reach)
    places, rows = part.places(part.moving, part.weights(balance.weightfactor)), np.flatnonzero(part.moving)
    owner = np.full(model.bodies.n, MOVER)
    owner[rows] = Partition(places.centres, places.ids, places.weights, size).leaf_of(places.centres, places.ids)
    return owner


@dataclass
class Measured:
    """A step of the whole model in one process, by colours.

    Attributes
    ----------
    seconds, sweeping : float
        Wall time of a step, s, and of its sweeps, s.
    sweeps : float
        Number of sweeps of a step, on average.
    memory : int
        Size of the tables of the model, bytes.
    told : int
        Size of the state that processes tell one another at the end of RUN, bytes.
    spread : bool
        Whether no process ever has the whole model (`SOLFEC.spread`).
    """

    seconds: float
    sweeping: float
    sweeps: float
    memory: int
    told: int
    spread: bool = False


@dataclass
class Forecast:
    """A step of several processes.

    Attributes
    ----------
    processes : int
        Their number.
    seconds, messaging : float
        Wall time of a step, s, and of messages and sums in it, s.
    memory : float
        Memory of the process that needs most, bytes.
    shares : Shares
        What each of them does.
    """

    processes: int
    seconds: float
    messaging: float
    memory: float
    shares: Shares


def forecast(counted: Shares, measured: Measured, alone: Shares, machine: Machine) -> Forecast:
    """Predict a step of several processes, each with a core of its own, from one in one process, `alone`.

    Computation goes with the rows that the process sweeps which has most, and with the bodies that the one holds which has most; calls of a
    step and of a colour have a constant price.  A colour ends when the process has its messages that sends most.

    Parameters
    ----------
    counted, alone : Shares
        Of the processes, and of one process that does everything.
    measured : Measured
        The step of that one process, on this machine.
    machine : Machine
        Prices in seconds of messages, bytes, sums and calls, and bytes of a process without a model.
    """
    size, sweeps = len(counted.bodies), measured.sweeps
    # no price is higher than what was measured, so that one process takes the time that it took
    calls = min(machine.visit * sweeps * alone.colours, measured.sweeping)
    step = min(machine.step, measured.seconds - measured.sweeping)
    rows, rest = measured.sweeping - calls, measured.seconds - measured.sweeping - step
    computing = step + calls + rows * _share(counted.rows, alone.rows) + rest * _share(counted.held, alone.held)
    messages, sent = counted.of_step(sweeps)
    messaging = float((machine.message * messages + machine.byte * sent).max()) + machine.reduction * np.ceil(np.log2(size)) * REDUCTIONS * sweeps
    whole = machine.growth * measured.memory
    part = whole * _share(counted.held, alone.held)
    if size == 1:
        memory = machine.base + whole
    elif measured.spread:
        memory = machine.base + part
    else:
        memory = machine.base + whole + part + COPIES * measured.told
    return Forecast(size, computing + messaging, messaging, memory, counted)


def _share(counted: np.ndarray, alone: np.ndarray) -> float:
    """Return the largest share of a process in what one process alone does; 1 if that is nothing, since time passes nevertheless."""
    return float(counted.max() / alone[0]) if alone[0] else 1.0


def bytes_of(model) -> int:
    """Return the bytes of the columns of a model's tables, rows in use."""
    geometry, local = model.geometry, model.local_dynamics
    tables = [model.bodies, model.bodies.configurations, model.bodies.triples, model.constraints]
    tables += [getattr(geometry, name) for name in ("vertices", "vertex_lists", "faces", "corners", "adjacency", "primitives")]
    used = sum(table.view(name).nbytes for table in tables for name in table.COLUMNS)
    return used + sum(getattr(table, name).nbytes for table in (local.rows, local.entries) for name in table.COLUMNS)


def told_by(model) -> int:
    """Return the bytes of the state that processes tell one another: of constraints, and of vectors of bodies."""
    tables = model.constraints, model.bodies.configurations, model.bodies.triples
    return sum(table.view(name).nbytes for table in tables for name in table.COLUMNS)


def moving(model) -> np.ndarray:
    """Return rows of the bodies that are no obstacles."""
    return np.flatnonzero(model.bodies.view("kind") != BodyKind.OBSTACLE)
