"""INITIALIZE_STATE and RIGID_TO_FEM (docs/language-running.md, INITIALIZE_STATE, RIGID_TO_FEM): states of bodies from other results."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from ..results import ResultsReader, results_file
from ..results.states import initialise
from . import checks, session
from .checks import BadValue, command
from .handles import simulation_of
from .model import SOLFEC


@command("INITIALIZE_STATE")
def INITIALIZE_STATE(solfec: SOLFEC, path: str, time: float, subset: str | Sequence[str] | None = None) -> None:
    """Set bodies to their state in other results; ignored, with a warning, in READ mode.

    Configurations, velocities and energies are set; time, constraints and reactions are not.

    Parameters
    ----------
    solfec : SOLFEC
    path : str
        Output directory of the other results.
    time : float
        The nearest stored state is used.
    subset : str or list of str, optional
        POSIX basic regular expressions: bodies with matching labels are initialised by their labels.  By default all
        bodies are initialised by their identifiers.
    """
    _initialise(simulation_of(solfec), "INITIALIZE_STATE", path, time, subset, False)


@command("RIGID_TO_FEM")
def RIGID_TO_FEM(path: str, time: float, solfec: SOLFEC, subset: str | Sequence[str] | None = None) -> None:
    """Initialise states as INITIALIZE_STATE does, but let finite element bodies take states of rigid ones; note the order of arguments.

    Their nodes move and turn with the rigid body; constraints made afterwards still use referential points.

    Parameters
    ----------
    path : str
        Output directory of the other results.
    time : float
        The nearest stored state is used.
    solfec : SOLFEC
    subset : str or list of str, optional
        See INITIALIZE_STATE.
    """
    _initialise(simulation_of(solfec), "RIGID_TO_FEM", path, time, subset, True)


def _initialise(simulation, name: str, path, time, subset, rigid_to_elements: bool) -> None:
    path = checks.path(path, "path")
    time = checks.nonnegative(time, "time")
    chosen = _label_filter(subset)
    if simulation.mode == "READ":
        session.warn(f"{name} is ignored in READ mode")
        return
    if simulation.outpath is not None and os.path.realpath(path) == os.path.realpath(simulation.outpath):
        raise BadValue(f"'path' {path!r} is where this simulation writes; take the results of another run")
    if not os.path.isfile(results_file(path)):
        raise BadValue(f"'path': there are no results in {path!r} (no file {results_file(path)})")
    with ResultsReader(path) as reader:
        number = reader.nearest(time)
        found, step = float(reader.times[number]), float(reader.steps["step"][number])
        if abs(found - time) > 1e-6 * step:
            session.warn(f"{name}: {path!r} holds no state at time {time:g}; that of time {found:g} is taken")
        matched = initialise(reader, simulation.domain, number, chosen, rigid_to_elements)
    if not matched:
        how = "matches 'subset' in both" if subset is not None else "has an identifier that occurs in both"
        raise BadValue(f"no body was initialised: none {how}")


def _label_filter(subset) -> Callable[[str], bool] | None:
    """Return a function that tests whether a label matches a pattern; None without patterns."""
    if subset is None:
        return None
    if checks.is_sequence(subset):
        patterns = [checks.pattern(item, f"subset[{i}]") for i, item in enumerate(subset)]
        if not patterns:
            raise BadValue("'subset' must hold at least one pattern")
    else:
        patterns = [checks.pattern(subset, "subset")]
    return lambda label: any(pattern.search(label) for pattern in patterns)
