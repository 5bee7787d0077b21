"""The table of commands: what menus, keys, scripts and tests call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..errors import SolfecError
from . import help_texts


class MissingArgument(Exception):
    """A command needs a word more; `question` asks the user for it."""

    def __init__(self, name: str, question: str):
        super().__init__(question)
        self.name, self.question = name, question


@dataclass(frozen=True)
class Command:
    """One entry.

    Attributes
    ----------
    name : str
        What scripts write and menus show.
    menu : str
        The menu, or the menu and the sub-menu, in which it stands.
    key : str
        A character, or UP, DOWN, LEFT, RIGHT, RETURN, SPACE, ESC, F1; with ctrl: ^Z.
    question : str
        Asks for its words; empty: it takes none.
    words : str
        'text': all behind the name is one word.
    optional : bool
        Whether it works without words, too: as a tool of the mouse, say.
    help : str
        What it does, in a sentence.
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
    """Put a function into the table; its docstring is the help where none is given."""

    def put(function):
        COMMANDS[name] = Command(name, menu, key, function, question, words, optional, help or function.__doc__ or help_texts.of(name))
        return function

    return put


def find(line: str) -> tuple[Command, str]:
    """The command with which a line begins, the longest that fits, and what stands behind it."""
    line = line.strip()
    for name in sorted(COMMANDS, key=len, reverse=True):
        if line == name or line.startswith(name + " "):
            return COMMANDS[name], line[len(name) :].strip()
    raise SolfecError(f"there is no command {line!r}")


def number(text: str, what: str, kind=float):
    """A number that was typed."""
    try:
        value = kind(text)
    except ValueError:
        value = np.nan
    if not np.isfinite(value):
        raise SolfecError(f"{text!r} is no {what}")
    return value
