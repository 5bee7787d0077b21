"""TETRAHEDRALIZE and ELLIP_MESH: volume, identifiers, files, the stored mesh, refusals."""

from __future__ import annotations

import math
import struct
import sys

import numpy as np
import pytest
from sample_shapes import cube, unit_mesh

from solfec.errors import SolfecWarning
from solfec.shapes import surface_files, tetrahedra
from solfec.shapes.characteristics import characteristics
from solfec.shapes.clip import element_triangles
from solfec.shapes.ellipsoid_mesh import ellipsoid_mesh, ellipsoid_surface
from solfec.shapes.mesh import element_volumes
from solfec.shapes.surface_files import read_surface
from solfec.shapes.tetrahedralize import mesh_of_file, mesh_of_mesh, read_mesh, tetrahedral

SMESH = """# a box with markers and a region
8 3 0 0
1 0 0 0
2 1 0 0
3 1 1 0
4 0 1 0
5 0 0 1
6 1 0 1
7 1 1 1
8 0 1 1
6 1
4 1 4 3 2 11
4 1 2 6 5 12
4 2 3 7 6 13
4 3 4 8 7 14
4 1 5 8 4 15
4 5 6 7 8 0
0
1
1 .5 .5 .5 77
"""


@pytest.fixture
def tetgen():
    """The optional package."""
    return pytest.importorskip("tetgen", reason="the optional package tetgen is not installed")


def areas(mesh):
    """Area of the boundary by surface identifier."""
    topology = mesh.topology
    rows = np.flatnonzero(topology.boundary)
    a, b, c = (mesh.nodes[topology.face_nodes[rows, i]] for i in range(3))
    size = 0.5 * np.sqrt((np.cross(b - a, c - a) ** 2).sum(1))
    return {int(s): float(size[topology.face_surface[rows] == s].sum()) for s in np.unique(topology.face_surface[rows])}


def sizes(mesh):
    return element_volumes(mesh.nodes, mesh.topology.element_ptr, mesh.topology.element_nodes)


def surface_of(mesh):
    """Points and outward triangles of a mesh's boundary."""
    triangles, rows = element_triangles(mesh)
    return mesh.nodes, triangles[mesh.topology.boundary[rows]]


def lines(lead, rows):
    """Rows of numbers as text, each after the same words."""
    return "".join(lead + " ".join(map(repr, row)) + "\n" for row in rows)


def write_files(folder, points, triangles):
    """Write one surface in every format."""
    corners = points[triangles]
    facets = "".join(
        "facet normal 0 0 0\nouter loop\n" + lines("vertex ", t) + "endloop\nendfacet\n" for t in corners.tolist()
    )
    (folder / "text.stl").write_text(f"solid a\n{facets}endsolid a\n")
    record = b"".join(struct.pack("<12fH", 0, 0, 0, *t.ravel(), 0) for t in corners)
    (folder / "binary.stl").write_bytes(b"solid".ljust(80) + struct.pack("<I", len(corners)) + record)
    rows, faces = lines("", points.tolist()), lines("3 ", triangles.tolist())
    (folder / "a.off").write_text(f"OFF # a comment\n{len(points)} {len(triangles)} 0\n{rows}{faces}")
    head = f"element vertex {len(points)}\nproperty double x\nproperty double y\nproperty double z\nelement face {len(triangles)}\n"
    head += "property list uchar int vertex_indices\nend_header\n"
    (folder / "text.ply").write_text("ply\nformat ascii 1.0\n" + head + rows + faces)
    for name, order in (("little", "<"), ("big", ">")):
        body = b"".join(struct.pack(order + "3d", *p) for p in points)
        body += b"".join(struct.pack(order + "B3i", 3, *t) for t in triangles.tolist())
        (folder / f"{name}.ply").write_bytes(f"ply\nformat binary_{name}_endian 1.0\n{head}".encode() + body)
    facets, nodes = lines("1 0\n3 ", triangles.tolist()), lines("", [(i, *p) for i, p in enumerate(points.tolist())])
    (folder / "a.poly").write_text(f"{len(points)} 3 0 0\n{nodes}{len(triangles)} 0\n{facets}0\n0\n")
    return sorted(path for path in folder.iterdir() if path.suffix in (".stl", ".off", ".ply", ".poly"))


# --- meshes ------------------------------------------------------------------------------------------------


def test_tetrahedra_inherit_volume_and_identifiers(tetgen):
    mesh = unit_mesh(2, 2, 2)
    mesh.volume_ids = np.array([1, 2] * 4, np.int32)
    fine = mesh_of_mesh(mesh, volume=0.005, quality=1.5)
    assert characteristics(fine)[0] == pytest.approx(1.0)
    assert sizes(fine).min() > 0 and sizes(fine).max() <= 0.005 * (1 + 1e-9)
    assert areas(fine) == pytest.approx({s: 1.0 for s in range(11, 17)})
    for volume in (1, 2):
        part = fine.volume_ids == volume
        assert sizes(fine)[part].sum() == pytest.approx(0.5, abs=0.1)
        middles = fine.nodes[fine.topology.element_nodes.reshape(-1, 4)].mean(1)
        assert ((middles[part, 0] < 0.5) == (volume == 1)).all()


def test_given_identifiers_replace_those_that_are_missing(tetgen):
    mesh = unit_mesh(1, 1, 1, (0, 0, 0, 0, 0, 5))
    fine = mesh_of_mesh(mesh, volume_id=9, surface_id=8)
    assert set(fine.volume_ids.tolist()) == {9}
    assert areas(fine) == pytest.approx({8: 5.0, 5: 1.0})


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_units_do_not_matter(tetgen, scale):
    mesh = unit_mesh(2, 1, 1)
    one = mesh_of_mesh(mesh, 0.01, 1.5)
    mesh.scale(np.full(3, scale))
    two = mesh_of_mesh(mesh, 0.01 * scale**3, 1.5)
    assert characteristics(two)[0] / scale**3 == pytest.approx(1.0)
    assert len(two.nodes) == pytest.approx(len(one.nodes), rel=0.1)


def test_equal_input_gives_equal_meshes(tetgen):
    one, two = (mesh_of_mesh(unit_mesh(2, 2, 2), 0.01, 1.4) for _ in range(2))
    assert one.nodes.tobytes() == two.nodes.tobytes()
    assert one.topology.element_nodes.tobytes() == two.topology.element_nodes.tobytes()


# --- files -------------------------------------------------------------------------------------------------


def test_surfaces_in_all_formats_give_the_same_solid(tetgen, tmp_path):
    points, triangles = surface_of(unit_mesh(2, 2, 2))
    used = np.unique(triangles)
    files = write_files(tmp_path, points[used], np.searchsorted(used, triangles))
    assert len(files) == 7
    for path in files:
        mesh = mesh_of_file(str(path), 0.05, 2.0, 3, 4)
        assert characteristics(mesh)[0] == pytest.approx(1.0), path.name
        assert (areas(mesh), set(mesh.volume_ids.tolist())) == (pytest.approx({4: 6.0}), {3})


def test_markers_and_regions_of_a_file_are_the_identifiers(tetgen, tmp_path):
    (tmp_path / "box.smesh").write_text(SMESH)
    mesh = mesh_of_file(str(tmp_path / "box.smesh"), volume_id=3, surface_id=8)
    assert areas(mesh) == pytest.approx({11: 1, 12: 1, 13: 1, 14: 1, 15: 1, 8: 1})
    assert set(mesh.volume_ids.tolist()) == {77}


def test_open_surfaces_are_refused_by_edge_and_face(tetgen, tmp_path):
    points, triangles = surface_of(unit_mesh())
    path = [p for p in write_files(tmp_path, points, triangles[:-1]) if p.suffix == ".off"][0]
    with pytest.raises(ValueError, match=r"a.off.*open.*edge \d+-\d+ of face \d+"):
        mesh_of_file(str(path))


def test_surfaces_that_cross_themselves_are_refused_by_face(tetgen):
    polyhedron = cube().polyhedra[0]
    points = np.concatenate((polyhedron.vertices, polyhedron.vertices + (0.3, 0.4, 0.5)))
    triangles = np.concatenate((polyhedron.face_set.triangles, polyhedron.face_set.triangles + 8))
    with pytest.raises(ValueError, match=r"crosses itself: faces \d+ and \d+"):
        tetrahedra.tetrahedralize(points, triangles, np.zeros(24, int))


STL = """solid facet of a vertex
  facet normal 0 0 1
    outer loop
      vertex 0 0 0
      vertex 1 0 0
      vertex 0 1 0
    endloop
  endfacet
endsolid facet of a vertex
"""
PLY = """ply
format ascii 1.0
element vertex 3
property float x
property float y
property float z
element face 1
property list uchar int vertex_indices
end_header
0 0 0
1 0 0
0 1 0
3 0 1 2
"""


@pytest.mark.parametrize("name, text", [("a.stl", STL), ("a.stl", STL.replace("\n", " ").replace("endsolid", "\nendsolid")), ("a.ply", PLY),
                                        ("a.off", "OFF 3 1 0\n0 0 0 1 0 0 0 1 0\n3 0 1 2 255 0 0")])  # fmt: skip
def test_one_triangle_is_read(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    surface = read_surface(str(tmp_path / name))
    corners = surface.points[surface.triangles[0]]
    assert len(surface.triangles) == 1
    assert np.cross(corners[1] - corners[0], corners[2] - corners[0]).tolist() == [0, 0, 1]


@pytest.mark.parametrize(
    "name, text, words",
    [
        ("a.xyz", "", "not one of the surface files"),
        ("a.off", "OFF\n3 1 0\n0 0 0 1 0 0", "cannot be read as OFF"),
        ("a.off", "OFF\n3 1 0\n0 0 0 1 0 0 0 1 0\n3 0 1 1", "face 0 repeats a vertex"),
        ("a.off", "OFF\n3 1 0\n0 0 0 1 0 0 0 1 0\n3 0 1 7", "out of range"),
        ("a.off", "OFF\n3 1 0\n0 0 0 1 0 0 0 1 0\n3 0 1 2\n3 0 2 1", "'3 0 2 1' follows its last face"),
        ("a.stl", "solid\nendsolid", "holds no faces"),
        ("a.stl", STL.replace("endsolid", ""), "no 'endsolid'"),
        ("a.stl", STL.replace("vertex 0 1 0", "vertx 0 1 0"), "1 facets and 2 lines 'vertex x y z'"),
        ("a.stl", STL.replace("vertex 0 1 0", "vertex 0 1"), "a.stl' cannot be read as STL"),
        ("a.stl", STL.replace("0 1 0", "0 nan 0"), "a.stl.*nan|points"),
        ("a.stl", "cut" * 40, "facets need [0-9]+ bytes, and it has 120"),
        ("a.ply", PLY.replace("3 0 1 2", "3 0 1"), "a.ply' cannot be read as PLY: it ends too early"),
        ("a.ply", "plo", "no PLY header"),
        ("a.smesh", SMESH.replace("\n0\n1\n1 .5", "\n1\n1 .5 .5 .5\n1\n1 .5"), "holes"),
    ],
)
def test_bad_files_are_refused(tmp_path, name, text, words):
    (tmp_path / name).write_text(text)
    with pytest.raises(ValueError, match=words):
        read_surface(str(tmp_path / name))


# --- the stored mesh ---------------------------------------------------------------------------------------


def test_stored_mesh_wins_and_a_warning_says_when_it_is_another(tetgen, tmp_path):
    path = str(tmp_path / "deep" / "mesh.h5")
    first = tetrahedral(unit_mesh(2, 2, 2), path, 0.01, 1.5)
    again = tetrahedral(unit_mesh(2, 2, 2), path, 0.01, 1.5)
    assert again.nodes.tobytes() == first.nodes.tobytes()
    assert (again.topology.face_surface == first.topology.face_surface).all()
    assert (again.volume_ids == first.volume_ids).all()
    with pytest.warns(SolfecWarning, match="made of other input"):
        other = tetrahedral(unit_mesh(3, 2, 2), path, 0.01, 1.5)
    assert other.nodes.tobytes() == first.nodes.tobytes()


def test_stored_mesh_needs_neither_tetgen_nor_the_surface(tetgen, tmp_path, monkeypatch):
    path, surface = str(tmp_path / "mesh.h5"), tmp_path / "box.smesh"
    surface.write_text(SMESH)
    first = tetrahedral(str(surface), path)
    surface.unlink()
    monkeypatch.setitem(sys.modules, "tetgen._tetgen", None)
    assert tetrahedral(str(surface), path).nodes.tobytes() == first.nodes.tobytes()


def test_missing_package_is_named_with_the_command_that_installs_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "tetgen._tetgen", None)
    with pytest.raises(ImportError, match=r"package tetgen.*pip install 'solfec\[tetgen\]'"):
        tetrahedral(unit_mesh(), str(tmp_path / "mesh.h5"))
    assert not (tmp_path / "mesh.h5").exists()


def test_files_of_other_programs_are_not_taken_for_meshes(tmp_path):
    (tmp_path / "mesh.dat").write_text("something else")
    with pytest.raises(ValueError, match="does not hold a mesh"):
        read_mesh(str(tmp_path / "mesh.dat"))
    with pytest.raises(ValueError, match="does not hold a mesh"):
        tetrahedral(unit_mesh(), str(tmp_path / "mesh.dat"))


# --- ellipsoids --------------------------------------------------------------------------------------------


def test_ellipsoid_surface_starts_from_the_refined_icosahedron():
    points, triangles = ellipsoid_surface(np.ones(3), 1.0)
    assert (len(points), len(triangles)) == (42, 80)
    assert points[0].tolist() == [0, 0, 1] and np.sqrt((points**2).sum(1)) == pytest.approx(1)
    tetrahedra.check_closed(triangles)


@pytest.mark.parametrize("error", [0.05, 0.01])
def test_ellipsoid_surface_is_as_near_as_asked(error):
    radii = np.array([1.0, 2.0, 0.4])
    points, triangles = ellipsoid_surface(radii, error)
    tetrahedra.check_closed(triangles)
    assert ((points / radii) ** 2).sum(1) == pytest.approx(1)
    middles = 0.5 * (points[triangles] + points[np.roll(triangles, 1, axis=1)]).reshape(-1, 3)
    away = np.sqrt((middles**2).sum(1)) * (1 / np.sqrt(((middles / radii) ** 2).sum(1)) - 1)
    assert away.max() <= error


def test_ellipsoid_mesh_converges_to_the_volume(tetgen):
    loss = []
    for error in (0.02, 0.005):
        mesh = ellipsoid_mesh((1, 2, 3), (1, 2, 0.5), error, 4, 5)
        volume, centre, _ = characteristics(mesh)
        loss.append(1 - volume / (4 / 3 * math.pi))
        assert centre == pytest.approx((1, 2, 3), abs=1e-3)
        assert list(areas(mesh)) == [5] and set(mesh.volume_ids.tolist()) == {4}
    assert 0 < loss[1] < loss[0] < 0.05


def test_bad_ellipsoids_are_refused():
    with pytest.raises(ValueError, match="radii"):
        ellipsoid_mesh((0, 0, 0), (1, 0, 1), 0.1)
    with pytest.raises(ValueError, match="error"):
        ellipsoid_mesh((0, 0, 0), (1, 1, 1), 0.0)
    with pytest.raises(ValueError, match="300000 triangles"):
        ellipsoid_surface(np.ones(3), 1e-9)


def test_readers_cover_the_endings_that_the_documents_name():
    assert {".stl", ".off", ".ply", ".poly", ".smesh"} <= set(surface_files.READERS)
