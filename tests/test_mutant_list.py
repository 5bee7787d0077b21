"""The faults that `make mutants` tries are changes of text that the sources still hold."""

import importlib.util
import sys
from pathlib import Path

TOOLS = Path(__file__).parent.parent / "tools"


def test_every_fault_of_the_list_fits_the_sources(monkeypatch):
    monkeypatch.syspath_prepend(str(TOOLS))
    spec = importlib.util.spec_from_file_location("mutants", TOOLS / "mutants.py")
    mutants = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(mutants)
    mutants.check(mutants.ROOT)
    assert len(sys.modules["mutant_list"].MUTANTS) >= 60
