"""Joints of mechanisms on finite element bodies, which act on local frames: against closed form, rigid bodies and beams."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import solfec as s

SOLVERS = {
    "GAUSS_SEIDEL": lambda: s.GAUSS_SEIDEL_SOLVER(1e-13, 20000, meritval=1e-24),
    "NEWTON": lambda: s.NEWTON_SOLVER(1e-24, 1000),
    "AUTO": lambda: s.AUTO_SOLVER(1e-10),
}
LENGTH, WIDTH, CELLS, YOUNG = 1.0, 0.1, 8, 1e9
MASS = 1000.0 * LENGTH * WIDTH**2
# about an end, of masses in the nodes
INERTIA = MASS * (LENGTH**2 / 3 * (1 + 0.5 / CELLS**2) + (WIDTH / 2) ** 2)
Y = (0, 1, 0)


def model(kind="DYNAMIC", step=1e-3, gravity=None):
    solfec = s.SOLFEC(kind, step, None)
    solfec.verbose = "OFF"
    s.CONTACT_EXCLUDE_SURFACES(solfec, 1, 1)
    if gravity is not None:
        s.GRAVITY(solfec, gravity)
    return solfec, s.BULK_MATERIAL(solfec, model="KIRCHHOFF", young=YOUNG, poisson=0.0, density=1000.0)


def bar(solfec, bulk, start=0.0, kind="FINITE_ELEMENT", form="TL", scheme="DEF_LIM"):
    """A bar along x from `start`, CELLS elements long."""
    half = WIDTH / 2
    corners = [(x, y, z) for z in (-half, half) for x, y in ((start, -half), (start + LENGTH, -half), (start + LENGTH, half), (start, half))]
    numbers = [float(v) for corner in corners for v in corner]
    if kind != "FINITE_ELEMENT":
        return s.BODY(solfec, kind, s.HULL(numbers, 1, 1), bulk)
    body = s.BODY(solfec, kind, s.HEX(numbers, CELLS, 1, 1, 1, [1] * 6), bulk, form=form)
    body.scheme = scheme
    return body


def momenta(solfec):
    """Momentum and angular momentum of all nodes."""
    bodies = solfec._simulation.domain.bodies
    elements = bodies.finite_elements
    velocity = bodies.triples.velo[:, elements.velo_row]
    place = elements.reference + bodies.configurations.conf[:, elements.conf_row]
    return np.append((elements.mass * velocity).sum(axis=1), (elements.mass * np.cross(place, velocity, axis=0)).sum(axis=1))


@pytest.mark.parametrize(("form", "scheme", "correction"), [("TL", "DEF_EXP", "OFF"), ("TL", "DEF_LIM", "ON"), ("BC", "DEF_LIM", "OFF"), ("BC", "DEF_LIM", "ON")])
def test_a_bar_on_a_hinge_swings_as_theory_says(form, scheme, correction):
    solfec, bulk = model(gravity=(0, 0, -9.81))
    solfec.joint_correction = correction
    swinging = bar(solfec, bulk, form=form, scheme=scheme)
    hinge = s.HINGE(swinging, None, (0, 0, 0), Y)
    s.RUN(solfec, s.AUTO_SOLVER(1e-10), 0.25)
    solution = solve_ivp(lambda t, y: [y[1], MASS * 9.81 * LENGTH / 2 * math.cos(y[0]) / INERTIA], (0, solfec.time), [0, 0], rtol=1e-10, atol=1e-12)
    assert hinge.angle == pytest.approx(solution.y[0, -1], rel=3e-4)
    assert hinge.turning == pytest.approx(solution.y[1, -1], rel=0.02)  # the bar vibrates
    assert np.abs(s.DISPLACEMENT(swinging, (0, 0, 0))).max() < 1e-12
    assert np.abs(s.DISPLACEMENT(swinging, (LENGTH, 0, 0))[1]) < 1e-9


@pytest.mark.parametrize("solver", SOLVERS)
def test_two_hinged_bars_in_space_keep_their_momenta(solver):
    solfec, bulk = model()
    bodies = bar(solfec, bulk), bar(solfec, bulk, LENGTH)
    s.HINGE(*bodies, (LENGTH, 0, 0), (0, 1, 1))
    for body, spin in zip(bodies, ((0.1, 2, 0), (0.1, -1, 0))):
        s.INITIAL_VELOCITY(body, (0, 0, 0), spin)
    s.RUN(solfec, SOLVERS[solver](), 0.001)  # an impact makes the velocities fit
    before = momenta(solfec)
    assert np.abs(before[3:]).max() > 0.5
    s.RUN(solfec, SOLVERS[solver](), 0.05)
    after = momenta(solfec)
    assert after[:3] == pytest.approx(before[:3], abs=1e-9)
    assert after[3:] == pytest.approx(before[3:], abs=2e-4 * np.abs(before).max())  # forces act at mid-step


def test_a_soft_bar_between_rigid_ones_moves_nearly_as_a_rigid_one():
    """A crank, a coupler of finite elements and a rocker: the same linkage with a rigid coupler."""
    angles = {}
    for kind in ("RIGID", "FINITE_ELEMENT"):
        solfec, bulk = model(gravity=(0, 0, -9.81))
        first, coupler, last = bar(solfec, bulk, kind="RIGID"), bar(solfec, bulk, LENGTH, kind), bar(solfec, bulk, 2 * LENGTH, kind="RIGID")
        hinge = s.HINGE(first, None, (0, 0, 0), Y)
        s.HINGE(coupler, first, (LENGTH, 0, 0), Y)
        s.HINGE(last, coupler, (2 * LENGTH, 0, 0), Y)
        s.RUN(solfec, s.AUTO_SOLVER(1e-9), 0.3)
        angles[kind] = hinge.angle
    assert abs(angles["RIGID"]) > 0.1
    assert angles["FINITE_ELEMENT"] == pytest.approx(angles["RIGID"], rel=0.01)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_slider_guides_a_soft_block_down_an_incline(solver):
    solfec, bulk = model(gravity=(0, 0, -10.0))
    body = bar(solfec, bulk)
    slope = np.array([math.cos(0.3), 0, -math.sin(0.3)])
    slider = s.SLIDER(body, None, (LENGTH / 2, 0, 0), tuple(slope.tolist()))
    s.RUN(solfec, SOLVERS[solver](), 0.1)
    assert slope @ momenta(solfec)[:3] == pytest.approx(MASS * 10 * math.sin(0.3) * solfec.time, rel=1e-7)
    assert slider.travel == pytest.approx(5 * math.sin(0.3) * solfec.time**2, rel=0.01)  # the bar vibrates
    moved = np.array(s.DISPLACEMENT(body, (LENGTH / 2, 0, 0)))
    assert np.linalg.norm(moved - slope * (slope @ moved)) < 1e-9


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_motor_turns_a_soft_arm_at_its_rate(solver):
    solfec, bulk = model()
    arm = bar(solfec, bulk)
    hinge = s.HINGE(arm, None, (0, 0, 0), (0, 0, 1))
    s.MOTOR(hinge, "RATE", s.TIME_SERIES([0, 0, 0.1, 2.0, 1, 2.0]))
    s.RUN(solfec, SOLVERS[solver](), 0.2)
    assert hinge.turning == pytest.approx(2.0, rel=1e-6)
    assert hinge.angle == pytest.approx(0.3, rel=1e-2)


def test_a_weld_holds_a_cantilever_by_force_and_torque():
    solfec, bulk = model("QUASI_STATIC", 1.0)
    beam = bar(solfec, bulk, form="BC")
    weld = s.WELD(beam, None, (0, 0, 0))
    s.FORCE(beam, "SPATIAL", (LENGTH, 0, 0), (0, 0, 1), 2.0)
    s.RUN(solfec, s.AUTO_SOLVER(1e-12), 3.0)
    assert weld.reaction == pytest.approx((0, 0, -2, 0, 2 * LENGTH, 0), abs=2e-4)
    stiffness = YOUNG * WIDTH**4 / 12
    assert 0.3 < s.DISPLACEMENT(beam, (LENGTH, 0, 0))[2] / (2 * LENGTH**3 / (3 * stiffness)) < 1.0  # coarse elements are too stiff in bending


@pytest.mark.parametrize("solver", SOLVERS)
def test_soft_bars_share_a_door_by_their_stiffness(solver):
    """A rigid bar hangs on two soft ones, a short and a long one beside it, which hold it together: their forces add up to its weight."""
    solfec, bulk = model(gravity=(0, 0, -9.81), step=2e-4)
    door, near, far = bar(solfec, bulk, kind="RIGID"), bar(solfec, bulk, -LENGTH, form="BC"), bar(solfec, bulk, LENGTH, form="BC")
    inner = s.WELD(near, door, (0, 0, 0)), s.WELD(far, door, (LENGTH, 0, 0))
    outer = s.WELD(near, None, (-LENGTH, 0, 0)), s.WELD(far, None, (2 * LENGTH, 0, 0))
    s.RUN(solfec, SOLVERS[solver](), 0.002)
    before = momenta_of_all(solfec)
    s.RUN(solfec, SOLVERS[solver](), 2e-4)
    change = (momenta_of_all(solfec) - before) / 2e-4
    held = sum(np.array(joint.reaction[:3]) for joint in outer)
    assert change[2] == pytest.approx(held[2] - 3 * MASS * 9.81, rel=1e-3)
    assert inner[0].reaction[2] == pytest.approx(inner[1].reaction[2], rel=1e-6)


def momenta_of_all(solfec):
    """Momentum of all bodies."""
    rigid = sum(np.array(b.velo[3:6]) * b.mass for b in solfec.bodies if b.kind == "RIGID")
    return momenta(solfec)[:3] + rigid


def test_a_place_outside_of_the_elements_is_refused():
    solfec, bulk = model()
    with pytest.raises(Exception, match=r"the place \(0, 0, 0.3\) is outside of its elements, 0.25 away from the nearest one"):
        s.HINGE(bar(solfec, bulk), None, (0, 0, 0.3), Y)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("soft", ["pinion", "rack", "both"])
def test_a_soft_rack_slides_as_its_soft_pinion_turns(soft, solver):
    """(I + m r^2) q'' = T on the whole: a bar that turns about its end drives another one along its axis, far from the pinion's axis."""
    solfec, bulk = model()
    kinds = {name: "FINITE_ELEMENT" if soft in (name, "both") else "RIGID" for name in ("pinion", "rack")}
    pinion, rack = bar(solfec, bulk, kind=kinds["pinion"]), bar(solfec, bulk, 2 * LENGTH, kind=kinds["rack"])
    shaft = s.HINGE(pinion, None, (0, 0, 0), Y)
    guide = s.SLIDER(rack, None, (2.5 * LENGTH, 0, 0.03), (1, 0, 0))
    mesh = s.RACK(shaft, guide, 0.2)
    torque, inertia = 4.0, INERTIA if kinds["pinion"] == "FINITE_ELEMENT" else MASS * (LENGTH**2 / 3 + WIDTH**2 / 12)
    s.MOTOR(shaft, "EFFORT", torque)
    impulse = sum(1e-3 * mesh.reaction[0] for _ in solfec.steps(SOLVERS[solver](), 0.1))
    rate = torque / (inertia + MASS * 0.2**2)
    assert guide.travel == pytest.approx(0.2 * shaft.angle, abs=1e-6)
    assert guide.speed == pytest.approx(0.2 * shaft.turning, rel=1e-7)  # as well as sweeps solve
    assert shaft.angle == pytest.approx(0.5 * rate * solfec.time**2, rel=0.02)  # bars vibrate
    if soft != "both":
        assert impulse == pytest.approx(momenta(solfec)[0] if soft == "rack" else MASS * rack.velo[3], rel=1e-7)


@pytest.mark.parametrize("correction", ["OFF", "ON"])
def test_a_soft_rack_on_a_frame_that_turns_follows_its_pinion(correction):
    solfec, bulk = model()
    solfec.joint_correction = correction
    frame, pinion, rack = bar(solfec, bulk, kind="RIGID"), bar(solfec, bulk, LENGTH), bar(solfec, bulk, LENGTH)
    turn = s.HINGE(frame, None, (0, 0, 0), Y)
    shaft, guide = s.HINGE(pinion, frame, (LENGTH, 0, 0), (0, 0, 1)), s.SLIDER(rack, frame, (1.5 * LENGTH, 0, 0), (1, 0, 0))
    s.RACK(shaft, guide, -0.2)
    s.MOTOR(turn, "RATE", s.TIME_SERIES([0, 0, 0.05, 2.0, 1, 2.0]))
    s.MOTOR(shaft, "POSITION", s.TIME_SERIES([(k / 200, 0.3 * (1 - math.cos(10 * k / 200))) for k in range(60)]))
    s.RUN(solfec, s.AUTO_SOLVER(1e-10), 0.15)
    assert turn.angle == pytest.approx(0.05 + 0.2, rel=0.02)
    assert shaft.angle == pytest.approx(0.3 * (1 - math.cos(1.5)), rel=0.02)
    assert guide.travel == pytest.approx(-0.2 * shaft.angle, abs=1e-5 if correction == "OFF" else 1e-9)


@pytest.mark.parametrize("restitution", [0.3, 0.6])
def test_a_pseudo_rigid_bar_that_a_limit_strikes_gains_no_energy_from_it(restitution):
    """Its vibrations, some periods in a step, shake it at the limit; kinetic, internal and potential energy begin at zero."""
    rises = []
    for limit in (0.35, 0.4, 0.45, 0.5, 0.55):
        solfec = s.SOLFEC("DYNAMIC", 1e-3, None)
        solfec.verbose = "OFF"
        s.GRAVITY(solfec, (0, 0, -10))
        corners = [c for z in (0, 0.1) for y in (0, 0.1) for x in (0, 1) for c in (x, y, z)]
        body = s.BODY(solfec, "PSEUDO_RIGID", s.HULL(corners, 1, 1), s.BULK_MATERIAL(solfec, young=2e9, poisson=0.3, density=7800.0))
        body.scheme = "DEF_LIM"
        s.HINGE(body, None, (0.05, 0.05, 0.05), Y, limits=(-1, limit), restitution=restitution)
        for _ in solfec.steps(s.AUTO_SOLVER(1e-10), 0.4):
            energy = s.ENERGY(body)
            rises.append(energy.kinetic + energy.internal + body.mass * 10 * s.DISPLACEMENT(body, (0.5, 0.05, 0.05))[2])
    assert max(rises) < 1.0  # of some 150 J with which it strikes
