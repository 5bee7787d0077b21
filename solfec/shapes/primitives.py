"""Compiling a body's shape into contact primitives.

Convexes come first, collections merged in the order of the list; meshes, spheres and ellipsoids follow in that order.  Only
elements with a boundary face become primitives, and only their nodes vertices.
"""

from __future__ import annotations

import numpy as np

from .. import _kernels
from ..contact.geometry import NO_CURVATURE, PrimitiveKind, ShapePrimitives, local_corners, no_curvature
from .adjacency import convex_adjacency, element_adjacency
from .convex import Convex
from .coplanar import extent, in_use, merged
from .ellipsoid import Ellipsoid
from .identifiers import INTERNAL_FACE
from .mesh import Mesh, upright, warn_of_concave
from .polyhedron import FLAT, Polyhedron
from .seams import hide_seams
from .sphere import Sphere
from .vectors import cross

WARPED = 1e-9  # sine of the angle between the triangles of a quadrilateral above which it is split: that of round-off

_moments_of_one = _kernels.polyhedron_moments.moments_of_one

NO_ROWS = np.zeros(0, np.int32)
ZERO = np.zeros(1, np.int32)
ONE = np.ones(1, np.int32)
NO_RADIUS = np.zeros(1)
SPHERE, ELLIPSOID, CONVEX = (np.array([kind], np.int32) for kind in (PrimitiveKind.SPHERE, PrimitiveKind.ELLIPSOID, PrimitiveKind.CONVEX))

NO_NEIGHBOURS = dict(adjacency=NO_ROWS, adjacent_ptr=ZERO, adjacent_count=ZERO)
BALL = dict(
    vertex_list=ZERO, vertex_ptr=ZERO, vertex_count=ONE, corners=NO_ROWS, local=NO_ROWS, face_corner_ptr=NO_ROWS,
    face_corner_count=NO_ROWS, face_surface=NO_ROWS, face_ptr=ZERO, face_count=ZERO, outer_count=ZERO, **NO_NEIGHBOURS,
)  # fmt: skip
"""Columns that are the same for all spheres and ellipsoids."""
ROUND = dict(**BALL, **NO_CURVATURE, kind=SPHERE)
"""Columns that are the same for all spheres."""

OFFSETS = {
    "vertex_list": "vertices", "vertex_ptr": "vertex_list", "corners": "vertices", "face_corner_ptr": "corners",
    "face_ptr": "face_surface", "adjacency": "kind", "adjacent_ptr": "adjacency",
}  # fmt: skip
"""Columns that hold row numbers, each with a column of the table that it points into."""


def compile(shapes, epsilon: float, whole: bool = False, seams: bool = True) -> ShapePrimitives:
    """Make the contact primitives of one body.

    Parameters
    ----------
    shapes : Convex, Mesh, Sphere, Ellipsoid or list of these
        The body's shape.
    epsilon : float
        Geometric epsilon (units of length): convexes closer than this are adjacent.
    whole : bool
        Keep warped quadrilaterals of meshes whole, since their warping will change (finite element bodies).
    seams : bool
        Whether faces that lie wholly against other convexes belong to the surface.

    Returns
    -------
    ShapePrimitives
        Independent of the shapes' vertices; arrays that depend on topology alone may be shared between bodies and
        must not be written.
    """
    if not isinstance(shapes, (list, tuple)):
        shapes = [shapes]
    if len(shapes) == 1 and isinstance(shapes[0], Convex) and len(shapes[0].polyhedra) == 1:
        return polyhedron_primitive(shapes[0].polyhedra[0])
    polyhedra = [p for shape in shapes if isinstance(shape, Convex) for p in shape.polyhedra]
    parts = [polyhedron_primitive(p) for p in polyhedra]
    for shape in shapes:
        if isinstance(shape, Sphere):
            parts.append(sphere_primitive(shape))
        elif isinstance(shape, Ellipsoid):
            parts.append(ellipsoid_primitive(shape))
        elif isinstance(shape, Mesh):
            parts.append(mesh_primitives(shape, whole))
    result = parts[0] if len(parts) == 1 else join(parts)
    if len(polyhedra) > 1:
        pointers, neighbours = convex_adjacency([part.vertices.T for part in parts[: len(polyhedra)]], epsilon)
        insert_adjacency(result, pointers, neighbours)
        if not seams:
            hide_seams(result, pointers, neighbours, epsilon)
    return result


def sphere_primitive(sphere: Sphere) -> ShapePrimitives:
    """The single primitive of a sphere: its centre as vertex, a radius, no faces."""
    return ShapePrimitives.of(ROUND, **centred(sphere), radius=np.array([sphere.radius]))


def ellipsoid_primitive(ellipsoid: Ellipsoid) -> ShapePrimitives:
    """The single primitive of an ellipsoid: its centre as vertex, semi-axes and their directions, no faces."""
    return ShapePrimitives.of(
        BALL, **centred(ellipsoid), kind=ELLIPSOID, radius=NO_RADIUS,
        radii=ellipsoid.radii.reshape(3, 1), orientation=ellipsoid.rotation.reshape(3, 3, 1),
    )  # fmt: skip


def centred(shape: Sphere | Ellipsoid) -> dict:
    """Return the columns that differ between spheres, and between ellipsoids, and that both have."""
    return dict(
        vertices=shape.centre.copy().reshape(3, 1),
        volume_id=np.array([shape.volume_id], np.int32), surface=np.array([shape.surface_id], np.int32),
    )  # fmt: skip


def polyhedron_primitive(polyhedron: Polyhedron) -> ShapePrimitives:
    """The single primitive of a polyhedron, with merged coplanar faces and without unused vertices."""
    face_set = polyhedron.face_set
    if face_set.contact is None:
        face_set.contact = polyhedron_columns(polyhedron)
    used, columns = face_set.contact
    vertices = np.array(polyhedron.vertices[used].T, order="F")
    return ShapePrimitives.of(columns, vertices=vertices, volume_id=np.array([polyhedron.volume_id], np.int32))


def polyhedron_columns(polyhedron: Polyhedron) -> tuple[np.ndarray | slice, dict]:
    """Vertices in use (a slice: all of them), and the columns of the primitive that do not change under rigid motion; ValueError without volume."""
    vertices, face_set = polyhedron.vertices, polyhedron.face_set
    scaled = (vertices - vertices[0]) / extent(vertices)
    if not _moments_of_one(scaled.T, face_set.triangles.T)[0] > FLAT:
        raise ValueError("a CONVEX has no volume: its vertices lie in a plane")
    start, corners, surfaces = merged(vertices, face_set)
    used, corners = in_use(len(vertices), corners)
    count = len(vertices) if isinstance(used, slice) else len(used)
    columns = dict(
        vertex_list=np.arange(count, dtype=np.int32), vertex_ptr=ZERO,
        vertex_count=np.array([count], np.int32),
        corners=corners, face_corner_ptr=start[:-1], face_corner_count=np.diff(start),
        face_surface=surfaces,
        kind=CONVEX, surface=ZERO, radius=NO_RADIUS,
        face_ptr=ZERO, face_count=np.array([len(surfaces)], np.int32),
        outer_count=np.array([np.count_nonzero(surfaces != INTERNAL_FACE)], np.int32), **NO_NEIGHBOURS,
    )  # fmt: skip
    columns["local"] = local_corners(count, columns)
    columns.update(no_curvature(1))
    return used, columns


def mesh_primitives(mesh: Mesh, whole: bool = False) -> ShapePrimitives:
    """The primitives of a mesh: surface elements in element order, boundary faces before internal ones."""
    used, surface_elements, columns = mesh_columns(mesh, whole)
    vertices = np.asfortranarray(mesh.nodes[used].T)
    return ShapePrimitives(vertices=vertices, volume_id=mesh.volume_ids[surface_elements], **columns)


def mesh_columns(mesh: Mesh, whole: bool = False) -> tuple[np.ndarray, np.ndarray, dict]:
    """Nodes in use, surface elements, and the columns of primitives that do not change under rigid motion."""
    topology = mesh.topology
    if whole not in topology.contact:
        topology.contact[whole] = new_mesh_columns(mesh, whole)
    return topology.contact[whole]


def new_mesh_columns(mesh: Mesh, whole: bool) -> tuple[np.ndarray, np.ndarray, dict]:
    """Compute `mesh_columns`; ValueError for elements that have been turned inside out since the mesh was made."""
    topology = mesh.topology
    if "upright" not in topology.passed:
        upright(mesh.nodes, topology.element_ptr, topology.element_nodes, turn=False)
        topology.passed.add("upright")
    warn_of_concave(mesh.nodes, topology)
    if not whole and (np.abs(fold_sines(mesh.nodes, topology.face_nodes[topology.face_nodes[:, 3] >= 0])) > WARPED).any():
        return split_columns(mesh, whole)
    if True not in topology.shared:  # no face is split
        topology.shared[True] = split_columns(mesh, True)
    return topology.shared[True]


def split_columns(mesh: Mesh, whole: bool) -> tuple[np.ndarray, np.ndarray, dict]:
    """As `mesh_columns`, of elements that have been checked."""
    topology = mesh.topology
    elements = topology.surface_elements
    count = len(elements)
    number = np.full(topology.element_count, -1)
    number[elements] = np.arange(count)
    sizes = np.diff(topology.element_ptr)
    listed = np.repeat(number >= 0, sizes)
    nodes = topology.element_nodes[listed]
    present = np.zeros(topology.node_count, bool)
    present[nodes] = True
    used, rank = np.flatnonzero(present), np.cumsum(present) - 1
    vertex_list = rank[nodes]
    vertex_count = sizes[elements].astype(np.int32)

    faces = np.flatnonzero(number[topology.face_element] >= 0)
    faces = faces[np.argsort(2 * topology.face_element[faces] + ~topology.boundary[faces], kind="stable")]  # they are in the order of elements and index
    corners, corner_count, pieces = split_warped(mesh.nodes, topology.face_nodes.take(faces, 0), np.inf if whole else WARPED)
    owner = np.repeat(number[topology.face_element[faces]], pieces)
    outer = np.repeat(topology.boundary[faces], pieces)
    face_count = np.bincount(owner, minlength=count).astype(np.int32)
    pointers, neighbours = element_adjacency(vertex_count, vertex_list)
    columns = dict(
        vertex_list=vertex_list.astype(np.int32), vertex_ptr=starts(vertex_count), vertex_count=vertex_count,
        corners=rank[corners].astype(np.int32),
        face_corner_ptr=starts(corner_count), face_corner_count=corner_count,
        face_surface=np.repeat(topology.face_surface[faces], pieces),
        kind=np.full(count, PrimitiveKind.ELEMENT, np.int32),
        surface=np.zeros(count, np.int32), radius=np.zeros(count),
        face_ptr=starts(face_count), face_count=face_count,
        outer_count=np.bincount(owner[outer], minlength=count).astype(np.int32),
        adjacency=neighbours, adjacent_ptr=pointers[:-1], adjacent_count=np.diff(pointers),
    )  # fmt: skip
    columns["local"] = local_corners(len(used), columns)
    columns.update(no_curvature(count))
    return used, elements, columns


def split_warped(nodes: np.ndarray, face_nodes: np.ndarray, limit: float = WARPED) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Replace warped quadrilaterals by the two triangles of their ridge diagonal.

    Parameters
    ----------
    nodes : ndarray (n, 3)
        Coordinates.
    face_nodes : ndarray (nf, 4) of int
        Node numbers, -1 after the third of a triangle.

    Returns
    -------
    corners : ndarray
        Node numbers of the resulting faces, one after another.
    corner_count : ndarray int32
        Number of corners of every resulting face.
    pieces : ndarray (nf,)
        Number of faces (1 or 2) that each given face became.
    """
    if limit == np.inf:  # no face is that warped
        present = face_nodes >= 0
        return face_nodes[present], present.sum(1).astype(np.int32), np.ones(len(face_nodes), int)
    table = np.full((len(face_nodes), 2, 4), -1)
    table[:, 0] = face_nodes
    quads = np.flatnonzero(face_nodes[:, 3] >= 0)
    a, b, c, d = face_nodes[quads].T
    sine = fold_sines(nodes, face_nodes[quads])
    for rows, triangles in ((sine > limit, ((a, b, c), (a, c, d))), (sine < -limit, ((a, b, d), (b, c, d)))):
        for slot, triangle in enumerate(triangles):
            table[quads[rows], slot, :3] = np.stack(triangle, 1)[rows]
            table[quads[rows], slot, 3] = -1
    present = table >= 0
    counts = present.sum(2)
    return table[present], counts[counts > 0].astype(np.int32), (counts > 0).sum(1)


def fold_sines(nodes: np.ndarray, quads: np.ndarray) -> np.ndarray:
    """Sines of the angles between the triangles (a, b, c) and (a, c, d) of quadrilaterals; positive where c-a is a ridge that is to stay."""
    p, q, r, s = (nodes[quads[:, k]] for k in range(4))
    fold = cross(unit_normals(p, q, r), unit_normals(p, r, s))
    return np.sqrt((fold**2).sum(1)) * np.sign((fold * (p - r)).sum(1))


def unit_normals(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Unit normals of triangles with corners a, b, c (n, 3)."""
    normals = cross(b - a, c - a)
    return normals / np.sqrt((normals**2).sum(1, keepdims=True))


def starts(counts: np.ndarray) -> np.ndarray:
    """Return the start of each of consecutive lists of the given lengths."""
    return (np.cumsum(counts) - counts).astype(np.int32)


def join(parts: list[ShapePrimitives]) -> ShapePrimitives:
    """Concatenate primitives of several shapes."""
    columns = {}
    for name in ShapePrimitives.NAMES:
        arrays = [getattr(part, name) for part in parts]
        column = np.concatenate(arrays, axis=-1)
        if name in OFFSETS:
            lengths = np.array([getattr(part, OFFSETS[name]).shape[-1] for part in parts])
            shift = np.cumsum(lengths) - lengths
            column = column + np.repeat(shift, [a.size for a in arrays]).astype(np.int32)
        columns[name] = column
    columns["vertices"] = np.asfortranarray(columns["vertices"])
    return ShapePrimitives(**columns)


def insert_adjacency(shape: ShapePrimitives, pointers: np.ndarray, neighbours: np.ndarray) -> None:
    """Set the neighbours of the leading primitives, which have none yet, to the compressed rows (pointers, neighbours)."""
    count = len(pointers) - 1
    shape.adjacency = np.concatenate((neighbours.astype(np.int32), shape.adjacency))
    shape.adjacent_ptr = shape.adjacent_ptr + np.int32(len(neighbours))
    shape.adjacent_ptr[:count] = pointers[:-1]
    shape.adjacent_count = shape.adjacent_count.copy()
    shape.adjacent_count[:count] = np.diff(pointers)
