"""Steps reuse the memory that the steps before them have freed."""

import platform
import subprocess
import sys

import pytest

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
