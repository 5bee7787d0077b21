"""Springs whose force is a Python function, visited after each sweep over the other rows (docs/language-objects.md, PUT_SPRING).

No Python runs inside of a kernel.  A sweep is one kernel call, which does not change the reactions of these rows, followed
by a visit to each of them, in the order of rows, with the newest reactions of all others.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..constraints.user_functions import checked_function
from .local_dynamics import LocalDynamics

# places in the law data of a row (fortran/rows/spring_law.f90)
STROKE, LOWER, UPPER, _, TARGET, MEAN, REACH, IMPLICIT = range(8)
SECANT_STEPS = 20


class SpringFunctions:
    """The rows of one step whose forces come from Python.

    Parameters
    ----------
    local : LocalDynamics
        Assembled rows; those in `local.held` are visited.

    Attributes
    ----------
    unmet : ndarray (springs,)
        Error of each velocity in its law before its last visit.
    functions : list of callable
        Checked functions: each returns a finite number, or raises an error that names its spring.
    """

    def __init__(self, local: LocalDynamics):
        self.local = local
        self.rows = [int(row) for row in local.held]
        self.unmet = local.unmet = np.zeros(len(self.rows))
        self._change = np.zeros((3, local.bodies.triples.n))  # of scaled momenta since the kernel made U
        self.functions = [self._function(row) for row in self.rows]

    def visit(self) -> float:
        """Compute the force of every row once; return the sum of |dR|^2."""
        self._change[...] = 0.0
        return sum(self._visit(k, self._change, float(self.local.rows.U[2, row])) for k, row in enumerate(self.rows))

    def _visit(self, k: int, momentum: np.ndarray, velocity: float) -> float:
        """Compute the force of row number k, and add its change to scaled momenta (3, triples); return |dR|^2.

        `velocity` is that of the row where these momenta are zero.
        """
        row, rows, entries = self.rows[k], self.local.rows, self.local.entries
        used = slice(rows.entry_ptr[row], rows.entry_ptr[row + 1])
        normal, triple = entries.operator[2, :, used], entries.triple[used]  # a spring acts along its normal only
        w, old = float(rows.diagonal[2, 2, row]), float(rows.R[2, row])
        free = velocity + float((normal * momentum[:, triple]).sum()) - w * old
        force = self._force(k, row, w, free)
        rows.R[:, row] = 0.0, 0.0, force
        momentum[:, triple] += normal * (force - old)  # no triple occurs twice in a row
        self.unmet[k] = w * abs(force - old)
        return (force - old) ** 2

    def _force(self, k: int, row: int, w: float, free: float) -> float:
        """Return R_N of a spring whose velocity without its own reaction is `free` (the laws of spring_law.f90)."""
        stop = self.stop(k, row, w, free)
        return self._unstopped(k, self.local.rows.law[:, row].tolist(), w, free) if stop is None else (stop - free) / w

    def stop(self, k: int, row: int, w: float, free: float) -> float | None:
        """Return the velocity at which a stop holds a spring whose velocity without its own reaction is `free`, or None (find_stop of spring_law.f90)."""
        law = self.local.rows.law[:, row].tolist()
        stroke = law[STROKE]
        if law[MEAN] < 1.0:  # dynamics
            beyond = (stroke < law[LOWER] and free < 0.0) or (stroke > law[UPPER] and free > 0.0)
            return law[TARGET] if beyond else None
        end = stroke + law[REACH] * (free + w * self._unstopped(k, law, w, free))
        limit = min(max(end, law[LOWER]), law[UPPER])
        return None if end == limit else (limit - stroke) / law[REACH]

    def _unstopped(self, k: int, law: list[float], w: float, free: float) -> float:
        """Return R_N without stops."""
        stroke, target, function = law[STROKE], law[TARGET], self.functions[k]
        explicit = function(stroke, free)
        if not law[IMPLICIT]:
            return explicit

        def excess(force: float) -> float:
            velocity = free + w * force
            mean = law[MEAN] * velocity - (1.0 - law[MEAN]) * target
            return function(stroke + law[REACH] * (velocity + target), mean) - force

        return _secant(excess, explicit)

    def _function(self, row: int) -> Callable[..., float]:
        """Return the user's function of a row with checks."""
        local = self.local
        identifier = int(local.constraints.id[local.rows.order[row]])
        return checked_function(local.constraints, identifier, f"function of {local.name(row)}", "springs", ("stroke", "velocity"))


def _secant(excess: Callable[[float], float], first: float) -> float:
    """Return a root of `excess` by the secant method from `first`; `first` itself if it does not converge."""
    old, old_excess = first, excess(first)
    new = first + old_excess
    for _ in range(SECANT_STEPS):
        if abs(new - old) <= 1e-12 * abs(new):
            return new
        new_excess = excess(new)
        if new_excess == old_excess:
            return new if new_excess == 0.0 else first
        following = new - new_excess * (new - old) / (new_excess - old_excess)
        old, old_excess, new = new, new_excess, following
    return first
