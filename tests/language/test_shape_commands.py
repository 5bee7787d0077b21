"""Commands that make and take apart shapes: arguments, spellings, emptying, what they return."""

from __future__ import annotations

import copy
import math

import pytest
from unit_cube import CUBE

import solfec as s
from solfec.errors import SolfecWarning


def block(*counts):
    """A meshed unit cube."""
    return s.HEX(CUBE, *(counts or (2, 2, 2)), 1, [1, 2, 3, 4, 5, 6])


def test_ellipsoid_has_members_and_follows_transformations():
    ellipsoid = s.ELLIP((1, 0, 0), (1, 2, 3), 4, 5)
    assert (ellipsoid.center, ellipsoid.radii) == ((1, 0, 0), (1, 2, 3))
    assert ellipsoid.rot == (1, 0, 0, 0, 1, 0, 0, 0, 1)
    assert s.ROTATE(ellipsoid, (0, 0, 0), (0, 0, 1), 90) is ellipsoid
    assert ellipsoid.rot == pytest.approx((0, 1, 0, -1, 0, 0, 0, 0, 1))
    assert s.MASS_CENTER([s.TRANSLATE(s.COPY(ellipsoid), (0, 0, 1))]) == pytest.approx((0, 1, 1))
    assert s.SCALE(ellipsoid, (2, 2, 2)).radii == pytest.approx((2, 4, 6))
    with pytest.raises(ValueError, match="radii"):
        s.ELLIP((0, 0, 0), (1, -1, 1), 1, 1)
    with pytest.raises(ValueError, match="read-only"):
        ellipsoid.radii = (1, 1, 1)


def test_bodies_take_ellipsoids(tmp_path):
    model = s.SOLFEC("DYNAMIC", 1e-3, str(tmp_path / "out"))
    shape = s.ELLIP((1, 2, 3), (1, 2, 3), 1, 1)
    body = s.BODY(model, "RIGID", shape, s.BULK_MATERIAL(model, density=1.0))
    assert body.volume == pytest.approx(8 * math.pi)
    assert s.MASS_CENTER(body) == pytest.approx((1, 2, 3))
    with pytest.raises(ValueError, match="empty"):
        shape.radii  # noqa: B018


def test_both_spellings_of_misspelt_keywords_are_accepted():
    one = s.PIPE((0, 0, 0), (0, 0, 1), 1, 1, ndri=1, nrad=8, nthi=1, volid=1, surids=[1, 2, 3, 4, 5, 6])
    two = s.PIPE((0, 0, 0), (0, 0, 1), 1, 1, ndir=1, nrad=8, nthi=1, volid=1, surfids=[1, 2, 3, 4])
    assert one.get_data() == two.get_data()
    with pytest.raises(TypeError, match="both given"):
        s.PIPE((0, 0, 0), (0, 0, 1), 1, 1, ndir=1, ndri=1, nrad=8, nthi=1, volid=1, surids=[1, 2, 3, 4])


def test_elements_round_a_pipe_are_named():
    """Numbers round and across are easily exchanged: the manual says 'along the direction, radius and thickness'."""
    with pytest.raises(ValueError, match="'nrad', the number of elements round the axis, must be at least 3, it is 1; 'nthi' is that across"):
        s.PIPE((0, 0, 0), (0, 0, 1), 1, 1, ndir=1, nrad=1, nthi=8, volid=1, surfids=[1, 2, 3, 4])


def test_generators_leave_their_arguments_as_they_are():
    mesh = block()
    convexes = s.MESH2CONVEX(mesh)
    assert (mesh.nnod, convexes.nver) == (27, 8)
    assert s.ROUGH_HEX(convexes, 1, 1, 1).nnod == s.ROUGH_HEX([convexes], 1, 1, 1, dx=[1]).nnod == 8
    assert convexes.nver == 8
    with pytest.raises(TypeError, match="must be a CONVEX"):
        s.ROUGH_HEX(mesh, 1, 1, 1)


def test_convexes_of_warped_elements_that_overlap_draw_a_warning(recwarn):
    """A body of them is heavier than the mesh, which nothing else would tell."""
    mesh = block()
    s.MESH2CONVEX(mesh)
    assert not recwarn.list
    mesh.node(4, 0.5, 0.7, 0.0)  # the faces beside it are warped
    with pytest.warns(SolfecWarning, match=r"convexes overlap; they have 1\.\d+ times the volume of the mesh"):
        convexes = s.MESH2CONVEX(mesh)
    solfec = s.SOLFEC("DYNAMIC", 1e-3)
    bulk = s.BULK_MATERIAL(solfec, density=1.0)
    assert s.BODY(solfec, "RIGID", mesh, bulk).mass == pytest.approx(1.0) and s.BODY(solfec, "RIGID", convexes, bulk).mass > 1.001


def test_integration_points_are_tuples_by_identifier():
    mesh = block()
    assert len(mesh.surface_integration_points()) == 6 * 4 * 4
    assert len(mesh.surface_integration_points(3)) == 16 and mesh.surface_integration_points(9) == []
    points = mesh.volume_integration_points(volid=1)
    assert len(points) == 64 and isinstance(points[0], tuple)


@pytest.mark.parametrize("kind", ["RIGID", "PSEUDO_RIGID", "TL", "BC", "BC-MODAL"])
def test_faces_on_planes_in_space_are_those_of_the_body_where_it_is_now(kind):
    solfec = s.SOLFEC("DYNAMIC", 1e-3)
    solfec.verbose = "OFF"
    bulk = s.BULK_MATERIAL(solfec, young=1e6, density=1000)
    more = {"form": kind} if kind in ("TL", "BC") else {}
    if kind == "BC-MODAL":
        free = s.BODY(solfec, "FINITE_ELEMENT", block(), bulk)
        more = {"form": kind, "base": s.MODAL_ANALYSIS(free, 7)}
        s.DELETE(solfec, free)
    body = s.BODY(solfec, kind if "RIGID" in kind else "FINITE_ELEMENT", block(), bulk, **more)
    s.INITIAL_VELOCITY(body, (0, 0, 10), (0, 0, 0))
    mesh = body.mesh
    s.RUN(solfec, s.PENALTY_SOLVER(), 0.1)
    for height, there in ((0.5, 0), (1.5, 4)):
        plane = (0, 0, height), (0, 0, 1)
        assert len(mesh.inter_element_faces_on_plane(*plane)) == 4 - there
        assert len(mesh.inter_element_faces_on_plane(*plane, ref=False)) == there
        for copied in (s.COPY(mesh), copy.deepcopy(mesh)):
            assert len(copied.inter_element_faces_on_plane(*plane, ref=False)) == 4 - there  # of no body
    old = body.mesh
    s.TRANSLATE(mesh, (0, 0, 3))
    assert len(mesh.inter_element_faces_on_plane((0, 0, 4.5), (0, 0, 1), ref=False)) == 4  # it moves with the body from where it is put
    s.DELETE(solfec, body)
    with pytest.raises(ValueError, match="does not exist"):
        old.inter_element_faces_on_plane((0, 0, 1.5), (0, 0, 1), False)


def test_bend_returns_its_mesh():
    mesh = block()
    assert s.BEND(mesh, (0, 0, 3), (0, -1, 0), 10) is mesh
    with pytest.raises(ValueError, match="BEND: 'angle'"):
        s.BEND(mesh, (0, 0, 3), (0, -1, 0), -10)
    with pytest.raises(TypeError, match="must be a MESH"):
        s.BEND(s.SPHERE((0, 0, 0), 1, 1, 1), (0, 0, 3), (0, -1, 0), 10)


def test_split_empties_its_shapes_and_returns_below_and_above():
    hull, mesh = s.HULL(CUBE, 1, 1), block()
    below, above = s.SPLIT([mesh, hull], (0, 0, 0.5), (0, 0, 1), (7, 8))
    assert [type(part).__name__ for part in below] == ["CONVEX", "MESH"]
    assert s.MASS_CENTER(below)[2] == pytest.approx(0.25) and s.MASS_CENTER(above)[2] == pytest.approx(0.75)
    assert below[1].nodes_on_surface(7) == list(range(9, 18))
    assert above[1].nodes_on_surface(8) == list(range(9))
    with pytest.raises(ValueError, match="empty: its contents went into SPLIT"):
        mesh.nnod  # noqa: B018


def test_split_returns_none_for_the_empty_side():
    below, above = s.SPLIT(block(), (0, 0, 2), (0, 0, 1))
    assert below.nnod == 27 and above is None


def test_split_returns_the_upper_parts_first_when_asked():
    above, below = s.SPLIT(s.HULL(CUBE, 1, 1), (0, 0, 0.25), (0, 0, 1), (7, 8), first="ABOVE")
    assert s.MASS_CENTER(above)[2] == pytest.approx(0.625) and s.MASS_CENTER(below)[2] == pytest.approx(0.125)
    none, below = s.SPLIT(block(), (0, 0, 2), (0, 0, 1), first="ABOVE")
    assert none is None and below.nnod == 27


@pytest.mark.parametrize(
    "change, text",
    [
        ({"normal": (0, 0, 0)}, "normal"),
        ({"first": "LEFT"}, "first"),
        ({"surfid": (1,)}, "surfid"),
        ({"topoadj": "YES"}, "topoadj"),
        ({"remesh": "OFF"}, "passes through element"),
    ],
)
def test_failing_split_leaves_its_shapes(change, text):
    mesh = block(1, 1, 1)
    with pytest.raises(ValueError, match=text):
        s.SPLIT(**{"shape": mesh, "point": (0, 0, 0.5), "normal": (0, 0, 1), **change})
    assert mesh.nnod == 8


def test_spheres_and_ellipsoids_cannot_be_split():
    ball = s.SPHERE((0, 0, 0), 1, 1, 1)
    with pytest.raises(ValueError, match="SPHERE, which cannot be split"):
        s.SPLIT(ball, (0, 0, 0), (0, 0, 1))
    assert ball.radius == 1
    with pytest.raises(ValueError, match="ELLIP"):
        s.SPLIT([block(), s.ELLIP((0, 0, 0), (1, 1, 1), 1, 1)], (0, 0, 0), (0, 0, 1))


def test_mesh_split_returns_a_list_or_none():
    mesh = block()
    parts = s.MESH_SPLIT(mesh, faceset=mesh.inter_element_faces_on_plane((0, 0, 0.5), (0, 0, 1)), surfid1=7, surfid2=8)
    assert [part.nnod for part in parts] == [18, 18] and mesh.nnod == 27
    assert s.MESH_SPLIT(mesh, nodeset=[0, 1, 2]) is None
    with pytest.warns(SolfecWarning, match="not faces between"):
        assert s.MESH_SPLIT(mesh, faceset=[[0, 1, 4, 3]]) is None
    with pytest.raises(ValueError, match=r"MESH_SPLIT: 'faceset\[0\]' has 2"):
        s.MESH_SPLIT(mesh, faceset=[[0, 1]])


def test_overlapping_keeps_or_rejects_in_input_order():
    def balls():
        return [s.SPHERE((x, 0.5, 0.5), 0.2, 1, 1) for x in (3.0, 1.1, -0.1, -3.0)]

    wall = block()
    given = balls()
    assert [ball.center[0] for ball in s.OVERLAPPING(wall, given)] == [1.1, -0.1]
    assert [ball.center[0] for ball in s.OVERLAPPING([wall], balls(), "NOT")] == [3.0, -3.0]
    assert [ball.center[0] for ball in s.OVERLAPPING(wall, balls(), **{"not": "NOT"})] == [3.0, -3.0]
    assert s.OVERLAPPING(wall, balls()[0]) is None
    assert s.OVERLAPPING(wall, balls()[:2], gap=-0.05).center[0] == 1.1
    assert s.OVERLAPPING(wall, balls()[:2], gap=-0.15) is None
    assert wall.nnod == 27
    with pytest.raises(ValueError, match="went into OVERLAPPING"):
        given[0].radius  # noqa: B018


def test_overlapping_checks_before_it_empties():
    ball = s.SPHERE((0, 0, 0), 1, 1, 1)
    for arguments in (("YES",), ("NOT", 0.1)):
        with pytest.raises(ValueError):
            s.OVERLAPPING(block(), ball, *arguments)
    assert ball.radius == 1


def test_tetrahedra_take_all_six_arguments_and_come_back_from_the_file(tmp_path):
    pytest.importorskip("tetgen", reason="the optional package tetgen is not installed")
    path = str(tmp_path / "mesh.h5")
    mesh = block()
    one = s.TETRAHEDRALIZE(mesh, path, 0.1, 2.0, 3, 4)
    assert mesh.nnod == 27
    assert s.TETRAHEDRALIZE(shape=mesh, path=path, volume=0.1, quality=2.0, volid=3, surid=4).get_data() == one.get_data()
    with pytest.warns(SolfecWarning, match="other input"):
        assert s.TETRAHEDRALIZE(mesh, path).nnod == one.nnod
    assert one.get_data()[1][5] == 3
    assert s.ELLIP_MESH((0, 0, 0), (1, 2, 3), 0.1, 1, 1).nnod >= 42


@pytest.mark.parametrize(
    "change, error, text",
    [
        ({"volume": 0}, ValueError, "volume"),
        ({"quality": 1.0}, ValueError, "quality"),
        ({"shape": 3}, TypeError, "MESH object or the path"),
        ({"shape": "gone.stl"}, ValueError, "does not exist"),
        ({"path": 3}, TypeError, "path"),
    ],
)
def test_bad_arguments_of_tetrahedralize_are_named(tmp_path, change, error, text):
    with pytest.raises(error, match=text):
        s.TETRAHEDRALIZE(**{"shape": block(), "path": str(tmp_path / "mesh.h5"), **change})
