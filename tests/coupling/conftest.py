"""Every test begins with an empty explicit model, in an empty directory."""

import pytest


@pytest.fixture(autouse=True)
def begin_empty(empty_models):
    """Give every test what `empty_models` does."""
