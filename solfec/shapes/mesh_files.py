"""Meshes from files of other programs, with their groups, by the optional package meshio (MESH_READ)."""

from __future__ import annotations

import contextlib
import io
import os
import re
import warnings
from dataclasses import dataclass, field

import numpy as np

from .. import installed
from ..element_types import ELEMENT_TYPES, HEXAHEDRON, MOST_NODES
from ..errors import SolfecWarning
from ..tables import pointers_of
from . import abaqus_groups, exodus_groups, gmsh_groups
from .coordinates import check_size
from .identifiers import identifier
from .med_steps import one_step
from .mesh import Mesh, check_sides, element_volumes, mirrored, upright, warn_of_concave
from .mesh_topology import MeshTopology
from .tetrahedra import MissingPackage, row_numbers

INSTALL = "pip install 'solfec[meshio]'"
SOLIDS = {kind.meshio: kind.size for kind in ELEMENT_TYPES if kind.meshio} | {"voxel": HEXAHEDRON.size}
CORNERS = SOLIDS | {"triangle": 3, "quad": 4, "pixel": 4}
"""Corners of cells by their first-order names in meshio."""

ROUND = {"voxel": [0, 1, 3, 2, 4, 5, 7, 6], "pixel": [0, 1, 3, 2]}
"""Corners of pixels and voxels in the order of quadrilaterals and hexahedra."""

TAGS = ("gmsh:physical", "medit:ref", "cell_tags")
"""Names of cell data that formats use for groups."""

OF_EXPORT = re.compile(r"(VOLUME|SURFACE|BODY)_(-?\d+)")

EXODUS = (".e", ".ex2", ".exo")


@dataclass
class Group:
    """A named or numbered set of cells.

    Attributes
    ----------
    name : str or int
        Name in the file; the number of a group without a name.
    number : int or None
        Its number in the file, if it has one.
    cells : ndarray
        Rows of `Cells` that belong to it.
    on_request : bool
        Whether it counts only where a dictionary of identifiers names it.
    """

    name: str | int
    number: int | None
    cells: np.ndarray
    on_request: bool = False


@dataclass
class Cells:
    """Elements or faces of a file: corner nodes (n, 8), padded with -1, and groups of them."""

    nodes: np.ndarray
    groups: list[Group] = field(default_factory=list)


def read_mesh_file(path: str, volumes=0, surfaces=0, data: str | None = None, step: int | None = None) -> tuple[Mesh, dict]:
    """Read a mesh; groups of the file become volume and surface identifiers.

    Parameters
    ----------
    path : str
        A file of any format that meshio recognises by its ending.
    volumes, surfaces : int or dict
        Identifier of cells outside all groups; or identifiers by group. The first group of a cell counts; None stands for
        the rest (default 0).  `surfaces` may also name groups of nodes: faces all of whose nodes are in the group.
    data : str, optional
        Name of the integer cell data that number groups.
    step : int, optional
        Step of a MED file with several: number from 0, or from the end when negative.

    Returns
    -------
    mesh : Mesh
        Elements in the order of the file; nodes that are not corners of elements are left out.
    groups : dict
        Identifiers by group: {"volumes": {...}, "surfaces": {...}}.

    Raises
    ------
    MissingPackage
        When meshio, or what it needs for this format, is not installed.
    ValueError
        A file that cannot be read, unsupported cells, no elements, unknown groups, faulty
        elements.
    """
    source = _load(path, step)
    cells, sizes = _cells_of(source, path)
    if not len(cells[3].nodes):
        raise ValueError(f"'{path}' holds no volume elements; a closed surface is for TETRAHEDRALIZE or CONVEX_READ")
    _collect_groups(source, cells, sizes, path, data)
    found = {}
    volume_ids, found["volumes"] = _identifiers(cells[3], volumes, "volids", path, {})
    node_sets = {name: np.asarray(rows, int) for name, rows in (source.point_sets or {}).items()}
    marks, found["surfaces"] = _identifiers(cells[2], surfaces, "surfids", path, node_sets)
    corners = cells[3].nodes
    used, flat = np.unique(corners[corners >= 0], return_inverse=True)
    nodes = np.array(source.points[used], float)
    try:
        check_size(nodes, "nodes")
        pointers = pointers_of((corners >= 0).sum(1))
        topology = MeshTopology(len(used), pointers, _turned(nodes, pointers, flat.ravel()))
        check_sides(topology)
    except ValueError as error:
        raise ValueError(f"'{path}': {error}") from None
    keys = used[np.maximum(topology.face_nodes, 0)]
    keys[topology.face_nodes < 0] = -1
    faces = _surface_identifiers(keys, topology.boundary, cells[2], marks, surfaces, node_sets, path)
    topology = topology.with_surfaces(faces)
    warn_of_concave(nodes, topology)
    return Mesh(nodes, topology, volume_ids), found


def _load(path: str, step: int | None):
    """Read a file by meshio; all its failures, some of which would end the program, become ValueError."""
    try:
        meshio = installed.load("meshio")
    except ImportError:
        raise MissingPackage(f"reading meshes needs the package meshio, which is not installed; run: {INSTALL}") from None
    said = io.StringIO()
    ending = os.path.splitext(path)[1].lower()
    if step is not None and ending != ".med":
        raise ValueError(f"'step' is for MED files with several mesh steps, not for '{path}'")
    try:
        with _readable(path, ending, step) as (single, entities):
            with installed.alone(), contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
                source = meshio.read(single)
        if entities is not None:
            gmsh_groups.add_groups(source, entities)
        elif ending in EXODUS:
            exodus_groups.add_groups(source, path)
        elif ending == ".inp":
            abaqus_groups.add_groups(source, path)
        return source
    except ModuleNotFoundError as error:
        raise MissingPackage(
            f"reading '{path}' needs the package {error.name}, which is not installed; run: {INSTALL}"
        ) from None
    except SystemExit:
        reason = " ".join(said.getvalue().split())
    except Exception as error:  # meshio's readers raise exceptions of any type
        reason = str(error) if isinstance(error, ValueError) else f"{type(error).__name__}: {error}"
    raise ValueError(f"'{path}' cannot be read: {reason}") from None


@contextlib.contextmanager
def _readable(path: str, ending: str, step: int | None):
    """Yield the path that meshio reads, the file or a partial copy, and the entities of a gmsh file."""
    if ending == ".med":
        with one_step(path, step) as single:
            yield single, None
    elif ending == ".msh":
        with gmsh_groups.entities_apart(path) as found:
            yield found
    else:
        yield path, None


# --- cells -------------------------------------------------------------------------------------------------


def _cells_of(source, path: str) -> tuple[dict[int, Cells], list]:
    """Return corner nodes of elements (3) and faces (2), and for each block its dimension, first row and size."""
    corners = {3: [], 2: []}
    sizes, reduced, count = [], set(), {3: 0, 2: 0}
    for block in source.cells:
        kind = re.sub(r"^vtk_lagrange_(\w+?)(rahedron)?$", lambda m: m[1], block.type.lower())
        kind = {"quadrilateral": "quad"}.get(kind, kind)
        shape = re.fullmatch(r"([a-z_]+?)(\d*)", kind)[1]
        if shape not in CORNERS:
            if block.dim < 2:
                sizes.append((block.dim, 0, len(block.data)))
                continue
            raise ValueError(
                f"'{path}' holds cells of the kind '{block.type}', which are not supported; tetrahedra, pyramids, wedges, "
                "hexahedra, triangles and quadrilaterals are"
            )
        nodes = np.asarray(block.data, int).reshape(len(block.data), -1)
        size, dimension = CORNERS[shape], 3 if shape in SOLIDS else 2
        if nodes.size and not 0 <= nodes.min() <= nodes.max() < len(source.points):
            raise ValueError(f"'{path}' uses a node number out of range")
        if dimension == 3 and nodes.shape[1] > size:
            reduced.add(block.type)
        padded = np.full((len(nodes), MOST_NODES), -1)
        padded[:, :size] = nodes[:, ROUND.get(shape, slice(size))]
        corners[dimension].append(padded)
        sizes.append((dimension, count[dimension], len(nodes)))
        count[dimension] += len(nodes)
    if reduced:
        _warn(f"elements of higher order in '{path}' ({', '.join(sorted(reduced))}) are reduced to their corner nodes")
    cells = {d: Cells(np.concatenate(c) if c else np.zeros((0, MOST_NODES), int)) for d, c in corners.items()}
    return cells, sizes


def _turned(nodes: np.ndarray, pointers: np.ndarray, flat: np.ndarray) -> np.ndarray:
    """Return element nodes, mirrored where the format lists them in opposite sense; ValueError for faulty elements."""
    inverted = element_volumes(nodes, pointers, flat) < 0.0
    return upright(nodes, pointers, mirrored(pointers, flat, inverted))


# --- groups ------------------------------------------------------------------------------------------------


def _collect_groups(source, cells: dict[int, Cells], sizes: list, path: str, data: str | None) -> None:
    """Collect groups: physical groups, or numbered ones from cell data, then named ones from cell sets."""
    physical = getattr(source, "physical_groups", {}) if data in (None, TAGS[0]) else {}
    data = None if physical else data
    for (dimension, number), (name, blocks) in physical.items():
        if dimension in cells:
            rows = [start + np.arange(count) for _, start, count in (sizes[k] for k in blocks)]
            cells[dimension].groups.append(Group(name, number, np.concatenate(rows)))
    name = data if data is not None or physical else _tag_array(source, path)
    if data is not None and data not in source.cell_data:
        raise ValueError(f"'{path}' has no cell data '{data}'; it has {_listed(source.cell_data)}")
    if name is not None:
        values = {d: np.zeros(len(c.nodes), int) for d, c in cells.items()}
        for (dimension, start, count), column in zip(sizes, source.cell_data[name]):
            if dimension in values:
                column = np.asarray(column).reshape(count, -1)[:, 0]
                if not np.array_equal(column, np.rint(column)):
                    raise ValueError(f"the cell data '{name}' of '{path}' are not integers")
                values[dimension][start : start + count] = column
        families = getattr(source, "cell_tags", None) if name == "cell_tags" else None
        for dimension, part in cells.items():
            part.groups += _numbered(values[dimension], dimension, source.field_data or {}, families)
    known = set(source.field_data or {})
    for name, blocks in (source.cell_sets or {}).items():
        if name.startswith("gmsh:") or name in known:
            continue
        for dimension, part in cells.items():
            rows = [
                start + np.asarray(chosen, int)
                for (d, start, _), chosen in zip(sizes, blocks)
                if d == dimension and chosen is not None
            ]
            rows = np.unique(np.concatenate(rows)) if rows else np.zeros(0, int)
            if rows.size:
                part.groups.append(Group(name, None, rows))


def _tag_array(source, path: str) -> str | None:
    """Return the name of the cell data that number groups: that of the format, or the only integer data."""
    for name in TAGS:
        if name in source.cell_data:
            return name
    whole = [
        name for name, columns in source.cell_data.items()
        if not name.startswith("gmsh:") and all(np.asarray(c).dtype.kind in "iu" and np.ndim(c) == 1 for c in columns)
    ]  # fmt: skip
    if len(whole) > 1:
        _warn(f"'{path}' has several integer cell data, {_listed(whole)}; name those that tell groups by 'data'")
    return whole[0] if len(whole) == 1 else None


def _numbered(values: np.ndarray, dimension: int, names: dict, families: dict | None) -> list[Group]:
    """Return groups of cells with equal numbers other than 0; MED's families become the groups to which they belong."""
    if families is not None:
        members: dict[str, list] = {}
        for family in sorted(families, reverse=True):
            for name in families[family]:
                members.setdefault(name, []).append(family)
        groups = [_med_group(name, np.flatnonzero(np.isin(values, numbers))) for name, numbers in members.items()]
        return [group for group in groups if group.cells.size]
    called = {int(pair[0]): name for name, pair in names.items() if np.size(pair) == 2 and int(pair[1]) == dimension}
    numbers = np.unique(values[values != 0]).tolist()
    return [Group(called.get(n, n), n, np.flatnonzero(values == n)) for n in numbers]


def _med_group(name: str, cells: np.ndarray) -> Group:
    """Return a group of a MED file; MED_EXPORT names groups by identifiers of volumes, surfaces and bodies."""
    written = OF_EXPORT.fullmatch(name)
    if written is None:
        return Group(name, None, cells)
    body = written[1] == "BODY"
    return Group(name, None if body else int(written[2]), cells, on_request=body)


def _identifiers(cells: Cells, wanted, argument: str, path: str, node_sets: dict) -> tuple[np.ndarray, dict]:
    """Return the identifier of every cell, and identifiers by group; cells outside all groups get the identifier of the rest."""
    if isinstance(wanted, dict):
        by_name = {group.name: group for group in cells.groups} | {
            group.number: group for group in cells.groups if group.number is not None
        }
        missing = [name for name in wanted if name is not None and name not in by_name and name not in node_sets]
        if missing:
            there = [*(group.name for group in cells.groups), *node_sets]
            raise ValueError(f"'{path}' has no group {missing[0]!r} for '{argument}'; it has {_listed(there)}")
        chosen = [(name, by_name.get(name), identifier(value, argument)) for name, value in wanted.items() if name is not None]
        rest = identifier(wanted.get(None, 0), argument)
    else:
        rest, taken = identifier(wanted, argument), {group.number for group in cells.groups}
        chosen, free = [], 1
        for group in (group for group in cells.groups if not group.on_request):
            number = group.number
            if number is None:
                while free in taken:
                    free += 1
                number = free
                taken.add(free)
            chosen.append((group.name, group, identifier(number, argument)))
    result = np.full(len(cells.nodes), rest, np.int32)
    owner = np.full(len(cells.nodes), -1)
    for order, (name, group, value) in enumerate(chosen):
        if group is None:
            continue
        fresh = group.cells[owner[group.cells] < 0]
        if fresh.size < group.cells.size and not isinstance(wanted, dict):
            other = chosen[int(owner[group.cells].max())][0]
            _warn(f"groups {other!r} and {name!r} of '{path}' overlap; the first counts, unless '{argument}' names groups")
        result[fresh], owner[fresh] = value, order
    return result, {name: value for name, _, value in chosen}


def _surface_identifiers(keys, boundary, faces: Cells, marks, wanted, node_sets: dict, path: str) -> np.ndarray:
    """Return the identifier of every element face; `keys` (nf, 4) are the file's node numbers of the faces."""
    rest = wanted.get(None, 0) if isinstance(wanted, dict) else wanted
    result = np.full(len(keys), identifier(rest, "surfids"), np.int32)
    if isinstance(wanted, dict):  # groups of faces override groups of nodes, and earlier groups later ones
        for name, value in reversed(wanted.items()):
            if name in node_sets:
                result[(np.isin(keys, node_sets[name]) | (keys < 0)).all(1)] = value
    rows = np.flatnonzero(marks != rest)
    if rows.size:
        table, first = np.unique(np.sort(faces.nodes[rows, :4], axis=1), axis=0, return_index=True)
        place = row_numbers(table, np.sort(keys, axis=1))
        hit = place >= 0
        result[hit] = marks[rows[first[place[hit]]]]
        outside = len(table) - len(np.unique(place[hit & boundary]))
        if outside:
            _warn(f"{outside} faces of surface groups in '{path}' are no outer faces of elements and are ignored")
    return result


def _listed(names) -> str:
    names = [repr(name) for name in names]
    return ", ".join(names) if names else "none"


def _warn(text: str) -> None:
    warnings.warn(text, SolfecWarning, stacklevel=4)
