"""Comments and docstrings point to pages and headings of docs/ that exist, and their first lines stand alone."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCES = sorted(
    path for folder in ("solfec", "fortran", "tools", "benchmarks", "tests", "docs/figures", "inp")
    for pattern in ("*.py", "*.f90") for path in (ROOT / folder).rglob(pattern)
)  # fmt: skip
REFERENCE = re.compile(r"\bdocs/(?P<page>[\w-]+\.md)(?:, (?P<heading>[^;()\"`]+))?")


def headings(page: Path) -> set[str]:
    """Headings of a page without their numbers."""
    return {re.sub(r"^[\d.]+ ", "", found[1].strip()) for found in re.finditer(r"^#+ (.*)$", page.read_text(), re.M)}


HEADINGS = {page.name: headings(page) for page in (ROOT / "docs").glob("*.md")}


def unfulfilled(text: str) -> list[str]:
    """References `docs/page.md, Heading` or `docs/page.md, Heading.member` in a text that name no page, heading or member.

    A reference in parentheses gives page and heading; several are divided by semicolons.
    """
    wrong = []
    for inside in re.findall(r"\(([^()]*\bdocs/[^()]*)\)", re.sub(r"\n *(?:!>?|#)? *", " ", text)):
        for reference in REFERENCE.finditer(inside):
            page, heading = reference["page"], (reference["heading"] or "").strip()
            title, _, member = heading.partition(".") if heading not in HEADINGS.get(page, ()) else (heading, "", "")
            known = page in HEADINGS and (not heading or title in HEADINGS[page])
            if not known or member and f"`{member}" not in (ROOT / "docs" / page).read_text():
                wrong.append(reference[0])
    return wrong


@pytest.mark.parametrize(
    "text, wrong",
    [
        ("(docs/theory.md, Gauss-Seidel; docs/language-objects.md, BODY.scheme)", []),
        ("(docs/theory.md,\n  !> Local frames)", []),
        ("(docs/theory.md, Gauss)", ["docs/theory.md, Gauss"]),
        ("(docs/theories.md)", ["docs/theories.md"]),
        ("(docs/language-objects.md, BODY.skeme)", ["docs/language-objects.md, BODY.skeme"]),
    ],
)
def test_a_reference_names_a_page_and_a_heading(text, wrong):
    assert unfulfilled(text) == wrong


def test_references_to_the_documents_are_fulfilled():
    wrong = {str(path.relative_to(ROOT)): found for path in SOURCES if path != Path(__file__) and (found := unfulfilled(path.read_text()))}
    assert wrong == {}


def test_references_to_texts_that_a_reader_does_not_have_are_gone():
    """`(manual, BODY)` and `(theory, "Joints")` are `(docs/language-objects.md, BODY)` and `(docs/theory.md, Joints)`."""
    old = re.compile(r'\bmanual[,:] |\btheory, (?:section )?"')
    wrong = [str(path.relative_to(ROOT)) for path in SOURCES if path != Path(__file__) and old.search(path.read_text())]
    assert wrong == []


#: Beginnings of first lines that need the text before them, and verbs of speech and knowledge, which data do not have.
UNFIT = re.compile(r"^(The same|All of them|Some of them|Nobody)\b|^Of `|\b(nobody|asks? for|wants?|hears?|heard|told|owes?|said|knows?)\b", re.I)


def first_lines(path: Path) -> Iterator[str]:
    """First lines of the docstrings of a Python file, or of the blocks of `!>` comments of a Fortran file."""
    text = path.read_text()
    if path.suffix == ".py":
        documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        docstrings = (ast.get_docstring(node) for node in ast.walk(ast.parse(text)) if isinstance(node, documented))
        yield from (docstring.partition("\n")[0] for docstring in docstrings if docstring)
    else:
        yield from (found[1] for found in re.finditer(r"(?:^|\n(?! *!).*\n) *!> ?(.*)", text))


def test_first_lines_are_found(tmp_path):
    source = tmp_path / "lines.f90"
    source.write_text("!> One.\n!> More.\nmodule m\n  !> Two.\n  integer :: i\nend module\n")
    assert list(first_lines(source)) == ["One.", "Two."]
    source = tmp_path / "lines.py"
    source.write_text('"""One.\n\nMore.\n"""\ndef f():\n    """Two."""\n')
    assert list(first_lines(source)) == ["One.", "Two."]


@pytest.mark.parametrize("line", ["The same of contacts.", "Of `rows`: their kinds.", "Velocity that a joint asks for.", "Nobody reads it."])
def test_a_first_line_that_does_not_stand_alone_is_unfit(line):
    assert UNFIT.search(line)


def test_first_lines_stand_alone():
    checked = [path for path in SOURCES if "old_inputs" not in path.parts and "inp" not in path.parts]  # inputs may be of Python 2
    wrong = {str(path.relative_to(ROOT)): lines for path in checked if (lines := [line for line in first_lines(path) if UNFIT.search(line)])}
    assert wrong == {}
