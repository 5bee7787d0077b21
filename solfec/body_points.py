"""Values at points of a model's bodies: displacement, velocity, stress, and the part of the shape that holds a point."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .bodies import motion, point_values
from .bodies.finite_elements import compiled
from .bodies.table import BodyKind
from .errors import SolfecError
from .shapes import point_query

if TYPE_CHECKING:
    from .domain import Domain


class BodyPoints:
    """Values at referential points of bodies, by their identifiers."""

    def __init__(self, domain: Domain):
        self.domain = domain

    def contains(self, identifier: int, point) -> bool:
        """Whether a referential point lies in or on the body's shape."""
        row = self.domain.body_row(identifier)
        first, count = int(self.domain.bodies.primitive_ptr[row]), int(self.domain.bodies.primitive_count[row])
        return point_query.contains(self.domain.geometry, first, count, point, self.domain.epsilon)

    def part_at(self, identifier: int, point) -> int | None:
        """Number of the first convex, element with a free face, sphere or ellipsoid of the body that holds a referential point."""
        row = self.domain.body_row(identifier)
        first, count = int(self.domain.bodies.primitive_ptr[row]), int(self.domain.bodies.primitive_count[row])
        return point_query.first_holder(self.domain.geometry, first, count, point, self.domain.epsilon)

    def check_inside(self, identifier: int, point) -> None:
        """Raise an error for a point in the mesh but outside of the shape inside the mesh."""
        mesh = self.domain.bodies.meshes.get(identifier)
        if mesh is not None and mesh.background is not None and not self.contains(identifier, point):
            x, y, z = point
            raise SolfecError(f"{self.domain.bodies.name(identifier)}: the point ({x:g}, {y:g}, {z:g}) is outside of its shape")

    def displacement(self, identifier: int, point) -> np.ndarray:
        """Displacement of a referential point at the present configuration."""
        row, reference = self._place(identifier, point)
        if self.domain.bodies.kind[row] == BodyKind.FINITE_ELEMENT:
            return point_values.displacement(self.domain.bodies, row, point, self.domain.epsilon)
        return (motion.spatial_points(self.domain.bodies, np.array([row], np.int32), reference) - reference)[:, 0]

    def velocity(self, identifier: int, point) -> np.ndarray:
        """Spatial velocity of a referential point."""
        row, reference = self._place(identifier, point)
        if self.domain.bodies.kind[row] == BodyKind.FINITE_ELEMENT:
            return point_values.velocity(self.domain.bodies, row, point, self.domain.epsilon)
        return motion.point_velocities(self.domain.bodies, np.array([row], np.int32), reference)[:, 0]

    def nodes(self, identifier: int, reference: np.ndarray) -> np.ndarray:
        """Present places (n, 3) of the nodes of one of the body's meshes, by their referential ones (n, 3)."""
        bodies, row = self.domain.bodies, self.domain.body_row(identifier)
        if bodies.kind[row] != BodyKind.FINITE_ELEMENT:
            return motion.spatial_points(bodies, np.full(len(reference), row, np.int32), np.asfortranarray(reference.T)).T
        fe = compiled(bodies)
        number = fe.number(row)
        own = slice(fe.first[number], fe.first[number + 1])
        return reference + bodies.configurations.conf[:, fe.conf_row[own]].T

    def _place(self, identifier: int, point) -> tuple[int, np.ndarray]:
        """Row of a body, and a referential point in it as a column (3, 1)."""
        row = self.domain.body_row(identifier)
        self.check_inside(identifier, point)
        return row, np.asfortranarray(np.reshape(np.asarray(point, float), (3, 1)))

    def stress(self, identifier: int, point) -> np.ndarray:
        """Cauchy stress (sx, sy, sz, sxy, sxz, syz) and von Mises stress at a referential point (docs/language-running.md, STRESS)."""
        self.check_inside(identifier, point)
        return point_values.stress(self.domain.bodies, self.domain.body_row(identifier), point, self.domain.epsilon)
