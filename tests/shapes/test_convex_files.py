"""CONVEX_READ: closed surfaces become convex polyhedra, others are refused or decomposed."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from solfec import CONVEX_READ
from solfec.errors import SolfecWarning
from solfec.shapes.characteristics import characteristics
from solfec.shapes.convex_files import read_convexes
from solfec.shapes.hull import hull
from solfec.shapes.surface_files import read_surface
from solfec.shapes.tetrahedra import MissingPackage

BOX = np.array([(x, y, z) for z in (0, 1) for y in (0, 1) for x in (0, 1)], float)
FACES = ((0, 2, 3, 1), (4, 5, 7, 6), (0, 1, 5, 4), (2, 6, 7, 3), (0, 4, 6, 2), (1, 3, 7, 5))


def write_obj(path, *bodies):
    """Bodies of (points, faces), one after another."""
    text, start = "# a comment\no body\n", 1
    for points, faces in bodies:
        text += "".join("v " + " ".join(map(repr, p)) + "\n" for p in np.asarray(points).tolist())
        text += "".join("f " + " ".join(f"{n + start}/1/1" for n in face) + "\n" for face in faces)
        start += len(points)
    path.write_text(text)
    return str(path)


def write_stl(path, points, faces):
    facets = ""
    for face in faces:
        for i in range(1, len(face) - 1):
            rows = "".join("vertex " + " ".join(map(repr, np.asarray(points)[n].tolist())) + "\n" for n in (face[0], face[i], face[i + 1]))
            facets += f"facet normal 0 0 0\nouter loop\n{rows}endloop\nendfacet\n"
    path.write_text(f"solid a\n{facets}endsolid a\n")
    return str(path)


def angle():
    """A prism over an L, volume 3."""
    outline = np.array([(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)], float)
    points = np.array([(x, y, z) for z in (0, 1) for x, y in outline])
    cap = [(0, 1, 2), (0, 2, 3), (0, 3, 5), (3, 4, 5)]
    sides = [(i, (i + 1) % 6, (i + 1) % 6 + 6, i + 6) for i in range(6)]
    return points, [f[::-1] for f in cap] + [tuple(n + 6 for n in f) for f in cap] + sides


def inverse(faces):
    return [face[::-1] for face in faces]


def test_convex_surface_is_one_polyhedron_with_merged_faces(tmp_path):
    for path in (write_obj(tmp_path / "a.obj", (BOX, FACES)), write_stl(tmp_path / "a.stl", BOX, FACES)):
        (box,) = read_convexes(path, 3, 4).polyhedra
        assert (len(box.vertices), len(box.faces), box.volume_id, set(box.surfaces.tolist())) == (8, 6, 3, {4})


def test_every_closed_surface_of_a_file_is_a_polyhedron(tmp_path):
    stone = hull(np.random.default_rng(1).normal(size=(60, 3))).polyhedra[0]
    path = write_obj(tmp_path / "a.obj", (BOX, FACES), (stone.vertices + 9.0, stone.faces), (BOX * 2 - 5.0, FACES))
    convex = read_convexes(path)
    assert [len(p.vertices) for p in convex.polyhedra] == [8, len(stone.vertices), 8]
    whole = characteristics(hull(stone.vertices))[0] + 9.0
    assert characteristics(convex)[0] == pytest.approx(whole)


def test_vertices_repeated_along_seams_are_joined(tmp_path):
    points = np.concatenate([BOX[list(face)] for face in FACES])
    path = write_obj(tmp_path / "a.obj", (points, [range(4 * k, 4 * k + 4) for k in range(6)]))
    assert len(read_convexes(path).polyhedra[0].vertices) == 8


def test_faces_that_look_inward_are_turned_with_a_warning(tmp_path):
    with pytest.warns(SolfecWarning, match="all faces in .* look inward"):
        convex = read_convexes(write_obj(tmp_path / "a.obj", (BOX, inverse(FACES))))
    assert characteristics(convex)[0] == pytest.approx(1.0)


def test_open_hollow_and_marked_surfaces_are_errors(tmp_path):
    with pytest.raises(ValueError, match="a.obj': the surface is open or not oriented: edge .* of face"):
        read_convexes(write_obj(tmp_path / "a.obj", (BOX, FACES[:-1])))
    with pytest.raises(ValueError, match="part 1 of '.*' looks inward: hollow bodies are for TETRAHEDRALIZE"):
        read_convexes(write_obj(tmp_path / "a.obj", (BOX * 3 - 1, FACES), (BOX, inverse(FACES))))


def test_surface_that_is_not_convex_is_an_error_that_says_what_helps(tmp_path):
    with pytest.raises(ValueError, match="part 1 of '.*' is not convex: it fills 85.71 % of its convex hull; give decompose='ON'"):
        read_convexes(write_obj(tmp_path / "a.obj", (BOX - 5, FACES), angle()))


@pytest.mark.parametrize("size", [1e-4, 1e4])
def test_surface_that_is_not_convex_is_decomposed(size, tmp_path):
    pytest.importorskip("coacd", reason="the optional package coacd is not installed")
    points, faces = angle()
    path = write_obj(tmp_path / "a.obj", (BOX * size - 5 * size, FACES), (points * size, faces))
    first, second = (read_convexes(path, 1, 2, 0.05, 1e-9 * size) for _ in range(2))
    assert len(first.polyhedra) == 3
    assert characteristics(first)[0] == pytest.approx(4.0 * size**3, rel=1e-3)
    assert all(np.array_equal(a.vertices, b.vertices) for a, b in zip(first.polyhedra, second.polyhedra))


def test_missing_package_is_named_with_the_command_that_installs_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "coacd", None)
    with pytest.raises(MissingPackage, match=r"package coacd, .* run: pip install 'solfec\[decompose\]'"):
        CONVEX_READ(write_obj(tmp_path / "a.obj", angle()), decompose="ON")


def test_obj_counts_negative_numbers_back_and_names_broken_files(tmp_path):
    (tmp_path / "a.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf -3 -2 -1\nv 0 0 1\nf 1// 2// 4//\n")
    assert read_surface(str(tmp_path / "a.obj")).triangles.tolist() == [[0, 1, 2], [0, 1, 3]]
    (tmp_path / "a.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n")
    with pytest.raises(ValueError, match="vertex number out of range"):
        read_surface(str(tmp_path / "a.obj"))


def test_command_checks_its_arguments(tmp_path):
    path = write_obj(tmp_path / "a.obj", (BOX, FACES))
    assert CONVEX_READ(path, 1, 2).nver == 8
    with pytest.raises(ValueError, match="CONVEX_READ: 'decompose' must be one of"):
        CONVEX_READ(path, decompose="YES")
    with pytest.raises(ValueError, match="CONVEX_READ: 'path' names the file 'a.obj', which does not exist"):
        CONVEX_READ("a.obj")
    with pytest.raises(ValueError, match="CONVEX_READ: 'concavity' must lie in"):
        CONVEX_READ(path, concavity=0)
