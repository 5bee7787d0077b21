"""Every test of the explicit engine begins with an empty model, in an empty directory, where its files go."""

import pytest

from solfec.parmec import files


@pytest.fixture(autouse=True)
def begin_empty(empty_models):
    """Give every test what `empty_models` does."""


@pytest.fixture
def without_files(monkeypatch):
    """Write no frames: by default every step has one, which takes longer than the step."""
    monkeypatch.setattr(files.Writer, "write", lambda self: None)
