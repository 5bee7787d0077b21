"""Bodies cut by the plane of a crack: their shapes, and the parts that become fragments, with their states."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field

import numpy as np

from .bodies.cracks import Crack, Section, section_of
from .bodies.table import REDUCED_FORMS, BodyKind, Form
from .connected import components
from .contact.geometry import PrimitiveKind
from .errors import SolfecError, SolfecWarning
from .shapes.adjacency import convex_adjacency
from .shapes.convex import Convex
from .shapes.mesh import Mesh
from .shapes.plane_cut import Piece, Refined, refined, separated
from .shapes.polyhedron import FaceSet, Polyhedron
from .shapes.split_convex import halves, split_convexes


@dataclass
class Part:
    """Shape and state of a fragment.

    Attributes
    ----------
    shapes : list of Convex or Mesh
    above : bool
        On which side of the cut it is.
    within : Mesh, optional
        The mesh of finite elements round a shape of convexes.
    elements : ndarray (ne,), optional
        For finite elements (or `within`): the body's element of each element.
    conf, velo : ndarray (n, 3), optional
        For finite elements (or `within`): displacements and velocities of nodes.
    label : str or None
    """

    shapes: list
    above: bool
    within: Mesh | None = None
    elements: np.ndarray | None = None
    conf: np.ndarray | None = None
    velo: np.ndarray | None = None
    label: str | None = None


@dataclass
class Cut:
    """A body cut into parts; `exact` unless the plane goes through finite elements."""

    parts: list[Part] = field(default_factory=list)
    exact: bool = True


# --- shapes of bodies ------------------------------------------------------------------------------------


def polyhedra_of(domain, identifier: int) -> list[Polyhedron]:
    """The convexes of a body's shape in their referential placement, coplanar faces merged."""
    geometry, bodies = domain.geometry, domain.bodies
    primitives, faces = geometry.primitives, geometry.faces
    row = domain.body_row(identifier)
    first = int(bodies.primitive_ptr[row])
    result = []
    for k in range(first, first + int(bodies.primitive_count[row])):
        if primitives.kind[k] != PrimitiveKind.CONVEX:
            continue
        start = int(primitives.vertex_ptr[k])
        vertices = geometry.vertex_lists.vertex[start : start + int(primitives.vertex_count[k])]
        number = {int(vertex): n for n, vertex in enumerate(vertices)}
        lists, surfaces = [], []
        for f in range(int(primitives.face_ptr[k]), int(primitives.face_ptr[k]) + int(primitives.face_count[k])):
            start = int(faces.corner_ptr[f])
            lists.append(tuple(number[int(v)] for v in geometry.corners.vertex[start : start + int(faces.corner_count[f])]))
            surfaces.append(int(faces.surface[f]))
        points = geometry.vertices.reference[:, vertices].T.copy()
        result.append(Polyhedron.trusted(points, FaceSet(tuple(lists), np.array(surfaces, np.int32)), int(primitives.volume_id[k])))
    return result


def check_can_crack(domain, identifier: int, average: float | None) -> None:
    """Raise ValueError for bodies that no plane can cut, and times of averages that do not fit the body's kind."""
    row = domain.body_row(identifier)
    kind, form = BodyKind(int(domain.bodies.kind[row])), Form(int(domain.bodies.form[row]))
    name = domain.bodies.name(identifier)
    if kind == BodyKind.OBSTACLE:
        raise ValueError(f"{name} is an obstacle; obstacles do not crack")
    if kind == BodyKind.RIGID and average is None:
        raise ValueError(f"{name} is rigid; give 'average', the time over which the stress that its forces make is averaged (0: a step)")
    if kind != BodyKind.RIGID and average is not None:
        raise ValueError(f"'average' is a time for RIGID bodies, whose stress follows from forces; {name} is of kind {kind.name}")
    if form in REDUCED_FORMS:
        raise ValueError(f"{name} is of form {form.label!r}, whose base is of the whole body; it cannot be cut")
    kinds = set(domain.geometry.kinds_of(domain.bodies, row).tolist())
    for curved in kinds & {PrimitiveKind.SPHERE, PrimitiveKind.ELLIPSOID}:
        raise ValueError(f"the shape of {name} holds a {PrimitiveKind(curved).name}, which cannot be cut; only CONVEX and MESH can")


# --- cutting by a plane ----------------------------------------------------------------------------------------


def refined_mesh(domain, identifier: int, crack: Crack) -> Refined:
    """Return the mesh of a body, refined so that the plane of a crack crosses no element."""
    try:
        return refined(domain.meshes_of(identifier)[0], np.array(crack.point), np.array(crack.normal), domain.epsilon)
    except ValueError as error:
        raise SolfecError(f"{domain.bodies.name(identifier)}: {error}") from None


def crack_section(domain, identifier: int, crack: Crack) -> Section:
    """Return the points at which the tension across a crack of a finite element body is evaluated."""
    whole = refined_mesh(domain, identifier, crack)
    return section_of(domain.bodies, domain.body_row(identifier), whole, crack, domain.epsilon)


def cut_body(domain, identifier: int, crack: Crack) -> Cut | None:
    """Cut a body along a crack; parts from which the normal points come first; None if the plane misses the body's shape."""
    bodies, row = domain.bodies, domain.body_row(identifier)
    held = bodies.meshes.get(identifier)
    if held is not None and held.background is None:
        return _cut_elements(domain, identifier, crack)
    polyhedra = polyhedra_of(domain, identifier)
    meshes = [] if held is not None else domain.meshes_of(identifier)
    sides, cut = _cut_shapes(polyhedra, meshes, crack, domain.epsilon)
    if not cut:
        return None
    parts = [Part(shapes, above) for above, groups in enumerate(sides) for shapes in groups]
    if held is not None:
        whole = domain.meshes_of(identifier)[0]
        nodes = slice(0, len(whole.nodes))
        conf, velo = (table[:, where].T[nodes] for table, where in triples_of(bodies, row))
        for part in parts:
            part.within, part.conf, part.velo = whole, conf, velo
    _name(parts, domain.body_labels.get(identifier))
    return Cut(parts)


def triples_of(bodies, row: int) -> tuple:
    """Return the columns of configuration and velocity with the slices of a body in them."""
    return (bodies.configurations.conf, bodies.conf_slice(row)), (bodies.triples.velo, bodies.velo_slice(row))


def _cut_elements(domain, identifier: int, crack: Crack) -> Cut | None:
    """Cut a body of finite elements whose mesh is its shape."""
    bodies, row = domain.bodies, domain.body_row(identifier)
    whole = refined_mesh(domain, identifier, crack)
    if whole.above.all() or not whole.above.any():
        return None
    pieces = separated(whole, crack.surfaces, np.array(crack.point) if crack.connected else None, domain.epsilon)
    if pieces is None:
        return None
    conf, velo = (whole.interpolated(table[:, where].T) for table, where in triples_of(bodies, row))
    parts = [
        Part([piece.mesh], bool(whole.above[piece.elements].all()), None, whole.elements[piece.elements], conf[piece.nodes], velo[piece.nodes])
        for piece in pieces
    ]
    _name(parts, domain.body_labels.get(identifier))
    return Cut(parts, exact=whole.mesh is domain.meshes_of(identifier)[0])


def _cut_shapes(polyhedra, meshes, crack: Crack, epsilon: float) -> tuple[tuple[list, list], bool]:
    """Return connected shapes below and above a plane, and whether anything was cut."""
    point, normal = np.array(crack.point), np.array(crack.normal)
    pieces: list[list] = [[], []]  # meshes below and above
    cut = False
    for mesh in meshes:
        whole = refined(mesh, point, normal, epsilon)
        parts = separated(whole, crack.surfaces, point if crack.connected else None, epsilon) if 0 < whole.above.sum() < len(whole.above) else None
        cut = cut or parts is not None
        for part in parts or [Piece(mesh, np.arange(len(whole.above)), np.arange(0))]:
            sides = whole.above if parts is None else whole.above[part.elements]
            pieces[int(sides.all())].append(part.mesh)
    convexes, crossed, parted = _cut_convexes(polyhedra, point, normal, crack, epsilon)
    if crossed and not parted:  # opened in part
        return ([[Convex(convexes[0]), *pieces[0], *pieces[1]]], []), True
    cut = cut or crossed
    if len(meshes) == 1 and not polyhedra:
        return tuple([[mesh] for mesh in side] for side in pieces), cut
    if not meshes:
        return tuple(_connected(side, epsilon) for side in convexes), cut
    sides = tuple([[*([Convex(whole)] if whole else []), *side]] if whole or side else [] for whole, side in zip(convexes, pieces))
    return sides, cut


def _cut_convexes(polyhedra, point, normal, crack: Crack, epsilon: float) -> tuple:
    """Return polyhedra below and above, whether the plane crosses any or runs between them, and whether it separates them."""
    if not polyhedra:
        return ([], []), False, False
    if crack.connected:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SolfecWarning)  # the caller reports if nothing was cut
            below, above = split_convexes(polyhedra, point, normal, crack.surfaces, True, epsilon)
        sides = tuple([p for convex in side for p in convex.polyhedra] for side in (below, above))
        if not above:
            return sides, len(sides[0]) > len(polyhedra), False
    else:
        pairs = [halves(p, point, normal, crack.surfaces, epsilon) for p in polyhedra]
        sides = tuple([pair[side] for pair in pairs if pair[side] is not None] for side in (0, 1))
    return sides, bool(sides[0] and sides[1]), True


def _connected(polyhedra: list, epsilon: float) -> list[list]:
    """Return one shape for each group of polyhedra that touch."""
    if not polyhedra:
        return []
    pointers, neighbours = convex_adjacency([p.vertices for p in polyhedra], epsilon)
    number = np.arange(len(polyhedra))
    labels = components(len(polyhedra), np.repeat(number, np.diff(pointers)), neighbours)
    return [[Convex([polyhedra[k] for k in np.flatnonzero(labels == label)])] for label in dict.fromkeys(labels.tolist())]


def _name(parts: list[Part], label: str | None) -> None:
    """Set labels of fragments: L/1 below and L/2 above, several on one side L/1/0, L/1/1 and so on; a single part keeps the label."""
    if label is None or len(parts) == 1:
        for part in parts:
            part.label = label
        return
    for above in (False, True):
        side = [part for part in parts if part.above == above]
        for number, part in enumerate(side):
            part.label = f"{label}/{1 + above}" + (f"/{number}" if len(side) > 1 else "")
