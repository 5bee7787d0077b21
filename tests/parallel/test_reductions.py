"""Sums over all processes that kernels make: stages that bring everybody's number to everybody, and sweeps that end by them."""

from collections import deque

import pytest
from test_parts import MODELS, anyhow, course

from solfec.parallel.part_sweeps import PartSweeps
from solfec.parallel.reductions import Role, stages_of
from solfec.solvers import rows_in_lanes
from solfec.solvers.gauss_seidel import GaussSeidelSolver


@pytest.mark.parametrize("size", [*range(1, 10), 33])
def test_stages_bring_the_number_of_every_process_to_all_of_them_once(size):
    """Each has a bit of its own, and combines by addition, so a number that came twice would show; no process waits for ever."""
    value, place, queues = [1 << rank for rank in range(size)], [0] * size, {}
    stages, sent = [stages_of(rank, size) for rank in range(size)], set()
    while any(place[rank] < len(stages[rank]) for rank in range(size)):
        moved = False
        for rank in range(size):
            if place[rank] == len(stages[rank]):
                continue
            role, other, sends = stages[rank][place[rank]]
            if sends and (rank, place[rank]) not in sent:
                sent.add((rank, place[rank]))
                queues.setdefault((rank, other), deque()).append(value[rank])
                moved = True
            arrived = queues.get((other, rank))
            if role != Role.SENDS and not arrived:
                continue
            if role == Role.TAKES:
                value[rank] = arrived.popleft()
            elif role == Role.COMBINES:
                value[rank] += arrived.popleft()
            place[rank] += 1
            moved = True
        assert moved, "processes wait for one another"
    assert value == [(1 << size) - 1] * size
    assert not any(queues.values())


@pytest.mark.parametrize("most_packed", [0, rows_in_lanes.MOST_PACKED])
@pytest.mark.parametrize("rolling", [False, True])
@pytest.mark.parametrize("size", [1, 3])
def test_sweeps_in_one_call_take_the_course_of_sweeps_one_by_one(size, rolling, most_packed, monkeypatch):
    """The former pack rows in slots, if there are not too many; rolling rows, which are visited one by one, must find their contacts."""
    monkeypatch.setattr(rows_in_lanes, "MOST_PACKED", most_packed)
    model = MODELS["stacks"][0]()
    if rolling:
        model.surface_materials.rolling_length[0] = 0.01
    at_once = course(model, anyhow(model, size), size, 4)
    monkeypatch.setattr(PartSweeps, "_sweep_at_once", PartSweeps._sweep_one_by_one)
    one_by_one = course(model, anyhow(model, size), size, 4)
    assert [report[0] for report in at_once[2]] != [1] * 4
    assert at_once[:3] == one_by_one[:3]


def test_exchanges_of_kernels_without_requests_are_made_in_python():
    """As those of threads: every message of a sweep counts."""
    model = MODELS["stacks"][0]()
    *_, parts = course(model, anyhow(model, 2), 2, 2, GaussSeidelSolver(1e-12, 20))
    assert all(part.world.traffic.messages > 20 for part in parts)
