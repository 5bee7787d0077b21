"""Reading results, also while they are being written."""

from __future__ import annotations

import json
import os
import time
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

import h5py
import numpy as np

from ..bodies.table import conf_triples, velo_triples
from ..errors import SolfecError
from ..fractures import Fracture
from ..time_step import PHASES
from . import layout, tables
from .dataset import dataset
from .datasets import Datasets
from .fractures import stored as stored_fractures
from .frame_file import opened
from .functions import Functions
from .history import history
from .journal import Snapshot, journal_length
from .restore import restore
from .validation import Checks, refuse_foreign

ATTEMPTS = 40  # to read while a writer changes the file
DAMAGE = (ValueError, IndexError, KeyError, TypeError, OverflowError, AttributeError, MemoryError, ZeroDivisionError)  # errors that damaged files cause


@dataclass
class Frame:
    """One stored frame: `step` is its row of `/frames/steps`, the others its rows of the tables of that name."""

    step: np.void
    listed: np.ndarray
    bodies: np.ndarray
    configurations: np.ndarray
    velocities: np.ndarray
    constraints: np.ndarray
    user_constraints: np.ndarray
    factor: np.ndarray | None = None


class ResultsReader:
    """Results of a run, possibly one that is still going on.

    Parameters
    ----------
    path : str
        Output directory, or the results file itself.

    Attributes
    ----------
    file : str
        The results file.
    steps : (frames,) records
        Scalars of every frame; `layout.STEP` names the fields.

    Raises
    ------
    SolfecError
        When there is no file, it is damaged, or it was written by a newer version.
    """

    def __init__(self, path: str):
        path = os.fspath(path)
        self.file = path if os.path.isfile(path) else layout.results_file(path)
        if not os.path.isfile(self.file):
            raise SolfecError(f"{self.file}: no such results file")
        self._snapshot = Snapshot(self.file)
        self._hdf5: h5py.File | None = None
        self._datasets: Datasets | None = None  # of that file
        self._stamp: tuple = ()
        self._length = 0  # of the journal
        self._run = 0  # number of the file on disk
        self.steps = np.empty(0, layout.STEP)
        self.refresh()

    # -- contents --------------------------------------------------------------------------------------

    phases = PHASES  # of a time step; `steps` has the seconds spent in each

    @property
    def times(self) -> np.ndarray:
        """Times of the frames."""
        return self.steps["time"]

    def refresh(self) -> int:
        """Look for new frames; return the number of frames."""
        steps = self.read(lambda file: layout.completed(file["frames/steps"][...], layout.STEP), newest=True)
        if self._stamp[0] != self._run:  # replaced by another run
            self._run = self._stamp[0]
            self._forget()
        self.steps = steps
        return len(steps)

    def nearest(self, moment: float) -> int:
        """Return the frame nearest to a time, the earlier of two equally near ones."""
        if not len(self.times):
            raise SolfecError(f"{self.file}: the results hold no frames")
        moment = min(max(moment, self.times[0]), self.times[-1])  # far from all frames, differences would be equal in rounding
        return int(np.argmin(np.abs(self.times - moment)))

    @cached_property
    def input_text(self) -> str:
        """Text of the input file."""
        with self.undamaged("input"):
            return bytes(self.table("model/input")).decode()

    @cached_property
    def arguments(self) -> list[str]:
        """The user's arguments."""
        with self.undamaged("arguments"):
            return json.loads(bytes(self.table("model/arguments")))

    @property
    def materials(self) -> dict:
        """Last stored bulk and surface materials: lists in the order of the rows that bodies and constraints refer to."""
        if not len(self.steps):
            return {"bulk": [], "surface": []}
        with self.undamaged("materials"):
            settings = self.settings(-1)
            return {kind: list(settings[f"{kind} materials"].values()) for kind in ("bulk", "surface")}

    @property
    def functions(self) -> Functions:
        """Time series and curves, by number."""
        index, knots = self.read(lambda file: (file["model/functions"][...], file["model/function_knots"][...]))
        with self.undamaged("model/functions"):
            Checks(self.file).functions(index, knots)
            return Functions(index, knots)

    def settings(self, number: int) -> dict:
        """Loads, materials and settings that hold in a frame."""
        row = int(self.steps["settings"][number])

        def text(file):
            first, length = self._datasets.whole("model/settings")[row]
            return bytes(self._datasets.rows("model/texts", first, length))

        with self.undamaged("settings"):
            return json.loads(self.read(text))

    @property
    def dynamic(self) -> bool:
        """Whether the analysis is dynamic; False for quasi-statics."""
        return self.read(lambda file: bool(file["model"].attrs["dynamic"]))

    @property
    def kernels(self) -> str:
        """Level of the kernels with which the run began; '' in older files."""
        return self.read(lambda file: layout.said(file, "kernels") or "")

    @property
    def written_by(self) -> str:
        """Version of the program that began the file."""
        return self.read(lambda file: layout.said(file, "solfec_version") or "unknown")

    @property
    def events(self) -> np.ndarray:
        """Births and deaths of bodies after the first frame, records of `layout.EVENT`; none in older results."""
        return self.read(lambda file: layout.completed(self._datasets.whole("frames/events"), layout.EVENT) if "frames/events" in file else np.zeros(0, layout.EVENT))

    def tensions(self, step: int) -> dict[tuple[int, int], float]:
        """Average tensions across cracks of rigid bodies in the frame of a step, by body and number of the crack; none in older results."""
        rows = self.read(lambda file: self._datasets.whole("frames/tensions") if "frames/tensions" in file else np.zeros(0, layout.TENSION))
        return {(body, crack): tension for body, crack, _, tension in rows[rows["step"] == step].tolist()}

    def fractures(self, body: int | None = None) -> list[Fracture]:
        """Records of fracture checks, of one body or of all; see `fractures.Fracture`."""
        with self.undamaged("frames/fractures"):
            return stored_fractures(self, body)

    @property
    def labels(self) -> dict[int, str]:
        """Labels by body identifier."""
        rows, texts = self.read(lambda file: (file["model/labels"][...], bytes(file["model/label_texts"][...])))
        with self.undamaged("labels"):
            Checks(self.file).spans("model/labels", rows["first"], rows["length"], len(texts))
            return {body: texts[first : first + length].decode() for body, first, length in rows.tolist()}

    def table(self, name: str) -> np.ndarray:
        """A whole dataset, 'model/vertices' say."""
        return self.read(lambda file: file[name][...])

    def definitions(self) -> np.ndarray:
        """Return records of `layout.DEFINITION` of all bodies there have been."""
        return self.read(lambda file: layout.completed(self._datasets.whole("model/bodies"), layout.DEFINITION))

    def frame(self, number: int) -> Frame:
        """Read all data of one frame; -1 is the last one, -2 the one before it."""
        if not hasattr(number, "__index__"):
            raise SolfecError(f"{self.file}: the number of a frame is a whole number, not {number!r}")
        if not -len(self.steps) <= number < len(self.steps):
            raise SolfecError(f"{self.file}: there is no frame {number}, the results hold {len(self.steps)}")
        step = self.steps[number]

        def rows(name, first, count):
            return self._datasets.rows("frames/" + name, step[first], count)

        def everything(file):
            listed = rows("body_lists", "list_first", step["bodies"])
            ends = layout_ends(listed, self._datasets.whole("model/bodies"))
            return Frame(
                step, listed,
                rows("bodies", "bodies_first", step["bodies"]),
                rows("configurations", "conf_first", ends[0]),
                rows("velocities", "velo_first", ends[1]),
                rows("constraints", "constraints_first", step["constraints"]),
                rows("user_constraints", "user_first", step["user"]),
                rows("factors", "factor_first", step["factor_nodes"]) if step["factor_nodes"] else None,
            )  # fmt: skip

        return self.read(everything)

    # -- tables, for pandas.DataFrame ------------------------------------------------------------------------

    def bodies(self, number: int = -1) -> dict[str, np.ndarray]:
        """Columns of a table of the bodies of a frame; see `tables.body_table`."""
        with self.undamaged("a frame"):
            return tables.body_table(self, number)

    def constraints(self, number: int = -1) -> dict[str, np.ndarray]:
        """Columns of a table of the constraints of a frame; see `tables.constraint_table`."""
        with self.undamaged("a frame"):
            return tables.constraint_table(self, number)

    def contacts(self, number: int = -1) -> dict[str, np.ndarray]:
        """Columns of a table of the contacts of a frame; see `tables.constraint_table`."""
        with self.undamaged("a frame"):
            return tables.constraint_table(self, number, contacts=True)

    def frames(self) -> dict[str, np.ndarray]:
        """Columns of a table of all frames; see `tables.frame_table`."""
        with self.undamaged("frames"):
            return tables.frame_table(self)

    def dataset(self, every: int = 1):
        """Frames and bodies of all frames, or of every N-th one, as an xarray.Dataset; see `dataset.dataset`."""
        return dataset(self, every)

    # -- access ---------------------------------------------------------------------------------------------

    def read(self, function, newest: bool = False):
        """Call `function(h5py file)` on a consistent state of the file, several times if a writer interferes; return its result.

        With `newest` it holds all frames that are complete now, else at least those that the last call saw.
        """
        failure: Exception | None = None
        stamp: tuple | None = None
        for attempt in range(ATTEMPTS):
            try:
                with self._snapshot.held() as journal:
                    stamp = self._snapshot.stamp()
                    length = journal_length(journal)
                    if stamp != self._stamp or (newest and length != self._length):
                        self._reopen(self._snapshot.target(journal), stamp)
                        self._length = length
                    value = function(self._hdf5)
                    if self._snapshot.stamp() == stamp:
                        return value
            except (OSError, RuntimeError, MemoryError, *DAMAGE) as error:
                failure = error
                self._stamp = ()
                if isinstance(error, SolfecError) or (attempt > 3 and stamp == self._snapshot.stamp()):
                    break
            time.sleep(0.001 * attempt)
        if isinstance(failure, SolfecError):
            raise failure
        raise SolfecError(f"{self.file}: cannot be read: {failure or 'it keeps changing'}") from failure

    def load(self, domain, number: int) -> None:
        """Set a domain's tables to a frame; see `restore.restore`."""
        with self.undamaged(f"frame {number}"):
            restore(self, domain, number)

    def history(self, items, start: float | None = None, end: float | None = None, skip: int = 1, progress=None) -> tuple:
        """Times and one array per item; see `history.history`."""
        return history(self, items, start, end, skip, progress)

    @contextmanager
    def undamaged(self, what: str):
        """Turn errors that numbers of a damaged file cause into SolfecError."""
        try:
            yield
        except DAMAGE as error:
            raise SolfecError(f"{self.file}: {what} cannot be read, the file seems damaged: {error}") from error

    def close(self) -> None:
        """Close the file."""
        if self._hdf5 is not None:
            self._hdf5.close()
            self._hdf5 = self._datasets = None
            self._stamp = ()

    def __enter__(self) -> ResultsReader:
        return self

    def __exit__(self, *exception) -> None:
        self.close()

    def _forget(self) -> None:
        for name in ("input_text", "arguments"):
            self.__dict__.pop(name, None)

    def _reopen(self, target, stamp: tuple) -> None:
        self.close()
        file = opened(target)
        name = layout.said(file, "format")
        if name != layout.FORMAT:
            file.close()
            raise SolfecError(f"{self.file}: not a results file of this program (attribute format is {name!r})")
        version, program = int(file.attrs["format_version"]), layout.said(file, "solfec_version")
        if not layout.OLDEST <= version <= layout.VERSION:
            file.close()
            advice = "please use a newer one" if version > layout.VERSION else "please use that one, or compute again (-w)"
            raise SolfecError(
                f"{self.file}: written in format version {version} by solfec {program}; this program reads version "
                f"{' to '.join(str(v) for v in sorted({layout.OLDEST, layout.VERSION}))}, {advice}"
            )
        try:
            refuse_foreign(file, self.file)
        except BaseException:
            file.close()
            raise
        self._hdf5, self._datasets, self._stamp = file, Datasets(file), stamp


def layout_ends(listed: np.ndarray, definitions: np.ndarray) -> tuple[int, int]:
    """Numbers of configuration and velocity rows of a frame with these bodies."""
    if not len(listed):
        return 0, 0
    last = listed[-1]
    defined = definitions[last["definition"]]
    modes = defined["mode_count"] if "mode_count" in defined.dtype.names else 0  # older results have no bases
    size = int(defined["kind"]), int(defined["node_count"]), int(modes)
    return int(last["conf_first"] + conf_triples(*size)), int(last["velo_first"] + velo_triples(*size))
