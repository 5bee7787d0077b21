"""Warnings about elements turned inside out, which the St Venant-Kirchhoff material does not resist."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..element_types import BY_SIZE, ElementType
from ..tables import unique
from .finite_elements import deformation_gradients, within_step
from .materials import Law
from .table import BodyKind, BodyTable, Form

FAR = 0.1  # Frobenius norm of Green's strain; it is at least a half where an element is flat


def _corners(kind: ElementType) -> np.ndarray:
    """Natural coordinates (n, 3) of an element's nodes."""
    return np.asarray(kind.nodes, float)


def _inner(kind: ElementType) -> np.ndarray:
    """Natural coordinates (n, 3) of an element's middle, and of places at the distance of a hexahedron's Gauss points from it."""
    corners = _corners(kind)
    middle = corners.mean(0)
    return np.vstack([middle, middle + (corners - middle) / np.sqrt(3.0)])


def told(bodies: BodyTable, dynamic: bool) -> str:
    """Return a warning about elements of form 'TL' whose deformation gradient has a negative determinant inside, or ''.

    The Neo-Hookean material ends a run there; bodies of form 'BC' end it when they are turned inside out as a whole.  In dynamics the largest
    strains of bodies are known, and only bodies far from rest are checked.
    """
    mine = (bodies.view("kind") == BodyKind.FINITE_ELEMENT) & (bodies.view("form") == Form.TL) & (bodies.view("law") == Law.KIRCHHOFF)
    if dynamic and mine.any():
        fe = within_step(bodies)
        mine[fe.rows[fe.strain < FAR]] = False
    first, count = "", 0
    for row in np.flatnonzero(mine).tolist():
        element, _, determinant = _determinants(bodies, row, _inner)
        turned = unique(element[determinant < 0.0])
        if turned.size and not count:
            first = f"{bodies.name(int(bodies.id[row]))}, element {turned[0]}"
        count += turned.size
    if not count:
        return ""
    elements = "1 element lies" if count == 1 else f"{count} elements lie"
    return (
        f"{elements} inside out ({first}): material 'KIRCHHOFF' goes soft under strong compression, and what follows means little; "
        "take smaller loads, another mesh, or model 'NEO_HOOKEAN'"
    )


def worst_corner(bodies: BodyTable, row: int) -> str:
    """Describe the corner of a body's elements with the smallest det F, or return '' if all are sound."""
    element, corner, determinant = _determinants(bodies, row, _corners)
    if not np.isfinite(determinant).any() or not np.nanmin(determinant) <= 0.0:
        return ""
    k = int(np.nanargmin(determinant))
    mesh = bodies.meshes[int(bodies.id[row])]
    node = int(mesh.elements[element[k], corner[k]])
    advice = (
        "material 'KIRCHHOFF' goes soft under strong compression: model 'NEO_HOOKEAN' does not"
        if bodies.form[row] == Form.TL and bodies.law[row] == Law.KIRCHHOFF
        else "use a smaller step or smaller loads"
    )
    return (
        f"corner {corner[k]} of element {element[k]} (node {node}) is turned inside out, det F = {determinant[k]:.3g}; {advice}, "
        "and more points of contact (SOLFEC.patch = 'ON') or another mesh may keep corners from being pressed in"
    )


def _determinants(bodies: BodyTable, row: int, places: Callable) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return elements (n,), numbers of places in them (n,), and det F there (n,), at the present displacements of a body.

    `places` gives the natural coordinates (n, 3) in elements of a type.
    """
    sizes = bodies.meshes[int(bodies.id[row])].sizes
    element, number, natural = [], [], []
    for size in unique(sizes).tolist():
        points = places(BY_SIZE[size])
        mine = np.flatnonzero(sizes == size)
        element.append(np.repeat(mine, len(points)))
        number.append(np.tile(np.arange(len(points)), len(mine)))
        natural.append(np.tile(points, (len(mine), 1)))
    element, number = np.concatenate(element), np.concatenate(number)
    order = np.argsort(element, kind="stable")
    element, number = element[order], number[order]
    gradients = deformation_gradients(bodies, np.full(len(element), row), element, np.concatenate(natural)[order].T)
    return element, number, np.linalg.det(gradients.transpose(2, 0, 1))
