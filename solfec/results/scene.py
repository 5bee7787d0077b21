"""Arrays of a model at one instant for exports: grids of bodies, spheres, constraints."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from ..bodies import motion, point_values
from ..bodies.table import BodyKind
from ..contact.geometry import PrimitiveKind
from ..element_types import BY_SIZE, used_slots
from ..tables import pointers_of

POLYGON = 7  # cell type of VTK
MERIDIANS, PARALLELS = 24, 12  # of the polygons that represent an ellipsoid


@dataclass
class Points:
    """Points that move with bodies.

    Attributes
    ----------
    position, displacement, velocity : ndarray (n, 3)
    stress : ndarray (n, 6)
        sx, sy, sz, sxy, sxz, syz of the Cauchy stress.
    body : ndarray (n,)
        Identifiers of bodies.
    """

    position: np.ndarray
    displacement: np.ndarray
    velocity: np.ndarray
    stress: np.ndarray
    body: np.ndarray


@dataclass
class Cells:
    """Volume elements of meshes, and polygons of convexes and ellipsoids.

    Attributes
    ----------
    types : ndarray (m,) uint8
        Cell types of VTK.
    connectivity, offsets : ndarray, ndarray (m + 1,)
        Points of all cells, one after another, and where those of each begin.
    body, volume : ndarray (m,)
        Identifiers of bodies and volumes.
    """

    types: np.ndarray
    connectivity: np.ndarray
    offsets: np.ndarray
    body: np.ndarray
    volume: np.ndarray


@dataclass
class Spheres(Points):
    """Centres of spheres, with the `radius` (n,)."""

    radius: np.ndarray


@dataclass
class Constraints:
    """Constraints: `position`, `reaction`, `velocity` (n, 3) in space, `gap`, `damage`, `kind`, `master`, `slave` (n,), body
    identifiers, 0 where there is no slave."""

    position: np.ndarray
    reaction: np.ndarray
    velocity: np.ndarray
    gap: np.ndarray
    damage: np.ndarray
    kind: np.ndarray
    master: np.ndarray
    slave: np.ndarray


@dataclass
class Scene:
    """Points, cells, spheres and constraints at `time`; points and cells are sorted by body identifier."""

    time: float
    points: Points
    cells: Cells
    spheres: Spheres
    constraints: Constraints


def scene_of(domain, chosen: set[int] | None = None) -> Scene:
    """Make the scene of a domain at its present state, with all bodies or those with the `chosen` identifiers.

    Interior elements of meshes that do not deform are left out: they are not kept.
    """
    domain.states.update_shapes()
    bodies = domain.bodies
    rows = [row for row in range(bodies.n) if chosen is None or int(bodies.id[row]) in chosen]
    points, cells, spheres, count = [], [], [], 0
    for row in rows:
        piece, grid = _mesh(domain, row) if _is_own_mesh(domain, row) else _primitives(domain, row)
        grid.connectivity = grid.connectivity + count
        count += len(piece.position)
        points.append(piece)
        cells.append(grid)
        spheres.append(_spheres(domain, row))
    grid = _joined(Cells, cells)
    sizes = np.concatenate([np.diff(cell.offsets) for cell in cells]) if cells else np.zeros(0, int)
    grid.offsets = pointers_of(sizes)
    return Scene(domain.time, _joined(Points, points), grid, _joined(Spheres, spheres), _constraints(domain, rows))


def _joined(kind: type, pieces: list):
    """Join the arrays of all pieces into one object; without pieces its arrays are empty."""
    if not pieces:
        shapes = {"position": (0, 3), "displacement": (0, 3), "velocity": (0, 3), "stress": (0, 6)}
        return kind(*(np.zeros(shapes.get(f.name, 0), float if f.name in (*shapes, "radius") else int) for f in fields(kind)))
    return kind(*(np.concatenate([getattr(piece, f.name) for piece in pieces]) for f in fields(kind)))


def _is_own_mesh(domain, row: int) -> bool:
    bodies = domain.bodies
    return bodies.kind[row] == BodyKind.FINITE_ELEMENT and bodies.meshes[int(bodies.id[row])].background is None


def _mesh(domain, row: int) -> tuple[Points, Cells]:
    """Points and cells of a finite element body: nodes and all elements of its mesh."""
    bodies = domain.bodies
    identifier = int(bodies.id[row])
    mesh = bodies.meshes[identifier]
    nodes = slice(0, len(mesh.nodes))  # behind them stand rotation and reduced velocities of a body in a base
    position = bodies.configurations.conf[:, bodies.conf_slice(row)].T[nodes] + mesh.nodes
    velocity = bodies.triples.velo[:, bodies.velo_slice(row)].T[nodes]
    used = used_slots(mesh.sizes)
    volume = mesh.volume_ids
    if volume is None:  # results of older versions: elements with outer faces have theirs
        own = slice(int(bodies.primitive_ptr[row]), int(bodies.primitive_ptr[row] + bodies.primitive_count[row]))
        volume = np.full(len(mesh.sizes), int(domain.geometry.primitives.volume_id[own.start]) if own.stop > own.start else 0)
        volume[domain.geometry.primitives.element[own]] = domain.geometry.primitives.volume_id[own]
    kinds = [BY_SIZE[size] for size in mesh.sizes.tolist()]
    lists = [nodes[kind.file_nodes] for nodes, kind in zip(mesh.elements, kinds)]
    body = np.full(len(mesh.nodes), identifier)
    points = Points(position, position - mesh.nodes, velocity.copy(), nodal_stress(bodies, row, mesh, used), body)
    return points, _cells([kind.vtk for kind in kinds], lists, identifier, volume)


def nodal_stress(bodies, row: int, mesh, used: np.ndarray) -> np.ndarray:
    """Stress (n, 6) at nodes, the mean over their elements."""
    elements, slots = np.nonzero(used)
    natural = np.array([BY_SIZE[int(mesh.sizes[e])].nodes[slot] for e, slot in zip(elements, slots)], float).T
    stress = point_values.element_stresses(bodies, row, elements, natural)[:, :6]
    nodes = mesh.elements[elements, slots]
    total = np.zeros((len(mesh.nodes), 6))
    np.add.at(total, nodes, stress)
    return total / np.maximum(np.bincount(nodes, minlength=len(mesh.nodes)), 1)[:, None]


def _primitives(domain, row: int) -> tuple[Points, Cells]:
    """Points and cells of any other body: elements, faces of convexes, polygons of ellipsoids; no spheres."""
    geometry, bodies = domain.geometry, domain.bodies
    p = geometry.primitives
    first = int(bodies.primitive_ptr[row])
    which = range(first, first + int(bodies.primitive_count[row]))
    solid = [k for k in which if p.kind[k] in (PrimitiveKind.CONVEX, PrimitiveKind.ELEMENT)]
    listed = [geometry.vertex_lists.vertex[p.vertex_ptr[k] : p.vertex_ptr[k] + p.vertex_count[k]] for k in solid]
    vertices = np.unique(np.concatenate(listed)) if listed else np.zeros(0, int)
    reference = [geometry.vertices.reference[:, vertices].T]
    position = [geometry.vertices.current[:, vertices].T]
    types, lists, volumes = [], [], []
    for k, nodes in zip(solid, listed):
        if p.kind[k] == PrimitiveKind.ELEMENT:
            found = [(BY_SIZE[len(nodes)].vtk, nodes[BY_SIZE[len(nodes)].file_nodes])]
        else:
            found = [(POLYGON, corners) for corners in faces_of_convex(geometry, k)]
        types += [kind for kind, _ in found]
        lists += [np.searchsorted(vertices, corners) for _, corners in found]
        volumes += [int(p.volume_id[k])] * len(found)
    count = len(vertices)
    for k in which:
        if p.kind[k] == PrimitiveKind.ELLIPSOID:
            centre = int(geometry.vertex_lists.vertex[p.vertex_ptr[k]])
            unit, polygons = unit_sphere()
            reference.append(geometry.vertices.reference[:, centre] + unit * p.radii[:, k] @ p.orientation[..., k].T)
            position.append(geometry.vertices.current[:, centre] + unit @ p.axes[..., k].T)
            types += [POLYGON] * len(polygons)
            lists += [polygon + count for polygon in polygons]
            volumes += [int(p.volume_id[k])] * len(polygons)
            count += len(unit)
    identifier = int(bodies.id[row])
    reference, position = np.concatenate(reference), np.concatenate(position)
    points = Points(position, position - reference, *velocity_and_stress(domain, row, reference), np.full(count, identifier))
    return points, _cells(types, lists, identifier, np.array(volumes, int))


def faces_of_convex(geometry, primitive: int) -> list[np.ndarray]:
    """Vertex numbers of the polygons of a convex."""
    p, faces = geometry.primitives, geometry.faces
    rows = range(p.face_ptr[primitive], p.face_ptr[primitive] + p.face_count[primitive])
    starts = [(int(faces.corner_ptr[k]), int(faces.corner_count[k])) for k in rows]
    return [geometry.corners.vertex[start : start + count] for start, count in starts]


def unit_sphere() -> tuple[np.ndarray, list[np.ndarray]]:
    """Points (n, 3) of a sphere of radius 1 and the polygons between meridians and parallels."""
    height, turn = np.linspace(0, np.pi, PARALLELS + 1)[1:-1], np.linspace(0, 2 * np.pi, MERIDIANS, endpoint=False)
    t, a = (grid.ravel() for grid in np.meshgrid(height, turn, indexing="ij"))
    points = np.vstack([np.stack([np.sin(t) * np.cos(a), np.sin(t) * np.sin(a), np.cos(t)], 1), [(0, 0, 1), (0, 0, -1)]])
    north, south = len(points) - 2, len(points) - 1
    last = (PARALLELS - 2) * MERIDIANS
    polygons = []
    for m in range(MERIDIANS):
        n = (m + 1) % MERIDIANS
        polygons.append(np.array([north, m, n]))
        polygons += [np.array([k + m, k + MERIDIANS + m, k + MERIDIANS + n, k + n]) for k in range(0, last, MERIDIANS)]
        polygons.append(np.array([south, last + n, last + m]))
    return points, polygons


def _cells(types: list[int], lists: list[np.ndarray], body: int, volume: np.ndarray) -> Cells:
    sizes = np.array([len(nodes) for nodes in lists], int)
    connectivity = np.concatenate(lists) if lists else np.zeros(0, int)
    offsets = pointers_of(sizes)
    return Cells(np.array(types, np.uint8), connectivity, offsets, np.full(len(types), body), volume)


def _spheres(domain, row: int) -> Spheres:
    geometry, bodies = domain.geometry, domain.bodies
    p = geometry.primitives
    first = int(bodies.primitive_ptr[row])
    which = first + np.flatnonzero(p.kind[first : first + int(bodies.primitive_count[row])] == PrimitiveKind.SPHERE)
    centres = geometry.vertex_lists.vertex[p.vertex_ptr[which]]
    reference, position = geometry.vertices.reference[:, centres].T, geometry.vertices.current[:, centres].T
    velocity, stress = velocity_and_stress(domain, row, reference)
    body = np.full(len(which), int(bodies.id[row]))
    return Spheres(position.copy(), position - reference, velocity, stress, body, p.radius[which])


def velocity_and_stress(domain, row: int, reference: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Velocities (n, 3) and stresses (n, 6) at referential points (n, 3) of a body."""
    bodies = domain.bodies
    count = len(reference)
    if not count:
        return np.zeros((0, 3)), np.zeros((0, 6))
    if bodies.kind[row] != BodyKind.FINITE_ELEMENT:
        velocity = motion.point_velocities(bodies, np.full(count, row), reference.T).T
        return velocity, np.tile(point_values.stress(bodies, row, bodies.centre[:, row], domain.epsilon)[:6], (count, 1))
    velocity = [point_values.velocity(bodies, row, point, domain.epsilon) for point in reference]
    stress = [point_values.stress(bodies, row, point, domain.epsilon)[:6] for point in reference]
    return np.reshape(velocity, (count, 3)), np.reshape(stress, (count, 6))


def _constraints(domain, rows: list[int]) -> Constraints:
    """Constraints with at least one body that is shown."""
    table, identifiers = domain.constraints, domain.bodies.view("id")
    master, slave = table.view("master"), table.view("slave")
    which = np.flatnonzero(np.isin(master, rows) | np.isin(slave, rows))
    base = table.view("base")[..., which]
    reaction, velocity = (np.einsum("ijn,jn->ni", base, table.view(name)[:, which]) for name in "RU")
    other = np.where(slave[which] >= 0, identifiers[np.maximum(slave[which], 0)], 0)
    return Constraints(
        table.view("point")[:, which].T.copy(), reaction, velocity, table.view("gap")[which].copy(), table.view("damage")[which].copy(),
        table.view("kind")[which].copy(), identifiers[master[which]], other,
    )  # fmt: skip
