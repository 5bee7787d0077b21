"""The explicit engine: rigid particles, nonlinear springs and granular contact, in the language of Parmec's inputs.

``from solfec.parmec import SPHERE, DEM`` and ``import parmec`` give the same commands.  They load when first used.
"""

from __future__ import annotations

import importlib

_NAMES = {
    "particles": "MATERIAL SPHERE MESH ANALYTICAL VELOCITY",
    "loads": "TSERIES GRAVITY DAMPING RESTRAIN PRESCRIBE",
    "springs": "SPRING",
    "release": "UNSPRING",
    "granular": "GRANULAR OBSTACLE",
    "joints": "TORSION_SPRING BALL_JOINT",
    "estimates": "EQM CRITICAL",
    "histories": "HISTORY",
    "output": "OUTPUT",
    "running": "DEM RESET ARGV",
}

COMMANDS = {name: module for module, names in _NAMES.items() for name in names.split()}
NOT_INJECTED: set[str] = set()
__all__ = list(COMMANDS)


def load(name: str):
    """Return the command called `name`."""
    return getattr(importlib.import_module(f"{__name__}.{COMMANDS[name]}"), name)


def __getattr__(name: str):
    if name not in COMMANDS:
        raise AttributeError(f"module 'parmec' has no attribute {name!r}")
    command = globals()[name] = load(name)
    return command


def __dir__() -> list[str]:
    return sorted({*globals(), *COMMANDS})
