"""Masonry: patches meet in points that belong to three and more bodies, and every joint needs its own."""

import pytest

from solfec import AUTO_SOLVER, BODY, BULK_MATERIAL, CONTACT_OPTIONS, GAUSS_SEIDEL_SOLVER, GRAVITY, HULL, NEWTON_SOLVER, RUN, SOLFEC, SURFACE_MATERIAL

LENGTH, WIDTH, HEIGHT = 0.4, 0.3, 0.2


def box(low, high):
    x, y, z = zip(low, high)
    return HULL([c for a in x for b in y for d in z for c in (a, b, d)], 1, 1)


def wall(path, columns, rows):
    """A wall in running bond on an obstacle; joints are flush."""
    model = SOLFEC("DYNAMIC", 1e-3, str(path))
    model.verbose = "OFF"
    SURFACE_MATERIAL(model, friction=0.6)
    CONTACT_OPTIONS(model, patch="ON")
    bulk = BULK_MATERIAL(model, density=2000.0)
    GRAVITY(model, (0, 0, -9.81))
    BODY(model, "OBSTACLE", box((-1, -1, -0.2), (6, 1, 0)), bulk)
    for row in range(rows):
        for column in range(columns):
            x = (column + 0.5 * (row % 2)) * LENGTH
            corner = (x + LENGTH, WIDTH / 2, (row + 1) * HEIGHT)
            BODY(model, "RIGID", box((x, -WIDTH / 2, row * HEIGHT), corner), bulk)
    return model


def fastest(model):
    return max(abs(v) for body in model.bodies for v in body.velo)


@pytest.mark.parametrize("solver", (lambda: AUTO_SOLVER(1e-8), lambda: GAUSS_SEIDEL_SOLVER(1e-10, 10000), lambda: NEWTON_SOLVER(1e-16)))
def test_every_joint_keeps_its_points_from_the_first_step(tmp_path, solver):
    """Points that coincide with those of other pairs had gone, and blocks fell freely."""
    model, solver = wall(tmp_path / "wall", 2, 3), solver()
    RUN(model, solver, 1e-3)
    supports = {frozenset(body.id for body in c.adjbod) for c in model.constraints if abs(c.base[8]) > 0.5}
    assert len(supports) == 2 + 2 * 3  # two on the floor; three bed joints beneath each of the upper courses
    for _ in range(4):
        assert fastest(model) < 1e-7
        RUN(model, solver, 1e-3)


def test_a_wall_of_200_blocks_stands_from_the_first_step(tmp_path):
    model, solver = wall(tmp_path / "wall", 10, 20), AUTO_SOLVER(1e-8)
    for _ in range(2):
        RUN(model, solver, 1e-3)
        assert fastest(model) < 1e-8
