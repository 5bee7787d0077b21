"""Triangles of polygons that need not be convex and may have holes, by clipping of ears."""

from __future__ import annotations

import numpy as np

SMALL = 1e-12  # areas that are zero, over the square of the size


def triangulate(points: np.ndarray, rings: list[list[int]], holes=()) -> list[tuple[int, int, int]]:
    """Cut the plane area within rings into triangles with the orientation of the largest ring.

    Parameters
    ----------
    points : ndarray (n, 3)
        In units of length.
    rings : list of list of int
        Closed polygons of at least three vertices in one plane, in either sense. Rings inside others divide the area.
    holes : sequence of 3 numbers
        Points of the plane; the innermost ring round each of them bounds a hole.

    Returns
    -------
    list of (int, int, int)
        All vertices of rings are corners. A single convex polygon without straight corners is a fan about its first vertex.

    Raises
    ------
    ValueError
        Rings that touch or cross themselves or each other, or without area; a hole outside of all rings.
    """
    flat, place = _flattened(points, rings)
    areas = [_area(flat, ring) for ring in rings]
    limit = SMALL * float(np.ptp([flat[v] for ring in rings for v in ring], axis=0).max()) ** 2
    if min(abs(area) for area in areas) <= limit:
        raise ValueError("a polygon has no area")
    if len(rings) == 1 and not len(holes) and _is_convex(flat, rings[0], limit):
        ring = rings[0]
        return [(ring[0], ring[i], ring[i + 1]) for i in range(1, len(ring) - 1)]
    rings = [list(ring) if area > 0.0 else ring[::-1] for ring, area in zip(rings, areas)]
    _check_apart(flat, rings)
    by_size = sorted(range(len(rings)), key=lambda k: abs(areas[k]))
    around = [next((j for j in by_size if abs(areas[j]) > abs(areas[k]) and _inside(flat, rings[j], flat[rings[k][0]])), None)
              for k in range(len(rings))]  # fmt: skip
    empty = {_ring_round(flat, rings, by_size, place(hole)) for hole in holes}
    triangles = []
    for k, ring in enumerate(rings):
        if k not in empty:
            triangles += _ears(flat, _bridged(flat, ring, [rings[j][::-1] for j in by_size if around[j] == k]), limit)
    return triangles


def _flattened(points: np.ndarray, rings: list[list[int]]):
    """Return coordinates in the plane of the largest ring, in which it is counter-clockwise, and the function that computes them."""
    vectors = []
    for ring in rings:
        corners = points[ring] - points[ring[0]]
        vectors.append(0.5 * np.cross(corners, np.roll(corners, -1, axis=0)).sum(0))
    normal = max(vectors, key=lambda vector: float(vector @ vector))
    length = np.linalg.norm(normal)
    if not length > 0.0:
        raise ValueError("a polygon has no area")
    normal = normal / length
    first = np.cross(normal, np.eye(3)[np.argmin(np.abs(normal))])
    axes, origin = np.array([first / np.linalg.norm(first), np.cross(normal, first / np.linalg.norm(first))]), points[rings[0][0]]

    def place(point) -> np.ndarray:
        return axes @ (np.asarray(point, float) - origin)

    return {v: place(points[v]) for ring in rings for v in ring}, place


def _turn(a, b, c) -> float:
    """Twice the area of a triangle, positive where it is counter-clockwise."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _area(flat: dict, ring: list[int]) -> float:
    origin = flat[ring[0]]
    return 0.5 * sum(_turn(origin, flat[ring[i]], flat[ring[i + 1]]) for i in range(1, len(ring) - 1))


def _sides(ring: list[int]) -> list[tuple[int, int]]:
    return list(zip(ring, ring[1:] + ring[:1]))


def _is_convex(flat: dict, ring: list[int], limit: float) -> bool:
    """Whether all corners turn in one sense, by one full turn in total."""
    angle = 0.0
    for a, b, c in zip(ring, ring[1:] + ring[:1], ring[2:] + ring[:2]):
        turn = _turn(flat[a], flat[b], flat[c])
        if turn <= limit:
            return False
        angle += np.arctan2(turn, float((flat[b] - flat[a]) @ (flat[c] - flat[b])))
    return angle < 3.0 * np.pi


def _meet(a, b, c, d) -> bool:
    """Whether the segments a b and c d have a point in common."""
    one, two, three, four = np.sign(_turn(a, b, c)), np.sign(_turn(a, b, d)), np.sign(_turn(c, d, a)), np.sign(_turn(c, d, b))
    if one * two < 0 and three * four < 0:
        return True
    return any(
        turn == 0.0 and (np.minimum(p, q) <= x).all() and (x <= np.maximum(p, q)).all()
        for turn, p, q, x in ((one, a, b, c), (two, a, b, d), (three, c, d, a), (four, c, d, b))
    )


def _check_apart(flat: dict, rings: list[list[int]]) -> None:
    """Raise ValueError where sides have common points other than common ends."""
    sides = [side for ring in rings for side in _sides(ring)]
    used = [v for ring in rings for v in ring]
    if len(set(used)) < len(used):
        raise ValueError("polygons repeat a vertex")
    for k, (a, b) in enumerate(sides):
        for c, d in sides[k + 1 :]:
            if not {a, b} & {c, d} and _meet(flat[a], flat[b], flat[c], flat[d]):
                raise ValueError(f"polygons cross: the sides {a}-{b} and {c}-{d}")


def _inside(flat: dict, ring: list[int], point) -> bool:
    inside = False
    for a, b in _sides(ring):
        p, q = flat[a], flat[b]
        if (p[1] > point[1]) != (q[1] > point[1]) and (_turn(p, q, point) > 0.0) == (q[1] > p[1]):
            inside = not inside
    return inside


def _ring_round(flat: dict, rings: list[list[int]], by_size: list[int], point) -> int:
    found = next((k for k in by_size if _inside(flat, rings[k], point)), None)
    if found is None:
        raise ValueError("a hole's point is in no polygon")
    return found


def _bridged(flat: dict, ring: list[int], holes: list[list[int]]) -> list[int]:
    """Return one closed line round the area between a ring and its inner rings (clockwise), joined by bridges that it passes twice."""
    holes = sorted(holes, key=lambda hole: -max(flat[v][0] for v in hole))
    for number, hole in enumerate(holes):
        start = max(range(len(hole)), key=lambda i: flat[hole[i]][0])
        sides = [side for line in (ring, *holes[number:]) for side in _sides(line)]
        v = hole[start]
        for k in sorted(range(len(ring)), key=lambda k: float(((flat[ring[k]] - flat[v]) ** 2).sum())):
            clear = all({a, b} & {v, ring[k]} or not _meet(flat[v], flat[ring[k]], flat[a], flat[b]) for a, b in sides)
            if clear and _opens(flat, ring, k, v):
                ring = ring[: k + 1] + hole[start:] + hole[: start + 1] + ring[k:]
                break
        else:
            raise ValueError("no bridge to a polygon inside another")
    return ring


def _opens(flat: dict, ring: list[int], k: int, v: int) -> bool:
    """Whether a line leaves corner k of a ring to the inside; this selects the right pass of a vertex that is passed twice."""
    before, corner, after, x = (flat[n] for n in (ring[k - 1], ring[k], ring[(k + 1) % len(ring)], v))
    left, right = _turn(before, corner, x) > 0.0, _turn(corner, after, x) > 0.0
    return left and right if _turn(before, corner, after) > 0.0 else left or right


def _ears(flat: dict, ring: list[int], limit: float) -> list[tuple[int, int, int]]:
    """Triangles of a closed line; the least acute ear is cut first."""
    triangles = []
    while len(ring) > 2:
        best, quality = -1, 0.0
        for k in range(len(ring)):
            a, b, c = ring[k - 1], ring[k], ring[(k + 1) % len(ring)]
            turn = _turn(flat[a], flat[b], flat[c])
            longest = max(float(((flat[p] - flat[q]) ** 2).sum()) for p, q in ((a, b), (b, c), (c, a)))
            if turn > limit and turn > quality * longest and not _covers(flat, (a, b, c), ring):
                best, quality = k, turn / longest
        if best < 0:
            raise ValueError("it cannot be cut into triangles: its corners are not in a plane, or it crosses itself")
        triangles.append((ring[best - 1], ring[best], ring[(best + 1) % len(ring)]))
        ring = ring[:best] + ring[best + 1 :]
    return triangles


def _covers(flat: dict, corners: tuple[int, int, int], ring: list[int]) -> bool:
    """Whether a triangle has another vertex of the line in it or on its sides."""
    a, b, c = (flat[v] for v in corners)
    return any(
        v not in corners and _turn(a, b, flat[v]) >= 0.0 and _turn(b, c, flat[v]) >= 0.0 and _turn(c, a, flat[v]) >= 0.0 for v in ring
    )
