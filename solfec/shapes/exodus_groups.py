"""Element blocks and side sets of Exodus files, which meshio leaves out; by the package netCDF4."""

from __future__ import annotations

import numpy as np

from .. import installed
from ..element_types import ELEMENT_TYPES

SIDES = {kind.meshio: kind.exodus_sides for kind in ELEMENT_TYPES if kind.meshio}


def add_groups(source, path: str) -> None:
    """Add the file's element blocks and side sets as cell sets to a mesh that meshio has read.

    Parameters
    ----------
    source : meshio.Mesh
        Changed in place: triangles and quadrilaterals of side sets are appended, cell sets added.
    path : str
        The file.
    """
    meshio, netcdf = installed.load("meshio"), installed.load("netCDF4")
    with netcdf.Dataset(path) as file:
        variables = file.variables
        blocks = _names(variables, "eb_names", "eb_prop1", "block", len(source.cells))
        count = len(variables["ss_prop1"][:]) if "ss_prop1" in variables else 0
        sets = _names(variables, "ss_names", "ss_prop1", "side set", count)
        sides = [(variables[f"elem_ss{k + 1}"][:] - 1, variables[f"side_ss{k + 1}"][:] - 1) for k in range(count)
                 if f"elem_ss{k + 1}" in variables]  # fmt: skip
    first = np.cumsum([0] + [len(block.data) for block in source.cells])
    volumes = list(source.cells)
    members = {name: [k] for k, name in enumerate(blocks)}
    for name, (elements, numbers) in zip(sets, sides):
        faces = {3: [], 4: []}
        for element, side in zip(np.asarray(elements).tolist(), np.asarray(numbers).tolist()):
            block = volumes[int(np.searchsorted(first, element, "right")) - 1]
            corners = SIDES.get(block.type.rstrip("0123456789"))
            if corners is not None:
                nodes = block.data[element - first[volumes.index(block)]]
                faces[len(corners[side])].append([int(nodes[n]) for n in corners[side]])
        for size, kind in ((3, "triangle"), (4, "quad")):
            if faces[size]:
                members.setdefault(name, []).append(len(source.cells))
                source.cells.append(meshio.CellBlock(kind, np.array(faces[size])))
    none = np.zeros(0, int)
    for name, owned in members.items():
        source.cell_sets[name] = [np.arange(len(c.data)) if k in owned else none for k, c in enumerate(source.cells)]
    for columns in source.cell_data.values():  # values for the faces that were added
        columns += [np.zeros((len(c.data), *np.shape(columns[0])[1:]), columns[0].dtype) for c in source.cells[len(columns) :]]


def _names(variables, names: str, numbers: str, what: str, count: int) -> list[str]:
    """Return names of blocks or sets; one without a name gets its number as name."""
    given = [""] * count
    if names in variables:
        variable = variables[names]
        variable.set_auto_mask(False)
        given = [b"".join(row).split(b"\0")[0].decode("utf-8", "replace").strip() for row in variable[:]]
    number = variables[numbers][:].tolist() if numbers in variables else list(range(1, count + 1))
    return [name or f"{what} {n}" for name, n in zip(given, number)]
