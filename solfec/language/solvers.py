"""GAUSS_SEIDEL_SOLVER and PENALTY_SOLVER (manual, 4.2.11 and 4.2.12)."""

from __future__ import annotations

from . import checks
from .checks import Members


class Solver(Members):
    """What RUN accepts."""

    __slots__ = ("_solver",)
