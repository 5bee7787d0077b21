"""Forked processes, for tests of what they leave behind."""

from __future__ import annotations

import os
from collections.abc import Callable


def fork(action: Callable[[], int], silenced: int) -> int:
    """Fork a process that calls `action`, prints nothing to the file descriptor `silenced` and ends with the status returned; return its identifier."""
    process = os.fork()
    if process == 0:
        status = 70
        try:
            with open(os.devnull, "w") as nowhere:
                os.dup2(nowhere.fileno(), silenced)
            status = action()
        finally:
            os._exit(status)
    return process
