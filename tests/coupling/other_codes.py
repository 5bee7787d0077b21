"""What tests of other codes share: a skip where a code is missing, and boxes."""

import pytest

from solfec import HULL
from solfec.errors import SolfecError


def skip_unless_installed(helper):
    """Skip tests that need a code where its helper process does not answer."""
    with helper() as process:
        try:
            process.call("hello")
        except SolfecError as error:
            pytest.skip(str(error))


def box(x, y, z, a, b, c):
    """Return a box from its lowest corner and its sides."""
    return HULL([number for up in (0, c) for u, v in [(0, 0), (a, 0), (a, b), (0, b)] for number in (x + u, y + v, z + up)], 1, 1)
