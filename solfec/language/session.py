"""Environment of one run of an input: command line, input file, process-wide settings.

The command line fills it before the input starts; in a plain Python script that imports `solfec` the defaults
describe the script itself.
"""

from __future__ import annotations

import gc
import os
import sys
import sysconfig
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from typing import Any
from weakref import WeakValueDictionary

from ..current import Current
from ..errors import SolfecError, SolfecWarning, shown
from ..parallel import communicator

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LIBRARIES = tuple(
    {os.path.realpath(path) + os.sep for name, path in sysconfig.get_paths().items() if name != "data"}
    | {os.path.realpath(os.path.dirname(os.__file__)) + os.sep}
)
COLLECTED = 10_000  # rows of dropped models from which garbage collection pays


@dataclass
class Session:
    """Switches, input and process-wide settings of one run.

    Attributes
    ----------
    command : bool
        Whether the `solfec` command runs the input, instead of a Python program, a notebook or a test.
    input_path : str or None
        Path of the input file.
    input_text : str
        Text of the input, copied into output directories.
    arguments : list of str or None
        The user's own arguments (docs/language-running.md, NON_SOLFEC_ARGV, SUBDIR, VIEWER).
    output_directory : str or None
        Results given as the input path: replaces the output path of every SOLFEC object.
    overwrite, overwrite_without_asking
        Switches -w and -y.
    resume : bool
        Switch -c.
    reading : bool
        Switch -r of the command parmec: results are read, nothing is computed.
    subdirectory : str or None
        Switch -s.
    interval : float
        Switch -i: seconds of wall time between progress reports.
    quiet : bool
        Switch --quiet: no progress, for any setting of the input.
    epsilon : float
        Geometric epsilon (docs/language-running.md, GEOMETRIC_EPSILON).
    """

    command: bool = False
    input_path: str | None = None
    input_text: str = ""
    arguments: list[str] | None = None
    output_directory: str | None = None
    overwrite: bool = False
    overwrite_without_asking: bool = False
    resume: bool = False
    reading: bool = False
    subdirectory: str | None = None
    interval: float = 1.0
    quiet: bool = False
    epsilon: float = 1e-6
    warnings: bool = True
    warned: set[tuple] = field(default_factory=set)  # lines and texts of the warnings given so far
    series_labels: set[str] = field(default_factory=set)
    checked: list[dict] | None = None  # what `solfec check` has found; None: inputs run
    namespace: dict | None = None  # names of the input, while the viewer shows its models
    viewer: Any = None  # that runs a script at present: it has `render (simulation, identifiers)` and `obey (command)`
    viewed: list[tuple] | None = None  # simulation, solver and duration of each RUN for the viewer; None: RUN runs
    compared: Callable | None = None  # takes (simulation, solver, duration) of a RUN, for `solfec cross-check`; models write no files then
    written: set[str] = field(default_factory=set)  # output directories of simulations that were deleted since
    _simulations: WeakValueDictionary = field(default_factory=WeakValueDictionary)  # in the order in which they were made
    _unchecked: list = field(default_factory=list)  # keeps models in memory until `solfec check` has inspected them
    _made: int = 0
    _left: int = 0  # rows of tables of unreferenced models that may still be in memory

    @property
    def simulations(self) -> list:
        """Existing simulations, in the order of their creation."""
        return list(self._simulations.values())

    def enter(self, simulation) -> None:
        """Register a new simulation, and free the memory of large dropped ones."""
        if self._left > COLLECTED:
            gc.collect()  # a model and the phases of its step form a reference cycle, which only garbage collection frees
            self._left = 0
        self._made += 1
        self._simulations[self._made] = simulation
        if self.checked is not None:
            self._unchecked.append(simulation)
        simulation.ended = self._take_leave

    def _take_leave(self, simulation) -> None:
        """Record of a deleted simulation what determines the mode of later ones."""
        if simulation.mode == "WRITE" and simulation.frames_written and simulation.outpath is not None:
            self.written.add(os.path.abspath(simulation.outpath))
        self._left += simulation.domain.bodies.triples.n + simulation.domain.constraints.n

    def close(self) -> None:
        """Finish all files of the simulations that were made, remove empty output directories."""
        for simulation in self.simulations:
            simulation.end()
        self._simulations.clear()
        self._unchecked.clear()


def _of_script() -> Session:
    """The session of a plain Python script or an interactive interpreter."""
    import atexit

    if communicator.processes_started() > 1:
        raise SolfecError("several processes were started with python; the command solfec runs inputs in several processes: mpiexec -n 4 solfec input.py")
    path = getattr(sys.modules.get("__main__"), "__file__", None)
    text = ""
    if path is not None and path.endswith(".py") and os.path.isfile(path):
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read()
    words = [] if "ipykernel" in sys.modules else sys.argv[1:]  # arguments of a notebook are its kernel's, not the user's
    session = Session(input_path=path, input_text=text, arguments=words or None)
    atexit.register(session.close)
    return session


_sessions = Current(_of_script)
current, begin = _sessions.get, _sessions.begin  # of the input that is running


# --- where the user is -------------------------------------------------------------------------------------


@cache
def is_users(filename: str) -> bool:
    """Whether a source file is the user's own, outside this package, the standard library and installed packages."""
    if filename.startswith("<") or filename.endswith((".pyx", ".pxd", ".pxi")):
        return False
    path = os.path.realpath(filename)
    if path.startswith((PACKAGE + os.sep, *LIBRARIES)):
        return False
    return not {"site-packages", "dist-packages"} & set(path.split(os.sep))


def users_frame():
    """Return the innermost frame of the user's own code: a file, else typed code (`python -c`); or None."""
    frame, typed = sys._getframe(1), None
    while frame is not None and not is_users(frame.f_code.co_filename):
        if frame.f_globals.get("__name__") == "__main__" and frame.f_code.co_filename.startswith("<"):
            typed = typed or frame
        frame = frame.f_back
    return frame or typed


def location() -> str:
    """Return the user's present line as 'file:line', or ''."""
    frame = users_frame()
    return "" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"


def warn(text: str) -> None:
    """Warn about the user's present line, once for each line and text; WARNINGS ('OFF') silences it.  Process 0 speaks for all."""
    if communicator.world().rank > 0:
        return
    now, frame, text = current(), users_frame(), shown(text)
    file, line = ("<unknown>", 0) if frame is None else (frame.f_code.co_filename, frame.f_lineno)
    if now.warnings and (file, line, text) not in now.warned:
        now.warned.add((file, line, text))  # Python's own registry is emptied whenever a filter changes
        warnings.warn_explicit(text, SolfecWarning, file, line)
