"""Constraints beside contacts as linear equations (docs/solvers.md, Siconos).

The law of each component E of these rows is, at the present velocity, U = t (joints, prescribed velocities, laws along axes that hold a rate)
or a tangent R = p + g U with g <= 0 (springs, dampers, joints that slide, stops that are not touched).  Both are

    R_E = p + S x,   S (U_E - t) + K x = 0,   U_E = B_E + W_EE R_E + W_EC R_C,

with S = 1, K = 0, p = 0 for the first and S = sqrt (-g), K = 1, t = 0 for the second.  With A = S W_EE S + K, elimination of x leaves contacts

    U_C = (W_CC - W_CE S A^-1 S W_EC) R_C + ...

Joints hold some motions twice, so A may be singular.  Its diagonal grows by the share `SOFTNESS`; x is corrected until the equations hold, as in the
method of multipliers, whichever joint carries what (`JointShares` decides that after the step).  Tangents are drawn anew between solutions of contacts.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ..errors import SolfecError
from ..kinds import Cone, RowKind
from ..tables import pointers_of
from .contact_problem import norm
from .local_dynamics import LocalDynamics
from .reduced_rows import CONE_OF_KIND
from .spring_tangents import SpringTangents, link_velocity

SOFTNESS = 1e-9  # of joints in the matrix, relative to its diagonal
MOST_CORRECTIONS = 20
SLICE = 512  # columns that are computed together


class LinearRows:
    """Constraints of a step that are no contacts.

    Parameters
    ----------
    local : LocalDynamics
        Assembled rows, with reactions of the last step.
    cones : ndarray
        Rows of the contacts.
    epsilon : float
        Largest norm of the errors of velocities that `hold` leaves.
    solver : str
        Command, for messages.
    """

    def __init__(self, local: LocalDynamics, cones: np.ndarray, epsilon: float, solver: str):
        rows, n = local.rows, local.n
        self.local, self.epsilon = local, epsilon
        kind, component = rows.kind[local.contacts : n], np.arange(3 * local.contacts, 3 * n)
        refuse_bad_numbers(local, np.arange(local.contacts, n), rows.free, solver)
        self.component = component[np.repeat(CONE_OF_KIND[kind] == Cone.FIXED, 3) | (component % 3 == 2)]
        _flat(rows.R)[component[~np.isin(component, self.component)]] = 0.0  # whatever the last step left there
        mine = matrix_of(local)[self.component]
        self._own, self._towards = mine[:, self.component], mine[:, (3 * cones[:, None] + np.arange(3)).ravel()].tocsc()
        self._diagonal = self._own.diagonal()
        self._tangents, self._links = SpringTangents(local), local.contacts + np.flatnonzero(kind == RowKind.RIGLNK)
        self._bent, self._linked = (np.searchsorted(self.component, 3 * these + 2) for these in (self._tangents.rows, self._links))
        size = self.component.size
        self._scale, self._slack, self._given = np.ones(size), np.zeros(size), np.zeros(size)
        self._target = (_flat(rows.B) - _flat(rows.free))[self.component]
        self._share = _flat(rows.R)[self.component]
        self._solve: Callable | None = None

    def draw(self) -> bool:
        """Draw tangents at the present reactions and velocities; return whether the matrix has changed."""
        local, bent = self.local, self._bent
        velocity = local.velocities(local.rows.U)[2, self._tangents.rows]
        given, slope, held, target = self._tangents.tangents()
        held = held > 0
        growing = ~held & ~(slope <= 0.0)  # a force that grows with its velocity counts as given
        given, slope = np.where(growing, given + slope * velocity, given), np.where(held | growing, 0.0, slope)
        scale, slack = np.where(held, 1.0, np.sqrt(-slope)), np.where(held, 0.0, 1.0)
        changed = self._solve is None or not (np.array_equal(scale, self._scale[bent]) and np.array_equal(slack, self._slack[bent]))
        self._scale[bent], self._slack[bent] = scale, slack
        self._given[bent], self._target[bent] = np.where(held, 0.0, given), np.where(held, target, 0.0)
        self._share[bent] = np.where(held, local.rows.R[2, self._tangents.rows], -scale * velocity)
        self._target[self._linked] = link_velocity(local, self._links)
        if changed:
            self._solve = self._factorised()
        return changed

    def hold(self) -> bool:
        """Compute reactions with which the linear equations hold, beside those of contacts as they are; False if velocities are out of range."""
        reaction, left = _flat(self.local.rows.R), math.inf
        for corrections in range(MOST_CORRECTIONS):
            reaction[self.component] = self._given + self._scale * self._share
            velocity = _flat(self.local.velocities(self.local.rows.U))[self.component]
            error = self._scale * (velocity - self._target) + self._slack * self._share
            before, left = left, norm(np.where(self._slack > 0.0, self._diagonal * self._scale, 1.0) * error)
            if (corrections and left <= self.epsilon) or not left < 0.5 * before:
                break
            self._share -= self._solve(error)
        return math.isfinite(left)

    def measure(self) -> None:
        """Measure the errors of springs with Python functions."""
        if self._tangents.functions is not None:
            self._tangents.missed(*self._tangents.tangents())

    def through(self):
        """Return W_CE S A^-1 S W_EC, what contacts do to one another through these rows, as a sparse matrix (3 contacts, 3 contacts)."""
        from scipy.sparse import csc_array, diags_array, hstack

        towards = (diags_array(self._scale) @ self._towards).tocsc()
        slices = [towards[:, start : start + SLICE].toarray() for start in range(0, towards.shape[1], SLICE)]
        through = hstack([csc_array(towards.T @ self._solve(columns)) for columns in slices], format="csr")
        return 0.5 * (through + through.T)

    def _factorised(self):
        """Return a function that solves with A, or almost so."""
        from scipy.sparse import diags_array
        from scipy.sparse.linalg import splu

        scale = diags_array(self._scale)
        matrix = scale @ self._own @ scale + diags_array(self._slack)
        diagonal = matrix.diagonal()
        soft = np.where(diagonal > 0.0, SOFTNESS * diagonal, 1.0)  # nothing moves a row without an entry
        return splu((matrix + diags_array(soft)).tocsc(), "MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}).solve


def _flat(values: np.ndarray) -> np.ndarray:
    """Return the same memory of (3, rows) components as a vector."""
    return values.T.reshape(-1)


def refuse_bad_numbers(local: LocalDynamics, chosen: np.ndarray, free: np.ndarray, solver: str) -> None:
    """Raise an error that names a row with numbers that are not finite, which no method can use."""
    bad = ~np.isfinite(free[:, chosen]).all(axis=0) | ~np.isfinite(local.rows.diagonal[..., chosen]).all(axis=(0, 1))
    if bad.any():
        raise SolfecError(f"{solver}: {local.name(int(chosen[np.argmax(bad)]))} has a free velocity or a W that is not finite")


def matrix_of(local: LocalDynamics):
    """Return W as a sparse matrix (3 n, 3 n)."""
    from scipy.sparse import bsr_array

    rows, n = local.rows, local.n
    count = int(rows.block_ptr[n])
    one = np.concatenate([np.repeat(np.arange(n), np.diff(rows.block_ptr[: n + 1])), np.arange(n)])
    other = np.concatenate([local.blocks.column[:count], np.arange(n)])
    blocks = np.concatenate([local.blocks.block[..., :count], rows.diagonal[..., :n]], axis=2)
    order = np.lexsort((other, one))
    pointers = pointers_of(np.bincount(one, minlength=n))
    return bsr_array((np.ascontiguousarray(blocks.transpose(2, 0, 1)[order]), other[order], pointers), shape=(3 * n, 3 * n)).tocsr()
