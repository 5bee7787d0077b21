"""BODY_SWITCH: momenta, places and energies of bodies that become another kind of body, and what they keep."""

from __future__ import annotations

import numpy as np
import pytest

import solfec as s
from solfec.bodies.finite_elements import compiled
from solfec.errors import SolfecWarning

CUBE = [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1]
SKEW = [0, 0, 0, 2, 0.1, 0, 1.8, 1, 0.2, 0, 1.1, 0, 0.1, 0, 0.7, 2.2, 0, 1, 2, 1.2, 1.1, 0, 1, 0.9]
KINDS = ("RIGID", "PSEUDO_RIGID", "FINITE_ELEMENT")
PAIRS = [(one, two) for one in KINDS for two in KINDS if one != two]


def model(*arguments):
    solfec = s.SOLFEC("DYNAMIC", 1e-3, *arguments)
    solfec.verbose = "OFF"
    return solfec, s.BULK_MATERIAL(solfec, "KIRCHHOFF", "soft", young=1e5, poisson=0.3, density=900)


def turn(axis, angle):
    x, y, z = np.array(axis, float) / np.linalg.norm(axis)
    k = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * k @ k


def nodes_of(body):
    """Referential places and lumped masses of nodes of a finite element body."""
    bodies = body._simulation.domain.bodies
    fe = compiled(bodies)
    k = fe.number(body._row)
    return np.reshape(body.mesh.get_data()[0], (-1, 3)), fe.mass[fe.first[k] : fe.first[k + 1]].copy()


def momenta(body):
    """Linear momentum and angular momentum about the origin, written down from the members of the body alone."""
    conf, velo = np.reshape(body.conf, (-1, 3)), np.reshape(body.velo, (-1, 3))
    if body.kind == "FINITE_ELEMENT":
        places, mass = nodes_of(body)
        return mass @ velo, mass @ np.cross(places + conf, velo)
    tensor, place = np.reshape(body.tensor, (3, 3)), conf[3]
    if body.kind == "RIGID":
        linear, spin = body.mass * velo[1], conf[:3].T @ (tensor @ velo[0])
    else:
        product = conf[:3] @ tensor @ velo[:3].T  # sum of x v^T over mass
        linear, spin = body.mass * velo[3], np.array([product[i, j] - product[j, i] for i, j in ((1, 2), (2, 0), (0, 1))])
    return linear, np.cross(place, linear) + spin


def spinning(solfec, matter, kind):
    """A body that has turned by 2 radians, is deformed if it can be, far from the origin, and moves and spins."""
    body = s.BODY(solfec, kind, s.HEX(SKEW, 3, 2, 2, 1, [1, 2, 3, 4, 5, 6]), matter, label="stone")
    rotation, place = turn((1, 2, 3), 2.0), np.array([10.0, -20.0, 5.0])
    stretch = np.eye(3) + 0.1 * np.array([[1, 0.3, 0], [0.3, -0.5, 0.2], [0, 0.2, 0.4]])
    if kind == "RIGID":
        body.conf, body.velo = [*rotation.T.ravel(), *place], [3, -2, 5, 1, 2, -7]
    elif kind == "PSEUDO_RIGID":
        body.conf, body.velo = [*(rotation @ stretch).ravel(), *place], [1, 5, -3, -4, 0.5, 2, 3, -1, 0.2, 1, 2, -7]
    else:
        nodes = np.reshape(body.mesh.get_data()[0], (-1, 3))
        ripple = 0.02 * np.sin(7 * nodes[:, ::-1] + 1)
        body.conf = (place + nodes @ (rotation @ stretch).T + ripple - nodes).ravel()
        body.velo = (np.cross((3, -2, 5), nodes) + (1, 2, -7) + np.sin(9 * nodes)).ravel()
    return body


@pytest.mark.parametrize(("one", "two"), PAIRS)
def test_momenta_are_kept_to_rounding(one, two):
    solfec, matter = model()
    body = spinning(solfec, matter, one)
    before, energy = momenta(body), sum(s.ENERGY(solfec, body)[:2])
    lost = s.BODY_SWITCH(body, two)
    assert body.kind == two
    for old, new in zip(before, momenta(body), strict=True):
        assert np.linalg.norm(new - old) <= 1e-12 * np.linalg.norm(old)
    assert lost == pytest.approx(energy - sum(s.ENERGY(solfec, body)[:2]), abs=1e-9 * energy)
    assert body.label == "stone"


@pytest.mark.parametrize(("one", "two"), [("RIGID", "PSEUDO_RIGID"), ("RIGID", "FINITE_ELEMENT"), ("PSEUDO_RIGID", "FINITE_ELEMENT")])
def test_places_stay_exactly_towards_deformable(one, two):
    solfec, matter = model()
    body = spinning(solfec, matter, one)
    points = [(0.3, 0.4, 0.2), (1.7, 0.9, 0.8), (0, 0, 0)]
    before = np.array([(s.DISPLACEMENT(body, p), s.VELOCITY(body, p)) for p in points])
    s.BODY_SWITCH(body, two)
    after = np.array([(s.DISPLACEMENT(body, p), s.VELOCITY(body, p)) for p in points])
    assert after[:, 0] == pytest.approx(before[:, 0], abs=1e-13)
    change = after[:, 1] - before[:, 1]
    if two == "PSEUDO_RIGID":
        assert change == pytest.approx(np.zeros((3, 3)), abs=1e-12)
        return
    # Lumped masses have more inertia, so the same angular momentum has a smaller spin: velocities differ by that of a rigid body, no strain.
    for i, j in ((0, 1), (1, 2), (2, 0)):
        assert (change[i] - change[j]) @ (after[i, 0] - after[j, 0] + np.subtract(points[i], points[j])) == pytest.approx(0, abs=1e-12)
    assert 0.01 < np.abs(change).max() < 0.25 * np.abs(before[:, 1]).max()


@pytest.mark.parametrize("two", ["RIGID", "PSEUDO_RIGID"])
def test_places_stay_in_the_mean_towards_rigid(two):
    """What is left has no mean, and no turn about the mass centre: the stationary point of the least squares."""
    solfec, matter = model()
    body = spinning(solfec, matter, "FINITE_ELEMENT")
    nodes, mass = nodes_of(body)
    before = nodes + np.reshape(body.conf, (-1, 3))
    s.BODY_SWITCH(body, two)
    moved = nodes + np.array([s.DISPLACEMENT(body, tuple(p)) for p in nodes])
    assert mass @ (moved - before) / mass.sum() == pytest.approx(np.zeros(3), abs=1e-12)
    assert mass @ np.cross(moved - mass @ moved / mass.sum(), before - moved) / mass.sum() == pytest.approx(np.zeros(3), abs=1e-12)
    assert 0.001 < np.abs(moved - before).max() < (0.3 if two == "RIGID" else 0.05)


def test_a_body_that_deforms_as_it_may_come_back_is_what_it_was():
    solfec, matter = model()
    body = spinning(solfec, matter, "RIGID")
    before = np.array(body.conf), np.array(body.velo)
    losses = [s.BODY_SWITCH(body, kind) for kind in ("FINITE_ELEMENT", "PSEUDO_RIGID", "RIGID")]
    assert np.array(body.conf) == pytest.approx(before[0], abs=1e-12)
    assert np.array(body.velo) == pytest.approx(before[1], rel=1e-11)
    assert losses[0] > 0  # the same angular momentum with the greater inertia of lumped masses
    assert sum(losses) == pytest.approx(0, abs=1e-9 * s.ENERGY(solfec, body)[0])


def test_the_energy_that_is_lost_is_that_of_the_deformation():
    """A body at rest, stretched by 1 % along x: E volume strain^2 / 2 in uniaxial stress, here with the lateral strain -nu 1 %."""
    solfec, matter = model()
    body = s.BODY(solfec, "FINITE_ELEMENT", s.HEX(CUBE, 2, 2, 2, 1, [1] * 6), matter)
    nodes = np.reshape(body.mesh.get_data()[0], (-1, 3))
    body.conf = (nodes * np.array([0.01, -0.003, -0.003])).ravel()
    assert s.BODY_SWITCH(body, "RIGID") == pytest.approx(0.5 * 1e5 * 1e-4, rel=0.02)
    assert tuple(s.ENERGY(solfec, body)[:2]) == (0, 0)
    assert body.conf[9:] == pytest.approx((0.505, 0.4985, 0.4985))


def test_shapes_of_all_kinds_stay(tmp_path):
    solfec, matter = model()
    for k, shape in enumerate([s.SPHERE((0, 0, 0), 0.5, 3, 4), s.ELLIP((3, 0, 0), (0.5, 0.4, 0.3), 1, 1), s.HULL(CUBE, 2, 2)]):
        body = s.BODY(solfec, "RIGID", shape, matter)
        mass, tensor = body.mass, body.tensor
        s.BODY_SWITCH(body, "PSEUDO_RIGID")
        s.BODY_SWITCH(body, "RIGID")
        assert body.mass == pytest.approx(mass, rel=1e-14)
        assert body.tensor == pytest.approx(tensor, rel=1e-12, abs=1e-9)
        assert body.id == 3 * (k + 1)
    box = s.MESH(np.array(CUBE) * 3 - 1, [8, 0, 1, 2, 3, 4, 5, 6, 7, 1], 1)
    s.BODY_SWITCH(body, "FINITE_ELEMENT", mesh=box)
    assert s.BODY_SWITCH(body, "FINITE_ELEMENT", form="BC") == pytest.approx(0, abs=1e-9)
    s.BODY_SWITCH(body, "RIGID")
    assert body.mass == pytest.approx(900)


def test_a_pendulum_swings_on_through_switches():
    """Its support and a force on it go with it, so it follows the path of a body that stays rigid."""
    ends = []
    for switched in (False, True):
        solfec, matter = model()
        stiff = s.BULK_MATERIAL(solfec, "KIRCHHOFF", "stiff", young=1e7, poisson=0.3, density=900)
        s.GRAVITY(solfec, (0, 0, -10))
        body = s.BODY(solfec, "RIGID", s.HEX(np.reshape(CUBE, (-1, 3)) @ np.diag([0.2, 0.2, 1]), 2, 2, 4, 1, [1] * 6), stiff)
        s.FIX_POINT(body, (0.1, 0.1, 1))
        s.FORCE(body, "SPATIAL", (0, 0, 0), (1, 0, 0), 2.0)
        s.INITIAL_VELOCITY(body, (0.5, 0, 0), (0, -1, 0))
        if switched:
            turns = iter(["PSEUDO_RIGID", "RIGID", "PSEUDO_RIGID", "RIGID"])
            s.CALLBACK(solfec, 0.1, (body, turns), lambda body, turns: [s.BODY_SWITCH(body, kind) for kind in [next(turns, None)] if kind] and 1 or 1)
        s.RUN(solfec, s.AUTO_SOLVER(1e-12), 0.5)
        assert len(body.constraints) == 1
        ends.append(np.array(body.conf[9:12]))
    assert np.linalg.norm(ends[0] - (0.1, 0.1, 0.5)) > 0.05
    assert ends[1] == pytest.approx(ends[0], abs=2e-4)


def test_rows_that_act_otherwise_on_elements_refuse_a_switch():
    solfec, matter = model()
    one, two, three = (s.BODY(solfec, "RIGID", s.HEX(np.reshape(CUBE, (-1, 3)) + (2 * k, 0, 0), 1, 1, 1, 1, [1] * 6), matter) for k in range(3))
    s.FIX_DIRECTION(one, (1, 0, 0), (0, 1, 0), two, (2, 0, 0))
    s.PUT_SPRING(two, (3, 1, 1), three, (4, 1, 1), [-1, -1, 1, 1], (-1, 1), (1, 0, 0), "CONV2")
    pinion = s.HINGE(three, None, (4.5, 0.5, 0.5), (0, 0, 1))
    s.RACK(pinion, s.SLIDER(two, None, (2.5, 0.5, 0.5), (1, 0, 0)), 0.5)
    for body, why in ((one, "FIX_DIRECTION holds body 1"), (two, r"body 2 is a rack \(RACK\)"), (three, "body 3 carries the direction of a PUT_SPRING")):
        with pytest.raises(ValueError, match=why):
            s.BODY_SWITCH(body, "FINITE_ELEMENT")
        assert body.kind == "RIGID" and abs(s.BODY_SWITCH(body, "PSEUDO_RIGID")) < 1e-9
    assert len(solfec.bodies) == 3


def test_a_body_with_elements_keeps_its_mesh():
    """Its nodal values are those of its own nodes."""
    solfec, matter = model()
    body = s.BODY(solfec, "FINITE_ELEMENT", s.HULL(CUBE, 1, 1), matter, mesh=s.HEX(CUBE, 2, 2, 2, 1, [1] * 6))
    for form in ("TL", "BC"):
        with pytest.raises(ValueError, match="body 1 .*'mesh' is for bodies without" if form == "BC" else "already"):
            s.BODY_SWITCH(body, "FINITE_ELEMENT", form, s.HEX(CUBE, 3, 1, 1, 1, [1] * 6))
    assert len(solfec.bodies) == 1 and len(body.conf) == 81


def test_a_mesh_that_does_not_hold_the_shape_names_the_body_that_the_user_knows():
    solfec, matter = model()
    stone = s.BODY(solfec, "RIGID", s.HULL(CUBE, 1, 1), matter, label="stone")
    with pytest.raises(ValueError, match=r"BODY_SWITCH: body 1 \(stone\): the mesh does not contain the shape(?!.*body 2)"):
        s.BODY_SWITCH(stone, "FINITE_ELEMENT", mesh=s.HEX(0.5 * np.array(CUBE), 1, 1, 1, 1, [1] * 6))
    assert stone.kind == "RIGID" and len(solfec.bodies) == 1


def test_a_form_for_a_rigid_body_is_told():
    solfec, matter = model()
    body = s.BODY(solfec, "PSEUDO_RIGID", s.HULL(CUBE, 1, 1), matter)
    with pytest.warns(SolfecWarning, match="BODY_SWITCH: 'form' is for finite element bodies; 'BC' means nothing to one of kind 'RIGID'"):
        s.BODY_SWITCH(body, "RIGID", "BC")


def test_bodies_that_cannot_be_switched_stay_as_they_are():
    solfec, matter = model()
    rigid = s.BODY(solfec, "RIGID", s.HULL(CUBE, 1, 1), matter)
    with pytest.raises(ValueError, match="BODY_SWITCH: body 1 is RIGID already"):
        s.BODY_SWITCH(rigid, "RIGID")
    with pytest.raises(ValueError, match="not a single MESH"):
        s.BODY_SWITCH(rigid, "FINITE_ELEMENT")
    with pytest.raises(ValueError, match="'kind' must be one of"):
        s.BODY_SWITCH(rigid, "OBSTACLE")
    ground = s.BODY(solfec, "OBSTACLE", s.HULL(CUBE, 1, 1), matter)
    with pytest.raises(ValueError, match="obstacle"):
        s.BODY_SWITCH(ground, "RIGID")
    heavy = s.BODY(solfec, "RIGID", s.HULL(CUBE, 1, 1), matter)
    s.BODY_CHARS(heavy, 5, 1, (0.5, 0.5, 0.5), [1, 0, 0, 0, 1, 0, 0, 0, 1])
    with pytest.raises(ValueError, match="BODY_CHARS"):
        s.BODY_SWITCH(heavy, "PSEUDO_RIGID")
    s.TORQUE(rigid, "SPATIAL", (1, 0, 0), 1)
    with pytest.raises(ValueError, match="torque"):
        s.BODY_SWITCH(rigid, "PSEUDO_RIGID")
    soft = s.BODY(solfec, "PSEUDO_RIGID", s.HULL(CUBE, 1, 1), matter)
    s.SIMPLIFIED_CRACK(soft, (0.5, 0.5, 0.5), (1, 0, 0), (1, 1), "TENSILE", ft=1.0)
    with pytest.raises(ValueError, match="cracks"):
        s.BODY_SWITCH(soft, "RIGID")
    assert [body.kind for body in (rigid, ground, heavy, soft)] == ["RIGID", "OBSTACLE", "RIGID", "PSEUDO_RIGID"]
    assert s.BODY(solfec, "RIGID", s.HULL(CUBE, 1, 1), matter).id == 5


@pytest.mark.parametrize("kind", ["PSEUDO_RIGID", "FINITE_ELEMENT"])
def test_parts_that_are_excluded_from_contact_stay_so(kind):
    solfec, matter = model()
    s.GRAVITY(solfec, (0, 0, -10))
    floor = s.BODY(solfec, "OBSTACLE", s.TRANSLATE(s.SCALE(s.HULL(CUBE, 1, 1), (4, 4, 1)), (-1, -1, -1)), matter)
    block = s.BODY(solfec, "RIGID", s.HEX(CUBE, 2, 2, 2, 1, [1] * 6), matter)
    for x in (0.25, 0.75):
        for y in (0.25, 0.75):
            s.CONTACT_EXCLUDE_OBJECTS(block, (x, y, 0.25), floor, (0, 0, -0.5))
    s.BODY_SWITCH(block, kind)
    block.scheme = "DEF_LIM"
    s.RUN(solfec, s.AUTO_SOLVER(1e-8), 0.01)
    assert s.VELOCITY(block, (0.5, 0.5, 0.5))[2] == pytest.approx(-0.1, rel=1e-6)
