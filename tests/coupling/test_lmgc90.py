"""LMGC90 beside Solfec: a second opinion on whole runs, contacts for our own step, and errors when its process fails."""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from other_codes import assert_ends_with_its_process, box, skip_unless_installed

import solfec as s
from solfec.coupling import lmgc90
from solfec.coupling.helper_process import HelperProcess
from solfec.coupling.toolbox import Buffer, LmgcCollisionHandler, LmgcModeler, OpenStep, SolfecSimulation
from solfec.errors import SolfecError

INPUTS = Path(__file__).parents[2] / "inp" / "cross-check"
FRICTION, WEIGHT = 0.35, 64 * 9.81


@pytest.fixture(scope="module")
def installed():
    skip_unless_installed(lmgc90.helper)


def pulled(pull, output=None, contacts="MANIFOLD", gravity=(0, 0, -9.81)):
    """A cube of 64 kg on a table, pulled by a part of what overcomes friction."""
    solfec = s.SOLFEC("DYNAMIC", 1e-3, output, contacts=contacts)
    solfec.verbose = "OFF"
    s.SURFACE_MATERIAL(solfec, friction=FRICTION)
    bulk = s.BULK_MATERIAL(solfec, density=1000)
    s.GRAVITY(solfec, gravity)
    s.BODY(solfec, "OBSTACLE", box(-2, -2, -0.4, 4, 4, 0.4), bulk, label="table")
    cube = s.BODY(solfec, "RIGID", box(-0.2, -0.2, 0, 0.4, 0.4, 0.4), bulk, label="cube")
    if pull:
        s.FORCE(cube, "SPATIAL", (0, 0, 0.2), (1, 0, 0), pull * FRICTION * WEIGHT)
    return solfec


# --- a second opinion ---------------------------------------------------------------------------------------


def test_pulled_block_slides_in_lmgc90_as_coulomb_says(installed):
    modeler, buffer = LmgcModeler(pulled(1.5), 0.2), Buffer()
    with modeler.process:
        modeler.advance(199)
        modeler.advance(1)  # the velocity is that of the last step, however steps are asked for
    modeler.pull(buffer)
    assert buffer.bodies.centre[1, 0] == pytest.approx(0.5 * 0.5 * FRICTION * 9.81 * 0.2**2, abs=1e-7)
    assert buffer.bodies.velocity[1, 0] == pytest.approx(0.5 * FRICTION * 9.81 * 0.1995, rel=1e-6)
    forces = buffer.interactions.resultants(buffer.bodies.id)
    np.testing.assert_allclose(forces, [[FRICTION * WEIGHT, 0, -WEIGHT], [-FRICTION * WEIGHT, 0, WEIGHT]], rtol=1e-5, atol=1e-2)


def test_sweeps_are_bounded_and_what_they_leave_is_counted(installed):
    modeler = LmgcModeler(stacked := pulled(0.5), 0.1, maxiter=1)  # a block of 50
    s.BODY(stacked, "RIGID", box(-0.2, -0.2, 0.4, 0.4, 0.4, 0.4), s.BULK_MATERIAL(stacked, density=90000))
    heavy = LmgcModeler(stacked, 0.1, maxiter=1)
    for made in (modeler, heavy):
        with made.process:
            made.advance(20)
        assert made.iterations == 20 * 50
    assert heavy.unsolved > modeler.unsolved
    with pytest.raises(ValueError, match="'maxiter'"):
        LmgcModeler(stacked, 0.1, maxiter=0)


def test_gravity_in_another_direction_reaches_lmgc90(installed):
    slope = 2 * FRICTION  # of a table that is level here, and gravity that is not
    modeler, buffer = LmgcModeler(pulled(0, gravity=(slope * 9, 0, -9)), 0.1), Buffer()
    with modeler.process:
        modeler.advance(100)
    modeler.pull(buffer)
    assert buffer.bodies.centre[1, 0] == pytest.approx(0.5 * (slope - FRICTION) * 9 * 0.1**2, abs=1e-7)


def test_restart_from_geometry_loses_velocity_and_tells_its_energy(installed):
    modeler, buffer = LmgcModeler(pulled(1.5), 0.2), Buffer()
    with modeler.process:
        modeler.advance(100)
        modeler.pull(buffer)
        place, speed = buffer.bodies.centre[1, 0], buffer.bodies.velocity[1, 0]
        modeler.push(buffer)
        modeler.advance(100)
    assert modeler.lost == pytest.approx(0.5 * 64 * speed**2)
    assert modeler.centre[-1, 0] == pytest.approx(2 * place, rel=1e-4)  # from rest again, not four times as far
    assert modeler.time == pytest.approx(0.2)


def test_block_that_falls_on_its_edge_comes_to_rest_on_a_plate_thirty_times_its_size(installed):
    solfec = s.SOLFEC("DYNAMIC", 2e-3)
    solfec.verbose = "OFF"
    s.SURFACE_MATERIAL(solfec, friction=FRICTION)
    bulk = s.BULK_MATERIAL(solfec, density=1000)
    s.GRAVITY(solfec, (0, 0, -9.81))
    s.BODY(solfec, "OBSTACLE", box(-1, -11, -1, 12, 12, 1), bulk)  # far from its centre, on which a common plane would start
    s.BODY(solfec, "RIGID", s.ROTATE(box(0.3, 0.4, 0.25, 0.4, 0.4, 0.4), (0.5, 0.6, 0.45), (1, 0, 0), 20), bulk)
    modeler, buffer = LmgcModeler(solfec, 0.5), Buffer()
    with modeler.process:
        modeler.advance(250)
    modeler.pull(buffer)
    assert 0.198 < buffer.bodies.centre[1, 2] < 0.212  # flat, or within the three degrees in which a common plane takes it as flat
    assert np.abs(buffer.bodies.velocity[1]).max() < 1e-5
    np.testing.assert_allclose(buffer.interactions.resultants(buffer.bodies.id)[1], [0, 0, WEIGHT], atol=0.01 * WEIGHT)
    np.testing.assert_allclose(buffer.bodies.centre[0], [5, -5, -0.5])  # a plate of many pieces is one body


def test_tipping_block_turns_alike_in_both_codes(installed, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text = (INPUTS / "sliding-block.py").read_text()
    assert "(1, 0, 0), 1.5 * 0.35 * 64 * 9.81" in text
    text = text.replace("(1, 0, 0), 1.5 * 0.35 * 64 * 9.81", "(1, 0, 0), 1.1 * 64 * 9.81").replace("friction=0.35", "friction=2").replace("0.5)\n", "0.2)\n")
    Path("tip.py").write_text(text)
    assert s.cli.main(["cross-check", "--with", "lmgc90", "--contacts", "FACES", "--tolerance", "1E-4", "tip.py"]) == 0
    row = re.search(r"^body 2 \(block\) +(.*)$", capsys.readouterr().out, re.M)[1].split()
    assert float(row[0]) > 1e-2 and float(row[3]) < 2e-4
    assert Path("cross-check.png").stat().st_size > 10000
    assert not Path("out").exists()  # nothing is written but the picture


@pytest.mark.parametrize("name", ["sliding-block", "two-blocks", "arch", pytest.param("wall", marks=pytest.mark.slow)])
def test_scenes_agree_in_both_codes(installed, name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert s.cli.main(["cross-check", "--with", "lmgc90", "--tolerance", "1E-4", str(INPUTS / f"{name}.py")]) == 0
    last = re.search(r"^largest +(.*)$", capsys.readouterr().out, re.M)[1].split()
    assert float(last[1]) < 1e-4
    assert float(last[5].rstrip("%")) < 1.0


def test_status_is_1_beyond_the_tolerance(installed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("short.py").write_text((INPUTS / "sliding-block.py").read_text().replace("0.5)\n", "0.02)\n"))
    assert s.cli.main(["cross-check", "--with", "lmgc90", "--tolerance", "1E-30", "short.py"]) == 1


# --- what it does not take ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda solfec, bulk: s.BODY(solfec, "RIGID", s.SPHERE((1, 1, 1), 0.1, 1, 1), bulk, label="ball"), r"body 3 \(ball\) is round"),
        (lambda solfec, bulk: s.BODY(solfec, "PSEUDO_RIGID", box(1, 1, 1, 1, 1, 1), bulk), "body 3 is PSEUDO_RIGID"),
        (lambda solfec, bulk: s.BODY(solfec, "RIGID", [box(1, 1, 1, 1, 1, 1), box(1, 1, 2, 1, 1, 1)], bulk), "body 3 consists of several convexes"),
        (lambda solfec, bulk: s.SURFACE_MATERIAL(solfec, friction=0.1, restitution=0.5), "restitution = 0.5"),
        (lambda solfec, bulk: s.SURFACE_MATERIAL(solfec, 1, 1, friction=0.1) and s.BODY(solfec, "RIGID", s.HULL([0, 0, 5, 1, 0, 5, 0, 1, 5, 0, 0, 6], 2, 2), bulk), "one friction coefficient"),
        (lambda solfec, bulk: s.FIX_POINT(solfec.bodies[0], (0, 0, 0.2)), "takes no joints"),
        (lambda solfec, bulk: s.INITIAL_VELOCITY(solfec.bodies[0], (1, 0, 0), (0, 0, 0)), "starts from rest"),
        (lambda solfec, bulk: s.FORCE(solfec.bodies[0], "CONVECTED", (0, 0, 0.2), (1, 0, 0), 1), "CONVECTED_FORCE"),
        (lambda solfec, bulk: s.FORCE(solfec.bodies[0], "SPATIAL", (0, 0, 0.3), (1, 0, 0), 1), r"at a distance of 0.1 from its mass centre"),
        (lambda solfec, bulk: s.FORCE(solfec.bodies[0], "SPATIAL", (0, 0, 0.2), (1, 0, 0), lambda *_: (0,) * 9), "Python functions"),
    ],
)  # fmt: skip
def test_what_lmgc90_does_not_take_is_named(change, message):
    solfec = pulled(0.5)
    change(solfec, s.BULK_MATERIAL(solfec, density=1000))
    with pytest.raises(SolfecError, match=message):
        LmgcModeler(solfec, 0.1)


def test_message_has_the_line_of_the_input(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text = (INPUTS / "sliding-block.py").read_text().replace("RUN(", "FIX_POINT(block, (0, 0, 0.2))\nRUN(")
    Path("joint.py").write_text(text)
    line = text.splitlines().index("RUN(solfec, AUTO_SOLVER(1E-10), 0.5)") + 1
    assert s.cli.main(["cross-check", "--with", "lmgc90", "joint.py"]) == 1
    assert f"joint.py:{line}: LMGC90 takes no joints" in capsys.readouterr().err


# --- contacts for our own step ------------------------------------------------------------------------------


@pytest.mark.parametrize("contacts", ["MANIFOLD", "CLASSIC"])
def test_contacts_of_lmgc90_carry_our_own_step(installed, contacts):
    solfec = pulled(1.5, contacts=contacts)
    handler = LmgcCollisionHandler(OpenStep(solfec))
    with handler.process:
        SolfecSimulation(solfec, s.AUTO_SOLVER(1e-10), handler=handler).run(0.05)
    assert solfec.ncon == 4
    assert solfec.bodies[0].conf[9] == pytest.approx(0.25 * FRICTION * 9.81 * 0.05**2, abs=1e-6)
    s.RUN(solfec, s.AUTO_SOLVER(1e-10), 0.05)  # our own detection goes on
    assert solfec.bodies[0].conf[9] == pytest.approx(0.25 * FRICTION * 9.81 * 0.1**2, abs=1e-5)


def test_block_falls_until_it_touches(installed):
    solfec = s.SOLFEC("DYNAMIC", 1e-3)
    solfec.verbose = "OFF"
    bulk = s.BULK_MATERIAL(solfec, density=1000)
    s.GRAVITY(solfec, (0, 0, -10))
    s.BODY(solfec, "OBSTACLE", box(-2, -2, -0.4, 4, 4, 0.4), bulk)
    cube = s.BODY(solfec, "RIGID", box(-0.2, -0.2, 0.01, 0.4, 0.4, 0.4), bulk)
    handler = LmgcCollisionHandler(OpenStep(solfec), distance=0.02)
    with handler.process:
        SolfecSimulation(solfec, s.AUTO_SOLVER(1e-10), handler=handler).run(0.06)
    assert 0.2 - 1e-3 < cube.conf[11] < 0.2 + 1e-9  # not held at the distance at which LMGC90 lists contacts


# --- a process that fails -----------------------------------------------------------------------------------


def test_missing_package_is_named_with_its_command(tmp_path):
    bare = tmp_path / "bare"
    os.system(f"{sys.executable} -m venv --without-pip {bare}")
    packages = next((bare / "lib").glob("python*")) / "site-packages"
    (packages / "numpy").symlink_to(Path(np.__file__).parent)
    if (libraries := Path(np.__file__).parents[1] / "numpy.libs").exists():
        (packages / "numpy.libs").symlink_to(libraries)
    python = str(bare / "bin" / "python")
    with lmgc90.helper(python) as process, pytest.raises(SolfecError) as found:
        process.call("hello")
    assert str(found.value) == (
        f"LMGC90 needs a package that {python} does not have (No module named 'compas_lmgc90'): {python} -m pip install --no-deps compas_lmgc90==0.1.11"
    )


@pytest.mark.parametrize(
    "signal_number, message",
    [(signal.SIGKILL, r"ended its process \(signal SIGKILL\)"), (signal.SIGSTOP, "gave no sign of life for 2 s and was ended")],
)
def test_process_that_dies_or_hangs_leaves_results_intact(installed, tmp_path, signal_number, message):
    solfec = pulled(1.5, str(tmp_path / "out"))
    s.OUTPUT(solfec, 1e-3)
    handler = LmgcCollisionHandler(OpenStep(solfec), process=lmgc90.helper(patience=2.0))
    simulation = SolfecSimulation(solfec, s.AUTO_SOLVER(1e-10), handler=handler)
    assert_ends_with_its_process(simulation, handler.process, signal_number, message, str(tmp_path / "out"))
    assert handler.process.pid is None


def helper_of(tmp_path, text, **options):
    (tmp_path / "helper.py").write_text(text)
    return HelperProcess("CODE", str(tmp_path / "helper.py"), sys.executable, "install it", **options)


def test_crash_is_told_with_the_last_words(tmp_path):
    code = "import os, sys\nprint('No such material: s0001', flush=True)\nos.abort()\n"
    with helper_of(tmp_path, code) as process, pytest.raises(SolfecError, match=r"CODE ended its process \(signal SIGABRT\); its last words: No such material: s0001"):
        process.call("hello")


def test_silence_is_told(tmp_path):
    began = time.monotonic()
    with helper_of(tmp_path, "import time\ntime.sleep(60)\n", patience=0.5) as process, pytest.raises(SolfecError, match="no sign of life for 0.5 s"):
        process.call("hello")
    assert time.monotonic() - began < 5


def test_error_of_lmgc90_itself_is_told(installed):
    with lmgc90.helper() as process, pytest.raises(SolfecError, match="LMGC90 reports an error: KeyError"):
        process.call("steps", count=1)
