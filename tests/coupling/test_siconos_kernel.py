"""Siconos' time stepping and solver with our bodies and contacts: rebounds, friction, a pile, and what it does not take."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path

import numpy as np
import pytest
from other_codes import assert_ends_with_its_process, box, skip_unless_installed

import solfec as s
from solfec.coupling import siconos_kernel
from solfec.coupling.siconos_kernel import quaternions, rotations
from solfec.coupling.toolbox import Buffer, SiconosInteractionSolver, SiconosSimulation
from solfec.errors import SolfecError

INPUTS = Path(__file__).parents[2] / "inp" / "cross-check"


@pytest.fixture(scope="module")
def installed():
    skip_unless_installed(siconos_kernel.helper)


def table(friction=0.3, restitution=0.0, gravity=(0, 0, -9.81), step=1e-3, output=None, contacts="CLASSIC"):
    solfec = s.SOLFEC("DYNAMIC", step, output, contacts=contacts)
    solfec.verbose = "OFF"
    s.SURFACE_MATERIAL(solfec, friction=friction, restitution=restitution)
    bulk = s.BULK_MATERIAL(solfec, density=1000)
    s.GRAVITY(solfec, gravity)
    s.BODY(solfec, "OBSTACLE", box(-2, -2, -0.4, 4, 4, 0.4), bulk)
    return solfec, bulk


def run(solfec, duration, **options):
    simulation = SiconosSimulation(solfec, **options)
    with simulation.process:
        simulation.run(duration)
    return simulation


def test_quaternions_are_those_of_all_rotations():
    turns = np.linalg.qr(np.random.default_rng(1).standard_normal((200, 3, 3)))[0]
    turns *= np.sign(np.linalg.det(turns))[:, None, None]
    half_turns = np.array([np.diag(d) for d in ((1, -1, -1), (-1, 1, -1), (-1, -1, 1))], float)
    for given in (turns, half_turns):
        np.testing.assert_allclose(rotations(quaternions(given)), given, atol=1e-14)


def test_ball_rebounds_to_the_height_that_restitution_gives(installed):
    solfec, bulk = table(restitution=0.8)
    ball = s.BODY(solfec, "RIGID", s.SPHERE((0, 0, 0.15), 0.1, 1, 1), bulk)
    simulation = SiconosSimulation(solfec)
    heights = []
    with simulation.process:
        for _ in range(250):
            simulation.step()
            heights.append(ball.conf[11])
    assert max(heights[110:]) - 0.1 == pytest.approx(0.64 * 0.05, abs=2e-3)  # e^2 of the drop, to the way of a step
    assert solfec.time == pytest.approx(0.25)


def test_thrown_ball_slides_until_it_rolls(installed):
    solfec, bulk = table()
    ball = s.BODY(solfec, "RIGID", s.SPHERE((0, 0, 0.1), 0.1, 1, 1), bulk)
    s.INITIAL_VELOCITY(ball, (0.3, 0.4, 0), (0, 0, 0))
    run(solfec, 0.1)
    np.testing.assert_allclose(ball.velo[3:5], [0.3 * 5 / 7, 0.4 * 5 / 7], rtol=1e-3)  # it rolls from 2 v / (7 mu g) = 0.049 s on


def test_pulled_block_and_our_own_step_end_at_one_place(installed):
    ends = []
    for mine in (True, False):
        solfec, bulk = table(0.35, contacts="MANIFOLD")
        cube = s.BODY(solfec, "RIGID", box(-0.2, -0.2, 0, 0.4, 0.4, 0.4), bulk)
        s.FORCE(cube, "SPATIAL", (0, 0, 0.2), (1, 0, 0), 1.5 * 0.35 * 64 * 9.81)
        if mine:
            s.RUN(solfec, s.AUTO_SOLVER(1e-10), 0.1)
        else:
            simulation, buffer = run(solfec, 0.1, solver=SiconosInteractionSolver(tolerance=1e-12)), Buffer()
            simulation.modeler.pull(buffer)
            simulation.handler.pull(buffer)
            forces = buffer.interactions.resultants(buffer.bodies.id)
            np.testing.assert_allclose(forces[1], [-0.35 * 64 * 9.81, 0, 64 * 9.81], atol=1e-3)
        ends.append(np.array(cube.conf))
    np.testing.assert_allclose(ends[1], ends[0], atol=1e-8)


def test_contact_with_a_slanted_normal_has_the_friction_of_the_cone(installed):
    """A frame whose axes are not orthogonal would let the ball slip faster or slower: tan 30 degrees is the critical slope of a block."""
    angle, mu = np.radians(30), 0.2
    axis = np.array([1.0, 2.0, 0.0]) / np.sqrt(5)  # the slope descends along (2, -1, 0)
    turn = np.eye(3) * np.cos(angle) + np.sin(angle) * np.cross(np.eye(3), -axis) + (1 - np.cos(angle)) * np.outer(axis, axis)
    solfec = s.SOLFEC("DYNAMIC", 1e-3, None, contacts="MANIFOLD")
    solfec.verbose = "OFF"
    s.SURFACE_MATERIAL(solfec, friction=mu)
    bulk = s.BULK_MATERIAL(solfec, density=1000)
    s.GRAVITY(solfec, (0, 0, -10))

    def turned(x, y, z, a, b, c):
        corners = np.array([(x + u, y + v, z + up) for up in (0, c) for u, v in [(0, 0), (a, 0), (a, b), (0, b)]]) @ turn.T
        return s.HULL(corners.ravel().tolist(), 1, 1)

    s.BODY(solfec, "OBSTACLE", turned(-3, -3, -0.5, 6, 6, 0.5), bulk)
    block = s.BODY(solfec, "RIGID", turned(-0.2, -0.2, 0, 0.4, 0.4, 0.1), bulk)
    start = np.array(block.conf[9:])
    run(solfec, 0.1, solver=SiconosInteractionSolver(tolerance=1e-12))
    way = np.array(block.conf[9:]) - start
    expected = 0.5 * 10 * (np.sin(angle) - mu * np.cos(angle)) * 0.1**2
    assert np.linalg.norm(way) == pytest.approx(expected, rel=1e-3)
    assert way[2] == pytest.approx(-expected * np.sin(angle), rel=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["sliding-block", "two-blocks", "arch", "wall"])
def test_scenes_agree_in_both_codes(installed, name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert s.cli.main(["cross-check", "--with", "siconos", "--tolerance", "1E-4", str(INPUTS / f"{name}.py")]) == 0
    last = re.search(r"^largest +(.*)$", capsys.readouterr().out, re.M)[1].split()
    assert float(last[1]) < 1e-4 and float(last[5].rstrip("%")) < 1.0


def pile(count):
    """Balls that fall on one another between the walls of a box."""
    solfec, bulk = table(0.4, step=2e-3)
    for x, y, a, b in ((-0.5, -0.5, 0.1, 1), (0.4, -0.5, 0.1, 1), (-0.4, -0.5, 0.8, 0.1), (-0.4, 0.4, 0.8, 0.1)):
        s.BODY(solfec, "OBSTACLE", box(x, y, 0, a, b, 1), bulk)
    random = np.random.default_rng(3)
    for k in range(count):
        x, y = random.uniform(-0.25, 0.25, 2)
        s.BODY(solfec, "RIGID", s.SPHERE((x, y, 0.1 + 0.21 * k), 0.1, 1, 1), bulk)
    return solfec


@pytest.mark.slow
def test_pile_comes_to_rest_on_its_weight(installed):
    solfec, buffer = pile(12), Buffer()
    simulation = run(solfec, 3.0)
    simulation.modeler.pull(buffer)
    simulation.handler.pull(buffer)
    assert 0.5 * (buffer.bodies.velocity[5:] ** 2).sum(axis=1).mean() < 1e-3 * 9.81 * 1.2  # single balls roll on, the drop's energy is gone
    way = 2e-3 * np.sqrt(2 * 9.81 * 0.21 * 11)  # of the fastest ball in a step, by which it may be in the ground when its impact is found
    assert buffer.bodies.centre[5:, 2].max() < 0.8 and buffer.bodies.centre[5:, 2].min() > 0.1 - way
    weight = 12 * 1000 * 4 / 3 * np.pi * 0.1**3 * 9.81
    ground = buffer.interactions.resultants(buffer.bodies.id)[:5].sum(axis=0)
    assert ground[2] == pytest.approx(-weight, rel=0.05)


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda solfec, bulk: s.BODY(solfec, "PSEUDO_RIGID", box(1, 1, 1, 1, 1, 1), bulk), "body 2 is PSEUDO_RIGID"),
        (lambda solfec, bulk: s.FIX_POINT(s.BODY(solfec, "RIGID", box(1, 1, 1, 1, 1, 1), bulk), (1, 1, 1)), "takes no joints"),
        (lambda solfec, bulk: s.SURFACE_MATERIAL(solfec, 1, 2, cohesion=1), "has cohesion"),
        (lambda solfec, bulk: s.SURFACE_MATERIAL(solfec, 1, 2, model="SPRING_DASHPOT", spring=1, dashpot=1), "SIGNORINI_COULOMB"),
        (lambda solfec, bulk: s.SET_VELOCITY(solfec.bodies[0], (0, 0, 0), (1, 0, 0), 1), "takes no joints"),
    ],
)
def test_what_siconos_does_not_take_is_named(change, message):
    solfec, bulk = table()
    change(solfec, bulk)
    with pytest.raises(SolfecError, match=message):
        SiconosSimulation(solfec)


def test_solver_that_siconos_does_not_have_is_refused():
    with pytest.raises(SolfecError, match="must be one of NSGS, "):
        SiconosInteractionSolver("NSSG")


def test_missing_package_is_named_with_its_command(tmp_path):
    (tmp_path / "siconos.py").write_text("raise ImportError(\"No module named 'siconos'\")\n")
    python = tmp_path / "python"
    python.write_text(f'#!/bin/sh\nPYTHONPATH={tmp_path} exec {os.sys.executable} "$@"\n')
    python.chmod(0o755)
    with siconos_kernel.helper(str(python)) as process, pytest.raises(SolfecError) as found:
        process.call("hello")
    assert str(found.value) == f"Siconos' kernel needs a package that {python} does not have (No module named 'siconos'): sudo apt-get install python3-siconos"


@pytest.mark.slow
@pytest.mark.parametrize(
    "signal_number, message",
    [(signal.SIGKILL, r"Siconos' kernel ended its process \(signal SIGKILL\)"), (signal.SIGSTOP, "Siconos' kernel gave no sign of life for 2 s and was ended")],
    ids=["killed", "hung"],
)
def test_process_that_dies_or_hangs_leaves_results_intact(installed, tmp_path, signal_number, message):
    solfec, bulk = table(output=str(tmp_path / "out"))
    s.BODY(solfec, "RIGID", s.SPHERE((0, 0, 0.1), 0.1, 1, 1), bulk)
    s.OUTPUT(solfec, 1e-3)
    simulation = SiconosSimulation(solfec, process=siconos_kernel.helper(patience=2.0))
    assert_ends_with_its_process(simulation, simulation.process, signal_number, message, str(tmp_path / "out"))
