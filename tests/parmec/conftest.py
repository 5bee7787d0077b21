"""Every test of the explicit engine begins with an empty model."""

import pytest

from solfec.parmec import model


@pytest.fixture(autouse=True)
def empty_model():
    """No particles; what was there before comes back."""
    before = model.begin(None)
    yield
    model.begin(before)
