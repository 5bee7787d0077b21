"""A run is not disturbed from elsewhere: other threads cannot change its model, and Ctrl-C twice ends it whatever it is at."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

import solfec as sf
from solfec import results
from solfec.errors import SolfecError

LONG = """
from solfec import *
import sys
s = SOLFEC('DYNAMIC', 1E-3, 'o')
s.verbose = 'OFF'
SURFACE_MATERIAL(s, friction=0.5)
m = BULK_MATERIAL(s, density=1000)
GRAVITY(s, (0, 0, -10))
BODY(s, 'OBSTACLE', BOX((0.5, 0.5, -0.5), (9, 9, 1)), m)
box = BODY(s, 'RIGID', BOX((0.5, 0.5, 0.5), (1, 1, 1)), m)
RUN(s, GAUSS_SEIDEL_SOLVER(1E-3, 10), 3E-3)
print('short', flush=True)
FIX_POINT(box, (0, 0, 0))
SET_VELOCITY(box, (0, 0, 0), (1, 0, 0), 1.0)  # which it cannot follow
RUN(s, GAUSS_SEIDEL_SOLVER(1E-30, 200000000), 1)
"""


@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_a_second_ctrl_c_ends_a_kernel_within_seconds(tmp_path):
    (tmp_path / "in.py").write_text(LONG)
    process = subprocess.Popen([sys.executable, "in.py"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "short\n"
    time.sleep(1.0)  # in the midst of a step that takes minutes
    process.send_signal(signal.SIGINT)
    time.sleep(1.0)
    assert process.poll() is None  # the step is being finished
    began = time.monotonic()
    process.send_signal(signal.SIGINT)
    assert process.wait(10) == -signal.SIGINT
    assert time.monotonic() - began < 5.0
    assert len(results.open(tmp_path / "o").times) == 4  # of the first RUN


def running_elsewhere(meanwhile):
    """Call `meanwhile(solfec, body)` here while another thread runs the model; what the run raised."""
    solfec = sf.SOLFEC("DYNAMIC", 1e-3, output=None)
    solfec.verbose = "OFF"
    bulk = sf.BULK_MATERIAL(solfec, density=1.0)
    body = sf.BODY(solfec, "RIGID", sf.SPHERE((0, 0, 0), 1, 1, 1), bulk)
    reached, leave, errors = threading.Event(), threading.Event(), []

    def wait():
        reached.set()
        leave.wait(20)
        return 1

    def run():
        try:
            sf.RUN(solfec, sf.GAUSS_SEIDEL_SOLVER(1e-3, 10), 0.01)
        except Exception as error:
            errors.append(error)

    sf.CALLBACK(solfec, 0.004, (), wait)
    thread = threading.Thread(target=run)
    thread.start()
    assert reached.wait(20)
    try:
        meanwhile(solfec, body, bulk)
    finally:
        leave.set()
        thread.join(20)
    assert not errors and solfec.time == pytest.approx(0.01)
    sf.GRAVITY(solfec, (0, 0, -1))  # afterwards it may be changed


CHANGES = {
    "a new body": lambda solfec, body, bulk: sf.BODY(solfec, "RIGID", sf.SPHERE((5, 0, 0), 1, 1, 1), bulk),
    "a deletion": lambda solfec, body, bulk: sf.DELETE(solfec, body),
    "a force": lambda solfec, body, bulk: sf.FORCE(body, "SPATIAL", (0, 0, 0), (1, 0, 0), 1.0),
    "gravity": lambda solfec, body, bulk: sf.GRAVITY(solfec, (0, 0, -1)),
    "a member": lambda solfec, body, bulk: setattr(body, "scheme", "RIG_POS"),
    "a velocity": lambda solfec, body, bulk: sf.INITIAL_VELOCITY(body, (1, 0, 0), (0, 0, 0)),
    "a run": lambda solfec, body, bulk: sf.RUN(solfec, sf.PENALTY_SOLVER(), 0.01),
}


@pytest.mark.parametrize("change", CHANGES)
def test_another_thread_cannot_change_a_model_that_runs(change):
    def meanwhile(*model):
        with pytest.raises(SolfecError, match="another thread"):
            CHANGES[change](*model)

    running_elsewhere(meanwhile)


def test_another_thread_may_look():
    def meanwhile(solfec, body, bulk):
        assert sf.ENERGY(solfec).kinetic == 0.0 and solfec.time == pytest.approx(0.001) and len(body.conf) == 12

    running_elsewhere(meanwhile)
