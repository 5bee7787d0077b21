"""Conjugate gradients for A = M + beta K of finite element bodies, preconditioned by a factor of a nearby matrix.

An iteration is the elements' products, a solution with the factor and two kernel calls, however many bodies there are.
"""

from __future__ import annotations

import numpy as np

from .. import _kernels

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


class ConjugateGradients:
    """Iterations of one solver.

    Parameters
    ----------
    assembly : ElementAssembly
        K.
    mass : ndarray (n,)
        M, of nodes.
    first : ndarray (k + 1,) int32
        Where the nodes of bodies begin.
    reference, normal : ndarray (3, n)
        Referential nodes, and the integrals of N_a times the outward normal, from which bodies have rotations.

    Attributes
    ----------
    solution : ndarray (3, n)
        Of the last call of `solve`.
    """

    def __init__(self, assembly, mass: np.ndarray, first: np.ndarray, reference: np.ndarray, normal: np.ndarray):
        self.assembly, self.mass = assembly, np.ascontiguousarray(mass)
        self.count = len(first) - 1
        self.owner = np.repeat(np.arange(self.count, dtype=np.int32), np.diff(first))
        self._places = first, np.asfortranarray(reference), np.asfortranarray(normal)
        shape = (3, len(mass))
        self.solution, self._residual, self._change, self.direction, self._image = (
            np.zeros(shape, order="F") for _ in range(5)
        )
        self._turn, self._before = (np.zeros((3, 3, self.count), order="F") for _ in range(2))
        self.frame = np.zeros(2, np.int32)  # 1: the factor has to turn; whether `_before` is known
        self.turned = self.frame[:1]
        self.figures, self.counts = np.zeros(3), np.zeros(3, np.int32)  # of the kernels

    def follow(self, made: np.ndarray, present: np.ndarray) -> None:
        """The factor was made at other displacements (3, n) than the present ones: it has to turn with the bodies."""
        _follow_bodies(*self.follow_columns(made, present))

    def solve(self, factor, displacement: np.ndarray, beta: np.ndarray, right: np.ndarray) -> int:
        """Put A^-1 b into `solution`; return the number of products with A.

        Parameters
        ----------
        factor
            The preconditioner: `solve_vector` solves with what is in its `vector`.
        displacement : ndarray (3, n)
            Where K is meant.
        beta : ndarray (k,)
            Weights of K of the bodies.
        right : ndarray (3, n)
            b.

        Raises
        ------
        NoConvergence
            A direction of no positive curvature, or MOST iterations.
        """
        assembly, counts, local = self.assembly, self.counts, nodal(factor.vector)
        _begin(*self.begin_columns(right, local))
        while True:
            factor.solve_vector()
            _choose_direction(*self.choice_columns(nodal(factor.solved)))
            if not counts[1]:
                break
            assembly.element_products(displacement, self.direction)
            _advance(*self.advance_columns(beta, local))
            if not counts[1]:
                break
        products, _, broken = counts.tolist()
        if broken:
            raise NoConvergence
        return products

    # --- arguments of kernels, here and in programs --------------------------------------------------------

    def follow_columns(self, made: np.ndarray, present: np.ndarray) -> tuple:
        """Of `follow_bodies`."""
        return *self._places, made, present, self._before, self._turn, self.frame

    def begin_columns(self, right: np.ndarray, local: np.ndarray) -> tuple:
        """Of `begin`."""
        return self.turned, right, self.owner, self._turn, self.solution, self._residual, local, self.figures, self.counts

    def choice_columns(self, solved: np.ndarray) -> tuple:
        """Of `choose_direction`."""
        return (
            TOLERANCE, self.turned, solved, self.owner, self._turn, self._residual, self._change, self.direction, self.solution,
            self.figures, self.counts,
        )  # fmt: skip

    def advance_columns(self, beta: np.ndarray, local: np.ndarray) -> tuple:
        """Of `advance`."""
        assembly = self.assembly
        return (
            MOST, self.turned, self.mass, self.owner, beta, self._turn, assembly.first, assembly.position, assembly.flat,
            self.direction, self._image, self.solution, self._residual, local, self.figures, self.counts,
        )  # fmt: skip
