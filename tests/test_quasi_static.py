"""Quasi-static analysis: linear theory of beams, rate of convergence, contact with friction, restarts."""

import numpy as np
import pytest
from unit_cube import BOX, block

import solfec as sf
from solfec.bodies.materials import BulkMaterial
from solfec.bodies.table import BodyKind, Energy, Form, Scheme
from solfec.domain import Domain
from solfec.results import ResultsReader, ResultsWriter
from solfec.solvers.auto import AutoSolver
from solfec.solvers.gauss_seidel import GaussSeidelSolver
from solfec.solvers.newton import NewtonSolver
from solfec.time_series import TimeSeries


def cantilever(form):
    """A beam 8 x 1 x 0.1, ν = 0, clamped at x = 0, loaded at its tip; returns the domain and its body."""
    domain = Domain(1.0, dynamic=False)
    body = domain.insert_body(
        BodyKind.FINITE_ELEMENT, [block((8, 0.1, 1), (64, 1, 4))], BulkMaterial(young=1e6, poisson=0.0, density=1.0), form=form
    )
    for y in (0.0, 0.1):
        for z in np.linspace(0, 1, 5):
            domain.joints.fix_point(body, (0.0, y, z))
    for y in (0.0, 0.1):
        domain.loads.add_force(domain.body_row(body), "SPATIAL", (8.0, y, 0.5), (0, 0, -1), 5e-4)
    return domain, body


def test_a_cantilever_bends_as_timoshenko_says():
    deflection = {}
    for form in (Form.TL, Form.BC):
        domain, body = cantilever(form)
        for _ in range(6):
            domain.advance(AutoSolver(1e-11))
        deflection[form] = -domain.points.displacement(body, (8.0, 0.05, 0.5))[2]
        assert abs(domain.points.velocity(body, (8.0, 0.05, 0.5))).max() < 1e-7 * deflection[form]
        table = domain.constraints
        assert (table.base[2, :, : table.n] * table.R[:, : table.n]).sum() == pytest.approx(1e-3, rel=1e-6)
    force, young, length, area = 1e-3, 1e6, 8.0, 0.1
    theory = force * length**3 / (3 * young * area / 12) + force * length / (5 / 6 * young / 2 * area)
    assert deflection[Form.TL] == pytest.approx(theory, rel=0.01)
    assert deflection[Form.BC] == pytest.approx(deflection[Form.TL], rel=1e-6)


@pytest.mark.parametrize("form", [Form.TL, Form.BC, None])
def test_the_error_of_a_mode_shrinks_by_one_over_one_plus_h_omega_squared(form):
    """The stretching mode of a unit cube, μ = 4E8, ω² = 9.6E6 (pseudo-rigid); of one hexahedron 3.2E6 and so on."""
    step = 2e-4
    domain = Domain(step, dynamic=False)
    kind = BodyKind.PSEUDO_RIGID if form is None else BodyKind.FINITE_ELEMENT
    body = domain.insert_body(kind, [block()], BulkMaterial(), form=form or Form.NONE)
    small = 1e-7 * np.diag([1.0, -1.0, 0.0])
    if form is None:
        square = 9.6e6
        domain.states.set_conf(body, [*(np.eye(3) + small).ravel(), 0.5, 0.5, 0.5])
    else:
        square = 3.2e6  # 24 μ/(ρ a²) with the inertia of masses at the corners: a third
        nodes = domain.bodies.meshes[body].nodes
        domain.states.set_conf(body, ((nodes - 0.5) @ small).ravel())
    assert domain.bodies.scheme[0] == Scheme.DEF_LIM
    before = domain.points.displacement(body, (1, 0.5, 0.5))[0]
    for _ in range(3):
        domain.advance(GaussSeidelSolver(1e-5, 100))
        now = domain.points.displacement(body, (1, 0.5, 0.5))[0]
        assert now / before == pytest.approx(1 / (1 + step**2 * square), rel=1e-5)
        before = now


def test_a_free_body_moves_by_h_squared_times_gravity_in_a_step():
    for kind, form in ((BodyKind.RIGID, Form.NONE), (BodyKind.PSEUDO_RIGID, Form.NONE), (BodyKind.FINITE_ELEMENT, Form.BC)):
        domain = Domain(0.1, dynamic=False)
        body = domain.insert_body(kind, [block()], BulkMaterial(), form=form)
        domain.loads.set_gravity((0.0, 0.0, TimeSeries([0.0, 1.0], [0.0, -10.0])))
        domain.advance(GaussSeidelSolver(1e-5, 100))
        domain.advance(GaussSeidelSolver(1e-5, 100))
        # loads are those of the ends of steps, 0.1 and 0.2: accelerations -1 and -2
        np.testing.assert_allclose(domain.points.displacement(body, (0.2, 0.3, 0.4)), (0, 0, -0.01 * 3), atol=1e-12)
        assert domain.energy()[Energy.KINETIC] == 0.0


def test_a_rigid_body_turns_by_the_whole_moment_of_the_step():
    domain = Domain(0.1, dynamic=False)
    body = domain.insert_body(BodyKind.RIGID, [block()], BulkMaterial(density=6.0))  # J = I
    domain.loads.add_torque(0, "CONVECTED", (0, 0, 1), 2.0)
    domain.states.disable_rotation(body, False)
    domain.advance(GaussSeidelSolver(1e-5, 100))
    angle = 0.1**2 * 2.0
    np.testing.assert_allclose(domain.states.conf(body)[:3], (np.cos(angle), np.sin(angle), 0.0), atol=1e-13)
    domain.states.disable_rotation(body, True)
    domain.advance(GaussSeidelSolver(1e-5, 100))
    np.testing.assert_allclose(domain.states.conf(body)[:3], (np.cos(angle), np.sin(angle), 0.0), atol=1e-13)


def test_a_prescribed_velocity_moves_a_point_by_v_h_in_every_step():
    domain = Domain(0.01, dynamic=False)
    body = domain.insert_body(BodyKind.RIGID, [block()], BulkMaterial())
    domain.joints.prescribe_velocity(body, (0.5, 0.5, 0.5), (1.0, 0.0, 0.0), 2.0)
    for n in range(1, 4):
        domain.advance(GaussSeidelSolver(1e-12, 100))
        assert domain.points.displacement(body, (0.5, 0.5, 0.5))[0] == pytest.approx(2.0 * 0.01 * n, rel=1e-12)


SOLVERS = {
    "gauss-seidel": lambda: GaussSeidelSolver(1e-12, 5000),
    "newton": lambda: NewtonSolver(1e-20, 5000),
    "auto": lambda: AutoSolver(),
}


def slope(kind, form, tilt, friction):
    """A block on a plane; gravity is tilted, tan(angle) = tilt."""
    domain = Domain(1e-2, dynamic=False)
    soft = BulkMaterial(young=1e7, poisson=0.2, density=1e3)
    domain.insert_body(BodyKind.OBSTACLE, [block((10, 10, 1), low=(-5, -5, -1))], soft)
    body = domain.insert_body(kind, [block((2, 2, 1), (2, 2, 1), (-1, -1, 0.0))], soft, form=form)
    domain.loads.set_gravity((10.0 * tilt, 0.0, -10.0))
    domain.surface_materials.friction[0] = friction
    domain.surface_materials.gap_aware[0] = 1e-3
    domain.settings.margin = 1e-3
    return domain, body


HISTORIES = {  # knots of velocity, or of what it comes from, and displacements at some times by hand
    "displacement": (TimeSeries([0, 0.5, 0.8, 1.0], [0, 1, 0.7, 0.7]).derivative(), {0.25: 0.5, 0.5: 1.0, 0.65: 0.85, 1.5: 0.7}),
    "velocity": (TimeSeries([0.2, 0.6, 0.8], [0, 4, 1]), {0.2: 0.0, 0.6: 0.8, 0.8: 1.3, 1.5: 2.0}),
    "acceleration": (TimeSeries([0, 1], [2, 2]).integral(), {0.5: 0.25, 1.0: 1.0, 1.5: 2.0}),
}


@pytest.mark.parametrize("steps", [1, 3])  # between these times: knots are at ends of steps and within them
@pytest.mark.parametrize("kind", [BodyKind.RIGID, BodyKind.PSEUDO_RIGID, BodyKind.FINITE_ELEMENT])
@pytest.mark.parametrize("name", HISTORIES)
def test_a_driven_point_is_where_its_history_says(name, kind, steps):
    velocity, places = HISTORIES[name]
    domain = Domain(1.0, dynamic=False)
    body = domain.insert_body(kind, [block((1, 1, 1), (1, 1, 1))], BulkMaterial(young=1e4, poisson=0.25, density=1.0))
    domain.joints.prescribe_velocity(body, (0.5, 0.5, 0.5), (1.0, 0.0, 0.0), velocity)
    for time, expected in places.items():
        domain.set_step((time - domain.time) / steps)
        for _ in range(steps):
            domain.advance(AutoSolver(1e-10))
        assert domain.points.displacement(body, (0.5, 0.5, 0.5))[0] == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("solver", [AutoSolver(1e-10), GaussSeidelSolver(1e-10, 1000), NewtonSolver()], ids=["AUTO", "GAUSS_SEIDEL", "NEWTON"])
@pytest.mark.parametrize("velocity", [0.1, 0.3, 0.7])
def test_round_off_of_a_body_that_is_driven_without_loads_is_no_error_of_its_support(velocity, solver):
    domain = Domain(0.07, dynamic=False)
    body = domain.insert_body(BodyKind.RIGID, [block((1, 1, 1), (1, 1, 1))], BulkMaterial(density=7.0))
    domain.joints.prescribe_velocity(body, (0.5, 0.53, 0.51), np.array([1, 2, 3]) / np.sqrt(14), velocity)
    with np.errstate(all="raise"):
        for _ in range(8):
            domain.advance(solver)
    assert domain.supports_left.told() == ""


@pytest.mark.parametrize("exact", [True, False])
def test_supports_from_which_a_load_is_gone_have_solved_every_step(exact):
    """Three fixed points keep reactions that press against one another; nothing moves and nothing is asked, so their round-off is no error."""
    domain = Domain(0.1, dynamic=False)
    domain.exact_supports = exact
    body = domain.insert_body(BodyKind.RIGID, [block((1, 1, 1), (1, 1, 1))], BulkMaterial(density=1000.0))
    for place in ((0, 0, 0), (1, 0, 0), (0, 1, 0)):
        domain.joints.fix_point(body, place)
    force = TimeSeries([0, 0.5, 1], [0, 1000, 0])
    domain.loads.add_force(domain.body_row(body), "SPATIAL", (1, 1, 1), (0, 0, 1), force)
    while domain.time < 3.0:
        domain.advance(GaussSeidelSolver(1e-6, 100))
        assert domain.report.residual < 1e-5 and domain.report.merit < 1e-10


@pytest.mark.parametrize("kind, form", [(BodyKind.RIGID, Form.NONE), (BodyKind.PSEUDO_RIGID, Form.NONE),
                                        (BodyKind.FINITE_ELEMENT, Form.TL), (BodyKind.FINITE_ELEMENT, Form.BC)])  # fmt: skip
@pytest.mark.parametrize("solver", SOLVERS.values(), ids=SOLVERS)
def test_friction_holds_a_block_on_a_slope_and_lets_it_go_above_its_angle(kind, form, solver):
    domain, body = slope(kind, form, 0.25, 0.3)
    for _ in range(30):
        domain.advance(solver())
    weight = 4 * 1e3 * 10.0
    table = domain.constraints
    on_block = np.where(table.view("master") == 1, 1.0, -1.0)
    total = (np.einsum("ijn,jn->in", table.view("base"), table.view("R")) * on_block).sum(1)
    np.testing.assert_allclose(total, (-0.25 * weight, 0.0, weight), atol=2e-4 * weight)
    assert np.linalg.norm(domain.points.velocity(body, (0, 0, 0.5))) < 1e-6

    domain, body = slope(kind, form, 0.25, 0.1)
    for _ in range(30):
        domain.advance(solver())
    # what friction does not take pulls: h**2 times its acceleration in every step
    assert domain.points.velocity(body, (0, 0, 0.5))[0] == pytest.approx(1e-2 * (2.5 - 1.0), rel=2e-3)


def test_an_obstacle_that_moves_presses_a_block_together():
    domain = Domain(0.1, dynamic=False)
    soft = BulkMaterial(young=1e6, poisson=0.0, density=1e3)
    domain.insert_body(BodyKind.OBSTACLE, [block((3, 3, 1), low=(-1, -1, -1))], soft)
    body = domain.insert_body(BodyKind.FINITE_ELEMENT, [block((1, 1, 1), (2, 2, 2))], soft, form=Form.TL)
    press = domain.insert_body(BodyKind.OBSTACLE, [block((3, 3, 1), low=(-1, -1, 1))], soft)
    domain.states.set_velocity(press, (0, 0, -0.01), (0, 0, 0))
    domain.settings.margin = 1e-4
    domain.surface_materials.gap_aware[0] = 1e-4
    for _ in range(10):
        domain.advance(AutoSolver())
    assert domain.points.displacement(press, (0, 0, 1.5))[2] == pytest.approx(-0.01, rel=1e-12)
    domain.states.set_velocity(press, (0, 0, 0), (0, 0, 0))
    for _ in range(40):
        domain.advance(AutoSolver())
    shortened = -domain.points.displacement(body, (0.5, 0.5, 1.0))[2] + domain.points.displacement(body, (0.5, 0.5, 0.0))[2]
    strain = 0.5 * ((1 - shortened) ** 2 - 1)
    assert domain.points.stress(body, (0.5, 0.5, 0.5))[2] == pytest.approx(1e6 * strain * (1 - shortened), rel=1e-4)
    assert domain.energy()[Energy.INTERNAL] == pytest.approx(0.5 * 1e6 * strain**2, rel=1e-4)


# from a Newton iteration in numpy on the same elements, whose lower nodes are fixed and whose upper ones belong to the plate
LEANING = [("BC", 0.1, 0.1, 60, 0.00132656516), ("BC", 0.15, 0.1, 160, 0.00534759970), ("TL", 0.05, 0.03, 300, 0.000548968076)]


@pytest.mark.parametrize(("form", "pressure", "step", "steps", "expected"), LEANING)
def test_a_block_that_contacts_alone_hold_leans_as_far_as_its_pressure_bends_it(form, pressure, step, steps, expected):
    """A cube under a loose plate, on which a force rests a thousandth beside the middle; it would fall over at 0.18 E (BC) and 0.105 E (TL)."""
    solfec = sf.SOLFEC("QUASI_STATIC", step, None, contacts="MANIFOLD")
    sf.SURFACE_MATERIAL(solfec, friction=0.9)
    bulk = sf.BULK_MATERIAL(solfec, young=1e6, poisson=0.0, density=1000)
    ground, cells, lid = (
        sf.HEX((BOX * size + np.asarray(low)).ravel().tolist(), n, n, n, 1, [1] * 6)
        for size, low, n in (((5, 5, 1), (-2, -2, -1), 1), (1, (0, 0, 0), 3), ((2, 2, 0.2), (-0.5, -0.5, 1), 1))
    )
    sf.BODY(solfec, "OBSTACLE", ground, bulk)
    cube, plate = sf.BODY(solfec, "FINITE_ELEMENT", cells, bulk, form=form), sf.BODY(solfec, "RIGID", lid, bulk)
    load = sf.TIME_SERIES([0, 0, 10 * step, pressure * 1e6, 1000, pressure * 1e6])
    sf.FORCE(plate, "SPATIAL", (0.501, 0.5, 1.1), (0, 0, -1), load)
    sf.RUN(solfec, sf.AUTO_SOLVER(1e-10), steps * step)
    top = [sf.DISPLACEMENT(cube, (x, y, 1)) for x in np.arange(4) / 3 for y in np.arange(4) / 3]
    assert np.mean(top, axis=0)[0] == pytest.approx(expected, rel=2e-3)


def mixed():
    domain, _ = slope(BodyKind.FINITE_ELEMENT, Form.TL, 0.25, 0.2)
    soft = BulkMaterial(young=1e7, poisson=0.2, density=1e3)
    domain.insert_body(BodyKind.PSEUDO_RIGID, [block((1, 1, 1), low=(-1, -1, 1.0))], soft)
    domain.insert_body(BodyKind.FINITE_ELEMENT, [block((1, 1, 1), low=(0, 0, 1.0))], soft, form=Form.BC)
    top = domain.insert_body(BodyKind.RIGID, [block((0.5, 0.5, 1), low=(0, -0.9, 1.0))], soft)
    domain.joints.fix_point(top, (0.2, -0.5, 2.0))
    return domain


def test_a_run_continued_from_a_frame_has_the_bits_of_one_run(tmp_path):
    whole, continued = mixed(), mixed()
    solver = GaussSeidelSolver(1e-6, 200)
    for _ in range(4):
        whole.advance(solver)
    with ResultsWriter.create(str(tmp_path / "run")) as writer:
        writer.write_frame(whole)
    with ResultsReader(tmp_path / "run") as reader:
        reader.load(continued, 0)
    for domain in (whole, continued):
        for _ in range(6):
            domain.advance(solver)
    assert whole.constraints.contact_count > 5
    for table in ("configurations", "triples"):
        column = "conf" if table == "configurations" else "velo"
        one, other = (getattr(domain.bodies, table).view(column) for domain in (whole, continued))
        assert one.tobytes() == other.tobytes()
    assert whole.constraints.view("R").tobytes() == continued.constraints.view("R").tobytes()


INPUT = """
from solfec import *
solfec = SOLFEC('QUASI_STATIC', 0.05, 'out/press')
SURFACE_MATERIAL(solfec, friction=0.3)
bulk = BULK_MATERIAL(solfec, young=1E6, poisson=0.2, density=1000)
nodes = [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1]
ground = HULL([(x, y, z) for x in (-2, 3) for y in (-2, 3) for z in (-1, 1E-4)], 1, 1)
BODY(solfec, 'OBSTACLE', ground, bulk)
body = BODY(solfec, 'FINITE_ELEMENT', HEX(nodes, 2, 2, 2, 1, [1] * 6), bulk, form='BC')
FIX_DIRECTION(body, (0, 0, 0), (1, 0, 0))
GRAVITY(solfec, (0, 0, -10))
RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-8, 1000), 1)
if solfec.mode == 'READ':
    times, height, energy = HISTORY(solfec, [(body, (1, 1, 1), 'DZ'), (solfec, 'INTERNAL')], 0, 1)
    print(solfec.analysis, len(times), abs(height[-1] - height[-2]) < 1E-6, energy[-1] > energy[1] > 0)
"""


def test_a_quasi_static_run_is_read_back_from_the_command_line(solfec, tmp_path):
    (tmp_path / "press.py").write_text(INPUT)
    solfec(tmp_path / "press.py")
    assert solfec(tmp_path / "press.py").stdout.strip() == "QUASI_STATIC 21 True True"
