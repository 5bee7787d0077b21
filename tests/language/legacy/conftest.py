"""Old inputs run in a directory and with a cache of their own; `samples` reads the files of made-up ones."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    """Translations are kept away from the user's own."""
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    monkeypatch.delenv("MPLBACKEND", raising=False)
    return folder
