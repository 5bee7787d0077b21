"""The thirteen small inputs that define what reading Python 2 means."""

from __future__ import annotations

from pathlib import Path

import pytest

PROGRAMS = {  # and what they print
    "soft space and float text": ("""\
        x = 0.1 + 0.2
        print 'a', 1, x, [x]
        print 'b',
        print 'c'
        print
        """, "a 1 0.3 [0.30000000000000004]\nb c\n\n"),
    "division through names parameters and augmented assignment": ("""\
        def half (n): return n / 2
        w = 7
        q = -w / 2
        r = w
        r /= 3
        print half (w), q, w / 2., range (half (w)), r
        """, "3 -4 3.5 [0, 1, 2] 2\n"),
    "tab after eight blanks is the same block": ("s = 0\nfor i in range (2):\n        s += 1\n\ts += 1\nprint s\n", "4\n"),
    "names of builtins are used again": ("hex = 4; sum = 5; len = 2; str = 'k'\nprint hex + sum, 5. / len\n", "9 2.5\n"),
    "random integers": ("from random import seed, randint\nseed (1)\nprint [randint (8, 32) for k in range (4)]\n", "[11, 29, 27, 14]\n"),
    "module after rebinding its name": ("""\
        solfec = SOLFEC ('DYNAMIC', 0.5, 'out/t9')
        import solfec as mod
        print mod.HEX is HEX, solfec.mode in ('READ', 'WRITE')
        """, "True True\n"),
    "run then read back in one process": ("""\
        def make ():
          s = SOLFEC ('DYNAMIC', 0.25, 'out/t10')
          s.verbose = 'OFF'
          m = BULK_MATERIAL (s)
          b = BODY (s, 'RIGID', SPHERE ((0, 0, 0), 1, 1, 1), m, 'ball')
          INITIAL_VELOCITY (b, (1, 0, 0), (0, 0, 0))
          RUN (s, NEWTON_SOLVER (), 1)
          return s
        one = make ()
        m1 = one.mode
        two = make ()
        h = HISTORY (two, [('ball', (0, 0, 0), 'DX')], 0, 1)
        print m1, two.mode, len (h [0]), abs (h [1][-1] - 1) < 1E-9
        """, "WRITE READ 5 True\n"),
    "string repetition and node arithmetic": ("k = 5; n = 9\nprint '[' + '=' * (k/2) + ' ' * (n/2 - k/2) + ']', (n - 4) * (n - 4) / 2 + 1\n", "[==  ] 13\n"),
    "old raise and except": ("try:\n  raise ValueError, 'bad'\nexcept ValueError, e:\n  print e, 7 / 2\n", "bad 3\n"),
}  # fmt: skip


@pytest.mark.parametrize("text, printed", PROGRAMS.values(), ids=PROGRAMS)
def test_a_program_of_python_2_prints_what_it_printed(good, text, printed):
    assert good(text) == printed


def test_parenthesised_expression_after_print(good):
    assert good("print ('%d pct') % 5\nprint (1, 2)\n", "--python2") == "5 pct\n(1, 2)\n"


def test_include(good):
    Path("part.py").write_text("tag = side * 2 / 3\n")
    assert good("side = 10\nexecfile ('part.py')\nprint tag, __file__\n", path="main.py") == "6 main.py\n"


def test_arguments(good):
    text = "a = NON_SOLFEC_ARGV ()\nif a <> None: print a [0]\nelse: print 'none'\n"
    assert good(text) == "none\n"
    assert good(text, "PATH", "x") == "x\n"


def test_long_sum_of_lists(good):
    for terms in (2500, 20_000):
        text = "m = " + " + \\\n    ".join(["[0]"] * terms) + "\nprint len (m)\n"
        assert good(text) == f"{terms}\n"
