"""Bases of nodal displacements: rigid motions, checks of the user's bases, proper orthogonal decomposition.

A base holds k vectors of 3n numbers: x, y, z node by node.  For the form 'BC-MODAL' they are orthonormal in the norm of
the lumped mass M and begin with six rigid motions, for 'BC-RO' they are orthonormal as they stand (docs/language-objects.md, BODY).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..errors import SolfecError

ORTHONORMAL = 1e-4  # error of products of a base's vectors, which should be 0 and 1
RIGID = 1e-3  # part of a rigid motion that may be missing in a base that must hold it
MATCH = 1e-2  # relative difference of v.K v and a mode's eigenvalue


class BadBase(SolfecError, ValueError):
    """A base that does not suit its body."""


@dataclass(eq=False)
class ReducedBase:
    """Vectors (k, 3n) and eigenvalues (k,) [1/time**2], which only 'BC-MODAL' uses; bodies may share one."""

    values: np.ndarray
    vectors: np.ndarray

    @property
    def mode_count(self) -> int:
        """Number of vectors."""
        return len(self.vectors)


def rigid_fields(nodes: np.ndarray, centre: np.ndarray) -> np.ndarray:
    """Return three translations and three rotations about `centre` of nodes (n, 3), as rows (6, 3n)."""
    arm = nodes - centre
    translations = np.tile(np.eye(3), (1, len(nodes)))
    rotations = np.stack([np.cross(axis, arm).ravel() for axis in np.eye(3)])
    return np.concatenate([translations, rotations])


def rigid_displacements(nodes: np.ndarray, centre: np.ndarray) -> np.ndarray:
    """Return three translations and three rotations, each of unit length (docs/language-objects.md, RIGID_DISPLACEMENTS)."""
    fields = rigid_fields(nodes, centre)
    return fields / np.linalg.norm(fields, axis=1)[:, None]


def check_mass(base: ReducedBase, mass: np.ndarray) -> None:
    """Raise BadBase unless vectors, at least six, are orthonormal in the norm of the lumped mass (3n,)."""
    k = base.mode_count
    if k < 6:
        raise BadBase(f"it has {k} vectors; 'BC-MODAL' needs the six rigid motions and modes of deformation after them")
    products = (base.vectors * mass) @ base.vectors.T
    _check_orthonormal(products, "in the norm of the body's mass matrix; take the base from MODAL_ANALYSIS of such a body")


def check_modes(base: ReducedBase, mass: np.ndarray, nodes: np.ndarray) -> None:
    """Raise BadBase unless six rigid motions of the nodes (n, 3) come first, and then modes with positive eigenvalues."""
    centre = (mass[::3, None] * nodes).sum(0) / mass[::3].sum()
    fields = orthonormal(rigid_fields(nodes, centre), mass)
    held = (fields * mass) @ base.vectors[:6].T
    missing = 1.0 - np.linalg.norm(held, axis=0)
    if missing.max() > RIGID:
        raise BadBase(f"vector {int(missing.argmax())} is no rigid motion of this mesh; the first six vectors must be rigid")
    if base.mode_count > 6 and not base.values[6:].min() > 0.0:
        number = 6 + int(base.values[6:].argmin())
        raise BadBase(f"eigenvalue {number} is {base.values[number]:g}; those after the sixth must be positive")


def mismatch(base: ReducedBase, quotients: np.ndarray) -> str:
    """Describe how v.K v (k,) of a body's stiffness differ from the eigenvalues of the base; '' if they agree."""
    off = np.abs(quotients[6:] / base.values[6:] - 1.0)
    if not off.size or off.max() <= MATCH:
        return ""
    number = 6 + int(off.argmax())
    return (
        f"eigenvalue {number} is {base.values[number]:g}, but that of this body's mesh and material is "
        f"{quotients[number]:g}; was the base made for another body?"
    )


def check_orthonormal(base: ReducedBase) -> None:
    """Raise BadBase unless the vectors of a base, for form 'BC-RO', are orthonormal."""
    _check_orthonormal(base.vectors @ base.vectors.T, "to one another; POD_BASE makes them so")


def _check_orthonormal(products: np.ndarray, how: str) -> None:
    miss = np.abs(products - np.eye(len(products)))
    if miss.max() > ORTHONORMAL:
        i, j = np.unravel_index(miss.argmax(), miss.shape)
        i, j = sorted((int(i), int(j)))
        raise BadBase(f"the product of vectors {i} and {j} is {products[i, j]:g}; vectors must be orthonormal {how}")


def orthonormal(vectors: np.ndarray, mass: np.ndarray | float = 1.0, tolerance: float = 1e-10) -> np.ndarray:
    """Return an orthonormal base (r, m) of the rows (k, m) in the norm of `mass`, in order, without dependent rows."""
    kept: list[np.ndarray] = []
    for vector in vectors:
        size = np.sqrt((mass * vector) @ vector)
        rest = vector / size if size > 0.0 else vector
        for _ in range(2):  # the second pass removes the round-off of the first
            for other in kept:
                rest = rest - ((mass * rest) @ other) * other
        length = np.sqrt((mass * rest) @ rest)
        if length > tolerance:
            kept.append(rest / length)
    return np.array(kept).reshape(len(kept), vectors.shape[1])


def decompose(rigid: np.ndarray, snapshots: np.ndarray, count: int | None, tolerance: float) -> ReducedBase:
    """Return rigid motions and the proper orthogonal modes of the remainder of snapshots (equivalent to Sirovich's method).

    Parameters
    ----------
    rigid : ndarray (6, 3n)
        Rigid displacements, which the base holds exactly.
    snapshots : ndarray (m, 3n)
        Displacements.
    count : int, optional
        Total number of vectors; by default as many as the tolerance needs.
    tolerance : float
        Part of the snapshots' sum of squares, without rigid motions, that may be lost.

    Returns
    -------
    ReducedBase
        Orthonormal vectors; squared singular values in place of eigenvalues, zeros for rigid motions.
    """
    first = orthonormal(rigid)
    rest = snapshots - (snapshots @ first.T) @ first
    _, singular, right = np.linalg.svd(rest, full_matrices=False)
    noise = max(rest.shape) * np.finfo(float).eps * np.linalg.norm(snapshots)
    rank = int((singular > noise).sum())
    energy = singular**2
    if count is None:
        lost = energy.sum() - np.cumsum(energy)
        wanted = int((np.concatenate([[energy.sum()], lost]) > tolerance * energy.sum()).sum())
        taken = min(wanted, rank)
    else:
        taken = count - len(first)
        if taken > rank:
            raise SolfecError(f"{count} vectors are asked for, but rigid motions and snapshots span {len(first) + rank} only")
    modes = right[:taken]
    largest = np.abs(modes).argmax(1)
    modes = modes * np.sign(modes[np.arange(taken), largest])[:, None]
    vectors = orthonormal(np.concatenate([first, modes]))
    return ReducedBase(np.concatenate([np.zeros(len(first)), energy[:taken]]), vectors)
