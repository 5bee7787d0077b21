"""Speed of the time step against its targets, which hold for a core of 24 GB/s and 53 GFLOP/s and scale with it."""

import sys
from pathlib import Path
from time import perf_counter

import numpy as np
import pytest

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "benchmarks"))

import machine  # noqa: E402
import models  # noqa: E402

from solfec import _kernels  # noqa: E402
from solfec.solvers.auto import AutoSolver  # noqa: E402
from solfec.solvers.gauss_seidel import GaussSeidelSolver  # noqa: E402

pytestmark = [
    pytest.mark.slow,
    pytest.mark.usefixtures("one_thread"),
    pytest.mark.skipif(_kernels.threads.has_checks() == 1, reason="kernels with checks are not timed"),
]


@pytest.fixture(scope="module")
def slowness():
    """How much slower this machine is than the reference machine (at least 1)."""
    figures = machine.figures()
    return max(1.0, 24 / figures["triad_GB_per_s"], 53 / figures["dgemm_GFLOP_per_s"])


def seconds_per_step(model, epsilon, before, steps):
    solver = GaussSeidelSolver(epsilon, 1000)
    for _ in range(before):
        model.advance(solver)
    start = perf_counter()
    for _ in range(steps):
        model.advance(solver)
    return (perf_counter() - start) / steps


def test_settled_stacks_of_cubes_take_under_6_microseconds_per_body_and_step(slowness):
    assert seconds_per_step(models.stacks(), 1e-4, 150, 150) / 1000 < 6e-6 * slowness


def test_a_cube_of_ten_cubes_a_side_takes_under_40_milliseconds_a_step(slowness):
    assert seconds_per_step(models.block(), 1e-3, 0, 100) < 40e-3 * slowness


def test_a_warm_gauss_seidel_sweep_takes_under_110_nanoseconds_per_contact(slowness):
    model = models.block()
    solver = GaussSeidelSolver(1e-4, 1000)
    for _ in range(20):
        model.advance(solver)
    visits, before = 0, model.timings["CONSOL"]
    for _ in range(20):
        model.advance(solver)
        visits += model.report.iterations * model.constraints.n
    assert (model.timings["CONSOL"] - before) / visits < 110e-9 * slowness


def test_ten_thousand_spheres_settle_in_a_box():
    _kernels.threads.set_threads(2)
    model = models.spheres(10000)
    solver = GaussSeidelSolver(1e-3, 200)
    kinetic = []
    for _ in range(1500):
        model.advance(solver)
        kinetic.append(model.energy()[0])
    assert kinetic[-1] < 2e-3 * max(kinetic)
    centres = model.bodies.configurations.view("conf")[:, model.bodies.view("conf_ptr")[1:] + 3]
    length = round((10000 / 2.0) ** (1 / 3)) * 0.11
    assert np.all(centres[:2] > 0.03) and np.all(centres[:2] < length - 0.03) and np.all(centres[2] > 0.03)


def median_step(model, solver, before, steps):
    spent = []
    for _ in range(before + steps):
        start = perf_counter()
        model.advance(solver)
        spent.append(perf_counter() - start)
    assert not model.unsolved
    return float(np.median(spent[before:]))


def test_a_thousand_hinged_links_that_swing_take_under_9_milliseconds_a_step(slowness):
    assert median_step(models.hanging_links(), AutoSolver(1e-8), 20, 100) < 9e-3 * slowness


def test_thirty_hinged_links_take_under_500_microseconds_a_step(slowness):
    assert median_step(models.hanging_links(30), AutoSolver(1e-8), 20, 300) < 0.5e-3 * slowness


def test_a_breaker_of_29_bodies_takes_under_2_milliseconds_a_step(slowness):
    assert median_step(models.breaker(), AutoSolver(1e-6), 0, 1200) < 2e-3 * slowness
