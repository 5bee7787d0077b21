"""The process that calls Siconos: if the library ends it, one solution is lost, not the run.

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
from pathlib import Path

import numpy as np

from ..errors import SolfecError

PROGRAM = "import sys; sys.path.append({path!r}); from solfec.solvers.siconos_library import serve; serve({requests}, {answers})"
PACKAGES = str(Path(__file__).parents[2])


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
        # the run does not stop a solution half way
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", program], pass_fds=(incoming, outgoing), start_new_session=True,
            env=os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        )  # fmt: skip
        os.close(incoming)
        os.close(outgoing)
        self._requests = os.fdopen(self._requests, "wb")
        self._answers = os.fdopen(self._answers, "rb")
        try:
            message = pickle.load(self._answers)
        except EOFError:
            message = f"SICONOS_SOLVER: the process that calls Siconos did not start ({self._ending()})"
        if message:
            self.close()
            raise SolfecError(message)

    def solve(self, *arguments, patience: float | None = None) -> tuple[np.ndarray, int, int, float, float]:
        """Return what `siconos_library.solve` returns; `patience`: seconds after which a solution is broken off.

        Raises
        ------
        SolfecError
            The library ended its process, or gave no answer in time.
        """
        try:
            pickle.dump(arguments, self._requests, protocol=5)
            self._requests.flush()
            if patience is not None and not select.select([self._answers], [], [], patience)[0]:
                self._process.kill()
                self._process.wait()
                raise SolfecError(f"SICONOS_SOLVER: Siconos gave no answer in {patience:g} s")
            return pickle.load(self._answers)
        except (EOFError, BrokenPipeError):
            raise SolfecError(
                f"SICONOS_SOLVER: Siconos gave up with an error of its own ({self._ending()}); another solver may do"
            ) from None
        except BaseException:  # an interrupt between request and answer: the next request must not get this answer
            self._process.kill()
            raise

    @property
    def is_alive(self) -> bool:
        """Whether the process can answer."""
        return self._process.poll() is None

    def close(self) -> None:
        """End the process."""
        for stream in (self._requests, self._answers):
            try:
                stream.close()
            except OSError:
                pass
        try:
            self._process.wait(1.0)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _ending(self) -> str:
        status = self._process.wait()
        return f"signal {signal.Signals(-status).name}" if status < 0 else f"status {status}"


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
