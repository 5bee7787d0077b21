"""Constraint points on finite element bodies: the elements that hold them, and shape functions there.

Each row stores the element of each side and its shape functions at the referential point.  They give local dynamics the
operator H, and the current point.  Detection updates those of contacts; those of the user's rows do not change.
"""

from __future__ import annotations

import numpy as np

from .. import _kernels
from ..bodies import finite_elements
from ..bodies.table import BodyKind, BodyTable
from ..errors import SolfecError
from ..tables import opened
from .table import ConstraintTable, DirectionUpdate

_place_constraints = _kernels.finite_element_points.place_constraints
_refer_contacts = _kernels.finite_element_points.refer_contacts


def refer_contacts(model, only_held: bool = False) -> None:
    """Find elements, shape functions and referential points of the contacts.

    Cohesive contacts of earlier steps keep their referential points, and the spatial point follows them.

    Parameters
    ----------
    model
        Has `constraints`, `surface_materials`, `geometry` and `bodies` at the present configuration, and `step_number`.
    only_held : bool
        Update these cohesive contacts only.

    Raises
    ------
    SolfecError
        A point, or a node of its element, is not finite.
    """
    constraints, bodies = model.constraints, model.bodies
    elements = finite_elements.within_step(bodies)
    failed, status = _refer_contacts(
        bodies.handles, constraints.handle, model.surface_materials.handle, model.geometry.primitives.handle, elements.handle,
        constraints.user_count, model.step_number, only_held,
    )  # fmt: skip
    opened(status)
    if failed >= 0:
        _refuse_contact(constraints, bodies, failed)


def _refuse_contact(constraints, bodies, failed: int) -> None:
    rows = constraints.master[failed], constraints.slave[failed]
    one, two = (int(bodies.id[row]) for row in rows)
    x, y, z = constraints.point[:, failed]
    elements = ", ".join(
        f"element {int(constraints.element[side, failed])} of {bodies.name(body)}"
        for side, (row, body) in enumerate(zip(rows, (one, two)))
        if bodies.kind[row] == BodyKind.FINITE_ELEMENT
    )
    raise SolfecError(
        f"the contact of bodies {one} and {two} at ({x:g}, {y:g}, {z:g}) has no place in {elements}: its point or nodes are not "
        "finite; use a smaller step or smaller loads"
    )


def place(constraints: ConstraintTable, bodies: BodyTable) -> None:
    """Compute current points of the user's constraints on finite element bodies."""
    elements = finite_elements.within_step(bodies)
    opened(_place_constraints(bodies.handles, constraints.handle, elements.handle, constraints.user_count))


def carried_directions(constraints: ConstraintTable, bodies: BodyTable) -> tuple[np.ndarray, np.ndarray]:
    """Return the columns `direction` and `update` of the user's constraints, with directions on finite element bodies as spatial ones.

    A body carries a direction by its deformation gradient at the constraint's point.
    """
    update = constraints.update[: constraints.user_count]
    rows = np.flatnonzero(update >= DirectionUpdate.CONV1)
    if not rows.size:
        return constraints.direction, constraints.update
    by_slave = update[rows] == DirectionUpdate.CONV2
    body = np.where(by_slave, constraints.slave[rows], constraints.master[rows])
    on_elements = bodies.kind[body] == BodyKind.FINITE_ELEMENT
    if not on_elements.any():
        return constraints.direction, constraints.update
    rows, body, side = rows[on_elements], body[on_elements], by_slave[on_elements].astype(int)
    point = np.where(side, constraints.slave_point[:, rows], constraints.master_point[:, rows])
    elements = constraints.element[side, rows]
    natural, _, _ = finite_elements.weigh(finite_elements.compiled(bodies), bodies, body, elements, point)
    gradient = finite_elements.deformation_gradients(bodies, body, elements, natural)
    direction, update = constraints.direction.copy(order="F"), constraints.update.copy()
    carried = np.einsum("ijk,jk->ik", gradient, direction[:, rows])
    direction[:, rows] = carried / np.linalg.norm(carried, axis=0)
    update[rows] = DirectionUpdate.FIXED
    return direction, update


def attach(constraints: ConstraintTable, bodies: BodyTable, row: int, epsilon: float) -> None:
    """Find the elements that hold the referential points of one row.

    Raises
    ------
    SolfecError
        A point is farther than `epsilon` from every element of its body.
    """
    for side, (body, point) in enumerate((("master", "master_point"), ("slave", "slave_point"))):
        k = int(getattr(constraints, body)[row])
        if k >= 0 and bodies.kind[k] == BodyKind.FINITE_ELEMENT:
            element, _, weights = finite_elements.find(bodies, k, getattr(constraints, point)[:, row], epsilon)
            constraints.element[side, row] = element
            constraints.weights[:, side, row] = weights
