"""Conjugate gradients preconditioned by a factor of a nearby matrix."""

from __future__ import annotations

import numpy as np

TOLERANCE = 1e-12  # of the residual in the norm of the preconditioner, relative to that of the right-hand side
MOST = 40  # iterations


class NoConvergence(ArithmeticError):
    """The matrix is not positive definite, or too far from the preconditioner."""


def conjugate_gradients(product, precondition, right: np.ndarray) -> tuple[np.ndarray, int]:
    """A^-1 b, and the number of products with A.

    Parameters
    ----------
    product, precondition : callable
        ``A x`` and an approximation of ``A^-1 x`` of vectors (n,), both symmetric positive definite.
    right : ndarray (n,)

    Raises
    ------
    NoConvergence
        A direction of no positive curvature, or MOST iterations.
    """
    solution = precondition(right)
    initial = float(right @ solution)
    if initial == 0.0:
        return solution, 0
    residual = right - product(solution)
    direction, norm = None, 0.0
    for iteration in range(1, MOST + 1):
        change = precondition(residual)
        previous, norm = norm, float(residual @ change)
        if not norm >= 0.0 or not initial > 0.0:
            break
        if norm <= TOLERANCE**2 * initial:
            return solution + change, iteration
        direction = change if direction is None else change + (norm / previous) * direction
        image = product(direction)
        curvature = float(direction @ image)
        if not curvature > 0.0:
            break
        solution = solution + (norm / curvature) * direction
        residual = residual - (norm / curvature) * image
    raise NoConvergence
