"""Joints, springs and motors beside contacts that a method for contacts alone solves: statics, agreement with AUTO_SOLVER, bits of continued runs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import solfec as s
from solfec import _kernels
from solfec.coupling.toolbox import CallableSolver
from solfec.errors import SolfecError
from solfec.solvers import contact_problem, siconos_library, siconos_process

BREAKER = Path(__file__).parents[2] / "inp" / "mechanisms" / "breaker.py"
GRAVITY = 9.81
IN_OUR_ORDER = [1, 2, 0]  # (N, T1, T2) -> (T1, T2, N)


def function(W, q, mu, r0, tolerance, maxiter):
    """Solve a contact problem by our own methods, which see contacts only."""
    n = len(mu)
    order = (3 * np.arange(n)[:, None] + IN_OUR_ORDER).ravel()
    problem = contact_problem.from_matrix(W.tocsr()[order][:, order], q[order], mu)
    found = contact_problem.solve(problem, tolerance, start=r0[order].reshape(-1, 3).T)
    return found.r[[2, 0, 1]].T.ravel(), int(found.status != "OK"), found.residual, found.total_iterations


def box(low, high):
    return s.HULL([number for z in (low[2], high[2]) for y in (low[1], high[1]) for x in (low[0], high[0]) for number in (x, y, z)], 1, 1)


class Scene:
    """A floor at z = 0, bars over it, and the course of a run by a solver."""

    def __init__(self, friction=0.3, step=1e-3):
        self.solfec = s.SOLFEC("DYNAMIC", step, None, contacts="MANIFOLD")
        self.solfec.verbose = "OFF"
        s.SURFACE_MATERIAL(self.solfec, friction=friction)
        self.bulk = s.BULK_MATERIAL(self.solfec, density=1000.0)
        s.GRAVITY(self.solfec, (0, 0, -GRAVITY))
        self.floor = s.BODY(self.solfec, "OBSTACLE", box((-2, -1, -0.2), (2, 1, 0)), self.bulk)

    def body(self, low, high):
        return s.BODY(self.solfec, "RIGID", box(low, high), self.bulk)

    def run(self, duration, solver):
        """Run; return the numbers of steps that were not solved and of those with contacts."""
        outcomes = []
        s.CALLBACK(self.solfec, self.solfec.step, (), lambda: outcomes.append((solver.error != "OK", self.carried() > 0)) or 1)
        s.RUN(self.solfec, solver, duration)
        return np.array(outcomes).sum(axis=0)

    def contacts(self):
        return [c for c in self.solfec.constraints if c.kind == "CONTACT"]

    def carried(self):
        """Force of the floor."""
        return sum(abs(c.R[2] * c.base[8]) for c in self.contacts())


@pytest.fixture
def library():
    if not siconos_process.is_installed():
        pytest.skip(siconos_library.MISSING)


def solvers():
    return CallableSolver(function, 1e-9), s.AUTO_SOLVER(1e-9)


def test_a_lever_on_two_hinges_rests_on_the_floor_with_half_of_its_weight():
    """Moments about the hinges, which hold the same five motions: N = m g (L/2)/x with the end of the lever at x."""
    scene = Scene(friction=0.0)
    lever = scene.body((0, -0.1, 0.0), (1, 0.1, 0.1))
    hinges = [s.HINGE(lever, None, (0, y, 0.1), (0, 1, 0)) for y in (-0.1, 0.1)]
    s.CONTACT_EXCLUDE_BODIES(scene.floor, lever)
    s.BODY(scene.solfec, "OBSTACLE", box((0.8, -0.2, -0.1), (1.2, 0.2, 0.0)), scene.bulk)
    assert scene.run(0.005, CallableSolver(function, 1e-10))[0] == 0
    weight = lever.mass * GRAVITY
    assert sum(abs(c.R[2] * c.base[8]) * c.point[0] for c in scene.contacts()) == pytest.approx(weight / 2, rel=1e-6)
    assert sum(hinge.reaction[2] for hinge in hinges) == pytest.approx(weight - scene.carried(), rel=1e-6)


def test_a_spring_presses_a_slider_on_the_floor_with_its_force():
    scene = Scene()
    block = scene.body((-0.1, -0.1, 0), (0.1, 0.1, 0.2))
    s.SLIDER(block, None, (0, 0, 0.1), (0, 0, 1), spring=1e4, rest=-0.02, damper=50.0)
    assert scene.run(0.005, CallableSolver(function, 1e-10))[0] == 0
    assert scene.carried() == pytest.approx(1e4 * 0.02 + block.mass * GRAVITY, rel=1e-6)


def four_bar(scene, **acting):
    """A level linkage over the floor whose rod falls on it: four hinges with parallel axes hold more motions than there are."""
    crank, rod, rocker = (scene.body((x, y, z), (x + dx, y + 0.05, z + dz)) for x, y, z, dx, dz in (
        (-0.525, 0.0, 0.4, 0.05, 0.3), (-0.525, 0.06, 0.4, 1.05, 0.05), (0.475, 0.0, 0.4, 0.05, 0.35)))  # fmt: skip
    for one, two in ((crank, rod), (rod, rocker)):
        s.CONTACT_EXCLUDE_BODIES(one, two)
    hinge = s.HINGE(crank, None, (-0.5, 0.03, 0.68), (0, 1, 0), **acting)
    s.HINGE(rocker, None, (0.5, 0.03, 0.72), (0, 1, 0))
    s.HINGE(rod, crank, (-0.5, 0.05, 0.425), (0, 1, 0))
    s.HINGE(rod, rocker, (0.5, 0.05, 0.425), (0, 1, 0))
    scene.body((-0.2, 0.0, 0.0), (0.2, 0.3, 0.3))  # the rod swings down on this block
    s.INITIAL_VELOCITY(crank, (0, 0, 0), (0, 0, 0))
    return hinge


@pytest.mark.parametrize(
    "acting",
    [{}, {"spring": 50.0, "rest": 0.4, "damper": 1.0}, {"limits": (-0.1, 0.1)}, {"friction": 3.0}, {"motor": ("RATE", 3.0, 20.0)}, {"motor": ("POSITION", 0.3, None)}],
    ids=lambda acting: "-".join(acting) or "free",
)
def test_a_four_bar_linkage_on_a_block_moves_as_by_our_own_solver(acting):
    ends = []
    for solver in solvers():
        scene, options = Scene(), dict(acting)
        motor = options.pop("motor", None)
        hinge = four_bar(scene, **options)
        if motor:
            kind, value, limit = motor
            s.MOTOR(hinge, kind, value if kind == "RATE" else lambda t: 0.3 * np.sin(10 * t), **({} if limit is None else {"limit": limit}))
        unsolved, touching = scene.run(0.1, solver)
        assert unsolved == 0 and touching > 20
        ends.append(np.concatenate([body.conf for body in scene.solfec.bodies]))
    assert ends[0] == pytest.approx(ends[1], abs=1e-5)


def test_springs_of_all_kinds_links_and_functions_hold_beside_contacts():
    ends = []
    for solver in solvers():
        scene = Scene()
        low, high = scene.body((-0.2, -0.2, 0), (0.2, 0.2, 0.2)), scene.body((0.3, -0.1, 0.0), (0.5, 0.1, 0.2))
        beam = s.BODY(scene.solfec, "OBSTACLE", box((-0.1, -0.1, 1.0), (0.1, 0.1, 1.2)), scene.bulk)
        s.PUT_SPRING(low, (0, 0, 0.2), beam, (0, 0, 1.0), [-1, 1000, 1, -1000], (-0.5, 0.5), dashpot=20, law="IMPLICIT")
        s.PUT_SPRING(low, (0.1, 0, 0.2), beam, (0.1, 0, 1.0), lambda stroke, speed: -300 * stroke - 5 * speed, (-0.5, 0.5), (0, 0, 1))
        s.PUT_RIGID_LINK(low, high, (0.2, 0, 0.1), (0.3, 0, 0.1))
        s.SET_VELOCITY(high, (0.4, 0, 0.1), (1, 0, 0), 0.2)
        assert scene.run(0.05, solver)[0] == 0
        ends.append(np.concatenate([body.conf for body in scene.solfec.bodies]))
    assert ends[0] == pytest.approx(ends[1], abs=1e-6)


@pytest.mark.skipif(_kernels.threads.has_checks() == 1, reason="kernels with checks refuse NaN")
def test_numbers_of_joints_that_are_not_finite_are_named():
    scene = Scene()
    block = scene.body((-0.1, -0.1, 0), (0.1, 0.1, 0.2))
    s.FIX_POINT(block, (0, 0, 0.1))
    s.RUN(scene.solfec, CallableSolver(function), 1e-3)
    local = scene.solfec._domain.local_dynamics
    local.rows.free[0, local.contacts] = np.nan
    with pytest.raises(SolfecError, match=r"constraint 1 \(FIXPNT\) of body 2 has a free velocity or a W that is not finite"):
        CallableSolver(function).solve(local)


def breaker(run_text, duration, method, *switches):
    """Run the breaker; return the number of unsolved steps, the kinetic energy and the configurations of its bodies."""
    text = BREAKER.read_text().replace("arguments = NON_SOLFEC_ARGV()", f"arguments = [{duration}, {method!r}]")
    text = text.replace("RUN(solfec", "unsolved = []\nCALLBACK(solfec, 5E-5, (), lambda: unsolved.append(solver.error != 'OK') or 1)\nsolfec.verbose = 'OFF'\nRUN(solfec")
    text += "\nprint(sum(unsolved), ENERGY(solfec)[0], *[x for body in solfec.bodies for x in body.conf])\n"
    unsolved, kinetic, *places = map(float, run_text(text, *switches).split())
    return unsolved, kinetic, np.array(places)


def opened_by_siconos(run_text, duration, tolerance):
    """Run the breaker with Siconos' solvers; return the places of bodies, which are those that AUTO_SOLVER finds."""
    unsolved, kinetic, places = breaker(run_text, duration, "siconos", "-w", "-y")
    _, mine, ours = breaker(run_text, duration, "auto", "-w", "-y")
    assert unsolved == 0
    assert kinetic == pytest.approx(mine, rel=1e-3)
    assert places == pytest.approx(ours, abs=tolerance)
    return places


def test_siconos_opens_a_breaker_and_a_continued_run_has_the_bits_of_one(library, run_text):
    """The latch lets go after 5 ms: 120 steps with loops of hinges, springs, limits, a gear and a motor."""
    places = opened_by_siconos(run_text, 0.006, 1e-5)
    breaker(run_text, 0.0058, "siconos", "-w", "-y")
    assert (breaker(run_text, 0.006, "siconos", "-c")[2] == places).all()


@pytest.mark.slow
def test_siconos_opens_a_breaker_to_its_end(library, run_text):
    opened_by_siconos(run_text, 0.03, 1e-3)
