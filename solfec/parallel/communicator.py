"""Communication of processes: exchange of arrays between neighbours, sums and maxima over all, and their common start and end.

A process asks for its communicator by `world`.  Only runs of several processes load mpi4py.
"""

from __future__ import annotations

import ctypes
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any, Protocol

import numpy as np

from ..errors import SolfecError
from ..tables import pointers_of

#: Environment variables in which the launchers of Open MPI, MPICH and others tell a process how many they have started.
RANK_COUNTS = ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_SIZE", "MPI_LOCALNRANKS")
SAID = 160  # bytes by which processes tell one another where they are
PATIENCE = 1.5  # seconds for which a process that ends with an error waits for the others
AWAKE, NAP = 1e-4, 2e-5  # time from which on a process that waits sleeps between two looks for messages, and for how long [s]
AWAKE_ALONE = 1e-3  # the former if every process of this machine has a core of its own
FIRST_WORD = "SOLFEC_PATIENCE", 60.0  # environment variable that says after how many seconds a process says that it waits, and without it
PAUSES = 1e-4, 1e-2  # shortest and longest time between two looks at whether the others have come [s]


@dataclass
class Traffic:
    """What a process has sent to others so far.

    Attributes
    ----------
    messages, bytes : int
        Arrays that it has sent to other processes by `exchange`, and their size.
    reductions : int
        Sums and maxima over all processes.
    seconds : float
        Wall time of its calls, with waits for others.
    """

    messages: int = 0
    bytes: int = 0
    reductions: int = 0
    seconds: float = 0.0

    def count(self, outgoing: dict[int, np.ndarray]) -> None:
        """Count messages."""
        self.messages += len(outgoing)
        self.bytes += sum(array.nbytes for array in outgoing.values())

    def count_many(self, messages: int, size: int, seconds: float) -> None:
        """Count messages of this size in all, and the time for which a process has waited for them."""
        self.messages += messages
        self.bytes += size
        self.seconds += seconds

    @property
    def sent(self) -> tuple[int, int]:
        """Numbers of messages and of bytes."""
        return self.messages, self.bytes


class Communicator(Protocol):
    """Communication of process number `rank` of `size` processes, all of which make the same calls."""

    rank: int
    size: int
    traffic: Traffic

    def exchange(self, outgoing: dict[int, np.ndarray], incoming: dict[int, np.ndarray]) -> None:
        """Send arrays to ranks, and fill arrays with what ranks send."""

    def lasting(self, messages: list) -> LastingRequests | NoRequests | None:
        """Return requests for messages that are sent many times, [(arrays to send, arrays to fill), ...] by ranks; None: there are none of that kind."""

    def largest(self, values: np.ndarray) -> np.ndarray:
        """Return the element-wise maximum over all processes."""

    def total(self, values: np.ndarray) -> np.ndarray:
        """Return the element-wise sum of integers over all processes."""

    def largest_and_total(self, values: np.ndarray, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return `largest` of values and `total` of numbers, found at the same time."""

    def gathered(self, thing: Any) -> list:
        """Return what each process has given, in all of them."""

    def collected(self, thing: Any) -> list | None:
        """Return what each process has given, in process 0; None in the others."""

    def dealt(self, things: list) -> list:
        """Give things[r] to process r; return what each process has for this one."""


class Alone:
    """Communication of a single process."""

    rank, size, left = 0, 1, False

    def __init__(self):
        self.traffic = Traffic()

    def exchange(self, outgoing: dict[int, np.ndarray], incoming: dict[int, np.ndarray]) -> None:
        """Do nothing: there are no other processes."""

    def lasting(self, messages: list) -> NoRequests:
        """Return requests for nothing: there are no other processes."""
        return NoRequests(len(messages))

    def largest(self, values: np.ndarray) -> np.ndarray:
        """Return the values."""
        return values

    def total(self, values: np.ndarray) -> np.ndarray:
        """Return the values."""
        return values

    def largest_and_total(self, values: np.ndarray, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the values and the numbers."""
        return values, numbers

    def gathered(self, thing: Any) -> list:
        """Return a list of the thing alone."""
        return [thing]

    collected = gathered

    def dealt(self, things: list) -> list:
        """Return the things."""
        return things

    def meet(self, place: str, patience: float = np.inf) -> list[str]:
        """Return the place alone."""
        return [place]

    def abort(self, status: int) -> None:
        """Do nothing: no other process waits."""


class LongWait:
    """What a process says of a long wait: first after `FIRST_WORD` seconds, then each time that the wait has doubled.

    A process that hangs, in an endless loop of a callback, say, is the one that says nothing.  Long waits are legal, so nothing ends.

    Parameters
    ----------
    rank : int
        This process.
    began : float
        When the wait has begun, by `time.perf_counter`.
    """

    def __init__(self, rank: int, began: float):
        self._rank, self._began, self._next = rank, began, first_word()

    def note(self) -> None:
        """Say so if the wait has lasted."""
        waited = time.perf_counter() - self._began
        if waited > self._next:
            self._next = 2.0 * waited
            print(f"solfec: process {self._rank} has waited for others for {waited:.0f} s; a process that says nothing of this kind is busy, or hangs", file=sys.stderr, flush=True)


def first_word() -> float:
    """Return after how many seconds a process says that it waits."""
    name, default = FIRST_WORD
    try:
        return float(os.environ.get(name, default))
    except ValueError:
        return default


class NoRequests:
    """Requests of a process that is alone, for so many messages."""

    functions, words = (0, 0), 0

    def __init__(self, count: int):
        self.handles = self.status = np.zeros(0, np.int32)
        self.pointers = np.zeros(count + 1, np.int32)


class LastingRequests:
    """Persistent requests of MPI, which kernels start and complete (fortran/tables/persistent_requests.f90).

    Parameters
    ----------
    world : mpi4py.MPI.Comm
    functions : tuple of int
        Addresses of MPI_Startall and MPI_Testall.
    messages : list
        Arrays to send and arrays to fill, [([(rank, array), ...], [(rank, array), ...]), ...].

    Attributes
    ----------
    handles : ndarray of int32
        Handles of all requests, `words` numbers each.
    pointers : ndarray of int32
        First request of each of the messages, and their number.
    status : ndarray of int32
        Memory for statuses.
    """

    def __init__(self, world, functions: tuple[int, int], messages: list):
        from mpi4py import MPI

        self.functions, self._mpi = functions, MPI
        made = [[*(world.Recv_init(array, rank) for rank, array in into), *(world.Send_init(array, rank) for rank, array in out)] for out, into in messages]
        self._requests = [request for some in made for request in some]
        self.words = MPI._sizeof(MPI.Request) // 4
        raw = b"".join(ctypes.string_at(MPI._addressof(request), 4 * self.words) for request in self._requests)
        self.handles = np.frombuffer(raw, np.int32).copy()
        self.pointers = pointers_of([len(some) for some in made], np.int32)
        self.status = np.zeros(MPI._sizeof(MPI.Status) // 4 * max(map(len, made), default=0), np.int32)

    def __del__(self):
        if not self._mpi.Is_finalized():
            for request in self._requests:
                request.Free()


class MessagePassing:
    """Communication of processes by MPI.

    Parameters
    ----------
    world : mpi4py.MPI.Comm

    Attributes
    ----------
    left : bool
        Whether this process has left a RUN by the end of its input, so that others may wait for its messages for ever.  Inputs of all may catch an
        error, and go on.
    """

    left = False

    def __init__(self, world):
        from mpi4py import MPI

        self.world, self._max, self._sum, self._all = world, MPI.MAX, MPI.SUM, MPI.Request.Testall
        self.rank, self.size, self.traffic = world.Get_rank(), world.Get_size(), Traffic()
        here = world.Split_type(MPI.COMM_TYPE_SHARED)
        self._awake = AWAKE_ALONE if here.Get_size() <= len(os.sched_getaffinity(0)) else AWAKE
        here.Free()
        self._meetings = world.Dup()  # a process that has taken another way must not disturb messages

    def exchange(self, outgoing: dict[int, np.ndarray], incoming: dict[int, np.ndarray]) -> None:
        """Send arrays to ranks, and fill arrays with what ranks send."""
        began = time.perf_counter()
        requests = [self.world.Irecv(array, rank) for rank, array in incoming.items()]
        requests += [self.world.Isend(array, rank) for rank, array in outgoing.items()]
        if requests:
            self._wait(requests, began)
            self.traffic.count(outgoing)

    def lasting(self, messages: list) -> LastingRequests | None:
        """Return requests for messages that are sent many times; None if the library of MPI keeps the functions that start them to itself."""
        functions = _functions_of_mpi()
        return functions and LastingRequests(self.world, functions, messages)

    def _wait(self, requests: list, began: float) -> None:
        """Wait for messages, begun at some time; a long wait leaves the core to others, such as the process for which this one waits."""
        long = None
        while not self._all(requests):
            if time.perf_counter() - began > self._awake:
                long = long or LongWait(self.rank, began)
                time.sleep(NAP)
                long.note()
        self.traffic.seconds += time.perf_counter() - began

    def _reduced(self, *terms: tuple) -> list[np.ndarray]:
        """Return element-wise results over all processes, of (values, operation)."""
        began, results = time.perf_counter(), [np.empty_like(values) for values, _ in terms]
        self._wait([self.world.Iallreduce(values, result, operation) for result, (values, operation) in zip(results, terms)], began)
        self.traffic.reductions += len(terms)
        return results

    def largest(self, values: np.ndarray) -> np.ndarray:
        """Return the element-wise maximum over all processes; infinite where a value is no number."""
        return self._reduced((_ordered(values), self._max))[0]

    def total(self, values: np.ndarray) -> np.ndarray:
        """Return the element-wise sum of integers over all processes."""
        return self._reduced((values, self._sum))[0]

    def largest_and_total(self, values: np.ndarray, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return `largest` of values and `total` of numbers, found at the same time."""
        largest, total = self._reduced((_ordered(values), self._max), (numbers, self._sum))
        return largest, total

    def gathered(self, thing: Any) -> list:
        """Return what each process has given, in all of them."""
        self._come_together()
        return self.world.allgather(thing)

    def collected(self, thing: Any) -> list | None:
        """Return what each process has given, in process 0; None in the others."""
        self._come_together()
        return self.world.gather(thing)

    def dealt(self, things: list) -> list:
        """Give things[r] to process r; return what each process has for this one."""
        self._come_together()
        found = self.world.alltoall([None if rank == self.rank else thing for rank, thing in enumerate(things)])
        found[self.rank] = things[self.rank]  # without a copy by way of bytes
        return found

    def _come_together(self) -> None:
        """Wait until all processes are here, without holding a core, before a call that cannot be interrupted."""
        self._wait([self.world.Ibarrier()], time.perf_counter())

    def meet(self, place: str, patience: float = np.inf) -> list[str] | None:
        """Wait until all processes meet, and return where each of them is; None if some do not come in time.

        Processes that wait sleep, so the wait may be long.

        Parameters
        ----------
        place : str
            What this process is about to do.
        patience : float
            Longest wait in seconds.
        """
        said = np.frombuffer(place.encode()[:SAID].ljust(SAID), np.uint8)
        heard = np.empty((self.size, SAID), np.uint8)
        request = self._meetings.Iallgather(said.copy(), heard)
        began, pause = time.perf_counter(), PAUSES[0]
        long = LongWait(self.rank, began)
        while not request.Test():
            if time.perf_counter() - began > patience:
                return None
            long.note()
            time.sleep(pause)
            pause = min(2 * pause, PAUSES[1])
        return [bytes(words).decode(errors="replace").strip() for words in heard]

    def abort(self, status: int) -> None:
        """End all processes at once."""
        self.world.Abort(status)


def _ordered(values: np.ndarray) -> np.ndarray:
    """Return values with infinity for what is no number: MPI leaves open what the largest of such ones is, and processes would part."""
    return np.where(np.isnan(values), np.inf, values)


def parted(world, left: bool) -> bool:
    """Whether some processes, but not all, have left a loop that they make together; `left`: whether this one has."""
    if world.size == 1:
        return False
    leave, stay = world.largest(np.array([float(left), float(not left)]))
    return bool(leave > 0.0 and stay > 0.0)


def goes_on(world, function: Callable[[], Any]) -> bool:
    """Call a function of the user in all processes, and return whether the run goes on: a returned 0 ends it, in any of them; a returned None does not.

    Raises
    ------
    SystemExit
        All of them end their inputs, or this one does so with a status, which ends the others.
    SolfecError
        Some, but not all, end their inputs without an error.
    """
    answer, leaving = 0, None
    try:
        answer = function()
    except SystemExit as request:
        if request.code or world.size == 1:
            raise
        leaving = request
    stop = answer is not None and answer == 0
    if world.size == 1:
        return not stop
    stopping, leave = world.total(np.array([stop, leaving is not None], np.int64))
    if leaving is not None and leave == world.size:
        raise leaving
    if leave:
        raise SolfecError(f"CALLBACK: {leave} of {world.size} processes end their input here, and others do not; all must end it in the same step")
    return not stopping


@cache
def _functions_of_mpi() -> tuple[int, int] | None:
    """Return the addresses of MPI_Startall and MPI_Testall in the library that mpi4py uses, or None."""
    from mpi4py import MPI

    library = ctypes.CDLL(MPI.__file__)
    try:
        return tuple(ctypes.cast(getattr(library, name), ctypes.c_void_p).value for name in ("MPI_Startall", "MPI_Testall"))
    except AttributeError:
        return None


def processes_started() -> int:
    """Return the number of processes that a launcher such as mpiexec says it has started; 1 without a launcher."""
    counts = (os.environ.get(name, "") for name in RANK_COUNTS)
    return max((int(count) for count in counts if count.isdecimal()), default=1)


_world: Any = None


def world(ask_mpi: bool = False) -> Any:
    """Return the communicator of this process.

    Parameters
    ----------
    ask_mpi : bool
        Load MPI even if no launcher is known to have started several processes.

    Raises
    ------
    SolfecError
        There are several processes, and mpi4py is missing or belongs to another MPI than their launcher.
    """
    global _world
    if _world is None or (ask_mpi and isinstance(_world, Alone)):
        started = processes_started()
        _world = _of_mpi(started) if ask_mpi or started > 1 else Alone()
    return _world


def _of_mpi(started: int) -> Any:
    """Return the communicator of all processes of MPI."""
    try:
        import mpi4py

        mpi4py.rc.initialize, mpi4py.rc.finalize = False, True  # an MPI that another one's launcher has started may abort when it begins
        from mpi4py import MPI
    except (ImportError, RuntimeError) as error:
        raise SolfecError(f"several processes need MPI, and mpi4py cannot be loaded ({error}); install it: pip install 'solfec[mpi]'") from None
    library = MPI.Get_library_version().split("\n")[0].strip("\0 ")
    foreign = "OMPI_COMM_WORLD_SIZE" in os.environ and library.startswith(("MPICH", "Intel"))
    if not (foreign or MPI.Is_initialized()):
        MPI.Init_thread()
    known = 1 if foreign else MPI.COMM_WORLD.Get_size()
    if known < started:
        raise SolfecError(
            f"{started} processes were started, and MPI knows of {known}: the launcher belongs to another MPI than mpi4py ({library}); "
            "take the mpiexec of that MPI, such as the one beside this python"
        )
    return MessagePassing(MPI.COMM_WORLD.Dup()) if known > 1 else Alone()
