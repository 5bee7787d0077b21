"""contacts = 'MANIFOLD' with every kind of body and law: margins, restitution, cohesion, deep overlap, obstacles that move, results read back."""

import numpy as np
import pytest
from scipy.spatial import ConvexHull
from test_manifold import SOLVERS, box, every_solver, fastest, scene

import solfec as s
from solfec.contact.manifold import sizes_of

KINDS = ("RIGID", "PSEUDO_RIGID", "FINITE_ELEMENT")


def cube(x, y, z, X, Y, Z, cells=2):
    """A mesh of hexahedra that fills a box."""
    return s.HEX([c for k in (z, Z) for i, j in ((x, y), (X, y), (X, Y), (x, Y)) for c in (i, j, k)], cells, cells, cells, 1, [1, 1, 1, 1, 1, 9])


def body_of(model, kind, bulk, *corners):
    return s.BODY(model, kind, cube(*corners) if kind == "FINITE_ELEMENT" else box(*corners), bulk)


def contacts(model):
    return [c for c in model.constraints if c.kind == "CONTACT"]


def test_a_pebble_far_away_changes_nothing_for_large_bodies():
    """Margins suit pairs, not the smallest primitive of the model."""
    found = []
    for pebble in (False, True):
        model, bulk = scene()
        s.BODY(model, "OBSTACLE", box(-5, -5, -1, 5, 5, 0), bulk)
        block = s.BODY(model, "RIGID", box(-1, -1, 0.004, 1, 1, 1), bulk)
        if pebble:
            s.BODY(model, "RIGID", box(50, 0, 5, 50.001, 0.001, 5.001), bulk)
        s.RUN(model, s.AUTO_SOLVER(), 0.1)
        found.append((block.conf, block.velo))
    assert found[0] == found[1]


def test_margins_are_the_same_in_all_axes():
    """A hundredth of the largest width across a face, however it stands; of the bounding box it was up to 1.7 times as much, or as little as 0.6 of it."""
    random = np.random.default_rng(3)
    axes = np.linalg.qr(random.normal(size=(3, 3)))[0]
    signs = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    shapes = [0.5 * np.array(sides) * signs for sides in ((1, 1, 1), (3, 0.1, 1), (0.2, 0.2, 5))]
    shapes += [random.normal(size=(n, 3)) for n in (4, 7, 30)] + [np.vstack((random.normal(size=(20, 3)), (0, 0, 40)))]
    model, bulk = scene()
    for shape in shapes:
        for turned in (shape, shape @ axes + (50, 0, 0), 1e-3 * shape @ axes * (-1, 1, 1)):
            s.BODY(model, "RIGID", s.HULL(turned.ravel().tolist(), 1, 1), bulk)
    sizes = sizes_of(model._simulation.domain.geometry).reshape(-1, 3)
    np.testing.assert_allclose(sizes[:, 1], sizes[:, 0], rtol=1e-12)
    np.testing.assert_allclose(sizes[:, 2], 1e-3 * sizes[:, 0], rtol=1e-12)
    np.testing.assert_allclose(sizes[:3, 0], (1, 3, 5), rtol=1e-14)
    for shape, size in zip(shapes, sizes[:, 0]):
        assert size == pytest.approx(np.ptp(shape @ ConvexHull(shape).equations[:, :3].T, axis=0).max(), rel=1e-12)


def test_a_margin_does_not_depend_on_where_a_warped_face_begins():
    model, bulk = scene()
    corners = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1.3), (0, 1, 1)]
    for first in range(4):
        order = [(first + k) % 4 for k in range(4)]
        nodes = [x for k in [*order, *(4 + k for k in order)] for x in corners[k]]
        s.BODY(model, "FINITE_ELEMENT", s.MESH(nodes, [8, *range(8), 1], 1), bulk)
    sizes = sizes_of(model._simulation.domain.geometry)
    np.testing.assert_allclose(sizes, sizes[0], rtol=1e-14)
    assert 1.0 < sizes[0] < 1.6


def test_a_pebble_rests_on_a_slab_of_a_hundred_metres():
    model, bulk = scene()
    s.BODY(model, "OBSTACLE", box(-50, -50, -10, 50, 50, 0), bulk)
    pebble = s.BODY(model, "RIGID", box(17, 23, 1e-3, 17.01, 23.02, 0.011), bulk)
    s.RUN(model, s.AUTO_SOLVER(), 0.1)
    assert pebble.conf[11] == pytest.approx(0.005, abs=2e-6)
    spin, speed = np.linalg.norm(pebble.velo[:3]), np.linalg.norm(pebble.velo[3:])
    assert speed + spin * np.linalg.norm((0.005, 0.01, 0.005)) < 2e-8  # of a corner: 1E-6 of the speeds that gravity gives four contacts in a step
    assert len(contacts(model)) == 4


@every_solver
@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
def test_a_box_that_lands_flat_rebounds_at_e_times_its_speed(solver, restitution):
    model, bulk = scene(restitution=restitution)
    s.BODY(model, "OBSTACLE", box(-1, -1, -0.2, 1, 1, 0), bulk)
    block = s.BODY(model, "RIGID", box(-0.1, -0.1, 0.05, 0.1, 0.1, 0.15), bulk)
    before = 0.0
    for _ in range(200):
        s.RUN(model, SOLVERS[solver](), 1e-3)
        if block.velo[5] > -1e-9:
            break
        before = min(before, block.velo[5])
    assert before == pytest.approx(-np.sqrt(2 * 9.81 * 0.05), rel=0.02)
    assert block.velo[5] == pytest.approx(-restitution * before, abs=0.011) and max(map(abs, block.velo[:3])) < 1e-6


@every_solver
@pytest.mark.parametrize("kind", KINDS)
def test_a_box_of_any_kind_carries_its_weight_and_is_slowed_by_friction(kind, solver):
    model, _ = scene(friction=0.3)
    bulk = s.BULK_MATERIAL(model, young=1e8, poisson=0.2, density=1000.0)
    s.BODY(model, "OBSTACLE", box(-1, -1, -0.2, 2, 1, 0), bulk)
    block = body_of(model, kind, bulk, -0.1, -0.1, 0, 0.1, 0.1, 0.1)
    if kind != "RIGID":
        block.scheme = "DEF_LIM"
    s.INITIAL_VELOCITY(block, (1, 0, 0), (0, 0, 0))
    s.RUN(model, SOLVERS[solver](), 0.1)
    start, carried = place_of(block)[0], 0.0
    for _ in range(50):
        s.RUN(model, SOLVERS[solver](), 1e-3)
        carried += sum(c.R[2] for c in contacts(model)) / 50
    mean = (place_of(block)[0] - start) / 0.05
    assert mean == pytest.approx(1 - 0.3 * 9.81 * 0.125, rel=0.02)
    assert carried == pytest.approx(block.mass * 9.81, rel=1e-3 if kind == "RIGID" else 0.02)


def place_of(body):
    """Mean place of a body."""
    if body.kind == "FINITE_ELEMENT":
        return np.reshape(body.conf, (-1, 3)).mean(0)
    return body.conf[9:12]


@every_solver
@pytest.mark.parametrize("kind", ["RIGID", "FINITE_ELEMENT"])
@pytest.mark.parametrize("pull, holds", [(0.9, True), (1.1, False)])
def test_glue_holds_up_to_its_strength(kind, pull, holds, solver):
    model, _ = scene(gravity=(0, 0, 0), friction=0.5, cohesion=1e4)
    bulk = s.BULK_MATERIAL(model, young=1e8, poisson=0.0, density=1000.0)
    s.BODY(model, "OBSTACLE", box(-1, -1, -0.2, 1, 1, 0), bulk)
    block = body_of(model, kind, bulk, -0.1, -0.1, 0, 0.1, 0.1, 0.1)
    if kind == "FINITE_ELEMENT":
        block.scheme, block.damping = "DEF_LIM", 1e-3
        s.PRESSURE(block, 9, s.TIME_SERIES([0, 0, 0.04, pull * 1e4, 1, pull * 1e4]))  # not all at once, which would swing to twice as much
    else:
        s.FORCE(block, "SPATIAL", block.center, (0, 0, 1), pull * 1e4 * 0.04)
    s.RUN(model, SOLVERS[solver](), 0.05)
    assert (len(contacts(model)) > 0) == holds
    assert (place_of(block)[2] - (0 if kind == "FINITE_ELEMENT" else 0.05) < 1e-4) == holds


@every_solver
@pytest.mark.parametrize("depth, way", [((0.02, 0.3, 0.3), (0, 0, 1)), ((0.3, 0.01, 0.3), (0, 1, 0))])
def test_bodies_that_begin_deep_in_each_other_are_held_along_the_shallowest_way_out(depth, way, solver):
    """Overlap is not pushed out, and does not grow; nothing is thrown off."""
    model, bulk = scene(gravity=tuple(-9.81 * w for w in way), friction=0.0)
    s.BODY(model, "OBSTACLE", box(-1, -1, -1, 1, 1, 0) if way[2] else box(-1, -1, -1, 1, 0, 1), bulk)
    low = (-0.2, -0.2, -depth[0]) if way[2] else (-0.2, -depth[1], -0.2)
    block = s.BODY(model, "RIGID", box(*low, *(x + 0.4 for x in low)), bulk)
    start = block.conf
    s.RUN(model, SOLVERS[solver](), 0.1)
    assert fastest(model) < 1e-6
    assert block.conf == pytest.approx(start, abs=1e-6)
    for contact in contacts(model):
        assert np.abs(contact.base[6:9]) == pytest.approx(np.abs(way), abs=1e-9)


@every_solver
def test_a_lift_and_a_belt_carry_a_box(solver):
    model, bulk = scene(friction=0.4)
    lift = s.BODY(model, "OBSTACLE", box(-1, -1, -0.2, 2, 1, 0), bulk)
    s.SET_VELOCITY(lift, lift.center, (0, 0, 1), 0.5)
    s.SET_VELOCITY(lift, lift.center, (1, 0, 0), 0.7)
    block = s.BODY(model, "RIGID", box(-0.1, -0.1, 0, 0.1, 0.1, 0.1), bulk)
    s.RUN(model, SOLVERS[solver](), 0.1)
    assert block.velo[3] == pytest.approx(0.4 * (9.81 * 0.1 + 0.5), rel=0.02)  # the lift's start is an impact with friction, too
    s.RUN(model, SOLVERS[solver](), 0.3)
    assert block.velo[3:] == pytest.approx((0.7, 0, 0.5), abs=1e-6)
    assert block.conf[11] - 0.05 - lift.conf[11] - 0.1 == pytest.approx(0.0, abs=2e-6)


@every_solver
@pytest.mark.parametrize("kind", ["OBSTACLE", "RIGID"])
@pytest.mark.parametrize("gap", [0.0, 0.001, 0.019])
def test_a_ram_that_is_driven_from_rest_pushes_what_it_meets_in_its_first_step(kind, gap, solver):
    """Rigid rams overlapped it by up to 17 mm: their predicted way was that of bodies at rest."""
    model, bulk = scene(friction=0.3)
    s.GRAVITY(model, (0, 0, 0))
    ram = s.BODY(model, kind, box(-0.1, -0.1, -0.1, 0.1, 0.1, 0.1), bulk)
    block = s.BODY(model, "RIGID", box(0.1 + gap, -0.1, -0.1, 0.3 + gap, 0.1, 0.1), bulk)
    for place in ((0, 0, 0), (0, 0.1, 0), (0, 0, 0.1)):
        s.SET_VELOCITY(ram, place, (1, 0, 0), 20.0)
    for _ in model.steps(SOLVERS[solver](), 0.01):
        assert block.conf[9] - ram.conf[9] > 0.2 - 2e-6
    assert block.velo[3] == pytest.approx(20.0, abs=1e-3)


@pytest.mark.parametrize("cells", [1, 2, 3])
def test_uniform_stress_passes_into_a_mesh_from_a_rigid_plate(cells):
    model = s.SOLFEC("QUASI_STATIC", 0.02, contacts="MANIFOLD")
    model.verbose = "OFF"
    s.SURFACE_MATERIAL(model, friction=0.0)
    bulk = s.BULK_MATERIAL(model, young=1e6, poisson=0.0, density=1000)
    s.BODY(model, "OBSTACLE", box(-1, -1, -0.5, 2, 2, 0), bulk)
    mesh = s.BODY(model, "FINITE_ELEMENT", cube(0, 0, 0, 1, 1, 1, cells), bulk)
    s.PRESSURE(mesh, 9, -1000.0)
    s.FIX_DIRECTION(mesh, (0, 0, 1), (1, 0, 0))
    s.FIX_DIRECTION(mesh, (0, 0, 1), (0, 1, 0))
    s.FIX_DIRECTION(mesh, (1, 0, 1), (0, 1, 0))
    s.RUN(model, s.AUTO_SOLVER(1e-11), 2.0)
    found = [s.STRESS(mesh, (x, y, z))[2] for x in (0.1, 0.45, 0.9) for y in (0.15, 0.8) for z in (0.1, 0.7)]
    np.testing.assert_allclose(found, -1000, rtol=1e-2)


def test_steps_that_remove_coincident_points_prepare_nothing_anew(monkeypatch):
    """Four cells share nine points; a step looked up all arrays of all kernels again, which took ten times as long as the rest of it."""
    model, bulk = scene()
    s.BODY(model, "OBSTACLE", box(-1, -1, -0.2, 1, 1, 0), bulk)
    s.BODY(model, "RIGID", s.HEX([c for k in (0, 0.1) for i, j in ((0, 0), (0.3, 0), (0.3, 0.3), (0, 0.3)) for c in (i, j, k)], 2, 2, 1, 1, [1] * 6), bulk)
    s.RUN(model, s.AUTO_SOLVER(), 0.01)
    assert len(contacts(model)) == 9
    bound = []
    bind = s.tables._bind
    monkeypatch.setattr(s.tables, "_bind", lambda *arguments: bound.append(arguments[1]) or bind(*arguments))
    s.RUN(model, s.AUTO_SOLVER(), 0.01)
    in_ten = len(bound)
    s.RUN(model, s.AUTO_SOLVER(), 0.2)
    assert len(contacts(model)) == 9
    assert len(bound) - in_ten <= in_ten + 1 + 200  # so often a run, at most, however many steps it has, and the rows to solve once a step


def test_results_read_back_have_the_contacts_of_the_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def make(mode):
        model = s.SOLFEC("DYNAMIC", 1e-3, "out/m", mode=mode, contacts="MANIFOLD")
        model.verbose = "OFF"
        s.SURFACE_MATERIAL(model, friction=0.3)
        s.GRAVITY(model, (0, 0, -9.81))
        bulk = s.BULK_MATERIAL(model)
        s.OUTPUT(model, 1e-2)
        s.BODY(model, "OBSTACLE", box(-1, -1, -0.2, 1, 1, 0), bulk)
        for k in range(3):
            s.BODY(model, "RIGID", box(-0.1, -0.1, 0.1 * k, 0.1, 0.1, 0.1 * (k + 1)), bulk)
        return model

    def state(model):
        return [(c.point, c.base, c.gap, c.R, c.U, c.area) for c in contacts(model)], [b.conf for b in model.bodies]

    model = make("WRITE")
    s.RUN(model, s.AUTO_SOLVER(), 0.05)
    written = state(model)
    assert len(written[0]) == 12
    del model
    model = make("READ")
    s.SEEK(model, 0.05)
    assert state(model) == written
