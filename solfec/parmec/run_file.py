"""Results of runs of the explicit engine: one file, from whose frames runs continue or are read instead of computed."""

from __future__ import annotations

import errno
import json
import os
from contextlib import suppress
from time import perf_counter

import numpy as np

from .._version import version
from ..directories import make_directory_of
from ..errors import SolfecError
from ..results import layout
from ..results.frame_file import FrameFile, finish_interrupted, reading
from ..results.reader import DAMAGE
from .model import Model
from .stored_state import FrameStore, Recorded, StoredFrames

FORMAT, VERSION = "solfec explicit results", 1


class RunFile:
    """Writer of `<stem>.results.h5`, frame by frame; a killed run leaves the file with its last complete frame.

    Earlier results stay until the first new frame is complete.

    Parameters
    ----------
    path : str
    input_text : str
    arguments : list of str
    """

    def __init__(self, path: str, input_text: str = "", arguments: list[str] | None = None):
        self.path, self._facts = path, (input_text, list(arguments or []))
        self._file: FrameFile | None = None
        self._frames: FrameStore | None = None
        self._failed = False
        self._since = perf_counter()
        self._last_steps: tuple = ()
        self._recorded: Recorded | None = None

    def append(self, model: Model, run: int, finished: bool) -> None:
        """Store the present state, unless the last frame holds it already.

        Raises
        ------
        SolfecError
            The file cannot be written; earlier frames remain readable.
        """
        if self._failed:
            raise SolfecError(f"{self.path}: writing failed before; no more frames are written")
        key = int(model.control.steps[0]), run, finished
        if key == self._last_steps:
            return
        fresh = self._file is None
        try:
            if fresh:
                self._begin()
            elif self._file.resting and not self._file.wake():
                raise OSError(errno.ESTALE, "somebody else has changed or replaced them since the last frame")
            now = perf_counter()
            self._frames.append(model, self._recorded.fresh(), run=run, finished=finished, frame=len(self._frames), seconds=now - self._since)
            self._since = now
            self._file.commit()
            if fresh:
                self._file.rename(self.path)
        except BaseException as error:
            self._give_up()
            if not isinstance(error, (OSError, RuntimeError)):
                raise
            raise SolfecError(f"{self.path}: the frame at time {model.time:g} cannot be written: {getattr(error, 'strerror', None) or error}") from error
        self._last_steps = key

    def begin_run(self, model: Model) -> None:
        """Begin a DEM; earlier records of histories are in frames already, or come from elsewhere."""
        self._recorded = Recorded(model)

    def _begin(self) -> None:
        make_directory_of(self.path)
        if os.path.exists(self.path):
            with suppress(OSError):  # what a killed writer left in the journal belongs to the old file
                finish_interrupted(self.path)
        self._file = FrameFile(self.path + ".new", fresh=True)
        hdf5 = self._file.hdf5
        for name, text in (("format", FORMAT), ("solfec_version", version), ("units", layout.UNITS)):
            layout.say(hdf5.id, name, text)
        hdf5.attrs["format_version"] = VERSION
        text = self._facts[0].encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        for name, said in (("input", text), ("arguments", json.dumps(self._facts[1]))):
            hdf5[name] = np.frombuffer(said.encode(), "u1")
            layout.say(hdf5[name].id, "description", f"bytes (UTF-8) of the {name}")
        self._frames = FrameStore(self._file)

    def go_on(self, rows: int) -> None:
        """Open an existing file, and append after its first `rows` frames.

        Raises
        ------
        SolfecError
            Another run is writing it, or has written to it meanwhile.
        """
        try:
            self._file = FrameFile(self.path)
            self._frames = FrameStore(self._file)
        except (OSError, RuntimeError, *DAMAGE) as error:
            self._give_up()
            raise SolfecError(f"{self.path}: the results cannot be continued: {getattr(error, 'strerror', None) or error}") from error
        if len(self._frames) != rows:
            self._give_up()
            raise SolfecError(f"{self.path}: the results cannot be continued: somebody else has changed them")
        self._since = perf_counter()

    def _give_up(self) -> None:
        """Close the file with its last complete frame."""
        self._failed = True
        if self._file is not None:
            self._file.abandon()
            self._file = None

    @property
    def is_open(self) -> bool:
        """Whether the file is open for appending."""
        return self._file is not None

    def rest(self) -> None:
        """Leave the file complete and unlocked; the next frame continues it unless another process has changed it.

        Raises
        ------
        SolfecError
            Frames cannot be put into their datasets, for example on a full disk; they can still be read.
        """
        if self._file is not None and not self._file.resting:
            try:
                self._file.rest()
            except (OSError, RuntimeError) as error:
                self._give_up()
                raise SolfecError(f"{self.path}: the results cannot be completed: {getattr(error, 'strerror', None) or error}") from error

    def close(self) -> None:
        """Complete and close the file."""
        file, self._file = self._file, None
        if file is not None:
            file.close()

    def __del__(self):
        with suppress(Exception):
            self.close()


class StoredRun:
    """Reader of the results of a run, also while they are being written.

    Parameters
    ----------
    path : str

    Raises
    ------
    SolfecError
        There are no results, or they are damaged or of another kind.
    """

    def __init__(self, path: str):
        self.path = path
        if not os.path.isfile(path):
            raise SolfecError(f"{path}: no such results file")
        self.steps = self.read(lambda frames: frames.steps)
        if not len(self.steps):
            raise SolfecError(f"{path}: the results hold no frames")

    def read(self, take):
        """Return the result of `take(frames)`, with the file locked for reading."""
        try:
            with reading(self.path) as file:
                if (kind := layout.said(file, "format")) != FORMAT:
                    raise SolfecError(f"{self.path}: holds no results of the explicit engine" + (f", but {kind!r}" if kind else ""))
                if file.attrs["format_version"] > VERSION:
                    raise SolfecError(f"{self.path}: was written by a newer version, {layout.said(file, 'solfec_version')}")
                return take(StoredFrames(file))
        except (OSError, RuntimeError, *DAMAGE) as error:
            if getattr(error, "errno", None) == errno.EACCES:
                raise SolfecError(f"{self.path}: cannot be read: {error}") from error
            raise SolfecError(f"{self.path}: cannot be read, the file seems damaged: {error}") from error

    def text(self, name: str) -> str:
        """Return the input, or the user's arguments as JSON."""
        return self.read(lambda frames: bytes(frames.group[name][...]).decode())

    @property
    def last_run(self) -> int:
        """Number of the last call of DEM."""
        return int(self.steps["run"][-1])

    def load(self, model: Model, run: int) -> bool:
        """Restore a model and histories from the last frame of a DEM; return whether that DEM was finished."""
        own = np.flatnonzero(self.steps["run"] == run)

        def take(frames: StoredFrames) -> None:
            frames.load(model, self.steps[own[-1]], self.path)
            frames.give_back(model, self.steps[own])

        self.read(take)
        return bool(self.steps["finished"][own[-1]])
