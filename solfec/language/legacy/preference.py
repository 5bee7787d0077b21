"""The user's choice of language for files that both Pythons can read, for a directory or a session."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

VARIABLE = "SOLFEC_PYTHON"
FILE = ".solfec"
_LINE = re.compile(r"^python\s*([23])$")


@dataclass(frozen=True)
class Preference:
    """A choice of language, and its origin.

    Attributes
    ----------
    version : int
        2 or 3.
    why : str
        For the notice that a file is read as Python 2.
    """

    version: int
    why: str


def preference(path: str) -> Preference | None:
    """Return the choice of the environment variable SOLFEC_PYTHON, or else of the file .solfec beside an input; None: no choice.

    Raises
    ------
    ValueError
        Neither 2 nor 3 is chosen.
    """
    if value := os.environ.get(VARIABLE, "").strip():
        if value not in ("2", "3"):
            raise ValueError(f"the environment's {VARIABLE} must be 2 or 3, it is {value!r}")
        return Preference(int(value), f"{VARIABLE} is {value}")
    file = os.path.join(os.path.dirname(os.path.abspath(path)), FILE)
    try:
        with open(file, encoding="utf-8", errors="replace") as lines:
            words = [(number, line.partition("#")[0].strip()) for number, line in enumerate(lines, 1)]
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None
    chosen = None
    for number, word in words:
        match = _LINE.match(word)
        if word and not match:
            raise ValueError(f"{file}:{number}: a line must be 'python2' or 'python3', it is {word[:60]!r}")
        if match:
            chosen = Preference(int(match[1]), f"{FILE} beside it says {word}")
    return chosen
