"""SOLFEC.joint_correction closes joints, and keeps momentum, energy and second order; quasi-static bodies hang where they were fixed."""

import math
import warnings

import numpy as np
import pytest

import solfec as s
from solfec.errors import SolfecWarning

LENGTH = 0.1


@pytest.fixture
def new(new_model):
    """Makes models in a session of their own."""

    def make(correction="ON", step=1e-3, analysis="DYNAMIC"):
        model = new_model(analysis, step)
        model.joint_correction = correction
        return model

    return make


def bar(model, x, material, kind="RIGID"):
    return s.BODY(model, kind, s.HULL([c for a in (x, x + LENGTH) for y in (-0.01, 0.01) for z in (-0.01, 0.01) for c in (a, y, z)], 1, 1), material)


def chain(model, count, hung=True):
    """Bars that are coupled at their ends, in a row along x."""
    s.CONTACT_EXCLUDE_SURFACES(model, 1, 1)
    material = s.BULK_MATERIAL(model, density=7800.0)
    bars = [bar(model, LENGTH * k, material) for k in range(count)]
    if hung:
        s.FIX_POINT(bars[0], (0, 0, 0))
    for k in range(1, count):
        s.PUT_RIGID_LINK(bars[k - 1], bars[k], (LENGTH * k, 0, 0), (LENGTH * k, 0, 0))
    return bars


def gaps(bars, hung=True):
    """Distances of the points of each joint."""
    def place(body, x):
        return np.array((x, 0, 0)) + s.DISPLACEMENT(body, (x, 0, 0))

    found = [np.linalg.norm(place(bars[k - 1], LENGTH * k) - place(bars[k], LENGTH * k)) for k in range(1, len(bars))]
    return found + ([np.linalg.norm(place(bars[0], 0))] if hung else [])


def momenta(bars):
    """Linear and angular momentum about the origin, from masses, tensors and the members of bodies."""
    linear, angular = np.zeros(3), np.zeros(3)
    for body in bars:
        rotation = np.reshape(body.conf[:9], (3, 3)).T
        spin, velocity = np.array(body.velo[:3]), np.array(body.velo[3:])
        inertia = np.reshape(body.tensor, (3, 3)).T
        linear += body.mass * velocity
        angular += body.mass * np.cross(body.conf[9:], velocity) + rotation @ inertia @ spin
    return linear, angular


def test_a_hanging_chain_stays_together_and_keeps_its_energy(new):
    found = {}
    for correction in ("OFF", "ON"):
        model = new(correction)
        s.GRAVITY(model, (0, 0, -9.81))
        bars = chain(model, 12)
        s.RUN(model, s.NEWTON_SOLVER(1e-22, 100), 0.6)
        energy = s.ENERGY(model)
        assert energy.kinetic == pytest.approx(energy.external, rel=1e-9)
        found[correction] = max(gaps(bars)), bars[-1].conf[9:], energy.external
    assert found["OFF"][0] > 1e-7 and found["ON"][0] < 1e-10
    assert found["ON"][1] == pytest.approx(found["OFF"][1], abs=1e-3)
    assert found["ON"][2] == pytest.approx(found["OFF"][2], rel=1e-3)


@pytest.mark.slow
def test_a_chain_of_sixty_links_stays_together_for_seconds(new):
    model = new()
    s.GRAVITY(model, (0, 0, -9.81))
    bars = chain(model, 60)
    s.RUN(model, s.NEWTON_SOLVER(1e-20, 100), 2.5)
    assert max(gaps(bars)) < 1e-6
    energy = s.ENERGY(model)
    assert energy.kinetic == pytest.approx(energy.external, rel=1e-7)


def test_a_free_chain_keeps_its_momenta_and_mass_centre(new):
    model = new()
    bars = chain(model, 6, hung=False)
    spin = np.array((0.0, 0.0, 4.0))
    for body in bars:  # a velocity field that joints allow: turning about z, and sliding along
        s.INITIAL_VELOCITY(body, tuple(np.cross(spin, body.center) + (0.3, 0.0, 0.1)), tuple(spin))
    linear, angular = momenta(bars)
    s.RUN(model, s.NEWTON_SOLVER(1e-24, 100), 0.5)
    after = momenta(bars)
    assert after[0] == pytest.approx(linear, abs=1e-12 * np.abs(linear).max() + 1e-14)
    assert after[1] == pytest.approx(angular, abs=1e-8 * np.abs(angular).max())
    mass = sum(body.mass for body in bars)
    centre = sum(body.mass * np.array(body.conf[9:]) for body in bars) / mass
    start = np.array((0.3, 0, 0))
    assert centre == pytest.approx(start + 0.5 * linear / mass, abs=1e-11)
    assert max(gaps(bars, hung=False)) < 1e-10


def test_the_pendulum_converges_with_second_order(new):
    """Angle after a fixed time, against steps four times shorter."""
    def angle(step):
        model = new(step=step)
        s.GRAVITY(model, (0, 0, -9.81))
        body = chain(model, 1)[0]
        s.RUN(model, s.NEWTON_SOLVER(1e-24, 100), 0.2)
        return np.arctan2(-body.conf[11], body.conf[9])

    coarse, middle, fine, exact = (angle(step) for step in (4e-3, 2e-3, 1e-3, 1.25e-4))
    assert (coarse - exact) / (middle - exact) == pytest.approx(4.0, rel=0.15)
    assert (middle - exact) / (fine - exact) == pytest.approx(4.0, rel=0.15)


@pytest.mark.parametrize("solver", [lambda: s.GAUSS_SEIDEL_SOLVER(1e-10, 5000), lambda: s.AUTO_SOLVER(1e-11), lambda: s.NEWTON_SOLVER(1e-22, 100)])
def test_a_point_that_was_stopped_comes_back_to_where_it_was_fixed(new, solver):
    model = new()
    ball = s.BODY(model, "RIGID", s.SPHERE((1, 2, 3), 0.1, 1, 1), s.BULK_MATERIAL(model, density=1000.0))
    s.INITIAL_VELOCITY(ball, (5, 0, 0), (0, 0, 0))
    s.FIX_POINT(ball, (1, 2, 3))
    link = s.BODY(model, "RIGID", s.SPHERE((4, 2, 3), 0.1, 1, 1), s.BULK_MATERIAL(model, density=1000.0))
    s.INITIAL_VELOCITY(link, (5, 0, 0), (0, 0, 0))
    s.PUT_RIGID_LINK(link, None, (4, 2, 3), (5, 2, 3))
    rail = s.BODY(model, "RIGID", s.SPHERE((7, 2, 3), 0.1, 1, 1), s.BULK_MATERIAL(model, density=1000.0))
    s.INITIAL_VELOCITY(rail, (1, 0, 2), (0, 0, 0))
    s.FIX_DIRECTION(rail, (7, 2, 3), (0, 0, 1))
    s.RUN(model, solver(), 0.01)
    assert ball.conf[9:] == pytest.approx((1, 2, 3), abs=1e-12)
    assert link.conf[9:] == pytest.approx((4, 2, 3), abs=1e-12)
    assert rail.conf[9:] == pytest.approx((7.01, 2, 3), abs=1e-9)
    for body in (ball, link):
        assert np.abs(body.velo).max() < 1e-8


def steel_bar(model, kind, form="TL", x=0.0):
    """A bar of 1 m and 78 kg of scheme DEF_LIM, whose longitudinal vibrations last a fifth of a millisecond."""
    steel = s.BULK_MATERIAL(model, young=2e11, poisson=0.3, density=7800.0)
    nodes = [0, 0, 0, 1, 0, 0, 1, 0.1, 0, 0, 0.1, 0, 0, 0, 0.1, 1, 0, 0.1, 1, 0.1, 0.1, 0, 0.1, 0.1]
    shape = s.HULL(nodes, 1, 1) if kind == "PSEUDO_RIGID" else s.HEX(nodes, 4, 1, 1, 1, [1] * 6)
    body = s.BODY(model, kind, s.TRANSLATE(shape, (x, 0, 0)), steel, form=form)
    body.scheme = "DEF_LIM"
    return body


STIFF = ("PSEUDO_RIGID", "TL"), ("FINITE_ELEMENT", "TL"), ("FINITE_ELEMENT", "BC")


@pytest.mark.parametrize("joint", ["FIX_POINT", "HINGE"])
@pytest.mark.parametrize("kind, form", STIFF)
def test_a_stiff_bar_that_a_joint_stops_gains_no_energy_from_its_correction(new, kind, form, joint):
    """The point stops half a millimetre from its place; the bar must go back as a whole, since its end alone would take a hundred times its energy."""
    model = new()
    body = steel_bar(model, kind, form)
    s.INITIAL_VELOCITY(body, (0, 0, 1), (0, 0, 0))
    if joint == "HINGE":
        s.HINGE(body, None, (0, 0.05, 0.05), (0, 1, 0))
    else:
        s.FIX_POINT(body, (0, 0, 0))
    thrown = 0.5 * body.mass
    s.RUN(model, s.AUTO_SOLVER(1e-10), 1e-3)
    energy = s.ENERGY(model)
    stopped = energy.kinetic + energy.internal
    assert 0.5 * thrown < stopped < 0.95 * thrown
    s.RUN(model, s.AUTO_SOLVER(1e-10), 0.02)
    energy = s.ENERGY(model)
    assert energy.kinetic + energy.internal == pytest.approx(stopped, rel=5e-3)
    point = (0, 0.05, 0.05) if joint == "HINGE" else (0, 0, 0)
    assert s.DISPLACEMENT(body, point) == pytest.approx((0, 0, 0), abs=1e-9)


@pytest.mark.parametrize("kind, form", STIFF)
def test_stiff_bars_that_a_joint_stops_keep_their_mass_centre(new, kind, form):
    """Beside a rigid bar of the same mass."""
    model = new()
    s.CONTACT_EXCLUDE_SURFACES(model, 1, 1)
    soft = steel_bar(model, kind, form)
    block = s.HULL([c for x in (1, 2) for y in (0, 0.1) for z in (0, 0.1) for c in (x, y, z)], 1, 1)
    stiff = s.BODY(model, "RIGID", block, s.BULK_MATERIAL(model, density=7800.0))
    s.INITIAL_VELOCITY(soft, (0, 0, 1), (0, 0, 0))
    s.BALL(soft, stiff, (1, 0.05, 0.02))
    s.RUN(model, s.AUTO_SOLVER(1e-11), 0.01)
    of_soft = np.mean([s.DISPLACEMENT(soft, (x, 0.05, 0.05)) for x in (0.125, 0.375, 0.625, 0.875)], axis=0)  # middles of elements
    moved = 0.5 * (of_soft + np.array(stiff.conf[9:]) - (1.5, 0.05, 0.05))
    assert moved == pytest.approx((0, 0, 0.005), abs=1e-9)
    assert s.DISPLACEMENT(soft, (1, 0.05, 0.02)) == pytest.approx(s.DISPLACEMENT(stiff, (1, 0.05, 0.02)), abs=1e-9)


def test_joints_between_rigid_and_deformable_bodies_stay_together(new):
    model = new(step=5e-4)
    s.GRAVITY(model, (0, 0, -9.81))
    s.CONTACT_EXCLUDE_SURFACES(model, 1, 1)
    s.CONTACT_EXCLUDE_SURFACES(model, 1, 2)
    s.CONTACT_EXCLUDE_SURFACES(model, 2, 2)
    stiff = s.BULK_MATERIAL(model, young=1e7, poisson=0.25, density=1000.0)
    nodes = [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1]
    arm = s.BODY(model, "RIGID", s.HULL(nodes, 1, 1), stiff)
    soft = s.BODY(model, "FINITE_ELEMENT", s.TRANSLATE(s.HEX(nodes, 1, 1, 1, 2, [2] * 6), (1, 0, 0)), stiff, form="TL")
    soft.scheme = "DEF_LIM"
    cube = s.BODY(model, "PSEUDO_RIGID", s.TRANSLATE(s.HULL(nodes, 2, 2), (2, 0, 0)), stiff)
    cube.scheme = "DEF_LIM"
    s.FIX_POINT(arm, (0, 0, 0))
    s.PUT_RIGID_LINK(arm, soft, (1, 0, 0), (1, 0, 0))
    s.PUT_RIGID_LINK(soft, cube, (2, 1, 1), (2, 1, 1))
    s.RUN(model, s.NEWTON_SOLVER(1e-18, 100), 0.1)
    for one, two, point in ((arm, soft, (1, 0, 0)), (soft, cube, (2, 1, 1))):
        assert s.DISPLACEMENT(one, point) == pytest.approx(s.DISPLACEMENT(two, point), abs=1e-9)
    assert np.abs(s.DISPLACEMENT(arm, (1, 1, 1))).max() > 1e-2


def test_driven_points_are_not_moved_by_the_correction(new):
    places = []
    for correction in ("OFF", "ON"):
        model = new(correction)
        crank, rod = chain(model, 2, hung=False)
        for direction, speed in (((1, 0, 0), 1.0), ((0, 1, 0), 0.0), ((0, 0, 1), 0.0)):
            s.SET_VELOCITY(crank, (0, 0, 0), direction, speed)
        for body in (crank, rod):
            s.INITIAL_VELOCITY(body, (1, 0, 0), (0, 0, 0))
        s.GRAVITY(model, (0, 0, -9.81))
        s.RUN(model, s.NEWTON_SOLVER(1e-22, 100), 0.2)
        places.append(s.DISPLACEMENT(crank, (0, 0, 0)))
    assert places[1] == pytest.approx(places[0], abs=2e-6)
    assert max(gaps([crank, rod], hung=False)) < 1e-10


def test_manifold_contacts_switch_it_on(new_model):
    for analysis, contacts, expected in (("DYNAMIC", "MANIFOLD", "ON"), ("DYNAMIC", "CLASSIC", "OFF"), ("QUASI_STATIC", "MANIFOLD", "ON")):
        assert new_model(analysis, contacts=contacts).joint_correction == expected


@pytest.mark.parametrize("step", [0.1, 0.15])
def test_a_quasi_static_bar_hangs_from_where_it_was_fixed(new, step):
    """Two bars, fixed at one end, are turned by their weight and by a force; velocities of joints are exact, but steps turn bodies by large angles."""
    model = new(step=step, analysis="QUASI_STATIC")
    s.GRAVITY(model, (0, 0, -10))
    material = s.BULK_MATERIAL(model, density=1000.0)
    upper, lower = (s.BODY(model, "RIGID", s.BOX((x, 0, 0), (1, 0.1, 0.1)), material) for x in (0.5, 1.5))
    s.CONTACT_EXCLUDE_BODIES(upper, lower)
    s.FIX_POINT(upper, (0, 0, 0))
    s.HINGE(lower, upper, (1, 0, 0), (0, 1, 0))
    s.FORCE(lower, "SPATIAL", (2, 0, 0), (1, 0, 0), 60.0)
    s.RUN(model, s.AUTO_SOLVER(1e-10), 200 * step)
    ends = np.array([np.add(point, s.DISPLACEMENT(body, point)) for body, point in ((upper, (1, 0, 0)), (lower, (2, 0, 0)))])
    first, second = math.atan2(60.0, 150.0), math.atan2(60.0, 50.0)  # from the vertical: weights of 100 N, and the force at the end
    joint = np.array([math.sin(first), 0, -math.cos(first)])
    expected = np.array([joint, joint + (math.sin(second), 0, -math.cos(second))])
    assert ends == pytest.approx(expected, abs=1e-6)
    assert s.DISPLACEMENT(upper, (0, 0, 0)) == pytest.approx((0, 0, 0), abs=1e-9)


def test_what_is_left_out_is_told_once(new):
    model = new()
    s.CONTACT_EXCLUDE_SURFACES(model, 1, 1)
    material = s.BULK_MATERIAL(model, density=7800.0)
    bars = [bar(model, 2 * LENGTH * k, material) for k in range(2)]
    s.FIX_POINT(bars[0], (0, 0, 0))
    s.FIX_DIRECTION(bars[0], (LENGTH, 0, 0), (0, 0, 1), bars[1], (2 * LENGTH, 0, 0))
    with pytest.warns(SolfecWarning, match=r"joint_correction leaves out fixed directions between two bodies \(constraint \d+\)"):
        s.RUN(model, s.NEWTON_SOLVER(), 0.002)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        s.RUN(model, s.NEWTON_SOLVER(), 0.002)
    model.joint_correction = "OFF"
    s.FIX_DIRECTION(bars[0], (0, 0, 0), (0, 1, 0), bars[1], (2 * LENGTH, 0, 0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        s.RUN(model, s.NEWTON_SOLVER(), 0.002)


@pytest.mark.parametrize("form", ["BC-MODAL", "BC-RO"])
def test_a_body_in_a_reduced_base_runs_and_is_left_out(new, tmp_path, form):
    """With contacts = 'MANIFOLD' the correction is on unless switched off, so it must not break such a run off."""
    model = new()
    mesh = s.HEX([0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1], 1, 1, 1, 1, [1] * 6)
    material = s.BULK_MATERIAL(model, young=1e6, poisson=0.25, density=100.0)
    whole = s.BODY(model, "FINITE_ELEMENT", s.TRANSLATE(s.COPY(mesh), (0, 0, 9)), material, form="BC")
    values, vectors = s.MODAL_ANALYSIS(whole, 9, str(tmp_path / "modes"))
    if form == "BC-RO":
        vectors = np.linalg.qr(np.reshape(vectors, (9, 24)).T)[0].T.ravel().tolist()
    body = s.BODY(model, "FINITE_ELEMENT", mesh, material, form=form, base=(values, vectors))
    weight = bar(model, 1.5, material)
    s.FIX_POINT(body, (0, 0, 0))
    s.FIX_POINT(weight, (1.5, 0, 0))
    s.GRAVITY(model, (0, 0, -9.81))
    with pytest.warns(SolfecWarning, match=r"joints on bodies of form 'BC-MODAL' or 'BC-RO' \(constraint \d+\)"):
        s.RUN(model, s.NEWTON_SOLVER(), 0.05)
    turn, centre = np.reshape(weight.conf[:9], (3, 3)).T, np.array(weight.conf[9:12])
    assert abs(weight.velo[1]) > 0.1  # it swings about its end, which stays
    assert np.linalg.norm(centre + turn @ (-LENGTH / 2, 0, 0) - (1.5, 0, 0)) < 1e-12


def test_a_link_that_stops_a_modal_body_does_not_pull_to_and_fro(new, tmp_path):
    """The correction leaves such a body out: its link takes the length at which it stopped the body, as without correction.

    It asked for the old length, forwards and backwards in turn, with 70 kN instead of 4 kN.
    """
    forces = {}
    for correction in ("OFF", "ON"):
        model = new(correction)
        material = s.BULK_MATERIAL(model, young=1e8, poisson=0.3, density=1000.0)
        mesh = s.BOX((0.25, 0.25, 0.25), (0.5, 0.5, 0.5), divisions=(3, 2, 1))
        free = s.BODY(model, "FINITE_ELEMENT", s.COPY(mesh), material, form="BC")
        base = s.MODAL_ANALYSIS(free, 18, str(tmp_path / correction))
        s.DELETE(model, free)
        body = s.BODY(model, "FINITE_ELEMENT", mesh, material, form="BC-MODAL", base=base)
        s.INITIAL_VELOCITY(body, (0.3, -0.2, 0.1), (1.0, 2.0, -1.5))
        link = s.PUT_RIGID_LINK(body, None, (0.5, 0.5, 0.5), (1.5, 1, 2))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SolfecWarning)  # which says that it is left out
            forces[correction] = [link.R[2] for _ in model.steps(s.AUTO_SOLVER(), 0.03)]
    assert forces["ON"] == forces["OFF"]
