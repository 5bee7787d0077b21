"""What a time step needs of bodies and constraints that other processes move."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

import numpy as np

ALL_ROWS = np.zeros(0, np.int32)


class Elsewhere:
    """Nothing: one process moves the whole model."""

    has_nothing = True

    def least(self, step: float, row: int) -> tuple[float, int]:
        """Return the least critical step of all processes, and the row of the body that has it here, or -1, from those found here."""
        return step, row

    def matters(self, here: bool) -> bool:
        """Whether something is done in a step: if it is `here`, or if all processes do it together."""
        return here

    def strikes_joints(self, here: bool) -> bool:
        """Whether impacts may reach joints: if there may be some `here`, or if the whole model has joints on bodies that impacts reach."""
        return here

    def end_prediction(self) -> None:
        """Bring free velocities of implicit bodies from the processes that move them."""

    def moving_obstacles(self, rows: np.ndarray, change: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the obstacles (k,) whose velocities constraints change in this step, and by what (6, k), from those found here."""
        return rows, change

    def sharing(self, local) -> AbstractContextManager:
        """Return a context in which implicit bodies that this process moves add their parts of W to `local`; at its end those of others follow."""
        return nullcontext()

    def begin_motion(self, bodies) -> None:
        """Prepare the motion of bodies by the reactions of the step."""

    def end_motion(self) -> None:
        """Bring bodies that other processes move to their states at the end of the step."""

    def any(self, here: bool) -> bool:
        """Whether a statement is true here or in another process."""
        return here

    def spread(self, bodies: np.ndarray) -> np.ndarray:
        """Return marks (n,) of bodies, with those that other processes have set."""
        return bodies

    def struck(self, bodies: np.ndarray) -> np.ndarray:
        """Return marks (n,) of moving bodies that contacts strike, also those of other processes."""
        return bodies

    def known(self, local) -> np.ndarray:
        """Return 1 for each row of local dynamics whose reaction is that of this step, else 0; nothing: all are."""
        return ALL_ROWS

    def overloaded(self, constraints, found: np.ndarray | None) -> np.ndarray | None:
        """Return a mask of the constraints that break, from those that break here; None: none."""
        return found

    def outside(self, found: np.ndarray | None) -> np.ndarray | None:
        """Return a mask of the bodies to remove, from those that have left the scene; None: none."""
        return found

    def opening(self, found: list) -> list:
        """Return which cracks open after the step, from those found here: bodies and the numbers of their cracks."""
        return found

    def called(self, here: bool) -> bool:
        """Whether functions of motors are called in a step: if there are any `here`, or in any process."""
        return here

    def all_motors(self, numbers: np.ndarray, state: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return numbers (3, n) of the motors with functions in all processes, identifier, joint and mode, and their coordinates and rates (2, n), from those here."""
        return numbers, state

    def all_gaps(self, gaps, count: int, largest: float) -> tuple:
        """Return the gaps of joints in all processes (JointGapTable), with the triples of the whole model, their number and the largest, from those found here."""
        return gaps, count, largest

    def all_scaled(self, gaps, count: int, bodies) -> tuple:
        """Return the scaled gaps of joints in all processes (JointGapTable), their number, that of triples that they count, and the column of each triple here, or -1."""
        return gaps, count, bodies.triples.n, np.arange(bodies.triples.n, dtype=np.int32)

    def looped(self, constraints) -> np.ndarray | None:
        """Return which of the user's constraints here are joints in loops of the whole model; nothing: that is to be found here."""
        return None

    def held_bodies(self):
        """Return which constraints hold which bodies of the whole model (supports.HeldBodies); None: that is to be found here."""
        return None

    def has_loops(self, here: bool) -> bool:
        """Whether the whole model has joints in loops."""
        return here

    def has_linked_loops(self, here: bool) -> bool:
        """Whether some of these are links."""
        return here

    def inverse_inertia(self, bodies) -> np.ndarray:
        """Return the inverse inertia (3, 3, n) of all triples of the whole model."""
        return bodies.triples.inverse_inertia[:, :, : bodies.triples.n]

    def body_count(self, bodies) -> int:
        """Return the number of bodies of the whole model."""
        return bodies.n

    def here(self, moved: np.ndarray) -> np.ndarray:
        """Return the columns of triples, then of rigid motions, that this process holds, from those (3, n) of the whole model."""
        return moved

    def jump(self, moved: np.ndarray) -> None:
        """Note displacements (3, triples) by which the correction of joints moves bodies at the end of a step."""


NOWHERE = Elsewhere()
