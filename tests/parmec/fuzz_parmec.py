"""Calls every command of the explicit engine with arguments that were good until one was spoilt: ``python fuzz_parmec.py SEED CALLS`` in an
empty directory.

Prints one line per finding and ends with status 1 when there are any: an exception that is not documented, a call that takes more than
`PATIENCE` seconds, or a spoilt argument that was accepted although nothing can be meant by it.
"""

from __future__ import annotations

import random
import sys
import warnings
from functools import partial

import numpy as np
from spoilt_calls import DOCUMENTED, Findings, Odd, raised_by

from solfec import parmec
from solfec.language import session
from solfec.parmec import model

PATIENCE = 20
BOX = [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1]
TABLE = [-1, -10, 1, 10]


MEANINGLESS = [Odd(), float("nan"), [float("nan")], (0, float("nan"), 0), b"bytes", 1j, [[[]]], NotImplemented]
DOUBTFUL = [
    None, True, 0, 1, -1, 3, 2**31, 2**63, 10**400, -(2**70), 0.0, -0.0, 0.5, 1e308, -1e308, 5e-324, float("inf"), "", "x", "ON", "\0",
    "a" * 5000, "\udcff", (), [], [0], (0, 0, 0), (1, 0, 0), (1e308, 0, 0), [1, 2], list(range(50)), [None], [[1, 2], [3, 4]], ["a"], {}, {0: 0},
    range(3), np.array([1.0, 2.0]), np.array(["a", "b"]), np.zeros((2, 2)), (1,) * 9, [0.0] * 24, lambda *a: None, lambda: 1 / 0, "/nonexistent/x", ".",
]  # fmt: skip


def build(number: int) -> None:
    """A small model with one of everything; every third one has taken steps."""
    p = parmec
    model.begin(None)
    p.MATERIAL(1000, 1e6, 0.3)
    p.MESH(BOX, [8, 0, 1, 2, 3, 4, 5, 6, 7, 0], 0, 1)
    p.SPHERE((3, 0, 0), 0.5, 0, 1)
    p.ANALYTICAL([1, 2, 3, 0, 0, 0], 2.0, position=(5, 0, 0))
    p.TSERIES([0, 0, 1, 1])
    p.SPRING(0, (1, 1, 1), 1, (3, 0, 0), TABLE)
    p.SPRING(0, (1, 1, 1), -1, (3, 0, 0), TABLE)
    p.TORSION_SPRING(0, 1, (0, 0, 1), (1, 0, 0), [-1, 10, 1, -10])
    p.BALL_JOINT(2, (5, 0, 1))
    p.HISTORY("PZ", 0)
    if number // 25 % 3 == 2:
        p.DEM(0.02, 0.01, 0.01, f"run{number}")


def good(name: str, number: int) -> list:
    """Good arguments, all that a command has."""
    three = lambda t: (t, 0, 0)  # noqa: E731
    return {
        "MATERIAL": [1000.0, 1e6, 0.3],
        "SPHERE": [(1, 2, 3), 0.5, 0, 1],
        "MESH": [list(BOX), [8, 0, 1, 2, 3, 4, 5, 6, 7, 0], 0, [1, 4, 0, 1, 2, 3, 5]],
        "ANALYTICAL": [[1, 2, 3, 0, 0, 0], 2.0, [1, 0, 0, 0, 1, 0, 0, 0, 1], (5, 0, 0), 0, 2],
        "VELOCITY": [0, (1, 0, 0), (0, 1, 0)],
        "TSERIES": [[0, 0, 1, 1, 2, 5]],
        "GRAVITY": [0.0, 0, lambda t: -t],
        "DAMPING": [three, (0, 0, 0)],
        "RESTRAIN": [0, [1, 0, 0, 0, 1, 0], [0, 0, 1]],
        "PRESCRIBE": [0, three, (0, 0, 0), "va"],
        "SPRING": [0, (1, 1, 1), 1, (3, 0, 0), list(TABLE), [-1, -1, 1, 1], (0, 0, 1), "ON", [-1, -20, 1, 20], (-5, 5), False, 0, 0.3, 0.5],
        "UNSPRING": [0, [1], (None, 5.0), "SF", "SUM", True, 2, 3, {1: 0}, None],
        "GRANULAR": [1, 1, 1e5, 0.5, (0.3, 0.2), 0.0, 0.0, 0.5],
        "OBSTACLE": [[(0, 0, 0, 1, 0, 0, 0, 1, 0)], [1], (0, 0, 0), three, three],
        "TORSION_SPRING": [0, 2, (0, 0, 1), (1, 0, 0), [-1, 10, 1, -10], [-1, 10, 1, -10], [-1, 10, 1, -10], 0.1, 0.1, 0.1, ("roll", "pitch"), (1, 1, 1)],
        "BALL_JOINT": [0, (1, 1, 1), 2],
        "EQM": [0, (1, 1, 1), 1, (3, 0, 0), (0, 0, 1)],
        "CRITICAL": [2, 2],
        "HISTORY": ["PZ", 0, (1, 1, 1), None, False],
        "OUTPUT": [["NUMBER", "DISPL"], [0], ["RB", "SL"], ["XDMF", "VTK"]],
        "DEM": [0.02, 0.01, (0.01, 0.01), f"dem{number}", 0.5],
        "RESET": [],
        "ARGV": [True],
    }[name]


#: Arguments of which nothing can be told by looking: they follow the wrong way of a command that another argument chooses.
EITHER = {("HISTORY", 3)}


def spoil(name: str, number: int, chance: random.Random) -> tuple[list, bool]:
    """Return arguments for a call, and whether one of them is meaningless."""
    arguments = good(name, number)
    if chance.random() < 0.1:
        return [chance.choice(DOUBTFUL + MEANINGLESS) for _ in range(chance.randrange(6))], False
    if not arguments or chance.random() < 0.05:
        return arguments + [chance.choice(DOUBTFUL)] * chance.randrange(4), False
    place = chance.randrange(len(arguments))
    if chance.random() < 0.4:
        arguments[place] = chance.choice(MEANINGLESS)
        return arguments, (name, place) not in EITHER
    arguments[place] = chance.choice(DOUBTFUL)
    return arguments, False


def is_long(name: str, arguments: list) -> bool:
    """Whether a call may take more steps, or write more files, than the test can wait for."""
    if name != "DEM" or len(arguments) < 2:
        return False
    try:
        return not 0 < float(arguments[0]) / float(arguments[1]) < 1e4
    except (TypeError, ValueError, OverflowError, ZeroDivisionError):
        return False


def main(seed: int, calls: int) -> int:
    warnings.simplefilter("ignore")
    session.begin(session.Session(quiet=True))
    chance, findings = random.Random(seed), Findings()
    for number in range(calls):
        if number % 25 == 0:
            build(number)
        name = chance.choice(sorted(parmec.COMMANDS))
        arguments, meaningless = spoil(name, number, chance)
        if is_long(name, arguments):
            continue
        shown = f"{name} ({', '.join(repr(a)[:60] for a in arguments)})"
        error = raised_by(partial(parmec.load(name), *arguments), PATIENCE)
        findings.judge(name, shown, error, meaningless, isinstance(error, DOCUMENTED) or is_users(error))
    return findings.report()


def is_users(error: BaseException) -> bool:
    """Whether one of the functions of this file has raised it, or could not be called with a time."""
    return isinstance(error, ZeroDivisionError) or (isinstance(error, TypeError) and "<lambda>() takes 0 positional" in str(error))


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2])))
