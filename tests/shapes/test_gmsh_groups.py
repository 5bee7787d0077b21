"""MESH_READ of gmsh files of version 4.1, text and binary: elements in no, one or several physical groups."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from solfec.errors import SolfecWarning
from solfec.shapes.mesh_files import read_mesh_file

pytest.importorskip("meshio", reason="the optional package meshio is not installed")

POINTS = [(x, y, z) for z in (0, 1, 2) for x, y in ((0, 0), (1, 0), (1, 1), (0, 1))]
HEXAHEDRON, QUADRILATERAL = 5, 3
BLOCKS = {  # of entities (dimension, tag): two stacked cubes, the lowest and the uppermost face, and two at a side
    (3, 1): [[1, 2, 3, 4, 5, 6, 7, 8]], (3, 2): [[5, 6, 7, 8, 9, 10, 11, 12]],
    (2, 1): [[1, 4, 3, 2]], (2, 2): [[9, 10, 11, 12]], (2, 3): [[1, 2, 6, 5], [5, 6, 10, 9]],
}  # fmt: skip
NAMES = {(3, 7): "stone", (3, 8): "rest", (3, 9): "all", (2, 3): "bottom", (2, 6): "both ends"}


def gmsh_file(groups, names, binary, end=b"\n"):
    """A file in which entities (dimension, tag) are in physical groups; those missing are in none."""

    def put(kind, *values):
        return struct.pack(f"={len(values)}{kind}", *values) if binary else (" ".join(map(str, values)) + " ").encode()

    def entity(dimension, tag):
        numbers = groups.get((dimension, tag), [])
        return put("i", tag) + put("d", *[0.0] * 6) + put("Q", len(numbers)) + put("i", *numbers) + put("Q", 1) + put("i", -1)

    def section(name, content):
        return b"$" + name + end + content + end + b"$End" + name + end

    called = "\n".join([str(len(names)), *(f'{d} {n} "{name}"' for (d, n), name in names.items())]).encode()
    nodes = [put("Q", 1, 12, 1, 12), put("i", 3, 1, 0), put("Q", 12, *range(1, 13)), *(put("d", *map(float, p)) for p in POINTS)]
    elements, count = [put("Q", 5, 6, 1, 6)], 0
    for (dimension, tag), block in BLOCKS.items():
        elements += [put("i", dimension, tag, HEXAHEDRON if dimension == 3 else QUADRILATERAL), put("Q", len(block))]
        for corners in block:
            count += 1
            elements.append(put("Q", count, *corners))
    corner = put("i", 1) + put("d", 0.0, 0.0, 0.0) + put("Q", 0)
    entities = [put("Q", 1, 0, 3, 2), corner, *(entity(2, k) for k in (1, 2, 3)), *(entity(3, k) for k in (1, 2))]
    separator = b"" if binary else end
    return b"".join([
        section(b"MeshFormat", b"4.1 %d 8" % binary + (end + struct.pack("=i", 1) if binary else b"")),
        section(b"PhysicalNames", called) if names else b"", section(b"Entities", separator.join(entities)),
        section(b"Nodes", separator.join(nodes)), section(b"Elements", separator.join(elements)),
    ])  # fmt: skip


@pytest.fixture(params=[False, True], ids=["text", "binary"])
def read(request, tmp_path):
    def read_groups(groups, names=NAMES, volumes=0, surfaces=0, **options):
        path = tmp_path / "a.msh"
        path.write_bytes(gmsh_file(groups, names, request.param, **options))
        mesh, found = read_mesh_file(str(path), volumes, surfaces)
        topology = mesh.topology
        faces = np.sort(topology.face_surface[topology.boundary & (topology.face_surface != 0)])
        return mesh.volume_ids.tolist(), faces.tolist(), found

    return read_groups


ONE_EACH = {(3, 1): [7], (3, 2): [8], (2, 1): [3], (2, 2): [4], (2, 3): [5]}


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_physical_groups_are_identifiers_and_keep_their_names(read, end):
    volumes, faces, found = read(ONE_EACH, end=end)
    assert volumes == [7, 8] and faces == [3, 4, 5, 5]
    assert found == {"volumes": {"stone": 7, "rest": 8}, "surfaces": {"bottom": 3, 4: 4, 5: 5}}


def test_elements_may_be_in_no_group(read):
    """As gmsh saves them with Mesh.SaveAll, or when only some surfaces matter."""
    volumes, faces, found = read({(3, 1): [7], (2, 1): [3]})
    assert volumes == [7, 0] and faces == [3]
    assert found == {"volumes": {"stone": 7}, "surfaces": {"bottom": 3}}
    assert read({}) == ([0, 0], [], {"volumes": {}, "surfaces": {}})


def test_elements_may_be_in_several_groups(read):
    several = {(3, 1): [7, 9], (3, 2): [8, 9], (2, 1): [3, 6], (2, 2): [6]}
    volumes, faces, _ = read(several, volumes={"all": 5}, surfaces={"both ends": 11})
    assert volumes == [5, 5] and faces == [11, 11]
    volumes, faces, _ = read(several, volumes={"rest": 1, 9: 2}, surfaces={3: 4, "both ends": 11})
    assert volumes == [2, 1] and faces == [4, 11]
    with pytest.warns(SolfecWarning, match="overlap"):
        assert read(several)[:2] == ([7, 8], [3, 6])


def test_groups_of_faces_and_of_elements_may_share_a_name_and_reversed_faces_are_in_their_group(read):
    groups = {(3, 1): [7], (3, 2): [7], (2, 1): [-7], (2, 2): [7]}
    volumes, faces, found = read(groups, {(3, 7): "both", (2, 7): "both"})
    assert volumes == [7, 7] and faces == [7, 7] and found == {"volumes": {"both": 7}, "surfaces": {"both": 7}}


@pytest.mark.parametrize("binary", [False, True])
@pytest.mark.parametrize("every", [10, pytest.param(1, marks=pytest.mark.slow)])
def test_damaged_files_are_errors(every, binary, tmp_path):
    whole = gmsh_file(ONE_EACH, NAMES, binary)
    path, random = tmp_path / "a.msh", np.random.default_rng(2)
    at = whole.index(b"$Entities")
    for length in range(at, len(whole) - 40, 29 * every):
        path.write_bytes(whole[:length])
        with pytest.raises(ValueError, match="cannot be read"):
            read_mesh_file(str(path))
    for _ in range(60 // every):  # another byte here and there: an error or a mesh, but nothing else
        damaged = bytearray(whole)
        damaged[random.integers(at, whole.index(b"$EndEntities"))] = random.integers(256)
        path.write_bytes(damaged)
        try:
            mesh, _ = read_mesh_file(str(path))
        except ValueError:
            continue
        assert len(mesh.volume_ids) == 2


def test_partitions_are_refused(tmp_path):
    path = tmp_path / "a.msh"
    path.write_bytes(gmsh_file(ONE_EACH, {}, False) + b"$PartitionedEntities\n$EndPartitionedEntities\n")
    with pytest.raises(ValueError, match="without them"):
        read_mesh_file(str(path))
