"""Transient results in one VTKHDF file, as ParaView and PyVista open it (VTK's documentation, "VTKHDF file format").

Three blocks: 'bodies' are grids, 'spheres' and 'constraints' points.  Topology is stored again only when it changes.
"""

from __future__ import annotations

from collections.abc import Iterable

import h5py
import numpy as np

from ..hdf5_files import new_file
from .scene import Points, Scene

VERTEX = 1  # a cell type of VTK
OF_BODIES = {"DISP": "displacement", "VELO": "velocity", "STRESS": "stress"}
SYMMETRIC = (0, 1, 2, 3, 5, 4)  # xx, yy, zz, xy, yz, xz, as VTK names them, out of xx, yy, zz, xy, xz, yz
OF_CONSTRAINTS = {"REAC": "reaction", "RELV": "velocity", "GAP": "gap", "DAMAGE": "damage"}


def write(path: str, scenes: Iterable[Scene], attributes: Iterable[str]) -> None:
    """Write scenes of one model, in the order of time."""
    attributes = list(attributes)
    with new_file(path, track_order=True) as (file, check):
        root = file.create_group("VTKHDF", track_order=True)
        root.attrs["Version"] = (2, 2)
        _type(root, "MultiBlockDataSet")
        blocks = {name: _Block(root, name, index) for index, name in enumerate(("bodies", "spheres", "constraints"))}
        assembly = root.create_group("Assembly", track_order=True)
        for name in blocks:
            assembly[name] = h5py.SoftLink(f"/VTKHDF/{name}")
        for scene in scenes:
            _write_scene(blocks, scene, attributes)
            check()


def _write_scene(blocks: dict, scene: Scene, attributes: list[str]) -> None:
    points, cells, spheres, constraints = scene.points, scene.cells, scene.spheres, scene.constraints
    data = _of_bodies(points, attributes)
    blocks["bodies"].add(
        scene.time, points.position, (cells.types, cells.connectivity, cells.offsets), data,
        {"BID": cells.body, "VID": cells.volume},
    )  # fmt: skip
    data = _of_bodies(spheres, attributes)
    data |= {"BID": spheres.body, "RADI": spheres.radius}
    blocks["spheres"].add(scene.time, spheres.position, _vertices(len(spheres.body)), data, {})
    data = {name: getattr(constraints, OF_CONSTRAINTS[name]) for name in attributes if name in OF_CONSTRAINTS}
    data |= {"KIND": constraints.kind, "MASTER": constraints.master, "SLAVE": constraints.slave}
    blocks["constraints"].add(scene.time, constraints.position, _vertices(len(constraints.gap)), data, {})


def _of_bodies(points: Points, attributes: list[str]) -> dict:
    data = {name: getattr(points, OF_BODIES[name]) for name in attributes if name in OF_BODIES}
    return data | ({"STRESS": points.stress[:, SYMMETRIC]} if "STRESS" in data else {})


def _vertices(count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return np.full(count, VERTEX, np.uint8), np.arange(count), np.arange(count + 1)


def _type(group: h5py.Group, name: str) -> None:
    group.attrs.create("Type", name.encode("ascii"), dtype=h5py.string_dtype("ascii", len(name)))


class _Block:
    """One transient unstructured grid."""

    def __init__(self, root: h5py.Group, name: str, index: int):
        self.group = root.create_group(name, track_order=True)
        self.group.attrs["Version"] = (2, 2)
        self.group.attrs["Index"] = index
        _type(self.group, "UnstructuredGrid")
        self.steps = self.group.create_group("Steps")
        self.steps.attrs["NSteps"] = 0
        self.topology: tuple | None = None
        self.starts: dict[str, int] = {}  # of the present topology

    def add(self, time: float, position, topology: tuple, point_data: dict, cell_data: dict) -> None:
        """Append one step."""
        types, connectivity, offsets = topology
        points_before = self._length("Points")
        same = self.topology is not None and all(np.array_equal(a, b) for a, b in zip(self.topology, topology))
        if not same:
            self.topology = topology
            self.starts = {name: self._length(name) for name in ("Types", "Connectivity", "NumberOfPoints")}
            self._append("Connectivity", np.asarray(connectivity, np.int64))
            self._append("Offsets", np.asarray(offsets, np.int64))
            self._append("Types", np.asarray(types, np.uint8))
            self._append("NumberOfPoints", np.array([len(position)], np.int64))
            self._append("NumberOfCells", np.array([len(types)], np.int64))
            self._append("NumberOfConnectivityIds", np.array([len(connectivity)], np.int64))
        self._append("Points", np.asarray(position, float))
        places = {
            "Values": time, "PartOffsets": self.starts["NumberOfPoints"], "NumberOfParts": 1, "PointOffsets": points_before,
            "CellOffsets": self.starts["Types"], "ConnectivityIdOffsets": self.starts["Connectivity"],
        }  # fmt: skip
        for kind, arrays in (("PointData", point_data), ("CellData", cell_data)):
            for name, values in arrays.items():
                places[f"{kind}Offsets/{name}"] = self._length(f"{kind}/{name}")
                self._append(f"{kind}/{name}", np.asarray(values))
        for name, value in places.items():
            self._append(f"Steps/{name}", np.array([value], float if name == "Values" else np.int64))
        self.steps.attrs["NSteps"] += 1

    def _length(self, name: str) -> int:
        return len(self.group[name]) if name in self.group else 0

    def _append(self, name: str, values: np.ndarray) -> None:
        if name not in self.group:
            chunks = (max(1, min(1 << 14, len(values))), *values.shape[1:])
            self.group.create_dataset(name, data=values, maxshape=(None, *values.shape[1:]), chunks=chunks)
            return
        dataset = self.group[name]
        dataset.resize(len(dataset) + len(values), axis=0)
        dataset[len(dataset) - len(values) :] = values
