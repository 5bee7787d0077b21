"""Foils, wires and sheets rest on one another with contacts = 'MANIFOLD', however thin they are.

Such bodies overlap along every direction by no more than their thickness. From a ten-thousandth of their length on, or within a
margin of the user that is some ten times as thick, this counted as passing at an edge: they fell through each other in silence.
"""

from math import cos, radians, sin

import pytest
from test_manifold import SOLVERS, box, every_solver, scene

import solfec as s

THICKNESS = [1e-3, 1e-4, 1e-5]


def weight_on(model, obstacle):
    """Sum of the normal reactions on an obstacle."""
    return sum(c.R[2] for c in model.constraints if c.kind == "CONTACT" and obstacle.id in (c.adjbod[0].id, c.adjbod[1].id))


def check_stack(model, floor, bodies, places):
    for body, place in zip(bodies, places):
        assert body.conf[11] == pytest.approx(place, abs=1e-8)
    assert weight_on(model, floor) == pytest.approx(9.81 * sum(body.mass for body in bodies), rel=1e-4)


@every_solver
@pytest.mark.parametrize("thickness", THICKNESS)
def test_sheets_lie_on_each_other(thickness, solver):
    model, bulk = scene()
    floor = s.BODY(model, "OBSTACLE", box(-2, -2, -1, 2, 2, 0), bulk)
    places = [thickness * (k + 0.5) for k in range(4)]
    sheets = [s.ROTATE(box(-0.5, -0.5, z - thickness / 2, 0.5, 0.5, z + thickness / 2), (0, 0, 0), (0, 0, 1), 7 * k) for k, z in enumerate(places)]
    bodies = [s.BODY(model, "RIGID", sheet, bulk) for sheet in sheets]
    s.RUN(model, SOLVERS[solver](), 0.02)
    check_stack(model, floor, bodies, places)


@every_solver
@pytest.mark.parametrize("width", [1.0, 2.0])
@pytest.mark.parametrize("thickness", THICKNESS)
def test_wires_lie_along_wires(thickness, width, solver):
    """Square wires, or flat ones."""
    model, bulk = scene()
    wire = [box(-0.5, -width / 2 * thickness, z, 0.5, width / 2 * thickness, z + thickness) for z in (-thickness, 0, thickness)]
    floor = s.BODY(model, "OBSTACLE", wire[0], bulk)
    bodies = [s.BODY(model, "RIGID", shape, bulk) for shape in wire[1:]]
    s.RUN(model, SOLVERS[solver](), 0.02)
    check_stack(model, floor, bodies, [thickness / 2, 1.5 * thickness])


@pytest.mark.parametrize("margin", [0.01, 0.1])
@pytest.mark.parametrize("contacts", ["CLASSIC", "MANIFOLD"])
def test_a_wide_margin_does_not_let_sheets_through(contacts, margin):
    """Sheets of 1 mm, 0.1 mm apart, that are in contact before they meet."""
    model = s.SOLFEC("DYNAMIC", 1e-3, contacts=contacts)
    model.verbose = "OFF"
    s.SURFACE_MATERIAL(model, friction=0.5, gap_aware=margin)
    s.CONTACT_OPTIONS(model, margin=margin, patch="ON")
    s.GRAVITY(model, (0, 0, -9.81))
    bulk = s.BULK_MATERIAL(model, density=1000.0)
    floor = s.BODY(model, "OBSTACLE", box(-0.5, -0.5, -1e-3, 0.5, 0.5, 0), bulk)
    sheet = s.BODY(model, "RIGID", box(-0.5, -0.5, 1e-4, 0.5, 0.5, 1.1e-3), bulk)
    s.RUN(model, s.AUTO_SOLVER(1e-8), 0.05)
    check_stack(model, floor, [sheet], [5e-4])


@pytest.mark.parametrize("thickness", THICKNESS)
def test_a_sheet_slides_over_the_seams_of_flush_sheets(thickness):
    """Down a slope of 30 degrees with friction 0.2, as on one sheet."""
    angle, friction = radians(30), 0.2
    model, bulk = scene(friction=friction, gravity=(9.81 * sin(angle), 0, -9.81 * cos(angle)))
    for k in range(4):
        s.BODY(model, "OBSTACLE", box(0.3 * k - 0.6, -1, -thickness, 0.3 * k - 0.3, 1, 0), bulk)
    sheet = s.BODY(model, "RIGID", box(-0.5, -0.4, 0, -0.1, 0.4, thickness), bulk)
    s.RUN(model, s.AUTO_SOLVER(1e-8), 0.2)
    acceleration = 9.81 * (sin(angle) - friction * cos(angle))
    assert sheet.velo[3] == pytest.approx(acceleration * 0.2, rel=1e-4)
    assert sheet.conf[9] + 0.3 == pytest.approx(0.5 * acceleration * 0.2**2, rel=1e-3)
    assert sheet.conf[11] == pytest.approx(thickness / 2, abs=1e-7)


@pytest.mark.parametrize("speed", [0.5, 5.0])
def test_a_foil_slides_over_seams_though_it_dips_by_a_quarter_of_its_thickness(fresh_session, speed):
    """Without friction it keeps its speed: gravity moves it by g h^2/2 = 5 micrometres in a step, and its edge meets the sides of tiles that are flush."""
    model = s.SOLFEC("DYNAMIC", 1e-3, contacts="MANIFOLD")
    model.verbose = "OFF"
    s.SURFACE_MATERIAL(model, friction=0.0)
    material = s.BULK_MATERIAL(model, density=1000)
    s.GRAVITY(model, (0, 0, -9.81))
    for i in range(9):
        for j in range(4):
            s.BODY(model, "OBSTACLE", s.BOX((0.07 * i, 0.07 * j - 0.105, -0.005), (0.07, 0.07, 0.01)), material)
    foil = s.BODY(model, "RIGID", s.BOX((0.08, 0, 1e-5), (0.1, 0.1, 2e-5)), material)
    s.INITIAL_VELOCITY(foil, (speed, 0, 0), (0, 0, 0))
    s.RUN(model, s.AUTO_SOLVER(), min(0.3 / speed, 0.2))
    assert foil.velo[3] == pytest.approx(speed, rel=1e-6)
    assert foil.conf[11] == pytest.approx(1e-5, abs=1e-7)


@pytest.mark.parametrize("fixed", [True, False])
@pytest.mark.parametrize(("thickness", "step"), [(5e-6, 1e-3), (1e-4, 4e-3), (5e-4, 9e-3)])
def test_a_foil_meets_another_one_on_its_floor_though_it_falls_by_its_thickness_in_a_step(thickness, step, fixed):
    """Its predicted way, through the floor, leads beneath the other one, wherever that begins within a step's motion."""
    speed = 1.3
    for part in range(5):
        model = s.SOLFEC("DYNAMIC", step, contacts="MANIFOLD")
        model.verbose = "OFF"
        s.SURFACE_MATERIAL(model, friction=0.0)
        material = s.BULK_MATERIAL(model, density=1000)
        s.GRAVITY(model, (0, 0, -10))
        s.BODY(model, "OBSTACLE", box(-1, -1, -0.1, 3, 1, 0), material)
        start = 0.15 + part / 5 * speed * step
        other = s.BODY(model, "OBSTACLE" if fixed else "RIGID", box(start, -0.1, 0, start + 0.1, 0.1, thickness), material)
        foil = s.BODY(model, "RIGID", box(0, -0.03, 0, 0.1, 0.03, thickness), material)
        s.INITIAL_VELOCITY(foil, (speed, 0, 0), (0, 0, 0))
        s.RUN(model, s.AUTO_SOLVER(1e-10), 0.1 / speed)
        assert foil.velo[3] == pytest.approx(0.0 if fixed else speed * foil.mass / (foil.mass + other.mass), abs=1e-6)
        assert foil.conf[11] == pytest.approx(thickness / 2, abs=1e-7)
        if fixed:
            assert foil.conf[9] == pytest.approx(start - 0.05, abs=1e-5)
