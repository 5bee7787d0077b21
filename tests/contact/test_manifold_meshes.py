"""Pressure between bodies of finite elements, and ridges of meshes, with contacts = 'MANIFOLD'."""

import numpy as np
import pytest

from solfec import (
    AUTO_SOLVER,
    BODY,
    BULK_MATERIAL,
    DISPLACEMENT,
    FIX_DIRECTION,
    FIX_POINT,
    GEOMETRIC_EPSILON,
    GRAVITY,
    HEX,
    HULL,
    INITIAL_VELOCITY,
    MESH,
    MESH2CONVEX,
    PRESSURE,
    ROTATE,
    RUN,
    SOLFEC,
    STRESS,
    SURFACE_MATERIAL,
    TRANSLATE,
)  # fmt: skip

TETRAHEDRA = [(0, 1, 3, 7), (0, 1, 5, 7), (0, 2, 3, 7), (0, 2, 6, 7), (0, 4, 5, 7), (0, 4, 6, 7)]
PYRAMIDS = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
SURFACES = [1, 3, 4, 5, 7, 9, 3, 4, 6, 7, 9]  # 9: the top


def nodes(low, high):
    return [c for z in (low, high) for y in (0, 1) for x in (0, 1) for c in (x, y, z)]


def hexahedron(low, high, n=1):
    corners = [c for z in (low, high) for x, y in ((0, 0), (1, 0), (1, 1), (0, 1)) for c in (x, y, z)]
    return HEX(corners, n, n, 1, 1, [1] * 5 + [9])


SHAPES = {
    "hexahedron": hexahedron,
    "nine hexahedra": lambda low, high: hexahedron(low, high, 3),
    "tetrahedra": lambda low, high: MESH(nodes(low, high), [i for t in TETRAHEDRA for i in (4, *t, 1)], SURFACES),
    "wedges": lambda low, high: MESH(nodes(low, high), [6, 0, 1, 3, 4, 5, 7, 1, 6, 0, 3, 2, 4, 7, 6, 1], SURFACES),
    "pyramids": lambda low, high: MESH(
        [*nodes(low, high), 0.5, 0.5, 0.5 * (low + high)], [i for p in PYRAMIDS for i in (5, *p, 8, 1)], [1, 4, 4, 5, 7, 6, 9]
    ),
}


@pytest.mark.parametrize("upper", [name for name in SHAPES if name != "nine hexahedra"])
@pytest.mark.parametrize("lower", [name for name in SHAPES if name != "nine hexahedra"] + ["nine hexahedra"])
def test_uniform_stress_passes_between_all_kinds_of_elements(lower, upper):
    """Corners could not balance bilinear and linear faces: -903 to -1161 Pa instead of -1000."""
    model = SOLFEC("QUASI_STATIC", 0.02, contacts="MANIFOLD")
    model.verbose = "OFF"
    bulk = BULK_MATERIAL(model, young=1e6, poisson=0.0, density=1000)
    one = BODY(model, "FINITE_ELEMENT", SHAPES[lower](0, 0.5), bulk)
    two = BODY(model, "FINITE_ELEMENT", SHAPES[upper](0.5, 1), bulk)
    PRESSURE(two, 9, -1000.0)
    edges = (0, 1 / 3, 2 / 3, 1) if lower == "nine hexahedra" else (0, 1)
    for x in edges:
        for y in edges:
            FIX_POINT(one, (x, y, 0))
    FIX_DIRECTION(two, (0, 0, 1), (1, 0, 0))
    FIX_DIRECTION(two, (0, 0, 1), (0, 1, 0))
    FIX_DIRECTION(two, (1, 0, 1), (0, 1, 0))
    RUN(model, AUTO_SOLVER(1e-11), 2.0)
    places = [(body, (x, y, z)) for body, z in ((one, 0.25), (two, 0.7)) for x in (0.1, 0.5, 0.9) for y in (0.15, 0.55, 0.8)]
    np.testing.assert_allclose([STRESS(body, place)[2] for body, place in places], -1000, rtol=2e-3)
    contacts = [c for c in model.constraints if c.kind == "CONTACT"]
    assert max(np.hypot(*c.base[6:8]) for c in contacts) < 1e-5  # faces turn a little as they deform
    assert sum(c.area for c in contacts) == pytest.approx(1, rel=1e-6)


def test_two_triangles_hold_a_bilinear_face_flat():
    """Points halfway between the axes of gyration of triangles did not see x y: corners stood 1.1E-6 m apart where all eight points closed."""
    model = SOLFEC("QUASI_STATIC", 0.02, contacts="MANIFOLD")
    model.verbose = "OFF"
    bulk = BULK_MATERIAL(model, young=1e6, poisson=0.0, density=1000)
    one, two = (BODY(model, "FINITE_ELEMENT", SHAPES[kind](low, low + 0.5), bulk) for kind, low in (("hexahedron", 0), ("tetrahedra", 0.5)))
    PRESSURE(two, 9, -1000.0)
    for x in (0, 1):
        for y in (0, 1):
            FIX_POINT(one, (x, y, 0))
    RUN(model, AUTO_SOLVER(1e-11), 0.02)
    top, bottom = (np.array([DISPLACEMENT(body, (x, y, 0.5))[2] for x in (0, 1) for y in (0, 1)]) for body in (one, two))
    np.testing.assert_allclose(bottom, top, rtol=0, atol=1e-12)


def roof(kind):
    """A beam along x with a ridge on top, which two hexahedra share, as a mesh, as their convexes or as one convex."""
    nodes = [c for x in (-0.5, 0.5) for y, z in ((-0.1, 0), (0, 0), (0.1, 0), (-0.1, 0.1), (0, 0.2), (0.1, 0.1)) for c in (x, y, z)]
    if kind == "hull":
        return HULL(nodes, 1, 1)
    mesh = MESH(nodes, [8, 0, 1, 4, 3, 6, 7, 10, 9, 1, 8, 1, 2, 5, 4, 7, 8, 11, 10, 1], 1)
    return MESH2CONVEX(mesh) if kind == "convexes" else mesh


@pytest.mark.parametrize("upper", ("hull", "mesh", "convexes", "elements"))
@pytest.mark.parametrize("lower", ("hull", "mesh", "convexes"))
def test_ridges_between_elements_carry_beams_that_cross_them(lower, upper):
    """Edges between outer faces of two elements were no edges: the beams fell through each other."""
    model = SOLFEC("DYNAMIC", 1e-3, contacts="MANIFOLD")
    model.verbose = "OFF"
    SURFACE_MATERIAL(model, friction=0.3)
    GRAVITY(model, (0, 0, -9.81))
    bulk = BULK_MATERIAL(model, young=1e9, poisson=0.2, density=1000)
    BODY(model, "OBSTACLE", roof(lower), bulk)
    shape = ROTATE(ROTATE(roof(upper), (0, 0, 0), (1, 0, 0), 180), (0, 0, 0), (0, 0, 1), 70)
    beam = BODY(model, "FINITE_ELEMENT" if upper == "elements" else "RIGID", TRANSLATE(shape, (0, 0, 0.401)), bulk)
    if upper == "elements":
        beam.scheme, beam.damping = "DEF_LIM", 1e-4
    RUN(model, AUTO_SOLVER(1e-8), 0.1)
    assert DISPLACEMENT(beam, (0, 0, 0.3)) == pytest.approx((0, 0, -1e-3), abs=2e-5)
    assert sum(c.R[2] for c in model.constraints) == pytest.approx(beam.mass * 9.81, rel=1e-2)
    assert all(abs(c.base[8]) == pytest.approx(1) for c in model.constraints if c.R[2] > 0)


FIVE = [(0, 1, 2, 4), (1, 2, 3, 7), (1, 4, 5, 7), (2, 4, 6, 7), (1, 2, 4, 7)]  # of a cell, and of the cells beside it:
MIRRORED = [(1, 0, 3, 5), (0, 3, 2, 6), (0, 5, 4, 6), (3, 5, 7, 6), (0, 3, 5, 6)]


def plate(cells, side, corner, turn=0):
    """A square plate, 0.1 m thick: many of its tetrahedra reach one of its faces with an edge only."""
    places = [i * side / cells for i in range(cells + 1)]
    points = [c for z in (0, 0.1) for y in places for x in places for c in (x, y, z)]
    elements = []
    for i in range(cells):
        for j in range(cells):
            corners = [(k * (cells + 1) + j + y) * (cells + 1) + i + x for k in (0, 1) for y in (0, 1) for x in (0, 1)]
            for tetrahedron in FIVE if (i + j) % 2 == 0 else MIRRORED:
                elements += [4, *(corners[node] for node in tetrahedron), 1]
    return TRANSLATE(ROTATE(MESH(points, elements, 1), (0, 0, 0), (0, 0, 1), turn), corner)


@pytest.mark.parametrize("kind", ("RIGID", "FINITE_ELEMENT"))
@pytest.mark.parametrize("turn, x, y", ((0, -0.25, -0.25), (20, -0.21, -0.3)))
def test_a_plate_of_tetrahedra_can_be_lifted_from_another(turn, x, y, kind):
    """Tetrahedra that touch with inner edges were in contact with their far faces, through both plates, and held them together."""
    model = SOLFEC("DYNAMIC", 1e-3, contacts="MANIFOLD")
    model.verbose = "OFF"
    SURFACE_MATERIAL(model, friction=0.3)
    bulk = BULK_MATERIAL(model, young=1e9, poisson=0.2, density=1000)
    BODY(model, "OBSTACLE", plate(4, 1, (-0.5, -0.5, -0.1)), bulk)
    body = BODY(model, kind, plate(3, 0.5, (x, y, 0), turn), bulk)
    if kind == "FINITE_ELEMENT":
        body.scheme, body.damping = "DEF_LIM", 1e-4
    GRAVITY(model, (0, 0, -9.81))
    RUN(model, AUTO_SOLVER(1e-8), 0.01)
    assert min(c.gap for c in model.constraints) > -1e-5
    GRAVITY(model, (0, 0, 9.81))
    RUN(model, AUTO_SOLVER(1e-8), 0.1)
    assert DISPLACEMENT(body, (x, y, 0))[2] == pytest.approx(0.5 * 9.81 * 0.1**2, rel=1e-2)


def cube_on_its_lowest_corner(kind, first):
    """A cube of one element on a flat one; its lower face is a ridge of two triangles, of which one touches. Nodes are counted from corner `first`."""
    heights = np.array([0.8e-3, 4.8e-3, 0.8e-3, 0.0])  # the ridge joins corners 0 and 2
    corners = np.array([(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)])
    lower = np.roll(np.column_stack([corners, heights]), first, axis=0)
    upper = np.roll(np.column_stack([corners, np.full(4, 0.5)]), first, axis=0)
    model = SOLFEC("DYNAMIC", 1e-6, contacts="MANIFOLD")
    model.verbose = "OFF"
    bulk = BULK_MATERIAL(model, young=1e6, poisson=0.25, density=1000)
    floor = [c for z in (-0.5, 0) for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1)) for c in (x, y, z)]
    BODY(model, kind, HEX(floor, 1, 1, 1, 1, [1] * 6), bulk)
    BODY(model, kind, HEX([*lower.ravel().tolist(), *upper.ravel().tolist()], 1, 1, 1, 1, [1] * 6), bulk)
    RUN(model, AUTO_SOLVER(), 1e-6)
    return model


@pytest.mark.parametrize("first", range(4))
@pytest.mark.parametrize("kind", ["RIGID", "FINITE_ELEMENT"])
def test_the_area_of_a_contact_does_not_depend_on_the_order_of_faces(kind, first):
    """What had lain nearest among the faces before counted, too: four times the area, and so the glue, and points of elements where nothing touches."""
    GEOMETRIC_EPSILON(1e-4)
    try:
        model = cube_on_its_lowest_corner(kind, first)
    finally:
        GEOMETRIC_EPSILON(1e-6)
    contacts = [c for c in model.constraints if c.kind == "CONTACT"]
    touching = 0.5 * (1e-4 / 0.8e-3) ** 2  # the triangle rises by 0.8 mm along both of its legs
    assert sum(c.area for c in contacts) == pytest.approx(touching, rel=1e-6)
    if kind == "FINITE_ELEMENT":
        assert all(c.point[0] < -0.37 and c.point[1] > 0.37 for c in contacts)


def block(low, high, n):
    """One layer of n x n hexahedra."""
    (x, y, z), (right, back, top) = low, high
    corners = [c for level in (z, top) for at in ((x, y), (right, y), (right, back), (x, back)) for c in (*at, level)]
    return HEX(corners, n, n, 1, 1, [1] * 6)


@pytest.mark.parametrize("count", [2, 3])
def test_tilted_blocks_of_elements_stop_at_the_surface(count):
    """Only where they were nearest they had points before they touched, so that they overlapped by 0.35 and 0.24 mm: a third of a step's motion."""
    model = SOLFEC("DYNAMIC", 1e-3, contacts="MANIFOLD")
    model.verbose = "OFF"
    SURFACE_MATERIAL(model, friction=0.3)
    bulk = BULK_MATERIAL(model, young=1e9, poisson=0.25, density=1000)
    below = BODY(model, "FINITE_ELEMENT", block((-1, -1, -0.5), (1, 1, 0), count + 1), bulk)
    for x in (-1, 1):
        for y in (-1, 1):
            FIX_POINT(below, (x, y, -0.5))
    start = np.linspace(-0.5, 0.5, count + 1)
    shape = block((-0.5, -0.5, 0), (0.5, 0.5, 0.3), count)
    ROTATE(shape, (0, 0, 0), (0, 1, 0), np.degrees(1e-3))
    ROTATE(shape, (0, 0, 0), (0, 0, 1), np.degrees(0.3))
    TRANSLATE(shape, (0, 0, 0.0026))
    above = BODY(model, "FINITE_ELEMENT", shape, bulk)
    turned = np.array([[np.cos(0.3), -np.sin(0.3), 0], [np.sin(0.3), np.cos(0.3), 0], [0, 0, 1]])
    places = [tuple(turned @ (x * np.cos(1e-3), y, -x * np.sin(1e-3)) + (0, 0, 0.0026)) for x in start for y in start]
    below.scheme = above.scheme = "DEF_LIM"
    below.damping = above.damping = 5e-4
    INITIAL_VELOCITY(above, (0, 0, -1), (0, 0, 0))
    GRAVITY(model, (0, 0, -10))
    deepest = 0.0
    for _ in range(50):
        RUN(model, AUTO_SOLVER(1e-10), 1e-3)
        for place in places:
            x, y, z = np.add(place, DISPLACEMENT(above, place))
            deepest = max(deepest, DISPLACEMENT(below, (x, y, 0.0))[2] - z)
    assert deepest < 1e-4
