"""Records of fracture checks in results, and their export for codes that compute fracture (docs/language-running.md, FRACTURE_EXPORT_YAFFEMS)."""

from __future__ import annotations

import numpy as np

from ..bodies.background_mesh import element_table, locate
from ..element_types import BY_SIZE
from ..errors import SolfecError
from ..fractures import Fracture
from ..shapes.mesh import Mesh
from ..shapes.tetrahedralize import mesh_of_mesh
from .layout import FRACTURE, FRACTURE_CONSTRAINT
from .meshes import stored_mesh
from .validation import Checks


def pack(records: list[Fracture], nodes: int, constraints: int) -> dict[str, np.ndarray]:
    """Make rows for `/frames/fractures` and its two detail datasets, which already hold `nodes` and `constraints` rows."""
    index = np.zeros(len(records), FRACTURE)
    acting = np.zeros(sum(len(one.radius) for one in records), FRACTURE_CONSTRAINT)
    at = 0
    for entry, one in zip(index, records):
        entry["body"], entry["time"], entry["step"] = one.body, one.time, one.step
        entry["nodes_first"], entry["nodes"] = nodes, len(one.displacement)
        entry["constraints_first"], entry["constraints"] = constraints + at, len(one.radius)
        nodes += len(one.displacement)
        part = acting[at : at + len(one.radius)]
        part["radius"], part["point"], part["reaction"] = one.radius, one.point, one.reaction
        at += len(part)
    moved = np.concatenate([one.displacement for one in records]) if records else np.zeros((0, 3))
    return {"fractures": index, "fracture_nodes": moved, "fracture_constraints": acting}


def stored(reader, body: int | None = None) -> list[Fracture]:
    """Read the records of a body, or of all bodies, in the order of time; older results have none."""
    names = ("fractures", "fracture_nodes", "fracture_constraints")
    tables = reader.read(lambda file: [file["frames/" + name][...] if "frames/" + name in file else None for name in names])
    if any(table is None for table in tables):
        return []
    index, nodes, acting = tables
    checks, found = Checks(reader.file), []
    checks.spans("frames/fractures: nodes", index["nodes_first"], index["nodes"], len(nodes))
    checks.spans("frames/fractures: constraints", index["constraints_first"], index["constraints"], len(acting))
    for entry in index if body is None else index[index["body"] == body]:
        moved = nodes[entry["nodes_first"] : entry["nodes_first"] + entry["nodes"]]
        part = acting[entry["constraints_first"] : entry["constraints_first"] + entry["constraints"]]
        found.append(
            Fracture(int(entry["body"]), float(entry["time"]), int(entry["step"]), moved, part["radius"], part["point"], part["reaction"])
        )
    return found


def export(reader, body: int, path: str, volume: float | None, quality: float | None) -> int:
    """Write the records of a body as a VTK file of tetrahedra; return their number.

    Each record has two vectors at nodes: displacements, interpolated in the elements of the body, and forces. The reaction of a constraint acts
    on the outer nodes within its radius of its point in equal parts, or on the nearest one.

    Parameters
    ----------
    path : str
        Path of the file without its ending '.vtk'.
    volume, quality : float, optional
        Greatest volume, and greatest ratio of circumradius to shortest edge, of tetrahedra.
    """
    records = stored(reader, body)
    if not records:
        return 0
    found = stored_mesh(reader, body)
    if found is None:
        raise SolfecError(f"{reader.file}: the mesh of body {body} is missing")
    mesh = found[0].shape()
    made = mesh_of_mesh(mesh, volume, quality)
    sizes, table = element_table(mesh)
    elements, weights = locate(mesh, sizes, table, made.nodes)
    topology = made.topology
    outer = np.unique(topology.face_nodes[topology.boundary])
    outer = outer[outer >= 0]
    arrays = {}
    for number, one in enumerate(records):
        arrays[f"displacement_{number}"] = np.einsum("na,nai->ni", weights, one.displacement[table[elements]])
        arrays[f"force_{number}"] = _spread(made, outer, one)
    _write(path + ".vtk", made, arrays, f"body {body}, times " + " ".join(f"{one.time:.9g}" for one in records))
    return len(records)


def _spread(mesh: Mesh, outer: np.ndarray, one: Fracture) -> np.ndarray:
    """Distribute reactions to nodal forces (n, 3) with the same sum."""
    force = np.zeros((len(mesh.nodes), 3))
    for radius, point, reaction in zip(one.radius, one.point, one.reaction):
        away = np.linalg.norm(mesh.nodes[outer] - point, axis=1)
        near = outer[away <= radius] if (away <= radius).any() else outer[[int(np.argmin(away))]]
        force[near] += reaction / len(near)
    return force


def _write(path: str, mesh: Mesh, arrays: dict[str, np.ndarray], title: str) -> None:
    """A legacy VTK file, as text."""
    cells = mesh.topology.element_nodes.reshape(-1, 4)
    lines = ["# vtk DataFile Version 3.0", title[:250], "ASCII", "DATASET UNSTRUCTURED_GRID", f"POINTS {len(mesh.nodes)} double"]
    lines += _rows(mesh.nodes)
    lines += [f"CELLS {len(cells)} {5 * len(cells)}", *("4 " + " ".join(map(str, cell)) for cell in cells.tolist())]
    lines += [f"CELL_TYPES {len(cells)}", *[str(BY_SIZE[4].vtk)] * len(cells), f"POINT_DATA {len(mesh.nodes)}"]
    for name, values in arrays.items():
        lines += [f"VECTORS {name} double", *_rows(values)]
    with open(path, "w", encoding="ascii") as file:
        file.write("\n".join(lines) + "\n")


def _rows(values: np.ndarray) -> list[str]:
    return [" ".join(f"{x!r}" for x in row) for row in values.tolist()]
