"""A model as files of the format MED hold it: nodes, volume elements, outer faces and points, at one instant.

Unlike scenes for pictures it has all elements of meshes that do not deform, where the input has made them, and surface identifiers,
which become groups.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..bodies import point_values
from ..contact.geometry import PrimitiveKind
from ..element_types import BY_SIZE, MOST_NODES, used_slots
from ..kinds import BodyKind
from .scene import faces_of_convex, nodal_stress, unit_sphere, velocity_and_stress


@dataclass
class MedCells:
    """Cells of one dimension.

    Attributes
    ----------
    nodes : ndarray (m, 8)
        Node numbers, padded with -1.
    body, number : ndarray (m,)
        Identifiers of bodies, and of volumes (of surfaces for faces).
    stress : ndarray (m, 6)
        sx, sy, sz, sxy, sxz, syz at centres of volume elements; NaN for other cells.
    """

    nodes: np.ndarray
    body: np.ndarray
    number: np.ndarray
    stress: np.ndarray

    @classmethod
    def joined(cls, parts: list[MedCells]) -> MedCells:
        """Join cells, sorted by their number of nodes, as MED lists them."""
        nodes = np.concatenate([np.full((0, MOST_NODES), -1), *(part.nodes for part in parts)])
        body, number = (np.concatenate([np.zeros(0, int), *(getattr(part, name) for part in parts)]) for name in ("body", "number"))
        stress = np.concatenate([np.zeros((0, 6)), *(part.stress for part in parts)])
        order = np.argsort((nodes >= 0).sum(1), kind="stable")
        return cls(nodes[order], body[order], number[order], stress[order])


@dataclass
class MedModel:
    """A model at `time`.

    Attributes
    ----------
    reference, displacement, velocity : ndarray (n, 3)
        Of nodes.
    stress : ndarray (n, 6)
    radius : ndarray (n,)
        Of spheres whose centres nodes are; 0 for other nodes.
    cells : dict
        `MedCells` by dimension: 3 volume elements, 2 outer faces, 0 centres of spheres.
    """

    time: float
    reference: np.ndarray
    displacement: np.ndarray
    velocity: np.ndarray
    stress: np.ndarray
    radius: np.ndarray
    cells: dict[int, MedCells]

    def same_cells(self, other: MedModel) -> bool:
        """Whether another instant has the same nodes and cells."""
        return len(self.reference) == len(other.reference) and all(
            np.array_equal(self.cells[d].nodes, other.cells[d].nodes) and np.array_equal(self.cells[d].body, other.cells[d].body) for d in self.cells
        )


def med_model(domain, chosen: set[int] | None = None) -> MedModel:
    """Return a domain at its present state, with all bodies or those with the `chosen` identifiers."""
    domain.states.update_shapes()
    collected = _Collected(domain)
    for row, identifier in enumerate(domain.bodies.view("id").tolist()):
        if chosen is None or identifier in chosen:
            collected.add_body(row, identifier)
    return collected.model()


class _Collected:
    """Nodes and cells of bodies, one body after another."""

    def __init__(self, domain):
        self.domain, self.count = domain, 0
        self.nodes: list[tuple] = []
        self.cells: dict[int, list[MedCells]] = {3: [], 2: [], 0: []}

    def add_body(self, row: int, identifier: int) -> None:
        """Add meshes and all other primitives of a body."""
        deforms, meshes = self.domain.bodies.kind[row] == BodyKind.FINITE_ELEMENT, self.domain.meshes_of(identifier)
        for mesh in meshes:
            self._add_mesh(row, identifier, mesh, deforms)
        if not deforms:
            self._add_primitives(row, identifier)
        if not meshes:
            self._add_kept_elements(row, identifier)

    def model(self) -> MedModel:
        """Join what has been added."""
        shapes = ((0, 3), (0, 3), (0, 3), (0, 6), (0,))
        arrays = [np.concatenate([np.zeros(shape), *(part[k] for part in self.nodes)]) for k, shape in enumerate(shapes)]
        return MedModel(self.domain.time, *arrays, {dimension: MedCells.joined(parts) for dimension, parts in self.cells.items()})

    def _add_nodes(self, reference: np.ndarray, displacement: np.ndarray, velocity, stress, radius=None) -> int:
        """Add nodes; return the number of the first."""
        first = self.count
        self.nodes.append((reference, displacement, velocity, stress, np.zeros(len(reference)) if radius is None else radius))
        self.count += len(reference)
        return first

    def _add_rigid_nodes(self, row: int, reference: np.ndarray, radius=None) -> int:
        """Add points of a rigid or pseudo-rigid body."""
        bodies = self.domain.bodies
        conf = bodies.configurations.conf[:, bodies.conf_slice(row)]
        gradient = conf[:, :3].T if bodies.kind[row] == BodyKind.PSEUDO_RIGID else conf[:, :3]
        displacement = conf[:, 3] + (reference - bodies.centre[:, row]) @ gradient.T - reference
        return self._add_nodes(reference, displacement, *velocity_and_stress(self.domain, row, reference), radius)

    def _add_cells(self, dimension: int, nodes: np.ndarray, identifier: int, number, stress=None) -> None:
        padded = np.full((len(nodes), MOST_NODES), -1)
        padded[:, : nodes.shape[1]] = nodes
        number = np.broadcast_to(np.asarray(number, int), len(nodes))
        stress = np.full((len(nodes), 6), np.nan) if stress is None else stress
        self.cells[dimension].append(MedCells(padded, np.full(len(nodes), identifier), number, stress))

    def _add_mesh(self, row: int, identifier: int, mesh, deforms: bool) -> None:
        """Add nodes, elements and outer faces of a mesh."""
        bodies, topology = self.domain.bodies, mesh.topology
        sizes = np.diff(topology.element_ptr)
        used = used_slots(sizes)
        elements = np.full(used.shape, -1)
        elements[used] = topology.element_nodes
        if deforms:
            own = bodies.meshes[identifier]
            displacement = bodies.configurations.conf[:, bodies.conf_slice(row)].T[: len(own.nodes)].copy()
            velocity = bodies.triples.velo[:, bodies.velo_slice(row)].T[: len(own.nodes)].copy()
            first = self._add_nodes(own.nodes, displacement, velocity, nodal_stress(bodies, row, own, used))
            centres = np.array([np.mean(BY_SIZE[size].nodes, axis=0) for size in sizes.tolist()]).T
            stress = point_values.element_stresses(bodies, row, np.arange(len(sizes)), centres)[:, :6]
        else:
            first = self._add_rigid_nodes(row, mesh.nodes)
            stress = np.tile(point_values.stress(bodies, row, bodies.centre[:, row], self.domain.epsilon)[:6], (len(sizes), 1))
        self._add_cells(3, np.where(elements < 0, -1, elements + first), identifier, mesh.volume_ids, stress)
        faces = topology.face_nodes[topology.boundary]
        self._add_cells(2, np.where(faces < 0, -1, faces + first), identifier, topology.face_surface[topology.boundary])

    def _add_primitives(self, row: int, identifier: int) -> None:
        """Add convexes and ellipsoids as faces, and spheres as their centres."""
        geometry, bodies = self.domain.geometry, self.domain.bodies
        p = geometry.primitives
        start = int(bodies.primitive_ptr[row])
        which = np.arange(start, start + int(bodies.primitive_count[row]))
        kinds = p.kind[which]
        for k in which[kinds == PrimitiveKind.CONVEX].tolist():
            polygons, surfaces = faces_of_convex(geometry, k), geometry.faces.surface[p.face_ptr[k] : p.face_ptr[k] + p.face_count[k]]
            vertices = np.unique(np.concatenate(polygons))
            first = self._add_rigid_nodes(row, geometry.vertices.reference[:, vertices].T)
            for polygon, surface in zip(polygons, surfaces.tolist()):
                self._add_polygon(first + np.searchsorted(vertices, polygon), identifier, surface)
        for k in which[kinds == PrimitiveKind.ELLIPSOID].tolist():
            unit, polygons = unit_sphere()
            centre = geometry.vertices.reference[:, geometry.vertex_lists.vertex[p.vertex_ptr[k]]]
            first = self._add_rigid_nodes(row, centre + unit * p.radii[:, k] @ p.orientation[..., k].T)
            for polygon in polygons:
                self._add_polygon(first + polygon, identifier, int(p.surface[k]))
        balls = which[kinds == PrimitiveKind.SPHERE]
        if balls.size:
            first = self._add_rigid_nodes(row, geometry.vertices.reference[:, geometry.vertex_lists.vertex[p.vertex_ptr[balls]]].T, p.radius[balls])
            self._add_cells(0, first + np.arange(len(balls))[:, None], identifier, p.volume_id[balls])

    def _add_kept_elements(self, row: int, identifier: int) -> None:
        """Add elements of meshes, of which results without their input have those with outer faces."""
        geometry, bodies = self.domain.geometry, self.domain.bodies
        p, start = geometry.primitives, int(bodies.primitive_ptr[row])
        which = np.arange(start, start + int(bodies.primitive_count[row]))
        which = which[p.kind[which] == PrimitiveKind.ELEMENT].tolist()
        if not which:
            return
        lists = [geometry.vertex_lists.vertex[p.vertex_ptr[k] : p.vertex_ptr[k] + p.vertex_count[k]] for k in which]
        vertices = np.unique(np.concatenate(lists))
        first = self._add_rigid_nodes(row, geometry.vertices.reference[:, vertices].T)
        stress = point_values.stress(bodies, row, bodies.centre[:, row], self.domain.epsilon)[None, :6]
        for k, nodes in zip(which, lists):
            self._add_cells(3, first + np.searchsorted(vertices, nodes)[None], identifier, p.volume_id[k], stress)
            for face, polygon in list(enumerate(faces_of_convex(geometry, k)))[: p.outer_count[k]]:
                self._add_polygon(first + np.searchsorted(vertices, polygon), identifier, int(geometry.faces.surface[p.face_ptr[k] + face]))

    def _add_polygon(self, nodes: np.ndarray, identifier: int, surface: int) -> None:
        """Add a convex polygon; one of more than four corners as triangles, for readers without polygons."""
        if len(nodes) > 4:
            nodes = np.stack([np.full(len(nodes) - 2, nodes[0]), nodes[1:-1], nodes[2:]], axis=1)
        self._add_cells(2, np.atleast_2d(nodes), identifier, surface)
