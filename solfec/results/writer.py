"""Writing results, frame by frame."""

from __future__ import annotations

import errno
import json
import os
from contextlib import contextmanager, suppress

import h5py
import numpy as np

from .. import kernel_level
from .._version import version
from ..bodies import implicit
from ..directories import check_place
from ..errors import SolfecError
from ..kinds import Energy
from . import fractures, layout, meshes, open_files, settings, shapes
from .bases import BaseRows
from .frame_file import FrameFile, finish_interrupted
from .functions import Functions
from .journal import Busy, journal_path
from .pieces import Listing, Pieces
from .reader import DAMAGE, ResultsReader
from .records import RunRecord, constraint_records, describe_step, user_records
from .validation import Checks, refuse_foreign

SMALLEST_CHUNK, LARGEST_CHUNK = 8192, 1 << 19  # bytes
ONE_FRAME_DATASETS = {  # dataset: rows of a frame, from (bodies, constraints, user's constraints)
    "frames/bodies": lambda b, c, u: b,
    "frames/configurations": lambda b, c, u: 4 * b,
    "frames/velocities": lambda b, c, u: 2 * b,
    "frames/constraints": lambda b, c, u: max(c, 2 * b),
    "frames/user_constraints": lambda b, c, u: u,
}


class ResultsWriter:
    """Writer of `<path>/<name>.h5`, frame by frame, and of the copy of the input beside it.

    Use `create` or `append`.  Earlier results and their input copy stay until the first new frame is
    complete and are then replaced by renaming.

    Attributes
    ----------
    compression : bool
        Compress the frames (docs/language-running.md, OUTPUT); takes effect when set before the first frame.
    file : str
        The results file.
    """

    def __init__(self, path: str, input_text: str = "", arguments: list[str] | None = None, keep_old: bool = False):
        self.path = os.path.abspath(path)
        self.file = layout.results_file(path)
        self.compression = False
        self.frames = 0
        self.last_time: float | None = None
        self._input_text = input_text
        self._arguments = list(arguments or [])
        self._keep_old = keep_old
        self._out: FrameFile | None = None
        self._columns: dict = {}
        self._list = np.empty(0, layout.LISTED)
        self._list_first = 0
        self._factor: np.ndarray | None = None  # last displacements stored in frames/factors
        self._factor_first = 0
        self._defined = np.empty(0, layout.DEFINITION)  # those of the bodies in the last frame
        self._defined_bytes: list[bytes] = []  # the same, column by column
        self._listing: Listing | None = None  # in place of these three, of frames in pieces
        self._deleted = 0
        self._last_id = 0  # largest identifier of a body whose shape is stored
        self._functions = Functions()
        self._settings: tuple = ()  # fingerprint of the last settings, their text and their row
        self._settings_text, self._settings_row = "", -1
        self._room = np.empty(0, layout.CONSTRAINT)
        self._bases = BaseRows()
        self._failed = False
        self._left: tuple = ()  # marks of the file as `close` left it, with the last row of frames/steps
        self._last_step = b""

    @classmethod
    def create(
        cls, path: str, input_text: str = "", arguments: list[str] | None = None, keep_old: bool = False
    ) -> ResultsWriter:
        """Begin new results in directory `path`; nothing is written before the first frame.

        With `keep_old` earlier results are renamed to those of the directory `<path>.old`, which are removed.

        Raises
        ------
        SolfecError
            When the directory cannot be written or another process is writing these results.
        """
        writer = cls(path, input_text, arguments, keep_old)
        check_place(writer.path)
        if os.path.isdir(writer.file):
            raise SolfecError(f"{writer.path}: cannot hold results, since {writer.file} is a directory")
        writer._finish_interrupted()
        return writer

    @classmethod
    def append(cls, path: str) -> ResultsWriter:
        """Continue the results in directory `path`, also after their writer was killed.

        Raises
        ------
        SolfecError
            When there are none, they are damaged, or another process is writing them.
        """
        with ResultsReader(path) as reader:
            if not len(reader.times):
                raise SolfecError(f"{reader.file}: the results hold no frames")
        writer = cls(path)
        try:
            writer._open()
            writer._resume()
        except SolfecError:
            writer._give_up(False)
            raise
        except OSError as error:
            writer._give_up(False)
            raise writer._failure("the results cannot be continued", error) from error
        except (RuntimeError, *DAMAGE) as error:
            writer._give_up(False)
            raise SolfecError(f"{writer.file}: the results cannot be continued, the file seems damaged: {error}") from error
        return writer

    def write_frame(self, domain, run: RunRecord | None = None, pieces: Pieces | None = None) -> None:
        """Append the present state of a domain; once this returns, the frame survives the end of the process.

        Parameters
        ----------
        domain : Domain
        run : RunRecord, optional
            Data of the run that the frame stores.
        pieces : Pieces, optional
            Bodies and contacts, if the domain does not have them; it has the user's constraints, and bodies with loads.

        Raises
        ------
        SolfecError
            When the frame cannot be written, for example to a full disk.  Frames written before remain readable.
        """
        if self._failed:
            raise SolfecError(f"{self.file}: writing failed before; no more frames are written")
        fresh = self._out is None and not self._left
        open_files.wake(self)
        try:
            if fresh:
                self._begin(domain, pieces.sizes if pieces else (domain.bodies.n, domain.constraints.n, domain.constraints.user_count))
            elif self._out is None:
                self._reopen()
            elif self._out.resting and not self._out.wake():
                self._out.close()
                self._out = None
                self._reopen()
            self._store(domain, run or RunRecord(), pieces)
            self._out.commit()
            if fresh:
                self._install()
        except (OSError, RuntimeError) as error:
            cause = (self._out.error if self._out is not None else None) or error
            failure = self._failure(f"the frame at time {domain.time:g} cannot be written", cause)
            self._give_up(fresh)
            raise failure from cause
        except BaseException:  # also interrupts: `close` must not commit half a frame
            self._give_up(fresh)
            raise
        self.frames += 1
        self.last_time = domain.time

    def rest(self) -> None:
        """Bring the file into the state of a closed one, and keep it open for the next frame while few others are.

        Raises
        ------
        SolfecError
            When frames cannot be put into their datasets, for example on a full disk; they can still be read.
        """
        if self._out is not None and not self._out.resting:
            with self._completing(self._out):
                self._out.rest()
            self._left = self._marks()
            open_files.rest(self)

    def close(self) -> None:
        """Close the file; the next frame opens it again.

        Raises
        ------
        SolfecError
            As `rest`.
        """
        open_files.wake(self)
        out, self._out = self._out, None
        self._columns = {}
        if out is None:
            return
        rested = out.resting
        with self._completing(out):
            out.close()
        if not rested:
            self._left = self._marks()

    @contextmanager
    def _completing(self, out: FrameFile):
        try:
            yield
        except (OSError, RuntimeError) as error:
            failure = self._failure("the results cannot be completed", out.error or error)
            self._give_up(False)
            raise failure from error

    def __enter__(self) -> ResultsWriter:
        return self

    def __exit__(self, *exception) -> None:
        self.close()

    # -- files ----------------------------------------------------------------------------------------------

    def _open(self, fresh: bool = False) -> h5py.File:
        """Open the results, or new ones beside them; return the file to read and to lay it out."""
        self._out = FrameFile(self.file + ".new" if fresh else self.file, fresh)
        self._columns = self._out.columns
        return self._out.hdf5

    def _marks(self) -> tuple:
        """Numbers that change when another process writes the file."""
        try:
            status = os.stat(self.file)
        except OSError:  # for example, their directory has been renamed
            return (None,)
        return status.st_dev, status.st_ino, status.st_size

    def _reopen(self) -> None:
        """Open the file again that `close` has closed."""
        changed = OSError(errno.ESTALE, "somebody else has changed or replaced them since this run wrote its last frame")
        if self._marks() != self._left:
            raise changed
        steps = self._open()["frames/steps"]
        if len(steps) != self.frames or steps[-1].tobytes() != self._last_step:  # wall times in it tell runs apart
            raise changed

    def _finish_interrupted(self) -> None:
        """Put what a killed writer left in the journal of old results into them, so that it can be removed."""
        if os.path.exists(journal_path(self.file)) and os.path.exists(self.file):
            try:
                finish_interrupted(self.file)
            except Busy as error:
                raise SolfecError(f"{self.file}: {error.strerror}") from error
            except OSError as error:
                raise self._failure("the results cannot be replaced", error) from error

    def _begin(self, domain, sizes: tuple[int, int, int]) -> None:
        """Open a new file beside the old one and lay it out for frames of so many bodies, constraints, and constraints of the user."""
        os.makedirs(self.path, exist_ok=True)
        self._finish_interrupted()
        file = self._open(fresh=True)
        for name, text in (("format", layout.FORMAT), ("solfec_version", version), ("units", layout.UNITS), ("kernels", kernel_level.chosen)):
            layout.say(file.id, name, text)
        file.attrs["format_version"] = layout.VERSION
        model = file.create_group("model")
        model.attrs["epsilon"] = domain.epsilon
        model.attrs["dynamic"] = domain.dynamic
        input_text = self._input_text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        for name, text in (("input", input_text), ("arguments", json.dumps(self._arguments))):
            model[name] = np.frombuffer(text.encode(), "u1")
            layout.say(model[name].id, "description", f"bytes (UTF-8) of the {name}")
        for name, (dtype, *_) in layout.DATASETS.items():
            rows = ONE_FRAME_DATASETS[name](*sizes) if name in ONE_FRAME_DATASETS else 0
            chunk = _chunk(rows, dtype.itemsize)
            layout.describe(self._columns.make(name, dtype, chunk, self.compression), name)

    def _install(self) -> None:
        """Replace old results by the new file, whose first frame is complete, and write the input copy beside it."""
        copy = self.file[: -len(".h5")] + ".py"
        if self._input_text:
            with suppress(FileNotFoundError):
                os.unlink(copy + ".new")  # it may be a link to another file
            with open(copy + ".new", "x", encoding="utf-8", errors="surrogateescape", newline="") as file:
                file.write(self._input_text)
        if self._keep_old:
            self._set_aside()
        self._out.rename(self.file)
        if self._input_text:
            os.replace(copy + ".new", copy)

    def _set_aside(self) -> None:
        """Rename earlier results and their input copy to those of `<path>.old`; one generation is kept."""
        if not os.path.exists(self.file):
            return
        directory = self.path + ".old"
        os.makedirs(directory, exist_ok=True)
        old = layout.results_file(directory)
        with suppress(FileNotFoundError):
            os.unlink(journal_path(old))
        os.replace(self.file, old)
        copy, old_copy = (name[: -len(".h5")] + ".py" for name in (self.file, old))
        if os.path.exists(copy):
            os.replace(copy, old_copy)
        elif os.path.exists(old_copy):
            os.unlink(old_copy)  # that of the generation before

    def _resume(self) -> None:
        """Set counters to those of the last frame."""
        file = self._out.hdf5
        refuse_foreign(file, self.file)
        missing = [name for name in layout.DATASETS if name not in file]
        other = [name for name, (dtype, *_) in layout.DATASETS.items() if name not in missing and file[name].dtype != dtype.base]
        if missing or other:
            raise SolfecError(
                f"{self.file}: written by version {layout.said(file, 'solfec_version')} with other contents "
                f"({', '.join(missing + other)}); results of another version can be read, but not continued"
            )
        for name in layout.DATASETS:
            if file[name].maxshape[0] is not None:
                raise SolfecError(f"{self.file}: /{name} cannot grow, the file seems damaged; it can be read, but not continued")
        functions = file["model/functions"][...], file["model/function_knots"][...]
        Checks(self.file).functions(*functions)
        self._functions = Functions(*functions)
        self._settings_row = len(file["model/settings"]) - 1
        first, length = file["model/settings"][self._settings_row]
        self._settings_text = bytes(file["model/texts"][first : first + length]).decode()
        steps = file["frames/steps"]
        last = steps[-1]
        self.frames = len(steps)
        self.last_time, self._last_step = float(last["time"]), last.tobytes()
        self._list_first = int(last["list_first"])
        self._list = file["frames/body_lists"][self._list_first : self._list_first + last["bodies"]]
        if last["factor_nodes"]:
            self._factor_first = int(last["factor_first"])
            self._factor = file["frames/factors"][self._factor_first : self._factor_first + last["factor_nodes"]].T
        definitions = file["model/bodies"][...]
        self._last_id = int(definitions["id"].max(initial=0))
        self._deleted = int(steps["deleted"].sum())
        Checks(self.file).within("frames/body_lists: definition", self._list["definition"], 0, len(definitions))
        self._defined = definitions[self._list["definition"]]
        self._defined_bytes = [np.moveaxis(self._defined[name], 0, -1).T.tobytes() for name in layout.DEFINITION_COLUMNS]

    def _failure(self, what: str, cause: OSError) -> SolfecError:
        reason = getattr(cause, "strerror", None) or str(cause)
        spoilt = getattr(cause, "errno", None) in (errno.ESTALE, errno.ENOENT)  # by other processes
        intact = self.last_time is not None and not spoilt and os.path.exists(self.file)
        kept = f"; the frames up to time {self.last_time:g} are intact" if intact else ""
        return SolfecError(f"{self.file}: {what}: {reason}{kept}")

    def _give_up(self, fresh: bool) -> None:
        """Restore the file to its last complete frame."""
        self._failed = True
        if self._out is None:
            return
        self._out.abandon()
        self._out = None
        if fresh:
            with suppress(FileNotFoundError):
                os.unlink(self.file[: -len(".h5")] + ".py.new")

    # -- frames ---------------------------------------------------------------------------------------------

    def _store(self, domain, run: RunRecord, pieces: Pieces | None) -> None:
        """Append one frame to all datasets."""
        row: dict = {}
        born, figures = self._store_whole(domain, row) if pieces is None else self._store_pieces(domain, row, pieces)
        self._store_events(domain)
        self._store_fractures(domain)
        self._store_tensions(domain)
        self._store_settings(domain, run)
        row["settings"] = self._settings_row
        row["born"] = born if self.frames else 0
        row["deleted"] = domain.deleted_bodies - self._deleted
        self._deleted = domain.deleted_bodies
        self._store_factor(domain, row)
        if run.companion is not None:
            run.companion.store(self._out, self.frames)
        row |= describe_step(domain, run) | figures
        record = np.array([tuple([row.get(name, 0) for name in layout.STEP.names])], layout.STEP)  # field by field costs three times as much
        self._columns["frames/steps"].append(record)
        self._last_step = record.tobytes()

    def _store_whole(self, domain, row: dict) -> tuple[int, dict]:
        """Store bodies and constraints of a domain; return the number of new bodies, and figures of the frame beside those of the domain: none."""
        bodies, constraints = domain.bodies, domain.constraints
        born = self._store_model(domain)
        self._store_list(bodies)
        row["list_first"] = self._list_first
        row["bodies"] = bodies.n
        row["bodies_first"], row["conf_first"], row["velo_first"] = self._store_states(bodies)
        row["constraints"], row["user"] = constraints.n, constraints.user_count
        row["constraints_first"] = self._columns["frames/constraints"].append(
            constraint_records(constraints, domain, self._room_for(constraints.n))
        )
        row["user_first"] = self._columns["frames/user_constraints"].append(user_records(constraints, self._functions))
        return born, {}

    def _store_states(self, bodies) -> tuple[int, int, int]:
        """Store the states of bodies; return the first rows of the datasets."""
        columns = self._columns
        return (
            columns["frames/bodies"].append(bodies.pack(slice(0, bodies.n), layout.BODY_STATE, dtype=layout.BODY)),
            columns["frames/configurations"].append(bodies.configurations.view("conf").T),
            columns["frames/velocities"].append(bodies.triples.view("velo").T),
        )

    def _store_pieces(self, domain, row: dict, pieces: Pieces) -> tuple[int, dict]:
        """Store bodies and contacts piece by piece, and the user's constraints of a domain; return the number of new bodies, and figures of the whole frame."""
        self._out.begin_spilling()
        columns, constraints = self._columns, domain.constraints
        if self._listing is None:
            self._listing = Listing(self._list, self._defined)
            self._defined, self._defined_bytes = self._defined[:0], []
        names = ("bodies", "conf", "velo"), ("frames/bodies", "frames/configurations", "frames/velocities")
        for name, dataset in zip(*names, strict=True):
            row[name + "_first"] = columns[dataset].length
        self._listing.begin(pieces.sizes[0])
        born = 0
        for piece in pieces.bodies():
            born += self._store_model(piece)
            self._listing.add(piece.bodies, columns["model/bodies"])
            self._store_states(piece.bodies)
            self._out.spill()
        changed, energy = self._listing.end()
        if changed:
            self._list_first = columns["frames/body_lists"].append(self._listing.listed)
            self._out.spill()
        row["list_first"] = self._list_first
        row["bodies"], row["constraints"], row["user"] = pieces.sizes
        row["constraints_first"] = columns["frames/constraints"].append(constraint_records(constraints, domain, rows=slice(0, constraints.user_count)))
        row["user_first"] = columns["frames/user_constraints"].append(user_records(constraints, self._functions))
        count, least = 0, np.inf
        for records in pieces.contacts():
            count, least = count + len(records), min(least, records["gap"].min(initial=np.inf))
            columns["frames/constraints"].append(records)
            self._out.spill()
        energy[Energy.CONTACT], energy[Energy.FRICTION] = domain.contact_energy, domain.friction_energy
        return born, {"contacts": count, "minimum_gap": least if count else 0.0, "energy": energy}

    def _room_for(self, constraints: int) -> np.ndarray:
        """Return memory for records of constraints; it is kept between frames, since new pages cost as much as the packing."""
        if len(self._room) < constraints:
            self._room = np.empty(constraints + constraints // 4, layout.CONSTRAINT)
        return self._room

    def _store_factor(self, domain, row: dict) -> None:
        """Store the displacements to which the factor of implicit bodies belongs, unless they equal those of the last frame."""
        memory = implicit.memory(domain.bodies, domain.step, domain.dynamic)
        if memory is None:
            return
        if self._factor is None or not np.array_equal(self._factor, memory.displacement):
            self._factor_first = self._columns["frames/factors"].append(memory.displacement.T)
            self._factor = memory.displacement
        row["factor_nodes"], row["factor_first"] = memory.displacement.shape[1], self._factor_first
        row["factor_fewest"], row["factor_spent"], row["factor_pivoted"] = memory.fewest, memory.spent, memory.pivoted

    def _store_model(self, domain) -> int:
        """Store shapes and labels of new bodies; return their number."""
        bodies = domain.bodies
        first = int(np.searchsorted(bodies.view("id"), self._last_id, side="right"))
        born = bodies.n - first
        if born:
            packed = shapes.pack(bodies, domain.geometry, first)
            for part in layout.PARTS:
                packed["shapes"][part + "_first"] += self._columns["model/" + part].length
            for name, rows in packed.items():
                self._columns["model/" + name].append(rows)
            lengths = {part: self._columns["model/" + part].length for part in layout.MESH_PARTS}
            fragments = {body: domain.body_meshes[body] for body in domain.lives.parents if body in domain.body_meshes}
            for name, rows in meshes.pack(bodies, domain.geometry, first, lengths, domain.bulk_materials, fragments).items():
                self._columns["model/" + name].append(rows)
            for name, rows in self._bases.pack(bodies, first, self._columns["model/base_numbers"].length).items():
                self._columns["model/" + name].append(rows)
            self._last_id = int(bodies.id[bodies.n - 1])
        if born:
            new = bodies.id[first : bodies.n].tolist()
            labelled = [identifier for identifier in new if identifier in domain.body_labels]
            texts = self._store_texts("label_texts", [domain.body_labels[identifier] for identifier in labelled])
            self._columns["model/labels"].append(np.array([(i, *t) for i, t in zip(labelled, texts)], layout.LABEL))
        return born

    def _store_events(self, domain) -> None:
        """Store births and deaths since the last frame."""
        column = self._columns["frames/events"]
        new = domain.lives.events[column.length :]
        column.append(np.array([tuple(vars(event).values()) for event in new], layout.EVENT))

    def _store_fractures(self, domain) -> None:
        """Store records of fracture checks since the last frame, and remove them from the domain."""
        if domain.fractures.records:
            lengths = (self._columns["frames/" + name].length for name in ("fracture_nodes", "fracture_constraints"))
            for name, rows in fractures.pack(domain.fractures.records, *lengths).items():
                self._columns["frames/" + name].append(rows)
            domain.fractures.records.clear()

    def _store_tensions(self, domain) -> None:
        """Store the average tensions across cracks of rigid bodies."""
        rows = [(*key, domain.step_number, tension) for key, tension in domain.cracks.tensions.items()]
        if rows:
            self._columns["frames/tensions"].append(np.array(rows, layout.TENSION))

    def _store_texts(self, name: str, texts: list[str]) -> list[tuple[int, int]]:
        """Append texts; return the first byte and the number of bytes of each."""
        data = [text.encode("utf-8", "replace") for text in texts]
        lengths = [len(item) for item in data]
        first = self._columns["model/" + name].append(np.frombuffer(b"".join(data), "u1"))
        return list(zip((first + np.cumsum([0, *lengths])[:-1]).tolist(), lengths))

    def _store_settings(self, domain, run: RunRecord) -> None:
        """Store settings that have changed, and new functions that they or constraints refer to."""
        present = settings.fingerprint(domain, run.solver)
        if present != self._settings:
            self._settings = present
            text = json.dumps(settings.describe(domain, self._functions, run.solver))
            if text != self._settings_text:
                self._settings_text = text
                self._settings_row = self._columns["model/settings"].append(np.array(self._store_texts("texts", [text]), layout.TEXT))
        index, knots = self._functions.take_fresh(self._columns["model/function_knots"].length)
        self._columns["model/functions"].append(index)
        self._columns["model/function_knots"].append(knots)

    def _store_list(self, bodies) -> None:
        """Store the list of the frame's bodies, unless it equals that of the last frame."""
        count = bodies.n
        defined = [getattr(bodies, name)[..., :count].T.tobytes() for name in layout.DEFINITION_COLUMNS]
        if defined == self._defined_bytes:
            return
        records = bodies.pack(slice(0, count), layout.DEFINITION_COLUMNS)
        listed = np.zeros(bodies.n, layout.LISTED)
        listed["id"] = records["id"]
        listed["conf_first"] = bodies.view("conf_ptr")
        listed["velo_first"] = bodies.view("velo_ptr")
        new = np.ones(bodies.n, bool)
        if len(self._list):
            place = np.minimum(np.searchsorted(self._list["id"], records["id"]), len(self._list) - 1)
            same = (self._list["id"][place] == records["id"]) & (self._defined[place] == records)
            listed["definition"][same] = self._list["definition"][place[same]]
            new = ~same
        first = self._columns["model/bodies"].append(records[new])
        listed["definition"][new] = first + np.arange(new.sum())
        self._list = listed
        self._list_first = self._columns["frames/body_lists"].append(listed)
        self._defined, self._defined_bytes = records, defined


def _chunk(rows: int, itemsize: int) -> int:
    """Number of rows of a chunk: frames with as many rows as the first one fill whole chunks, which are written once."""
    size = max(rows * itemsize, SMALLEST_CHUNK)
    pieces = -(-size // LARGEST_CHUNK)
    return max(1, -(-size // (pieces * itemsize)))
