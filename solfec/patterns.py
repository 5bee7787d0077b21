"""POSIX basic regular expressions, the form of all patterns of labels."""

from __future__ import annotations

import re
from collections.abc import Iterator

SWAPPED = "+?|(){}"  # ordinary characters in a basic expression, special after a backslash; the reverse of Python
REPEATS = "*+?"
BRACKET = re.compile(r"\[(\^?)(\]?(?:\[:\w+:\]|[^\]])*)\]")
PARTS = re.compile(r"\[:\w+:\]|.", re.S)
CLASSES = {
    "[:alpha:]": "a-zA-Z", "[:digit:]": "0-9", "[:alnum:]": "a-zA-Z0-9", "[:upper:]": "A-Z", "[:lower:]": "a-z", "[:space:]": r"\s",
    "[:blank:]": r" \t", "[:punct:]": r"!-/:-@\[-`{-~", "[:xdigit:]": "0-9A-Fa-f", "[:word:]": r"\w",
}  # fmt: skip


def compiled(text: str) -> re.Pattern:
    r"""Compile a POSIX basic regular expression.

    The characters ``. * [ ]`` are special, so is ``^`` at the start and ``$`` at the end.  The characters ``+ ? | ( ) { }`` are
    ordinary, and special behind a backslash.

    Raises
    ------
    ValueError
        The text is not a regular expression.
    """
    result: list[str] = []
    for token in _tokens(text):
        if token in REPEATS and (not result or result[-1] in ("^", "(", "|")):
            token = "\\" + token  # nothing precedes it that it could repeat
        if token in REPEATS and result and result[-1] in REPEATS:
            token = token if token == result.pop() else "*"  # two in a row have another meaning in Python
        result.append(token)
    try:
        return re.compile("".join(result), re.DOTALL)
    except (re.error, OverflowError) as error:
        raise ValueError(f"{text!r} is no regular expression: {error}") from None


def _tokens(text: str) -> Iterator[str]:
    """The expression in Python's dialect, piece by piece."""
    k, opened = 0, True  # opened: at the start of a part of the expression
    while k < len(text):
        length = 1
        if text[k] == "\\" and k + 1 < len(text):
            length, token = 2, text[k + 1] if text[k + 1] in SWAPPED else text[k : k + 2]
        elif text[k] == "[":
            length, token = _bracket(text, k)
        elif text[k] == "^":
            token = "^" if opened else r"\^"
        elif text[k] == "$":
            token = r"\Z" if k + 1 == len(text) or text.startswith((r"\)", r"\|"), k + 1) else r"\$"
        else:
            token = "\\" + text[k] if text[k] in SWAPPED else text[k]
        yield token
        k += length
        opened = token in ("(", "|")


def _bracket(text: str, start: int) -> tuple[int, str]:
    """Length of the bracket that starts at a place, and the bracket in Python's dialect."""
    found = BRACKET.match(text, start)
    if found is None:
        raise ValueError(f"{text!r} has a '[' without its ']'")
    negated, parts = found[1], PARTS.findall(found[2])
    unknown = next((part for part in parts if len(part) > 1 and part not in CLASSES), None)
    if unknown:
        raise ValueError(f"{text!r} holds {unknown}, which is none of {', '.join(CLASSES)}")
    inside = "".join(CLASSES.get(part, part if part == "-" else re.escape(part)) for part in parts)
    return found.end() - start, f"[{negated}{inside}]"
