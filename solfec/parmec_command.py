"""The command `parmec [-ntasks n] input.py [user's arguments]`: runs inputs of the explicit engine."""

from __future__ import annotations

import os
import sys

from . import parmec
from .cli import MOST_THREADS, Arguments, UsageError, run_input

USAGE = """usage: parmec [-ntasks n | -t n] [-c | -r] [--python2 | --python3] [--traceback] [--quiet] input.py [arguments]
Runs an input of the explicit engine; results are beside it.  -ntasks, -t: number of threads.
With results of its own, which OUTPUT (format = 'HDF5') keeps: -c goes on from their last frame; -r computes nothing, histories and
the state after each DEM are read from them.
"""
FLAGS = ("--traceback", "--quiet", "--strict")


def parse(words: list[str]) -> Arguments:
    """Sort the words of a command line: switches, the first word that ends with .py, the user's arguments."""
    result, words = Arguments(language=parmec), list(words)
    while words:
        word = words.pop(0)
        if word in ("-ntasks", "-t"):
            result.threads = threads_of(word, words.pop(0) if words else "")
        elif result.path is None and word.endswith(".py"):
            result.path = word
        elif result.path is None and word in ("--python2", "--python3"):
            result.python = int(word[-1])
        elif result.path is None and word in ("-c", "-r"):
            setattr(result, "resume" if word == "-c" else "reading", True)
        elif result.path is None and word in FLAGS:
            setattr(result, word[2:], True)
        elif result.path is None and word in ("-h", "--help"):
            result.help = True
        elif result.path is None and word == "--version":
            result.version = True
        elif result.path is None and word.startswith("-"):
            raise UsageError(f"unknown switch {word}")
        else:
            result.words.append(word)
    return result


def threads_of(switch: str, text: str) -> int:
    """Return the number of threads."""
    if not text.isdecimal() or not 1 <= int(text) <= MOST_THREADS:
        raise UsageError(f"{switch} needs a positive whole number up to {MOST_THREADS}, not {text!r}")
    return int(text)


def main(words: list[str] | None = None) -> int:
    """Run the command line and return the exit status."""
    words = sys.argv[1:] if words is None else words
    try:
        arguments = parse(words)
        if arguments.help:
            print(USAGE, end="")
            return 0
        if arguments.version:
            from . import __version__

            print(f"parmec of solfec {__version__}")
            return 0
        if arguments.resume and arguments.reading:
            raise UsageError("-c goes on computing, -r computes nothing: choose one")
        if arguments.path is None:
            raise UsageError("there is no input file, a word that ends with .py")
        if not os.access(arguments.path, os.R_OK):
            raise UsageError(f"cannot read the input file {arguments.path!r}")
    except UsageError as error:
        print(f"parmec: {error}\n{USAGE}", end="", file=sys.stderr)
        return 2
    return run(arguments, words)


def run(arguments: Arguments, words: list[str]) -> int:
    """Run an input on an empty model."""
    from .parmec import model, running

    before, words_before = model.begin(None), running.take_words(words)
    try:
        return run_input(arguments.path, None, arguments)
    finally:
        running.take_words(words_before)
        model.begin(before)


if __name__ == "__main__":
    sys.exit(main())
