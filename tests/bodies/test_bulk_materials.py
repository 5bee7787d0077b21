"""Bulk materials and their ranges."""

import math

import pytest

from solfec.bodies.materials import BulkMaterial
from solfec.bodies.table import BodyKind, Form
from solfec.domain import Domain
from solfec.errors import NotBuiltYet, SolfecError
from solfec.shapes.mesh import Mesh
from solfec.shapes.sphere import Sphere


def test_default_material_has_equal_lame_constants():
    assert BulkMaterial().lame == pytest.approx((4e8, 4e8))


@pytest.mark.parametrize(
    "values, words",
    [
        ({"young": -1.0}, "young"),
        ({"young": math.inf}, "finite"),
        ({"density": math.nan}, "density"),
        ({"poisson": 0.51}, "below 0.5"),
        ({"poisson": -0.1}, "poisson"),
        ({"tensile": -1.0}, "tensile"),
        ({"model": "RUBBER"}, "RUBBER"),
    ],
)
def test_numbers_out_of_range_are_refused(values, words):
    with pytest.raises(ValueError, match=words):
        BulkMaterial(**values)


def test_tsang_marsden_is_not_built_yet():
    with pytest.raises(NotBuiltYet, match="TSANG_MARSDEN"):
        BulkMaterial(model="TSANG_MARSDEN")


@pytest.mark.parametrize("kind", [BodyKind.PSEUDO_RIGID, BodyKind.FINITE_ELEMENT])
def test_incompressible_material_is_for_rigid_bodies_alone(kind):
    nodes = [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1]
    rubber, domain = BulkMaterial(poisson=0.5), Domain(1e-3)
    domain.insert_body(BodyKind.RIGID, [Sphere((5, 0, 0), 1, 0, 0)], rubber)
    mesh = Mesh.from_records(nodes, [8, *range(8), 0])
    with pytest.raises(SolfecError, match="0.5"):
        domain.insert_body(kind, [mesh], rubber, form=Form.TL if kind == BodyKind.FINITE_ELEMENT else Form.NONE)
