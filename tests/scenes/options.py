"""Contact options and solvers that every scene runs with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import solfec


@dataclass(frozen=True)
class Options:
    """One set of contact options.

    Attributes
    ----------
    name : str
    arguments : dict
        Further arguments of SOLFEC.
    """

    name: str
    arguments: dict = field(default_factory=dict)


CLASSIC = Options("CLASSIC")
MANIFOLD = Options("MANIFOLD", arguments={"contacts": "MANIFOLD"})
ALL = (CLASSIC, MANIFOLD)

SOLVERS: dict[str, Callable] = {
    "AUTO": lambda: solfec.AUTO_SOLVER(),
    "GAUSS_SEIDEL": lambda: solfec.GAUSS_SEIDEL_SOLVER(1e-6, 1000),
    "NEWTON": lambda: solfec.NEWTON_SOLVER(),
    "PENALTY": lambda: solfec.PENALTY_SOLVER(),
}
# Quasi-static models are to be solved more accurately (docs/quasi-statics.md): what is left of a step adds up.
STRICT: dict[str, Callable] = {
    "AUTO": lambda: solfec.AUTO_SOLVER(1e-10),
    "GAUSS_SEIDEL": lambda: solfec.GAUSS_SEIDEL_SOLVER(1e-8, 5000),
    "NEWTON": lambda: solfec.NEWTON_SOLVER(1e-14),
}
IMPLICIT = ("AUTO", "GAUSS_SEIDEL", "NEWTON")

# Accuracy of relative velocities at default settings, relative to the velocities that constraints stop in a step: AUTO bounds
# its residual by 1e-6, Gauss-Seidel the relative change of reactions by 1e-6 (its error is larger where sweeps converge slowly),
# NEWTON the merit, a ratio of energies, by 1e-8, of which the square root is 1e-4.
ACCURACY = {"AUTO": 1e-6, "GAUSS_SEIDEL": 1e-4, "NEWTON": 1e-4, "PENALTY": 1e-4}
