"""docs/commands.md lists for every command a test that calls it; `python tests/test_command_table.py` writes it anew."""

import re
from functools import cache
from pathlib import Path

import pytest

from solfec.language import COMMANDS, NOT_INJECTED

ROOT = Path(__file__).parent.parent
TABLE = ROOT / "docs" / "commands.md"
OF_NO_ONE = {"fuzz.py", "test_fuzz.py", "test_commands.py", "test_command_table.py"}  # they go through lists of names
HEAD = """# Commands and their tests

Every command, and the tests that call it most. A command of the manual without a test of its own fails the test suite.

| command | tests |
|---|---|
"""


@cache  # of a thousand files
def calls() -> dict[str, list[str]]:
    """Test files that call each command, those with the most calls first."""
    counted: dict[str, dict[str, int]] = {name: {} for name in COMMANDS}
    for path in sorted((ROOT / "tests").rglob("*.py")):
        if path.name in OF_NO_ONE or "parmec" in path.parts:  # the explicit engine has commands of the same names
            continue
        for name in re.findall(r"\b([A-Z][A-Z0-9_]+) ?\(", path.read_text()):
            if name in counted:
                file = path.relative_to(ROOT / "tests").as_posix()
                counted[name][file] = counted[name].get(file, 0) + 1
    return {name: sorted(files, key=lambda file: (-files[file], file)) for name, files in counted.items()}


def table() -> str:
    found = calls()
    rows = []
    for name in sorted(set(COMMANDS) - NOT_INJECTED):
        tests = ", ".join(f"`{file}`" for file in found[name][:2]) or "none"
        rows.append(f"| {name} | {tests} |")
    return HEAD + "\n".join(rows) + "\n"


BUILT = sorted(set(COMMANDS) - NOT_INJECTED)  # CONSTRAINT is a type
LISTED = dict(re.findall(r"^\| ([A-Z0-9_]+) \| (.*) \|$", TABLE.read_text(), re.MULTILINE)) if TABLE.exists() else {}


@pytest.mark.parametrize("name", BUILT)
def test_every_command_that_is_built_is_called_by_the_tests_that_the_table_names(name):
    found = calls()[name]
    assert found, f"no test calls {name}"
    listed = re.findall(r"`([^`]+)`", LISTED.get(name, ""))
    assert listed, f"{name} is not in docs/commands.md: run python tests/test_command_table.py"
    assert set(listed) <= set(found)


if __name__ == "__main__":
    TABLE.write_text(table())
