"""Calls of DEM and the model's own results: DEM writes them, continues from them, or reads them instead of computing."""

from __future__ import annotations

import json
import os
import sys
from enum import Enum

from ..errors import SolfecError
from ..language import session
from .files import Writer
from .model import Model
from .pairs import default_pairing
from .run_file import RunFile, StoredRun


class Way(Enum):
    """Action of a call of DEM."""

    RUN = "begin"
    CONTINUE = "go on from the last frame"
    PASS = "nothing: results say how it ended"


class Results:
    """The file `<stem>.results.h5` of a model and the calls of DEM that belong to it.

    Parameters
    ----------
    model : Model
    writer : Writer
        Writer of its other files.
    """

    def __init__(self, model: Model, writer: Writer):
        now = session.current()
        self._model, self._writer = model, writer
        self._run = 0  # calls of DEM so far
        self.path = writer.stem + ".results.h5"
        self._reading = now.reading
        self._stored = StoredRun(self.path) if now.reading or (now.resume and os.path.exists(self.path)) else None
        if self._stored is not None and not now.reading and (words := json.loads(self._stored.text("arguments"))) != (now.arguments or []):
            raise SolfecError(f"{self.path}: the run had the arguments {words}, now they are {now.arguments or []}")
        self._file: RunFile | None = None
        if not now.reading and ("HDF5" in model.output_formats or now.resume):
            self._file = RunFile(self.path, now.input_text, now.arguments)

    def begin(self, duration: float) -> Way:
        """Begin a call of DEM: bring the model to the state from which it continues."""
        self._run += 1
        model, stored = self._model, self._stored
        if self._file is not None:
            self._file.begin_run(model)
        if stored is None:
            return Way.RUN
        if self._run > stored.last_run:
            if self._reading:
                raise SolfecError(f"{self.path}: the results end before this DEM, the {ordinal(self._run)} one; parmec -c computes it")
            self._open()
            return Way.RUN
        default_pairing(model)
        stored.load(model, self._run)
        self._file and self._file.begin_run(model)
        if self._reading or self._run < stored.last_run or model.control.elapsed[0] >= duration:
            self._say(f"passed over, {self.path} says how it ended" if not self._reading else f"read from {self.path}")
            return Way.PASS
        self._open()
        self._say(f"continued from time {model.time:g}, {self.path}")
        return Way.CONTINUE

    def _open(self) -> None:
        """Open the file once, for appending after its last frame."""
        if self._stored is not None and not self._file.is_open:
            self._file.go_on(len(self._stored.steps))
            self._writer.rewind(int(self._stored.steps["files"][-1]))

    def _say(self, text: str) -> None:
        """Print a message if a DEM does not compute from its beginning."""
        if not session.current().quiet and sys.stderr is not None:
            print(f"DEM: {text}", file=sys.stderr)

    def store(self, finished: bool) -> None:
        """Append a frame."""
        if self._file is not None:
            self._file.append(self._model, self._run, finished)

    def rest(self) -> None:
        """End a DEM."""
        if self._file is not None:
            self._file.rest()


def ordinal(number: int) -> str:
    """Return an ordinal: 1st, 2nd, 3rd, 4th ..."""
    ending = "th" if 10 < number % 100 < 14 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"
