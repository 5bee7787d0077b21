"""Conjugate gradients for A = M + beta K of finite element bodies, preconditioned by a factor of a nearby matrix.

An iteration is the elements' products, a solution with the factor and two kernel calls, however many bodies there are.
"""

from __future__ import annotations

import numpy as np

from .. import _kernels

TOLERANCE = 1e-12  # of the residual in the norm of the preconditioner, relative to that of the right-hand side
MOST = 40  # iterations
CONVERGED = 1  # of the kernel

_begin = _kernels.conjugate_gradients.begin
_advance = _kernels.conjugate_gradients.advance
_choose_direction = _kernels.conjugate_gradients.choose_direction
_follow_bodies = _kernels.conjugate_gradients.follow_bodies


class NoConvergence(ArithmeticError):
    """The matrix is not positive definite, or too far from the preconditioner."""


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
        self.solution, self._residual, self._change, self._direction, self._image = (
            np.zeros(shape, order="F") for _ in range(5)
        )
        self._turn, self._before = (np.zeros((3, 3, self.count), order="F") for _ in range(2))
        self._unturned = np.asfortranarray(np.tile(np.eye(3)[:, :, None], self.count))
        self.forget()

    def forget(self) -> None:
        """The factor is that of the present step."""
        self._turned, self._known = False, None

    def follow(self, made: np.ndarray, present: np.ndarray) -> None:
        """The factor was made at other displacements (3, n) than the present ones: it has to turn with the bodies."""
        if self._known is None:
            self._known = _follow_bodies(*self._places, made, self._unturned, self._before)
        self._turned = bool(self._known) and bool(_follow_bodies(*self._places, present, self._before, self._turn))

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
        owner, turn, turned = self.owner, self._turn, self._turned
        solution, residual, direction = self.solution, self._residual, self._direction
        assembly, local = self.assembly, factor.vector
        initial = norm = 0.0
        _begin(turned, right, owner, turn, solution, residual, local)
        for products in range(MOST + 1):
            first, previous = products == 0, norm if products > 1 else 0.0
            norm, status = _choose_direction(
                first, TOLERANCE, initial, previous, turned, factor.solve_vector(), owner, turn, residual, self._change,
                direction, solution,
            )  # fmt: skip
            if status:
                break
            if first:
                initial = norm
            assembly.element_products(displacement, direction)
            curvature = _advance(
                first, norm, turned, self.mass, owner, beta, turn, assembly.first, assembly.position, assembly.flat,
                direction, self._image, solution, residual, local,
            )  # fmt: skip
            if not first and not curvature > 0.0:
                raise NoConvergence
        if status != CONVERGED:
            raise NoConvergence
        return products
