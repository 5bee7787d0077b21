"""Meshes of finite element bodies between a domain and a results file."""

from __future__ import annotations

import numpy as np

from ..bodies.background_mesh import Background
from ..bodies.finite_elements import FiniteElementMesh, deformation_gradients, find
from ..bodies.materials import BulkMaterial
from ..bodies.point_values import enhancement, stress_places
from ..bodies.table import BodyKind, BodyTable
from ..shapes.mesh import Mesh
from .layout import MESH, MESH_ELEMENT, MESH_NODE, MESH_OVERLAP, MESH_PARTS, MESH_PLACE, MESH_POINT
from .validation import Checks


def pack(bodies, geometry, first: int, lengths: dict[str, int], materials: list, shapes: dict) -> dict[str, np.ndarray]:
    """Make rows for `/model/meshes` and its detail datasets from the bodies at row `first` and after.

    Parameters
    ----------
    lengths : dict
        Number of rows that the datasets of `MESH_PARTS` hold already.
    materials : list of BulkMaterial
        Those of the domain, in the order of the file.
    shapes : dict
        Lists of Mesh by body identifier: shapes of bodies that do not deform, and that no input makes again.
    """
    rows = first + np.flatnonzero(bodies.kind[first : bodies.n] == BodyKind.FINITE_ELEMENT)
    stiff = [(body, mesh) for body in bodies.id[first : bodies.n].tolist() if body not in bodies.meshes for mesh in shapes.get(body, ())]
    index = np.zeros(len(rows) + len(stiff), MESH)
    parts: dict[str, list] = {part: [] for part in MESH_PARTS}
    at = dict(lengths)
    vertex_body, primitive_body = geometry.vertices.view("body"), geometry.primitives.view("body")
    for entry, row in zip(index, rows):
        mesh = bodies.meshes[int(bodies.id[row])]
        nodes = np.zeros(mesh.node_count, MESH_NODE)
        nodes["place"], nodes["normal"] = mesh.nodes, mesh.normals
        elements = np.zeros(len(mesh.sizes), MESH_ELEMENT)
        elements["size"], elements["node"], elements["material"] = mesh.sizes, mesh.elements, -1
        if mesh.surfaces is not None:
            elements["surface"], elements["volume_id"] = mesh.surfaces, mesh.volume_ids
        for number, own in enumerate(mesh.materials):
            elements["material"][mesh.material == number] = next(k for k, known in enumerate(materials) if known is own)
        data = {
            "mesh_nodes": nodes,
            "mesh_elements": elements,
            "mesh_vertices": geometry.vertices.view("node")[vertex_body == row],
            "mesh_primitives": geometry.primitives.view("element")[primitive_body == row],
        } | background_records(mesh.background)
        entry["body"] = bodies.id[row]
        entry["density"] = bodies.mass[row] / bodies.volume[row] if mesh.density is None else mesh.density
        _enter(entry, data, at, parts)
    for entry, (body, mesh) in zip(index[len(rows) :], stiff):
        own = FiniteElementMesh.of(mesh)
        nodes, elements = np.zeros(own.node_count, MESH_NODE), np.zeros(len(own.sizes), MESH_ELEMENT)
        nodes["place"], elements["material"] = own.nodes, -1
        elements["size"], elements["node"], elements["surface"], elements["volume_id"] = own.sizes, own.elements, own.surfaces, own.volume_ids
        entry["body"] = body
        data = {"mesh_nodes": nodes, "mesh_elements": elements, "mesh_vertices": np.zeros(0, np.int32), "mesh_primitives": np.zeros(0, np.int32)}
        _enter(entry, data | background_records(None), at, parts)
    return {"meshes": index} | {part: np.concatenate(values) for part, values in parts.items() if values}


def _enter(entry: np.void, data: dict, at: dict, parts: dict) -> None:
    """Append rows `data` to `parts` and record their position in `entry`."""
    for part, values in data.items():
        entry[part + "_first"], entry[part] = at[part], len(values)
        at[part] += len(values)
        parts[part].append(values)


class ReadOnce:
    """A reader that reads each table once while many bodies are restored."""

    def __init__(self, reader):
        self.file, self._reader, self._tables = reader.file, reader, {}

    @property
    def materials(self) -> dict:
        """Described materials."""
        return self._reader.materials

    def table(self, name: str) -> np.ndarray:
        """A whole dataset, see `ResultsReader.table`."""
        if name not in self._tables:
            self._tables[name] = self._reader.table(name)
        return self._tables[name]


def stored_shapes(reader, body: int) -> list[Mesh]:
    """Read the stored meshes of the shape of a body that does not deform."""
    index, elements, nodes = (reader.table("model/" + name) for name in ("meshes", "mesh_elements", "mesh_nodes"))
    checks, found = Checks(reader.file), []
    for entry in index[index["body"] == body]:
        for name, table in (("mesh_elements", elements), ("mesh_nodes", nodes)):
            checks.spans(f"model/meshes: {name}", entry[name + "_first"], entry[name], len(table))
        part = elements[entry["mesh_elements_first"] : entry["mesh_elements_first"] + entry["mesh_elements"]]
        place = nodes[entry["mesh_nodes_first"] : entry["mesh_nodes_first"] + entry["mesh_nodes"]]["place"]
        checks.elements(part, len(place))
        mesh = FiniteElementMesh(place.copy(), part["size"].copy(), part["node"].copy(), np.zeros_like(place))
        mesh.surfaces, mesh.volume_ids = part["surface"].copy(), part["volume_id"].copy()
        found.append(mesh.shape())
    return found


def background_records(background: Background | None) -> dict[str, np.ndarray]:
    """Rows of the datasets that a shape inside a mesh needs."""
    if background is None:
        return {"mesh_points": np.zeros(0, MESH_POINT), "mesh_places": np.zeros(0, MESH_PLACE),
                "mesh_overlaps": np.zeros(0, MESH_OVERLAP)}  # fmt: skip
    points = np.zeros(len(background.point_element), MESH_POINT)
    points["element"], points["natural"] = background.point_element, background.point_natural
    points["weight"] = background.point_weight
    places = np.zeros(len(background.vertex_element), MESH_PLACE)
    places["element"], places["weights"] = background.vertex_element, background.vertex_weights
    overlaps = np.zeros(len(background.overlap), MESH_OVERLAP)
    overlaps["primitive"] = np.repeat(np.arange(len(background.overlap_first) - 1), np.diff(background.overlap_first))
    overlaps["element"] = background.overlap
    return {"mesh_points": points, "mesh_places": places, "mesh_overlaps": overlaps}


def stored_background(points: np.ndarray, places: np.ndarray, overlaps: np.ndarray) -> Background | None:
    """Read the Background that `background_records` has stored; None for bodies whose mesh is their shape."""
    if not len(places):
        return None
    first = np.searchsorted(overlaps["primitive"], np.arange(overlaps["primitive"].max() + 2)).astype(np.int32)
    return Background(
        points["element"].copy(), points["natural"].copy(), points["weight"].copy(),
        places["element"].copy(), places["weights"].copy(), first, overlaps["element"].copy(),
    )  # fmt: skip


def stored_elements(reader):
    """A function that gives the elements (rows of MESH_ELEMENT) of a finite element body by its identifier."""
    index, elements = reader.table("model/meshes"), reader.table("model/mesh_elements")
    last = {int(body): k for k, body in enumerate(index["body"])}

    def of(body: int) -> np.ndarray:
        entry = index[last[body]]
        return elements[entry["mesh_elements_first"] : entry["mesh_elements_first"] + entry["mesh_elements"]]

    return of


def stored_mesh(reader, body: int, material=None, size: tuple | None = None) -> tuple[FiniteElementMesh, np.ndarray, np.ndarray] | None:
    """Read the mesh of a body, nodes of its vertices and elements of its primitives; None when the file has none.

    ``material(number)`` gives the bulk materials of elements that have their own, by default new ones.
    `size` is the body's row of `/model/shapes`, and its number of nodes.
    """
    index = reader.table("model/meshes")
    which = np.flatnonzero(index["body"] == body)
    if not which.size:
        return None
    entry = index[which[-1]]
    checks, parts = Checks(reader.file), {}
    for name in MESH_PARTS:
        table = reader.table("model/" + name)
        checks.spans(f"model/meshes: {name}", entry[name + "_first"], entry[name], len(table))
        parts[name] = table[entry[name + "_first"] : entry[name + "_first"] + entry[name]]
    nodes, elements, vertices, primitives, *held = parts.values()
    shape, count = size or (_shape_of(reader, body), len(nodes))
    checks.mesh(parts, entry, shape, count, len(reader.materials["bulk"]))
    mesh = FiniteElementMesh(
        nodes["place"].copy(), elements["size"].copy(), elements["node"].copy(), nodes["normal"].copy(),
        stored_background(*held), float(entry["density"]),
    )  # fmt: skip
    if "surface" in elements.dtype.names:  # older results have none
        mesh.surfaces, mesh.volume_ids = elements["surface"].copy(), elements["volume_id"].copy()
    for number in np.unique(elements["material"][elements["material"] >= 0]).tolist():
        own = material(number) if material else BulkMaterial(**reader.materials["bulk"][number])
        mesh.apply(own, elements["material"] == number)
    return mesh, vertices, primitives


def _shape_of(reader, body: int) -> np.void:
    """A body's row of `/model/shapes`."""
    index = reader.table("model/shapes")
    return index[np.flatnonzero(index["body"] == body)[-1]]


class MeshPoint:
    """A referential point of a finite element body: operators from nodal displacements to quantities at the point.

    Parameters
    ----------
    mesh : FiniteElementMesh
    point : (3,) array_like
    epsilon : float
        How far outside of the elements the point may be; SolfecError when it is further.
    identifier : int
        Of the body.
    label : str, optional
    """

    def __init__(self, mesh: FiniteElementMesh, point, epsilon: float, identifier: int, label: str | None = None):
        self._mesh, self._point, self._epsilon = mesh, point, epsilon
        self._table = BodyTable()
        self._table.add(BodyKind.FINITE_ELEMENT, mesh, id=identifier, mass=1.0, volume=1.0, form=1)
        if label:
            self._table.labels[identifier] = label
        element, _, weights = find(self._table, 0, point, epsilon)
        size = int(mesh.sizes[element])
        self.nodes, self.weights = mesh.elements[element, :size], weights[:size]

    def lame(self, default: np.ndarray) -> np.ndarray:
        """Lame's constants (frames, m, 2) of the elements whose stresses count; `default` (frames, 2) are the body's."""
        elements, _ = stress_places(self._table, 0, self._point, self._epsilon)
        own = self._mesh.lame((np.nan, np.nan))[elements]
        return np.where(np.isnan(own), default[:, None], own)

    def gradients(self) -> tuple[np.ndarray, np.ndarray]:
        """Nodes (m, 8) and operators G (m, 8, 3) of the elements whose stresses count: F = I + sum u_a G_a^T."""
        elements, places = stress_places(self._table, 0, self._point, self._epsilon)
        nodes, rows = self._mesh.elements[elements], np.zeros(len(elements), int)
        operators = np.zeros((*nodes.shape, 3))
        conf = self._table.configurations.conf
        for slot in range(nodes.shape[1]):
            for k in np.flatnonzero(slot < self._mesh.sizes[elements]):
                conf[0, nodes[k, slot]] = 1.0
                moved = deformation_gradients(self._table, rows[:1], elements[k : k + 1], places[:, k : k + 1])
                operators[k, slot] = moved[0, :, 0] - (1.0, 0.0, 0.0)
                conf[0, nodes[k, slot]] = 0.0
        return nodes, operators

    def enhancements(self, moved: np.ndarray, lame: np.ndarray) -> np.ndarray:
        """Enhanced strains (frames, m, 3, 3) of those elements for displacements (frames, m, 8, 3), lame (frames, m, 2)."""
        elements, places = stress_places(self._table, 0, self._point, self._epsilon)
        extra = np.zeros((*moved.shape[:2], 3, 3))
        for frame, k in np.ndindex(*moved.shape[:2]):
            if np.isfinite(moved[frame, k]).all():
                extra[frame, k] = enhancement(self._mesh, True, elements[k], places[:, k], moved[frame, k], lame[frame, k])
        return extra
