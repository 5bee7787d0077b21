"""What a user changes between two RUNs, or in a callback, holds from the next step: a block on a floor, pushed along it by gravity."""

from __future__ import annotations

import pytest

PUSH, WEIGHT, FRICTION, SECONDS = 3.0, 10.0, 0.4, 0.1  # accelerations; the block sticks

MODEL = """
    solfec = SOLFEC('DYNAMIC', 1E-3, 'out/changed', contacts='MANIFOLD')
    solfec.verbose = 'OFF'
    GRAVITY(solfec, (3, 0, -10))
    default = SURFACE_MATERIAL(solfec, friction=0.4)
    bulk = BULK_MATERIAL(solfec, density=1E3)
    cube = [0,0,0, 1,0,0, 1,1,0, 0,1,0, 0,0,1, 1,0,1, 1,1,1, 0,1,1]
    floor = BODY(solfec, 'OBSTACLE', TRANSLATE(SCALE(HULL(cube, 1, 1), (9, 9, 1)), (-4, -4, -1)), bulk)
    block = BODY(solfec, 'RIGID', SCALE(HULL(cube, 2, 2), (1, 1, 0.25)), bulk)
    centre = (.5, .5, .125)
    {before}
    def change():
        {change}
    {runs}
    print(block.velo[3])
"""

RUNS = "RUN(solfec, {solver}, 0.1); print(block.velo[3]); change(); RUN(solfec, {solver}, 0.1)"
CALLBACK = """
    def look():
        if abs(solfec.time - 0.1) < 1E-9: print(block.velo[3]); change()
        return 1
    CALLBACK(solfec, 1E-3, (), look)
    RUN(solfec, {solver}, 0.2)"""

# change, acceleration that it gives
CHANGES = {
    "friction": ("default.friction = 0", PUSH),
    "the same material again": ("SURFACE_MATERIAL(solfec, friction=0.1)", PUSH - 0.1 * WEIGHT),
    "a material of both surfaces": ("SURFACE_MATERIAL(solfec, 1, 2, friction=0.2)", PUSH - 0.2 * WEIGHT),
    "a material of one surface": ("SURFACE_MATERIAL(solfec, 2, friction=0)", PUSH),
    "gravity": ("GRAVITY(solfec, (10, 0, -10))", 10.0 - FRICTION * WEIGHT),
    "a step": ("default.friction = 0; solfec.step = 5E-4", PUSH),
    "a force": ("FORCE(block, 'SPATIAL', centre, (1, 0, 0), 500.0)", PUSH + 2.0 - FRICTION * WEIGHT),
    "mass": ("FORCE(block, 'SPATIAL', centre, (1, 0, 0), 500.0); BODY_CHARS(block, 125, .25, centre, (9, 0, 0, 0, 9, 0, 0, 0, 9))", PUSH + 4.0 - FRICTION * WEIGHT),
    "a velocity": ("INITIAL_VELOCITY(block, (2, 0, 0), (0, 0, 0))", 2.0 / SECONDS + PUSH - FRICTION * WEIGHT),
    "a fixed direction": ("default.friction = 0; FIX_DIRECTION(block, centre, (1, 0, 0))", 0.0),
    "a moving floor": (
        "SET_VELOCITY(floor, (.5, .5, -.5), (1, 0, 0), 5.0); FIX_DIRECTION(floor, (.5, .5, -.5), (0, 1, 0)); FIX_DIRECTION(floor, (.5, .5, -.5), (0, 0, 1))",
        PUSH + FRICTION * WEIGHT,
    ),
    "contacts that are excluded": ("CONTACT_EXCLUDE_SURFACES(solfec, 1, 2)", PUSH),
}  # fmt: skip


@pytest.mark.parametrize("runs", [RUNS, pytest.param(CALLBACK, marks=pytest.mark.slow)], ids=["runs", "callback"])
@pytest.mark.parametrize("solver", [
    "AUTO_SOLVER()", *(pytest.param(solver, marks=pytest.mark.slow) for solver in ("GAUSS_SEIDEL_SOLVER(1E-8, 1000)", "NEWTON_SOLVER(1E-14, 100)")),
], ids=["auto", "gauss-seidel", "newton"])  # fmt: skip
@pytest.mark.parametrize("name", CHANGES)
def test_a_change_holds_from_the_next_step(good, name, solver, runs):
    change, acceleration = CHANGES[name]
    text = MODEL.format(before="", change=change, runs=runs.format(solver=solver))
    stuck, slid = (float(word) for word in good(text, "-w", "-y").split())
    assert abs(stuck) < 1e-6
    assert slid == pytest.approx(acceleration * SECONDS, rel=0.02, abs=1e-6)  # a contact answers to a change within a step or two


def test_what_is_deleted_holds_no_longer(good):
    text = MODEL.format(
        before="held = FIX_DIRECTION(block, centre, (1, 0, 0)); default.friction = 0", change="DELETE(solfec, held)", runs=RUNS.format(solver="AUTO_SOLVER()")
    )
    stuck, slid = (float(word) for word in good(text, "-w", "-y").split())
    assert abs(stuck) < 1e-9 and slid == pytest.approx(PUSH * SECONDS, rel=1e-6)
