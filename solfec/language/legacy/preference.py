"""Which language files are in that both Pythons read, where somebody has chosen for all of a directory or of a session."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

VARIABLE = "SOLFEC_PYTHON"
FILE = ".solfec"
_LINE = re.compile(r"^python\s*([23])$")


@dataclass(frozen=True)
class Preference:
    """A choice, and where it was made.

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
    """What the environment's SOLFEC_PYTHON, or else the file .solfec beside an input, chooses; None: nobody has chosen.

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
