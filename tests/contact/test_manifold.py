"""Scenes of rigid bodies whose outcome statics and geometry give, with contacts = 'MANIFOLD' and every solver."""

import warnings
from math import acos, atan, atan2, cos, degrees, hypot, pi, radians, sin, sqrt, tan

import numpy as np
import pytest
from scipy.spatial import ConvexHull

import solfec as s

SOLVERS = {"AUTO": lambda: s.AUTO_SOLVER(1e-8), "GS": lambda: s.GAUSS_SEIDEL_SOLVER(1e-8, 10000), "NEWTON": lambda: s.NEWTON_SOLVER(1e-14)}
every_solver = pytest.mark.parametrize("solver", SOLVERS)


def box(x, y, z, X, Y, Z):
    return s.HULL([c for k in (z, Z) for j in (y, Y) for i in (x, X) for c in (i, j, k)], 1, 1)


def scene(step=1e-3, friction=0.5, gravity=(0, 0, -9.81), **material):
    model = s.SOLFEC("DYNAMIC", step, contacts="MANIFOLD")
    model.verbose = "OFF"
    s.SURFACE_MATERIAL(model, friction=friction, **material)
    s.GRAVITY(model, gravity)
    return model, s.BULK_MATERIAL(model, density=1000.0)


def slope(angle, g=9.81):
    """Gravity in the frame of a plane that is tilted by an angle (radians) towards +x."""
    return (g * sin(angle), 0, -g * cos(angle))


def fastest(model):
    return max(abs(v) for body in model.bodies for v in body.velo)


def tiles():
    return [box(0.1 * k - 0.05, -0.5, -0.1, 0.1 * k + 0.05, 0.5, 0) for k in range(10)]


def one_mesh():
    x, y, z = (-0.05, 0.95), (-0.5, 0.5), (-0.1, 0)
    nodes = [c for k in z for i, j in ((0, 0), (1, 0), (1, 1), (0, 1)) for c in (x[i], y[j], k)]
    return [[s.HEX(nodes, 10, 1, 1, 1, [1] * 6)]]


FLOORS = {
    "box": lambda: [[box(-0.05, -0.5, -0.1, 0.95, 0.5, 0)]],
    "bodies": lambda: [[tile] for tile in tiles()],
    "convexes": lambda: [tiles()],
    "mesh": one_mesh,
}


@every_solver
@pytest.mark.parametrize("floor", FLOORS)
def test_a_box_slides_over_seams_as_over_one_box(floor, solver):
    """Edges of the next tile, an atom above the box's, were walls: it stopped at 0.006 m."""
    model, bulk = scene(1e-3, 0.1)
    for shape in FLOORS[floor]():
        s.BODY(model, "OBSTACLE", shape, bulk)
    slider = s.BODY(model, "RIGID", box(-0.04, -0.04, 0, 0.04, 0.04, 0.02), bulk)
    s.INITIAL_VELOCITY(slider, (1, 0, 0), (0, 0, 0))
    s.RUN(model, SOLVERS[solver](), 0.6)
    assert slider.conf[9] == pytest.approx(0.6 - 0.5 * 0.981 * 0.6**2, abs=1e-4)
    assert abs(slider.conf[11] - 0.01) < 1e-6


@every_solver
@pytest.mark.parametrize("gap", (0.0, 3e-4))
def test_a_block_slides_down_a_flush_wall_of_bodies(gap, solver):
    model, bulk = scene(1e-3, 1e-6)
    for k in range(6):
        s.BODY(model, "OBSTACLE", box(-0.1, -0.1, -0.1 * k - 0.1, 0, 0.1, -0.1 * k), bulk)
    block = s.BODY(model, "RIGID", box(gap, -0.05, -0.09, 0.05 + gap, 0.05, -0.01), bulk)
    s.FORCE(block, "SPATIAL", block.center, (-1, 0, 0), 1.0)
    s.RUN(model, SOLVERS[solver](), 0.25)
    assert block.conf[11] + 0.05 == pytest.approx(-0.5 * 9.81 * 0.25**2, abs=1e-4)
    assert abs(block.conf[9] - 0.025) < 1e-5


@pytest.mark.parametrize("angle", (0.5, 2, 5, 10, 20, 30, 45, 60))
@pytest.mark.parametrize("depth", (-2e-5, 0.0, 1e-6, 1e-4))
def test_an_edge_on_a_plane_has_the_normal_of_the_plane(angle, depth):
    model, bulk = scene(1e-6)
    s.BODY(model, "OBSTACLE", box(-1, -1, -1, 1, 1, 0), bulk)
    s.BODY(model, "RIGID", s.TRANSLATE(s.ROTATE(box(0, -0.03, 0, 0.02, 0.03, 0.1), (0, 0, 0), (0, 1, 0), -angle), (0, 0, -depth)), bulk)
    s.RUN(model, s.AUTO_SOLVER(), 1e-6)
    contacts = model.constraints
    assert len(contacts) >= 2
    assert max(degrees(atan2(hypot(*c.base[6:8]), abs(c.base[8]))) for c in contacts) < 0.1
    lowest = [c for c in contacts if c.gap < 1e-6 - depth]
    assert {round(c.point[1], 6) for c in lowest} == {-0.03, 0.03}


@every_solver
@pytest.mark.parametrize("part, stands", ((0.98, False), (1.02, True)))
def test_two_cards_stand_from_the_friction_that_statics_give(part, stands, solver):
    """Moments about a foot: the other card's push, L cos(a) above it, against the weight, whose arm the thickness shortens."""
    length, width, angle = 0.1, 0.002, radians(20)
    needed = 0.5 * (length * sin(angle) - width * cos(angle)) / (length * cos(angle))
    model, bulk = scene(5e-4, part * needed)
    s.BODY(model, "OBSTACLE", box(-5, -5, -1, 5, 5, 0), bulk)
    x = length * sin(angle)
    left = s.ROTATE(box(-x, -0.03, 0, -x + width, 0.03, length), (-x + width, 0, 0), (0, 1, 0), 20)
    right = s.ROTATE(box(x - width, -0.03, 0, x, 0.03, length), (x - width, 0, 0), (0, 1, 0), -20)
    cards = [s.BODY(model, "RIGID", s.TRANSLATE(left, (-width, 0, 0)), bulk), s.BODY(model, "RIGID", s.TRANSLATE(right, (width, 0, 0)), bulk)]
    start = cards[0].conf[11]
    s.RUN(model, SOLVERS[solver](), 0.5)
    assert (start - cards[0].conf[11] < 1e-4) == stands


@every_solver
@pytest.mark.parametrize("ratio, tips", ((0.33, False), (0.337, True)))
def test_a_block_tips_where_its_weight_leaves_the_base(ratio, tips, solver):
    model, bulk = scene(1e-3, 1.0, slope(atan(ratio)))
    s.BODY(model, "OBSTACLE", box(-2, -2, -1, 2, 2, 0), bulk)
    block = s.BODY(model, "RIGID", box(0, 0, 0, 0.1, 0.1, 0.3), bulk)
    s.RUN(model, SOLVERS[solver](), 0.5)
    tilt = degrees(acos(min(1.0, block.conf[8])))
    assert tilt > 0.1 if tips else tilt < 1e-3 and fastest(model) < 1e-6


@every_solver
def test_a_spinning_plate_is_stopped_by_friction_at_its_corners(solver):
    """Four points at the distance r carry a quarter of the weight each: torque mu m g r."""
    model, bulk = scene(1e-3, 0.3)
    s.BODY(model, "OBSTACLE", box(-2, -2, -1, 2, 2, 0), bulk)
    plate = s.BODY(model, "RIGID", box(-0.1, -0.1, 0, 0.1, 0.1, 0.02), bulk)
    s.INITIAL_VELOCITY(plate, (0, 0, 0), (0, 0, 10))
    s.RUN(model, SOLVERS[solver](), 0.1)
    arm, gyration = 0.1 * sqrt(2), (0.2**2 + 0.2**2) / 12
    assert plate.velo[2] == pytest.approx(10 - 0.3 * 9.81 * arm / gyration * 0.1, rel=1e-3)


@every_solver
@pytest.mark.parametrize("angle, rolls", ((29.5, False), (30.5, True)))
def test_a_hexagon_rolls_from_thirty_degrees_on(angle, rolls, solver):
    model, bulk = scene(1e-3, 1.5, slope(radians(angle)))
    s.BODY(model, "OBSTACLE", box(-5, -5, -1, 5, 5, 0), bulk)
    lift = 0.1 * cos(pi / 6)
    points = [c for y in (-0.05, 0.05) for k in range(6) for c in (0.1 * cos(k * pi / 3), y, lift + 0.1 * sin(k * pi / 3))]
    prism = s.BODY(model, "RIGID", s.HULL(points, 1, 1), bulk)
    s.RUN(model, SOLVERS[solver](), 0.5)
    assert prism.conf[9] > 1e-3 if rolls else abs(prism.conf[9]) < 1e-6


def keel(angle=5.0):
    lift = 0.3 * tan(radians(angle))
    section = ((0, 0), (-0.3, lift), (0.3, lift), (-0.3, 0.3), (0.3, 0.3))
    return s.HULL([c for x in (-0.5, 0.5) for y, z in section for c in (x, y, z)], 1, 1)


def lying(sides, turn):
    return s.TRANSLATE(s.ROTATE(s.CYLINDER((0, -0.2, 0), (0, 0.4, 0), 0.1, sides), (0, 0, 0), (0, 1, 0), turn), (0, 0, 0.1 * cos(radians(turn))))


LYING = {"keel": keel, "edge": lambda: lying(24, 0), "face of 48": lambda: lying(48, 180 / 48), "face of 64": lambda: lying(64, 180 / 64)}


@every_solver
@pytest.mark.parametrize("shape", LYING)
def test_what_lies_on_an_edge_or_a_narrow_face_does_not_sink_in(shape, solver):
    """Faces beside it are within the margin, and reach further; both ends of the edge must carry all the same."""
    model, bulk = scene(1e-3, 0.5)
    s.BODY(model, "OBSTACLE", box(-2, -2, -1, 2, 2, 0), bulk)
    body = s.BODY(model, "RIGID", LYING[shape](), bulk)
    height = body.conf[11]
    s.RUN(model, SOLVERS[solver](), 0.02)
    assert body.conf[11] == pytest.approx(height, abs=1e-7) and fastest(model) < 1e-4
    along = 0 if shape == "keel" else 1
    for side in (-1, 1):  # either end carries half of the weight
        carried = sum(c.R[2] for c in body.constraints if side * c.point[along] > 0.1)
        assert abs(carried) == pytest.approx(body.mass * 9.81 / 2, rel=1e-3)


@every_solver
@pytest.mark.parametrize("count", (10, 50))
def test_a_stack_rests(count, solver):
    if count == 50 and solver != "AUTO":
        pytest.skip("many sweeps; these solvers report what they leave")
    model, bulk = scene(1e-3, 0.5)
    s.BODY(model, "OBSTACLE", box(-2, -2, -1, 2, 2, 0), bulk)
    for k in range(count):
        s.BODY(model, "RIGID", box(0, 0, 0.1 * k, 0.1, 0.1, 0.1 * (k + 1)), bulk)
    with warnings.catch_warnings():
        if solver != "GS":  # sweeps pass changes on from one block to the next, and report what they leave
            warnings.simplefilter("error")  # rigid faces share more points than they need: every step must be solved
        s.RUN(model, SOLVERS[solver](), 0.05)
    assert fastest(model) < 1e-7
    assert model.ncon == 4 * count


def test_a_block_on_an_incline_does_not_creep():
    model, bulk = scene(1e-3, 0.5, slope(radians(20)))
    s.BODY(model, "OBSTACLE", box(-2, -2, -1, 2, 2, 0), bulk)
    block = s.BODY(model, "RIGID", box(0, 0, 0, 0.1, 0.1, 0.1), bulk)
    s.RUN(model, s.AUTO_SOLVER(1e-8), 1.0)
    assert abs(block.conf[9] - 0.05) < 1e-8 and fastest(model) < 1e-8


def arch(ratio, blocks=15):
    """A half ring of voussoirs with the mean radius 1 and the thickness `ratio`, between fixed springers."""
    model, bulk = scene(1e-3, 1.0)
    inner, outer = 1 - ratio / 2, 1 + ratio / 2
    for k in range(-1, blocks + 1):
        angles = (pi * k / blocks, pi * (k + 1) / blocks)
        points = [c for y in (0, 0.3) for a in angles for r in (inner, outer) for c in (r * cos(a), y, r * sin(a))]
        s.BODY(model, "OBSTACLE" if k in (-1, blocks) else "RIGID", s.HULL(points, 1, 1), bulk)
    return model


@pytest.mark.parametrize("ratio, stands", ((0.12, True), (0.095, False)))
def test_an_arch_stands_when_it_is_thick_enough(ratio, stands):
    """Theory (Milankovitch): t/R = 0.1075."""
    model = arch(ratio)
    s.RUN(model, s.AUTO_SOLVER(1e-8), 0.3)
    assert fastest(model) < 1e-5 if stands else fastest(model) > 1e-2


@every_solver
def test_a_rocking_block_loses_what_housner_says(solver):
    """The ratio of angular velocities over an impact: 1 - 1.5 sin(a)^2, for a slender block."""
    width, height, tilt = 0.1, 0.3, 0.1
    model, bulk = scene(2e-4, 2.0)
    s.BODY(model, "OBSTACLE", box(-2, -2, -1, 2, 2, 0), bulk)
    block = s.BODY(model, "RIGID", s.ROTATE(box(0, 0, 0, width, 0.2, height), (0, 0, 0), (0, 1, 0), -degrees(tilt)), bulk)
    speeds = []
    s.CALLBACK(model, 2e-4, (), lambda: speeds.append(block.velo[1]) or 1)
    s.RUN(model, SOLVERS[solver](), 0.35)
    jump = max(range(1, len(speeds)), key=lambda k: abs(speeds[k] - speeds[k - 1]))
    before, after = speeds[jump - 3], speeds[jump + 3]
    assert after / before == pytest.approx(1 - 1.5 * sin(atan(width / height)) ** 2, abs=0.02)


@pytest.mark.parametrize("solver", ("AUTO", "GS"))
def test_a_wall_in_running_bond_stands_from_the_first_step(solver):
    model, bulk = scene(1e-3, 0.6)
    columns, rows = 4, 6
    s.BODY(model, "OBSTACLE", box(-1, -1, -0.2, 6, 1, 0), bulk)
    for row in range(rows):
        for column in range(columns):
            x = (column + 0.5 * (row % 2)) * 0.4
            s.BODY(model, "RIGID", box(x, -0.15, row * 0.2, x + 0.4, 0.15, (row + 1) * 0.2), bulk)
    for _ in range(3):
        s.RUN(model, SOLVERS[solver](), 1e-3)
        assert fastest(model) < 1e-6


def stones_that_overlap(seed, depth):
    """Two random stones of 8 to 40 corners that overlap by `depth`: corners of both, and the normal along which they are furthest apart."""
    random = np.random.default_rng(seed)
    one, two = (random.normal(size=(random.integers(8, 41), 3)) for _ in range(2))
    one, two = (corners / np.linalg.norm(corners, axis=1)[:, None] for corners in (one, two))
    planes = np.unique(ConvexHull((one[:, None] - two).reshape(-1, 3)).equations, axis=0)  # n and -h of the Minkowski difference
    way = random.normal(size=3)
    near, far = 0.0, 3.0 / np.linalg.norm(way)
    for _ in range(60):
        middle = 0.5 * (near + far)
        near, far = (middle, far) if (planes @ [*(middle * way), 1.0]).max() < -depth else (near, middle)
    return one, two + near * way, planes[np.argmax(planes @ [*(near * way), 1.0]), :3]


def lies_on(corners, normal):
    """Whether a stone touches a plane with this normal by an edge, from which all its faces turn away by more than six degrees."""
    height = corners @ normal
    faces = ConvexHull(corners).equations[:, :3]
    return np.count_nonzero(height > height.max() - 1e-9) == 2 and (faces @ normal).max() < cos(radians(6))


@pytest.mark.parametrize("depth", (1e-6, 1e-4, 3e-3))
def test_edges_of_random_stones_touch_where_the_minkowski_difference_says(depth):
    crossed = 0
    for seed in range(150):
        one, two, normal = stones_that_overlap(seed, depth)
        if not (lies_on(one, normal) and lies_on(two, -normal)):
            continue
        model, bulk = scene(1e-9, gravity=(0, 0, 0))
        for corners in (one, two):
            s.BODY(model, "RIGID", s.HULL(corners.ravel().tolist(), 1, 1), bulk)
        s.RUN(model, s.AUTO_SOLVER(), 1e-9)
        contacts = model.constraints
        assert len(contacts) == 1, seed
        assert contacts[0].gap == pytest.approx(-depth, abs=1e-9), seed
        assert abs(np.dot(contacts[0].base[6:9], normal)) == pytest.approx(1.0, abs=1e-9), seed
        crossed += 1
    assert crossed > 20


@pytest.mark.parametrize("solver", (s.PENALTY_SOLVER, SOLVERS["GS"], SOLVERS["AUTO"]))
@pytest.mark.parametrize("angle", (20, 60, 90))
def test_a_beam_on_springs_rests_crosswise_on_the_ridge_of_another(angle, solver):
    """Two millimetres deep the ridges took the normal of a face, at 45 degrees, and the beam slid off."""
    model, bulk = scene(1e-3, 0.3, model="SPRING_DASHPOT", spring=2e5, dashpot=-1)
    lower, upper = (s.ROTATE(box(-0.5, -0.1, -0.1, 0.5, 0.1, 0.1), (0, 0, 0), (1, 0, 0), 45) for _ in range(2))
    s.BODY(model, "OBSTACLE", lower, bulk)
    upper = s.TRANSLATE(s.ROTATE(upper, (0, 0, 0), (0, 0, 1), angle), (0, 0, 0.2 * sqrt(2)))
    beam = s.BODY(model, "RIGID", upper, bulk)
    s.RUN(model, solver(), 0.3)
    assert s.DISPLACEMENT(beam, beam.center) == pytest.approx((0, 0, -beam.mass * 9.81 / 2e5), abs=1e-6)


@pytest.mark.parametrize("corners", (128, 130, 1000))
def test_beams_of_many_corners_lie_crosswise_on_their_ridges(corners):
    """Edges of bodies of more than 128 corners were not compared: such beams fell through each other."""
    model, bulk = scene(1e-3, 0.3)
    arc = np.linspace(-0.25 * pi, 1.25 * pi, corners // 2 - 1)
    section = np.append(0.1 * np.array([np.cos(arc), np.sin(arc)]), [[0], [-0.1 * sqrt(2)]], axis=1)
    upper = np.array([(y, x, z + 0.2 * sqrt(2)) for x in (-0.5, 0.5) for y, z in section.T])
    lower = np.array([(x, y, -z) for x in (-0.5, 0.5) for y, z in section.T])
    s.BODY(model, "OBSTACLE", s.HULL(lower.ravel().tolist(), 1, 1), bulk)
    beam = s.BODY(model, "RIGID", s.HULL(upper.ravel().tolist(), 1, 1), bulk)
    s.RUN(model, s.AUTO_SOLVER(1e-8), 0.2)
    assert s.DISPLACEMENT(beam, beam.center) == pytest.approx((0, 0, 0), abs=1e-6)
