"""Kernels take tables by handles or types, not column by column: no procedure has more than 20 arguments."""

import re
from pathlib import Path

SOURCES = Path(__file__).parent.parent / "fortran"
MOST = 20
HEADER = re.compile(r"^[ \t]*(?:(?:pure|elemental|impure|recursive|logical|integer|real|type)(?:\(\w+\))? )*(?:subroutine|function) (\w+)\s*\(([^)]*)\)", re.M)


def long_lists() -> dict[str, list[str]]:
    """Procedures with too many arguments, by module."""
    found: dict[str, list[str]] = {}
    for path in SOURCES.rglob("*.f90"):
        text = re.sub(r"&\s*\n\s*&?", "", path.read_text())
        for name, arguments in HEADER.findall(text):
            if len([word for word in arguments.split(",") if word.strip()]) > MOST:
                found.setdefault(path.stem, []).append(name)
    return found


def test_no_procedure_has_more_than_twenty_arguments():
    assert HEADER.search("  pure integer(i4) function one(a, b)").group(1) == "one"
    assert not long_lists()
