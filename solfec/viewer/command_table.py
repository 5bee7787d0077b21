"""The table of commands for menus, keys, scripts and tests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..errors import SolfecError
from ..suggestions import did_you_mean


class MissingArgument(Exception):
    """A command needs another word; `question` is the question to the user."""

    def __init__(self, name: str, question: str):
        super().__init__(question)
        self.name, self.question = name, question


@dataclass(frozen=True)
class Command:
    """One command.

    Attributes
    ----------
    name : str
        Name in scripts and menus.
    menu : str
        Menu, or menu and sub-menu.
    key : str
        A character, or UP, DOWN, LEFT, RIGHT, PAGE UP, PAGE DOWN, RETURN, SPACE, ESC, F1; with ctrl: ^Z, ^UP; with shift: SHIFT UP.
    question : str
        Question for its words; empty: it takes none.
    words : str
        'text': all text after the name is one word.
    optional : bool
        Whether it also works without words, for example as a tool of the mouse.
    help : str
        A sentence about it.
    run : callable
        ``run (application, *words)``.
    """

    name: str
    menu: str
    key: str
    run: Callable
    question: str = ""
    words: str = ""
    optional: bool = False
    help: str = ""


COMMANDS: dict[str, Command] = {}


def entry(name: str, menu: str, key: str = "", question: str = "", words: str = "", optional: bool = False, help: str = ""):
    """Put a function into the table; without `help` its docstring is the help."""

    def put(function):
        COMMANDS[name] = Command(name, menu, key, function, question, words, optional, help or function.__doc__)
        return function

    return put


def find(line: str) -> tuple[Command, str]:
    """Return the command with the longest name with which a line begins, and the rest of the line."""
    line = line.strip()
    for name in sorted(COMMANDS, key=len, reverse=True):
        if line == name or line.startswith(name + " "):
            return COMMANDS[name], line[len(name) :].strip()
    raise SolfecError(f"there is no command {line!r}{did_you_mean(line, COMMANDS)}")


def number(text: str, what: str, kind=float):
    """Convert a typed number."""
    try:
        value = kind(text)
    except ValueError:
        value = np.nan
    if not np.isfinite(value):
        raise SolfecError(f"{text!r} is no {what}")
    return value
