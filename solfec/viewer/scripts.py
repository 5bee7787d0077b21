"""Scripts and lines of Python in the namespace of the input (docs/viewer.md)."""

from __future__ import annotations

import builtins
import io
import os
import sys
import traceback
from contextlib import contextmanager, redirect_stdout, suppress

from ..errors import SolfecError
from ..language import COMMANDS, NOT_INJECTED, load, session
from ..language.legacy import loader, surroundings
from ..language.legacy.reading import read
from ..language.model import SOLFEC

OWN = os.path.abspath(__file__)


class _Copied(io.TextIOBase):
    """Writes to a stream and keeps a copy of the text."""

    def __init__(self, stream):
        self.stream, self.parts = stream, []

    def write(self, text):
        self.parts.append(text)
        if self.stream is not None:
            self.stream.write(text)
        return len(text)

    def flush(self):
        if self.stream is not None:
            self.stream.flush()


def names(app) -> dict:
    """Return the namespace of scripts: that of the input; without an input all commands, and the models as `solfec` and `solfecs`."""
    if (now := session.current()).namespace is not None:
        return now.namespace
    if app.names is None:
        models = [SOLFEC._of(view.source.simulation) for view in app.views]
        app.names = {name: load(name) for name in COMMANDS if name not in NOT_INJECTED}
        app.names |= {"__name__": "__main__", "__builtins__": builtins, "solfecs": models, "solfec": models[0]}
    return app.names


@contextmanager
def _within(app, argv: list[str] | None = None):
    """Context in which commands find the viewer, print to its console, and have these words in sys.argv; afterwards show changes."""
    now, copied, before = session.current(), _Copied(sys.stdout), sys.argv
    outer, now.viewer = now.viewer, app
    if argv is not None:
        sys.argv = argv
    try:
        with redirect_stdout(copied):
            yield
    except SystemExit as request:
        if request.code not in (None, 0):
            raise SolfecError(f"the script ended with {request.code}") from None
    except (Exception, KeyboardInterrupt) as error:
        text = _told(error)
        copied.parts.append(text)
        print(text, file=sys.stderr, end="", flush=True)
        raise SolfecError(_summary(error)) from error
    finally:
        now.viewer, sys.argv = outer, before
        app.told("".join(copied.parts))
        for view in app.views:
            view.source.came_from_outside()
            view.refresh()
        app.dirty = True


def _users_frames(error: BaseException):
    """Return the traceback below this module's own frames."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename in (OWN, __file__):
        trace = trace.tb_next
    return trace


def _told(error: BaseException) -> str:
    """Return the traceback for users."""
    return "".join(traceback.format_exception(type(error), error, _users_frames(error)))


def _summary(error: BaseException) -> str:
    """Return one line with place, kind and text of an error."""
    trace, place = _users_frames(error), ""
    for frame, line in traceback.walk_tb(trace):
        name = frame.f_code.co_filename
        if session.is_users(name) or name == "<console>":
            place = f"{os.path.basename(name)}:{line}: "
    return f"{place}{type(error).__name__}: {error}"


def run(app, words: list[str]) -> None:
    """Run a viewer script.  The first word is its path, to which .py is added unless it ends in py; all words become sys.argv.

    Raises
    ------
    SolfecError
        There is no such file, or the script raised an error, which has been printed.
    """
    path = words[0] if words[0].endswith("py") else words[0] + ".py"
    try:
        with open(path, "rb") as file:
            content = file.read()
    except OSError as error:
        raise SolfecError(f"{path}: the script cannot be read: {error.strerror or error}") from None
    space, now = names(app), surroundings.current()
    loader.remember_lines(path, content)
    with _within(app, [path, *words[1:]]):
        reading = read(content, path, now.forced if now else None, prefers_old=surroundings.in_python2())
        _execute(reading, space)
        loader.finish(reading)


def _execute(reading, space: dict) -> None:
    """Run code in a dictionary with the built-in names of its language."""
    missing = object()
    before, module = space.get("__builtins__", missing), loader.types.ModuleType("script")
    loader.prepare(module, reading)
    if "__builtins__" in module.__dict__:
        space["__builtins__"] = module.__dict__["__builtins__"]
    try:
        exec(reading.code, space)
    finally:
        if before is missing:
            space.pop("__builtins__", None)
        else:
            space["__builtins__"] = before


def line(app, text: str) -> None:
    """Run a line of the console; print the value of an expression, and store it as `_`."""
    space = names(app)
    app.told(f">>> {text}\n")
    with _within(app):
        compiled = surroundings.code_of_text if surroundings.in_python2() else builtins.compile
        code = None
        with suppress(SyntaxError):
            code = compiled(text, "<console>", "eval")
        if code is None:
            exec(compiled(text, "<console>", "exec"), space)
        elif (value := eval(code, space)) is not None:
            space["_"] = value
            print(repr(value))
