"""Chooses compiled kernels: a wheel has them for several levels of x86-64, in `solfec/levels`; a build by `make` has those for its own processor."""

from __future__ import annotations

import ctypes
import os
import sys

NATIVE = "native"
COMMANDS = ("solfec", "solfec-mpi", "parmec", "parmec4", "parmec8")  # of the shell (pyproject.toml)
# Where the instruction CPUID tells a feature: number of the leaf in sys/platform/x86.h of the GNU C library, register (0 eax ... 3 edx), bit
PLACES = {
    "sse3": (0, 2, 0), "ssse3": (0, 2, 9), "fma": (0, 2, 12), "cx16": (0, 2, 13), "sse4_1": (0, 2, 19), "sse4_2": (0, 2, 20), "movbe": (0, 2, 22),
    "popcnt": (0, 2, 23), "xsave": (0, 2, 27), "avx": (0, 2, 28), "f16c": (0, 2, 29),
    "bmi1": (1, 1, 3), "avx2": (1, 1, 5), "bmi2": (1, 1, 8),
    "avx512f": (1, 1, 16), "avx512dq": (1, 1, 17), "avx512cd": (1, 1, 28), "avx512bw": (1, 1, 30), "avx512vl": (1, 1, 31),
    "lahf": (2, 2, 0), "lzcnt": (2, 2, 5),
}  # fmt: skip
# Levels of the x86-64 psABI, and what each adds
LEVELS = {
    "v2": "cx16 lahf popcnt sse3 sse4_1 sse4_2 ssse3",
    "v3": "avx avx2 bmi1 bmi2 f16c fma lzcnt movbe xsave",
    "v4": "avx512f avx512bw avx512cd avx512dq avx512vl",
}
HERE = os.path.dirname(os.path.abspath(__file__))

chosen = NATIVE  # which kernels this process has; results name it


def features() -> set[str]:
    """Return what the processor can do and the system lets it do, of the names in PLACES."""
    leaf = ctypes.CDLL(None).__x86_get_cpuid_feature_leaf  # since 2.33; a wheel with levels needs a later one
    leaf.restype = ctypes.POINTER(ctypes.c_uint32 * 8)  # four registers as the processor says, the same of what is enabled
    return {name for name, (number, register, bit) in PLACES.items() if leaf(number).contents[4 + register] >> bit & 1}


def best(able: set[str], built: list[str], wanted: str | None = None) -> str:
    """Return the highest of the built levels that a processor can run, or the wanted one.

    Parameters
    ----------
    able : set of str
        What the processor can do, as `features` returns it.
    built, wanted : list of str, str
        Levels that are there, and the one that the user asks for; None for the highest.

    Raises
    ------
    ImportError
        It can run none, or not the wanted one, or that is not built.
    """
    if wanted is not None and wanted not in built:
        raise ImportError(f"SOLFEC_KERNELS={wanted}: this installation has kernels of {', '.join(built)}")
    missing: list[str] = []
    runs = []
    for level, words in LEVELS.items():
        missing += sorted(set(words.split()) - able)
        if not missing and level in built:
            runs.append(level)
        if missing and level == (wanted or built[0]):
            asked = f"SOLFEC_KERNELS={wanted}: " if wanted else ""
            raise ImportError(f"{asked}kernels of x86-64-{level} need {', '.join(missing)}, which this processor lacks")
    return wanted or runs[-1]


def folders() -> list[str]:
    """Return what `choose` does for this installation; the commands of the shell end with its sentence instead of a traceback."""
    try:
        return choose()
    except ImportError as error:
        by_module = ("-m", "solfec") in zip(sys.orig_argv, sys.orig_argv[1:])
        program = "solfec" if by_module else os.path.basename(sys.orig_argv[1]) if len(sys.orig_argv) > 1 else ""
        if program in COMMANDS:
            sys.exit(f"{program}: {error}")
        raise


def choose(folder: str = HERE) -> list[str]:
    """Return the folder, in a list, from which `solfec._kernels` is to be imported beside the package's own; none if it is there itself."""
    global chosen
    levels, wanted = os.path.join(folder, "levels"), os.environ.get("SOLFEC_KERNELS") or None
    built = [level for level in LEVELS if os.path.isdir(os.path.join(levels, level))]
    if not built:
        if wanted not in (None, NATIVE):
            raise ImportError(f"SOLFEC_KERNELS={wanted}: this installation has kernels of {NATIVE} only; those of levels are in released wheels")
        return []
    chosen = best(features(), built, wanted)
    return [os.path.join(levels, chosen)]
