"""Results as values at vertices, and as arrows and tubes at constraints."""

from __future__ import annotations

import numpy as np

from ..bodies import motion, point_values
from ..bodies.finite_elements import compiled, deformation_gradients
from ..bodies.table import BodyKind
from ..connected import components
from ..element_types import BY_SIZE, MOST_NODES, used_slots
from ..errors import SolfecError
from ..kinds import ConstraintKind, LoadKind
from . import places

DISPLACEMENTS, VELOCITIES = ("dx", "dy", "dz", "|d|"), ("vx", "vy", "vz", "|v|")
COMPONENTS, DERIVED = ("sx", "sy", "sz", "sxy", "sxz", "syz", "mises"), ("s1", "s2", "s3", "pressure")
STRESSES = (*COMPONENTS, *DERIVED)
AT_VERTICES = (*DISPLACEMENTS, *VELOCITIES, *STRESSES)
ARROWS, TUBES = ("RT", "RN", "R", "UT", "UN", "U"), ("gap", "damage", "merit")
AT_CONSTRAINTS = (*ARROWS, *TUBES, "chains")
OF_BODIES = ("bodies", "islands", "body ranks")  # one category per body
OF_CONSTRAINTS = ("constraints", "constraint ranks")
KINDS = ("constraints", "constraint ranks", "forces", "bodies", "body ranks", "surfaces", "volumes", "materials", "islands")
RESULTS = (*AT_VERTICES, *AT_CONSTRAINTS, *KINDS)
BODY_WORDS = ("OBS", "RIG", "PRB", "FEM")


def named(name: str) -> str:
    """Return the name of a result in the case of the tables here; 'MISES' gives 'mises'."""
    for known in RESULTS:
        if known.lower() == name.lower():
            return known
    raise SolfecError(f"there is no result {name!r}; there are {', '.join(RESULTS)}")


def at_vertices(domain, name: str) -> np.ndarray:
    """Return values (n,) of a result at all vertices, which include centres of spheres and ellipsoids.

    Displacements [length], velocities [velocity] and components of the Cauchy stress [pressure]. Obstacles and rigid bodies have
    no stress: NaN, which is drawn grey. Stresses of finite elements are means over the elements at a node.
    """
    if name in DISPLACEMENTS:
        vertices = domain.geometry.vertices
        return _component(vertices.view("current") - vertices.view("reference"), DISPLACEMENTS.index(name))
    if name in VELOCITIES:
        return _component(velocities(domain), VELOCITIES.index(name))
    return _stress(stresses(domain), name)


def _stress(values: np.ndarray, name: str) -> np.ndarray:
    """Return a component (n,), a principal stress, s1 the greatest, or the pressure of stresses (n, 7)."""
    if name in COMPONENTS:
        return values[:, COMPONENTS.index(name)].copy()
    if name == "pressure":
        return -values[:, :3].mean(axis=1)
    sx, sy, sz, sxy, sxz, syz = values[:, :6].T
    tensors = np.stack([sx, sxy, sxz, sxy, sy, syz, sxz, syz, sz], 1).reshape(-1, 3, 3)
    result, known = np.full(len(values), np.nan), np.isfinite(tensors).all(axis=(1, 2))
    result[known] = np.linalg.eigvalsh(tensors[known])[:, 2 - DERIVED.index(name)]
    return result


def at_nodes(domain, name: str) -> np.ndarray:
    """Return values (n,) of a result at the nodes of all finite element bodies, one body after another."""
    bodies, fe = domain.bodies, compiled(domain.bodies)
    if name in DISPLACEMENTS:
        return _component(bodies.configurations.conf[:, fe.conf_row], DISPLACEMENTS.index(name))
    if name in VELOCITIES:
        return _component(bodies.triples.velo[:, fe.velo_row], VELOCITIES.index(name))
    return _stress(nodal_stresses(bodies), name)


def _component(vectors: np.ndarray, which: int) -> np.ndarray:
    return np.linalg.norm(vectors, axis=0) if which == 3 else vectors[which].copy()


def velocities(domain) -> np.ndarray:
    """Return velocities (3, n) of all vertices."""
    bodies, vertices = domain.bodies, domain.geometry.vertices
    row = vertices.view("body")
    result = np.zeros((3, len(row)), order="F")
    plain = np.flatnonzero(bodies.view("kind")[row] != BodyKind.FINITE_ELEMENT)
    if len(plain):
        result[:, plain] = motion.point_velocities(bodies, row[plain], vertices.view("reference")[:, plain])
    fe = compiled(bodies)
    if fe.count:
        spread(domain, bodies.triples.velo[:, fe.velo_row].T, result.T)
    return result


def stresses(domain) -> np.ndarray:
    """Return sx, sy, sz, sxy, sxz, syz and von Mises' stress (n, 7) at all vertices, NaN on rigid bodies."""
    bodies, vertices = domain.bodies, domain.geometry.vertices
    row = vertices.view("body")
    per_body = np.full((bodies.n, 7), np.nan)
    soft = np.flatnonzero(bodies.view("kind") == BodyKind.PSEUDO_RIGID)
    if len(soft):
        gradients = bodies.configurations.conf[:, bodies.conf_ptr[soft][:, None] + np.arange(3)].transpose(1, 2, 0)
        per_body[soft] = point_values.components(point_values.cauchy_stress(gradients, bodies.lame[:, soft].T))
    result = per_body[row]
    if compiled(bodies).count:
        spread(domain, nodal_stresses(bodies), result)
    return result


def nodal_stresses(bodies) -> np.ndarray:
    """Return Cauchy stresses (n, 7) at the nodes of all finite element bodies, one body after another: means over the elements of a node."""
    fe = compiled(bodies)
    if (bodies.view("enhanced")[fe.rows] > 0).any():
        return _with_enhanced_strains(bodies)
    return _mean_over_elements(bodies, 0.0)


def _slots(bodies):
    """Return, for all nodes of all elements: element and slot, row of the body, number of the node, natural coordinates (n, 3)."""
    fe = compiled(bodies)
    elements, slots = np.nonzero(used_slots(fe.element_size))
    rows = np.repeat(fe.rows, np.diff(fe.first_element))[elements]
    places = np.zeros((max(BY_SIZE) + 1, MOST_NODES, 3))
    for size, kind in BY_SIZE.items():
        places[size, :size] = kind.nodes
    nodes = bodies.node_ptr[rows] + fe.element_node[slots, elements]
    return elements, slots, rows, nodes, places[fe.element_size[elements], slots]


def _mean_over_elements(bodies, extra) -> np.ndarray:
    fe = compiled(bodies)
    elements, _, rows, nodes, natural = _slots(bodies)
    gradients = deformation_gradients(bodies, rows, elements - bodies.element_ptr[rows], natural.T)
    tensors = point_values.cauchy_stress(gradients.transpose(2, 0, 1), fe.element_lame[elements], bodies.law[rows], extra)
    values, count = point_values.components(tensors), len(fe.conf_row)
    total = np.stack([np.bincount(nodes, values[:, k], count) for k in range(7)], 1)
    return total / np.maximum(np.bincount(nodes, minlength=count), 1)[:, None]


def _with_enhanced_strains(bodies) -> np.ndarray:
    """Return stresses with enhanced strains of hexahedra, which are found element by element: slow for large meshes."""
    fe = compiled(bodies)
    elements, _, rows, nodes, natural = _slots(bodies)
    extra = np.zeros((len(elements), 3, 3))
    displacement = bodies.configurations.conf[:, fe.conf_row].T
    for k in np.flatnonzero(bodies.enhanced[rows]):
        row, element = int(rows[k]), int(elements[k])
        mesh, own = bodies.meshes[int(bodies.id[row])], element - int(bodies.element_ptr[row])
        moved = displacement[bodies.node_ptr[row] + mesh.elements[own]]
        extra[k] = point_values.enhancement(mesh, True, own, natural[k], moved, fe.element_lame[element])
    return _mean_over_elements(bodies, extra)


def spread(domain, nodal: np.ndarray, values: np.ndarray) -> None:
    """Write values of nodes (m, k) of finite element bodies to their vertices, `values` (n, k)."""
    bodies, vertices, fe = domain.bodies, domain.geometry.vertices, compiled(domain.bodies)
    row, node = vertices.view("body"), vertices.view("node")
    inside = np.isin(row, fe.embedded)
    own = np.flatnonzero((bodies.view("kind")[row] == BodyKind.FINITE_ELEMENT) & ~inside & (node >= 0))
    values[own] = nodal[bodies.node_ptr[row[own]] + node[own]]
    if len(fe.embedded):
        node_of = np.zeros(bodies.configurations.n, np.int64)
        node_of[fe.conf_row] = np.arange(len(fe.conf_row))
        values[inside] = np.einsum("av,avk->vk", fe.vertex_weights, nodal[node_of[fe.vertex_triple]])


def at_constraints(domain, name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return points (n, 3), vectors (n, 3) and signed values (n,) of a result of constraints, in the order of their rows.

    R and U have the sign of their normal parts, RN and UN are normal parts, RT and UT tangential ones; tubes of gap, damage and merit point along normals.
    """
    table = domain.constraints
    base, points = table.view("base"), table.view("point").T
    if name == "chains":
        return _chains(domain)
    if name in TUBES:
        return points, base[:, 2].T.copy(), table.view(name).copy()
    local = table.view(name[0]).copy()
    if name.endswith("T"):
        local[2] = 0.0
    elif name.endswith("N"):
        local[:2] = 0.0
    size = np.linalg.norm(local, axis=0)
    signed = size if name.endswith("T") else np.where(local[2] < 0.0, -size, size)
    return points, np.einsum("ijn,jn->ni", base, local), signed


def _chains(domain) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return force chains: lines from the points of constraints to the mass centres, first of masters, then of slaves, and |R|.

    Lines to obstacles have length zero.
    """
    table, bodies = domain.constraints, domain.bodies
    points, size = table.view("point").T, np.linalg.norm(table.view("R"), axis=0)
    centres = places.centres(domain, np.arange(bodies.n))
    ways = []
    for side in ("master", "slave"):
        row = table.view(side)
        moves = (row >= 0) & (bodies.view("kind")[np.maximum(row, 0)] != BodyKind.OBSTACLE) if bodies.n else row > row
        way = np.zeros_like(points)
        way[moves] = centres[row[moves]] - points[moves]
        ways.append(way)
    return np.concatenate([points, points]), np.concatenate(ways), np.concatenate([size, size])


def at_loads(domain) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return points (n, 3), vectors (n, 3) and values (n,) of point forces at the present time, and rows (n,) of bodies.

    Raises
    ------
    SolfecError
        The model has none: results hold no loads, an input has them.
    """
    table = domain.loads.table
    forces = np.flatnonzero(table.view("kind") <= LoadKind.CONVECTED_FORCE) if table.n else np.zeros(0, int)
    if not len(forces):
        raise SolfecError("no point forces are known here; results hold none: solfec -v input.py shows those of an input")
    body, direction = table.view("body")[forces], table.view("direction")[:, forces].copy()
    start = table.view("point")[:, forces]
    points = places.spatial_points(domain, body, start)
    for k in np.flatnonzero(table.view("kind")[forces] == LoadKind.CONVECTED_FORCE).tolist():
        direction[:, k] = places.carried(domain, int(body[k]), start[:, k], direction[:, k])
    values, series = table.view("value")[forces].copy(), table.view("series")[forces]
    for row in np.unique(series[series >= 0]).tolist():
        times, numbers = domain.loads.series.knots(row)
        values[series == row] = np.interp(domain.time, times, numbers) if len(times) else numbers[0]
    return points.T, (direction * values).T, values, body


def islands(domain) -> np.ndarray:
    """Return numbers (bodies,) of groups of bodies that constraints connect; -1 for obstacles."""
    bodies, table = domain.bodies, domain.constraints
    moves = bodies.view("kind") != BodyKind.OBSTACLE
    one, other = table.view("master"), table.view("slave")
    both = (one >= 0) & (other >= 0)
    both[both] = moves[one[both]] & moves[other[both]]
    group = components(bodies.n, one[both], other[both])
    result = np.full(bodies.n, -1)
    result[moves] = np.unique(group[moves], return_inverse=True)[1]
    return result


def body_categories(domain, name: str) -> tuple[np.ndarray, list[str]]:
    """Return a number (bodies,) for each body, -1: grey, and a word for each number, for a result of `OF_BODIES`."""
    bodies = domain.bodies
    if name == "islands":
        number = islands(domain)
        return number, [str(k) for k in range(number.max(initial=-1) + 1)]
    known, number = np.unique(bodies.view({"bodies": "kind", "body ranks": "owner"}[name]), return_inverse=True)
    return number, [BODY_WORDS[k] if name == "bodies" else str(k) for k in known.tolist()]


def material_categories(domain, body: np.ndarray, element: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """Return numbers (n,) of bulk materials of parts of bodies, and the label of each number.

    Parameters
    ----------
    body, element : ndarray (n,)
        Rows of bodies, and elements as they are numbered in each of them; -1: the part has the body's own material.
    """
    bodies, materials = domain.bodies, list(getattr(domain, "bulk_materials", ()))
    rows = bodies.view("material")[body]
    known = [bodies.view("material")]
    for identifier, mesh in bodies.meshes.items():
        if mesh.materials:
            own = np.array([next(row for row, material in enumerate(materials) if material is other) for other in mesh.materials])
            part = np.flatnonzero((body == domain.body_row(identifier)) & (element >= 0))
            number = mesh.material[element[part]]
            rows[part[number >= 0]] = own[number[number >= 0]]
            known.append(own)
    known = np.unique(np.concatenate(known))
    return np.searchsorted(known, rows), [materials[row].label if row < len(materials) else str(row) for row in known.tolist()]


def categories(domain, topology, name: str) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Return discrete colours of a kind: numbers at triangles (nt,) and at quadrics (nq,), and a word for each number.

    Numbers grow with the identifiers that occur.
    """
    primitives, rows = domain.geometry.primitives, (topology.triangle_primitive, topology.quadrics)
    if name in OF_BODIES:
        number, words = body_categories(domain, name)
        found = [number[primitives.view("body")[part]] for part in rows]
        return found[0], found[1], words
    if name == "materials":
        body, element = primitives.view("body"), primitives.view("element")
        found = [material_categories(domain, body[part], element[part]) for part in rows]
        return found[0][0], found[1][0], found[0][1]
    if name == "volumes":
        found = [primitives.view("volume_id")[part] for part in rows]
    else:
        found = [topology.triangle_surface, primitives.view("surface")[topology.quadrics]]
    known, number = np.unique(np.concatenate(found), return_inverse=True)
    words = [str(k) for k in known.tolist()]
    return number[: len(found[0])], number[len(found[0]) :], words


def constraint_categories(domain, name: str = "constraints") -> tuple[np.ndarray, list[str]]:
    """Return numbers (n,) of kinds of constraints, or of the owners of their masters, and a word for each."""
    if name == "constraint ranks":
        owner = domain.bodies.view("owner")
        master = np.maximum(domain.constraints.view("master"), 0)
        ranks = owner[master] if domain.bodies.n else np.zeros(0, int)
        return ranks, [str(k) for k in range(int(ranks.max(initial=0)) + 1)]
    return domain.constraints.view("kind").copy(), [kind.family.word for kind in ConstraintKind]
