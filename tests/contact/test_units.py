"""A model has equal contacts in all units of length, from micrometres to megametres."""

from __future__ import annotations

import numpy as np
import pytest
from detection_models import Model, box, mesh_box

from solfec.bodies.table import BodyKind
from solfec.shapes import transform
from solfec.shapes.ellipsoid import Ellipsoid
from solfec.shapes.hull import hull
from solfec.shapes.sphere import Sphere


def model_in(unit, **options):
    """A floor of elements with a wall, a hull, boxes, spheres and ellipsoids on it and on one another."""
    options = {name: value * unit if name == "margin" else value for name, value in options.items()}
    model = Model(epsilon=1e-6 * unit, **options)
    random = np.random.default_rng(4)
    shapes = [(mesh_box((-3, -3, -1), (3, 3, 0), (3, 3, 1), range(1, 7)), BodyKind.OBSTACLE)]
    shapes += [(box((-3.5, -3, -1), (-2.9, 3, 2), 7), BodyKind.OBSTACLE)]
    for k in range(6):
        points = random.normal(size=(12, 3)) * 0.4
        stone = hull((points - [0, 0, points[:, 2].min()]).ravel(), 0, 8, 1e-6)
        shapes += [(transform.translate(stone, (0.9 * k - 2.3, random.uniform(-2, 2), -0.01)), BodyKind.RIGID)]
        shapes += [(Sphere((0.9 * k - 2.3, 2.2, 0.49), 0.5, 0, 9), BodyKind.RIGID)]
        egg = Ellipsoid((0.9 * k - 2.3, -2.2, 0.29), (0.5, 0.4, 0.3), 0, 10)
        egg.rotate(egg.centre, transform.rotation_matrix(np.array([0.0, 0, 1]), 40.0 * k))
        shapes += [(egg, BodyKind.PSEUDO_RIGID), (mesh_box((k - 2.8, -0.3, 0), (k - 1.9, 0.3, 0.6), (2, 2, 1)), BodyKind.FINITE_ELEMENT)]
    for shape, kind in shapes:
        if isinstance(shape, Sphere):
            shape.centre = shape.centre * unit
            shape.radius *= unit
        else:
            transform.scale(shape, (unit,) * 3)
        model.add(shape, kind=kind)
    removed = model.detect()
    table = model.constraints
    found = {
        (model.key(row), int(table.slot[row])): np.concatenate((
            table.base[:, 2, row], table.point[:, row] / unit, [table.gap[row] / unit, table.area[row] / unit**2 if table.area[row] != 1 else 1],
            table.surface[:, row],
        ))
        for row in range(table.n)
    }  # fmt: skip
    return removed, found


@pytest.mark.parametrize("unit", [2.0**-20, 2.0**20, 1e-6, 1e6])
@pytest.mark.parametrize("options", [{}, {"margin": 0.05, "patch": True}], ids=["default", "margin and patches"])
def test_units_do_not_matter(unit, options):
    removed, found = model_in(1.0, **options)
    again, other = model_in(unit, **options)
    assert removed == again
    assert found.keys() == other.keys() and len(found) > 60
    for key, values in found.items():
        np.testing.assert_allclose(other[key], values, atol=1e-5, err_msg=str(key))
