"""Storage of the explicit model's state in the frames of the implicit one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..errors import SolfecError
from ..parmec.model import Model
from ..parmec.pairs import default_pairing
from ..parmec.stored_state import FrameStore, Recorded, StoredFrames
from ..results.frame_file import FrameFile
from .boundary import Boundary, Exchange

GROUP = "explicit"  # of a results file


class Companion:
    """Storage and restoration of the explicit model for a simulation (`simulation.companion`).

    Parameters
    ----------
    model : Model
    domain : Domain
        Of the simulation.
    go_on : function
        Called before the first step after a restored frame.

    Attributes
    ----------
    boundary : Boundary or None
        Set when bodies are known.
    followed : int
        Number of the last implicit step whose explicit steps are done.
    owes : bool
        Whether the explicit steps of the restored frame's implicit step are still to be made.
    files : int
        Number of frames in output files when that frame was written.
    joins : bool
        Whether the present run is one of both models.
    """

    def __init__(self, model: Model, domain, go_on: Callable[[], object]):
        self._model, self._domain, self._recorded = model, domain, Recorded(model)
        self._file: FrameFile | None = None
        self._frames: FrameStore | None = None
        self.boundary: Boundary | None = None
        self.followed, self.files, self.owes, self.joins = 0, 0, False, False
        self.go_on = go_on

    def as_bytes(self) -> bytes:
        """Places, velocities and springs of the explicit model, which must be the same in all processes."""
        tables = self._model.particles, self._model.links, self._model.torsions
        columns = ("position", "velocity", "angular", "mass"), ("particle",), ("particle",)
        return b"".join(np.ascontiguousarray(table.view(name)).tobytes() for table, names in zip(tables, columns) for name in names)

    def after_step(self) -> None:
        """Count the exchange of a step that both models make."""
        if self.joins:
            self.boundary.count_step()

    def counted(self) -> np.ndarray:
        """Exchange of the engines so far."""
        return np.zeros(14) if self.boundary is None else self.boundary.exchanged.numbers()

    def store(self, file: FrameFile, frame: int) -> None:
        """Add the present state to a frame."""
        if file is not self._file:  # the writer has opened it again
            self._file, self._frames = file, FrameStore(file, GROUP)
        self._frames.append(self._model, self._recorded.fresh(), frame=frame, finished=self.followed == self._domain.step_number, exchange=self.counted())

    def restore(self, reader, frame: int) -> None:
        """Restore the model and histories from a frame."""
        if not reader.read(lambda file: GROUP in file):
            raise SolfecError(f"{reader.file}: the results do not hold the explicit model; they were written without HYBRID_SOLVER, or by an older version")
        default_pairing(self._model)

        def take(file):
            frames = StoredFrames(file[GROUP])
            steps = frames.steps
            known = steps[steps["frame"] <= frame]
            if not len(known) or known["frame"][-1] != frame:
                raise SolfecError(f"{reader.file}: frame {frame} does not hold the explicit model")
            for values in self._model.histories:
                values.clear()
            frames.load(self._model, known[-1], reader.file)
            frames.give_back(self._model, known)
            return known[-1]

        row = reader.read(take)
        self._recorded = Recorded(self._model)
        if self.boundary is not None:
            self.boundary.exchanged = Exchange.of(row["exchange"])
            self.boundary.look()
        self.owes, self.files = not row["finished"], int(row["files"])
