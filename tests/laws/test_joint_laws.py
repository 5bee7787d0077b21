"""The user's constraints: places, bases and lengths from configurations in plain Python, what breaks, and links after every solver."""

from __future__ import annotations

import numpy as np
import pytest
from coulomb import frame
from hypothesis import given
from hypothesis import strategies as st
from law_rows import SOLVERS, System
from law_settings import examples

from solfec.bodies.table import BodyKind
from solfec.constraints import user
from solfec.constraints.table import ConstraintKind, DirectionUpdate
from solfec.time_series import TimeSeries

SEEDS = st.integers(0, 10**6)
KINDS = st.sampled_from([BodyKind.RIGID, BodyKind.PSEUDO_RIGID, BodyKind.OBSTACLE])


def unit(vector) -> np.ndarray:
    return np.asarray(vector, float) / np.linalg.norm(vector)


def pair(seed, one, two) -> tuple[System, tuple]:
    """Two bodies in random configurations and a referential point near each."""
    system = System(seed=seed)
    system.random_body(one)
    system.random_body(two)
    return system, tuple(body.centre + system.random.normal(size=3) for body in system.bodies)


def row_of(system, kind, points, slave=1, **columns) -> int:
    """A row of the table as the commands make them."""
    table = system.constraints
    row = table.append(id=table.n + 1, kind=int(ConstraintKind[kind]), master=0, slave=slave)
    for name, point in zip(("master_point", "slave_point"), points):
        getattr(table, name)[:, row] = point
    for name, value in columns.items():
        getattr(table, name)[..., row] = value
    table.user_count += 1
    return row


def near(found, expected, tolerance=1e-12):
    np.testing.assert_allclose(found, expected, atol=tolerance * max(1.0, np.abs(expected).max()))


def bend(system, row) -> np.ndarray:
    """Acceleration w x (w x r) of the points of a row between rigid bodies, master less slave: their velocities turn in the second half of a step."""
    table, found = system.constraints, np.zeros(3)
    for k, point, sign in ((table.master[row], table.point[:, row], 1), (table.slave[row], table.other_point[:, row], -1)):
        body = system.bodies[k]
        spin = body.conf @ body.free[:3]
        found += sign * np.sinc(0.5 * system.step * np.linalg.norm(spin) / np.pi) * np.cross(spin, np.cross(spin, point - body.place))
    return found


@given(seed=SEEDS, one=KINDS, two=KINDS)
@examples(12)
def test_points_follow_their_bodies_and_links_point_from_slave_to_master(seed, one, two):
    system, points = pair(seed, one, two)
    table = system.constraints
    link = row_of(system, "RIGLNK", points, length=0.7)
    fixed = row_of(system, "FIXPNT", points)
    user.update(table, system.table, 0.0, 0.1)
    master, slave = (body.spatial(point) for body, point in zip(system.bodies, points))
    for row in (link, fixed):
        near(table.point[:, row], master)
        near(table.other_point[:, row], slave)
    between = master - slave
    near(table.gap[link], np.linalg.norm(between) - 0.7)
    near(table.base[..., link], frame(unit(between)), 1e-10)
    near(table.base[..., fixed], np.eye(3))
    assert table.gap[fixed] == 0.0


@given(seed=SEEDS, one=KINDS)
@examples(6)
def test_a_link_to_space_is_held_at_its_own_point(seed, one):
    system, points = pair(seed, one, one)
    row = row_of(system, "RIGLNK", points, slave=-1, length=1.0)
    user.update(system.constraints, system.table, 0.0, 0.1)
    near(system.constraints.other_point[:, row], points[1])
    between = system.bodies[0].spatial(points[0]) - points[1]
    near(system.constraints.gap[row], np.linalg.norm(between) - 1.0)


@given(seed=SEEDS, one=KINDS, two=KINDS)
@examples(12)
def test_directions_are_carried_by_the_body_that_they_name(seed, one, two):
    system, points = pair(seed, one, two)
    table, direction = system.constraints, unit(system.random.normal(size=3))
    rows = {update: row_of(system, "SPRING", points, direction=direction, update=int(update), length=0.4) for update in DirectionUpdate}
    slide = row_of(system, "FIXDIR", points, direction=direction, update=int(DirectionUpdate.CONV1))
    user.update(table, system.table, 0.0, 0.1)
    master, slave = (body.spatial(point) for body, point in zip(system.bodies, points))
    carried = {
        DirectionUpdate.FOLLOW: unit(master - slave),
        DirectionUpdate.FIXED: direction,
        DirectionUpdate.CONV1: unit(system.bodies[0].conf @ direction),
        DirectionUpdate.CONV2: unit(system.bodies[1].conf @ direction),
    }
    for update, row in rows.items():
        near(table.base[..., row], frame(carried[update]), 1e-9)
        near(table.gap[row], (master - slave) @ carried[update] - 0.4)
    near(table.base[..., slide], frame(carried[DirectionUpdate.CONV1]), 1e-9)
    # two bodies slide at the slave's point, which the master carries as well
    near(table.point[:, slide], slave, 1e-9)
    near(system.bodies[0].spatial(table.master_point[:, slide]), slave, 1e-9)


def test_prescribed_velocities_are_those_of_the_end_of_the_step():
    system, points = pair(1, BodyKind.RIGID, BodyKind.RIGID)
    table = system.constraints
    series = [table.series.add(TimeSeries([0.0, 1.0, 2.0], [0.0, k, -k])) for k in (1.0, 2.0, 3.0)]
    row = row_of(system, "VELODIR3", points, slave=-1, base=np.eye(3))
    table.series_rows[:, row] = series
    constant = row_of(system, "VELODIR", points, slave=-1, direction=(0, 0, 1.0), update=1, value=(5.0, 0, 0))
    for time, expected in ((0.5, 0.5), (1.0, 1.0), (1.25, 0.5), (3.0, -1.0)):
        user.update(table, system.table, time, 0.1)
        near(table.value[:, row], np.array([1.0, 2.0, 3.0]) * expected)
        near(table.value[0, constant], 5.0)


@pytest.mark.parametrize("kind, load, breaks", [
    ("FIXPNT", (0.0, 6.0, 8.01), True), ("FIXPNT", (0.0, 6.0, 7.99), False), ("FIXPNT", (0.0, -10.1, 0.0), True),
    ("RIGLNK", (0.0, 0.0, -10.01), True), ("RIGLNK", (0.0, 0.0, -9.99), False), ("RIGLNK", (0.0, 0.0, 1000.0), False),
    ("FIXDIR", (0.0, 0.0, -1000.0), False), ("VELODIR", (0.0, 0.0, 1000.0), False),
])  # fmt: skip
def test_fixed_points_break_by_any_force_and_links_by_tension(kind, load, breaks):
    system, points = pair(2, BodyKind.RIGID, BodyKind.RIGID)
    rows = [row_of(system, kind, points, strength=10.0) for _ in range(3)]
    system.constraints.R[:, rows[1]] = load
    mask = user.find_overloaded(system.constraints)
    assert (mask is not None) == breaks
    if breaks:
        np.testing.assert_array_equal(np.flatnonzero(mask), [rows[1]])


@pytest.mark.parametrize("name", [name for name in SOLVERS if name != "GS with merit"])  # its merit takes links by their mid step
@given(seed=SEEDS)
@examples(5)
def test_links_have_their_length_at_the_end_of_the_step(name, seed):
    system = System(0.05, True, seed)
    for _ in range(3):
        system.random_body()
    random = system.random
    for one in (0, 1):
        points = [system.bodies[k].centre + 0.2 * random.normal(size=3) for k in (one, one + 1)]
        row = row_of(system, "RIGLNK", points)
        system.constraints.master[row], system.constraints.slave[row] = one, one + 1
        master, slave = (system.bodies[k].spatial(p) for k, p in zip((one, one + 1), points))
        system.constraints.length[row] = np.linalg.norm(master - slave) * 1.001
    solver = SOLVERS[name](1e-10)
    user.update(system.constraints, system.table, 0.0, system.step)
    local = system.local
    local.assemble(system.constraints, system.table, system.materials, system.step, True, stored=getattr(solver, "stored_form", None))
    report = solver.solve(local)
    local.apply_reactions()
    if report.status != "OK":
        assert name.startswith(("AUTO INTERIOR_POINT", "SICONOS"))
        return
    for row in range(2):
        table = system.constraints
        between = table.point[:, row] - table.other_point[:, row]
        after = between + 0.5 * system.step * table.base[..., row] @ table.U[:, row] + 0.125 * system.step**2 * bend(system, row)
        assert np.linalg.norm(after) == pytest.approx(table.length[row], abs=1e-8)
        np.testing.assert_array_equal(table.R[:2, row], 0.0)
