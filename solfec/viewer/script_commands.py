"""Commands for scripts, the console, undo, and states in files."""

from __future__ import annotations

import shlex

from ..errors import SolfecError
from . import scripts, states
from .command_table import entry


@entry("run python script", "tools", "P", "path of the script, and its words:", "text")
def _run(app, words):
    """Run a Python script in the names of the input."""
    try:
        parts = shlex.split(words)
    except ValueError as error:
        raise SolfecError(f"{words!r} cannot be read: {error}") from None
    if not parts:
        raise SolfecError("run python script needs the path of a script")
    scripts.run(app, parts)


@entry("python", "", "", "a line of Python:", "text")
def _line(app, text):
    """Run a line of Python in the names of the input."""
    scripts.line(app, text)


@entry("console on/off", "script", "F2")
def _console(app):
    """Show lines of Python and what they print."""
    app.console_shown = not app.console_shown


@entry("save script", "script", "", "name of the file:", "text")
def _save_script(app, path):
    """Write the commands done so far as a viewer script."""
    path = path if path.endswith("py") else path + ".py"
    states.write(path, states.script(app))
    app.message = f"written: {path}"


@entry("save state", "script", "", "name of the file:", "text")
def _save_state(app, path):
    """Write what is shown, camera and looks of bodies, to a file."""
    states.save(app, path)
    app.message = f"written: {path}"


@entry("load state", "script", "", "name of the file:", "text")
def _load_state(app, path):
    """Show what a file holds that save state wrote."""
    states.load(app, path)


@entry("undo", "script", "^Z")
def _undo(app):
    """Show the state before the last command."""
    app.undo.back(app)


@entry("redo", "script", "^Y")
def _redo(app):
    """Show again what was undone."""
    app.undo.forward(app)
