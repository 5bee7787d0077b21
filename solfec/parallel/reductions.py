"""Maxima and sums over all processes that kernels find themselves, by persistent requests of MPI."""

from __future__ import annotations

from enum import IntEnum

import numpy as np

from ..tables import Record
from .communicator import Communicator


class Operation(IntEnum):
    """What becomes of a number of all processes: the largest bits, a sum of integers, a sum of floating-point numbers."""

    MAXIMUM = 0
    INTEGER_SUM = 1
    SUM = 2


class Role(IntEnum):
    """What a process does in a stage of a reduction with what it receives: nothing, take it instead of its own numbers, combine both."""

    SENDS = 0
    TAKES = 1
    COMBINES = 2


class Reduction(Record):
    """Numbers that processes combine in stages: after stage k a process has those of 2^k others.

    A sum of floating-point numbers has the same bits in all processes, but they depend on the number of processes.
    """

    COLUMNS = {
        "value": ((), "i8"),  # numbers of this process, in the end those of all; floating-point ones by their bits, in maxima none of them negative
        "operation": ((), "i4"),  # on each of them: Operation
        "received": ((), "i8"),  # numbers of another process
        "role": ((), "i4"),  # of this process in each stage: Role
        "request": ((), "i4"),  # handles of requests, `words` integers each
        "request_ptr": ((), "i4"),  # first request of each stage
        "status": ((), "i4"),  # memory for what MPI says of requests
    }
    NUMBERS = {
        "start_all": "i8",  # addresses of functions of MPI
        "test_all": "i8",
        "words": "i4",
        "stage": "i4",  # stages that are done
        "waiting": "i4",  # 1: messages of the next stage are on their way
        "error": "i4",  # of MPI, 0: none
        "in_python": "i4",  # 1: Python combines numbers, as stage 0
        "waited": "f8",  # time for which kernels have waited for messages [s]
    }

    @classmethod
    def of(cls, world: Communicator, operations: list[Operation]) -> Reduction:
        """Return a reduction of so many numbers over all processes."""
        kinds, value, received = np.array(operations, np.int32), np.zeros(len(operations), np.int64), np.zeros(len(operations), np.int64)
        stages = stages_of(world.rank, world.size)
        messages = [([(rank, value)] if sends else [], [(rank, received)] if role != Role.SENDS else []) for role, rank, sends in stages]
        requests = world.lasting(messages)
        if requests is None:
            made = cls(value=value, operation=kinds)
            made.in_python = made.stage = 1
        else:
            roles = np.array([role for role, *_ in stages], np.int32)
            made = cls(value=value, operation=kinds, received=received, role=roles, request=requests.handles, request_ptr=requests.pointers, status=requests.status)
            made.start_all, made.test_all, made.words = *requests.functions, requests.words
        made.requests = requests
        return made

    @property
    def asks(self) -> bool:
        """Whether a kernel has left numbers that Python has to combine."""
        return self.in_python > self.stage

    def combine(self, world: Communicator) -> None:
        """Combine numbers of all processes, where there are no requests."""
        for operation, combined in ((Operation.MAXIMUM, world.largest), (Operation.INTEGER_SUM, world.total), (Operation.SUM, world.total)):
            chosen = self.operation == operation
            if chosen.any():
                mine = self.value[chosen]
                self.value[chosen] = combined(mine.view(float)).view(np.int64) if operation == Operation.SUM else combined(mine)
        self.stage = 1


def stages_of(rank: int, size: int) -> list[tuple[Role, int, bool]]:
    """Return the stages of a process: its role, with which other process, and whether it sends to that.

    As many processes as the largest power of two exchange numbers pair by pair; each of the others gives its numbers to one of these before, and gets all
    of them behind.
    """
    paired = 1 << (size.bit_length() - 1)
    if rank >= paired:
        return [(Role.SENDS, rank - paired, True), (Role.TAKES, rank - paired, False)]
    stages = [(Role.COMBINES, rank ^ 1 << k, True) for k in range(paired.bit_length() - 1)]
    if rank + paired < size:
        stages = [(Role.COMBINES, rank + paired, False), *stages, (Role.SENDS, rank + paired, True)]
    return stages
