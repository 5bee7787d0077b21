"""Elements that have been turned inside out, which the St Venant-Kirchhoff material lets happen without resistance."""

from __future__ import annotations

import numpy as np

from .finite_elements import compiled, deformation_gradients
from .materials import Law
from .table import BodyKind, BodyTable, Form

MIDDLE = np.zeros((9, 3))  # natural coordinates by the number of nodes
MIDDLE[4], MIDDLE[5], MIDDLE[6] = (0.25, 0.25, 0.25), (0.0, 0.0, 0.25), (1 / 3, 1 / 3, 0.0)
FAR = 0.1  # Frobenius norm of Green's strain; where an element is flat it is a half at least


def told(bodies: BodyTable, dynamic: bool) -> str:
    """A warning about elements of form 'TL' whose deformation gradient in the middle has a negative determinant, or ''.

    The Neo-Hookean material ends a run there; bodies of form 'BC' end it when they are turned as a whole.  In dynamics the largest
    strains of bodies are known, and only those far from rest are looked at.
    """
    mine = (bodies.view("kind") == BodyKind.FINITE_ELEMENT) & (bodies.view("form") == Form.TL) & (bodies.view("law") == Law.KIRCHHOFF)
    if dynamic and mine.any():
        fe = compiled(bodies)
        mine[fe.rows[fe.strain < FAR]] = False
    rows = np.flatnonzero(mine)
    if not rows.size:
        return ""
    sizes = [bodies.meshes[number].sizes for number in bodies.id[rows].tolist()]
    row = np.repeat(rows, [len(each) for each in sizes])
    element = np.concatenate([np.arange(len(each)) for each in sizes])
    middle = MIDDLE[np.concatenate(sizes)].T
    turned = np.flatnonzero(np.linalg.det(deformation_gradients(bodies, row, element, middle).transpose(2, 0, 1)) < 0.0)
    if not turned.size:
        return ""
    first = f"{bodies.name(int(bodies.id[row[turned[0]]]))}, element {element[turned[0]]}"
    elements = "1 element lies" if turned.size == 1 else f"{turned.size} elements lie"
    return (
        f"{elements} inside out ({first}): material 'KIRCHHOFF' goes soft under strong compression, and what follows means little; "
        "take smaller loads, another mesh, or model 'NEO_HOOKEAN'"
    )
