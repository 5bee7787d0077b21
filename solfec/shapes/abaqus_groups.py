"""Element sets and surfaces of Abaqus input files: meshio gives sets to the wrong elements when they span several blocks."""

from __future__ import annotations

import re

import numpy as np

from .. import installed
from ..element_types import ELEMENT_TYPES

SIDES = {kind.meshio: kind.abaqus_sides for kind in ELEMENT_TYPES if kind.abaqus_sides}


def add_groups(source, path: str) -> None:
    """Replace the cell sets of a mesh that meshio has read by the element sets and surfaces of the file.

    Parameters
    ----------
    source : meshio.Mesh
        Changed in place; its blocks are the file's *ELEMENT blocks in their order, faces of surfaces are appended.
    path : str
        The file.

    Raises
    ------
    ValueError
        Files of several parts or with *INCLUDE, repeated element numbers, sets of unknown elements or sets, faces
        that elements do not have.
    """
    numbers, sets, surfaces = [], {}, {}
    for keyword, parameters, items in _blocks(path):
        if keyword == "INCLUDE":
            raise ValueError("files with *INCLUDE are not supported; put everything into one file")
        if keyword == "INSTANCE" and items:
            raise ValueError("an *INSTANCE with data, which moves its part, is not supported; write a file without parts")
        if keyword == "ELEMENT":
            if len(numbers) == len(source.cells):
                raise ValueError("there are more *ELEMENT blocks than meshio has read")
            width = np.shape(source.cells[len(numbers)].data)[1] + 1
            numbers.append([int(item) for item in items[::width]])
            if "ELSET" in parameters:
                sets.setdefault(parameters["ELSET"], []).extend(numbers[-1])
        elif keyword == "ELSET" and "ELSET" in parameters:
            sets.setdefault(parameters["ELSET"], []).extend(_members(items, "GENERATE" in parameters, sets))
        elif keyword == "SURFACE" and parameters.get("TYPE", "ELEMENT") == "ELEMENT" and "NAME" in parameters:
            surfaces.setdefault(parameters["NAME"], []).extend(zip(items[::2], items[1::2]))
    if [len(n) for n in numbers] != [len(block.data) for block in source.cells]:
        raise ValueError("its *ELEMENT blocks are not those that meshio has read")
    places = {number: (k, row) for k, block in enumerate(numbers) for row, number in enumerate(block)}
    if len(places) < sum(map(len, numbers)):
        raise ValueError("element numbers come twice; write a file without parts and instances")
    source.cell_sets = {}
    for name, members in sets.items():
        rows = [[] for _ in numbers]
        for number in members:
            if number not in places:
                raise ValueError(f"the element set '{name}' names element {number}, which is not there")
            block, row = places[number]
            rows[block].append(row)
        source.cell_sets[name] = [np.array(r, int) for r in rows]
    if surfaces:
        _add_surfaces(source, surfaces, places, sets)


def _add_surfaces(source, surfaces: dict, places: dict, sets: dict) -> None:
    """Append the faces of surfaces to the blocks, with cell sets; shells of a surface enter its set directly."""
    meshio = installed.load("meshio")

    solid = len(source.cells)
    owned = {name: [[] for _ in range(solid)] for name in surfaces}
    for name, entries in surfaces.items():
        faces = {3: [], 4: []}
        for members, side in entries:
            for number in _members([members], False, sets):
                if number not in places:
                    raise ValueError(f"the surface '{name}' names element {number}, which is not there")
                block, row = places[number]
                corners = SIDES.get(source.cells[block].type.rstrip("0123456789"))
                if corners is None:
                    owned[name][block].append(row)
                    continue
                if not re.fullmatch("S[1-9]", side.upper()) or int(side[1]) > len(corners):
                    raise ValueError(f"the surface '{name}' names face '{side}' of element {number}; it has S1 to S{len(corners)}")
                nodes = source.cells[block].data[row]
                faces[len(corners[int(side[1]) - 1])].append([int(nodes[n]) for n in corners[int(side[1]) - 1]])
        for size, kind in ((3, "triangle"), (4, "quad")):
            if faces[size]:
                for other, rows in owned.items():
                    rows.append(list(range(len(faces[size]))) if other == name else [])
                source.cells.append(meshio.CellBlock(kind, np.array(faces[size])))
    empty = np.zeros(0, int)
    for name, rows in (source.cell_sets | owned).items():
        filled = [np.array(r, int) for r in rows]
        source.cell_sets[name] = filled + [empty] * (len(source.cells) - len(filled))


def _members(items: list[str], generate: bool, sets: dict) -> list[int]:
    """Return the element numbers of an *ELSET."""
    if generate:
        members, step = [], 3 if len(items) % 3 == 0 else 2
        for at in range(0, len(items), step):
            first, last, *rest = map(int, items[at : at + step])
            members += range(first, last + 1, *rest)
        return members
    members = []
    for item in items:
        if re.fullmatch(r"\d+", item):
            members.append(int(item))
        elif item.upper() in sets:
            members += sets[item.upper()]
        else:
            raise ValueError(f"an element set names the set '{item}', which is not there")
    return members


def _blocks(path: str):
    """Yield keyword, parameters and data items; names are in capitals, since Abaqus ignores case."""
    block = None
    with open(path, encoding="utf-8", errors="replace") as file:
        lines = (line.strip() for line in file)
        for line in (line for line in lines if line and not line.startswith("**")):
            if not line.startswith("*"):
                if block is not None and block[0] in ("ELEMENT", "ELSET", "INSTANCE", "SURFACE"):
                    items = [item.strip() for item in line.split(",") if item.strip()]
                    # a line of a surface is a set or an element, and a face, which may be missing
                    block[2].extend([*items, ""][:2] if block[0] == "SURFACE" else items)
                continue
            if block is not None:
                yield block
            keyword, *parameters = (part.strip() for part in line[1:].split(","))
            pairs = (part.partition("=") for part in parameters)
            block = keyword.upper(), {k.strip().upper(): v.strip().strip('"').upper() for k, _, v in pairs}, []
    if block is not None:
        yield block
