"""A model as rigid blocks for another code: convex polyhedra, one friction coefficient, gravity and constant forces."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import SolfecError
from ..kinds import BodyKind, LoadKind, PrimitiveKind, SurfaceModel
from ..shapes.polyhedron import FaceSet, Polyhedron
from ..shapes.split_convex import halves
from ..tables import pointers_of

SAME = 1e-9  # relative difference up to which numbers count as equal


@dataclass
class RigidBlocks:
    """Convex polyhedra at the present configuration of a model; an obstacle of several convexes makes several blocks.

    Attributes
    ----------
    body : ndarray (n,) of int
        Identifiers of the bodies; primitive (n,) are rows of the geometry's primitives.
    fixed : ndarray (n,) of bool
        True for blocks of obstacles.
    density : ndarray (n,)
        [mass per volume]
    centre : ndarray (n, 3)
        Mass centres [length].
    arm : ndarray (m, 3)
        Vertices relative to the centres of their bodies, in axes that turn with these.
    vertex_ptr, triangle_ptr : ndarray (n + 1,) of int
        First vertex and triangle of every block.
    vertex : ndarray (m, 3)
        Vertices, relative to centres, in spatial directions [length].
    triangle : ndarray (k, 3) of int
        Vertices of triangles, counted in each block, counter-clockwise seen from outside.
    friction : float
    """

    body: np.ndarray
    primitive: np.ndarray
    fixed: np.ndarray
    density: np.ndarray
    centre: np.ndarray
    arm: np.ndarray
    vertex_ptr: np.ndarray
    vertex: np.ndarray
    triangle_ptr: np.ndarray
    triangle: np.ndarray
    friction: float


def blocks_of(domain, code: str, split: tuple[float, float] | None = None) -> RigidBlocks:
    """Return the present configuration of a model as rigid blocks.

    Parameters
    ----------
    domain : Domain
    code : str
        Name of the code that takes them, for messages.
    split : (float, float), optional
        Divide obstacles into pieces that are at least so many times as large as the largest body that moves, with gaps between
        them of so many times the size of bodies that move (`size_of`).

    Raises
    ------
    SolfecError
        Something in the model is none: a body that deforms, a round or non-convex shape, several friction coefficients, restitution,
        cohesion, joints.
    """
    friction = _friction(domain, code)
    bodies, geometry = domain.bodies, domain.geometry
    domain.states.update_shapes()
    kinds, body = bodies.view("kind"), geometry.primitives.view("body")
    if domain.constraints.user_count:
        raise SolfecError(f"{code} takes no joints: the model has {domain.constraints.user_count} constraints besides contacts")
    if (kinds > BodyKind.RIGID).any():
        row = int(np.argmax(kinds > BodyKind.RIGID))
        raise SolfecError(f"{code} takes rigid bodies: {bodies.name(int(bodies.id[row]))} is {BodyKind(int(kinds[row])).name}")
    counts = bodies.view("primitive_count")
    for wrong, text in (
        ((kinds == BodyKind.RIGID) & (counts != 1), "consists of several convexes"),
        (_has(geometry, body, (PrimitiveKind.SPHERE, PrimitiveKind.ELLIPSOID), bodies.n), "is round"),
    ):
        if wrong.any():
            raise SolfecError(f"{code} takes bodies of one convex polyhedron: {bodies.name(int(bodies.id[np.argmax(wrong)]))} {text}")
    primitive = np.arange(geometry.primitives.n)
    polyhedra = [_polyhedron(geometry, one) for one in primitive.tolist()]
    moving = [vertices - vertices.mean(axis=0) for (vertices, _), kind in zip(polyhedra, kinds[body]) if kind == BodyKind.RIGID]
    if split is not None and moving:
        lengths = np.linalg.norm(np.concatenate(moving), axis=1)
        size, gap = 2.0 * split[0] * lengths.max(), split[1] * lengths.mean()
        parts = [pieces(*one, size, gap) if kinds[k] == BodyKind.OBSTACLE else [one] for one, k in zip(polyhedra, body)]
        primitive = np.repeat(primitive, [len(part) for part in parts])
        polyhedra, body = [piece for part in parts for piece in part], body[primitive]
    triangles = [np.array([(face[0], face[k], face[k + 1]) for face in faces for k in range(1, len(face) - 1)]) for _, faces in polyhedra]
    made = RigidBlocks(
        bodies.view("id")[body], primitive, kinds[body] == BodyKind.OBSTACLE, bodies.view("mass")[body] / bodies.view("volume")[body],
        np.zeros((len(polyhedra), 3)), np.zeros((0, 3)), pointers_of([len(vertices) for vertices, _ in polyhedra]), np.zeros((0, 3)),
        pointers_of([len(part) for part in triangles]), np.concatenate(triangles), friction,
    )  # fmt: skip
    owner = np.repeat(body, np.diff(made.vertex_ptr))
    axes, centre = _placements(bodies)
    made.arm = np.einsum("nji,nj->ni", axes[owner], np.concatenate([vertices for vertices, _ in polyhedra]) - centre[owner])
    move(made, domain)
    return made


def pieces(vertices: np.ndarray, faces: list[list[int]], size: float, gap: float) -> list[tuple[np.ndarray, list]]:
    """Divide a convex polyhedron along the axes into pieces of at least `size`, with gaps between them."""
    parts = [Polyhedron.trusted(vertices, FaceSet(tuple(map(tuple, faces)), np.zeros(len(faces), np.int32)), 0)]
    for axis, extent in zip(np.eye(3), np.ptp(vertices, axis=0)):
        count, low = int(extent / size), axis @ vertices.min(axis=0)
        for k in range(1, count):
            rest, at = [], low + k * extent / count
            for part in parts:
                lower, upper = (halves(part, (at + shift) * axis, axis, (0, 0), 1e-9 * size)[side] for side, shift in ((0, -0.5 * gap), (1, 0.5 * gap)))
                rest += [piece for piece in (lower, upper) if piece is not None]
            parts = rest
    return [(part.vertices, list(part.faces)) for part in parts]


def _placements(bodies) -> tuple[np.ndarray, np.ndarray]:
    """Return rotations (n, 3, 3), by columns, and mass centres (n, 3) of bodies."""
    conf, start = bodies.configurations.conf, bodies.view("conf_ptr")
    return np.stack([conf[:, start + k].T for k in range(3)], axis=2), conf[:, start + 3].T


def move(blocks: RigidBlocks, domain) -> None:
    """Let centres and vertices of blocks follow the bodies of the model."""
    row = np.searchsorted(domain.bodies.view("id"), blocks.body)
    axes, centre = _placements(domain.bodies)
    count = np.diff(blocks.vertex_ptr)
    vertex = np.einsum("nij,nj->ni", axes[np.repeat(row, count)], blocks.arm) + np.repeat(centre[row], count, axis=0)
    blocks.centre = np.where(blocks.fixed[:, None], centroids(blocks, vertex), centre[row])  # an obstacle may have several blocks
    blocks.vertex = vertex - np.repeat(blocks.centre, count, axis=0)


def centroids(blocks: RigidBlocks, vertex: np.ndarray) -> np.ndarray:
    """Return the centroids (n, 3) of blocks, by tetrahedra from their first vertices to their triangles."""
    owner = np.repeat(np.arange(len(blocks.body)), np.diff(blocks.triangle_ptr))
    apex = vertex[blocks.vertex_ptr[:-1]][owner]
    a, b, c = vertex[(blocks.triangle + blocks.vertex_ptr[owner][:, None]).T] - apex
    volume = np.einsum("ni,ni->n", a, np.cross(b, c)) / 6.0
    moment = volume[:, None] * (apex + (a + b + c) / 4.0)
    return np.stack([np.bincount(owner, moment[:, k], len(blocks.body)) for k in range(3)], axis=1) / np.bincount(owner, volume)[:, None]


def forces_of(domain, blocks: RigidBlocks, duration: float, code: str, builtin_gravity) -> tuple[np.ndarray, np.ndarray]:
    """Return times (t,) and forces and torques (t, n, 6) on blocks, beyond a gravity that the code has built in; one time if they are constant.

    Raises
    ------
    SolfecError
        A load that is neither gravity nor a spatial force at a mass centre.
    """
    loads, bodies = domain.loads, domain.bodies
    if loads.in_python or loads.pressures.table.n:
        raise SolfecError(f"{code} takes gravity and FORCE at mass centres; the model has pressures or loads that Python functions compute")
    table, row = loads.table, np.searchsorted(bodies.view("id"), blocks.body)
    for k in range(table.n):
        body = int(table.body[k])
        off = np.abs(table.point[:, k] - bodies.centre[:, body]).max()
        if table.kind[k] != LoadKind.SPATIAL_FORCE or off > SAME * max(1.0, np.abs(bodies.centre[:, body]).max()):
            raise SolfecError(
                f"{code} takes spatial forces at mass centres: {bodies.name(int(bodies.id[body]))} has a {LoadKind(int(table.kind[k])).name}"
                + (f" at a distance of {off:g} from its mass centre" if table.kind[k] == LoadKind.SPATIAL_FORCE else "")
            )
    changing = bool(loads.gravity_series) or bool((table.view("series") >= 0).any())
    steps = round(duration / domain.step)
    times = domain.time + domain.step * np.arange(-1, steps + 2) if changing else np.array([domain.time])
    force = np.zeros((len(times), len(blocks.body), 6))
    for k, time in enumerate(times):
        gravity = loads.gravity_at(time)
        on_body = np.outer(bodies.view("mass"), gravity - np.asarray(builtin_gravity))
        if table.n:
            series = table.view("series")
            value = np.where(series >= 0, np.append(loads.series.result, 0.0)[series], table.view("value"))
            np.add.at(on_body, table.view("body"), (value * table.view("direction")).T)
        force[k, :, :3] = np.where(blocks.fixed[:, None], 0.0, on_body[row])
    return times - domain.time, force


def _friction(domain, code: str) -> float:
    """Return the friction of all pairs of surfaces that the model has; raise SolfecError where laws differ, or are of another kind."""
    materials, faces = domain.surface_materials, domain.geometry.faces
    surfaces = np.unique(faces.view("surface")).tolist()
    rows = sorted({materials.row_of(one, other) for one in surfaces for other in surfaces})
    for name in ("restitution", "cohesion", "rolling_length", "spinning_length"):
        if getattr(materials, name)[rows].any():
            raise SolfecError(f"{code} takes contacts with friction alone: a SURFACE_MATERIAL has {name} = {getattr(materials, name)[rows].max():g}")
    models = {SurfaceModel(int(model)).name for model in materials.model[rows]} - {"SIGNORINI_COULOMB"}
    if models:
        raise SolfecError(f"{code} takes SURFACE_MATERIAL of the model SIGNORINI_COULOMB, not {sorted(models)[0]}")
    friction = np.unique(materials.friction[rows])
    if friction.size != 1:
        raise SolfecError(f"{code} takes one friction coefficient; the pairs of surfaces of this model have {', '.join(f'{mu:g}' for mu in friction)}")
    return float(friction[0])


def _has(geometry, body: np.ndarray, kinds, count: int) -> np.ndarray:
    """Return a mask (count,) of bodies with primitives of some kinds."""
    found = np.zeros(count, bool)
    found[body[np.isin(geometry.primitives.view("kind"), kinds)]] = True
    return found


def _polyhedron(geometry, primitive: int) -> tuple[np.ndarray, list[list[int]]]:
    """Return present vertices (m, 3) and faces of a convex primitive."""
    table, corners = geometry.primitives, geometry.corners.view("vertex")
    first = int(table.vertex_ptr[primitive])
    numbers = geometry.vertex_lists.vertex[first : first + int(table.vertex_count[primitive])]
    place = {int(vertex): k for k, vertex in enumerate(numbers)}
    faces = []
    for face in range(int(table.face_ptr[primitive]), int(table.face_ptr[primitive] + table.face_count[primitive])):
        start = int(geometry.faces.corner_ptr[face])
        faces.append([place[int(vertex)] for vertex in corners[start : start + int(geometry.faces.corner_count[face])]])
    return geometry.vertices.current[:, numbers].T.copy(), faces
