"""The command line in several processes: who speaks, and how all of them end."""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress

from .errors import SolfecError
from .parallel import communicator

END = "the end of the input"
_lost: list[str] = []  # errors at which the others did not come
FLUSHED = 0.2  # seconds in which a launcher passes on what a process has printed


def begin(arguments) -> None:
    """Find the other processes, before the input runs.

    Raises
    ------
    SolfecError
        They do not find one another, or a switch is for one process only.
    """
    world = communicator.world(ask_mpi=arguments.mpi)
    if world.size > 1 and arguments.view:
        raise SolfecError("-v: several processes have no viewer; look at the results with solfec view")


def speaks() -> bool:
    """Whether this process prints what all processes have to say."""
    try:
        return communicator.world().rank == 0
    except SolfecError:  # processes that have not found one another
        return True


def name() -> str:
    """Return the name of this process at the beginning of a message; '' if it speaks for all."""
    rank = communicator.world().rank
    return f"process {rank}: " if rank else ""


def share_threads(threads) -> None:
    """Share the cores among the processes of this machine, unless OMP_NUM_THREADS says how many threads each has."""
    started = int(os.environ.get("MPI_LOCALNRANKS") or os.environ.get("OMPI_COMM_WORLD_LOCAL_SIZE") or communicator.world().size)
    if communicator.world().size > 1 and not os.environ.get("OMP_NUM_THREADS"):
        threads.set_threads(max(1, len(os.sched_getaffinity(0)) // started))


def tells(status: int, message: str) -> bool:
    """Whether this process prints an error, which ends all processes unless its status is 0.

    An error of all processes is printed once.  If the others do not come to the end of the input in time, all are ended.
    """
    world = communicator.world()
    if world.size == 1 or not status:
        return world.rank == 0
    said = f"an error: {message}"
    met = world.meet(said, communicator.PATIENCE)
    _lost.extend([said] if met is None else [])
    return met is None or world.rank == 0 or met[0] != met[world.rank]


def end(status: int) -> int:
    """End together with the other processes; return the status."""
    world = communicator.world()
    if world.size == 1:
        return status
    place = END if status == 0 else f"the end, with status {status}"
    patience = communicator.PATIENCE if status else communicator.first_word() if world.left else float("inf")
    met = None if _lost else world.meet(place, patience)
    if met is not None and all(other == place for other in met):
        return status
    if status == 0 and met is None:
        status = 1
        print(f"process {world.rank} has ended its input within a RUN, in which others wait for it; all must end it in the same step", file=sys.stderr)
    elif status == 0:
        other = next(other for other in met if other != place)
        status = 1
        if not other.startswith(("an error", "the end")):
            print(f"process {world.rank} has come to the end of its input, and another one is at {other}; all must call the same commands", file=sys.stderr)
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):
            stream.flush()
    time.sleep(FLUSHED)
    world.abort(status)
    return status
