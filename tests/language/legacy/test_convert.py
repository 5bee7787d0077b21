"""`solfec --convert` writes Python 3 that does what the old input did, or says which lines to look at."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_samples import samples, write

# What Python 3 shows by other text, or what `--convert` leaves to the user and tells in a note.
OTHER_TEXT = {
    "printed-items-are-separated-by-one-blank-and-floats-show-12-digits", "a-trailing-comma-leaves-a-soft-space",
    "progress-lines-go-back-with-backspaces", "print-to-a-file", "print-with-parentheses,-tuples-and-formats",
    "string-repetition-and-node-arithmetic-with-integers", "random-integers-after-a-seed", "percent-formats",
    "semicolons-and-one-line-blocks", "sum-over-items-with-names", "dictionaries-and-sets-in-loops",
    "comparisons-with-None-and-tests-of-types", "formatted-table-of-results", "command-line-and-modules",
    "global-statements-anywhere", "a-user's-own-str-and-division",
}  # fmt: skip
BY_HAND = {
    "numpy-arrays-of-integers", "old-raise-and-except-forms", "lists-from-range,-zip,-map,-filter-and-dictionaries",
    "sorting-with-comparison-functions", "exec-statements", "renamed-modules-and-names-that-went-away", "pickles", "text-files",
    "classes-of-old-style", "imports-inside-functions",
}  # fmt: skip


def converted(run, path: str = "main.py"):
    return run(None, "--convert", path=path)


@pytest.mark.parametrize(("text", "others", "output"), [s for s in samples("language.txt") if s.id not in OTHER_TEXT | BY_HAND])
def test_converted_inputs_print_the_same(run, text, others, output):
    write({**others, "main.py": text})
    for path in ("main.py", *others):
        outcome = converted(run, path)
        assert outcome.status == 0, outcome.err
        Path(path).write_text(outcome.out)
    again = run(None, "--python3", path="main.py")
    assert (again.out, again.status) == (output, 0), again.err


@pytest.mark.parametrize(("text", "others", "output"), [s for s in samples("language.txt") if s.id in OTHER_TEXT])
def test_converted_inputs_that_print_otherwise_still_run(run, text, others, output):
    write({**others, "main.py": text})
    outcome = converted(run)
    assert outcome.status == 0, outcome.err
    Path("main.py").write_text(outcome.out)
    assert run(None, "--python3", path="main.py").status == 0


def test_divisions_become_plain_where_the_text_tells(run):
    Path("main.py").write_text(
        "import math\nn = 7\nprint 7 / 2, 7 / 2., len ('abc') / 2, math.sqrt (4) / 2, (1. + n) / n\nprint n / 2\nn /= 2\n"
    )
    outcome = converted(run)
    assert outcome.out == (
        "from solfec.language.legacy.runtime import divide\nimport math\nn = 7\n"
        "print(7 // 2, 7 / 2., len ('abc') // 2, math.sqrt (4) / 2, (1. + n) / n)\nprint(divide(n , 2))\nn = divide(n, 2)\n"
    )
    assert outcome.err.startswith("main.py:4: note: `divide` stands for '/'")
    assert "main.py:5: note" in outcome.err


def test_a_python_3_file_stays_as_it_is(run):
    for text in ("# solfec: python3\nprint(7 / 2)\n",):
        Path("main.py").write_text(text)
        assert converted(run).out == text


def test_what_cannot_be_read_is_refused_by_line(run):
    Path("main.py").write_text("print 'a'\nx = = 2\n")
    outcome = converted(run)
    assert (outcome.status, outcome.out) == (1, "")
    assert outcome.err.startswith("main.py:2: SyntaxError")
