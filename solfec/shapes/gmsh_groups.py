"""Physical groups of gmsh files of version 4.1: meshio keeps one per element, and none if some elements have none."""

from __future__ import annotations

import contextlib
import os
import re
import struct
import tempfile
from dataclasses import dataclass

VERSION = rb"\$MeshFormat\s+4\.1\s+([01])\s+(\d+)[ \t]*\r?\n"
NAME = re.compile(rb'^\s*(\d+)\s+(-?\d+)\s+"(.*)"\s*$', re.M)


@dataclass
class Entities:
    """Geometrical entities of a file.

    Attributes
    ----------
    numbers : dict
        Numbers of physical groups by (dimension, tag of the entity).
    names : dict
        Names of physical groups by (dimension, number).
    """

    numbers: dict[tuple[int, int], list[int]]
    names: dict[tuple[int, int], str]


@contextlib.contextmanager
def entities_apart(path: str):
    """Yield a copy of the file without its entities, which meshio can then read, and the entities.

    Parameters
    ----------
    path : str
        A gmsh file of any version.

    Yields
    ------
    tuple of (str, Entities or None)
        A copy that exists until the context ends; or the file itself and None if it is not of version 4.1 or has no entities.

    Raises
    ------
    ValueError
        Incomplete entities, a partitioned mesh.
    """
    with open(path, "rb") as file:
        text = file.read()
    version = re.match(rb"\s*" + VERSION, text)
    start = re.search(rb"^\$Entities[ \t]*\r?\n", text, re.M)
    if version is None or start is None:
        yield path, None
        return
    if re.search(rb"^\$PartitionedEntities", text, re.M):
        raise ValueError("it holds a mesh in partitions; save it without them")
    reader = _Words(text, start.end()) if version[1] == b"0" else _Bytes(text, start.end(), int(version[2]))
    try:
        numbers = _physical_numbers(reader)
    except (struct.error, ValueError, StopIteration):
        raise ValueError("its section $Entities is cut off or damaged") from None
    end = text.find(b"$EndEntities", reader.place)
    if end < 0 or text[reader.place : end].strip():
        raise ValueError("its section $Entities is cut off or damaged")
    section = re.search(rb"^\$PhysicalNames(.*?)^\$EndPhysicalNames", text[: start.start()], re.M | re.S)
    found = NAME.findall(section[1]) if section else []
    names = {(int(dimension), int(number)): name.decode(errors="replace") for dimension, number, name in found}
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, "one.msh")
        with open(copy, "wb") as file:
            file.write(text[: start.start()])
            file.write(text[end:].split(b"\n", 1)[-1])
        yield copy, Entities(numbers, names)


def add_groups(source, entities: Entities) -> None:
    """Add physical groups to a mesh that meshio has read: (dimension, number) -> (name or number, numbers of blocks of cells)."""
    groups: dict = {}
    for k, (block, tags) in enumerate(zip(source.cells, source.cell_data.get("gmsh:geometrical", []))):
        for number in entities.numbers.get((block.dim, int(tags[0])), []) if len(tags) else []:
            key = block.dim, number
            groups.setdefault(key, (entities.names.get(key, number), []))[1].append(k)
    source.physical_groups = dict(sorted(groups.items()))


def _physical_numbers(reader) -> dict[tuple[int, int], list[int]]:
    """Return numbers of physical groups by entity; the sign of a number, which marks reversed entities, is dropped."""
    numbers = {}
    for dimension, count in enumerate(reader.sizes(4)):
        for _ in range(count):
            (tag,) = reader.integers(1)
            reader.reals(3 if dimension == 0 else 6)
            numbers[dimension, tag] = list(dict.fromkeys(map(abs, reader.integers(*reader.sizes(1)))))
            if dimension > 0:
                reader.integers(*reader.sizes(1))
    return numbers


class _Words:
    """Numbers of a text file, from `place` on."""

    def __init__(self, text: bytes, place: int):
        self._words, self.place = re.compile(rb"[^\s$]+").finditer(text, place), place

    def integers(self, count: int) -> list[int]:
        return [int(self._next()) for _ in range(count)]

    def reals(self, count: int) -> list[float]:
        return [float(self._next()) for _ in range(count)]

    def _next(self) -> bytes:
        word = next(self._words)
        self.place = word.end()
        return word[0]

    sizes = integers


class _Bytes:
    """Numbers of a binary file, from `place` on; counts have `width` bytes."""

    def __init__(self, text: bytes, place: int, width: int):
        self._text, self.place, self._count = text, place, {4: "I", 8: "Q"}[width]

    def integers(self, count: int) -> tuple:
        return self._take("i", count)

    def reals(self, count: int) -> tuple:
        return self._take("d", count)

    def sizes(self, count: int) -> tuple:
        return self._take(self._count, count)

    def _take(self, kind: str, count: int) -> tuple:
        form = f"={count}{kind}"
        values = struct.unpack_from(form, self._text, self.place)
        self.place += struct.calcsize(form)
        return values
