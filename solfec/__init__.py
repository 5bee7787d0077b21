"""Solfec: non-smooth contact dynamics of many rigid and deformable bodies.

Every command of the manual is a member of this module.  They are loaded when first used, so that
``import solfec`` and its sub-packages stay light.
"""

from __future__ import annotations

from .language import COMMANDS, load

__version__ = "0.1.0"
__all__ = list(COMMANDS)  # what `from solfec import *` binds


def __getattr__(name: str):
    if name not in COMMANDS:
        raise AttributeError(f"module 'solfec' has no attribute {name!r}")
    command = globals()[name] = load(name)
    return command


def __dir__() -> list[str]:
    return sorted({*globals(), *COMMANDS})
