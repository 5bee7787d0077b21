"""Bonded beams in quasi-statics against closed forms: arms that are peeled off (inp/tutorial/peeling.py), and a beam that bends until it breaks."""

import re

import numpy as np
import pytest

import solfec as s

LINE = re.compile(r"\w+ ([\d.]+) mm: load ([\d.]+) N, theory ([\d.]+) N")
WHOLE = {"DCB": 0.04, "ENF": 0.3}  # openings up to which hardly a bond is damaged [mm]
GROWING = {"DCB": 1.3, "ENF": 2.24}  # openings from which the zone that softens is complete [mm]


def curve(process):
    """Openings, loads and loads of the closed forms that a run of the input printed."""
    return np.array([[float(x) for x in found.groups()] for found in LINE.finditer(process.stdout)]).T


def compare(test, process):
    """Hold the curve against its closed forms where the crack grows, and at the start; return the loads where it grows."""
    opening, load, theory = curve(process)
    start, growing = opening < WHOLE[test], opening > GROWING[test]
    assert start.any() and growing.sum() >= 3
    assert load[start] == pytest.approx(theory[start], rel=0.03)
    assert load[growing] == pytest.approx(theory[growing], rel=0.03)
    return np.interp(np.linspace(GROWING[test], opening[-1], 20), opening, load)


def test_a_double_cantilever_beam_carries_the_load_of_its_closed_forms(solfec):
    process = solfec("tutorial/peeling.py", "DCB")
    compare("DCB", process)
    assert "did not reach its accuracy" not in process.stderr


def test_an_end_notched_beam_carries_the_load_of_its_closed_forms(solfec):
    process = solfec("tutorial/peeling.py", "ENF")
    compare("ENF", process)
    assert "did not reach its accuracy" not in process.stderr


def test_steps_in_which_coarse_bonds_let_go_one_by_one_are_solved(solfec):
    """The zone that softens has five bonds, too few for the closed forms: the load drops by 3 % each time."""
    assert "did not reach its accuracy" not in solfec("tutorial/peeling.py", "ENF", 5, 100).stderr


def test_auto_peels_as_newton_does(solfec):
    loads = []
    for solver in ("NEWTON", "AUTO"):
        process = solfec("tutorial/peeling.py", "DCB", 5, 40, solver, switches=("-s", solver))
        assert "did not reach its accuracy" not in process.stderr
        loads.append(curve(process)[1])
    assert loads[1] == pytest.approx(loads[0], rel=0.01)


def test_gauss_seidel_says_that_it_cannot_follow(solfec):
    process = solfec("tutorial/peeling.py", "DCB", 5, 8, "GAUSS_SEIDEL")
    assert "bonds soften that their neighbours hold, which sweeps cannot follow: use NEWTON_SOLVER or AUTO_SOLVER" in process.stderr


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_auto_bends_an_end_notched_beam(solfec):
    compare("ENF", solfec("tutorial/peeling.py", "ENF", 2.5, 80, "AUTO"))


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("test, steps, layers", [("DCB", 80, (4, 8, 12)), ("ENF", 100, (4, 8, 16))])
def test_the_loads_do_not_depend_on_the_mesh(test, steps, layers, solfec):
    """Arms of so many layers of elements, 10 mm high in all; two layers are 5 % too stiff where an arm of DCB turns at the tip of the crack."""
    loads = []
    for count in layers:
        process = solfec("tutorial/peeling.py", test, 10 / count, steps, switches=("-s", f"layers-{count}"))
        assert "did not reach its accuracy" not in process.stderr
        loads.append(compare(test, process))
    for finer in loads[1:]:
        assert finer == pytest.approx(loads[0], rel=0.03)


YOUNG, STRENGTH, ENERGY = 3e10, 3e6, 100.0
WIDTH, HEIGHT, SPAN, BOND = 0.05, 0.1, 0.4, 5


def bent(count, steps, travel, cracks=False):
    """A beam of two bonded halves, or one that cracks in the middle, on two supports, pressed down there: deflections, loads, the model."""
    step = 5e-3  # a shorter one would add the inertia of the halves to the load
    solfec = s.SOLFEC("QUASI_STATIC", step, None, contacts="MANIFOLD")
    solfec.verbose = "OFF"
    s.CONTACT_OPTIONS(solfec, patch="OFF")
    s.SURFACE_MATERIAL(solfec)
    if not cracks:
        s.SURFACE_MATERIAL(solfec, BOND, BOND, model="COHESIVE", ft=STRENGTH, Gf=ENERGY)
    material = s.BULK_MATERIAL(solfec, model="KIRCHHOFF", young=YOUNG, poisson=0.0, density=2e3)
    corners = [x for z in (0, 1) for corner in ((0, 0), (1, 0), (1, 1), (0, 1)) for x in (*corner, z)]
    parts = [(0, SPAN)] if cracks else [(0, SPAN / 2), (SPAN / 2, SPAN)]
    bodies = []
    for low, high in parts:
        surfaces = [1, 1 if low == 0 else BOND, 1, 1 if high == SPAN else BOND, 1, 1]
        shape = s.HEX(corners, 2 * count // len(parts), 1, count, 1, surfaces)
        bodies.append(s.BODY(solfec, "FINITE_ELEMENT", s.TRANSLATE(s.SCALE(shape, (high - low, WIDTH, HEIGHT)), (low, 0, 0)), material, form="TL"))
        bodies[-1].scheme, bodies[-1].enhanced = "DEF_LIM", "ON"
    if cracks:
        s.SIMPLIFIED_CRACK(bodies[0], (SPAN / 2, 0, 0), (1, 0, 0), (2, 3), "TENSILE", ft=STRENGTH, Gf=ENERGY)
    pressed = []
    beside = SPAN / 2 / count if cracks else 0.0  # loads beside the plane go to both halves
    for side in (0, 1):
        for y in (0, WIDTH):
            for direction in ((0, 0, 1), (0, 1, 0)) if side else ((0, 0, 1), (0, 1, 0), (1, 0, 0)):
                s.FIX_DIRECTION(bodies[-side], (side * SPAN, y, HEIGHT / 2), direction)
            pressed.append(s.SET_VELOCITY(bodies[-side], (SPAN / 2 + (2 * side - 1) * beside, y, HEIGHT), (0, 0, -1), travel / steps / step))
    solver, loads = s.NEWTON_SOLVER(1e-10), []

    def note():
        assert solver.error == "OK" and not solver.fallback
        loads.append(abs(sum(c.R[2] for c in pressed)))
        return 1

    s.CALLBACK(solfec, step, (), note)
    s.RUN(solfec, solver, steps * step)
    return np.arange(1, steps + 1) * travel / steps, np.array(loads), solfec


@pytest.mark.parametrize("cracks", [False, True], ids=["bonded halves", "SIMPLIFIED_CRACK"])
def test_a_bent_beam_takes_the_fracture_energy_of_its_new_faces(cracks):
    """Its peak load lies between the elastic limit f W/L 4 and the plastic hinge, W = b h^2/6 and b h^2/2; the work of the load is what the crack took.

    The uppermost row of bonds is the hinge on which both halves turn, and does not open.
    """
    count = 10
    deflection, load, solfec = bent(count, 60, 8e-4, cracks)
    work = np.trapezoid(np.r_[0, load], np.r_[0, deflection])
    hinge = [c.point[2] for c in solfec.constraints if c.kind == "CONTACT"]
    assert hinge and min(hinge) > HEIGHT * (1 - 1 / count)
    assert work == pytest.approx(ENERGY * WIDTH * HEIGHT * (1 - 1 / count), rel=0.02)
    assert 4 * STRENGTH * WIDTH * HEIGHT**2 / 6 / SPAN < load.max() < 4 * STRENGTH * WIDTH * HEIGHT**2 / 2 / SPAN
    assert load[-1] < 1e-3 * load.max()


@pytest.mark.slow
def test_the_strength_of_a_bent_beam_does_not_depend_on_the_mesh():
    peaks = [bent(count, 100, 2e-4)[1].max() for count in (10, 20, 40)]
    assert peaks[1:] == pytest.approx([peaks[0]] * 2, rel=0.01)
