"""Arguments of benchmarks on the command line: an unknown one is an error before anything is timed."""

from __future__ import annotations

import argparse
from collections.abc import Iterable


def parser(doc: str) -> argparse.ArgumentParser:
    """A parser that begins with the first line of a script's own description."""
    return argparse.ArgumentParser(description=doc.splitlines()[0])


def chosen(parser: argparse.ArgumentParser, parts: list[str], names: Iterable[str]) -> list[str]:
    """Names that hold one of the given parts, all without any; a part that none holds is an error."""
    names = list(names)
    for part in parts:
        if not any(part in name for name in names):
            parser.error(f"{part!r} is in none of the names: {', '.join(names)}")
    return [name for name in names if not parts or any(part in name for part in parts)]


def number(doc: str, name: str, default: int, what: str) -> int:
    """The only word of a script: a positive whole number."""
    words = parser(doc)
    words.add_argument(name, nargs="?", type=positive, default=default, help=f"{what} (default: {default})")
    return getattr(words.parse_args(), name)


def none(doc: str) -> None:
    """A script that takes no words."""
    parser(doc).parse_args()


def positive(text: str) -> int:
    """A positive whole number, as a type of arguments."""
    value = int(text)
    if value < 1:
        raise ValueError
    return value
