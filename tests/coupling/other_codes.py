"""What tests of other codes share: a skip where a code is missing, and boxes."""

import os
import time
from threading import Timer

import pytest

from solfec import HULL, SOLFEC
from solfec.errors import SolfecError


def skip_unless_installed(helper):
    """Skip tests that need a code where its helper process does not answer."""
    with helper() as process:
        try:
            process.call("hello")
        except SolfecError as error:
            pytest.skip(str(error))


def box(x, y, z, a, b, c):
    """Return a box from its lowest corner and its sides."""
    return HULL([number for up in (0, c) for u, v in [(0, 0), (a, 0), (a, b), (0, b)] for number in (x + u, y + v, z + up)], 1, 1)


def assert_ends_with_its_process(simulation, process, signal_number, message, output):
    """A run whose helper process dies or hangs after a second ends soon with an error, and its results are intact."""
    simulation.step()
    Timer(1.0, os.kill, (process.pid, signal_number)).start()
    began = time.monotonic()
    with pytest.raises(SolfecError, match=message):
        simulation.run(1000.0)
    assert time.monotonic() - began < 10.0
    assert len(SOLFEC("DYNAMIC", 1e-3, output, mode="READ")._simulation.reader.times) > 3
