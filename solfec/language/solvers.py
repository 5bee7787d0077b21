"""GAUSS_SEIDEL_SOLVER and PENALTY_SOLVER (manual, 4.2.11 and 4.2.12)."""

from __future__ import annotations

from ..solvers.gauss_seidel import DiagonalSolver, GaussSeidelSolver
from ..solvers.penalty import PenaltySolver
from . import checks
from .checks import BadValue, Members, command

DIAGONAL_SOLVERS = tuple(DiagonalSolver.__members__)
FAILURES = ("CONTINUE", "EXIT", "CALLBACK")
UPDATES = ("FULL", "MIDDLE_JACOBI", "BOUNDARY_JACOBI")


class Solver(Members):
    """What RUN accepts."""

    __slots__ = ("_solver",)


def _stored(name: str, check, doc: str) -> property:
    """A member that the solver itself keeps."""

    def get(self):
        return getattr(self._solver, name)

    def put(self, value):
        setattr(self._solver, name, check(value, name))

    return property(get, put, doc=doc)


def _count(value, name: str) -> int:
    return checks.integer(value, name, minimum=1)


class GAUSS_SEIDEL_SOLVER(Solver):
    """Nonlinear block Gauss-Seidel solver (manual, 4.2.11 and 10.1).

    Parameters
    ----------
    epsilon : float
        Relative change of reactions at which iterations end.
    maxiter : int
        Bound of iterations.
    meritval : float
        Merit at which iterations end (default 1: not used).
    failure : str
        'CONTINUE', 'EXIT' or 'CALLBACK': what happens when iterations do not converge.
    diagepsilon, diagmaxiter : float, int
        Accuracy and bound of the diagonal block solver (defaults: a hundredth of min (epsilon, meritval, 1E-4),
        and max (100, maxiter / 100)).
    diagsolver : str
        'SEMISMOOTH_NEWTON', 'PROJECTED_GRADIENT', 'DE_SAXCE_FENG' or 'PROJECTED_NEWTON'.
    data, callback
        ``callback(solver, data...)`` for failure 'CALLBACK'; a returned 0 ends the program.
    """

    __slots__ = ("_variant", "_innerloops")

    @command("GAUSS_SEIDEL_SOLVER")
    def __init__(
        self,
        epsilon,
        maxiter,
        meritval=1.0,
        failure=None,
        diagepsilon=None,
        diagmaxiter=None,
        diagsolver=None,
        data=None,
        callback=None,
    ):
        epsilon = checks.positive(epsilon, "epsilon")
        maxiter = _count(maxiter, "maxiter")
        meritval = 1.0 if meritval is None else checks.positive(meritval, "meritval")
        failure = _failure(failure)
        if failure == "CALLBACK" and callback is None:
            raise BadValue("failure 'CALLBACK' needs 'callback'")
        if callback is not None:
            checks.function(callback, "callback")
        self._variant = "FULL"
        self._innerloops = 1
        arguments = data if isinstance(data, tuple) else () if data is None else (data,)
        self._solver = GaussSeidelSolver(
            epsilon,
            maxiter,
            meritval,
            failure,
            None if diagepsilon is None else checks.positive(diagepsilon, "diagepsilon"),
            None if diagmaxiter is None else _count(diagmaxiter, "diagmaxiter"),
            DIAGONAL_SOLVERS[0] if diagsolver is None else checks.choice(diagsolver, "diagsolver", DIAGONAL_SOLVERS),
            None if callback is None else lambda solver: callback(self, *arguments),
        )

    epsilon = _stored("epsilon", checks.positive, "Relative change of reactions at which iterations end.")
    maxiter = _stored("maxiter", _count, "Bound of iterations.")
    meritval = _stored("meritval", checks.positive, "Merit at which iterations end.")
    diagepsilon = _stored("diagepsilon", checks.positive, "Accuracy of the diagonal block solver.")
    diagmaxiter = _stored("diagmaxiter", _count, "Bound of iterations of the diagonal block solver.")
    diagsolver = _stored(
        "diagsolver", lambda value, name: checks.choice(value, name, DIAGONAL_SOLVERS), "Diagonal block solver."
    )

    @property
    def failure(self) -> str:
        """What happens when iterations do not converge."""
        return self._solver.failure

    @property
    def error(self) -> str:
        """'OK', 'DIVERGED', 'DIAGONAL_DIVERGED' or 'DIAGONAL_FAILED', of the last solution."""
        return self._solver.error

    @property
    def iters(self) -> int:
        """Iterations of the last solution."""
        return self._solver.iters

    @property
    def rerhist(self) -> list[float]:
        """Relative change of reactions in every iteration of the last solution."""
        return list(self._solver.rerhist)

    @property
    def merhist(self) -> list[float]:
        """Merit in every iteration of the last solution."""
        return list(self._solver.merhist)

    @property
    def reverse(self) -> str:
        """'ON': every other sweep runs backwards."""
        return checks.on_off(self._solver.reverse)

    @reverse.setter
    def reverse(self, value):
        self._solver.reverse = checks.switch(value, "reverse")

    @property
    def variant(self) -> str:
        """Update between processors; without effect in a serial run."""
        return self._variant

    @variant.setter
    def variant(self, value):
        self._variant = checks.choice(value, "variant", UPDATES)

    @property
    def innerloops(self) -> int:
        """Inner loops between exchanges of processors; without effect in a serial run."""
        return self._innerloops

    @innerloops.setter
    def innerloops(self, value):
        self._innerloops = _count(value, "innerloops")

    @property
    def itershist(self) -> list[int] | None:
        """Iterations of all solutions since this member was set 'ON'; None when nothing was recorded."""
        return list(self._solver.itershist) if self._solver.itershist else None

    @itershist.setter
    def itershist(self, value):
        if checks.switch(value, "itershist"):
            self._solver.collect_iterations()
        else:
            self._solver.itershist = None


def _failure(value) -> str:
    """The failure policy, by its plain name or by the name that Solfec-1.0 reads back."""
    if value is None:
        return "CONTINUE"
    plain = checks.string(value, "failure").removeprefix("FAILURE_")
    if plain not in FAILURES:
        raise BadValue(f"'failure' must be one of {', '.join(map(repr, FAILURES))}, not {value!r}")
    return plain


class PENALTY_SOLVER(Solver):
    """Contacts as springs and dashpots (manual, 4.2.12 and 10.2).

    Parameters
    ----------
    variant : str
        'IMPLICIT' (default) or 'EXPLICIT' normal force.
    """

    __slots__ = ()

    @command("PENALTY_SOLVER")
    def __init__(self, variant=None):
        variant = "IMPLICIT" if variant is None else checks.choice(variant, "variant", ("IMPLICIT", "EXPLICIT"))
        self._solver = PenaltySolver(variant)
