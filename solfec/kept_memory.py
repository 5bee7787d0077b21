"""Memory of the process: what a time step frees stays with it, for the next step; and its peak.

The GNU C library returns free memory at the top of its heap to the operating system, and maps larger arrays one by one.  Every step would ask for
the same pages again, which the system must find and clear: a third of the time of steps of a thousand bodies.
"""

from __future__ import annotations

import ctypes
import resource
import sys
from functools import cache

TRIM_THRESHOLD, MAPPING_THRESHOLD = -1, -3  # numbers of mallopt's parameters (malloc.h)
MOST_KEPT = 256 << 20  # bytes of free memory at the top of the heap
LARGEST_KEPT = 32 << 20  # bytes of an array; the largest that the GNU library allows


@cache
def keep_freed_memory() -> bool:
    """Let the C library keep freed memory; return whether it can.  Only the first call of a process does anything."""
    choose = getattr(ctypes.CDLL(None), "mallopt", None)  # other C libraries have none
    return choose is not None and bool(choose(TRIM_THRESHOLD, MOST_KEPT)) and bool(choose(MAPPING_THRESHOLD, LARGEST_KEPT))


def give_back() -> None:
    """Give free memory back to the operating system, after much of a model has gone."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


def largest_memory() -> int:
    """Return the largest memory of this process so far, in bytes.

    Linux counts the memory of the process that started this one in `ru_maxrss`, so its own account comes first.
    """
    try:
        with open("/proc/self/status") as status:
            return next(1024 * int(line.split()[1]) for line in status if line.startswith("VmHWM"))
    except (OSError, StopIteration):
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
