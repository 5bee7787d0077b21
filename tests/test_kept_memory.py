"""Steps reuse the memory that the steps before them have freed, and models take no more than they need."""

import platform
import subprocess
import sys
import tracemalloc

import pytest

from solfec import BODY, BULK_MATERIAL, GAUSS_SEIDEL_SOLVER, HEX, RUN, SOLFEC

FAULTS = """
import resource
from solfec import *
solfec = SOLFEC ('DYNAMIC', 1E-3, {path!r})
solfec.verbose = 'OFF'
OUTPUT (solfec, 1E9)
bulk = BULK_MATERIAL (solfec, density = 1E3)
GRAVITY (solfec, (0, 0, -10))
former = None
for k in range (1000):
    corners = [coordinate for x in (k+.1, k+.9) for y in (-.1, .1) for z in (-.1, .1) for coordinate in (x, y, z)]
    body = BODY (solfec, 'RIGID', HULL (corners, 1, 1), bulk)
    HINGE (body, former, (k, 0, 0), (0, 1, 0))
    former = body
faults = []
for _ in solfec.steps (AUTO_SOLVER (1E-8), 0.03):
    faults.append (resource.getrusage (resource.RUSAGE_SELF).ru_minflt)
print (faults[-1] - faults[9])
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="only the GNU C library is told to keep memory")
def test_steps_do_not_give_back_memory_that_the_next_one_needs(tmp_path):
    run = subprocess.run([sys.executable, "-c", FAULTS.format(path=str(tmp_path / "chain"))], capture_output=True, text=True, check=True)
    assert int(run.stdout) < 20 * 50  # pages; a thousand a step if the library gives freed memory back


def test_a_large_body_of_finite_elements_takes_little_more_memory_to_make_than_to_move():
    """Bytes of an element: arrays of all elements at once took twice as much while it was made, and while its critical step was found."""
    side = 20

    def peak():
        largest = tracemalloc.get_traced_memory()[1]
        tracemalloc.reset_peak()
        return largest / side**3

    tracemalloc.start()
    try:
        solfec = SOLFEC("DYNAMIC", 1e-4)
        solfec.verbose = "OFF"
        corners = [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1]
        mesh = HEX(corners, side, side, side, 1, [1] * 6)
        made = peak()
        BODY(solfec, "FINITE_ELEMENT", mesh, BULK_MATERIAL(solfec, young=1e8, density=1e3), form="TL")
        inserted = peak()
        RUN(solfec, GAUSS_SEIDEL_SOLVER(1e-3, 10), 1e-4)
        run = peak()
    finally:
        tracemalloc.stop()
    assert made < 1500 and inserted < 1500 and run < 3500
    assert solfec.step < 1e-4  # which asked for the body's highest frequency
