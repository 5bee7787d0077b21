"""Results as files of the format MED, which Salome and Code_Aster read, and fields of such files; by the package medcoupling.

A file holds one mesh, in the referential placement, and fields at many instants: programs that read a mesh at several steps are few,
and meshio ends the process at such files.  When bodies come, go or break, another file begins.
"""

from __future__ import annotations

import glob
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from .. import installed
from ..element_types import BY_SIZE, ELEMENT_TYPES
from ..errors import SolfecError
from ..tables import pointers_of
from .med_model import MedCells, MedModel

MESH = "SOLFEC"
INSTALL = "python -m pip install 'solfec[med]'"
ATTRIBUTES = {"DISP": "displacement", "VELO": "velocity", "STRESS": "stress"}
STRESS = "STRESS_OF_CELLS"
COMPONENTS = {3: ["x", "y", "z"], 6: ["xx", "yy", "zz", "xy", "xz", "yz"]}


def load():
    """Import medcoupling.

    Raises
    ------
    SolfecError
        It is not installed.
    """
    try:
        return installed.load("medcoupling")
    except ImportError:
        raise SolfecError(f"MED files need the package medcoupling, which is not installed; run: {INSTALL}") from None


def write(path: str, models: Iterable[MedModel], attributes: Iterable[str]) -> list[str]:
    """Write instants of one model, in the order of time; return the files' paths, of which `path` is the first.

    Raises
    ------
    SolfecError
        medcoupling is not installed; nothing to write.
    OSError
        The file cannot be written.
    """
    mc, attributes = load(), list(attributes)
    stem, before, files = path.removesuffix(".med"), None, []
    for old in glob.glob(glob.escape(stem) + ".*.med"):
        if re.fullmatch(r"\.\d+\.med", old[len(stem) :]):
            os.remove(old)
    try:
        for number, model in enumerate(models):
            if before is None or not model.same_cells(before):
                files.append(f"{stem}.{number}.med" if files else path)
                meshes = _write_mesh(mc, files[-1], model)
                before = model
            _write_fields(mc, files[-1], meshes, model, attributes, number)
    except mc.InterpKernelException as error:
        raise OSError(str(error)) from error
    return files


def _write_mesh(mc, path: str, model: MedModel) -> dict:
    """Begin a file; return its meshes by dimension."""
    coordinates = mc.DataArrayDouble(np.array(model.reference, float, order="C"))
    coordinates.setInfoOnComponents(COMPONENTS[3])
    present = [dimension for dimension, cells in model.cells.items() if len(cells.nodes)]
    if not present:
        raise SolfecError("there is nothing to write: no bodies with a shape")
    whole, meshes = mc.MEDFileUMesh(), {}
    for dimension in present:
        meshes[dimension] = _mesh(mc, dimension, coordinates, model.cells[dimension])
        whole.setMeshAtLevel(dimension - present[0], meshes[dimension])
    whole.setName(MESH)
    for dimension in present:
        whole.setGroupsAtLevel(dimension - present[0], _groups(mc, dimension, model.cells[dimension]))
    whole.write(path, 2)  # 2: anew
    return meshes


def _mesh(mc, dimension: int, coordinates, cells: MedCells):
    """Return the mesh of the cells of one dimension; elements are listed as MED looks at them, from the other side."""
    sizes = (cells.nodes >= 0).sum(1)
    unknown = [kind.name for kind in ELEMENT_TYPES if not kind.med and dimension == 3 and (sizes == kind.size).any()]
    if unknown:
        raise SolfecError(f"MED files know no element of type {unknown[0]}")
    solids = {kind.size: getattr(mc, f"NORM_{kind.med}") for kind in ELEMENT_TYPES if kind.med}
    kinds = {3: solids, 2: {3: mc.NORM_TRI3, 4: mc.NORM_QUAD4}, 0: {1: mc.NORM_POINT1}}
    nodes = cells.nodes.copy()
    for size in np.unique(sizes).tolist() if dimension == 3 else ():
        rows = np.flatnonzero(sizes == size)
        nodes[rows, :size] = nodes[rows[:, None], np.array(BY_SIZE[size].mirror)]
    table = np.column_stack([[kinds[dimension][size] for size in sizes.tolist()], nodes])
    pointers = pointers_of(sizes + 1)
    mesh = mc.MEDCouplingUMesh(MESH, dimension)
    mesh.setCoords(coordinates)
    mesh.setConnectivity(_integers(mc, table[table >= 0]), _integers(mc, pointers), True)
    return mesh


def _integers(mc, values: np.ndarray):
    """Return medcoupling's copy of an array: it takes packed ones only."""
    return mc.DataArrayInt64(np.array(values, np.int64, order="C"))


def _groups(mc, dimension: int, cells: MedCells) -> list:
    """Return groups VOLUME_n (SURFACE_n of faces) and BODY_n."""
    found = []
    for word, numbers in (("SURFACE" if dimension == 2 else "VOLUME", cells.number), ("BODY", cells.body)):
        for number in np.unique(numbers).tolist():
            group = _integers(mc, np.flatnonzero(numbers == number))
            group.setName(f"{word}_{number}")
            found.append(group)
    return found


def _write_fields(mc, path: str, meshes: dict, model: MedModel, attributes: list[str], number: int) -> None:
    """Write fields of one instant.  Fields of cells have values in cells of all dimensions, since meshio reads no others."""
    fields = [(name, mc.ON_NODES, {max(meshes): getattr(model, ATTRIBUTES[name])}) for name in attributes]
    if (model.radius > 0.0).any():
        fields.append(("RADI", mc.ON_NODES, {max(meshes): model.radius}))
    of_cells = {name: {d: getattr(model.cells[d], column) for d in meshes} for name, column in (("BID", "body"), ("ID", "number"), (STRESS, "stress"))}
    if "STRESS" not in attributes or 3 not in meshes:
        of_cells.pop(STRESS)
    fields += [(name, mc.ON_CELLS, values) for name, values in of_cells.items()]
    for name, place, by_dimension in fields:
        written = mc.MEDFileField1TS()
        for dimension, values in by_dimension.items():
            field = mc.MEDCouplingFieldDouble(place, mc.ONE_TIME)
            field.setName(name)
            field.setMesh(meshes[dimension])
            array = mc.DataArrayDouble(np.array(values.reshape(len(values), -1), float, order="C"))
            if array.getNumberOfComponents() in COMPONENTS:
                array.setInfoOnComponents(COMPONENTS[array.getNumberOfComponents()])
            field.setArray(array)
            field.setTime(model.time, number, 0)
            written.setFieldNoProfileSBT(field)
        written.write(path, 0)  # 0: into the file


# --- reading ---------------------------------------------------------------------------------------------------


@dataclass
class NodalField:
    """A field at nodes: places (n, 3) of its nodes, its values (n, c), and its `time`."""

    places: np.ndarray
    values: np.ndarray
    time: float


def read_field(path: str, name: str, step: int, body: int | None = None) -> NodalField:
    """Read one step of a field at nodes.

    Parameters
    ----------
    path : str
    name : str
        Blanks and underscores at its end do not count.
    step : int
        From 0, or from the end when negative.
    body : int, optional
        Nodes of the group of cells BODY_n only, if the file has it.

    Raises
    ------
    SolfecError
        medcoupling is not installed.
    ValueError
        The file cannot be read, or has no such field or step.
    """
    mc = load()
    try:
        names = list(mc.GetAllFieldNames(path))
        known = {_plain(found): found for found in names}
        if _plain(name) not in known:
            raise ValueError(f"'{path}' has no field {name!r}; it has {', '.join(map(repr, names)) or 'none'}")
        field = known[_plain(name)]
        steps = mc.GetAllFieldIterations(path, field)
        if not -len(steps) <= step < len(steps):
            raise ValueError(f"the field {name!r} of '{path}' has {len(steps)} steps, 0 to {len(steps) - 1} (-1: the last), and no step {step}")
        iteration, order, time = steps[step]
        return _nodal(mc, path, field, iteration, order, float(time), body)
    except mc.InterpKernelException as error:
        raise ValueError(f"'{path}' cannot be read: {' '.join(str(error).split())}") from None


def _plain(name: str) -> str:
    return name.rstrip(" _")


def _nodal(mc, path: str, name: str, iteration: int, order: int, time: float, body: int | None) -> NodalField:
    """Read values at nodes, which may be some of the mesh's nodes only (a profile)."""
    one = mc.MEDFileField1TS(path, name, iteration, order)
    if mc.ON_NODES not in one.getTypesOfFieldAvailable():
        raise ValueError(f"the field {name!r} of '{path}' has no values at nodes")
    mesh = mc.MEDFileMesh.New(path, one.getMeshName())
    values, profile = one.getFieldWithProfile(mc.ON_NODES, 0, mesh)
    places, values = mesh.getCoords().toNumPyArray().copy(), values.toNumPyArray().copy().reshape(values.getNumberOfTuples(), -1)
    rows = np.arange(len(places)) if profile.getNumberOfTuples() == 0 else profile.toNumPyArray()
    group = f"BODY_{body}"
    if body is not None and group in mesh.getGroupsNames():
        level = mesh.getGrpNonEmptyLevels(group)[0]
        rows_of_group = mesh.getMeshAtLevel(level)[mesh.getGroupArr(level, group)].computeFetchedNodeIds().toNumPyArray()
        inside = np.isin(rows, rows_of_group)
        rows, values = rows[inside], values[inside]
    return NodalField(places[rows], values, time)
