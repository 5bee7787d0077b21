"""MED files: what medcoupling, meshio and MESH_READ find in them, and what Solfec reads from those of other programs."""

from __future__ import annotations

import numpy as np
import pytest

import solfec as language
import solfec as s

mc = pytest.importorskip("medcoupling", reason="MED files need it: pip install 'solfec[med]'")
meshio = pytest.importorskip("meshio", reason="a second reader of MED files: pip install 'solfec[meshio]'")

CUBE = [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1]
ELEMENTS = {  # nodes, element, volume
    "tetrahedron": ([0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1], [4, 0, 1, 2, 3], 1 / 6),
    "pyramid": ([0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0.5, 0.5, 1], [5, 0, 1, 2, 3, 4], 1 / 3),
    "wedge": ([0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 0, 1, 1], [6, 0, 1, 2, 3, 4, 5], 1 / 2),
    "hexahedron": (CUBE, [8, 0, 1, 2, 3, 4, 5, 6, 7], 1.0),
}


def model(path=None, **arguments):
    solfec = s.SOLFEC("DYNAMIC", 1e-3, *([] if path is None else [str(path)]), **arguments)
    solfec.verbose = "OFF"
    return solfec, s.BULK_MATERIAL(solfec, "KIRCHHOFF", "steel", young=1e7, poisson=0.25, density=1000)


def values(path, name, place=None, step=-1):
    """A field by medcoupling."""
    iteration, order, _ = mc.GetAllFieldIterations(path, name)[step]
    return mc.ReadField(mc.ON_NODES if place is None else place, path, "SOLFEC", 0, name, iteration, order).getArray().toNumPyArray()


def signed_volume(points):
    """Volume of an element, positive in the order of MESH: by its faces, as seen from outside."""
    faces = {
        4: [(0, 2, 1), (0, 1, 3), (1, 2, 3), (2, 0, 3)], 5: [(0, 3, 2, 1), (0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4)],
        6: [(0, 2, 1), (3, 4, 5), (0, 1, 4, 3), (1, 2, 5, 4), (2, 0, 3, 5)],
        8: [(0, 3, 2, 1), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7)],
    }[len(points)]  # fmt: skip
    return sum(np.dot(points[face[0]], np.cross(points[face[k]], points[face[k + 1]])) / 6 for face in faces for k in range(1, len(face) - 1))


@pytest.mark.parametrize("writer", ["medcoupling", "meshio"])
@pytest.mark.parametrize("name", ELEMENTS)
def test_files_of_other_programs_have_volumes_and_fields_that_solfec_reads(name, writer, tmp_path):
    nodes, element, volume = ELEMENTS[name]
    points, path = np.reshape(nodes, (-1, 3)), str(tmp_path / "other.med")
    field = np.sin(np.arange(points.size)).reshape(-1, 3)
    if writer == "medcoupling":
        kinds = {4: mc.NORM_TETRA4, 5: mc.NORM_PYRA5, 6: mc.NORM_PENTA6, 8: mc.NORM_HEXA8}
        mesh = mc.MEDCouplingUMesh("other", 3)
        mesh.setCoords(mc.DataArrayDouble(points.tolist()))
        mesh.allocateCells(1)
        mesh.insertNextCell(kinds[element[0]], element[1:])
        mesh.finishInsertingCells()
        mesh.findAndCorrectBadOriented3DCells()  # MED's order, by medcoupling itself
        mc.WriteUMesh(path, mesh, True)
        for k, time in enumerate((0.0, 0.5)):
            written = mc.MEDCouplingFieldDouble(mc.ON_NODES, mc.ONE_TIME)
            written.setName("DEPL")
            written.setMesh(mesh)
            written.setTime(time, k, 0)
            written.setArray(mc.DataArrayDouble(((k + 1) * field).tolist()))
            mc.WriteFieldUsingAlreadyWrittenMesh(path, written)
    else:
        kind = {"tetrahedron": "tetra"}.get(name, name)
        meshio.Mesh(points, [(kind, [element[1:]])], point_data={"DEPL": field}).write(path)
    mesh = s.MESH_READ(path)
    order = mesh.get_data()[1]
    assert signed_volume(points[order[1 : 1 + element[0]]]) == pytest.approx(volume)  # the order of MESH, whatever side the file lists
    solfec, steel = model()
    body = s.BODY(solfec, "FINITE_ELEMENT", mesh, steel)
    assert body.mass == pytest.approx(1000 * volume)
    assert s.MED_FIELD(path, "DEPL", body=body) == pytest.approx(((2 if writer == "medcoupling" else 1) * field).ravel(), abs=0)


@pytest.mark.parametrize("name", ELEMENTS)
def test_elements_of_each_type_have_their_volumes_groups_and_values_in_all_readers(name, tmp_path):
    solfec, steel = model()
    nodes, element, volume = ELEMENTS[name]
    mesh = s.MESH(nodes, [*element, 7], [3, 3, 0, 1, 2, 5] if element[0] == 4 else 3)
    given = mesh.get_data()
    body = s.BODY(solfec, "FINITE_ELEMENT", mesh, steel)
    rate = np.arange(len(nodes)) / 7.0
    body.conf, body.velo = 1e-3 * rate**2, rate
    path = str(tmp_path / "one.med")
    s.MED_EXPORT(solfec, 0, path, attributes=["DISP", "VELO", "STRESS"])

    read = mc.ReadUMeshFromFile(path, "SOLFEC")
    assert read.getMeasureField(True).getArray().getValues() == pytest.approx([volume])
    assert read.findAndCorrectBadOriented3DCells().getNumberOfTuples() == 0  # listed as MED wants
    assert values(path, "DISP").ravel() == pytest.approx(np.array(body.conf), abs=0)
    stress = values(path, "STRESS_OF_CELLS", mc.ON_CELLS)[0]
    if name != "pyramid":  # whose centre in coordinates of the element is another point
        assert stress == pytest.approx(s.STRESS(body, tuple(np.mean(np.reshape(nodes, (-1, 3)), axis=0)))[:6])

    other = meshio.read(path)
    (at,) = [k for k, block in enumerate(other.cells) if block.dim == 3]
    assert other.cells[at].type == {"tetrahedron": "tetra"}.get(name, name)
    assert signed_volume(other.points[other.cells[at].data[0]]) == pytest.approx(-volume)  # meshio keeps the order of MED, from the other side
    for field, expected in (("VELO", rate), ("DISP", body.conf)):
        found = next(array for key, array in other.point_data.items() if key.startswith(field))
        assert np.ravel(found) == pytest.approx(np.array(expected), abs=0)
    of_cells = next(array for key, array in other.cell_data.items() if key.startswith("STRESS_OF_CELLS"))
    assert np.ravel(of_cells[at]) == pytest.approx(stress, abs=0)
    again, groups = None, {}
    again = s.MESH_READ(path, groups=groups)
    assert again.get_data() == given
    assert groups["volumes"]["VOLUME_7"] == 7
    assert groups["surfaces"]["SURFACE_3"] == 3


def run_of_all_shapes(path, mode):
    """A run in which meshes of all kinds of bodies, convexes, a ball and an obstacle move; its frames are 5 steps apart."""
    solfec, steel = model(path, mode=mode)
    s.GRAVITY(solfec, (0, 0, -10))
    s.BODY(solfec, "OBSTACLE", s.HULL([-5, -5, -1, 15, -5, -1, 15, 5, -1, -5, 5, -1, -5, -5, 0, 15, -5, 0, 15, 5, 0, -5, 5, 0], 1, 1), steel)
    turning = s.BODY(solfec, "RIGID", s.TRANSLATE(s.HEX(CUBE, 2, 2, 2, 7, [1, 2, 3, 4, 5, 6]), (0, 0, 2)), steel)
    s.INITIAL_VELOCITY(turning, (0, 0, 0), (0, 0, 3))
    s.BODY(solfec, "FINITE_ELEMENT", s.TRANSLATE(s.HEX(CUBE, 2, 2, 2, 4, [1] * 6), (3, 0, 0)), steel, form="TL")
    s.BODY(solfec, "RIGID", s.SPHERE((6, 0, 0.5), 0.5, 1, 1), steel)
    s.BODY(solfec, "PSEUDO_RIGID", s.TRANSLATE(s.HULL([0, 0, 0, 2, 0, 0, 2.5, 1, 0, 1, 2, 0, -0.5, 1, 0, 1, 1, 1], 1, 1), (9, 0, 0)), steel)
    s.OUTPUT(solfec, 0.005)
    s.RUN(solfec, s.AUTO_SOLVER(), 0.02)
    return solfec


def test_a_run_is_one_mesh_with_fields_at_every_frame(tmp_path):
    run_of_all_shapes(tmp_path / "run", "WRITE")
    solfec = run_of_all_shapes(tmp_path / "run", "READ")
    path = str(tmp_path / "run.med")
    s.MED_EXPORT(solfec, (0, 1), path)
    times = [time for *_, time in mc.GetAllFieldIterations(path, "DISP")]
    assert times == pytest.approx([0, 0.005, 0.01, 0.015, 0.02])
    mesh = mc.MEDFileMesh.New(path)
    assert mesh.getNonEmptyLevels() == (0, -1, -3)
    assert mesh.getGroupArr(0, "VOLUME_7").getNumberOfTuples() == 8  # the inner nodes of a rigid mesh, too
    assert mesh.getGroupArr(-1, "SURFACE_5").getNumberOfTuples() == 4
    assert mesh.getGroupArr(-3, "BODY_4").getNumberOfTuples() == 1
    reference, moved = mesh.getCoords().toNumPyArray(), values(path, "DISP")
    rows = mesh.getMeshAtLevel(0)[mesh.getGroupArr(0, "BODY_2")].computeFetchedNodeIds().toNumPyArray()
    arm = reference[rows] - (0.5, 0.5, 0.0)
    cos, sin = np.cos(0.06), np.sin(0.06)
    expected = np.stack([0.5 + cos * arm[:, 0] - sin * arm[:, 1], 0.5 + sin * arm[:, 0] + cos * arm[:, 1], arm[:, 2] - 5 * 0.02**2], 1)
    assert reference[rows] + moved[rows] == pytest.approx(expected, abs=1e-5)
    assert values(path, "RADI").max() == 0.5
    other = meshio.read(path)  # does not end the interpreter: the mesh has one step
    assert len([name for name in other.point_data if name.startswith("DISP")]) == 5

    s.MED_EXPORT(s.SOLFEC("DYNAMIC", 1e-3, str(tmp_path / "run"), mode="READ"), 0.02, path, subset=2)  # without the input of the model
    mesh = mc.MEDFileMesh.New(path)
    assert mesh.getMeshAtLevel(0).getMeasureField(True).getArray().getValues() == pytest.approx([1 / 8] * 8)
    assert mesh.getGroupArr(-1, "SURFACE_5").getNumberOfTuples() == 4


def test_fields_become_initial_states_and_bases_of_bodies_with_other_numbers_of_nodes(tmp_path):
    solfec, steel = model()
    first = s.BODY(solfec, "FINITE_ELEMENT", s.HEX(CUBE, 2, 1, 1, 1, [1] * 6), steel)
    s.BODY(solfec, "FINITE_ELEMENT", s.TRANSLATE(s.HEX(CUBE, 1, 1, 1, 1, [1] * 6), (1, 0, 0)), steel)  # has nodes at the same places
    given = np.sin(np.arange(36.0)).reshape(12, 3) * 1e-2
    first.conf = given.ravel()
    path = str(tmp_path / "state.med")
    s.MED_EXPORT(solfec, 0, path, attributes=["DISP", "STRESS"])
    order = np.argsort(np.cos(np.arange(12) * 3.0))
    nodes, elements, _ = first.mesh.get_data()
    renumbered = np.argsort(order)
    records = [[8, *renumbered[elements[k + 1 : k + 9]].tolist(), 1] for k in range(0, len(elements), 10)]
    again, matter = model()
    body = s.BODY(again, "FINITE_ELEMENT", s.MESH(np.reshape(nodes, (-1, 3))[order].ravel(), sum(records, []), 1), matter)
    found = s.MED_FIELD(path, "DISP__", body=body)
    assert np.reshape(found, (-1, 3)) == pytest.approx(given[order], abs=0)
    body.conf = found
    s.MED_EXPORT(again, 0, str(tmp_path / "again.med"), attributes=["STRESS"])
    stress = s.MED_FIELD(path, "STRESS", body=body)  # follows from the displacements that were read
    assert max(stress) > 1e4 and s.MED_FIELD(str(tmp_path / "again.med"), "STRESS", body=body) == pytest.approx(stress, abs=1e-9 * max(stress))
    base = s.POD_BASE(body, [found])
    reduced = s.BODY(again, "FINITE_ELEMENT", body.mesh, matter, form="BC-RO", base=base)
    reduced.conf = [*(np.reshape(base[1], (7, -1)) @ found), 1, 0, 0, 0, 1, 0, 0, 0, 1]
    points = np.array(reduced.mesh.get_data()[0])
    assert len(reduced.velo) == 7
    assert np.reshape(base[1], (7, -1)).T @ (np.reshape(base[1], (7, -1)) @ found) == pytest.approx(found, abs=1e-12)
    assert len(points) == 36


def test_bodies_that_come_begin_another_file(tmp_path):
    solfec, steel = model(tmp_path / "run")
    s.BODY(solfec, "RIGID", s.HEX(CUBE, 1, 1, 1, 1, [1] * 6), steel)
    s.RUN(solfec, s.AUTO_SOLVER(), 0.002)
    s.BODY(solfec, "RIGID", s.TRANSLATE(s.HEX(CUBE, 1, 1, 1, 1, [1] * 6), (3, 0, 0)), steel)
    s.RUN(solfec, s.AUTO_SOLVER(), 0.002)
    read = s.SOLFEC("DYNAMIC", 1e-3, str(tmp_path / "run"), mode="READ")
    with pytest.warns(match="results are in 2 files"):
        s.MED_EXPORT(read, (0, 1), str(tmp_path / "a"))
    (second,) = [path for path in tmp_path.glob("a.*.med") if path.name != "a.med"]
    assert mc.ReadUMeshFromFile(str(second), "SOLFEC").getNumberOfCells() == 2


def test_the_command_file_names_groups_and_materials_and_says_that_nobody_ran_it(tmp_path):
    solfec, steel = model()
    s.BODY(solfec, "FINITE_ELEMENT", s.HEX(CUBE, 1, 1, 1, 1, [9] * 6), steel)
    s.MED_EXPORT(solfec, 0, str(tmp_path / "a"), aster="ON")
    text = (tmp_path / "a.comm").read_text()
    assert "written, not run" in text
    assert "GROUP_MA=('BODY_1',)" in text
    assert "E=10000000.0, NU=0.25, RHO=1000.0" in text
    assert "SURFACE_9" in text
    compile(text, "a.comm", "exec")  # command files are Python


def test_what_is_missing_is_named(tmp_path, monkeypatch):
    solfec, steel = model()
    body = s.BODY(solfec, "FINITE_ELEMENT", s.HEX(CUBE, 1, 1, 1, 1, [9] * 6), steel)
    path = str(tmp_path / "a.med")
    s.MED_EXPORT(solfec, 0, path)
    with pytest.raises(ValueError, match=r"MED_FIELD: .* has no field 'DEPL'; it has .*'DISP'"):
        s.MED_FIELD(path, "DEPL")
    with pytest.raises(ValueError, match="has 1 steps"):
        s.MED_FIELD(path, "DISP", 3)
    other = s.BODY(solfec, "FINITE_ELEMENT", s.TRANSLATE(s.HEX(CUBE, 1, 1, 1, 1, [9] * 6), (0, 0, 0.5)), steel)
    with pytest.raises(ValueError, match="no node at node . of body 2"):
        s.MED_FIELD(path, "DISP", body=other)
    with pytest.raises(ValueError, match="attributes"):
        s.MED_EXPORT(solfec, 0, path, attributes=["REAC"])
    (tmp_path / "damaged.med").write_text("no MED file")
    with pytest.raises(ValueError, match="cannot be read"):
        s.MED_FIELD(str(tmp_path / "damaged.med"), "DISP", body=body)

    def absent(name):
        raise ImportError(name)

    monkeypatch.setattr("solfec.results.med.installed.load", absent)
    with pytest.raises(ValueError, match=r"MED_EXPORT: MED files need the package medcoupling, which is not installed; run: python -m pip install 'solfec\[med\]'"):
        s.MED_EXPORT(solfec, 0, path)
    assert language.MED_FIELD is s.MED_FIELD
