"""What the parts of a model tell one another about the user's constraints, beside the sweeps.

The first step of a joint, an impact, a constraint that breaks, and the correction of joints concern constraints of other parts.  All processes ask the same questions
in the same order, since they know whether the whole model has constraints.
"""

from __future__ import annotations

from contextlib import AbstractContextManager

import numpy as np

from ..constraints.elsewhere import Elsewhere
from ..constraints.joint_correction import JointGapTable
from ..constraints.supports import HeldBodies
from ..kinds import BodyKind
from ..tables import ranges
from .shared_compliance import SharedCompliance


class SharedJoints(Elsewhere):
    """Constraints that other processes hold.

    Parameters
    ----------
    part : Part
    """

    has_nothing = False

    def __init__(self, part):
        self.part = part
        self._shared: SharedCompliance | None = None

    def least(self, step: float, row: int) -> tuple[float, int]:
        """Return the least critical step of all processes, and the row of the body that has it here, or -1, from those found here."""
        least = -float(self.part.world.largest(np.array([-step]))[0])
        return least, row if step == least else -1

    def matters(self, here: bool) -> bool:
        """Whether the whole model has constraints of the user."""
        return self.part.linked

    def strikes_joints(self, here: bool) -> bool:
        """Whether the whole model has joints on moving bodies: impacts do not pass through obstacles."""
        return self.part.jointed

    def end_prediction(self) -> None:
        """Bring free velocities of implicit copies from their owners, who alone solve for them."""
        if self.part.implicit:
            self._compliance().take_velocities()

    def moving_obstacles(self, rows: np.ndarray, change: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the obstacles (k,) whose velocities constraints change in this step, and by what (6, k), which the process that moves them tells."""
        driven = self.part.driven
        if not driven.size:
            return rows, change
        ids, changes = self.part.model.bodies.view("id"), np.zeros((6, driven.size))
        known = self.part.mine[rows]  # in the process that moves obstacles, which has all constraints on them
        changes[:, np.searchsorted(driven, ids[rows[known]])] = change[:, known]
        changes = self.part.world.total(changes.ravel()).reshape(changes.shape)
        moving = np.flatnonzero(changes.any(axis=0))
        return np.searchsorted(ids, driven[moving]).astype(np.int32), np.asfortranarray(changes[:, moving])

    def sharing(self, local) -> AbstractContextManager:
        """Return a context at whose end rows on bodies of two processes have the parts of W of both."""
        return self._compliance().sharing(local) if self.part.implicit else super().sharing(local)

    def _compliance(self) -> SharedCompliance:
        """Return what is exchanged about the bodies that the part holds now."""
        if self._shared is None or self._shared.arrangement != self.part.arrangement:
            self._shared = SharedCompliance(self.part)
        return self._shared

    def begin_motion(self, bodies) -> None:
        """Let copies move freely until they get the states of their originals: not all reactions on them are known."""
        for rows in self.part.received.values():
            first, width = (column[rows] for column in self.part.spans["velo"])
            bodies.triples.reaction[:, ranges(first, width)] = 0.0

    def end_motion(self) -> None:
        """Bring copies to the states of their originals."""
        self.part.copy_states()

    def any(self, here: bool) -> bool:
        """Whether a statement is true in any process; False if the whole model has no constraints of the user."""
        return self.part.linked and bool(self.part.world.largest(np.array([float(here)]))[0])

    def spread(self, bodies: np.ndarray) -> np.ndarray:
        """Return marks (n,) of bodies: of copies those of their owners, of obstacles those of any process."""
        part, marks = self.part, self._of_owners(bodies)
        still = part.model.bodies.view("kind") == BodyKind.OBSTACLE  # all processes have the same obstacles
        if still.any():
            marks[still] = part.world.largest(bodies[still].astype(float)).astype(bodies.dtype)
        return marks

    def struck(self, bodies: np.ndarray) -> np.ndarray:
        """Return marks (n,) of struck bodies: of copies those of their owners, who have all of their contacts."""
        return self._of_owners(bodies)

    def _of_owners(self, bodies: np.ndarray) -> np.ndarray:
        """Return marks (n,) of bodies, with those of the owners for copies."""
        marks = np.array([bodies], float)
        self.part.copy(marks, np.arange(len(bodies)), np.ones(len(bodies), int))
        return marks[0].astype(bodies.dtype)

    def known(self, local) -> np.ndarray:
        """Return 1 for each row of local dynamics on a body that this process moves, else 0."""
        return self.part.holds(local.rows.order[: local.n]).astype(np.int32)

    def overloaded(self, constraints, found: np.ndarray | None) -> np.ndarray | None:
        """Return a mask of the constraints that break in any process; None: none."""
        part = self.part
        if not part.breakable:
            return None
        mine = constraints.id[np.flatnonzero(found & part.counts(np.arange(constraints.n)))] if found is not None else np.zeros(0, np.int64)
        if not self.any(mine.size > 0):
            return None
        broken = np.concatenate(part.world.gathered(mine))
        part.forget(broken)
        result = np.zeros(constraints.n, bool)
        users = constraints.user_count
        result[:users] = np.isin(constraints.id[:users], broken)
        return result

    def outside(self, found: np.ndarray | None) -> None:
        """Note bodies that have left the scene (`Part.lost`): the whole model removes them after the step."""
        part = self.part
        part.lost = part.model.bodies.id[np.flatnonzero(found & part.mine)] if found is not None else part.lost[:0]

    def opening(self, found: list) -> list:
        """Note cracks that open (`Part.opening`), and return none: the whole model opens them after the step."""
        self.part.opening = found
        return []

    def called(self, here: bool) -> bool:
        """Whether the whole model has motors with functions."""
        return self.part.motored

    def all_motors(self, numbers: np.ndarray, state: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return numbers and state of the motors with functions in all processes, in the order of their identifiers."""
        constraints = self.part.model.constraints
        rows = np.arange(constraints.user_count)
        mine = np.isin(numbers[0], constraints.id[rows[self.part.counts(rows)]])
        joined = [np.concatenate(arrays, axis=1) for arrays in zip(*self.part.world.gathered((numbers[:, mine], state[:, mine])))]
        order = np.argsort(joined[0][0])
        return joined[0][:, order], joined[1][:, order]

    def all_gaps(self, gaps: JointGapTable, count: int, largest: float) -> tuple[JointGapTable, int, float]:
        """Return the gaps of joints in all processes, with the triples of the whole model, from those found here.

        Every process then solves for all of them, with the same numbers in the same order: that of constraints and their components.
        """
        joined = self._joined(gaps, count, self.part.moved_columns)
        return _table_of(joined), joined["gap"].size, float(np.abs(joined["gap"]).max(initial=0.0))

    def all_scaled(self, gaps: JointGapTable, count: int, bodies) -> tuple[JointGapTable, int, int, np.ndarray]:
        """Return the scaled gaps of joints in all processes, their number, that of triples that they count, and the column of each triple here, or -1.

        Spread models have no triples of the whole model, so those that joints act on are numbered by bodies.
        """
        first, width = self.part.spans["velo"]
        here = (np.repeat(bodies.view("id").astype(np.int64), width) << 32) + ranges(np.zeros_like(first), width)
        joined = self._joined(gaps, count, here)
        known = np.unique(joined["triple"])
        known = known[known >= 0]
        place = _place_in(known, here)
        joined["triple"] = _place_in(known, joined["triple"])
        return _table_of(joined), joined["gap"].size, known.size, place.astype(np.int32)

    def looped(self, constraints) -> np.ndarray:
        """Return which of the user's constraints here are joints in loops of the whole model."""
        return np.isin(constraints.id[: constraints.user_count], self.part.looped)

    def held_bodies(self) -> HeldBodies:
        """Return which constraints hold which bodies of the whole model."""
        return self.part.held_bodies

    def has_loops(self, here: bool) -> bool:
        """Whether the whole model has joints in loops."""
        return self.part.looped.size > 0

    def has_linked_loops(self, here: bool) -> bool:
        """Whether some of these are links."""
        return self.part.held_bodies.has_links(self.part.looped)

    def _joined(self, gaps: JointGapTable, count: int, number: np.ndarray) -> dict[str, np.ndarray]:
        """Return the columns of JointGapTable in all processes, in the order of constraints and components, with a `number` for each triple here."""
        part, constraints = self.part, self.part.model.constraints
        counted = constraints.id[np.flatnonzero(part.counts(np.arange(constraints.user_count)))]
        mine = np.flatnonzero(np.isin(gaps.constraint[:count], counted))
        columns = {name: getattr(gaps, name)[..., mine] for name in gaps.COLUMNS}
        columns["triple"] = np.where(columns["triple"] >= 0, np.append(number, -1)[columns["triple"]], -1)
        several = part.world.gathered(columns)
        joined = {name: np.concatenate([one[name] for one in several], axis=-1) for name in gaps.COLUMNS}
        order = np.lexsort((joined["component"], joined["constraint"], joined["limit"]))
        return {name: column[..., order] for name, column in joined.items()}

    def inverse_inertia(self, bodies) -> np.ndarray:
        """Return the inverse inertia (3, 3, n) of all triples of the whole model."""
        return self.part.inverse_inertia

    def body_count(self, bodies) -> int:
        """Return the number of bodies of the whole model."""
        return self.part.body_count

    def here(self, moved: np.ndarray) -> np.ndarray:
        """Return the columns of triples, then of rigid motions, that the part holds, from those (3, n) of the whole model."""
        return np.asfortranarray(moved[:, self.part.moved_columns])

    def jump(self, moved: np.ndarray) -> None:
        """Note displacements (3, triples) by which the correction of joints moves bodies at the end of a step."""
        self.part.note_jump(moved)


def _table_of(columns: dict[str, np.ndarray]) -> JointGapTable:
    """Return a table with some columns."""
    result = JointGapTable()
    result.append(columns["gap"].size, **columns)
    return result


def _place_in(known: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """Return the places of numbers in ascending ones; -1: they are not there."""
    place = np.searchsorted(known, numbers)
    return np.where(np.append(known, -1)[place] == numbers, place, -1) if known.size else np.full(numbers.shape, -1)
