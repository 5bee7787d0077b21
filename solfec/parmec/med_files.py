"""Output files in the format MED, which Salome reads; the package medcoupling writes them.

A file holds one mesh, "PARMEC mesh", and fields with a time step per frame, since few programs support a mesh that changes.  When the
number of points changes, another file begins; its name contains its first frame.
"""

from __future__ import annotations

import glob
import os
import re
from importlib.util import find_spec

import h5py
import numpy as np

from .frames import Block

MESH = "PARMEC mesh"
MOTION = "MOTION"  # of points whose frames have no displacement, since the file began


def is_there() -> bool:
    """Whether medcoupling is installed."""
    return find_spec("medcoupling") is not None


def write_med(path: str, block: Block, frame: int, time: float) -> None:
    """Add a frame to the last of a set's files, or begin the next one.

    Parameters
    ----------
    path : str
        Without the extension.
    block : Block
    frame : int
        Its number, from 0.
    time : float
    """
    import medcoupling as mc

    try:
        write(mc, path, block, frame, time)
    except mc.InterpKernelException as error:
        raise OSError(str(error)) from error


def write(mc, path: str, block: Block, frame: int, time: float) -> None:
    """Write one frame with the module medcoupling."""
    displacement = block.of_points.get("DISPL")
    moves = displacement is not None and displacement.shape[1:] == (3,)
    files = files_of(path)
    file = files[max(files)] if files else ""
    mesh = mc.ReadUMeshFromFile(file, MESH) if file else None
    if mesh is None or mesh.getNumberOfNodes() != len(block.points):
        file = f"{path}.{frame}.med" if files else f"{path}.med"
        mesh = new_mesh(mc, block.points - displacement if moves else block.points, 3 if block.triangles else 1)
        mc.WriteUMesh(file, mesh, True)
    of_points = dict(block.of_points)
    if not moves:
        of_points[MOTION] = block.points - mesh.getCoords().toNumPyArray()
    for values, place in ((of_points, mc.ON_NODES), (block.of_cells, mc.ON_CELLS)):
        for name, array in values.items():
            add_field(mc, file, mesh, name, array, place, frame, time)


def new_mesh(mc, points: np.ndarray, corners: int):
    """Make a mesh of points (corners 1), or of triangles with separate points (3)."""
    mesh = mc.MEDCouplingUMesh(MESH, 2 if corners == 3 else 0)
    mesh.setCoords(mc.DataArrayDouble(np.array(points, float, order="C")))
    cells = np.arange(len(points)).reshape(-1, corners)
    kind = np.full(len(cells), mc.NORM_TRI3 if corners == 3 else mc.NORM_POINT1)
    connectivity = np.column_stack((kind, cells)).astype(np.int64).ravel()
    mesh.setConnectivity(mc.DataArrayInt64(connectivity), mc.DataArrayInt64(np.arange(len(cells) + 1, dtype=np.int64) * (corners + 1)), True)
    return mesh


def add_field(mc, file: str, mesh, name: str, array: np.ndarray, place: int, frame: int, time: float) -> None:
    """Add values of points or cells at a time."""
    field = mc.MEDCouplingFieldDouble(place, mc.ONE_TIME)
    field.setName(name)
    field.setMesh(mesh)
    field.setArray(mc.DataArrayDouble(np.array(array.reshape(len(array), -1), float, order="C")))
    field.setTime(time, frame, 0)
    mc.WriteFieldUsingAlreadyWrittenMesh(file, field)


def files_of(path: str) -> dict[int, str]:
    """Return the files of one set by their first frame; that of the first one counts as -1."""
    found = {int(number.group(1)): name for name in glob.glob(glob.escape(path) + ".*.med") if (number := re.fullmatch(r"\.(\d+)\.med", name[len(path) :]))}
    return ({-1: path + ".med"} if os.path.exists(path + ".med") else {}) | found


def remove_med(path: str) -> None:
    """Remove a set's files."""
    for file in files_of(path).values():
        os.remove(file)


def cut_med(first: int, file: str, frames: int) -> None:
    """Remove frames from `frames` on of a file that begins with the frame `first`."""
    if first >= frames:
        os.remove(file)
        return
    with h5py.File(file, "r+") as opened:
        for field in opened.get("CHA", {}).values():
            for name in [name for name, step in field.items() if step.attrs["NDT"] >= frames]:
                del field[name]
