"""Signals during a run: the present step is finished first, and a second Ctrl-C ends the process at once."""

from __future__ import annotations

import ctypes
import signal
import sys
import threading
from contextlib import suppress
from functools import cache

AGAIN = 0.1  # seconds after which the process gets a signal again
NAMES_OF_SIGNALS = {signal.SIGINT: "Ctrl-C", signal.SIGTERM: "TERM", signal.SIGHUP: "HUP"}


class Interruption:
    """Converts INT, TERM and HUP (unless ignored, as by nohup) to a request that the run loop honours after the present step.

    Python calls its handlers only between kernels.  So that a second Ctrl-C ends a kernel that takes minutes, the first signal restores
    the system's default action, the end of the process.  At Python's prompt or in a notebook, where variables
    would be lost, a second Ctrl-C interrupts the step after the kernel instead.

    Attributes
    ----------
    signal : int or None
        The signal that has come.  Its exception is raised at the end of the `with` block, unless another one is on its way.
    closed : bool
        Whether a loop over the steps was left, so that no exception reaches the user any more: the process gets the signal again.
    """

    def __init__(self):
        self.signal: int | None = None
        self.closed = False
        self._previous = {}

    def __enter__(self):
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                if number != signal.SIGHUP or signal.getsignal(number) != signal.SIG_IGN:
                    self._previous[number] = signal.signal(number, self._request)
            if not typed_by_somebody():
                end_at_second(signal.SIGINT)
        return self

    def __exit__(self, kind, *exception):
        for number, handler in self._previous.items():
            signal.signal(number, handler)
        if self.signal is not None and self.closed:
            threading.Timer(AGAIN, signal.pthread_kill, (threading.main_thread().ident, self.signal)).start()
        elif kind is None:
            self._honour()

    def _request(self, number, frame):
        if self.signal is not None:  # a second signal: at once
            self.signal = number
            self._honour()
        self.signal = number
        if number == signal.SIGINT and sys.stderr is not None and sys.stderr.isatty():
            with suppress(OSError, RuntimeError):  # a signal may come during other output
                print("\nthe step is being finished; Ctrl-C once more ends at once", file=sys.stderr)

    def _honour(self) -> None:
        """Raise the exception of the signal, if one has come."""
        if self.signal == signal.SIGINT:
            raise KeyboardInterrupt
        if self.signal is not None:
            raise SystemExit(128 + self.signal)


def typed_by_somebody() -> bool:
    """Whether commands come from a prompt or a notebook."""
    return hasattr(sys, "ps1") or bool(sys.flags.interactive) or "IPython" in sys.modules


def end_at_second(number: int) -> None:
    """Let the system call the present handler of a signal once, and end the process when the signal comes again."""
    once = _handler_for_once()
    if once is None:
        return
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {number})
    try:
        handler = once(number, int(signal.SIG_IGN))
        once(number, handler)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


@cache
def _handler_for_once():
    """The C library's `sysv_signal`, which forgets a handler when it has called it; None where there is none."""
    function = getattr(ctypes.CDLL(None), "sysv_signal", None)
    if function is not None:
        function.argtypes, function.restype = [ctypes.c_int, ctypes.c_void_p], ctypes.c_void_p
    return function
