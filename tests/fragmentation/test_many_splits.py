"""Runs in which bodies break again and again: what they leave behind, and what they cost."""

import gc
import sys
from pathlib import Path
from time import process_time

import numpy as np
import pytest
from test_conservation import CORNERS, model

import solfec as s
from solfec import _kernels

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

import machine  # noqa: E402
import splits  # noqa: E402


def rubble(tmp_path, kind, splits, report):
    """A run in which blocks crack on a floor, one after another, and their fragments are deleted; `report` is called after every hundredth split."""
    solfec = s.SOLFEC("DYNAMIC", 1e-4, str(tmp_path / "out"), contacts="MANIFOLD")
    solfec.verbose = "OFF"
    material = s.BULK_MATERIAL(solfec, young=1e6, poisson=0.25, density=1e3)
    s.GRAVITY(solfec, (0, 0, -10))
    s.BODY(solfec, "OBSTACLE", s.TRANSLATE(s.SCALE(s.HULL(CORNERS, 1, 1), (5, 5, 1)), (-2, -2, -1)), material)
    present, count = [], 0

    def add():
        shape = s.HEX(CORNERS, 3, 3, 4, 1, [1] * 6) if kind == "FINITE_ELEMENT" else s.HULL(CORNERS, 1, 1)
        body = s.BODY(solfec, kind, shape, material, label=f"block {count}")
        s.FORCE(body, "SPATIAL", (0.5, 0.5, 1), (0, 0, 1), 2e4)
        s.FORCE(body, "SPATIAL", (0.5, 0.5, 0), (0, 0, -1), 2e4)
        more = {"average": 0} if kind == "RIGID" else {}
        s.SIMPLIFIED_CRACK(body, (0.5, 0.5, 0.47), (0.1, 0.1, 1), (2, 3), "TENSILE", ft=0.0, **more)
        present.append(body)

    def look():
        nonlocal count
        if present[-1].fragments:
            count += 1
            for fragment in present.pop().fragments:
                s.DELETE(solfec, fragment)
            if count % 100 == 0:
                report()
            if count == splits:
                return 0
            add()
        return 1

    add()
    s.OUTPUT(solfec, 0.01)
    s.CALLBACK(solfec, solfec.step, (), look)
    s.RUN(solfec, s.GAUSS_SEIDEL_SOLVER(1e-3, 50), 100 * splits * solfec.step)
    assert count == splits
    return solfec


def met(solfec):
    """Bodies in contact, by identifier."""
    return sorted({body.id for contact in solfec.constraints for body in contact.adjbod})


def test_fragments_may_be_deleted_before_the_next_step():
    """Detection finds contacts of all other bodies, although some have come and gone since its last search."""
    solfec, material = model()
    s.GRAVITY(solfec, (0, 0, -10))
    s.BODY(solfec, "OBSTACLE", s.TRANSLATE(s.SCALE(s.HULL(CORNERS, 1, 1), (5, 5, 1)), (-2, -2, -1)), material)
    others = [s.BODY(solfec, "RIGID", s.TRANSLATE(s.HULL(CORNERS, 1, 1), (1.5 * k - 2, 0, -1e-4)), material) for k in range(3)]
    solver = s.GAUSS_SEIDEL_SOLVER(1e-6, 100)
    s.RUN(solfec, solver, 3 * solfec.step)
    for _ in range(3):
        for _ in range(9):
            s.DELETE(solfec, s.BODY(solfec, "FINITE_ELEMENT", s.TRANSLATE(s.HEX(CORNERS, 3, 3, 3, 1, [1] * 6), (0, 3, 0)), material))
        upper = s.BODY(solfec, "RIGID", s.TRANSLATE(s.HULL(CORNERS, 1, 1), (0, 0, 0.9999)), material)
        s.RUN(solfec, solver, solfec.step)
        assert met(solfec) == [1, *(body.id for body in others), upper.id]
        s.DELETE(solfec, upper)
        s.RUN(solfec, solver, solfec.step)
        assert met(solfec) == [1, *(body.id for body in others)]


@pytest.mark.slow
@pytest.mark.timeout(3000)
@pytest.mark.parametrize("kind", ["RIGID", "PSEUDO_RIGID", "FINITE_ELEMENT"])
def test_a_thousand_splits_do_not_slow_down_a_run_nor_fill_memory(kind, tmp_path):
    """The last hundreds of splits cost what the second and third hundred do, and the process grows by less than 5 KB a split."""
    spent, pages = [], []

    def report():
        gc.collect()
        spent.append(process_time())
        pages.append(int(Path("/proc/self/statm").read_text().split()[1]))

    rubble(tmp_path, kind, 1000, report)
    each = np.diff(spent)
    assert np.median(each[-3:]) < 1.25 * np.median(each[:3]), each
    assert 4096 * (pages[-1] - pages[2]) < 700 * 5e3, pages


@pytest.mark.slow
@pytest.mark.usefixtures("one_thread")
@pytest.mark.skipif(_kernels.threads.has_checks() == 1, reason="kernels with checks are not timed")
@pytest.mark.parametrize("case", splits.CASES)
def test_a_split_of_ten_thousand_elements_takes_less_than_a_twentieth_of_a_second(case):
    figures = machine.figures()
    slowness = max(1.0, 24 / figures["triad_GB_per_s"], 53 / figures["dgemm_GFLOP_per_s"])
    assert min(sum(splits.split(*splits.CASES[case], 22)[:2]) for _ in range(5)) < 50.0 * slowness
