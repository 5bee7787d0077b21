"""POSIX basic regular expressions, as commands take them to choose bodies by label."""

from __future__ import annotations

import re

from . import checks
from .checks import BadValue

LITERAL = "+?|(){}"  # plain in a basic expression unless there is a backslash before them
BRACKET = re.compile(r"\[(\^?)(\]?(?:\[:\w+:\]|[^\]])*)\]")
PARTS = re.compile(r"\[:\w+:\]|.", re.S)
CLASSES = {
    "[:alpha:]": "a-zA-Z", "[:digit:]": "0-9", "[:alnum:]": "a-zA-Z0-9", "[:upper:]": "A-Z", "[:lower:]": "a-z", "[:space:]": r"\s",
    "[:blank:]": r" \t", "[:punct:]": r"!-/:-@\[-`{-~", "[:xdigit:]": "0-9A-Fa-f", "[:word:]": r"\w",
}  # fmt: skip


def compiled(text, name: str) -> re.Pattern:
    r"""A basic regular expression: ``. * [ ] ^ $`` are special, ``\( \) \{ \} \+ \? \|`` too, without backslash they are plain."""
    text = checks.string(text, name)
    result, k = [], 0
    while k < len(text):
        character = text[k]
        if character == "\\" and k + 1 < len(text):
            k += 1
            result.append(text[k] if text[k] in LITERAL else "\\" + text[k])
        elif character in LITERAL:
            result.append("\\" + character)
        elif character == "*" and (not result or result[-1] in ("^", "(", "|")):
            result.append(r"\*")
        elif character == "[":
            found = BRACKET.match(text, k)
            if found is None:
                raise BadValue(f"'{name}': {text!r} has a '[' without its ']'")
            negated, inside = found.groups()
            inside = "".join(CLASSES.get(part, re.escape(part) if part != "-" else part) for part in PARTS.findall(inside))
            result.append(f"[{negated}{inside}]")
            k = found.end() - 1
        else:
            result.append(character)
        k += 1
    try:
        return re.compile("".join(result))
    except re.error as error:
        raise BadValue(f"'{name}': {text!r} is no regular expression: {error}") from None


def label_filter(subset, name: str = "subset"):
    """A function that tells whether a label matches a pattern, or any of a list of patterns; None for None."""
    if subset is None:
        return None
    if checks.is_sequence(subset):
        patterns = [compiled(item, f"{name}[{i}]") for i, item in enumerate(subset)]
        if not patterns:
            raise BadValue(f"'{name}' must hold at least one pattern")
    else:
        patterns = [compiled(subset, name)]
    return lambda label: any(pattern.search(label) for pattern in patterns)
