"""MESH_READ: every format gives the same elements, faces and groups; what cannot be read is named."""

from __future__ import annotations

import sys
from pathlib import Path

import h5py
import numpy as np
import pytest

from solfec import BODY, BULK_MATERIAL, MESH_READ, SOLFEC
from solfec.errors import SolfecWarning
from solfec.shapes.characteristics import characteristics
from solfec.shapes.mesh import element_volumes
from solfec.shapes.mesh_files import read_mesh_file
from solfec.shapes.tetrahedra import MissingPackage

meshio = pytest.importorskip("meshio", reason="the optional package meshio is not installed")

POINTS = np.array([
    (9, 9, 9),  # not used by any element
    (0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1),
    (0.5, 0.5, 2), (2, 0, 0), (2, 0, 1), (0.5, -1, 2),
], float)  # fmt: skip
HEXAHEDRON, PYRAMID, WEDGE, TETRAHEDRON = [1, 2, 3, 4, 5, 6, 7, 8], [5, 6, 7, 8, 9], [2, 10, 3, 6, 11, 7], [5, 6, 9, 12]
KINDS = ("hexahedron", "pyramid", "wedge", "tetra")
VOLUMES = {8: 1.0, 5: 1 / 3, 6: 0.5, 4: 0.25}
BOTTOM, SIDE = [1, 2, 3, 4], [2, 10, 11, 6]  # a face of the hexahedron, a face of the wedge
FORMATS = {
    "a.msh": {}, "b.msh": dict(binary=False), "a.vtk": {}, "a.vtu": {}, "a.inp": {}, "a.med": {}, "a.mesh": {},
}  # fmt: skip


def sample(path=""):
    """A hexahedron, a pyramid, a wedge and a tetrahedron with two groups of faces, and groups as the format has them."""
    cells = [(k, np.array([n])) for k, n in zip(KINDS, (HEXAHEDRON, PYRAMID, WEDGE, TETRAHEDRON))] + [("quad", np.array([BOTTOM, SIDE]))]
    numbers = [np.array([7]), np.array([8]), np.array([8]), np.array([8]), np.array([3, 4])]
    mesh = meshio.Mesh(POINTS, cells)
    if path.endswith(".msh"):
        mesh.cell_data = {"gmsh:physical": numbers, "gmsh:geometrical": numbers}
        mesh.field_data = {"stone": np.array([7, 3]), "rest": np.array([8, 3]), "bottom": np.array([3, 2]), "side": np.array([4, 2])}
    elif path.endswith(".med"):
        mesh.cell_data = {"cell_tags": [-n for n in numbers]}
        mesh.cell_tags = {-7: ["stone"], -8: ["rest"], -3: ["bottom"], -4: ["side"]}
    elif path.endswith(".mesh"):
        mesh.cell_data = {"medit:ref": numbers}
    elif path.endswith((".vtk", ".vtu")):
        mesh.cell_data = {"part": numbers, "density": [n * 0.5 for n in numbers]}
    return mesh


ABAQUS = """*HEADING
** a comment
*NODE
NODES
*ELEMENT, TYPE=C3D8
11, 2, 3, 4, 5, 6, 7,
8, 9
*Element, type=C3D6, elset=REST
12, 3, 11, 4, 7, 12, 8
*ELEMENT, TYPE=C3D4, ELSET=REST
13, 6, 7, 10, 13
*ELEMENT, TYPE=S4
21, 2, 3, 4, 5
22, 3, 11, 12, 7
*ELSET, ELSET=Stone
11
*ELSET, ELSET=BOTTOM
21
*ELSET, ELSET=SIDE, GENERATE
22, 22, 1
MORE"""


def written(source, path, more="", **options):
    """Write a mesh; without its pyramid where the format has none in meshio."""
    if path.endswith(".inp"):
        nodes = "".join(f"{k + 1}, {x}, {y}, {z}\n" for k, (x, y, z) in enumerate(POINTS.tolist()))
        Path(path).write_text(ABAQUS.replace("NODES\n", nodes).replace("MORE", more))
        return
    if path.endswith(".mesh"):
        keep = [k for k, block in enumerate(source.cells) if block.type != "pyramid"]
        data = {name: [columns[k] for k in keep] for name, columns in source.cell_data.items()}
        source = meshio.Mesh(POINTS, [source.cells[k] for k in keep], cell_data=data)
    source.write(path, **dict(options, file_format="gmsh22") if path.endswith(".msh") else options)


def volumes_of(mesh):
    topology = mesh.topology
    return element_volumes(mesh.nodes, topology.element_ptr, topology.element_nodes)


def face_nodes(mesh, surface):
    """Corner coordinates of the outer faces with an identifier."""
    topology = mesh.topology
    rows = np.flatnonzero(topology.boundary & (topology.face_surface == surface))
    return {frozenset(map(tuple, mesh.nodes[topology.face_nodes[r, : topology.face_size[r]]].tolist())) for r in rows.tolist()}


def corners(numbers):
    return frozenset(map(tuple, POINTS[numbers].tolist()))


# --- formats -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FORMATS)
def test_file_gives_elements_faces_and_groups(name, tmp_path):
    path = str(tmp_path / name)
    source = sample(path)
    written(source, path, **FORMATS[name])
    mesh, groups = read_mesh_file(path)
    sizes = np.diff(mesh.topology.element_ptr)
    assert volumes_of(mesh) == pytest.approx([VOLUMES[s] for s in sizes.tolist()])
    assert len(mesh.nodes) == len(np.unique(np.concatenate((HEXAHEDRON, PYRAMID, WEDGE, TETRAHEDRON)))) and set(sizes.tolist()) == ({8, 6, 4} if name in ("a.mesh", "a.inp") else {8, 5, 6, 4})
    volume = dict(zip(sizes.tolist(), mesh.volume_ids.tolist()))
    named = name.endswith((".msh", ".inp", ".med"))
    stone, rest, bottom, side = ("stone", "rest", "bottom", "side") if named else (7, 8, 3, 4)
    if name == "a.inp":
        stone, rest, bottom, side = "STONE", "REST", "BOTTOM", "SIDE"
    assert set(groups["volumes"]) == {stone, rest} and set(groups["surfaces"]) == {bottom, side}
    if not name.endswith((".inp", ".med")):
        assert groups == {"volumes": {stone: 7, rest: 8}, "surfaces": {bottom: 3, side: 4}}
    assert volume[8] == groups["volumes"][stone] and {v for s, v in volume.items() if s != 8} == {groups["volumes"][rest]}
    assert face_nodes(mesh, groups["surfaces"][bottom]) == {corners(BOTTOM)}
    assert face_nodes(mesh, groups["surfaces"][side]) == {corners(SIDE)}


GMSH = """$MeshFormat
4.1 0 8
$EndMeshFormat
$PhysicalNames
2
2 3 "foot"
3 3 "stone"
$EndPhysicalNames
$Entities
0 0 1 1
1 0 0 0 1 1 0 1 3 0
1 0 0 0 1 1 1 1 3 1 1
$EndEntities
$Nodes
1 4 1 4
3 1 0 4
1
2
3
4
0 0 0
1 0 0
0 1 0
0 0 1
$EndNodes
$Elements
2 2 1 2
2 1 2 1
1 1 3 2
3 1 4 1
2 1 2 3 4
$EndElements
"""


def test_physical_groups_of_faces_and_elements_may_have_the_same_number(tmp_path):
    (tmp_path / "a.msh").write_text(GMSH)
    mesh, groups = read_mesh_file(str(tmp_path / "a.msh"))
    assert groups == {"volumes": {"stone": 3}, "surfaces": {"foot": 3}} and mesh.volume_ids.tolist() == [3]
    assert mesh.nodes_on_surface(3) == [0, 1, 2] and volumes_of(mesh) == pytest.approx([1 / 6])


def test_exodus_blocks_and_side_sets_become_groups(tmp_path):
    netcdf = pytest.importorskip("netCDF4", reason="the optional package netCDF4 is not installed")
    path = str(tmp_path / "a.e")
    cells = [(k, np.array([n])) for k, n in zip(KINDS, (HEXAHEDRON, PYRAMID, WEDGE, TETRAHEDRON))]
    meshio.Mesh(POINTS, cells, point_sets={"floor": np.array(BOTTOM)}).write(path)
    with netcdf.Dataset(path, "a") as file:
        file.variables["eb_prop1"][:] = [10, 20, 30, 40]
        file.createDimension("num_side_sets", 2)
        file.createVariable("ss_prop1", "i4", ("num_side_sets",))[:] = [5, 6]
        for k, (element, side) in enumerate(((1, 5), (3, 1))):
            file.createDimension(f"num_side_ss{k + 1}", 1)
            file.createVariable(f"elem_ss{k + 1}", "i4", (f"num_side_ss{k + 1}",))[:] = [element]
            file.createVariable(f"side_ss{k + 1}", "i4", (f"num_side_ss{k + 1}",))[:] = [side]
    mesh, groups = read_mesh_file(path)
    assert groups["volumes"] == {"block 10": 1, "block 20": 2, "block 30": 3, "block 40": 4}
    assert mesh.volume_ids.tolist() == [1, 2, 3, 4] and volumes_of(mesh) == pytest.approx([1, 1 / 3, 0.5, 0.25])
    assert face_nodes(mesh, groups["surfaces"]["side set 5"]) == {corners(BOTTOM)}
    assert face_nodes(mesh, groups["surfaces"]["side set 6"]) == {corners(SIDE)}
    mesh, groups = read_mesh_file(path, {"block 10": 4}, {"side set 6": 2, "floor": 9, None: 1})
    assert mesh.volume_ids.tolist() == [4, 0, 0, 0] and groups["surfaces"] == {"side set 6": 2, "floor": 9}
    assert (face_nodes(mesh, 9), face_nodes(mesh, 2)) == ({corners(BOTTOM)}, {corners(SIDE)})


def test_elements_listed_from_the_other_side_are_turned(tmp_path):
    turned = [[5, 6, 7, 8, 1, 2, 3, 4], [8, 7, 6, 5, 9], [6, 11, 7, 2, 10, 3], [6, 5, 9, 12]]
    meshio.Mesh(POINTS, [(k, np.array([n])) for k, n in zip(KINDS, turned)]).write(tmp_path / "a.vtu")
    assert volumes_of(read_mesh_file(str(tmp_path / "a.vtu"))[0]) == pytest.approx([1, 1 / 3, 0.5, 0.25])


@pytest.mark.parametrize("name", ["a.vtu", "a.inp", "a.med"])
def test_second_order_elements_are_reduced_to_corners_with_a_warning(name, tmp_path):
    tetrahedron = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], float)
    edges = [(0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3)]
    points = np.concatenate((tetrahedron, [tetrahedron[list(e)].mean(0) for e in edges]))
    cells = [("tetra10", np.arange(10)[None]), ("triangle6", np.array([[0, 1, 2, 4, 5, 6]]))]
    tags = {"cell_tags": [np.array([-1]), np.array([-2])]} if name == "a.med" else {}
    source = meshio.Mesh(points, cells, cell_data=tags)
    source.cell_tags = {-2: ["foot"]}
    source.write(tmp_path / name)
    with pytest.warns(SolfecWarning, match="tetra10.* are reduced to their corner nodes"):
        mesh, _ = read_mesh_file(str(tmp_path / name))
    assert len(mesh.nodes) == 4 and volumes_of(mesh) == pytest.approx([1 / 6])
    if name == "a.med":
        assert face_nodes(mesh, 1) == {frozenset(map(tuple, tetrahedron[:3].tolist()))}


# --- groups ------------------------------------------------------------------------------------------------


def test_identifiers_are_those_that_the_user_gives(tmp_path):
    path = str(tmp_path / "a.msh")
    written(sample(path), path)
    mesh, groups = read_mesh_file(path, {"stone": 70, None: 5}, {"side": 40, 3: 30, None: 1})
    assert groups == {"volumes": {"stone": 70}, "surfaces": {"side": 40, 3: 30}}
    assert mesh.volume_ids.tolist() == [70, 5, 5, 5]
    assert (face_nodes(mesh, 40), face_nodes(mesh, 30)) == ({corners(SIDE)}, {corners(BOTTOM)})
    assert len(face_nodes(mesh, 1)) == 12
    with pytest.raises(ValueError, match="no group 'brick' for 'volids'; it has 'stone', 'rest'"):
        read_mesh_file(path, {"brick": 1})


def test_first_of_overlapping_groups_counts_with_a_warning(tmp_path):
    path = str(tmp_path / "a.inp")
    written(None, path, "*ELSET, ELSET=ALL\nREST, 11\n")
    with pytest.warns(SolfecWarning, match="groups '(REST|STONE)' and 'ALL' .* overlap"):
        assert read_mesh_file(path)[0].volume_ids.tolist() == [2, 1, 1]
    assert read_mesh_file(path, {"ALL": 1, "STONE": 2})[0].volume_ids.tolist() == [1, 1, 1]
    assert read_mesh_file(path, {"STONE": 2, "ALL": 1})[0].volume_ids.tolist() == [2, 1, 1]


def test_faces_of_abaqus_surfaces_are_groups(tmp_path):
    path = str(tmp_path / "a.inp")
    more = "*SURFACE, NAME=under, TYPE=ELEMENT\nStone, S1\n12, S4\n*Surface, name=Skin\n13, S1\n22,\n"
    written(None, path, more)
    mesh, groups = read_mesh_file(path, surfaces={"UNDER": 5, "SKIN": 6})
    assert groups["surfaces"] == {"UNDER": 5, "SKIN": 6}
    assert face_nodes(mesh, 5) == {corners(BOTTOM), corners([10, 11, 7, 3])}
    assert face_nodes(mesh, 6) == {corners([5, 6, 9]), corners(SIDE)}


@pytest.mark.parametrize(("more", "message"), [
    ("*SURFACE, NAME=A\n12, S6\n", "the surface 'A' names face 'S6' of element 12; it has S1 to S5"),
    ("*SURFACE, NAME=A\n12\n", "the surface 'A' names face '' of element 12"),
    ("*SURFACE, NAME=A\n99, S1\n", "the surface 'A' names element 99, which is not there"),
    ("*ELSET, ELSET=A\n11, 99\n", "the element set 'A' names element 99, which is not there"),
    ("*ELSET, ELSET=A\nB\n", "names the set 'B', which is not there|Unknown cell set 'B'"),
    ("*ELEMENT, TYPE=C3D4\n13, 6, 7, 10, 13\n", "element numbers come twice"),
    ("*INSTANCE, NAME=A, PART=B\n1., 0., 0.\n", r"an \*INSTANCE with data"),
    ("*INCLUDE, INPUT=there.inp\n", "INCLUDE|there.inp"),
    ("*ELEMENT, TYPE=XYZ\n14, 6, 7, 10, 13\n", "Element type not available: XYZ"),
])  # fmt: skip
def test_abaqus_files_that_would_be_misread_are_errors(more, message, tmp_path):
    path = str(tmp_path / "a.inp")
    written(None, path, more)
    with pytest.raises(ValueError, match=message):
        read_mesh_file(path)


def test_faces_inside_a_mesh_are_no_surface_and_draw_a_warning(tmp_path):
    source = sample("a.vtu")
    source.cells[4].data[0] = [5, 6, 7, 8]  # between hexahedron and pyramid
    source.write(tmp_path / "a.vtu")
    with pytest.warns(SolfecWarning, match="1 faces of surface groups .* are no outer faces"):
        mesh, _ = read_mesh_file(str(tmp_path / "a.vtu"))
    assert not face_nodes(mesh, 3) and len(face_nodes(mesh, 4)) == 1


def test_several_integer_data_ask_for_a_name(tmp_path):
    source = sample("a.vtu")
    source.cell_data["other"] = [0 * n + 2 for n in source.cell_data["part"]]
    source.write(tmp_path / "a.vtu")
    with pytest.warns(SolfecWarning, match="several integer cell data, 'part', 'other'; name those"):
        assert set(read_mesh_file(str(tmp_path / "a.vtu"))[0].volume_ids.tolist()) == {0}
    assert set(read_mesh_file(str(tmp_path / "a.vtu"), data="part")[1]["volumes"]) == {7, 8}
    with pytest.raises(ValueError, match="are not integers"):
        read_mesh_file(str(tmp_path / "a.vtu"), data="density")
    with pytest.raises(ValueError, match="no cell data 'colour'; it has 'part', "):
        read_mesh_file(str(tmp_path / "a.vtu"), data="colour")


# --- refusals ----------------------------------------------------------------------------------------------


def test_cells_that_are_not_supported_are_named(tmp_path):
    path = str(tmp_path / "a.vtu")
    meshio.Mesh(POINTS, [("polygon", np.array([[1, 2, 3, 4, 9]]))]).write(path)
    with pytest.raises(ValueError, match="cells of the kind 'polygon', which are not supported; tetrahedra, "):
        read_mesh_file(path)


def test_file_without_elements_is_an_error(tmp_path):
    meshio.Mesh(POINTS, [("quad", np.array([BOTTOM]))]).write(tmp_path / "a.vtk")
    with pytest.raises(ValueError, match="holds no volume elements; a closed surface is for TETRAHEDRALIZE"):
        read_mesh_file(str(tmp_path / "a.vtk"))


MSH = """$MeshFormat
2.2 0 8
$EndMeshFormat
$Nodes
6
1 0 0 0
2 1 0 0
3 0 1 0
4 0 0 1
5 1 0 1
9 0 1 1
$EndNodes
$Elements
1
1 6 2 0 1 1 2 3 4 5 LAST
$EndElements
"""
VTK = "# vtk DataFile Version 3.0\nwedge\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 6 double\n0 0 0 1 0 0 0 1 0 0 0 1 1 0 1 0 1 1\nCELLS 1 7\n6 0 1 2 3 4 LAST\nCELL_TYPES 1\n13\n"


@pytest.mark.parametrize("name, text, whole, lost", [("a.msh", MSH, "9", "6"), ("a.vtk", VTK, "5", "-1")])
def test_an_element_with_a_node_that_is_not_there_is_an_error(name, text, whole, lost, tmp_path):
    """A wedge without its last node had become a pyramid in silence."""
    path = tmp_path / name
    path.write_text(text.replace("LAST", whole))
    assert MESH_READ(str(path)).nnod == 6
    path.write_text(text.replace("LAST", lost))
    with pytest.raises(ValueError, match=rf"{name}' uses a node number out of range"):
        MESH_READ(str(path))


def test_faulty_elements_are_named(tmp_path):
    flat = [("tetra", np.array([TETRAHEDRON, [1, 2, 3, 4]]))]
    meshio.Mesh(POINTS, flat).write(tmp_path / "a.vtu")
    with pytest.raises(ValueError, match="element 1 has no volume"):
        read_mesh_file(str(tmp_path / "a.vtu"))


@pytest.mark.parametrize("name", ["a.msh", "a.vtu", "a.vtk", "a.med", "a.inp", "a.xyz"])
def test_broken_files_do_not_end_the_program(name, tmp_path):
    (tmp_path / name).write_text("nonsense\n")
    with pytest.raises(ValueError, match=rf"a\.{name[2:]}' (cannot be read: \w+|holds no)"):
        read_mesh_file(str(tmp_path / name))


def test_of_a_med_file_with_several_mesh_steps_one_is_chosen(tmp_path):
    path = tmp_path / "a.med"
    sample("a.med").write(path)
    with h5py.File(path, "a") as file:
        (mesh,) = file["ENS_MAA"].values()
        for step in list(mesh):
            mesh.copy(step, f"{step}2")
            points = mesh[f"{step}2/NOE/COO"]
            points[...] = 3.0 * points[()]
    with pytest.raises(ValueError, match="cannot be read: it holds the mesh at 2 steps; choose one by 'step', 0 to 1"):
        read_mesh_file(str(path))
    with pytest.raises(ValueError, match="it has no step 2; there are 2, from 0 on"):
        read_mesh_file(str(path), step=2)
    first, last = MESH_READ(str(path), step=0), MESH_READ(str(path), step=-1)
    assert last.node(3) == pytest.approx(3 * np.array(first.node(3))) and last.nnod == first.nnod
    sample("b.med").write(tmp_path / "b.med")
    assert read_mesh_file(str(tmp_path / "b.med"), step=0)[1]["surfaces"] == {"bottom": 1, "side": 2}
    with pytest.raises(ValueError, match="'step' is for MED files"):
        read_mesh_file(str(tmp_path / "a.vtu"), step=0)


def test_missing_package_is_named_with_the_command_that_installs_it(tmp_path, monkeypatch):
    (tmp_path / "a.vtu").write_text("")
    monkeypatch.setitem(sys.modules, "meshio", None)
    with pytest.raises(MissingPackage, match=r"package meshio, .* run: pip install 'solfec\[meshio\]'"):
        read_mesh_file(str(tmp_path / "a.vtu"))


# --- the command -------------------------------------------------------------------------------------------


def test_command_makes_a_mesh_for_a_body(tmp_path):
    path, groups = str(tmp_path / "a.msh"), {}
    written(sample(path), path)
    mesh = MESH_READ(path, groups=groups)
    assert groups["surfaces"] == {"bottom": 3, "side": 4} and mesh.nodes_on_surface(3) == [0, 1, 2, 3]
    assert characteristics(mesh._content)[0] == pytest.approx(25 / 12)
    model = SOLFEC("DYNAMIC", 1e-3, str(tmp_path / "out"))
    assert BODY(model, "RIGID", mesh, BULK_MATERIAL(model, density=2)).mass == pytest.approx(25 / 6)


@pytest.mark.parametrize(("arguments", "message"), [
    (("there.msh",), "MESH_READ: 'path' names the file 'there.msh', which does not exist"),
    ((__file__, 1.5), "MESH_READ: 'volids' must be an integer"),
    ((__file__, {"a": "b"}), r"MESH_READ: 'volids\['a'\]' must be an integer"),
    ((__file__, 0, 0, []), "MESH_READ: 'groups' must be a dictionary"),
])  # fmt: skip
def test_wrong_arguments_are_named(arguments, message):
    with pytest.raises((TypeError, ValueError), match=message):
        MESH_READ(*arguments)
