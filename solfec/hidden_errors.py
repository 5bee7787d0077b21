"""Notes about light bodies whose errors heavy ones hide, since a solver ends by sums over the whole model (docs/solvers.md, Gauss-Seidel solver)."""

from __future__ import annotations

import sys
from typing import NamedTuple

import numpy as np

from .domain import Domain
from .kinds import BodyKind
from .solvers.constraint_solver import ConstraintSolver
from .solvers.local_dynamics import LocalDynamics

#: Residual of a group of bodies over its free velocity, part of the model's reactions that it has at most, and free velocity of its constraints over that of
#: gravity in a step, where errors count as hidden.  Three cubes of 1 cm on a slope beside a block of 10 cm are 2 % too slow or too fast, and so told;
#: runs of our examples have such groups in less than a hundredth of their steps.
UNMET, LIGHT, SMALLEST = 0.03, 0.01, 0.1

#: Looks in which groups must have hidden errors, and the part of all looks: a single impact does no harm.
FEWEST, PART = 3, 0.1


class Worst(NamedTuple):
    """The worst group of bodies of a step: its residual over its free velocity, one of its bodies, and the number of such groups."""

    residual: float
    body: int
    groups: int


class HiddenErrors:
    """What some steps of one run leave of errors in groups of bodies that have little part in the model's reactions.

    Looks become rarer, by an eighth of the steps made.  In quasi-statics, and with solvers that end by the errors of each group, there are none.

    Parameters
    ----------
    domain : Domain
    solver : ConstraintSolver
    whole : bool
        Whether this process has all constraints.
    """

    def __init__(self, domain: Domain, solver: ConstraintSolver, whole: bool):
        self._first, self._looks, self._found = domain.step_number, 0, []
        self._due = self._first + 1 if whole and domain.dynamic and solver.ends_by_sums else sys.maxsize

    def after_step(self, domain: Domain, course) -> None:
        """Look at the constraints of a step, `course.reported`, if it is due, and note the worst group whose errors are hidden.

        Steps that were not solved are told elsewhere.
        """
        if domain.step_number < self._due:
            return
        self._due = domain.step_number + 1 + (domain.step_number - self._first) // 8
        self._looks += 1
        local = course.reported
        if local.n and local.stands and not domain.unsolved:
            found = worst(local, SMALLEST * domain.step * float(np.linalg.norm(domain.loads.gravity_at(domain.time))))
            if found is not None:
                self._found.append((*found, domain.time, domain.report.solver))

    def told(self) -> str:
        """Return a line for the end of the run, or ''."""
        if len(self._found) < max(FEWEST, PART * self._looks):
            return ""
        residual, body, groups, time, solver = max(self._found)
        count = "1 group" if groups == 1 else f"{groups} groups"
        return (
            f"hidden errors: {solver}_SOLVER ends by sums over the whole model, to which light bodies add little: in {len(self._found)} of {self._looks} steps looked at "
            f"groups of them missed their laws (at time {time:g} {count}, that of body {body} by {100 * residual:.3g} % of its free velocity), though these count as solved; "
            "AUTO_SOLVER, and GAUSS_SEIDEL_SOLVER with islands = 'ON', end group by group"
        )


def worst(local: LocalDynamics, slow: float) -> Worst | None:
    """Return the worst of the groups whose errors are hidden; None if there are none.

    Groups are bodies that constraints couple through moving bodies.  Those whose constraints have free velocities below `slow` are left out, and
    constraints that drive obstacles.
    """
    rows, n = local.rows, local.n
    unmet, free, force = rows.residual[:n] ** 2, (rows.B[:, :n] ** 2).sum(axis=0), (rows.R[:, :n] ** 2).sum(axis=0)
    most = LIGHT**2 * force.sum()
    if not ((unmet > UNMET**2 * free) & (force < most)).any():  # a group with hidden errors has such a row
        return None
    from scipy.sparse import coo_array  # slow to import
    from scipy.sparse.csgraph import connected_components

    bodies, constraints = local.bodies, local.constraints
    moving = np.append(bodies.view("kind") != BodyKind.OBSTACLE, False)  # -1: no body
    sides = np.stack((constraints.master[rows.order[:n]], constraints.slave[rows.order[:n]]))
    sides[~moving[sides]] = -1
    one, other = sides[:, (sides >= 0).all(axis=0)]
    _, group = connected_components(coo_array((np.ones(one.size), (one, other)), (bodies.n, bodies.n)), directed=False)
    body = sides.max(axis=0)
    counted = (body >= 0) & (rows.driving[:n] == 0)
    of_row = group[body[counted]]
    unmet, free, force, count = (np.bincount(of_row, values[counted]) for values in (unmet, free, force, np.ones(n)))
    hidden = np.flatnonzero((unmet > UNMET**2 * free) & (force < most) & (free > slow**2 * count))
    if not hidden.size:
        return None
    residual = np.sqrt(unmet[hidden] / free[hidden])
    place = int(np.argmax(residual))
    first = int(np.flatnonzero(group == hidden[place])[0])
    return Worst(float(residual[place]), int(bodies.id[first]), hidden.size)
