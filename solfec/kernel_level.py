"""Chooses compiled kernels: a wheel has them for several levels of x86-64, in `solfec/levels`; a build by `make` has those for its own processor."""

from __future__ import annotations

import os

NATIVE = "native"
# Levels of the x86-64 psABI and what each adds, by the words of /proc/cpuinfo
LEVELS = {
    "v2": "cx16 lahf_lm popcnt pni sse4_1 sse4_2 ssse3",
    "v3": "abm avx avx2 bmi1 bmi2 f16c fma movbe xsave",
    "v4": "avx512f avx512bw avx512cd avx512dq avx512vl",
}
HERE = os.path.dirname(os.path.abspath(__file__))

chosen = NATIVE  # which kernels this process has; results name it


def flags(path: str = "/proc/cpuinfo") -> set[str]:
    """Return what the processor can do; all of it where the system does not tell."""
    try:
        with open(path) as file:
            return set(next(line for line in file if line.startswith("flags")).split())
    except (OSError, StopIteration):
        return set(" ".join(LEVELS.values()).split())


def best(able: set[str], built: list[str], wanted: str | None = None) -> str:
    """Return the highest of the built levels that a processor can run, or the wanted one.

    Raises
    ------
    ImportError
        It can run none, or not the wanted one, or that is not built.
    """
    if wanted is not None and wanted not in built:
        raise ImportError(f"SOLFEC_KERNELS={wanted}: this installation has kernels of {', '.join(built)}")
    missing: list[str] = []
    found = None
    for level, words in LEVELS.items():
        missing += sorted(set(words.split()) - able)
        if missing and (level == wanted or (found is None and wanted is None)):
            asked = f"SOLFEC_KERNELS={wanted}: " if wanted else ""
            raise ImportError(f"{asked}kernels of x86-64-{level} need {', '.join(missing)}, which this processor lacks")
        if level == wanted or (level in built and not missing):
            found = level
        if level == wanted or missing:
            break
    return found


def choose(folder: str = HERE) -> list[str]:
    """Return the folder, in a list, from which `solfec._kernels` is to be imported beside the package's own; none if it is there itself."""
    global chosen
    levels, wanted = os.path.join(folder, "levels"), os.environ.get("SOLFEC_KERNELS") or None
    built = [level for level in LEVELS if os.path.isdir(os.path.join(levels, level))]
    if not built:
        if wanted not in (None, NATIVE):
            raise ImportError(f"SOLFEC_KERNELS={wanted}: this installation has kernels of {NATIVE} only; those of levels are in released wheels")
        return []
    chosen = best(flags(), built, wanted)
    return [os.path.join(levels, chosen)]
