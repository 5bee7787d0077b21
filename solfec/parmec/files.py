"""Output files of DEM: XDMF with HDF5, legacy VTK, LAMMPS' text format, and MED."""

from __future__ import annotations

import os
import re
from contextlib import contextmanager, suppress
from html import escape

import h5py
import numpy as np

from ..directories import make_directory_of
from ..errors import SolfecError
from ..results.journal import Busy, JournalledFile
from ..results.reader import DAMAGE
from .frames import Block, blocks, members
from .med_files import cut_med, files_of, remove_med, write_med
from .model import Model

HEADER = '<?xml version="1.0"?>\n<Xdmf Version="3.0">\n <Domain>\n  <Grid Name="frames" GridType="Collection" CollectionType="Temporal">\n'
FOOTER = "  </Grid>\n </Domain>\n</Xdmf>\n"
FORMATS = ("DUMP", "VTK", "XDMF", "MED", "HDF5")
SUFFIXES = ("", "rb", "sp", "sl", "cd", "st", "jt")


class Writer:
    """Writes frames of a model.

    Parameters
    ----------
    model : Model
    stem : str
        Path of the files without number of the set, suffix and extension.
    """

    def __init__(self, model: Model, stem: str):
        self.model, self.stem = model, stem
        self.frames = 0

    def write(self) -> None:
        """Write one frame of every set in every format; SolfecError when that fails."""
        try:
            self._write()
        except (OSError, RuntimeError) as error:
            raise SolfecError(f"DEM: files {self.stem}* cannot be written: {getattr(error, 'strerror', None) or error}") from error

    def _write(self) -> None:
        make_directory_of(self.stem)
        if self.frames == 0:
            self._remove_old()
        model, label = self.model, float(self.model.control.label[0])
        for number, (one, particles) in enumerate(zip(model.output_sets, members(model, model.output_sets))):
            found = blocks(model, particles, one, number == 0)
            for suffix, block in found.items():
                path = f"{self.stem}{number}{suffix}"
                if "XDMF" in model.output_formats:
                    write_xdmf(path, block, self.frames, label)
                if "VTK" in model.output_formats:
                    write_vtk(f"{path}.vtk.{self.frames}", block, label)
                if "MED" in model.output_formats:
                    write_med(path, block, self.frames, label)
            if "DUMP" in model.output_formats and "sp" in found:
                write_dump(f"{self.stem}{number}.dump", found["sp"], int(model.control.steps[0]))
        self.frames += 1

    def _remove_old(self) -> None:
        """Remove the files that an earlier run has left: kinds that appear later would go on behind its frames."""
        for number in range(len(self.model.output_sets)):
            names = [f"{suffix}{ending}" for suffix in SUFFIXES for ending in (".h5", ".xmf")] if "XDMF" in self.model.output_formats else []
            for name in (*names, *([".dump"] if "DUMP" in self.model.output_formats else [])):
                with suppress(FileNotFoundError):
                    os.remove(f"{self.stem}{number}{name}")
            for suffix in SUFFIXES if "MED" in self.model.output_formats else ():
                remove_med(f"{self.stem}{number}{suffix}")

    def rewind(self, frames: int) -> None:
        """Keep so many frames of the files that are there: a run goes on behind them.

        Raises
        ------
        SolfecError
            A file cannot be read, for example since its writer was killed or the disk was full.
        """
        self.frames = frames
        if frames == 0:  # the first frame removes what is there
            return
        for number in range(len(self.model.output_sets)):
            for path in (f"{self.stem}{number}{suffix}" for suffix in SUFFIXES):
                if "XDMF" in self.model.output_formats and os.path.exists(path + ".h5"):
                    with blaming(path + ".h5"):
                        cut_xdmf(path, frames)
                for first, file in files_of(path).items() if "MED" in self.model.output_formats else ():
                    with blaming(file):
                        cut_med(first, file, frames)
            if "DUMP" in self.model.output_formats and os.path.exists(f"{self.stem}{number}.dump"):
                with blaming(f"{self.stem}{number}.dump"):
                    cut_dump(f"{self.stem}{number}.dump", frames)


@contextmanager
def blaming(path: str):
    """Turn errors of a damaged file into a sentence about it."""
    try:
        yield
    except Busy as error:
        raise SolfecError(f"{path}: {error.strerror}") from error
    except (OSError, RuntimeError, *DAMAGE) as error:
        raise SolfecError(f"{path}: cannot be continued, it seems damaged: {getattr(error, 'strerror', None) or error}; remove it, and a new file begins") from error


# --- XDMF --------------------------------------------------------------------------------------------------


def write_xdmf(path: str, block: Block, frame: int, time: float) -> None:
    """Add a frame to `path`.h5 and `path`.xmf, or begin them."""
    fresh = not os.path.exists(path + ".h5")
    with journalled(path + ".h5", fresh) as file:
        group = file.create_group(str(frame), track_order=True)  # so that markup can be made again
        group.attrs["TIME"] = time
        group["GEOM"] = block.points
        if block.triangles:
            group["TOPO"] = topology(len(block.points))
        for name, values in {**block.of_points, **block.of_cells}.items():
            group[name] = values
    grid = grid_text(os.path.basename(path) + ".h5", block, frame, time)
    if fresh:
        with open(path + ".xmf", "w") as file:
            file.write(HEADER + grid + FOOTER)
        return
    with open(path + ".xmf", "r+") as file:
        file.seek(0, os.SEEK_END)
        file.seek(file.tell() - len(FOOTER))
        file.write(grid + FOOTER)


@contextmanager
def journalled(path: str, fresh: bool = False):
    """An HDF5 file that is changed as a whole: who kills the program finds it as it was before; a fresh one appears when it is whole."""
    under = JournalledFile(path + ".new" if fresh else path, fresh)
    try:
        with h5py.File(under, "w" if fresh else "r+") as file:
            yield file
        under.commit()
        if fresh:
            under.rename(path)
    except BaseException:
        under.error = under.error or OSError("abandoned")
        raise
    finally:
        under.close()


def cut_xdmf(path: str, frames: int) -> None:
    """Remove frames from `frames` on, and write the markup that a killed program has not written."""
    with journalled(path + ".h5") as file:
        for name in [name for name in file if int(name) >= frames]:
            del file[name]
        kept = sorted(map(int, file))
        text = ""
        if os.path.exists(path + ".xmf"):
            with open(path + ".xmf") as markup:
                text = markup.read()
        known = {int(found[1]): found[0] for found in re.finditer(r'^   <Grid Name="(\d+)".*?^   </Grid>\n', text, re.M | re.S)}
        grids = [known.get(frame) or grid_text(os.path.basename(path) + ".h5", stored_block(file[str(frame)]), frame, float(file[str(frame)].attrs["TIME"]))
                 for frame in kept]  # fmt: skip
    if (whole := HEADER + "".join(grids) + FOOTER) != text:
        with open(path + ".xmf.new", "w") as markup:
            markup.write(whole)
        os.replace(path + ".xmf.new", path + ".xmf")


def stored_block(group: h5py.Group) -> Block:
    """The block that `write_xdmf` has stored."""
    block = Block(group["GEOM"][...], "TOPO" in group)
    for name in (name for name in group if name not in ("GEOM", "TOPO")):
        values = group[name][...]
        (block.of_points if len(values) == len(block.points) else block.of_cells)[name] = values
    return block


def cut_dump(path: str, frames: int) -> None:
    """Remove frames from `frames` on, and a heading that a killed program has begun."""
    begins = "ITEM: TIMESTEP"
    with open(path, "r+") as file:
        text = file.read()
        places = [found.start() for found in re.finditer(f"^{begins}$", text, re.M)]
        last = text.rfind("\n") + 1
        if last < len(text) and begins.startswith(text[last:]) and last not in places:
            places.append(last)
        if len(places) > frames:
            file.truncate(len(text[: places[frames]].encode()))


def topology(points: int) -> np.ndarray:
    """Records 4, a, b, c of triangles with points of their own (n, 4); 4 is XDMF's number of triangles."""
    numbers = np.arange(points, dtype=np.int32).reshape(-1, 3)
    return np.column_stack((np.full(len(numbers), 4, np.int32), numbers))


def grid_text(file: str, block: Block, frame: int, time: float) -> str:
    """Markup of a frame."""
    count, cells = len(block.points), len(block.points) // 3
    if block.triangles:
        shape = f'    <Topology TopologyType="Mixed" NumberOfElements="{cells}">\n     {item(file, frame, "TOPO", np.zeros((cells, 4), np.int32))}\n    </Topology>\n'
    else:
        shape = f'    <Topology TopologyType="Polyvertex" NumberOfElements="{count}" NodesPerElement="1"/>\n'
    lines = [
        f'   <Grid Name="{frame}" GridType="Uniform">\n    <Time Value="{time!r}"/>\n',
        shape,
        f'    <Geometry GeometryType="XYZ">\n     {item(file, frame, "GEOM", block.points)}\n    </Geometry>\n',
    ]
    for values, centre in ((block.of_points, "Node"), (block.of_cells, "Cell")):
        for name, array in values.items():
            kind = {1: "Scalar", 2: "Matrix", 3: "Vector", 9: "Tensor"}[1 if array.ndim == 1 else array.shape[1]]
            lines.append(f'    <Attribute Name="{name}" AttributeType="{kind}" Center="{centre}">\n     {item(file, frame, name, array)}\n    </Attribute>\n')
    return "".join(lines) + "   </Grid>\n"


def item(file: str, frame: int, name: str, array: np.ndarray) -> str:
    """Markup that refers to a dataset."""
    size = " ".join(map(str, array.shape))
    number = f'NumberType="Int" Precision="{array.itemsize}"' if array.dtype.kind == "i" else 'NumberType="Float" Precision="8"'
    return f'<DataItem Dimensions="{size}" {number} Format="HDF">{escape(file)}:/{frame}/{name}</DataItem>'


# --- legacy VTK --------------------------------------------------------------------------------------------


def write_vtk(path: str, block: Block, time: float) -> None:
    """Write a frame as a text file of VTK's legacy format."""
    count = len(block.points)
    cells = np.arange(count).reshape(-1, 3 if block.triangles else 1)
    with open(path, "w") as file:
        file.write("# vtk DataFile Version 3.0\nsolfec\nASCII\nDATASET UNSTRUCTURED_GRID\n")
        file.write(f"FIELD FieldData 1\nTIME 1 1 double\n{time!r}\nPOINTS {count} double\n")
        np.savetxt(file, block.points, "%.17g")
        file.write(f"CELLS {len(cells)} {cells.size + len(cells)}\n")
        np.savetxt(file, np.column_stack((np.full(len(cells), cells.shape[1]), cells)), "%d")
        file.write(f"CELL_TYPES {len(cells)}\n")
        np.savetxt(file, np.full(len(cells), 5 if block.triangles else 1), "%d")
        for values, place, rows in ((block.of_points, "POINT_DATA", count), (block.of_cells, "CELL_DATA", len(cells))):
            if values:
                file.write(f"{place} {rows}\n")
            for name, array in values.items():
                write_values(file, name, array)


def write_values(file, name: str, array: np.ndarray) -> None:
    """Values of points or cells."""
    whole = array.dtype.kind == "i"
    kind, form = ("int", "%d") if whole else ("double", "%.17g")
    width = 1 if array.ndim == 1 else array.shape[1]
    scalars = f"SCALARS {name} {kind} {width}\nLOOKUP_TABLE default\n"
    head = {1: scalars, 2: scalars, 3: f"VECTORS {name} {kind}\n", 9: f"TENSORS {name} {kind}\n"}[width]
    file.write(head)
    np.savetxt(file, array, form)


# --- LAMMPS ------------------------------------------------------------------------------------------------


def write_dump(path: str, block: Block, step: int) -> None:
    """Add a frame of spheres to a file in LAMMPS' text format."""
    names = {"LINVEL": "vx vy vz", "ANGVEL": "omegax omegay omegaz", "FORCE": "fx fy fz", "TORQUE": "tqx tqy tqz"}
    given = [name for name in names if name in block.of_points]
    radius, points = block.of_points["RADIUS"][:, None], block.points
    low, high = (points - radius).min(axis=0), (points + radius).max(axis=0)
    numbers = block.of_points["NUMBER"] if "NUMBER" in block.of_points else np.arange(len(points))
    with open(path, "a") as file:
        file.write(f"ITEM: TIMESTEP\n{step}\nITEM: NUMBER OF ATOMS\n{len(points)}\nITEM: BOX BOUNDS ff ff ff\n")
        np.savetxt(file, np.column_stack((low, high)), "%.17g")
        file.write("ITEM: ATOMS " + " ".join(["id x y z radius", *(names[name] for name in given)]) + "\n")
        columns = np.column_stack((points, radius, *(block.of_points[name] for name in given)))
        for number, row in zip(numbers.tolist(), columns.tolist()):
            file.write(" ".join([str(number + 1), *map(repr, row)]) + "\n")
