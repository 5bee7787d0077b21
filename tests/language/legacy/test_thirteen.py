"""The thirteen small inputs that define what reading Python 2 means."""

from __future__ import annotations

from pathlib import Path


def test_soft_space_and_float_text(good):
    text = """\
        x = 0.1 + 0.2
        print 'a', 1, x, [x]
        print 'b',
        print 'c'
        print
        """
    assert good(text) == "a 1 0.3 [0.30000000000000004]\nb c\n\n"


def test_division_through_names_parameters_and_augmented_assignment(good):
    text = """\
        def half (n): return n / 2
        w = 7
        q = -w / 2
        r = w
        r /= 3
        print half (w), q, w / 2., range (half (w)), r
        """
    assert good(text) == "3 -4 3.5 [0, 1, 2] 2\n"


def test_parenthesised_expression_after_print(good):
    assert good("print ('%d pct') % 5\nprint (1, 2)\n", "--python2") == "5 pct\n(1, 2)\n"


def test_tab_after_eight_blanks_is_the_same_block(good):
    text = "s = 0\nfor i in range (2):\n        s += 1\n\ts += 1\nprint s\n"
    assert good(text) == "4\n"


def test_names_of_builtins_are_used_again(good):
    assert good("hex = 4; sum = 5; len = 2; str = 'k'\nprint hex + sum, 5. / len\n") == "9 2.5\n"


def test_include(good):
    Path("part.py").write_text("tag = side * 2 / 3\n")
    assert good("side = 10\nexecfile ('part.py')\nprint tag, __file__\n", path="main.py") == "6 main.py\n"


def test_random_integers(good):
    text = "from random import seed, randint\nseed (1)\nprint [randint (8, 32) for k in range (4)]\n"
    assert good(text) == "[11, 29, 27, 14]\n"


def test_arguments(good):
    text = "a = NON_SOLFEC_ARGV ()\nif a <> None: print a [0]\nelse: print 'none'\n"
    assert good(text) == "none\n"
    assert good(text, "PATH", "x") == "x\n"


def test_module_after_rebinding_its_name(good):
    text = """\
        solfec = SOLFEC ('DYNAMIC', 0.5, 'out/t9')
        import solfec as mod
        print mod.HEX is HEX, solfec.mode in ('READ', 'WRITE')
        """
    assert good(text) == "True True\n"


def test_run_then_read_back_in_one_process(good):
    text = """\
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
        """
    assert good(text) == "WRITE READ 5 True\n"


def test_string_repetition_and_node_arithmetic(good):
    text = "k = 5; n = 9\nprint '[' + '=' * (k/2) + ' ' * (n/2 - k/2) + ']', (n - 4) * (n - 4) / 2 + 1\n"
    assert good(text) == "[==  ] 13\n"


def test_old_raise_and_except(good):
    assert good("try:\n  raise ValueError, 'bad'\nexcept ValueError, e:\n  print e, 7 / 2\n") == "bad 3\n"


def test_long_sum_of_lists(good):
    for terms in (2500, 20_000):
        text = "m = " + " + \\\n    ".join(["[0]"] * terms) + "\nprint len (m)\n"
        assert good(text) == f"{terms}\n"
