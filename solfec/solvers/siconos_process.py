"""The process that calls Siconos: if the library ends it, or it hangs, one solution is lost with its last words, not the run.

It starts with the first problem and stays for later ones.  Problems and reactions go through pipes.
"""

from __future__ import annotations

import atexit
import os
import pickle
import select
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from time import monotonic

import numpy as np

from ..errors import SolfecError, shown
from .siconos_library import LENGTH

PROGRAM = "import sys; sys.path.append({path!r}); from solfec.solvers.siconos_library import serve; serve({requests}, {answers})"
PACKAGES = str(Path(__file__).parents[2])
PATIENCE = 8.0  # seconds without a sign of life after which the process counts as hung
WORDS = 900  # characters of its last words


class SiconosProcess:
    """A process with Siconos' library.

    Raises
    ------
    SolfecError
        The library is not installed, or is of another version.
    """

    def __init__(self):
        incoming, self._requests = os.pipe()
        self._answers, outgoing = os.pipe()
        program = PROGRAM.format(path=PACKAGES, requests=incoming, answers=outgoing)
        # one BLAS thread, so that bits do not depend on the number of threads; a new session, so that an interrupt of
        # the run does not stop a solution half way; errors of the library go to a file, so that messages can end with its last lines
        self._said = tempfile.TemporaryFile()
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", program], pass_fds=(incoming, outgoing), start_new_session=True, stderr=self._said,
            env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        )  # fmt: skip
        os.close(incoming)
        os.close(outgoing)
        os.set_blocking(self._requests, False)  # a process that has stopped takes no long request
        try:
            message = self._receive()
        except EOFError:
            message = f"SICONOS_SOLVER: the process that calls Siconos did not start ({self._ending()}){self._last_words()}"
        except BaseException:
            self.close()
            raise
        if message:
            self.close()
            raise SolfecError(message)

    def solve(self, *arguments, patience: float | None = None) -> tuple[np.ndarray, int, int, float, float]:
        """Return what `siconos_library.solve` returns; `patience`: seconds after which a solution is broken off.

        Raises
        ------
        SolfecError
            The library ended its process, the process hung, or gave no answer in time.
        """
        try:
            data = pickle.dumps(arguments, protocol=5)
            self._send(LENGTH.pack(len(data)) + data)
            return self._receive(patience)
        except (EOFError, BrokenPipeError):
            raise SolfecError(
                f"SICONOS_SOLVER: Siconos gave up with an error of its own ({self._ending()}); another solver may do{self._last_words()}"
            ) from None
        except BaseException:  # an interrupt between request and answer: the next request must not get this answer
            self._process.kill()
            self._process.wait()
            raise

    def _send(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            if not select.select([], [self._requests], [], PATIENCE)[1]:
                self._fail_hung()
            rest = rest[os.write(self._requests, rest) :]

    def _receive(self, patience: float | None = None):
        """Return the next message that is no sign of life."""
        until = None if patience is None else monotonic() + patience
        while not (size := LENGTH.unpack(self._read(LENGTH.size, until, patience))[0]):
            pass
        return pickle.loads(self._read(size, until, patience))

    def _read(self, count: int, until: float | None, patience: float | None) -> bytes:
        parts = []
        while count:
            wait = PATIENCE if until is None else min(PATIENCE, max(until - monotonic(), 0.0))
            if not select.select([self._answers], [], [], wait)[0]:
                if until is not None and monotonic() >= until:
                    raise SolfecError(f"SICONOS_SOLVER: Siconos gave no answer in {patience:g} s")
                self._fail_hung()
            part = os.read(self._answers, min(count, 1 << 20))
            if not part:
                raise EOFError
            parts.append(part)
            count -= len(part)
        return b"".join(parts)

    def _fail_hung(self) -> None:
        raise SolfecError(f"SICONOS_SOLVER: Siconos' process gave no sign of life for {PATIENCE:g} s and was ended{self._last_words()}")

    @property
    def is_alive(self) -> bool:
        """Whether the process can answer."""
        return self._process.poll() is None

    def close(self) -> None:
        """End the process."""
        for end in (self._requests, self._answers):
            os.close(end)
        try:
            self._process.wait(1.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._said.close()

    def _ending(self) -> str:
        status = self._process.wait()
        return f"signal {signal.Signals(-status).name}" if status < 0 else f"status {status}"

    def _last_words(self) -> str:
        """Return the end of what the process has written as errors, as the end of a sentence."""
        self._said.seek(0)
        words = self._said.read().decode(errors="replace").strip()
        return f"; its last words: {shown(words[-WORDS:])}" if words else ""


_process: SiconosProcess | None = None


def running() -> SiconosProcess:
    """Return the process, and start it if there is none."""
    global _process
    if _process is None or not _process.is_alive:
        if _process is None:
            atexit.register(stop)
        else:
            _process.close()
        _process = None
        _process = SiconosProcess()
    return _process


def stop() -> None:
    """End the process if there is one."""
    global _process
    if _process is not None:
        _process.close()
        _process = None


def is_installed() -> bool:
    """Whether Siconos can be called here."""
    try:
        running()
    except SolfecError:
        return False
    return True
