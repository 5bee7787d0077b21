"""Bulk materials and their ranges."""

import math

import pytest

from solfec.bodies.materials import BulkMaterial
from solfec.errors import NotBuiltYet


def test_default_material_has_equal_lame_constants():
    assert BulkMaterial().lame == pytest.approx((4e8, 4e8))


@pytest.mark.parametrize(
    "values, words",
    [
        ({"young": -1.0}, "young"),
        ({"young": math.inf}, "finite"),
        ({"density": math.nan}, "density"),
        ({"poisson": 0.5}, "below 0.5"),
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
