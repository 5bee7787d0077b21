"""SICONOS_SOLVER (docs/language-objects.md, SICONOS_SOLVER)."""

from __future__ import annotations

from functools import partial

from ..solvers import siconos_process
from ..solvers.siconos import SiconosSolver
from ..solvers.siconos_library import SOLVERS
from . import checks
from .checks import command
from .hints import Switch
from .solvers import Solver, _count, _outcome, _stored, _switched

_solver = partial(checks.choice, options=tuple(SOLVERS))


class SICONOS_SOLVER(Solver):
    """Contacts by a solver of Siconos' library (docs/language-objects.md, SICONOS_SOLVER; docs/solvers.md, Siconos).

    Parameters
    ----------
    epsilon : float
        Accuracy in Siconos' own measure (default 1E-4).
    maxiter : int
        Bound of iterations (default 1000).
    verbose : str
        'ON': Siconos reports its iterations (default 'OFF').
    solver : str
        'NSGS' (default) or another solver of the library.

    Raises
    ------
    SolfecError
        Siconos is not installed.
    """

    __slots__ = ()

    @command("SICONOS_SOLVER")
    def __init__(self, epsilon: float = 1e-4, maxiter: int = 1000, verbose: Switch | None = None, solver: str | None = None) -> None:
        self._solver = SiconosSolver(
            checks.positive(epsilon, "epsilon"),
            _count(maxiter, "maxiter"),
            False if verbose is None else checks.switch(verbose, "verbose"),
            "NSGS" if solver is None else _solver(solver, "solver"),
        )
        siconos_process.running()

    epsilon = _stored("epsilon", checks.positive, "Accuracy, by Siconos' own measure.")
    maxiter = _stored("maxiter", _count, "Bound of iterations.")
    verbose = _switched("verbose", "'ON': Siconos reports its iterations.")
    solver = _stored("solver", _solver, "Which solver of the library.")

    error = _outcome("error", str, "'OK' or 'DIVERGED', of the last solution.")
    iters = _outcome("iters", int, "Iterations of Siconos in the last solution.")
    alternations = _outcome("alternations", int, "Solutions of the contacts in the last solution; more than one where there are springs, motors, limits or rigid links, too, or Siconos' own measure is weaker than the residual.")
