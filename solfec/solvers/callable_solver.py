"""A function that solves contact problems, as a constraint solver."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ..errors import SolfecError
from . import parameters
from .contacts_only import Contacts, ContactsOnlySolver

NORMAL_FIRST = [2, 0, 1]  # (T1, T2, N) -> (N, T1, T2)
OWN_ORDER = [1, 2, 0]  # and back


class CallableSolver(ContactsOnlySolver):
    """Contacts by a function of the user; other constraints are eliminated (`ContactsOnlySolver`).

    The problem is v = W r + q, with every r in its friction cone, |r_T| <= mu r_N, and (v_N + mu |v_T|, v_T) in the dual cone, orthogonal to r.
    Each contact has three components in the order (normal, tangent 1, tangent 2).  Restitution, cohesion and gaps of gap-aware contacts are
    in q.

    Parameters
    ----------
    function : callable
        ``function(W, q, mu, r0, tolerance, maxiter)`` returns (r, info, residual, iterations).  W is a scipy block-sparse matrix (3 n, 3 n)
        [velocity per force], q (3 n,) free velocities [velocity], mu (n,) friction coefficients, r0 (3 n,) the reactions of the last step [force].
        r (3 n,) are reactions, info is 0 if the function reached its tolerance, and residual is a measure of its own.
    epsilon : float
        Residual to reach, and accuracy of other constraints.  The function gets it as tolerance; if the residual is more than twice as large
        afterwards, it is called again with a smaller one.
    maxiter : int
        Bound of iterations that the function gets.

    Attributes
    ----------
    info, claim : int, float
        The info and the residual that the function returned last.
    """

    NAME = "CALLABLE"
    SETTINGS = ("epsilon", "maxiter")

    def __init__(self, function: Callable, epsilon: float = 1e-8, maxiter: int = 1000):
        if not callable(function):
            raise TypeError(f"a solver must be a function of (W, q, mu, r0, tolerance, maxiter), not {type(function).__name__}")
        parameters.positive(epsilon=epsilon, maxiter=maxiter)
        super().__init__(float(epsilon))
        self.function, self.maxiter = function, int(maxiter)
        self.info, self.claim = 0, math.nan

    @property
    def command(self) -> str:
        """Name of the function, for messages."""
        return getattr(self.function, "__name__", type(self.function).__name__)

    def solve_contacts(self, problem: Contacts, accuracy: float) -> tuple[np.ndarray, bool, int]:
        """Call the function; check the shape of what it returns."""
        if problem.prepared is None:
            problem.prepared = problem.matrix(NORMAL_FIRST)
        q, start = problem.right_side()
        returned = self.function(
            problem.prepared, q[NORMAL_FIRST].T.ravel(), problem.friction.copy(), start[NORMAL_FIRST].T.ravel(), accuracy, self.maxiter
        )
        try:
            r, info, residual, iterations = returned
            r, self.info, self.claim, iterations = np.asarray(r, float), int(info), float(residual), int(iterations)
        except (TypeError, ValueError):
            raise SolfecError(f"solver {self.command}: it must return (r, info, residual, iterations), not {returned!r:.80}") from None
        if r.shape != (q.size,):
            raise SolfecError(f"solver {self.command}: r has the shape {r.shape}; {q.shape[1]} contacts need ({q.size},)")
        return r.reshape(-1, 3).T[OWN_ORDER], self.info == 0 and bool(np.isfinite(r).all()), iterations
