"""AUTO_SOLVER (docs/solvers.md, Automatic solver)."""

from __future__ import annotations

from ..solvers.auto import AutoSolver
from . import checks
from .checks import command
from .solvers import Solver, _count, _stored


def _columns(value, name: str) -> int:
    return checks.integer(value, name, minimum=0)


class AUTO_SOLVER(Solver):
    """Choose among solvers by counts and residuals, for each group of touching bodies apart (docs/solvers.md, Automatic solver).

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

    @property
    def error(self) -> str:
        """'OK', or 'DIVERGED' when no method reached the residual, of the last solution."""
        return self._solver.error

    @property
    def iters(self) -> int:
        """Iterations of all kinds of the last solution."""
        return self._solver.iters

    @property
    def islands(self) -> int:
        """Independent groups of constraints in the last solution."""
        return self._solver.islands

    @property
    def methods(self) -> dict[str, int]:
        """Groups of the last solution by the method that solved them."""
        return dict(self._solver.methods)
