"""Every test of the explicit engine begins with an empty model, in an empty directory, where its files go."""

import pytest

from solfec.language import session
from solfec.parmec import files, model


@pytest.fixture(autouse=True)
def empty_model(tmp_path, monkeypatch):
    """Start with an empty model, and restore the previous one afterwards."""
    monkeypatch.chdir(tmp_path)
    before, session_before = model.begin(None), session.begin(session.Session())
    yield
    model.begin(before)
    session.begin(session_before)


@pytest.fixture
def without_files(monkeypatch):
    """Write no frames: by default every step has one, which takes longer than the step."""
    monkeypatch.setattr(files.Writer, "write", lambda self: None)
