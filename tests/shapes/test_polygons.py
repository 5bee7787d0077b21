"""Polygons that are not convex, with holes and polygons inside: cut into triangles that fill them once."""

import numpy as np
import pytest

from solfec.shapes.polygons import triangulate
from solfec.shapes.surface_files import read_surface

CORNER = np.array([(0, 0, 0), (1, 0, 0), (2, 0, 0), (2, 1, 0), (1, 1, 0), (1, 2, 0), (0, 2, 0)], float)  # an L, a straight corner


def area(points, triangle):
    a, b, c = points[list(triangle)]
    return 0.5 * np.cross(b - a, c - a)


def enclosed(flat, ring):
    x, y = flat[ring].T
    return 0.5 * abs(x @ np.roll(y, -1) - y @ np.roll(x, -1))


def round_about(rng, count, centre, low, high):
    """A ring of corners in the order of their angles, everywhere round the centre."""
    while True:
        angles = np.sort(rng.uniform(0, 2 * np.pi, count))
        if np.diff(np.append(angles, angles[0] + 2 * np.pi)).max() < 2.5:
            return centre + rng.uniform(low, high, (count, 1)) * np.c_[np.cos(angles), np.sin(angles)]


@pytest.mark.parametrize("seed", range(60))
def test_triangles_fill_what_rings_leave_once(seed):
    """Areas add up and all triangles turn the same way, so none overlap; random planes, directions of rings, holes."""
    rng = np.random.default_rng(seed)
    flat, rings, holes = round_about(rng, rng.integers(4, 30), 0.0, 1.6, 4.0), [], []
    rings.append(list(range(len(flat))))
    wanted = enclosed(flat, rings[0])
    for k in range(rng.integers(0, 5)):
        centre = 0.3 * np.array([np.cos(1.3 * k), np.sin(1.3 * k)])
        inner = round_about(rng, rng.integers(4, 8), centre, 0.05, 0.15)
        ring = list(range(len(flat), len(flat) + len(inner)))
        flat = np.vstack((flat, inner))
        if rng.random() < 0.5:
            holes.append(centre)
            wanted -= enclosed(flat, ring)
        rings.append(ring[::-1] if rng.random() < 0.5 else ring)
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    points = np.c_[flat, np.zeros(len(flat))] @ turn.T + rng.normal(size=3)
    triangles = triangulate(points, rings, [turn @ (*hole, 0) + points[0] - turn @ (*flat[0], 0) for hole in holes])
    areas = np.array([area(points, triangle) for triangle in triangles])
    assert np.linalg.norm(areas, axis=1).sum() == pytest.approx(wanted, rel=1e-10)
    assert np.linalg.norm(areas.sum(0)) == pytest.approx(wanted, rel=1e-10)
    assert {v for triangle in triangles for v in triangle} == {v for ring in rings for v in ring}


def test_convex_polygons_are_fans_and_turns_are_kept():
    square = np.array([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)], float)
    assert triangulate(square, [[0, 1, 2, 3]]) == [(0, 1, 2), (0, 2, 3)]
    for ring, sign in (list(range(7)), 1.0), (list(range(7))[::-1], -1.0):
        areas = np.array([area(CORNER, triangle) for triangle in triangulate(CORNER, [ring])])
        assert (sign * areas[:, 2] > 0.0).all() and areas.sum(0) == pytest.approx([0, 0, 3 * sign])


@pytest.mark.parametrize("rings, holes, words", [
    ([[0, 3, 1, 6]], [], "cross"),
    ([[0, 2, 5], [0, 3, 6]], [], "repeat a vertex"),
    ([[0, 1, 2]], [], "no area"),
    ([[0, 2, 3, 4, 5, 6]], [(5, 5, 0)], "in no polygon"),
])  # fmt: skip
def test_what_has_no_triangles_is_refused(rings, holes, words):
    with pytest.raises(ValueError, match=words):
        triangulate(CORNER, rings, holes)


L = [(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)]


def poly(path, ends):
    """A prism over the L; lines of its two ends' facets."""
    lines = ["12 3 0 0"] + [f"{k + 1} {x} {y} {z}" for k, (x, y, z) in enumerate([(*p, z) for z in (0, 1) for p in L])]
    lines += ["8 1", *ends]
    for k in range(6):
        lines += ["1 0 7", f"4 {k + 1} {(k + 1) % 6 + 1} {(k + 1) % 6 + 7} {k + 7}"]
    path.write_text("\n".join([*lines, "0", "0"]))
    return str(path)


def test_facets_of_poly_files_need_not_be_convex(tmp_path):
    surface = read_surface(poly(tmp_path / "l.poly", ["1 0 5", "6 6 5 4 3 2 1", "1 0 6", "6 7 8 9 10 11 12"]))
    corners = surface.points[surface.triangles]
    assert np.linalg.det(corners).sum() / 6 == pytest.approx(3.0)
    assert sorted(set(surface.marks.tolist())) == [5, 6, 7] and (surface.marks == 5).sum() == 4
    flat = surface.marks != 7
    assert np.abs(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])[flat, 2]).sum() / 2 == pytest.approx(6.0)


FRAME = """16 3 0 0
{points}
10 1
2 1 1
4 4 3 2 1
4 8 7 6 5
1 0.0 0.0 0.0
2 1 2
4 9 10 11 12
4 13 14 15 16
1 0.0 0.0 1.0
{sides}
0
0
"""


def test_facets_of_poly_files_have_holes(tmp_path):
    """A square tube: two ends with a square hole, four sides outside and four inside."""
    square = [(-1, -1), (1, -1), (1, 1), (-1, 1)]
    points = [(s * x, s * y, z) for z in (0, 1) for s in (2, 1) for x, y in square]
    sides = []
    for k in range(4):
        n = (k + 1) % 4
        sides += ["1 0 3", f"4 {k + 1} {n + 1} {n + 9} {k + 9}", "1 0 4", f"4 {n + 5} {k + 5} {k + 13} {n + 13}"]
    listed = "\n".join(f"{k + 1} {x} {y} {z}" for k, (x, y, z) in enumerate(points))
    path = tmp_path / "tube.poly"
    path.write_text(FRAME.format(points=listed, sides="\n".join(sides)))
    surface = read_surface(str(path))
    assert np.linalg.det(surface.points[surface.triangles]).sum() / 6 == pytest.approx(12.0)
    assert (surface.marks == 1).sum() == (surface.marks == 2).sum() == 8
