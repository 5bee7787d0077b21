"""The problem of one step between assembly and solution, as numpy arrays."""

from __future__ import annotations

import numpy as np

from ..kinds import RowKind
from ..solvers.contacts_only import FRICTION
from ..solvers.local_dynamics import LocalDynamics

RESTITUTION = 5  # place in the law data of a contact


class LocalProblem:
    """Rows of a step, U = B + W R.

    Arrays are views of the program's memory unless they are called copies; components stand in the order (T1, T2, N).

    Parameters
    ----------
    local : LocalDynamics
        Assembled.
    """

    def __init__(self, local: LocalDynamics):
        self.local = local

    @property
    def n(self) -> int:
        """Number of rows: contacts first, then other constraints."""
        return self.local.n

    @property
    def is_contact(self) -> np.ndarray:
        """Copy of a mask (n,): True for rows of contacts, without their rolling friction."""
        kind = self.local.rows.kind[: self.n]
        return (np.arange(self.n) < self.local.contacts) & (kind != RowKind.ROLLING)

    @property
    def kind(self) -> np.ndarray:
        """Kinds (n,) of the rows (`solfec.kinds.RowKind`)."""
        return self.local.rows.kind[: self.n]

    @property
    def free_velocity(self) -> np.ndarray:
        """B (3, n), the relative velocity without reactions [velocity]."""
        return self.local.rows.B[:, : self.n]

    @property
    def q(self) -> np.ndarray:
        """(3, n): B less the velocity that a row's law prescribes, for example by restitution [velocity]."""
        return self.local.rows.free[:, : self.n]

    @property
    def previous_velocity(self) -> np.ndarray:
        """V (3, n), the relative velocity at the start of the step [velocity]."""
        return self.local.rows.V[:, : self.n]

    @property
    def friction(self) -> np.ndarray:
        """Copy (n,) of coefficients of friction [1]; 0 for rows that are no contacts."""
        return np.where(self.is_contact, self.local.rows.law[FRICTION, : self.n], 0.0)

    @property
    def restitution(self) -> np.ndarray:
        """Copy (n,) of coefficients of restitution [1]; 0 for rows that are no contacts."""
        return np.where(self.is_contact, self.local.rows.law[RESTITUTION, : self.n], 0.0)

    @property
    def reactions(self) -> np.ndarray:
        """R (3, n), at first those of the last step; writable [force]."""
        return self.local.rows.R[:, : self.n]

    @property
    def frames(self) -> np.ndarray:
        """Copy (n, 3, 3) of the local frames, columns t1, t2, n."""
        return self.local.constraints.base[..., self._constraints].transpose(2, 0, 1)

    @property
    def points(self) -> np.ndarray:
        """Copy (n, 3) of the points [length]."""
        return self.local.constraints.point[:, self._constraints].T

    @property
    def bodies(self) -> np.ndarray:
        """Copy (n, 2) of the numbers of both bodies, 0: space; R acts on the first one."""
        identifiers = np.append(self.local.bodies.view("id"), 0)
        sides = (getattr(self.local.constraints, side)[self._constraints] for side in ("master", "slave"))
        return np.stack([identifiers[side] for side in sides], axis=1)

    @property
    def _constraints(self) -> np.ndarray:
        return self.local.rows.order[: self.n]

    def matrix(self) -> np.ndarray:
        """Return a dense copy (3 n, 3 n) of W, row by row [velocity per force]."""
        return self.local.matrix()

    def velocities(self) -> np.ndarray:
        """Return U = B + W R (3, n) for the present reactions [velocity]."""
        return self.local.velocities(np.zeros_like(self.local.rows.U))[:, : self.n]
