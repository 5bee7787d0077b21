"""Bodies that slide over flush tiles keep their motion, with steps and feet of any kind (contacts = 'MANIFOLD'); with friction they are slowed as on one floor."""

from math import cos, pi, sin

import numpy as np
import pytest

import solfec as s

TILE = 0.06


def box(low, high):
    (x, y, z), (X, Y, Z) = low, high
    return s.HULL([x, y, z, X, y, z, X, Y, z, x, Y, z, x, y, Z, X, y, Z, X, Y, Z, x, Y, Z], 1, 1)


def slide(corners, speed, step, time, friction=0.0, tile=TILE, kind="RIGID", rows=(-1.0, 1.0), thick=0.05):
    """Let a body slide along x over flush tiles, or over one floor (`tile` 0); return its velocity and its height at the end."""
    model = s.SOLFEC("DYNAMIC", step, contacts="MANIFOLD")
    model.verbose = "OFF"
    s.SURFACE_MATERIAL(model, friction=friction)
    bulk = s.BULK_MATERIAL(model, young=1e8, poisson=0.25, density=1000.0)
    s.GRAVITY(model, (0, 0, -10))
    seams = np.arange(-0.2, 1.0, tile) if tile else (-0.2, 1.0)
    for low, high in zip(seams[:-1], seams[1:]):
        for near, far in zip(rows[:-1], rows[1:]):
            s.BODY(model, "OBSTACLE", box((low, near, -thick), (high, far, 0)), bulk)
    body = s.BODY(model, kind, s.HULL(np.ravel(corners).tolist(), 1, 1), bulk)
    s.INITIAL_VELOCITY(body, (speed, 0, 0), (0, 0, 0))
    start = body.conf[-1]
    s.RUN(model, s.AUTO_SOLVER(1e-10), time)
    return body.velo[-3:], body.conf[-1] - start


def block(thickness, length=0.1):
    return [(x, y, z) for z in (0, thickness) for x in (0, length) for y in (-0.03, 0.03)]


BLOCKS = [(0.1, 1.5, 4e-3), (7e-3, 1.3, 4e-3), (0.02, 3.0, 2e-3), (0.1, 1.5, 2e-2), (0.02, 1.5, 1.2e-2)]  # the last two: by more than their margin
FOILS = [(1e-4, 1.0, 3e-3), (2e-6, 0.5, 2e-3)]  # rigid ones alone: of this material they vibrate faster than steps


@pytest.mark.parametrize(("thickness", "speed", "step", "kind"), [(*one, kind) for kind in ("RIGID", "PSEUDO_RIGID") for one in BLOCKS + FOILS * (kind == "RIGID")])
def test_a_block_or_a_foil_that_falls_by_more_than_a_sliver_in_a_step_passes_seams(thickness, speed, step, kind):
    """It falls by g h^2 on its predicted way to the next tile, which the tile under it prevents."""
    velocity, sunk = slide(block(thickness), speed, step, 0.25 / speed, kind=kind)
    assert velocity[0] == pytest.approx(speed, rel=1e-6 if kind == "RIGID" else 1e-2)
    assert abs(sunk) < 1e-8 + (1e-4 if kind == "PSEUDO_RIGID" else 0.0)


def test_friction_slows_such_a_block_as_on_one_floor():
    pieces, whole = (slide(block(0.02), 1.5, 4e-3, 0.16, 0.3, tile)[0][0] for tile in (TILE, 0.0))
    assert whole == pytest.approx(1.5 - 0.3 * 10 * 0.16, abs=1e-6)
    assert pieces == pytest.approx(whole, abs=1e-6)


@pytest.mark.parametrize("sides", [3, 4, 5, 9])
@pytest.mark.parametrize("speed", [0.2, 1.0, 3.0])
def test_the_foot_of_a_pyramid_passes_the_upright_edges_where_four_tiles_meet(speed, sides):
    """Its faces lean inwards, so that no normal of a face tells that it is beside such an edge."""
    angles = 0.2 + 2 * pi * np.arange(sides) / sides
    corners = [(0.1 * cos(a), 0.1 * sin(a), 0.0) for a in angles] + [(0, 0, 0.1)]
    velocity, sunk = slide(corners, speed, min(1e-3, 1e-3 / speed), 0.25 / speed, tile=0.2, rows=(-1.0, 0.03, 1.0), thick=0.3)
    np.testing.assert_allclose(velocity, (speed, 0, 0), atol=1e-6)
    assert abs(sunk) < 1e-8


def frustum(sides, chamfer, turn):
    """Corners of an upright prism with a chamfered foot."""
    angles = turn + 2 * pi * (np.arange(sides) + 0.5) / sides
    return [(r * cos(a), r * sin(a), z) for r, z in ((0.05 - chamfer, 0), (0.05, chamfer), (0.05, 0.1)) for a in angles]


def lying(sides):
    """Corners of a prism that lies on one of its sides."""
    angles = 2 * pi * (np.arange(sides) + 0.5) / sides - pi / 2
    return [(0.05 * cos(a), y, 0.05 * sin(a) + 0.05 * cos(pi / sides)) for a in angles for y in (-0.03, 0.03)]


@pytest.mark.parametrize(("speed", "step"), [(0.2, 1e-3), (1.0, 1e-3), (1.0, 4e-3), (3.0, 1e-3)])
@pytest.mark.parametrize(
    "corners",
    [frustum(4, 5e-3, 0.0), frustum(4, 5e-3, 0.1), frustum(8, 2e-3, 0.3), frustum(24, 5e-3, 0.1), lying(8), lying(24)],
    ids=["chamfered block", "turned one", "chamfered octagon", "chamfered disk", "lying octagon", "lying cylinder"],
)
def test_chamfered_blocks_and_prisms_pass_seams(corners, speed, step):
    """Their slanted faces come over the edges of tiles; no body moves into another."""
    velocity, sunk = slide(corners, speed, step, 0.3 / speed)
    np.testing.assert_allclose(velocity, (speed, 0, 0), atol=1e-6 * speed)
    assert abs(sunk) < 1e-8


def test_a_block_that_flies_at_a_wall_is_stopped_by_it():
    """What a body falls by within a step hides no wall that rises above its lower side."""
    model = s.SOLFEC("DYNAMIC", 4e-3, contacts="MANIFOLD")
    model.verbose = "OFF"
    s.SURFACE_MATERIAL(model, friction=0.0)
    bulk = s.BULK_MATERIAL(model, density=1000.0)
    s.GRAVITY(model, (0, 0, -10))
    s.BODY(model, "OBSTACLE", box((0.2, -1, -1), (0.3, 1, 0.01)), bulk)
    body = s.BODY(model, "RIGID", s.HULL(np.ravel(block(0.1)).tolist(), 1, 1), bulk)
    s.INITIAL_VELOCITY(body, (3, 0, 0.1), (0, 0, 0))
    s.RUN(model, s.AUTO_SOLVER(1e-10), 0.06)
    foot = np.array(body.conf[9:]) + np.reshape(body.conf[:9], (3, 3)).T @ (0.05, 0, -0.05)
    assert foot[0] < 0.2 + 1e-4  # it turns about its foot, which the top of the wall has met
    assert body.velo[-3] < 2.0
