"""BOX, CYLINDER, CAPSULE, PLANE, TERRAIN, WALL, ARCH and PACKING: sizes, masses and places against formulas, and what they refuse."""

from __future__ import annotations

from math import cos, pi, radians, sin, tan

import numpy as np
import pytest
from pytest import approx

import solfec as s


@pytest.fixture
def weighed(new_model):
    """`weighed(shape, kind)` returns a body of density 1."""
    model = new_model()
    bulk = s.BULK_MATERIAL(model, density=1.0)
    return lambda shape, kind="RIGID": s.BODY(model, kind, shape, bulk)


def vertices(shape) -> np.ndarray:
    return np.concatenate([one.vertices for one in shape._content.polyhedra])


def test_a_box_has_the_mass_centre_and_inertia_of_a_box(weighed):
    a, b, c = 2.0, 0.5, 0.3
    for body in (weighed(s.BOX((1, 2, 3), (a, b, c))), weighed(s.BOX((1, 2, 3), (a, b, c), divisions=(4, 2, 3)), "FINITE_ELEMENT")):
        assert body.mass == approx(a * b * c, rel=1e-12)
        assert body.center == approx((1, 2, 3), rel=1e-12)
    inertia = np.reshape(weighed(s.BOX((1, 2, 3), (a, b, c))).tensor, (3, 3))
    assert inertia == approx(np.diag([b * b + c * c, a * a + c * c, a * a + b * b]) * a * b * c / 12.0, abs=1e-12)


def test_surface_identifiers_of_a_box_lie_as_those_of_hex():
    convex, mesh = s.BOX((0, 0, 0), (1, 1, 1), 7, [1, 2, 3, 4, 5, 6]), s.BOX((0, 0, 0), (1, 1, 1), 7, [1, 2, 3, 4, 5, 6], (1, 1, 1))
    (polyhedron,) = convex._content.polyhedra
    where = {1: (2, -0.5), 2: (0, -0.5), 3: (1, 0.5), 4: (0, 0.5), 5: (1, -0.5), 6: (2, 0.5)}
    for face, surface in zip(polyhedron.faces, polyhedron.surfaces.tolist()):
        axis, place = where[surface]
        assert (polyhedron.vertices[list(face), axis] == place).all()
        assert {mesh.node(n)[axis] for n in mesh.nodes_on_surface(surface)} == {place}


@pytest.mark.parametrize("axis", [(0, 0, 2), (2, 0, 0), (1, -2, 0.5)])
def test_a_cylinder_is_the_prism_that_the_documents_say(weighed, axis):
    n, r, length = 24, 0.3, np.sqrt(np.dot(axis, axis))
    body = weighed(s.CYLINDER((1, 1, 1), axis, r))
    assert body.mass == approx(0.5 * n * sin(2 * pi / n) * r * r * length, rel=1e-12)
    assert body.center == approx(tuple(np.array((1, 1, 1)) + np.array(axis) / 2), rel=1e-12)
    points = vertices(s.CYLINDER((0, 0, 0), axis, r))
    along = points @ axis / length
    assert np.sqrt((points**2).sum(1) - along**2) == approx(np.full(2 * n, r))


def test_a_capsule_tends_to_a_capsule(weighed):
    r, length = 0.2, 0.7
    exact = pi * r * r * length + 4.0 / 3.0 * pi * r**3
    errors = [1.0 - weighed(s.CAPSULE((0, 0, 0), (0, 0.7, 0), r, sides=n)).mass / exact for n in (16, 32, 64)]
    assert 0.0 < errors[2] < 0.004
    assert errors[0] / errors[1] == approx(4.0, rel=0.05) and errors[1] / errors[2] == approx(4.0, rel=0.05)
    points = vertices(s.CAPSULE((0, 0, 0), (0, 0.7, 0), r))
    nearest = np.clip(points[:, 1], 0, length)
    assert np.sqrt(points[:, 0] ** 2 + points[:, 2] ** 2 + (points[:, 1] - nearest) ** 2) == approx(np.full(len(points), r))


def test_balls_roll_down_a_plane_as_galilei_says(new_model):
    slope, model = radians(20), new_model(contacts="MANIFOLD")
    bulk, normal = s.BULK_MATERIAL(model), (sin(slope), 0, cos(slope))
    s.SURFACE_MATERIAL(model, friction=0.5)
    s.GRAVITY(model, (0, 0, -10))
    s.BODY(model, "OBSTACLE", s.PLANE((0, 0, 0), normal, 20), bulk)
    ball = s.BODY(model, "RIGID", s.SPHERE(tuple(np.array(normal)), 1, 0, 0), bulk)
    s.RUN(model, 0.5)
    speed = np.sqrt(np.dot(ball.velo[3:], ball.velo[3:]))
    assert speed == approx(5.0 / 7.0 * 10 * sin(slope) * 0.5, rel=1e-6)


def test_terrain_has_the_volume_under_its_heights_and_carries_a_ball(new_model):
    heights = np.array([[0.0, 0.2, 0.1], [0.3, 0.1, 0.0], [0.0, 0.0, 0.4]])
    shape = s.TERRAIN(heights, (0.5, 0.25), corner=(1, 2), depth=1)
    assert shape.nnod == 18 and {shape.node(n)[2] for n in range(9)} == {-1.0}
    assert shape.node(9 + 3 * 2 + 1) == (2.0, 2.25, 0.0)  # heights[2][1]
    a, b, c, d = heights[:-1, :-1], heights[1:, :-1], heights[1:, 1:], heights[:-1, 1:]
    volume = 0.5 * 0.25 * (((a + b + c) + (a + c + d)) / 6.0 + 1.0).sum()
    model = new_model(contacts="MANIFOLD")
    bulk = s.BULK_MATERIAL(model, density=1.0)
    assert s.BODY(model, "OBSTACLE", shape, bulk).volume == approx(volume, rel=1e-12)
    model = new_model(contacts="MANIFOLD")
    bulk = s.BULK_MATERIAL(model, density=1.0)
    s.GRAVITY(model, (0, 0, -10))
    s.BODY(model, "OBSTACLE", s.TERRAIN(np.add.outer(0.1 * np.abs(np.arange(-5, 6)), np.zeros(5)), 1.0, corner=(-5, -2)), bulk)
    ball = s.BODY(model, "RIGID", s.SPHERE((0, 0.3, 0.5 / cos(np.arctan(0.1))), 0.5, 0, 0), bulk)  # in a valley
    s.RUN(model, 0.2)
    assert ball.conf[9:] == approx((0, 0.3, 0.5 / cos(np.arctan(0.1))), abs=1e-5)


@pytest.mark.parametrize("bond, bricks", [(0.5, 4 + 5 + 4), (0, 12), (0.25, 4 + 5 + 4)])
def test_bricks_fill_a_wall_without_overlap(weighed, bond, bricks):
    shapes = s.WALL(4, 3, (0.5, 0.2, 0.1), corner=(1, 2, 3), bond=bond)
    assert len(shapes) == bricks
    points = np.concatenate([vertices(one) for one in shapes])
    assert np.stack((points.min(0), points.max(0))) == approx(np.array([(1, 2, 3), (3, 2.2, 3.3)]))
    assert s.MASS_CENTER(shapes) == approx((2, 2.1, 3.15))
    joints = sorted({round(x, 9) for one in shapes for x in vertices(one)[:, 0] if 3.1 <= vertices(one)[:, 2].mean() < 3.2})
    assert sum(weighed(one).mass for one in shapes) == approx(2.0 * 0.2 * 0.3, rel=1e-12)
    assert joints == approx([1, 1.5, 2, 2.5, 3] if not bond else [1, *(1 + 0.5 * (k + bond) for k in range(4)), 3])


def test_a_wall_of_a_brick_stands(new_model):
    model = new_model(contacts="MANIFOLD")
    bulk = s.BULK_MATERIAL(model)
    s.SURFACE_MATERIAL(model, friction=0.6)
    s.GRAVITY(model, (0, 0, -10))
    s.BODY(model, "OBSTACLE", s.PLANE((1, 0, 0), (0, 0, 1), 6), bulk)
    for brick in s.WALL(4, 6, (0.5, 0.2, 0.1)):
        s.BODY(model, "RIGID", brick, bulk)
    s.RUN(model, 0.05)
    assert s.ENERGY(model).kinetic < 1e-9


def test_voussoirs_of_an_arch_meet_at_their_joints(weighed):
    R, t, w, n, angle = 2.0, 0.4, 1.5, 9, 150.0
    stones = s.ARCH(R, t, w, n, angle, center=(1, 2, 3))
    piece = radians(angle) / n
    area = 0.5 * sin(piece) * ((R + t / 2) ** 2 - (R - t / 2) ** 2)  # of a trapezium between chords
    ends = [s.MASS_CENTER(stones[k]) for k in (0, n // 2, -1)]
    for left, right in zip(stones, stones[1:]):
        assert vertices(left)[4:] == approx(vertices(right)[:4])
    assert ends[0][0] < 1 < ends[2][0] and ends[0][2] == approx(ends[2][2])
    assert (ends[1][0], ends[1][1]) == approx((1, 2)) and ends[1][2] > 3 + R * cos(piece / 2) * 0.99
    springing = vertices(stones[0])[0] - (1, 2, 3)
    assert springing[2] / springing[0] == approx(-1.0 / tan(radians(75)), rel=1e-9)
    assert [weighed(one).mass for one in stones] == approx([area * w] * n, rel=1e-12)


def test_a_packing_lies_in_its_box_without_contact():
    low, high = np.array((0, -1, 2.0)), np.array((1, 0.5, 3.0))
    balls = s.PACKING(300, low, high, (0.03, 0.08), random=4)
    centres, radii = np.array([one.center for one in balls]), np.array([one.radius for one in balls])
    assert (centres - radii[:, None] >= low).all() and (centres + radii[:, None] <= high).all()
    assert np.abs(centres.mean(0) - 0.5 * (low + high)).max() < 0.05
    distance = np.sqrt(((centres[:, None] - centres[None]) ** 2).sum(-1)) - radii[:, None] - radii[None]
    assert distance[~np.eye(300, dtype=bool)].min() > 0
    assert 0.03 <= radii.min() < 0.035 and 0.075 < radii.max() <= 0.08
    again, other = s.PACKING(300, low, high, (0.03, 0.08), random=4), s.PACKING(300, low, high, (0.03, 0.08), random=5)
    assert [one.center for one in again] == [one.center for one in balls] != [one.center for one in other]


def test_copies_of_a_shape_lie_within_balls(weighed):
    box = s.BOX((5, 5, 5), (1, 0.8, 0.6), 3, 4)
    stones = s.PACKING(80, (0, 0, 0), (1, 1, 1), 0.07, shape=box)
    ratio = 0.07 / (0.5 * np.sqrt(1 + 0.64 + 0.36))
    assert stones[0]._content.polyhedra[0].surfaces.tolist() == [4] * 6
    assert all((vertices(one) > 0).all() and (vertices(one) < 1).all() for one in stones)
    again = s.PACKING(80, (0, 0, 0), (1, 1, 1), 0.07, shape=box)
    turned = [vertices(one)[1] - vertices(one)[0] for one in stones]
    assert np.abs(np.mean(turned, 0)).max() < 0.3 * np.abs(turned).max()  # no direction is preferred
    assert [weighed(one).mass for one in stones[:5]] == approx([0.48 * ratio**3] * 5, rel=1e-9)
    grains = s.PACKING(20, (0, 0, 0), (1, 1, 1), 0.1, shape=s.ELLIP((3, 0, 0), (1, 0.5, 0.5), 0, 0))
    assert grains[7].radii == approx((0.1, 0.05, 0.05)) and box.nver == 8
    assert s.OVERLAPPING(again[0], again[1:]) is None


def test_dense_packings_are_found_or_refused():
    many = s.PACKING(880, (0, 0, 0), (1, 1, 1), 0.05)
    assert len(many) * 4 / 3 * pi * 0.05**3 > 0.46
    with pytest.raises(ValueError, match="PACKING: 2000 balls would fill 105 % of the box, in which they find no room"):
        s.PACKING(2000, (0, 0, 0), (1, 1, 1), 0.05)
    with pytest.raises(ValueError, match="PACKING: 9 balls would fill 59 % of the box"):  # eight do fit, in the corners
        s.PACKING(9, (0, 0, 0), (1, 1, 1), 0.25)


@pytest.mark.parametrize(
    "call, text",
    [
        (lambda: s.BOX((0, 0, 0), (1, 0, 1)), r"BOX: 'size\[1\]' must be positive, not 0"),
        (lambda: s.BOX((0, 0, 0), (1, 1, 1), divisions=(1, 0, 1)), r"BOX: 'divisions\[1\]' must be at least 1, it is 0"),
        (lambda: s.BOX((0, 0, 0), (1, 1, 1), surfid=[1, 2]), "BOX: 'surfid' must be an integer or hold 6 of them, it holds 2"),
        (lambda: s.CYLINDER((0, 0, 0), (0, 0, 0), 1), "CYLINDER: 'dir' must not be zero"),
        (lambda: s.CYLINDER((0, 0, 0), (0, 0, 1), 1, sides=2), "CYLINDER: 'sides' must be at least 3, it is 2"),
        (lambda: s.CYLINDER((0, 0, 0), (0, 0, 1), 1, sides=100000), "CYLINDER: 'sides' must be at most 4096, it is 100000"),
        (lambda: s.CAPSULE((0, 0, 0), (0, 0, 1), 1, sides=3000), "CAPSULE: 'sides' must be at most 128, it is 3000"),
        (lambda: s.CAPSULE((0, 0, 0), (0, 0, 1), -1), "CAPSULE: 'radius' must be positive, not -1"),
        (lambda: s.PLANE((0, 0, 0), (0, 0, 1), 0), "PLANE: 'size' must be positive, not 0"),
        (lambda: s.TERRAIN([[0, 1], [0, 1, 2]], 1), "TERRAIN: 'heights' must hold rows of equal length; row 0 has 2 heights, row 1 has 3"),
        (lambda: s.TERRAIN(np.zeros((2, 2, 2)), 1), r"TERRAIN: 'heights\[0\]' must be a list of numbers, as heights of a row; it holds lists"),
        (lambda: s.TERRAIN(np.zeros((3000, 3000)), 1), r"TERRAIN: 'heights' must hold at most 1000000 points, it holds 9000000; heights\[::3, ::3\] of an array"),
        (lambda: s.TERRAIN([[0, 1]], 1), "TERRAIN: 'heights' must hold at least 2 rows of 2 heights"),
        (lambda: s.TERRAIN([[0, 1], [0, float("nan")]], 1), r"TERRAIN: 'heights\[1\]' must hold finite numbers"),
        (lambda: s.WALL(2, 2, (1, 1, 1), bond=1), "WALL: 'bond' must be less than 1"),
        (lambda: s.WALL(10**9, 10**9, (1, 1, 1)), "WALL: 'count' must be at most 1000000, it is 1000000000"),
        (lambda: s.WALL(10**4, 10**4, (1, 1, 1)), "WALL: 'count' times 'courses' must be at most 1000000 bricks, it is 100000000"),
        (lambda: s.PACKING(10**9, (0, 0, 0), (1, 1, 1), 1e-6), "PACKING: 'count' must be at most 1000000"),
        (lambda: s.ARCH(1, 2, 1, 5), "ARCH: 'thickness' must be less than twice the radius, 2; it is 2"),
        (lambda: s.ARCH(1, 0.1, 1, 1), "ARCH: 'count' must be greater than angle / 180 = 1, it is 1"),
        (lambda: s.PACKING(3, (0, 0, 0), (1, 1, 1), 0.6), "PACKING: a ball of radius 0.6 does not fit"),
        (lambda: s.PACKING(3, (0, 0, 0), (1, 0, 1), 0.1), "PACKING: 'high' must be greater than 'low'"),
        (lambda: s.PACKING(3, (0, 0, 0), (1, 1, 1), (0.2, 0.1)), r"PACKING: 'radius' must be \(least, greatest\)"),
    ],
)
def test_wrong_sizes_are_refused(call, text):
    with pytest.raises(ValueError, match=text):
        call()


def test_shapes_that_cannot_be_packed_are_refused():
    with pytest.raises(TypeError, match="PACKING: 'shape' must be a CONVEX or ELLIP object, not MESH"):
        s.PACKING(3, (0, 0, 0), (1, 1, 1), 0.1, shape=s.BOX((0, 0, 0), (1, 1, 1), divisions=(1, 1, 1)))


@pytest.mark.parametrize(
    "make, text",
    [
        (lambda: s.BOX((1e17, 0, 0), (1, 1, 1)), "BOX: 'center' and 'size' make a shape that is too thin, or too small so far from the origin"),
        (lambda: s.CYLINDER((0, 0, 0), (0, 0, 1), 1e-30), "CYLINDER: 'dir' and 'radius' make a shape that is too thin"),
        (lambda: s.CAPSULE((0, 0, 0), (0, 0, 1e-30), 1), "CAPSULE: 'dir' and 'radius' make a shape that is too thin"),
        (lambda: s.PLANE((0, 0, 0), (0, 0, 1), 1, 1e-20), "PLANE: 'size' and 'thickness' make a shape that is too thin"),
        (lambda: s.TERRAIN([[0, 1], [0, 1]], 1e-200), "TERRAIN: 'heights', 'spacing' and 'depth' make a shape that is too thin"),
        (lambda: s.TERRAIN([[0, 1], [0, 1e300]], 1), r"TERRAIN: 'heights\[1\]' must not exceed 1e\+50 in magnitude; item 1 does"),
        (lambda: s.WALL(3, 3, (1, 1, 1), bond=1e-12), "WALL: 'brick' and 'bond' make a shape that is too thin"),
        (lambda: s.ARCH(1, 1e-18, 1, 5), "ARCH: 'radius', 'thickness', 'width' and 'count' make a shape that is too thin"),
    ],
)
def test_lengths_that_numbers_cannot_hold_are_named(make, text):
    with pytest.raises(ValueError, match=text):
        make()


def test_a_command_says_that_the_memory_does_not_suffice(monkeypatch):
    def full(*_):
        raise MemoryError("Unable to allocate 7 GiB")

    monkeypatch.setattr("solfec.language.solids.solids.terrain", full)
    with pytest.raises(MemoryError, match="TERRAIN: the memory does not suffice: Unable to allocate 7 GiB"):
        s.TERRAIN([[0, 1], [0, 1]], 1)


def test_lack_of_memory_in_a_function_of_the_user_is_told_where_it_occurs(new_model):
    def full():
        raise MemoryError

    model = new_model("DYNAMIC", 0.01)
    s.BODY(model, "RIGID", s.SPHERE((0, 0, 0), 1, 1, 1), s.BULK_MATERIAL(model))
    s.CALLBACK(model, 0.01, (), full)
    with pytest.raises(MemoryError, match="^RUN: the memory does not suffice: ask for less$") as error:
        s.RUN(model, s.PENALTY_SOLVER(), 0.01)
    assert error.traceback[-1].name == "full"


def test_refused_cells_leave_the_shape_as_it_was(new_model):
    shape = s.BOX((0, 0, 0), (1, 1, 1))
    for seeds in (0, 10**9, "five", [(0, 0)], [(9, 9, 9)]):
        with pytest.raises((TypeError, ValueError), match="VORONOI: "):
            s.VORONOI(shape, seeds)
    assert len(s.VORONOI(shape, 5)) == 5
    with pytest.raises(TypeError, match="VORONOI: 'shape' must be a CONVEX or MESH object, not str"):
        s.VORONOI("box", 5)
