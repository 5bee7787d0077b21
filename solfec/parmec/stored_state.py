"""Storage of a model's state in a group of an HDF5 file, frame by frame: state for the next step, and results."""

from __future__ import annotations

import h5py
import numpy as np

from ..errors import SolfecError
from ..results import layout
from ..results.frame_file import FrameFile
from ..tables import rows_first
from .model import Model

STATE = {  # columns that runs change; None: all
    "control": None,
    "particles": ("driven", "position", "rotation", "velocity", "angular", "spin", "force", "torque",
                  "impulse", "angular_impulse", "work", "first_contact", "contacts"),
    "links": ("status", "length", "stroke", "elastic", "total", "friction", "force"),
    "laws": ("yielded", "limit", "loaded", "last_stroke", "last_force", "slip"),
    "drives": ("linear", "angular"),
    "torsions": ("angle", "elastic", "total", "torque"),
    "joints": ("reaction",),
    "releases": ("exceeded", "done"),
    "obstacles": ("point", "linear", "angular", "moved"),
    "triangles": ("corner", "searched"),
    "spheres": None,
    "contacts": None,
    "contact_ends": None,
}
LISTS = ("spheres", "contacts", "contact_ends")  # tables whose rows change in a run
INPUTS = {  # columns that are stored, but not restored: the input or its functions give them again
    "control": ("duration", "adaptive", "longest", "gravity", "gravity_curve", "linear_damping", "linear_damping_curve", "angular_damping",
                "angular_damping_curve", "damped", "sample_interval", "output_interval"),
    "drives": ("linear", "angular"),
    "obstacles": ("linear", "angular"),
}  # fmt: skip
REBUILT = ("ends", "batches", "joint_groups", "joint_order")  # tables that are made from others before a kernel call
OWN = {"particles": ("held", "first_end", "ends", "point_map"), "links": ("pull", "lever"), "joints": ("restraint",)}  # columns that are made from others
CHUNK = 1 << 16  # bytes of a chunk of a dataset
SCALARS = [("run", "<i4"), ("finished", "<i4"), ("frame", "<i4"), ("files", "<i4"), ("definition", "<i4"), ("time", "<f8"), ("label", "<f8"), ("step", "<f8"),
           ("steps", "<i8"), ("kinetic", "<f8"), ("touching", "<i4"), ("probes", "<i4"), ("samples", "<i4"), ("samples_first", "<i8"),
           ("seconds", "<f8"), ("exchange", "<f8", (14,))]  # fmt: skip
STEP = np.dtype(SCALARS + [item for name in STATE for item in ((name, "<i4"), (f"{name}_first", "<i8"))])
DESCRIPTIONS = {
    "frames/steps": "one record a frame: the call of DEM, whether it was finished, output files written before, times, kinetic energy, rows of tables",
    "frames/samples": "what histories recorded between two frames: probes times samples numbers, those of a probe in a row",
    "model": "what runs do not change, by number of its definition; frames name theirs",
}


def columns_of(model: Model, name: str) -> tuple[str, ...]:
    """Return the columns of a table that runs change."""
    return STATE[name] or tuple(getattr(model, name).COLUMNS)


def fixed_columns(model: Model) -> dict[str, np.ndarray]:
    """Return all other columns by table/column, rows first."""
    tables = {name: table for name, table in vars(model).items() if table in model.tables}
    fixed = {}
    for name, table in tables.items():
        if name in REBUILT:
            continue
        left = (*columns_of(model, name), *OWN.get(name, ())) if name in STATE else ()
        fixed |= {f"{name}/{column}": rows_first(table.view(column)) for column in table.COLUMNS if column not in left}
    return fixed


def kinetic_energy(model: Model) -> float:
    """Return the kinetic energy of all particles at the end of the last step [energy]."""
    p = model.particles
    linear = (p.view("mass") * (p.view("velocity") ** 2).sum(axis=0)).sum()
    angular = p.view("angular")
    return 0.5 * float(linear + np.einsum("in,ijn,jn->", angular, p.view("inertia"), angular))


class Recorded:
    """Numbers of samples of histories that are in frames.

    Parameters
    ----------
    model : Model
    """

    def __init__(self, model: Model):
        self._histories = model.histories
        self._counts = [len(values) for values in model.histories]

    def fresh(self) -> np.ndarray:
        """Return numbers (probes, samples) since the last call; none for lists that a user has emptied."""
        self._counts += [0] * (len(self._histories) - len(self._counts))
        fresh = [values[first:] for values, first in zip(self._histories, self._counts)]
        self._counts = [len(values) for values in self._histories]
        return np.array(fresh, float) if len({len(values) for values in fresh}) == 1 else np.zeros((0, 0))


class FrameStore:
    """Writer of frames of one model.

    Parameters
    ----------
    file : FrameFile
    group : str, optional
        Name of the group that holds them; default: the whole file.
    """

    def __init__(self, file: FrameFile, group: str = ""):
        self._file, self._place = file, group + "/" if group else ""
        self._columns = file.columns
        here = file.hdf5.require_group("/" + group)
        self._laid_out = "frames" in here
        self._definition: dict[str, np.ndarray] = {}
        self._definitions = len(here["model"]) if "model" in here else 0

    def __len__(self) -> int:
        return self._columns[self._place + "frames/steps"].length if self._laid_out else 0

    def append(self, model: Model, samples: np.ndarray, **facts: float | np.ndarray) -> None:
        """Store the present state, and samples (probes, samples) of histories since the last frame.

        `facts` are scalars of the frame: ``run``, ``finished``, ``frame``, ``seconds``, ``exchange``.
        """
        if not self._laid_out:
            self._lay_out(model)
        place, columns = self._place + "frames/", self._columns
        row = np.zeros(1, STEP)
        control = model.control
        for name, value in facts.items():
            row[name] = value
        row["files"] = 0 if model.writer is None else model.writer.frames
        row["definition"] = self._define(model)
        row["time"], row["label"], row["step"], row["steps"] = control.time[0], control.label[0], control.step[0], control.steps[0]
        row["kinetic"], row["touching"] = kinetic_energy(model), model.contacts.view("alive").sum()
        row["probes"], row["samples"] = samples.shape
        row["samples_first"] = columns[place + "samples"].append(samples.ravel())
        for name in STATE:
            table = getattr(model, name)
            row[name] = table.n
            for column in columns_of(model, name):
                row[f"{name}_first"] = columns[f"{place}{name}/{column}"].append(rows_first(table.view(column)))
        columns[place + "steps"].append(row)

    def _lay_out(self, model: Model) -> None:
        """Create empty datasets."""
        group, self._laid_out = self._file.hdf5["/" + self._place], True
        for path, text in DESCRIPTIONS.items():
            if path == "model":
                layout.say(group.create_group(path).id, "description", text)
            else:
                dtype = STEP if path.endswith("steps") else np.dtype("<f8")
                made = group.create_dataset(path, (0,), dtype, maxshape=(None,), chunks=(max(1, CHUNK // dtype.itemsize // 8),))
                layout.say(made.id, "description", text)
        for name in STATE:
            table = getattr(model, name)
            for column in columns_of(model, name):
                shape, kind, _ = table.COLUMNS[column]
                size = np.dtype(kind).itemsize * int(np.prod(shape, dtype=int))
                rows = min(max(table.n, 1), max(1, CHUNK // size)) if name not in LISTS else CHUNK // size // 8
                group.create_dataset(f"frames/{name}/{column}", (0, *shape), kind, maxshape=(None, *shape), chunks=(rows, *shape))

    def _define(self, model: Model) -> int:
        """Return the number of the stored definition of the model; store a new one if the user has changed the model."""
        fixed = fixed_columns(model)
        if not self._definition and self._definitions:
            group = self._file.hdf5[f"{self._place}model/{self._definitions - 1}"]
            self._definition = {path: group[path][...] for path in fixed}
        known = self._definition
        if not known or any(known[path].shape != values.shape or not (known[path] == values).all() for path, values in fixed.items()):
            group = self._file.hdf5.create_group(f"{self._place}model/{self._definitions}")
            for path, values in fixed.items():
                group[path] = values
            self._definition = {path: values.copy() for path, values in fixed.items()}
            self._definitions += 1
        return self._definitions - 1


class StoredFrames:
    """Reader of frames of one model.

    Parameters
    ----------
    group : h5py.Group
        The group that holds them.
    """

    def __init__(self, group: h5py.Group):
        self.group = group

    @property
    def steps(self) -> np.ndarray:
        """Records of all frames."""
        return self.group["frames/steps"][...] if "frames" in self.group else np.zeros(0, STEP)

    def samples(self, row: np.void) -> np.ndarray:
        """Return records of histories before a frame, (probes, samples)."""
        first = int(row["samples_first"])
        return self.group["frames/samples"][first : first + int(row["probes"]) * int(row["samples"])].reshape(row["probes"], row["samples"])

    def column(self, name: str, column: str, row: np.void) -> np.ndarray:
        """Return a column of a frame, rows first."""
        first = int(row[f"{name}_first"])
        return self.group[f"frames/{name}/{column}"][first : first + int(row[name])]

    def fixed(self, path: str, row: np.void) -> np.ndarray:
        """Return a column that runs do not change, rows first."""
        return self.group[f"model/{row['definition']}/{path}"][...]

    def give_back(self, model: Model, rows) -> None:
        """Append records of histories before frames to the lists of a model."""
        for row in rows:
            for recorded, values in zip(model.histories, self.samples(row).tolist()):
                recorded.extend(values)

    def load(self, model: Model, row: np.void, file: str) -> None:
        """Restore a frame in a model that the input has built again.

        Raises
        ------
        SolfecError
            The model has other particles, springs or joints.
        """
        for name in STATE:
            table = getattr(model, name)
            if name in LISTS:
                table.n = 0
                table.append(int(row[name]))
            elif table.n != row[name]:
                raise SolfecError(f"{file}: the run had {row[name]} rows of {name}, the input makes {table.n}; do they belong together?")
        self._compare(model, row, file)
        for name in STATE:
            for column in (column for column in columns_of(model, name) if column not in INPUTS.get(name, ())):
                getattr(model, name).view(column)[...] = np.moveaxis(self.column(name, column, row), 0, -1)
        model.unsettle()

    def _compare(self, model: Model, row: np.void, file: str) -> None:
        """Raise an error if particles or springs differ from those at the start of the stored run."""
        for path, what in (("particles/kind", "particle"), ("particles/reference", "particle"), ("links/particle", "spring"),
                           ("torsions/particle", "torsion spring"), ("joints/particle", "joint")):  # fmt: skip
            name, column = path.split("/")
            stored, built = self.fixed(path, row), np.moveaxis(getattr(model, name).view(column), -1, 0)
            differ = np.flatnonzero((stored != built).any(axis=tuple(range(1, built.ndim))))
            if differ.size:
                k = differ[0]
                raise SolfecError(
                    f"{file}: {what} {k} was another one when the run began ({column} was {shown(stored[k])}, the input makes {shown(built[k])});"
                    " do they belong together?"
                )


def shown(value) -> str:
    """Format numbers for a message."""
    return " ".join(f"{number:g}" for number in np.ravel(value))
