"""Messages that follow the colours of a sweep: persistent requests of MPI, which a kernel starts and completes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter

import numpy as np

from ..tables import Record, pointers_of
from .communicator import Communicator, LongWait, NoRequests
from .reductions import Reduction

Plan = tuple[dict[int, np.ndarray], dict[int, np.ndarray]]  # what goes to other processes, and what comes from them, by their numbers


class ColourMessages(Record):
    """Rows of each colour, and the triples whose momenta processes exchange after it.

    Groups of rows, triples and requests of one colour follow those of the colour before; `..._ptr` say where those of each begin.
    Groups of one colour share no body that moves, so they may be visited side by side.
    """

    COLUMNS = {
        "row": ((), "i4"),  # rows to sweep; of each colour those come first that act on bodies which several processes hold
        "group": ((), "i4"),  # first rows of groups, and the number of all rows
        "part_ptr": ((), "i4"),  # of each colour two numbers: its first row, and the first one that acts on no such body; then the number of all rows
        "sent": ((), "i4"),  # triples whose momenta others get
        "sent_ptr": ((), "i4"),
        "received": ((), "i4"),  # triples whose momenta come from others
        "received_ptr": ((), "i4"),
        "outgoing": ((3,), "f8"),  # momenta on their way
        "incoming": ((3,), "f8"),
        "request": ((), "i4"),  # handles of requests, `words` integers each
        "request_ptr": ((), "i4"),
        "status": ((), "i4"),  # memory for what MPI says of requests
    }
    NUMBERS = {
        "start_all": "i8",  # addresses of functions of MPI
        "test_all": "i8",
        "words": "i4",
        "place": "i4",  # colours that are done
        "turn": "i4",  # colour whose messages are next
        "waiting": "i4",  # 1: messages of the next colour are on their way, or Python has to exchange them; 2: it has
        "in_python": "i4",  # 1: Python exchanges messages
        "error": "i4",  # of MPI, 0: none
        "waited": "f8",  # time for which the sweep has waited for messages [s]
    }

    @classmethod
    def between(
        cls, world: Communicator, rows: Sequence[np.ndarray], shared: np.ndarray, plans: Sequence[Plan], group: np.ndarray
    ) -> ColourMessages:
        """Return the messages of colours.

        Parameters
        ----------
        world : Communicator
        rows : sequence of ndarray
            Rows of each colour, in the order of a sweep.
        shared : ndarray of bool
            Which rows act on bodies that several processes hold.
        plans : sequence of Plan
            Triples to send and to receive after each colour.
        group : ndarray of int
            Numbers of rows; rows of one colour with different numbers share no body that moves.
        """
        sent_ptr, received_ptr = (pointers_of([sum(map(len, plan[side].values())) for plan in plans], np.int32) for side in (0, 1))
        outgoing, incoming = (np.zeros((3, pointers[-1]), order="F") for pointers in (sent_ptr, received_ptr))
        messages = [([*_slices(out, outgoing, first)], [*_slices(into, incoming, second)]) for (out, into), first, second in zip(plans, sent_ptr, received_ptr)]
        requests = world.lasting(messages)
        in_python = requests is None
        if in_python:
            requests = NoRequests(len(plans))
        row, first, part_ptr = _in_groups(rows, shared, group)
        made = cls(
            row=row, group=first, part_ptr=part_ptr,
            sent=_joined([triples for out, _ in plans for triples in out.values()]), sent_ptr=sent_ptr,
            received=_joined([triples for _, into in plans for triples in into.values()]), received_ptr=received_ptr,
            outgoing=outgoing, incoming=incoming, request=requests.handles, request_ptr=requests.pointers, status=requests.status,
        )  # fmt: skip
        made.start_all, made.test_all, made.words = *requests.functions, requests.words
        made.requests, made.in_python, made.messages = requests, int(in_python), messages
        made.counts = sum(len(out) for out, _ in plans), outgoing.nbytes
        return made

    def complete(self, kernel: Callable[[], None], world: Communicator, sums: Reduction | None = None, times: Callable[[], int] = lambda: 1) -> None:
        """Call a kernel until all messages have come; long waits end a call, and so do messages for which there are no requests.

        `sums` over all processes that the kernel makes; `times`: how often each message has been sent then.
        """
        self.place, self.waited, long = 0, 0.0, None
        if sums:
            sums.waited = 0.0
        while True:
            kernel()
            if error := self.error or (sums.error if sums else 0):
                raise RuntimeError(f"MPI has failed with its error {error} while a kernel exchanged numbers")
            if self.in_python and self.waiting:
                self._exchange(world)
            elif sums and sums.asks:
                sums.combine(world)
            elif self.waiting or sums and sums.waiting:
                long = long or LongWait(world.rank, perf_counter())
                long.note()
            else:
                break
        if not self.in_python:
            messages, size = self.counts
            world.traffic.count_many(times() * messages, times() * size, self.waited + (sums.waited if sums else 0.0))

    def _exchange(self, world: Communicator) -> None:
        """Exchange the messages of the next colour, where there are no requests."""
        out, into = self.messages[self.turn]
        world.exchange(dict(out), dict(into))
        self.waiting = 2


def _in_groups(rows: Sequence[np.ndarray], shared: np.ndarray, group: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows of all colours, of each the shared ones first, whole groups behind one another; first rows of groups; first rows of colours.

    Of each colour two rows are given: the first one, and the first one that is not shared.
    """
    listed, alone = _joined(rows), _joined([~shared[several] for several in rows])
    part = 2 * np.repeat(np.arange(len(rows)), [several.size for several in rows]) + alone
    order = np.lexsort((group[listed], part))
    row, part = listed[order], part[order]
    first = np.flatnonzero((np.diff(group[row], prepend=-2) != 0) | (np.diff(part, prepend=-1) != 0))
    return row, _joined([first, [row.size]]), pointers_of(np.bincount(part, minlength=2 * len(rows)), np.int32)


def _joined(arrays: Sequence[np.ndarray]) -> np.ndarray:
    """Return arrays behind one another."""
    return np.concatenate([np.zeros(0, np.int32), *arrays]).astype(np.int32)


def _slices(plan: dict[int, np.ndarray], columns: np.ndarray, first: int):
    """Yield the number of each process and the memory for its triples, which begins at column `first`."""
    for rank, triples in plan.items():
        yield rank, columns.T[first : first + len(triples)]
        first += len(triples)
