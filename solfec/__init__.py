"""Solfec: non-smooth contact dynamics of many rigid and deformable bodies.

Every command of the manual is a member of this module.  They are loaded when first used, so that
``import solfec`` and its sub-packages stay light.
"""

from __future__ import annotations

import os

# Idle threads of a kernel give up the processor after some microseconds: spinning for milliseconds, as the OpenMP
# library does by default, slows everything down as soon as another program runs.  Read when kernels are loaded.
if "OMP_WAIT_POLICY" not in os.environ:
    os.environ.setdefault("GOMP_SPINCOUNT", "3000")

# Sums of BLAS depend on how many threads share them, and modes of equal frequency even more.  Read when numpy is loaded, if Solfec is
# imported before it.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from . import kernel_level  # noqa: E402

__path__ += kernel_level.folders()

from .language import COMMANDS, load  # noqa: E402

__all__ = list(COMMANDS)  # what `from solfec import *` binds


def __getattr__(name: str):
    if name == "view":
        from .viewer.views import view

        globals()[name] = view
        return view
    if name == "__version__":
        from ._version import version

        globals()[name] = version
        return version
    if name not in COMMANDS:
        raise AttributeError(f"module 'solfec' has no attribute {name!r}")
    command = globals()[name] = load(name)
    return command


def __dir__() -> list[str]:
    return sorted({*globals(), *COMMANDS, "view"})
