"""Notes about light bodies whose errors heavy ones hide, since a solver ends by sums over the whole model (docs/solvers.md, Gauss-Seidel solver)."""

from __future__ import annotations

import sys
from typing import NamedTuple

import numpy as np

from .connected import components
from .domain import Domain
from .kinds import BodyKind
from .parallel.communicator import Communicator
from .parallel.sums import largest_of, summed, words
from .solvers.constraint_solver import ConstraintSolver
from .solvers.local_dynamics import LocalDynamics
from .tables import unique

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


class Groups(NamedTuple):
    """Groups of bodies that constraints couple through moving bodies, with sums over the constraints of one process.

    Attributes
    ----------
    ids, group : ndarray (m,)
        Identifiers of the moving bodies on which constraints act, and the number of each one's group.
    sums : ndarray (4, n)
        Squared residuals, free velocities and reactions of the constraints of each group, and their number.
    """

    ids: np.ndarray
    group: np.ndarray
    sums: np.ndarray


class HiddenErrors:
    """What some steps of one run leave of errors in groups of bodies that have little part in the model's reactions.

    Looks become rarer, by an eighth of the steps made.  In quasi-statics, and with solvers that end by the errors of each group, there are none.
    Of several processes all look in the same steps, and the first one keeps what they find.

    Parameters
    ----------
    domain : Domain
    solver : ConstraintSolver
    world : Communicator
    """

    def __init__(self, domain: Domain, solver: ConstraintSolver, world: Communicator):
        self._world, self._first, self._looks, self._found = world, domain.step_number, 0, []
        self._due = self._first + 1 if domain.dynamic and solver.ends_by_sums else sys.maxsize

    def after_step(self, domain: Domain, local: LocalDynamics | None, counted: np.ndarray | slice) -> None:
        """Look at the constraints of a step if it is due, and note the worst group whose errors are hidden.

        Steps that were not solved are told elsewhere.

        Parameters
        ----------
        domain : Domain
        local : LocalDynamics or None
            The rows of this process; None, in all processes: the tables have changed since.
        counted : ndarray or slice
            Those of them that no other process counts.
        """
        if domain.step_number < self._due:
            return
        self._due = domain.step_number + 1 + (domain.step_number - self._first) // 8
        self._looks += 1
        if local is not None and not domain.unsolved:
            found = worst(local, counted, SMALLEST * domain.step * float(np.linalg.norm(domain.loads.gravity_at(domain.time))), self._world)
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


def worst(local: LocalDynamics, counted: np.ndarray | slice, slow: float, world: Communicator) -> Worst | None:
    """Return the worst of the groups whose errors are hidden; None if there are none, in processes other than the first, and if rows have changed in any process.

    Groups whose constraints have free velocities below `slow` are left out, and constraints that drive obstacles.
    """
    squares = squares_of(local, counted)
    unmet, free, force = squares
    wrong = unmet > UNMET**2 * free
    changed, lightest, *largest = world.largest(np.array([not local.stands, -force[wrong].min(initial=np.inf), *largest_of(squares[2:])]))
    total = summed(world.total(words(squares[2:], np.array(largest))), np.array(largest))[0]
    most = LIGHT**2 * total
    if changed or not -lightest < most:  # a group with hidden errors has such a row
        return None
    several = world.collected(groups_of(local, counted, squares))
    if several is None:
        return None
    ids, group, (unmet, free, force, count) = joined(several)
    hidden = np.flatnonzero((unmet > UNMET**2 * free) & (force < most) & (free > slow**2 * count))
    if not hidden.size:
        return None
    residual = np.sqrt(unmet[hidden] / free[hidden])
    place = int(np.argmax(residual))
    return Worst(float(residual[place]), int(ids[group == hidden[place]].min()), hidden.size)


def squares_of(local: LocalDynamics, counted: np.ndarray | slice) -> np.ndarray:
    """Return squares (3, n) of residuals, free velocities and reactions of the rows that this process counts."""
    rows, n = local.rows, local.n
    return np.array([rows.residual[:n][counted] ** 2, *((column[:, :n][:, counted] ** 2).sum(axis=0) for column in (rows.B, rows.R))])


def groups_of(local: LocalDynamics, counted: np.ndarray | slice, squares: np.ndarray) -> Groups:
    """Return the groups that the counted rows couple, with sums of these squares."""
    bodies, constraints, order = local.bodies, local.constraints, local.rows.order[: local.n][counted]
    moving = np.append(bodies.view("kind") != BodyKind.OBSTACLE, False)  # -1: no body
    sides = np.stack((constraints.master[order], constraints.slave[order]))
    sides[~moving[sides]] = -1
    one, other = sides[:, (sides >= 0).all(axis=0)]
    group = components(moving.size, one, other)
    body = sides.max(axis=0)
    judged = (body >= 0) & (local.rows.driving[: local.n][counted] == 0)
    acted = unique(sides[sides >= 0])
    numbers = unique(group[acted])
    group[acted] = np.searchsorted(numbers, group[acted])
    return Groups(bodies.id[acted], group[acted], sums_of(group[body[judged]], np.vstack((squares, np.ones(body.size)))[:, judged], numbers.size))


def joined(several: list[Groups]) -> Groups:
    """Join groups of several processes that have a body in common."""
    body = np.concatenate([groups.ids for groups in several])
    ids = unique(body)
    sums = np.concatenate([groups.sums for groups in several], axis=1)
    first = np.cumsum([ids.size, *(groups.sums.shape[1] for groups in several)])
    group = np.concatenate([start + groups.group for start, groups in zip(first, several)])
    number = components(int(first[-1]), np.searchsorted(ids, body), group)
    return Groups(ids, number[: ids.size], sums_of(number[ids.size :], sums, number.max(initial=-1) + 1))


def sums_of(group: np.ndarray, values: np.ndarray, count: int) -> np.ndarray:
    """Return sums (k, count) of values (k, n) over groups."""
    return np.array([np.bincount(group, line, count) for line in values])
