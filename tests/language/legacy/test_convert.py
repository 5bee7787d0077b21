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
    "global-statements-anywhere", "a-user's-own-str-and-division", "random-numbers-of-rarer-kinds",
}  # fmt: skip
BY_HAND = {
    "numpy-arrays-of-integers", "old-raise-and-except-forms", "lists-from-range,-zip,-map,-filter-and-dictionaries",
    "exec-statements", "renamed-modules-and-names-that-went-away", "pickles", "text-files",
    "classes-of-old-style", "imports-inside-functions", "unlike-things-have-an-order", "classes-with-slices-of-their-own",
    "strings-change-their-coding-without-becoming-bytes", "octal,-coercion-and-members-of-modules",
    "texts-in-memory,-tables-and-compressed-files",
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
        "from solfec.language.legacy.runtime import divide, divisor\nimport math\nn = 7\n"
        "print(7 // 2, 7 / 2., len ('abc') // 2, math.sqrt (4) / 2, (1. + n) / n)\nprint(divide(n , 2))\nn /= divisor(2)\n"
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


@pytest.mark.parametrize(
    ("old", "prints"),
    [
        ("import math, random\nrandom.seed (1)\nprint random.randint (8, 32), random.randint (8, 32)\n", "11 29\n"),
        ("import os, random as r, sys; r.seed (1); print r.randint (8, 32)\n", "11\n"),
        ("try: import random\nexcept ImportError: pass\nrandom.seed (1)\nprint random.randint (8, 32)\n", "11\n"),
        ("from random import seed, randint\nseed (1)\nprint randint (8, 32)\n", "11\n"),
        ("import cPickle as p, time\nprint p.loads (p.dumps ([1])), time.clock () >= 0\n", "[1] True\n"),
        ("import string\nprint string.join (['a', 'b'], '+'), string.letters[:2]\n", "a+b ab\n"),
        ("import string\nprint string.digits\n", "0123456789\n"),
        ("x = [1, 3, 2]\nx.sort (lambda a, b: cmp (b, a))\nprint x\n", "[3, 2, 1]\n"),
        ("def order (a, b): return cmp (b, a)\nx = [1, 3, 2]; x.sort (cmp = order)\nprint x, sorted (x, order), sorted (x, cmp = order, reverse = True)\n",
         "[3, 2, 1] [3, 2, 1] [1, 2, 3]\n"),
        ("x = [1, 3, 2]\nx.sort ()\nx.sort (key = lambda a: -a)\nprint x, sorted (x)\n",
         "[3, 2, 1] [1, 2, 3]\n"),
        ("try: raise IOError (2, 'gone')\nexcept IOError, (number, text): print number, text\n", "2 gone\n"),
        ("import subprocess\nprint subprocess.check_output ('echo a', shell = True).split ()\n", "['a']\n"),
        ("from time import clock as c, time\nfrom string import (join, upper)\nprint c () < time (), join (['a']), upper ('b')\n", "True a B\n"),
        ("x = [7, 9]\ndef i ():\n  x.append (0)\n  return 1\nx[i ()] /= 2\nprint x\n", "[7, 4, 0]\n"),
        ("import numpy\na = numpy.array ([7, 9]); b = a\na /= 2\nprint a is b, list (map (int, b))\n", "True [3, 4]\n"),
        ("import sets\nprint len (sets.Set ([1, 1]))\n", "1\n"),
    ],
)  # fmt: skip
def test_converted_inputs_find_modules_and_orders_as_they_were(run, old, prints):
    Path("main.py").write_text(old)
    assert run(None, "--python2", path="main.py").out == prints
    outcome = converted(run)
    assert outcome.status == 0, outcome.err
    Path("main.py").write_text(outcome.out)
    again = run(None, "--python3", path="main.py")
    assert (again.out, again.err, again.status) == (prints, "", 0), outcome.out


def test_modules_that_did_not_change_are_imported_plainly(run):
    Path("main.py").write_text("import string, time, sys, subprocess\nprint string.digits, time.time () > 0, subprocess.call (['true'])\n")
    assert converted(run).out.startswith("import string, time, sys, subprocess\n")


def test_a_note_names_texts_that_are_executed(run):
    Path("main.py").write_text("x = 1\nexec 'y = x / 2'\nprint y\n")
    assert "main.py:2: note: what exec runs has to be Python 3, too" in converted(run).err


def test_a_note_names_variables_that_outlive_a_list_comprehension(run):
    Path("main.py").write_text("print 1\nrow = [k * k for k in range (3)]\nnext = [j for j in row]\nfor j in row: pass\nprint k, j\n")
    assert converted(run).err == "main.py:5: note: 'k' has no longer the last value that a list comprehension above gave it: assign it\n"
