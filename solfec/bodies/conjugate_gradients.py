"""Conjugate gradients for A = M + beta K of finite element bodies, preconditioned by a factor of a nearby matrix.

An iteration takes the elements' products, a solution with the factor and two kernel calls for all bodies together.
"""

from __future__ import annotations

import numpy as np

from .. import _kernels
from ..tables import Record, opened

TOLERANCE = 1e-12  # of the residual in the norm of the preconditioner, relative to that of the right-hand side
MOST = 40  # iterations

_begin = _kernels.conjugate_gradients.begin
_advance = _kernels.conjugate_gradients.advance
_choose_direction = _kernels.conjugate_gradients.choose_direction
_follow_bodies = _kernels.conjugate_gradients.follow_bodies


class NoConvergence(ArithmeticError):
    """The matrix is not positive definite, or too far from the preconditioner."""


def nodal(vector: np.ndarray) -> np.ndarray:
    """Unknowns (size,) as vectors (3, n) of nodes, in the same memory."""
    return vector.reshape(3, -1, order="F")


class ConjugateGradients(Record):
    """Conjugate gradients of one solver; `solution` holds the result of the last call of `solve`.

    Parameters
    ----------
    assembly : ElementAssembly
        K.
    mass : ndarray (n,)
        M, of nodes.
    first : ndarray (k + 1,) int32
        Start of the nodes of each body, and the number of all nodes.
    reference, normal : ndarray (3, n)
        Referential nodes, and integrals of N_a times the outward normal, for the rotations of bodies.
    """

    COLUMNS = {
        "first": ((), "i4"),  # of bodies: start of their nodes, and the number of all nodes
        "turn": ((3, 3), "f8"),  # rotation since the factor was made; used where `turned` is 1
        "before": ((3, 3), "f8"),  # rotations when the factor was made
        "owner": ((), "i4"),  # of nodes: number of the body
        "mass": ((), "f8"),
        "reference": ((3,), "f8"),
        "normal": ((3,), "f8"),
        "solution": ((3,), "f8"),
        "residual": ((3,), "f8"),
        "change": ((3,), "f8"),  # the preconditioner's solution
        "direction": ((3,), "f8"),
        "image": ((3,), "f8"),  # A times the direction
    }
    NUMBERS = {
        "turned": "i4",  # 1: the factor turns with the bodies
        "known": "i4",  # whether `before` is known: 0 not yet, 1, or 2: a body has no rotation
        "norm": "f8",  # of the residual
        "previous": "f8",  # norm of the previous iteration
        "initial": "f8",  # norm of the first iteration
        "products": "i4",  # products with A so far
        "busy": "i4",  # 1: iterations continue
        "broken": "i4",  # 1: A is not positive definite, or too far from the preconditioner
    }

    def __init__(self, assembly, mass: np.ndarray, first: np.ndarray, reference: np.ndarray, normal: np.ndarray):
        count = len(first) - 1
        vectors = ("solution", "residual", "change", "direction", "image")
        super().__init__(
            first=first,
            owner=np.repeat(np.arange(count, dtype=np.int32), np.diff(first)),
            mass=np.ascontiguousarray(mass),
            reference=np.asfortranarray(reference),
            normal=np.asfortranarray(normal),
            **{name: np.zeros((3, len(mass)), order="F") for name in vectors},
            **{name: np.zeros((3, 3, count), order="F") for name in ("turn", "before")},
        )
        self.assembly = assembly

    def forget_turn(self) -> None:
        """Reset rotations for a new factor."""
        self.turned = self.known = 0

    def follow(self, made: np.ndarray, present: np.ndarray) -> None:
        """Rotate a factor that was made at displacements `made` (3, n) with the bodies."""
        opened(_follow_bodies(self.handle, made, present))

    def solve(self, factor, displacement: np.ndarray, beta: np.ndarray, right: np.ndarray, shares: list[np.ndarray] | None = None) -> int:
        """Compute `solution` = A^-1 b; return the number of products with A.

        Parameters
        ----------
        factor
            The preconditioner: `solve_vector` solves for the right-hand side in its `vector`.
        displacement : ndarray (3, n)
            Displacements at which K is evaluated.
        beta : ndarray (k,)
            Weights of K of the bodies.
        right : ndarray (3, n)
            b.
        shares : list of ndarray (8, blocks), optional
            Of the stress in K, for each group of elements.

        Raises
        ------
        NoConvergence
            A direction without positive curvature, or MOST iterations.
        """
        assembly, local = self.assembly, nodal(factor.vector)
        opened(_begin(self.handle, right, local))
        while True:
            factor.solve_vector()
            opened(_choose_direction(self.handle, TOLERANCE, nodal(factor.solved)))
            if not self.busy:
                break
            assembly.element_products(displacement, self.direction, shares)
            opened(_advance(self.handle, assembly.handle, MOST, beta, local))
            if not self.busy:
                break
        if self.broken:
            raise NoConvergence
        return self.products
