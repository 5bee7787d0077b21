"""Contacts, volumes and distances against numbers computed with Solfec-1.0 and with an exact half-space enumeration.

`convex_intersection.npz`: pairs of polyhedra with volume and area of the exact intersection and the contact that
Solfec-1.0 found.  Its normal depends on how it happened to cut polygons into triangles; `mean_fan_normal` is
recomputed from the intersection polygons that it stored, averaging over all fans of each polygon, and `cancellation`
is the length of that sum over the sum of its weights (zero when the normals cancel).  The mean is NaN where corners closer
than 2e-5 of the size make it ambiguous.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import numpy as np
import pytest
from builders import Ball, Polyhedron, compiled, from_planes

from solfec.contact import narrow

ROOT = Path(__file__).parents[2]
DATA = ROOT / "tests" / "data" / "contact"
SHARED = [p / "shared" / "reference" / "kernels" / "convex_intersection.json" for p in ROOT.parents]


def _rows(data, name, i):
    return data[name][data[name + "_ptr"][i] : data[name + "_ptr"][i + 1]]


@pytest.fixture(scope="module")
def data():
    return dict(np.load(DATA / "convex_intersection.npz"))


@pytest.fixture(scope="module")
def pairs(data):
    """Both polyhedra of every pair."""
    return [
        [from_planes(*(_rows(data, f"{side}_{part}", i) for part in ("vertices", "planes", "surfaces"))) for side in "ab"]
        for i in range(len(data["eps"]))
    ]


def contact_of(pair, epsilon):
    result = narrow.NarrowResult(capacity=1)
    narrow.narrow_phase(
        compiled(pair, epsilon), 1, np.zeros(1, "i4"), np.ones(1, "i4"), epsilon, False, result
    )
    return result


@pytest.fixture(scope="module")
def found(data, pairs):
    """Our contacts of all pairs, as one result."""
    result = narrow.NarrowResult(capacity=len(pairs))
    result.n = len(pairs)
    for i, pair in enumerate(pairs):
        one = contact_of(pair, data["eps"][i])
        for name in result.COLUMNS:
            getattr(result, name)[..., i] = getattr(one, name)[..., 0]
    return result


def pair_size(pair):
    return max(np.ptp(shape.vertices, axis=0).max() for shape in pair)


def check_exact_volumes(pairs, volumes):
    shapes = [shape for pair in pairs for shape in pair]
    first = np.arange(0, len(shapes), 2, dtype="i4")
    volume, _, _ = narrow.overlap_volumes(compiled(shapes), first, first + 1)
    size = np.array([pair_size(pair) for pair in pairs])
    assert (np.abs(volume - volumes) <= 1e-9 * volumes + 1e-13 * size**3).all()


def test_volume_of_every_intersection_is_exact(data, pairs):
    check_exact_volumes(pairs, np.nan_to_num(data["exact_volume"]))


@pytest.fixture(scope="module")
def from_files():
    """The sixteen pairs of Solfec-1.0's own test data, which are not part of the project, and their polyhedra."""
    path = next((p for p in SHARED if p.exists()), None)
    if path is None:
        warnings.warn("pairs of category `file` are not part of the project: skipped", stacklevel=1)
        pytest.skip("pairs of category `file` are not here")
    cases = [c for c in json.loads(path.read_text())["cases"] if c["name"].startswith("cvi.")]
    return cases, [
        [from_planes(*(c[f"{s}_{part}"] for part in ("vertices", "planes", "surfaces"))) for s in "ab"] for c in cases
    ]


def test_volume_is_exact_for_pairs_from_files(from_files):
    cases, sides = from_files
    check_exact_volumes(sides, np.array([c["exact_volume"] or 0.0 for c in cases]))


def test_contacts_of_pairs_from_files_agree(from_files):
    """All but the normal and the gap of one pair, whose normals cancel; and one pair is in contact within the tolerance.

    Facets of two pairs have many corners; their normals depend on how Solfec-1.0 cut them into triangles.
    """
    compared = cancelled = within_tolerance = 0
    for case, pair in zip(*from_files):
        result, expected, epsilon, size = contact_of(pair, case["eps"]), case["contact"], case["eps"], pair_size(pair)
        assert result.status[0] == (case["distance"] <= epsilon)
        if expected is None:
            within_tolerance += result.status[0]
            continue
        assert result.outward[0] == 0 and expected["outward"] == 1
        assert np.linalg.norm(result.slave_point[:, 0] - expected["point"]) <= 2 * epsilon
        assert abs(result.area[0] - expected["area"]) <= epsilon * max(12 * size, lengths_of_sides(case))
        for k, side in enumerate("ab"):
            planes, surfaces = np.array(case[f"{side}_planes"]), np.array(case[f"{side}_surfaces"])
            ours, theirs = (surfaces == surface for surface in (result.surface[k, 0], expected["surfaces"][k]))
            away = away_from(planes, expected["point"])
            assert away[ours].min() <= away[theirs].min() + 4 * epsilon
        if result.degenerate[0]:
            cancelled += 1
            continue
        turned = np.linalg.norm(result.normal[:, 0] - expected["normal"])
        assert turned <= (1e-3 if len(case["triangles"]) <= 20 else 0.1)
        assert abs(result.gap[0] - expected["gap"]) <= 2 * epsilon + 1.5 * size * turned
        compared += 1
    assert (compared, cancelled, within_tolerance) == (13, 1, 1)


def lengths_of_sides(case):
    """Half the sum of the sides of the intersection's triangles: planes moved by epsilon change facets along them."""
    corners = np.array(case["vertices"])[np.array(case["triangles"])]
    return 0.5 * np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).sum()


def away_from(planes, point):
    """Distances of a point from planes (n, 6: normal, point)."""
    normals = planes[:, :3] / np.linalg.norm(planes[:, :3], axis=1)[:, None]
    return np.abs(((np.asarray(point) - planes[:, 3:]) * normals).sum(axis=1))


def test_surface_and_centroid_of_an_intersection(data, pairs):
    """Surface areas are the exact ones; centroids are where the intersection of mirrored pairs has them."""
    shapes = [shape for pair in pairs for shape in pair]
    first = np.arange(0, len(shapes), 2, dtype="i4")
    volume, centroid, area = narrow.overlap_volumes(compiled(shapes), first, first + 1)
    size = np.array([pair_size(pair) for pair in pairs])
    solid = data["exact_volume"] > 1e-9 * size**3
    np.testing.assert_allclose(area[solid], data["exact_area"][solid], rtol=1e-9)
    mirrored = [shape.moved(shift=(5, -3, 2)) for shape in shapes]
    _, moved, _ = narrow.overlap_volumes(compiled(mirrored), first, first + 1)
    shift = moved[:, solid] - centroid[:, solid] - np.array([[5], [-3], [2]])
    assert (np.abs(shift) < 1e-8 * size[solid]).all()


def test_contact_wherever_the_distance_is_within_the_tolerance(data, found):
    certain = np.abs(data["distance"] - data["eps"]) > 1e-3 * data["eps"]
    touching = data["distance"] <= data["eps"]
    np.testing.assert_array_equal(found.view("status")[certain] == 1, touching[certain])


def test_no_contact_of_solfec_is_lost(data, found):
    assert found.view("status")[data["contact"]].all()


def compared(data, found):
    """Pairs whose contact can be compared: Solfec's intersection is right and its normals do not cancel."""
    return data["contact"] & data["trustworthy"] & (data["cancellation"] > 1e-7) & (found.view("degenerate") == 0)


def test_points_agree(data, pairs, found):
    """Within the shift that moving planes by the tolerance makes; Solfec-1.0 is off for flat tetrahedra."""
    rows = np.flatnonzero(compared(data, found) & ~np.char.startswith(data["name"], "flat tet"))
    distance = np.linalg.norm(found.slave_point[:, rows].T - data["contact_point"][rows], axis=1)
    extent = np.sqrt(data["contact_area"][rows])
    depth = np.maximum(-data["contact_gap"][rows], data["eps"][rows])
    assert (distance <= 5 * data["eps"][rows] * np.maximum(1, extent / depth)).all()
    generic = np.isin(data["category"][rows], ["random_boxes", "random_hulls", "face_face", "nested"])
    assert (distance[generic] <= 2e-6).all()


def test_areas_are_half_the_surface_of_the_intersection(data, pairs, found):
    """Solfec-1.0's own areas differ from the exact ones by up to 1 % for flat tetrahedra."""
    rows = np.flatnonzero((found.view("status") == 1) & (data["exact_volume"] > 0))
    size = np.array([pair_size(pairs[i]) for i in rows])
    difference = np.abs(found.area[rows] - 0.5 * data["exact_area"][rows])
    assert (difference <= 12 * data["eps"][rows] * size).all()


def test_areas_of_touching_pairs_agree(data, pairs, found):
    rows = np.flatnonzero(data["contact"] & ~(data["exact_volume"] > 0))
    size = np.array([pair_size(pairs[i]) for i in rows])
    difference = np.abs(found.area[rows] - data["contact_area"][rows])
    assert (difference <= 12 * data["eps"][rows] * size).all()


def test_normals_agree_with_the_mean_over_fans(data, found):
    rows = np.flatnonzero(compared(data, found) & np.isfinite(data["mean_fan_normal"][:, 0]))
    difference = np.abs(found.normal[:, rows].T - data["mean_fan_normal"][rows]).max(axis=1)
    relative = data["eps"][rows] / np.sqrt(data["contact_area"][rows] + data["eps"][rows] ** 2)
    assert (difference <= 5e-6 + 5 * relative / data["cancellation"][rows]).all()


def test_gaps_agree_as_far_as_the_normals_do(data, pairs, found):
    rows = np.flatnonzero(compared(data, found))
    normals = np.linalg.norm(found.normal[:, rows].T - data["normal"][rows], axis=1)
    size = np.array([pair_size(pairs[i]) for i in rows])
    difference = np.abs(found.gap[rows] - data["contact_gap"][rows])
    assert (difference <= 2 * data["eps"][rows] + 1.5 * size * normals).all()
    same = normals < 1e-6
    assert same.sum() > 60
    assert (difference[same] <= 2e-6).all()


def test_surfaces_are_the_nearest_planes(data, pairs, found):
    """Equal to Solfec's, unless two planes are equally near (then round-off or the tolerance decided there)."""
    rows = np.flatnonzero(compared(data, found))
    for i in rows:
        for k, side in enumerate("ab"):
            surfaces = _rows(data, f"{side}_surfaces", i)
            distance = away_from(_rows(data, f"{side}_planes", i), data["contact_point"][i])
            ours = distance[surfaces == found.surface[k, i]].min()
            reached = distance[surfaces == data["contact_surfaces"][i, k]].min()
            assert ours <= reached + 4 * data["eps"][i]


def test_degenerate_contacts_are_those_whose_normals_cancel(data, found):
    degenerate = found.view("degenerate") == 1
    assert (data["cancellation"][degenerate & data["contact"] & data["trustworthy"]] < 1e-7).all()
    assert (found.gap[: found.n][degenerate] < 0).all()
    np.testing.assert_allclose(np.linalg.norm(found.view("normal")[:, degenerate], axis=0), 1)


def _shape(data, side, i):
    x, radius = _rows(data, side, i), data[side + "_radius"][i]
    return Polyhedron(x, []) if np.isnan(radius) else Ball(x[0], radius)


def test_distances_agree_and_are_certified():
    """The distance is between Solfec's certificate from below and its value; the points attain it."""
    data = dict(np.load(DATA / "gjk_distance.npz"))
    shapes = [_shape(data, side, i) for i in range(len(data["distance"])) for side in ("one", "two")]
    first = np.arange(0, len(shapes), 2, dtype="i4")
    distance, p, q = narrow.gjk_distance(compiled(shapes), first, first + 1)
    size = np.array([pair_extent(shapes[2 * i], shapes[2 * i + 1]) for i in range(len(first))])
    assert (distance <= data["distance"] + 1e-12 * size).all()
    assert (distance >= data["certified_lower_bound"] - 1e-12 * size).all()
    np.testing.assert_allclose(np.linalg.norm(p - q, axis=0), distance, atol=1e-12 * size.max())
    for i in np.flatnonzero(distance > 1e-9 * size):
        n = (q[:, i] - p[:, i]) / distance[i]
        separation = -highest(shapes[2 * i + 1], -n) - highest(shapes[2 * i], n)
        assert separation == pytest.approx(distance[i], abs=1e-12 * size[i] + 1e-15 * size[i] ** 2 / distance[i])


def pair_extent(a, b):
    x = np.vstack([np.atleast_2d(s.centre if isinstance(s, Ball) else s.vertices) for s in (a, b)])
    return np.ptp(x, axis=0).max()


def highest(shape, direction):
    if isinstance(shape, Ball):
        return shape.centre @ direction + shape.radius
    return (shape.vertices @ direction).max()


CURVED = json.loads((DATA / "curved_contact.json").read_text())


def _curved_shape(c):
    if "radius" in c:
        return Ball(np.array(c["center"]), c["radius"], c["surface"])
    return from_planes(c["vertices"], c["planes"], c["surfaces"])


@pytest.mark.parametrize("case", CURVED["cases"], ids=lambda c: f"{c['index']}-{c['kind']}-{c['name']}")
def test_sphere_contacts_agree(case):
    one, two = _curved_shape(case["one"]), _curved_shape(case["two"])
    result = contact_of([one, two], CURVED["eps"])
    expected = case["contact"]
    assert result.status[0] == (expected is not None)
    if expected is None:
        return
    if expected["normal"][0] is None:  # Solfec-1.0 divides by zero
        assert np.isfinite(result.normal[:, 0]).all() and result.gap[0] == -one.radius - two.radius
        return
    if isinstance(one, Polyhedron):
        inside = max((two.centre - np.array(p[3:])) @ p[:3] for p in case["one"]["planes"]) <= 0
        if inside:  # Solfec-1.0 has a noise normal there
            assert result.gap[0] <= -two.radius
            return
    sign = 1 if expected["outward"] == result.outward[0] + 1 else -1
    assert sign == 1
    slave, master = ("point_one", "point_two")[:: 1 if result.outward[0] == 0 else -1]
    np.testing.assert_allclose(result.normal[:, 0], expected["normal"], atol=5e-6)
    np.testing.assert_allclose(result.slave_point[:, 0], expected[slave], atol=2e-6)
    np.testing.assert_allclose(result.master_point[:, 0], expected[master], atol=2e-6)
    assert result.gap[0] == pytest.approx(expected["gap"], abs=2e-6)
    assert result.area[0] == 1
    surfaces = expected["surfaces"][:: 1 if result.outward[0] == 0 else -1]
    assert list(result.surface[:, 0]) == surfaces
