"""AUTO_SOLVER (docs/solvers.md, Automatic solver)."""

from __future__ import annotations

from functools import partial
from numbers import Real
from typing import Any

from ..solvers.auto import AutoSolver
from . import checks
from .checks import BadType, command
from .solvers import Solver, _count, _outcome, _stored

_columns = partial(checks.integer, minimum=0)


def solver_and_duration(simulation, solver, duration) -> tuple[Any, Any]:
    """Return the solver and the duration of a run; with a duration alone an AUTO_SOLVER, the same one in all runs of a model."""
    if duration is not None:
        return solver, duration
    if isinstance(solver, bool) or not isinstance(solver, Real):
        raise BadType("'duration' is missing; give (solfec, solver, duration), or (solfec, duration) for AUTO_SOLVER ()")
    if simulation.automatic is None:
        simulation.automatic = AUTO_SOLVER()
    return simulation.automatic, solver


class AUTO_SOLVER(Solver):
    """Choose among solvers by counts and residuals, separately for each group of touching bodies (docs/solvers.md, Automatic solver).

    Parameters
    ----------
    epsilon : float
        Residual to reach (default 1E-6; docs/solvers.md, Automatic solver).
    maxiter : int
        Bound of the sweeps that are tried first (default 1000).
    anderson : int
        Columns of Anderson acceleration of the sweeps (default 5; 0: none).
    """

    __slots__ = ()

    @command("AUTO_SOLVER")
    def __init__(self, epsilon: float = 1e-6, maxiter: int = 1000, anderson: int = 5) -> None:
        self._solver = AutoSolver(
            checks.positive(epsilon, "epsilon"), _count(maxiter, "maxiter"), _columns(anderson, "anderson")
        )

    epsilon = _stored("epsilon", checks.positive, "Residual to reach.")
    maxiter = _stored("maxiter", _count, "Bound of the sweeps that are tried first.")
    anderson = _stored("anderson", _columns, "Columns of Anderson acceleration of the sweeps.")

    error = _outcome("error", str, "'OK', or 'DIVERGED' when no method reached the residual, of the last solution.")
    iters = _outcome("iters", int, "Iterations of all kinds of the last solution.")
    islands = _outcome("islands", int, "Independent groups of constraints in the last solution.")
    methods = _outcome("methods", dict, "Groups of the last solution by the method that solved them.")
