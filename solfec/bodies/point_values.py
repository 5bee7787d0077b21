"""Displacement, velocity and stress at referential points (docs/language-running.md, DISPLACEMENT, VELOCITY; docs/language-running.md, STRESS)."""

from __future__ import annotations

import numpy as np

from ..element_types import BY_SIZE, used_slots
from . import enhanced_elements
from .finite_elements import compiled, deformation_gradients, find, nodes_of
from .materials import Law
from .table import BodyKind, BodyTable


def displacement(bodies: BodyTable, row: int, point, epsilon: float) -> np.ndarray:
    """Return the displacement of a point of a finite element body; SolfecError when it is outside."""
    return _interpolated(bodies, row, point, epsilon, bodies.configurations.conf[:, bodies.conf_slice(row)])


def velocity(bodies: BodyTable, row: int, point, epsilon: float) -> np.ndarray:
    """Return the velocity of a point of a finite element body; SolfecError when it is outside."""
    return _interpolated(bodies, row, point, epsilon, bodies.triples.velo[:, bodies.velo_slice(row)])


def referential_direction(bodies: BodyTable, row: int, direction, point, epsilon: float) -> np.ndarray:
    """Return the referential unit direction (3,) that a body's deformation maps to the spatial `direction` at a point."""
    if bodies.kind[row] == BodyKind.FINITE_ELEMENT:
        element, natural, _ = find(bodies, row, point, epsilon)
        gradient = deformation_gradients(bodies, np.array([row]), np.array([element]), natural[:, None])[:, :, 0]
    else:
        gradient = bodies.configurations.conf[:, bodies.conf_slice(row)][:, :3]
    if bodies.kind[row] == BodyKind.PSEUDO_RIGID:
        gradient = gradient.T
    found = np.linalg.solve(gradient, np.asarray(direction, float))
    return found / np.linalg.norm(found)


def _interpolated(bodies: BodyTable, row: int, point, epsilon: float, values: np.ndarray) -> np.ndarray:
    element, _, weights = find(bodies, row, point, epsilon)
    nodes = nodes_of(bodies, row, element)
    return values[:, nodes] @ weights[: len(nodes)]


def stress(bodies: BodyTable, row: int, point, epsilon: float) -> np.ndarray:
    """Return sx, sy, sz, sxy, sxz, syz of the Cauchy stress P F^T / det F, and the von Mises stress [pressure].

        At a node of a finite element body these numbers are means over the elements at this node.
        Rigid bodies have no stress: zeros.
    """
    kind = bodies.kind[row]
    if kind == BodyKind.PSEUDO_RIGID:
        return components(cauchy_stress(bodies.configurations.conf[:, bodies.conf_slice(row)][:, :3].T, bodies.lame[:, row]))
    if kind != BodyKind.FINITE_ELEMENT:
        return np.zeros(7)
    return element_stresses(bodies, row, *stress_places(bodies, row, point, epsilon)).mean(axis=0)


def element_stresses(bodies: BodyTable, row: int, elements: np.ndarray, places: np.ndarray) -> np.ndarray:
    """Return components (n, 7), see `stress`, in elements (n,) of a finite element body, at natural coordinates (3, n)."""
    gradients = deformation_gradients(bodies, np.full(len(elements), row), elements, places)
    lame = compiled(bodies).element_lame[bodies.element_ptr[row] + elements]
    extra: np.ndarray | float = 0.0
    if bodies.enhanced[row]:
        mesh, conf = bodies.meshes[int(bodies.id[row])], bodies.configurations.conf[:, bodies.conf_slice(row)]
        extra = np.zeros((len(elements), 3, 3))
        for k, element in enumerate(elements):
            extra[k] = enhancement(mesh, True, element, places[:, k], conf[:, mesh.elements[element]].T, lame[k])
    return components(cauchy_stress(gradients.transpose(2, 0, 1), lame, int(bodies.law[row]), extra))


def stress_places(bodies: BodyTable, row: int, point, epsilon: float) -> tuple[np.ndarray, np.ndarray]:
    """Return elements (n,) and natural coordinates (3, n) whose stresses are averaged at a point of a finite element body."""
    element, natural, _ = find(bodies, row, point, epsilon)
    mesh = bodies.meshes[int(bodies.id[row])]
    nodes = nodes_of(bodies, row, element)
    near = np.abs(mesh.nodes[nodes] - np.asarray(point, float)).max(1) < epsilon
    elements, places = [element], [natural]
    if near.any():
        used = used_slots(mesh.sizes)
        elements, slots = np.nonzero((mesh.elements == nodes[np.argmax(near)]) & used)
        places = [BY_SIZE[int(mesh.sizes[e])].nodes[slot] for e, slot in zip(elements, slots)]
    return np.asarray(elements), np.array(places, float).T


def enhancement(mesh, enhanced: bool, element: int, natural, displacement: np.ndarray, lame) -> np.ndarray | float:
    """Return the enhanced strain at a point of an element of a FiniteElementMesh, or 0 if it has none; displacements (8, 3)."""
    if not enhanced or not BY_SIZE[int(mesh.sizes[element])].takes_enhancement or mesh.background is not None:
        return 0.0
    return enhanced_elements.strain_at(mesh.nodes[mesh.elements[element]], displacement, lame, np.asarray(natural, float))


def cauchy_stress(gradient: np.ndarray, lame, law=Law.KIRCHHOFF, extra: np.ndarray | float = 0.0) -> np.ndarray:
    """Return P F^T / det F (..., 3, 3) for gradients (..., 3, 3), `lame` (..., 2) and material laws `law` (...).

    `extra` (..., 3, 3) is added to Green's strain (KIRCHHOFF).
    """
    transposed, jacobian = np.swapaxes(gradient, -1, -2), np.linalg.det(gradient)[..., None, None]
    strain = 0.5 * (transposed @ gradient - np.eye(3)) + extra
    first, second = (np.asarray(lame)[..., k, None, None] for k in range(2))
    piola = first * np.trace(strain, axis1=-2, axis2=-1)[..., None, None] * np.eye(3) + 2.0 * second * strain
    stress = gradient @ piola @ transposed / jacobian
    rubber = np.asarray(law)[..., None, None] == Law.NEO_HOOKEAN
    if not rubber.any():
        return stress
    volumetric = first * np.log(np.where(jacobian > 0.0, jacobian, np.nan)) * np.eye(3)
    return np.where(rubber, (second * (gradient @ transposed - np.eye(3)) + volumetric) / jacobian, stress)


def components(stress: np.ndarray) -> np.ndarray:
    """Return sx, sy, sz, sxy, sxz, syz and the von Mises stress (..., 7) of stresses (..., 3, 3)."""
    sx, sy, sz, sxy, sxz, syz = np.moveaxis(stress[..., (0, 1, 2, 0, 0, 1), (0, 1, 2, 1, 2, 2)], -1, 0)
    mises = np.sqrt(0.5 * ((sx - sy) ** 2 + (sx - sz) ** 2 + (sz - sy) ** 2) + 3.0 * (sxy**2 + sxz**2 + syz**2))
    return np.stack([sx, sy, sz, sxy, sxz, syz, mises], axis=-1)
