"""Abaqus decks of parts and an assembly, as far as old inputs use them: solid elements, node sets, materials, instances."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from ..element_types import BY_SIZE, ELEMENT_TYPES
from .mesh import Mesh
from .transform import rotation_matrix

CORNERS = {count: kind.size for kind in ELEMENT_TYPES for count in kind.abaqus}  # of solid elements by their numbers of nodes
SURFACE_SET = re.compile(r"SURF0*(\d+)")


class DeckError(ValueError):
    """An error in a deck, with its line."""


@dataclass
class Part:
    """Nodes and elements of a part.

    Attributes
    ----------
    nodes : dict of int: tuple of 3
        Coordinates, in units of length, by Abaqus' number.
    elements : list of tuple
        Abaqus' numbers of corner nodes; those between corners are left out.
    sets : dict of str: list of int
        Abaqus' numbers of nodes by set.
    nodesets : dict of str: list of int
        Nodes of the mesh, numbered from 0, by set.
    material : str
        Name of its material, that of the last section; '' when no section names one.
    ignored : list of str
        Materials of other sections.
    """

    name: str
    nodes: dict[int, tuple[float, float, float]] = field(default_factory=dict)
    elements: list[tuple[int, ...]] = field(default_factory=list)
    sets: dict[str, list[int]] = field(default_factory=dict)
    nodesets: dict[str, list[int]] = field(default_factory=dict)
    material: str = ""
    ignored: list[str] = field(default_factory=list)

    def mesh(self, surface_id: int, volume_id: int) -> Mesh:
        """Return the mesh of the part; faces with all corners in a set SURFn get the identifier n, others `surface_id`."""
        if not self.elements:
            raise DeckError(f"part {self.name} has no elements")
        used = sorted({node for element in self.elements for node in element})
        lost = [node for node in used if node not in self.nodes]
        if lost:
            raise DeckError(f"part {self.name}: node {lost[0]} of an element is not there")
        place = {node: k for k, node in enumerate(used)}
        self.nodesets = {name: [place[node] for node in nodes if node in place] for name, nodes in self.sets.items()}
        surfaces = [(int(m[1]), set(self.sets[name])) for name in self.sets if (m := SURFACE_SET.fullmatch(name))]
        records, faces = [], []
        for element in self.elements:
            records += [len(element), *(place[node] for node in element), volume_id]
            for face in ([element[c] for c in corners] for corners in BY_SIZE[len(element)].faces):
                identifier = next((number for number, nodes in surfaces if nodes.issuperset(face)), None)
                if identifier is not None:
                    faces.append((len(face), *(place[node] for node in face), identifier))
        coordinates = [x for node in used for x in self.nodes[node]]
        return Mesh.from_records(coordinates, records, [surface_id, *(x for face in self._outer(faces) for x in face)])

    @staticmethod
    def _outer(faces: list[tuple]) -> list[tuple]:
        """Return faces that belong to one element only: a set around a corner of the mesh contains inner faces, too."""
        count: dict[tuple, int] = {}
        for face in faces:
            key = tuple(sorted(face[1:-1]))
            count[key] = count.get(key, 0) + 1
        return [face for face in faces if count[tuple(sorted(face[1:-1]))] == 1]


@dataclass
class Placement:
    """An instance of a part: a translation by `shift`, then a rotation about an axis through two points by an angle in degrees."""

    name: str
    part: Part
    shift: tuple[float, ...] = (0.0, 0.0, 0.0)
    turn: tuple[float, ...] | None = None

    def put(self, mesh: Mesh) -> None:
        """Move a mesh of the part to its place."""
        mesh.translate(np.array(self.shift))
        if self.turn is not None:
            one, two = np.array(self.turn[:3]), np.array(self.turn[3:6])
            if np.array_equal(one, two):
                raise DeckError(f"instance {self.name}: the points of its axis coincide")
            mesh.rotate(one, rotation_matrix(two - one, self.turn[6]))


@dataclass
class Deck:
    """Contents of a deck: parts, instances in the order of the file, and materials, name: (density, Young's modulus, Poisson's ratio)."""

    parts: dict[str, Part] = field(default_factory=dict)
    instances: dict[str, Placement] = field(default_factory=dict)
    materials: dict[str, dict[str, float]] = field(default_factory=dict)


def read_deck(path: str) -> Deck:
    """Read a deck.

    Raises
    ------
    OSError
        The file cannot be read.
    DeckError
        The error with its line: no *HEADING at first, elements that are not solid, node sets made from element sets,
        *INCLUDE and *SYSTEM, which are not supported, invalid numbers, unknown parts, more than one assembly.
    """
    return _Reading(path).deck


class _Reading:
    """The state of reading a deck."""

    def __init__(self, path: str):
        self.deck, self.part, self.material, self.in_assembly, self.assemblies = Deck(), None, None, False, 0
        first = True
        for line, keyword, parameters, rows in _blocks(path):
            if first and keyword != "HEADING":
                raise DeckError(f"line {line}: a deck begins with *HEADING, not with *{keyword}")
            first = False
            handler = getattr(self, "_" + keyword.lower().replace(" ", "_"), None)
            if handler is not None:
                try:
                    handler(parameters, rows)
                except (ValueError, IndexError, KeyError) as error:
                    what = f"{error.args[0]!r} is not there" if isinstance(error, KeyError) else error
                    raise DeckError(f"line {line}: *{keyword}: {what}") from None
        if first:
            raise DeckError("the file holds no keywords: a deck begins with *HEADING")
        if not self.deck.instances:  # a flat deck, or parts alone
            self.deck.instances = {name: Placement(name, part) for name, part in self.deck.parts.items()}

    def _present(self) -> Part:
        """Return the part that receives nodes and elements; a flat deck has an unnamed part."""
        if self.part is None:
            self.part = self.deck.parts.setdefault("PART-1", Part("PART-1"))
        return self.part

    def _part(self, parameters, rows):
        if parameters["NAME"] in self.deck.parts:
            raise DeckError(f"there are two parts {parameters['NAME']}")
        self.part = self.deck.parts[parameters["NAME"]] = Part(parameters["NAME"])

    def _end_part(self, parameters, rows):
        self.part = None

    def _node(self, parameters, rows):
        if self.in_assembly:  # reference points
            return
        part = self._present()
        for row in rows:
            part.nodes[int(row[0])] = tuple(float(x) for x in (*row[1:4], "0", "0")[:3])
        if "NSET" in parameters:
            part.sets.setdefault(parameters["NSET"], []).extend(int(row[0]) for row in rows)

    def _element(self, parameters, rows):
        kind = parameters["TYPE"]
        count = int(match[1]) if (match := re.fullmatch(r"C3D(\d+)[A-Z]*", kind)) else 0
        if count not in CORNERS:
            *names, last = (f"C3D{n}" for n in sorted(CORNERS))
            raise DeckError(f"elements of type {kind} are not supported, but {', '.join(names)} and {last}")
        numbers = [int(item) for row in rows for item in row]
        if len(numbers) % (count + 1):
            raise DeckError(f"the last element is cut short: each of {kind} has a number and {count} nodes")
        part = self._present()
        for at in range(0, len(numbers), count + 1):
            part.elements.append(tuple(numbers[at + 1 : at + 1 + CORNERS[count]]))

    def _nset(self, parameters, rows):
        name = parameters["NSET"]
        if "INTERNAL" in parameters:
            return
        if "ELSET" in parameters or "INSTANCE" in parameters:
            if self.in_assembly and not SURFACE_SET.fullmatch(name):
                return  # sets of loads and supports, which are not read
            raise DeckError(f"the node set {name} must list the nodes of a part, not take them from an element set or instance")
        part, nodes = self._present(), []
        for row in rows:
            if "GENERATE" in parameters:
                low, high, *step = map(int, row)
                nodes += range(low, high + 1, *step)
            else:
                for item in row:
                    nodes += [int(item)] if re.fullmatch(r"\d+", item) else part.sets[item]
        part.sets.setdefault(name, []).extend(nodes)

    def _solid_section(self, parameters, rows):
        part, material = self._present(), parameters["MATERIAL"]
        if part.material not in ("", material):
            part.ignored.append(part.material)
        part.material = material

    def _assembly(self, parameters, rows):
        self.assemblies += 1
        if self.assemblies > 1:
            raise DeckError("there are two assemblies")
        self.in_assembly, self.part = True, None

    def _end_assembly(self, parameters, rows):
        self.in_assembly = False

    def _instance(self, parameters, rows):
        name, numbers = parameters["NAME"], [[float(x) for x in row] for row in rows]
        if name in self.deck.instances:
            raise DeckError(f"there are two instances {name}")
        if [len(row) for row in numbers] not in ([], [3], [7], [3, 7]):
            raise DeckError("an instance has 3 numbers that move it and 7 that turn it, on lines of their own")
        placement = self.deck.instances[name] = Placement(name, self.deck.parts[parameters["PART"]])
        for row in numbers:
            if len(row) == 3:
                placement.shift = tuple(row)
            else:
                placement.turn = tuple(row)

    def _material(self, parameters, rows):
        self.material = self.deck.materials.setdefault(parameters["NAME"], {})

    def _density(self, parameters, rows):
        if self.material is not None:
            self.material["density"] = float(rows[0][0])

    def _elastic(self, parameters, rows):
        if parameters.get("TYPE", "ISOTROPIC") not in ("ISOTROPIC", "ISO"):
            raise DeckError("materials other than isotropic ones are not supported")
        if self.material is not None:
            self.material["young"], self.material["poisson"] = float(rows[0][0]), float(rows[0][1])

    def _include(self, parameters, rows):
        raise DeckError("not supported; put everything into one file")

    def _system(self, parameters, rows):
        raise DeckError("not supported; give nodes in the coordinates of the part")


def _blocks(path: str) -> Iterator[tuple[int, str, dict[str, str], list[list[str]]]]:
    """Yield line, keyword, parameters and rows of data of every keyword of a file, in capitals and without quotes."""
    block = None
    with open(path, encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, 1):
            line = line.strip().upper().replace('"', "").replace("'", "")
            if not line or line.startswith("**"):
                continue
            if line.startswith("*"):
                if block is not None:
                    yield block
                keyword, *parameters = (part.strip() for part in line[1:].split(","))
                pairs = (part.partition("=") for part in parameters if part)
                block = number, " ".join(keyword.split()), {k.strip(): v.strip() for k, _, v in pairs}, []
            elif block is None:
                raise DeckError(f"line {number}: a deck begins with *HEADING")
            else:
                block[3].append([item.strip() for item in line.split(",") if item.strip()])
    if block is not None:
        yield block
