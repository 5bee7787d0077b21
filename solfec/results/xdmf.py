"""Results as XDMF: markup files for grids of bodies, spheres and constraints, and one HDF5 file (docs/language-running.md, XDMF_EXPORT)."""

from __future__ import annotations

import os
from collections.abc import Iterable
from xml.etree import ElementTree

import h5py
import numpy as np

from ..element_types import ELEMENT_TYPES
from ..hdf5_files import new_file
from .scene import POLYGON, Cells, Scene

TOPOLOGY = {POLYGON: 3} | {kind.vtk: kind.xdmf for kind in ELEMENT_TYPES}  # types of cells in XDMF
OF_BODIES = {"DISP": "displacement", "VELO": "velocity", "STRESS": "stress"}
OF_CONSTRAINTS = {"REAC": "reaction", "RELV": "velocity", "GAP": "gap", "DAMAGE": "damage"}
TENSOR6 = (0, 3, 4, 1, 5, 2)  # xx, xy, xz, yy, yz, zz, as XDMF orders them, out of xx, yy, zz, xy, xz, yz
ATTRIBUTES = (*OF_BODIES, *OF_CONSTRAINTS)


def write(path: str, scenes: Iterable[Scene], attributes: Iterable[str], labels: dict[int, str]) -> list[str]:
    """Write scenes of one model, in the order of time, into the directory `path`; return the files' paths.

    The HDF5 file holds /GRIDS/<k>/<s>, /SPHERES/<s> and /CONSTRAINTS/<s>: body k (from 0, in the order of appearance),
    scene s (from 0).  Every markup file lists every scene, also those without anything to show.
    """
    os.makedirs(path, exist_ok=True)
    stem = os.path.join(path, os.path.basename(os.path.normpath(path)))
    documents = {name: _Document(name) for name in ("grids", "spheres", "constraints")}
    attributes = list(attributes)
    with new_file(stem + ".h5") as (file, check):
        writer = _Writer(file, os.path.basename(stem) + ".h5", attributes, labels)
        for number, scene in enumerate(scenes):
            for name, document in documents.items():
                getattr(writer, name)(scene, number, document.scene(scene.time))
            check()
        writer.count()
    written = [stem + ".h5"]
    for name, document in documents.items():
        written.append(f"{stem}_{name}.xmf")
        document.write(written[-1])
    return written


class _Document:
    """One markup file: a temporal collection of spatial collections."""

    def __init__(self, name: str):
        self.root = ElementTree.Element("Xdmf", Version="3.0")
        domain = ElementTree.SubElement(self.root, "Domain")
        self.series = ElementTree.SubElement(domain, "Grid", Name=name, GridType="Collection", CollectionType="Temporal")

    def scene(self, time: float) -> ElementTree.Element:
        grid = ElementTree.SubElement(self.series, "Grid", Name="scene", GridType="Collection", CollectionType="Spatial")
        ElementTree.SubElement(grid, "Time", Value=repr(float(time)))
        return grid

    def write(self, path: str) -> None:
        ElementTree.indent(self.root)
        ElementTree.ElementTree(self.root).write(path, encoding="utf-8", xml_declaration=True)


class _Writer:
    """Writer of arrays to the HDF5 file, and of elements that refer to them to the documents."""

    def __init__(self, file: h5py.File, name: str, attributes: list[str], labels: dict[int, str]):
        self.file, self.name, self.attributes, self.labels = file, name, attributes, labels
        self.number: dict[int, int] = {}  # of a body's group
        for group in ("GRIDS", "SPHERES", "CONSTRAINTS"):
            file.create_group(group)

    def grids(self, scene: Scene, number: int, parent) -> None:
        """Write a grid for every body."""
        points, cells = scene.points, scene.cells
        for body in np.unique(cells.body):
            chosen = np.flatnonzero(cells.body == body)  # contiguous, as the body's points are
            at = np.flatnonzero(points.body == body)
            key = self.number.setdefault(int(body), len(self.number))
            group = f"GRIDS/{key}"
            label = self.labels.get(int(body), str(int(body)))
            if f"{group}/TOPO" not in self.file:
                self.file[f"{group}/TOPO"] = mixed(cells, chosen, int(at[0]))
                self.file[f"{group}/BID"] = cells.body[chosen]
                self.file[f"{group}/VID"] = cells.volume[chosen]
                self.file[group].attrs["LABEL"] = label
            grid = ElementTree.SubElement(parent, "Grid", Name=label, GridType="Uniform")
            topology = ElementTree.SubElement(grid, "Topology", TopologyType="Mixed", NumberOfElements=str(len(chosen)))
            self._item(topology, f"{group}/TOPO")
            self._geometry(grid, f"{group}/{number}", points.position[at])
            for name in ("BID", "VID"):
                self._item(_attribute(grid, name, "Scalar", "Cell"), f"{group}/{name}")
            for name in self.attributes:
                if name in OF_BODIES:
                    self._values(grid, f"{group}/{number}/{name}", name, getattr(points, OF_BODIES[name])[at])

    def spheres(self, scene: Scene, number: int, parent) -> None:
        """Write a cloud of centres."""
        spheres = scene.spheres
        extra = {"BID": spheres.body, "RADI": spheres.radius}
        self._cloud(parent, f"SPHERES/{number}", spheres, extra, OF_BODIES)

    def constraints(self, scene: Scene, number: int, parent) -> None:
        """Write a cloud of points."""
        constraints = scene.constraints
        extra = {"KIND": constraints.kind, "MASTER": constraints.master, "SLAVE": constraints.slave}
        self._cloud(parent, f"CONSTRAINTS/{number}", constraints, extra, OF_CONSTRAINTS)

    def count(self) -> None:
        """Write the numbers of bodies and scenes."""
        self.file["GRIDS"].attrs["COUNT"] = len(self.number)
        for group in ("SPHERES", "CONSTRAINTS"):
            self.file[group].attrs["STEPS"] = len(self.file[group])

    def _cloud(self, parent, group: str, points, extra: dict, known: dict) -> None:
        count = len(points.position)
        self.file.create_group(group).attrs["COUNT"] = count
        if not count:
            return
        grid = ElementTree.SubElement(parent, "Grid", Name=group.partition("/")[0].lower(), GridType="Uniform")
        ElementTree.SubElement(grid, "Topology", TopologyType="Polyvertex", NodesPerElement="1", NumberOfElements=str(count))
        self._geometry(grid, group, points.position)
        for name, values in extra.items():
            self._values(grid, f"{group}/{name}", name, values)
        for name in self.attributes:
            if name in known:
                self._values(grid, f"{group}/{name}", name, getattr(points, known[name]))

    def _geometry(self, grid, group: str, position: np.ndarray) -> None:
        self.file[f"{group}/GEOM"] = position
        self._item(ElementTree.SubElement(grid, "Geometry", GeometryType="XYZ"), f"{group}/GEOM")

    def _values(self, grid, path: str, name: str, values: np.ndarray) -> None:
        self.file[path] = values[:, TENSOR6] if name == "STRESS" else values
        kind = {1: "Scalar", 3: "Vector", 6: "Tensor6"}[1 if values.ndim == 1 else values.shape[1]]
        self._item(_attribute(grid, name, kind, "Node"), path)

    def _item(self, parent, path: str) -> None:
        values = self.file[path]
        item = ElementTree.SubElement(
            parent, "DataItem", Dimensions=" ".join(map(str, values.shape)), Format="HDF",
            NumberType="Float" if values.dtype.kind == "f" else "Int", Precision=str(values.dtype.itemsize),
        )  # fmt: skip
        item.text = f"{self.name}:/{path}"


def _attribute(grid, name: str, kind: str, centre: str) -> ElementTree.Element:
    return ElementTree.SubElement(grid, "Attribute", Name=name, AttributeType=kind, Center=centre)


def mixed(cells: Cells, chosen: np.ndarray, first_point: int) -> np.ndarray:
    """The topology of some cells as XDMF lists it: type, number of points for polygons, points counted from the first."""
    listed = []
    for k in chosen:
        nodes = cells.connectivity[cells.offsets[k] : cells.offsets[k + 1]] - first_point
        kind = int(cells.types[k])
        listed += [[TOPOLOGY[kind], *([len(nodes)] if kind == POLYGON else [])], nodes]
    return np.concatenate(listed).astype(np.int64)
