"""GAUSS_SEIDEL_SOLVER, PENALTY_SOLVER and NEWTON_SOLVER (docs/language-objects.md, Solvers)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Literal

from ..solvers.auto import AcceleratedGaussSeidel
from ..solvers.foreign_solver import ForeignSolver, Solves
from ..solvers.gauss_seidel import COLOURINGS, VARIANTS, DiagonalSolver
from ..solvers.newton import LINEAR_SOLVERS, RELATIVE_DELTAS, NewtonSolver
from ..solvers.penalty import PenaltySolver
from . import checks, session
from .checks import BadType, BadValue, Members, command
from .hints import Member, Switch, T

DIAGONAL_SOLVERS = tuple(DiagonalSolver.__members__)
FAILURES = ("CONTINUE", "EXIT", "CALLBACK")
_count = partial(checks.integer, minimum=1)
_diagonal_solver = partial(checks.choice, options=DIAGONAL_SOLVERS)
_linear_solver = partial(checks.choice, options=LINEAR_SOLVERS)
_relative_delta = partial(checks.choice, options=tuple(RELATIVE_DELTAS))


class Solver(Members):
    """Base of the solvers that RUN accepts."""

    __slots__ = ("_solver",)


class CoSolver(Members):
    """A solver that runs another program beside this one: `RUN` hands the simulation over to it."""

    __slots__ = ()

    def run(self, simulation: Any, duration: float) -> None:
        """Run a simulation for a duration."""
        raise NotImplementedError

    def bind(self, simulation: Any) -> None:
        """Belong to a simulation from now on."""
        raise NotImplementedError

    def steps(self, simulation: Any, duration: float) -> Iterator[float]:
        """Step through a duration, as `Simulation.steps` does."""
        raise NotImplementedError


def constraint_solver(solver: Solver | Solves):
    """Return the solver of the user's argument of RUN."""
    if isinstance(solver, Solver):
        return solver._solver
    if isinstance(solver, type) or not callable(getattr(solver, "solve", None)):
        raise BadType(f"'solver' must be a constraint solver object, or one with a method solve (local), not {checks.kind_of(solver)}")
    return ForeignSolver(solver)


def _stored(name: str, check: Callable[[Any, str], T], doc: str) -> Member[T]:
    """Make a member whose value the solver stores."""

    def get(self):
        return getattr(self._solver, name)

    def put(self, value):
        setattr(self._solver, name, check(value, name))

    return Member(get, put, doc=doc)


def _outcome(name: str, kind: Callable[[Any], T], doc: str) -> Member[T]:
    """What the solver tells of its last solution, made a `kind`; read-only."""

    def get(self):
        return kind(getattr(self._solver, name))

    return Member(get, doc=doc)


def _switched(name: str, doc: str) -> Member[str]:
    """Make a switch whose value the solver stores."""

    def get(self):
        return checks.on_off(getattr(self._solver, name))

    def put(self, value):
        setattr(self._solver, name, checks.switch(value, name))

    return Member(get, put, doc=doc)


def _recorded() -> Member[Any]:
    """Make a member that records iterations of all solutions after it is set to 'ON'."""

    def get(self):
        return list(self._solver.itershist) if self._solver.itershist else None

    def put(self, value):
        self._solver.itershist = [] if checks.switch(value, "itershist") else None

    return Member(get, put, doc="Iterations of all solutions since this member was set 'ON'; None when nothing was recorded.")


class GAUSS_SEIDEL_SOLVER(Solver):
    """Nonlinear block Gauss-Seidel solver (docs/language-objects.md, GAUSS_SEIDEL_SOLVER; docs/solvers.md, Gauss-Seidel solver).

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
    anderson, islands : str
        'ON': sweeps are accelerated; groups of bodies that do not touch end separately (defaults 'OFF'; docs/solvers.md, Automatic solver).
    """

    __slots__ = ()

    @command("GAUSS_SEIDEL_SOLVER")
    def __init__(
        self,
        epsilon: float,
        maxiter: int,
        meritval: float = 1.0,
        failure: Literal["CONTINUE", "EXIT", "CALLBACK"] = None,
        diagepsilon: float | None = None,
        diagmaxiter: int | None = None,
        diagsolver: Literal["SEMISMOOTH_NEWTON", "PROJECTED_GRADIENT", "DE_SAXCE_FENG", "PROJECTED_NEWTON"] = None,
        data: Any = None,
        callback: Callable[..., Any] | None = None,
        anderson: Switch | None = None,
        islands: Switch | None = None,
    ) -> None:
        epsilon = checks.positive(epsilon, "epsilon")
        maxiter = _count(maxiter, "maxiter")
        meritval = 1.0 if meritval is None else checks.positive(meritval, "meritval")
        failure = _failure(failure)
        if failure == "CALLBACK" and callback is None:
            raise BadValue("failure 'CALLBACK' needs 'callback'")
        if callback is not None:
            checks.function(callback, "callback")
        arguments = data if isinstance(data, tuple) else () if data is None else (data,)
        self._solver = AcceleratedGaussSeidel(
            epsilon,
            maxiter,
            meritval,
            failure,
            None if diagepsilon is None else checks.positive(diagepsilon, "diagepsilon"),
            None if diagmaxiter is None else _count(diagmaxiter, "diagmaxiter"),
            DIAGONAL_SOLVERS[0] if diagsolver is None else _diagonal_solver(diagsolver, "diagsolver"),
            None if callback is None else lambda solver: callback(self, *arguments),
        )
        self._solver.notify = session.warn
        self._solver.anderson = False if anderson is None else checks.switch(anderson, "anderson")
        self._solver.islands = False if islands is None else checks.switch(islands, "islands")

    anderson = _switched("anderson", "'ON': sweeps are accelerated.")
    islands = _switched("islands", "'ON': groups of bodies that do not touch end apart.")
    epsilon = _stored("epsilon", checks.positive, "Relative change of reactions at which iterations end.")
    maxiter = _stored("maxiter", _count, "Bound of iterations.")
    meritval = _stored("meritval", checks.positive, "Merit at which iterations end.")
    diagepsilon = _stored("diagepsilon", checks.positive, "Accuracy of the diagonal block solver.")
    diagmaxiter = _stored("diagmaxiter", _count, "Bound of iterations of the diagonal block solver.")
    diagsolver = _stored("diagsolver", _diagonal_solver, "Diagonal block solver.")

    failure = _outcome("failure", str, "What happens when iterations do not converge.")
    error = _outcome("error", str, "'OK', 'DIVERGED', 'DIAGONAL_DIVERGED' or 'DIAGONAL_FAILED', of the last solution.")
    iters = _outcome("iters", int, "Iterations of the last solution.")
    rerhist = _outcome("rerhist", list, "Relative change of reactions in every iteration of the last solution.")
    merhist = _outcome("merhist", list, "Merit in every iteration of the last solution.")
    reverse = _switched("reverse", "'ON': every other sweep runs backwards.")
    colouring = _stored(
        "colouring",
        partial(checks.choice, options=COLOURINGS),
        "'ON': contacts are swept by colours, on all cores; 'OFF': in the order of their keys; 'AUTO': by their number.",
    )

    variant = _stored(
        "variant",
        partial(checks.choice, options=VARIANTS),
        "How several processes sweep together; it has no effect in one.",
    )
    innerloops = _stored("innerloops", _count, "Sweeps of each process between exchanges with the others; it has no effect in one process.")

    itershist = _recorded()


def _failure(value) -> str:
    """Check the failure policy, given by its name here or in Solfec-1.0."""
    if value is None:
        return "CONTINUE"
    plain = checks.string(value, "failure").removeprefix("FAILURE_")
    if plain not in FAILURES:
        raise BadValue(f"'failure' must be one of {', '.join(map(repr, FAILURES))}, not {value!r}")
    return plain


class PENALTY_SOLVER(Solver):
    """Contacts as springs and dashpots (docs/language-objects.md, PENALTY_SOLVER; docs/solvers.md, Penalty solver).

    Parameters
    ----------
    variant : str
        'IMPLICIT' (default) or 'EXPLICIT' normal force.
    """

    __slots__ = ()

    @command("PENALTY_SOLVER")
    def __init__(self, variant: Literal["IMPLICIT", "EXPLICIT"] | None = None) -> None:
        variant = "IMPLICIT" if variant is None else checks.choice(variant, "variant", ("IMPLICIT", "EXPLICIT"))
        self._solver = PenaltySolver(variant)


def _relaxation(value, name: str) -> float:
    value = checks.between(value, name, 0.0, 1.0)
    if not value > 0.0:
        raise BadValue(f"'{name}' must be above 0")
    return value


class NEWTON_SOLVER(Solver):
    """Projected quasi-Newton solver (docs/language-objects.md, NEWTON_SOLVER; docs/solvers.md, Projected quasi-Newton solver).

    Parameters
    ----------
    meritval : float
        Merit at which iterations end (default 1E-8).
    maxiter : int
        Bound of iterations (default 1000).
    locdyn : str
        'ON' (default): products with W in the cheapest way; 'OFF': always through body velocities, W is not assembled.
    linver : str
        'GMRES' (default) or 'DIAG'.
    linmaxiter, maxmatvec : int
        GMRES: bound of iterations of one linear solution (default 10), and of products with W in a step
        (default linmaxiter * maxiter).
    epsilon : float
        GMRES: relative accuracy (default 0.25).
    delta : float
        GMRES: diagonal regularisation (default 0).
    theta : float
        DIAG: relaxation in (0, 1] (default 0.25).
    omega : float
        Smoothing of the contact equation (default meritval / 100).
    gsflag : str
        'ON' (default): the Gauss-Seidel solver takes over when iterations fail.
    reldelta : str
        'OFF' (default), or 'avgWii', 'minWii', 'maxWii': delta in units of a diagonal entry of W.
    """

    __slots__ = ()

    @command("NEWTON_SOLVER")
    def __init__(
        self,
        meritval: float = 1e-8,
        maxiter: int = 1000,
        locdyn: Switch = None,
        linver: Literal["GMRES", "DIAG"] = None,
        linmaxiter: int = 10,
        maxmatvec: int = None,
        epsilon: float = 0.25,
        delta: float = 0.0,
        theta: float = 0.25,
        omega: float = None,
        gsflag: Switch = None,
        reldelta: Literal["OFF", "avgWii", "minWii", "maxWii"] = None,
    ) -> None:
        self._solver = NewtonSolver(
            checks.positive(meritval, "meritval"),
            _count(maxiter, "maxiter"),
            True if locdyn is None else checks.switch(locdyn, "locdyn"),
            LINEAR_SOLVERS[0] if linver is None else _linear_solver(linver, "linver"),
            _count(linmaxiter, "linmaxiter"),
            None if maxmatvec is None else _count(maxmatvec, "maxmatvec"),
            checks.positive(epsilon, "epsilon"),
            checks.nonnegative(delta, "delta"),
            _relaxation(theta, "theta"),
            None if omega is None else checks.positive(omega, "omega"),
            True if gsflag is None else checks.switch(gsflag, "gsflag"),
            "OFF" if reldelta is None else _relative_delta(reldelta, "reldelta"),
        )

    meritval = _stored("meritval", checks.positive, "Merit at which iterations end.")
    maxiter = _stored("maxiter", _count, "Bound of iterations.")
    locdyn = _switched("locdyn", "'OFF': products with W always through body velocities.")
    linver = _stored("linver", _linear_solver, "'GMRES' or 'DIAG'.")
    linmaxiter = _stored("linmaxiter", _count, "Bound of iterations of one GMRES solution.")
    maxmatvec = _stored("maxmatvec", _count, "Bound of products with W of GMRES in a step.")
    epsilon = _stored("epsilon", checks.positive, "Relative accuracy of GMRES.")
    delta = _stored("delta", checks.nonnegative, "Diagonal regularisation of GMRES.")
    theta = _stored("theta", _relaxation, "Relaxation of 'DIAG'.")
    omega = _stored("omega", checks.positive, "Smoothing of the contact equation.")
    gsflag = _switched("gsflag", "'ON': the Gauss-Seidel solver takes over when iterations fail.")
    reldelta = _stored("reldelta", _relative_delta, "Which diagonal entry of W multiplies delta; 'OFF': none.")

    error = _outcome("error", str, "'OK' or 'DIVERGED', or what Gauss-Seidel left when it took over.")
    iters = _outcome("iters", int, "Iterations of the last solution.")
    fallback = _outcome("fallback", int, "Sweeps of the Gauss-Seidel solver in the last solution; 0 when it was not needed.")
    merhist = _outcome("merhist", list, "Merit after every iteration of the last solution.")
    mvhist = _outcome("mvhist", list, "Products with W that GMRES has used after every iteration of the last solution.")
    itershist = _recorded()


class TEST_SOLVER(NEWTON_SOLVER):
    """An experimental Newton method of Solfec-1.0, which old inputs may name; NEWTON_SOLVER with 'GMRES' takes its place.

    Parameters
    ----------
    meritval, maxiter, maxmatvec, linmaxiter, epsilon, delta, omega
        See NEWTON_SOLVER; `maxmatvec`, `delta` and `omega` have other defaults.
    """

    __slots__ = ()

    @command("TEST_SOLVER")
    def __init__(
        self,
        meritval: float = 1e-8,
        maxiter: int = 1000,
        maxmatvec: int = 1000,
        linmaxiter: int = 10,
        epsilon: float = 0.25,
        delta: float = 0.51e-7,
        omega: float = 1e-9,
    ) -> None:
        self._solver = NewtonSolver(
            checks.positive(meritval, "meritval"),
            _count(maxiter, "maxiter"),
            linmaxiter=_count(linmaxiter, "linmaxiter"),
            maxmatvec=_count(maxmatvec, "maxmatvec"),
            epsilon=checks.positive(epsilon, "epsilon"),
            delta=checks.nonnegative(delta, "delta"),
            omega=checks.positive(omega, "omega"),
        )
        session.warn("TEST_SOLVER was an experiment of Solfec-1.0; NEWTON_SOLVER solves in its place")
