"""Results as values at vertices, and as arrows and tubes at constraints."""

from __future__ import annotations

import numpy as np

from ..bodies import motion, point_values
from ..bodies.finite_elements import compiled, deformation_gradients
from ..bodies.table import BodyKind
from ..element_types import BY_SIZE, MOST_NODES, used_slots
from ..errors import SolfecError
from ..kinds import ConstraintKind

DISPLACEMENTS, VELOCITIES = ("dx", "dy", "dz", "|d|"), ("vx", "vy", "vz", "|v|")
STRESSES = ("sx", "sy", "sz", "sxy", "sxz", "syz", "mises")
AT_VERTICES = (*DISPLACEMENTS, *VELOCITIES, *STRESSES)
ARROWS, TUBES = ("RT", "RN", "R", "UT", "UN", "U"), ("gap", "damage", "merit")
AT_CONSTRAINTS = (*ARROWS, *TUBES)
KINDS = ("bodies", "surfaces", "volumes", "materials", "constraints")
RESULTS = (*AT_VERTICES, *AT_CONSTRAINTS, *KINDS)
BODY_WORDS = ("OBS", "RIG", "PRB", "FEM")


def named(name: str) -> str:
    """The name of a result as the tables here write it, whatever its case; MISES say."""
    for known in RESULTS:
        if known.lower() == name.lower():
            return known
    raise SolfecError(f"there is no result {name!r}; there are {', '.join(RESULTS)}")


def at_vertices(domain, name: str) -> np.ndarray:
    """Values (n,) of a result at all vertices (centres of spheres and ellipsoids are vertices, too).

    Displacements [length], velocities [velocity] and components of the Cauchy stress [pressure]. Obstacles and rigid bodies have
    no stress: NaN, which is drawn grey. Stresses of finite elements are means over the elements at a node.
    """
    if name in DISPLACEMENTS:
        vertices = domain.geometry.vertices
        return _component(vertices.view("current") - vertices.view("reference"), DISPLACEMENTS.index(name))
    if name in VELOCITIES:
        return _component(velocities(domain), VELOCITIES.index(name))
    return stresses(domain)[:, STRESSES.index(name)]


def at_nodes(domain, name: str) -> np.ndarray:
    """Values (n,) of a result at the nodes of all finite element bodies, numbered through."""
    bodies, fe = domain.bodies, compiled(domain.bodies)
    if name in DISPLACEMENTS:
        return _component(bodies.configurations.conf[:, fe.conf_row], DISPLACEMENTS.index(name))
    if name in VELOCITIES:
        return _component(bodies.triples.velo[:, fe.velo_row], VELOCITIES.index(name))
    return nodal_stresses(bodies)[:, STRESSES.index(name)]


def _component(vectors: np.ndarray, which: int) -> np.ndarray:
    return np.linalg.norm(vectors, axis=0) if which == 3 else vectors[which].copy()


def velocities(domain) -> np.ndarray:
    """Velocities (3, n) of all vertices."""
    bodies, vertices = domain.bodies, domain.geometry.vertices
    row = vertices.view("body")
    result = np.zeros((3, len(row)), order="F")
    plain = np.flatnonzero(bodies.view("kind")[row] != BodyKind.FINITE_ELEMENT)
    result[:, plain] = motion.point_velocities(bodies, row[plain], vertices.view("reference")[:, plain])
    fe = compiled(bodies)
    if fe.count:
        _spread(domain, bodies.triples.velo[:, fe.velo_row].T, result.T)
    return result


def stresses(domain) -> np.ndarray:
    """sx, sy, sz, sxy, sxz, syz and von Mises' stress (n, 7) at all vertices, NaN where bodies are rigid."""
    bodies, vertices = domain.bodies, domain.geometry.vertices
    row = vertices.view("body")
    per_body = np.full((bodies.n, 7), np.nan)
    soft = np.flatnonzero(bodies.view("kind") == BodyKind.PSEUDO_RIGID)
    if len(soft):
        gradients = bodies.configurations.conf[:, bodies.conf_ptr[soft][:, None] + np.arange(3)].transpose(1, 2, 0)
        per_body[soft] = point_values.components(point_values.cauchy_stress(gradients, bodies.lame[:, soft].T))
    result = per_body[row]
    if compiled(bodies).count:
        _spread(domain, nodal_stresses(bodies), result)
    return result


def nodal_stresses(bodies) -> np.ndarray:
    """The same (n, 7) at the nodes of all finite element bodies, numbered through, means over their elements."""
    fe = compiled(bodies)
    if (bodies.view("enhanced")[fe.rows] > 0).any():
        return _with_enhanced_strains(bodies)
    return _mean_over_elements(bodies, 0.0)


def _slots(bodies):
    """Elements and slots of all their nodes, rows of the bodies, numbers of the nodes, natural coordinates (n, 3)."""
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
    """Where hexahedra have enhanced strains: these are found element by element, so this is slow for large meshes."""
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


def _spread(domain, nodal: np.ndarray, values: np.ndarray) -> None:
    """Give vertices of finite element bodies, `values` (n, k), what the nodes of their meshes have (m, k)."""
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
    """Points (n, 3), vectors (n, 3) and signed values (n,) of a result of constraints, in the order of their rows.

    R and U have the sign of their normal parts, RN and UN are normal parts, RT and UT tangential ones; tubes of gap, damage and merit point along normals.
    """
    table = domain.constraints
    base, points = table.view("base"), table.view("point").T
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


def categories(domain, topology, name: str) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """Discrete colours of a kind: numbers at triangles (nt,) and at quadrics (nq,), and a word for each number.

    Numbers grow with the identifiers that occur.
    """
    primitives, rows = domain.geometry.primitives, (topology.triangle_primitive, topology.quadrics)
    if name in ("bodies", "materials"):
        column = "kind" if name == "bodies" else "material"
        found = [domain.bodies.view(column)[primitives.view("body")[part]] for part in rows]
    elif name == "volumes":
        found = [primitives.view("volume_id")[part] for part in rows]
    else:
        found = [topology.triangle_surface, primitives.view("surface")[topology.quadrics]]
    known, number = np.unique(np.concatenate(found), return_inverse=True)
    words = [BODY_WORDS[k] if name == "bodies" else _material(domain, k) if name == "materials" else str(k) for k in known.tolist()]
    return number[: len(found[0])], number[len(found[0]) :], words


def _material(domain, number: int) -> str:
    materials = list(getattr(domain, "bulk_materials", {}) or [])
    return str(materials[number]) if number < len(materials) else str(number)


def constraint_categories(domain) -> tuple[np.ndarray, list[str]]:
    """Numbers (n,) of kinds of constraints, and a word for each."""
    return domain.constraints.view("kind").copy(), [kind.family.word for kind in ConstraintKind]
