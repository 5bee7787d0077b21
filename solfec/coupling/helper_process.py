"""A process with another code: if that code ends, crashes or hangs, one call fails with its last words, and the run and its results stay."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import tempfile
from pathlib import Path
from time import monotonic
from typing import Any

from ..errors import SolfecError, shown
from .helpers import channel

PATIENCE = 8.0  # seconds without a sign of life after which a helper counts as hung
WORDS = 900  # characters of its last words
FOLDER = Path(channel.__file__).parent


class HelperProcess:
    """A helper program, started with the first call.

    Parameters
    ----------
    code : str
        Name of the code that it runs, for messages.
    program : str
        File of `coupling/helpers`.
    python : str
        The interpreter that has the code.
    install : str
        Sentence that tells how the code is installed, for an interpreter without it.
    patience : float
        Seconds without a sign of life after which it counts as hung.
    """

    def __init__(self, code: str, program: str, python: str, install: str, patience: float = PATIENCE):
        self.code, self.python, self.install, self.patience = code, python, install, patience
        self._program = str(FOLDER / program)
        self._process: subprocess.Popen | None = None

    def call(self, do: str, **arguments) -> dict[str, Any]:
        """Return the helper's answer to a request.

        Raises
        ------
        SolfecError
            The code is not installed; the process ended or hung; the code reports an error.  The process is gone then.
        """
        if self._process is None:
            self._start()
        try:
            self._send(channel.encode({"do": do, **arguments}))
            answer = self._receive()
        except BaseException:  # also an interrupt between request and answer: the next request must not get this answer
            self.close(kill=True)
            raise
        if "missing" in answer:
            self.close()
            raise SolfecError(f"{self.code} needs a package that {self.python} does not have ({answer['missing']}): {self.install}")
        if "error" in answer:
            words = self._last_words()
            self.close()
            raise SolfecError(f"{self.code} reports an error: {shown(answer['error'])}{words}")
        return answer

    @property
    def pid(self) -> int | None:
        """Number of the process, None if it does not run."""
        return None if self._process is None else self._process.pid

    def close(self, kill: bool = False) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is None:
            return
        os.close(self._requests)
        os.close(self._answers)
        if kill:
            process.kill()
        try:
            process.wait(2.0)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        self._said.close()

    def __enter__(self) -> HelperProcess:
        return self

    def __exit__(self, *_) -> None:
        self.close()

    def _start(self) -> None:
        theirs_in, self._requests = os.pipe()
        self._answers, theirs_out = os.pipe()
        self._said = tempfile.TemporaryFile()
        try:
            self._process = subprocess.Popen(
                [self.python, "-u", self._program, str(theirs_in), str(theirs_out)], pass_fds=(theirs_in, theirs_out), stdin=subprocess.DEVNULL,
                stdout=self._said, stderr=self._said, start_new_session=True, cwd=tempfile.gettempdir(),
                env={key: value for key, value in os.environ.items() if not key.startswith("PYTHON")} | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
            )  # fmt: skip
        except OSError as error:
            for end in (self._requests, self._answers):
                os.close(end)
            raise SolfecError(f"{self.code}: cannot start {self.python}: {error.strerror}") from None
        finally:
            os.close(theirs_in)
            os.close(theirs_out)
        os.set_blocking(self._requests, False)
        try:
            self._receive()
        except BaseException:
            self.close(kill=True)
            raise

    def _send(self, data: bytes) -> None:
        rest, until = memoryview(data), monotonic() + self.patience
        while rest:
            if not select.select([], [self._requests], [], max(until - monotonic(), 0.0))[1]:
                self._fail_hung()
            try:
                rest = rest[os.write(self._requests, rest) :]
            except BrokenPipeError:
                self._fail_ended()
            until = monotonic() + self.patience

    def _receive(self) -> dict[str, Any]:
        """Return the next message that is no sign of life."""
        while True:
            text, data = channel.LENGTHS.unpack(self._read(channel.LENGTHS.size))
            message = channel.decode(self._read(text), self._read(data))
            if "beat" not in message:
                return message

    def _read(self, count: int) -> bytes:
        parts, until = [], monotonic() + self.patience
        while count:
            if not select.select([self._answers], [], [], max(until - monotonic(), 0.0))[0]:
                self._fail_hung()
            part = os.read(self._answers, min(count, 1 << 20))
            if not part:
                self._fail_ended()
            parts.append(part)
            count -= len(part)
            until = monotonic() + self.patience
        return b"".join(parts)

    def _fail_hung(self) -> None:
        self._process.kill()
        raise SolfecError(f"{self.code} gave no sign of life for {self.patience:g} s and was ended{self._last_words()}")

    def _fail_ended(self) -> None:
        try:
            status = self._process.wait(2.0)
        except subprocess.TimeoutExpired:
            status = None
        how = "closed its end" if status is None else f"signal {signal.Signals(-status).name}" if status < 0 else f"status {status}"
        raise SolfecError(f"{self.code} ended its process ({how}){self._last_words()}")

    def _last_words(self) -> str:
        """Return the end of what the process has printed, as the end of a sentence."""
        self._said.seek(0)
        words = self._said.read().decode(errors="replace").strip()
        return f"; its last words: {shown(words[-WORDS:])}" if words else ", without a word"
