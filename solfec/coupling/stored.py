"""The explicit model's state in the frames of the implicit one."""

from __future__ import annotations

import h5py

from ..errors import SolfecError
from ..parmec.model import Model
from ..parmec.pairs import default_pairing
from ..parmec.stored_state import Recorded, StoredFrames

GROUP = "explicit"  # of a results file


class Companion:
    """What a simulation asks to store and restore the explicit model (`simulation.companion`).

    Parameters
    ----------
    model : Model
    domain : Domain
        Of the simulation.

    Attributes
    ----------
    followed : int
        Number of the implicit step that the explicit model has followed last.
    restored : bool
        Whether a frame has been restored since the last step.
    owes : bool
        Whether the explicit steps that go with its implicit one were still to be taken then.
    files : int
        Frames of output files when the restored frame was written.
    """

    def __init__(self, model: Model, domain):
        self._model, self._domain, self._recorded = model, domain, Recorded(model)
        self._file: h5py.File | None = None
        self._frames: StoredFrames | None = None
        self.followed, self.files, self.restored, self.owes = 0, 0, False, False

    def store(self, file: h5py.File, frame: int) -> None:
        """Add the present state to a frame."""
        if file is not self._file:  # the writer has opened it again
            self._file, self._frames = file, StoredFrames(file.require_group(GROUP))
        self._frames.append(self._model, self._recorded.fresh(), frame=frame, finished=self.followed == self._domain.step_number)

    def restore(self, reader, frame: int) -> None:
        """Bring the model to a frame, and histories to what they were."""
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
        self.restored, self.owes, self.files = True, not row["finished"], int(row["files"])
