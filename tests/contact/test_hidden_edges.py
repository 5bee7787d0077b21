"""Balls that slide over seams of flush, rising and falling faces with contacts = 'MANIFOLD' (fortran/contact/hidden_edges.f90)."""

from math import asin, atan2, cos, hypot, pi, sin

import pytest

import solfec

G = 9.81


def model(step=5e-4, gravity=(0, 0, -G)):
    made = solfec.SOLFEC("DYNAMIC", step, contacts="MANIFOLD")
    made.verbose = "OFF"
    solfec.GRAVITY(made, gravity)
    solfec.SURFACE_MATERIAL(made, friction=0.0)
    return made


def prism(profile, width):
    """Convex with this outline in x and z, from -width to width in y."""
    return solfec.HULL([c for y in (-width, width) for x, z in profile for c in (x, y, z)], 1, 1)


def tiles(made, bulk, points, depth=0.05, width=0.05, one_body=False):
    shapes = [
        prism(((x, z), (X, Z), (x, min(z, Z) - depth), (X, min(z, Z) - depth)), width) for (x, z), (X, Z) in zip(points, points[1:])
    ]
    for shape in [shapes] if one_body else shapes:
        solfec.BODY(made, "OBSTACLE", shape, bulk)


def slider(made, bulk, place, kind, r, velocity):
    sphere = kind == "sphere"
    shape = solfec.SPHERE(place, r, 1, 1) if sphere else solfec.ELLIP(place, (2 * r, 1.5 * r, r), 1, 1)
    body = solfec.BODY(made, "RIGID", shape, bulk)
    body.disable_rotation = "ON"
    solfec.INITIAL_VELOCITY(body, velocity, (0, 0, 0))
    return body


@pytest.mark.parametrize("one_body", [False, True], ids=["bodies", "convexes"])
@pytest.mark.parametrize("kind", ["sphere", "ellipsoid"])
def test_flush_tiles_take_no_speed_from_a_ball_smaller_than_its_way_in_a_step(kind, one_body):
    made = model()
    bulk = solfec.BULK_MATERIAL(made)
    tiles(made, bulk, [(1.2e-3 * k, 0.0) for k in range(-10, 100)], one_body=one_body)
    r = 2e-3
    body = slider(made, bulk, (0.0005, 0, r), kind, r, (1, 0, 0))
    solfec.RUN(made, solfec.AUTO_SOLVER(), 0.09)
    assert body.velo[3:6] == pytest.approx((1, 0, 0), abs=1e-9)
    assert body.conf[11] == pytest.approx(r, abs=1e-9)


def test_elements_of_a_mesh_are_as_flush():
    made = model()
    bulk = solfec.BULK_MATERIAL(made)
    r, a = 2e-3, 0.06
    corners = [c for z in (-0.05, 0) for x, y in ((0, 0), (a, 0), (a, a), (0, a)) for c in (x, y, z)]
    solfec.BODY(made, "OBSTACLE", solfec.HEX(corners, 40, 40, 2, 1, [1] * 6), bulk)
    body = slider(made, bulk, (0.0053, 0.0071, r), "sphere", r, (0.8, 0.6, 0))
    solfec.RUN(made, solfec.AUTO_SOLVER(), 0.06)
    assert body.velo[3:6] == pytest.approx((0.8, 0.6, 0), abs=1e-9)


@pytest.mark.parametrize("kind", ["sphere", "ellipsoid"])
def test_a_bowl_of_facets_is_climbed_without_sinking_in(kind):
    """Up a track that turns by 0.1 from tile to tile: every turn takes sin^2 of the angle, and the ball stays on the surface."""
    made = model(2e-4)
    bulk = solfec.BULK_MATERIAL(made)
    radius, turn, r = 0.5, 0.1, 0.01
    tiles(made, bulk, [(radius * sin(a), -radius * cos(a)) for a in (turn * (k - 0.5) for k in range(-2, 8))])
    low = -radius * cos(turn / 2) + r
    body = slider(made, bulk, (0, 0, low), kind, r, (2.5, 0, 0))
    solfec.RUN(made, solfec.AUTO_SOLVER(), 0.1)
    x, _, z = body.conf[9:12]
    turns = round(atan2(x, -z) / turn)
    assert turns >= 4
    speed = hypot(body.velo[3], body.velo[5])
    energy = speed**2 / 2 + G * (z - low)
    # the tiles' angles take speed where the ball meets them, from the second on less and less
    assert 0.5 * (2.5 * cos(turn) ** turns) ** 2 - 0.05 < energy < 0.5 * 2.5**2 * cos(turn) ** turns
    assert min(c.gap for c in made.constraints) > -2e-6


def test_a_ball_meets_an_edge_that_stands_up():
    """A step of 30 % of the radius stops a sliding ball as far as its normal says."""
    made = model()
    bulk = solfec.BULK_MATERIAL(made)
    r, height = 0.02, 0.006
    tiles(made, bulk, [(-0.1, 0), (0.1, 0)])
    tiles(made, bulk, [(0.1, height), (0.3, height)])
    body = slider(made, bulk, (0, 0, r), "sphere", r, (1, 0, 0))
    solfec.RUN(made, solfec.AUTO_SOLVER(), 0.105)
    towards = cos(asin(1 - height / r))
    speed, height = hypot(*body.velo[3:6]), body.conf[11] - r
    assert speed**2 + 2 * G * height == pytest.approx(1 - towards**2, rel=0.03)  # where within a step they meet
    assert body.velo[5] > 0.2 and height > 0.003


def test_falling_faces_let_go():
    """Over a ridge of 30 degrees the ball flies on; no plane is met behind its face."""
    made = model(gravity=(0, 0, 0))
    bulk = solfec.BULK_MATERIAL(made)
    tiles(made, bulk, [(-0.1, 0), (0.0, 0), (0.1, -0.1 * sin(pi / 6) / cos(pi / 6))], depth=0.2)
    body = slider(made, bulk, (-0.05, 0, 0.01), "sphere", 0.01, (1, 0, 0))
    solfec.RUN(made, solfec.AUTO_SOLVER(), 0.1)
    assert body.velo[3:6] == pytest.approx((1, 0, 0), abs=1e-9)


def test_tiles_that_move_get_what_the_ball_loses():
    """A ball falls on the rising tiles of a free body in space: momentum is kept."""
    made = model(gravity=(0, 0, 0))
    bulk = solfec.BULK_MATERIAL(made, density=1e3)
    points = [(0.02 * sin(0.2 * k) / 0.2, 0.02 * (1 - cos(0.2 * k)) / 0.2) for k in range(-4, 5)]
    shapes = [prism(((x, z), (X, Z), (x, -0.05), (X, -0.05)), 0.05) for (x, z), (X, Z) in zip(points, points[1:])]
    ground = solfec.BODY(made, "RIGID", shapes, bulk)
    body = slider(made, bulk, (0.002, 0, 0.0101), "sphere", 0.01, (1, 0, -0.3))
    body.disable_rotation = "OFF"
    bodies = ground, body

    def momentum():
        return [sum(each.mass * each.velo[3 + i] for each in bodies) for i in range(3)]

    before = momentum()
    solfec.RUN(made, solfec.AUTO_SOLVER(), 0.05)
    assert momentum() == pytest.approx(before, abs=1e-12)


@pytest.mark.parametrize("turned", [0.0, 0.01, -0.01])
@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize("y", [0.797, 0.803, 0.81, 0.83, 0.87])
def test_sides_of_a_split_body_do_not_stop_a_ball_that_touches_its_end(y, both, turned):
    """Its elements are tetrahedra: some have an edge at the end, and a face on the side or on the crack alone, a radius deep in the ball."""
    made = model(step=1e-4, gravity=(0, 0, 0))
    bulk = solfec.BULK_MATERIAL(made)
    below, above = solfec.SPLIT(solfec.BOX((0.5, 0.8, 0.4585), (0.3, 0.3, 0.285), 1, 1, divisions=(1, 1, 1)), (0.5, 0.8, 0.4585), (0, 1, 0), surfid=(2, 3))
    solfec.ROTATE(above, (0.65, 0.8, 0.4585), (0, 0, 1), turned)  # degrees: its end and side are no longer flush with the other half
    for half in (below, above) if both else (above,):
        solfec.BODY(made, "RIGID", half, bulk)
    solfec.BODY(made, "RIGID", solfec.SPHERE((0.7965, y, 0.4585), 0.147, 1, 1), bulk)
    solfec.RUN(made, solfec.AUTO_SOLVER(), 1e-4)
    touching = [contact for contact in made.constraints if contact.gap < -1e-4 and abs(contact.base[6]) > 0.99]
    assert touching and all(contact in touching for contact in made.constraints if contact.gap < -1e-3)
    if not turned:
        assert touching[0].gap == pytest.approx(-0.0005 if both or y > 0.8 else hypot(0.1465, 0.8 - y) - 0.147, abs=1e-9)


@pytest.mark.parametrize("unit", [1.0, 3.0, 1e3])
@pytest.mark.parametrize("overlap", [0.0, 1e-6, 1e-5, 1e-4, 1e-3])
def test_a_ball_that_overlaps_its_tiles_passes_their_seams(overlap, unit):
    """Contacts that overlap have one point, in the middle; whether it lay on the tile was left to round-off, so the ball lost speed at some seams."""
    solfec.GEOMETRIC_EPSILON(1e-6 * unit)
    try:
        made = model(1e-3, (0, 0, -G * unit))
        bulk = solfec.BULK_MATERIAL(made, density=1e3 / unit**3)
        angle = 0.3
        for k in range(8):
            tile = solfec.BOX((0.1 * k * unit, 0, -0.05 * unit), (0.1 * unit, unit, 0.1 * unit))
            solfec.BODY(made, "OBSTACLE", solfec.ROTATE(tile, (0, 0, 0), (0, 0, 1), 180 * angle / pi), bulk)
        ball = solfec.BODY(made, "RIGID", solfec.SPHERE((0, 0, (0.05 - overlap) * unit), 0.05 * unit, 1, 1), bulk)
        velocity = (cos(angle) - 0.13 * sin(angle)) * unit, (sin(angle) + 0.13 * cos(angle)) * unit, 0
        solfec.INITIAL_VELOCITY(ball, velocity, (0, 0, 0))
        solfec.RUN(made, solfec.AUTO_SOLVER(1e-10), 0.5)
        assert ball.velo[3:] == pytest.approx(velocity, abs=1e-8 * unit)
    finally:
        solfec.GEOMETRIC_EPSILON(1e-6)
