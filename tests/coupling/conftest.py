"""Every test begins with an empty explicit model, in an empty directory."""

import pytest

from solfec.language import session
from solfec.parmec import model


@pytest.fixture(autouse=True)
def empty_model(tmp_path, monkeypatch):
    """Start with an empty explicit model, and restore the previous one afterwards."""
    monkeypatch.chdir(tmp_path)
    before, session_before = model.begin(None), session.begin(session.Session())
    yield
    model.begin(before)
    session.begin(session_before)
