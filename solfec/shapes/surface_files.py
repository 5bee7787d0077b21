"""Closed surfaces from files: STL, OBJ, OFF, PLY (text and binary), and TetGen's POLY and SMESH."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, field

import numpy as np

from .coordinates import check_size
from .polygons import triangulate


@dataclass
class Surface:
    """Triangles with marks, and regions of the volume inside, from a file.

    Attributes
    ----------
    points : ndarray (n, 3)
        In units of length.
    triangles : ndarray (nt, 3)
        Vertex numbers.
    marks : ndarray (nt,)
        Facet markers; zeros where the file has none.
    regions : list of (3 numbers, int)
        Points in regions, and their first attributes.
    """

    points: np.ndarray
    triangles: np.ndarray
    marks: np.ndarray
    regions: list = field(default_factory=list)


def read_surface(path: str) -> Surface:
    """Read a surface by its file's ending.

    Raises
    ------
    ValueError
        An unknown ending, a file that does not have the format of its ending, faces with repeated vertices.
    OSError
        A file that cannot be opened.
    """
    kind = os.path.splitext(path)[1].lower()
    if kind not in READERS:
        raise ValueError(f"'{path}' is not one of the surface files {', '.join(READERS)}")
    with open(path, "rb") as file:
        data = file.read()
    try:
        surface = READERS[kind](data)
        check_size(surface.points, "points")
    except (IndexError, StopIteration, ValueError, KeyError, RuntimeError) as error:
        reason = str(error) or "it ends too early"
        raise ValueError(f"'{path}' cannot be read as {kind[1:].upper()}: {reason}") from None
    if len(surface.triangles) == 0:
        raise ValueError(f"'{path}' holds no faces")
    if surface.triangles.min() < 0 or surface.triangles.max() >= len(surface.points):
        raise ValueError(f"'{path}' uses a vertex number out of range")
    return surface


def _triangulated(points, facets, marks, regions=()) -> Surface:
    """Triangulate facets: each a polygon, or (polygons, points of holes); repeated vertices are an error."""
    points = np.array(points, float).reshape(-1, 3)
    triangles, kept = [], []
    for number, (facet, mark) in enumerate(zip(facets, marks)):
        rings, holes = facet if isinstance(facet, tuple) else ([facet], ())
        for ring in rings:
            if len(set(ring)) < len(ring) or len(ring) < 3:
                raise ValueError(f"face {number} repeats a vertex or has fewer than three")
            if min(ring) < 0 or max(ring) >= len(points):
                raise ValueError(f"face {number} uses a vertex number out of range")
        try:
            cut = [tuple(rings[0])] if len(rings) == 1 and len(rings[0]) == 3 else triangulate(points, rings, holes)
        except ValueError as error:
            raise ValueError(f"face {number}: {error}") from None
        triangles += cut
        kept += [mark] * len(cut)
    return Surface(points, np.array(triangles, int).reshape(-1, 3), np.array(kept, int), list(regions))


def _read_stl(data: bytes) -> Surface:
    count = int(np.frombuffer(data[80:84], "<u4")[0]) if len(data) >= 84 else -1
    if len(data) == 84 + 50 * count:
        record = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
        corners = np.frombuffer(data, record, count, 84)["corners"].astype(float).reshape(-1, 3)
    elif data.lstrip()[:5].lower() == b"solid" and b"facet" in data or len(data) < 84:
        corners = _corners_of_text(data.decode("ascii", "replace").lower())
    else:
        raise ValueError(f"its {count} facets need {84 + 50 * count} bytes, and it has {len(data)}")
    points, numbers = np.unique(corners, axis=0, return_inverse=True)
    triangles = numbers.reshape(-1, 3)
    whole = (triangles != np.roll(triangles, 1, axis=1)).all(1)  # facets without area, which STL writers leave behind
    return Surface(points, triangles[whole], np.zeros(int(whole.sum()), int))


def _corners_of_text(text: str) -> np.ndarray:
    """Corners (3 * facets, 3) of an STL file in text; every facet that the file opens has three."""
    if not re.search(r"^\s*endsolid", text, re.MULTILINE):
        raise ValueError("it ends too early: there is no 'endsolid'")
    words = re.sub(r"(end)?solid\b.*?(?=\bfacet\s+normal\b|$)", "", text, flags=re.MULTILINE).split()
    starts = [i for i, word in enumerate(words) if word == "vertex"]
    if len(starts) != 3 * words.count("facet"):
        raise ValueError(f"it has {words.count('facet')} facets and {len(starts)} lines 'vertex x y z'")
    return np.array([[float(word) for word in words[i + 1 : i + 4]] for i in starts]).reshape(-1, 3)


def _read_obj(data: bytes) -> Surface:
    """Read vertices and faces of Wavefront OBJ; a negative number counts back from the last vertex before the face."""
    points, faces = [], []
    for words in (line.partition("#")[0].split() for line in data.decode("utf-8", "replace").splitlines()):
        if words[:1] == ["v"]:
            points.append([float(w) for w in words[1:4]])
        elif words[:1] == ["f"]:
            numbers = [int(w.partition("/")[0]) for w in words[1:]]
            faces.append([n - 1 if n > 0 else len(points) + n for n in numbers])
    return _triangulated(points, faces, [0] * len(faces))


def _read_off(data: bytes) -> Surface:
    """Read vertices and faces of OFF; further numbers on the line of a face are its colour."""
    lines = (line.partition("#")[0].split() for line in data.decode("ascii", "replace").splitlines())
    lines = [words for words in lines if words]
    if not lines or lines[0][0].upper() != "OFF":
        raise ValueError("it does not start with OFF")
    lines = iter([lines[0][1:], *lines[1:]])
    nodes, count, _ = (int(word) for word in _next_words(lines, 3))
    points = [float(word) for word in _next_words(lines, 3 * nodes)]
    faces = [[int(word) for word in words[1 : 1 + int(words[0])]] for words in (next(lines) for _ in range(count))]
    if (rest := next(lines, None)) is not None:
        raise ValueError(f"'{' '.join(rest)}' follows its last face")
    return _triangulated(points, faces, [0] * count)


def _next_words(lines, count: int) -> list[str]:
    """Return the words of the next lines, up to the line with word number `count`."""
    words: list[str] = []
    while len(words) < count:
        words += next(lines)
    if len(words) > count:
        raise ValueError(f"'{' '.join(words[count:])}' follows what should end its line")
    return words


PLY_TYPES = {
    "char": "i1", "uchar": "u1", "short": "i2", "ushort": "u2", "int": "i4", "uint": "u4", "float": "f4", "double": "f8",
    "int8": "i1", "uint8": "u1", "int16": "i2", "uint16": "u2", "int32": "i4", "uint32": "u4", "float32": "f4",
    "float64": "f8",
}  # fmt: skip


def _read_ply(data: bytes) -> Surface:
    head, end, body = data.partition(b"end_header")
    if not head.startswith(b"ply") or not end:
        raise ValueError("it has no PLY header")
    body = body[body.index(b"\n") + 1 :]
    elements, order = [], None
    for words in (line.split() for line in head.decode("ascii", "replace").splitlines()):
        if words[:1] == ["format"]:
            order = {"ascii": None, "binary_little_endian": "<", "binary_big_endian": ">"}[words[1]]
        elif words[:1] == ["element"]:
            elements.append((words[1], int(words[2]), []))
        elif words[:1] == ["property"]:
            elements[-1][2].append(words[1:])
    values = _ply_values(body, order)
    points, faces = [], []
    for name, count, properties in elements:
        for _ in range(count):
            row = {}
            for kind, *rest in properties:
                if kind == "list":
                    row[rest[2]] = [values(rest[1]) for _ in range(int(values(rest[0])))]
                else:
                    row[rest[0]] = values(kind)
            if name == "vertex":
                points.append((row["x"], row["y"], row["z"]))
            elif name == "face":
                faces.append([int(v) for v in row.get("vertex_indices", row.get("vertex_index", ()))])
    return _triangulated(points, faces, [0] * len(faces))


def _ply_values(body: bytes, order: str | None):
    """A function that returns the next value of a given type."""
    if order is None:
        words = iter(body.decode("ascii", "replace").split())
        return lambda kind: float(next(words))
    at = 0

    def value(kind: str):
        nonlocal at
        kind = np.dtype(order + PLY_TYPES[kind])
        at += kind.itemsize
        return np.frombuffer(body, kind, 1, at - kind.itemsize)[0].item()

    return value


def _read_poly(data: bytes) -> Surface:
    """Read TetGen's POLY (facets of several polygons) and SMESH (facets of one polygon, marker at the end of the line)."""
    lines = [line.split() for line in data.decode("ascii", "replace").splitlines()]
    lines = iter([words[: next((i for i, w in enumerate(words) if w.startswith("#")), None)] for words in lines])
    lines = (words for words in lines if words)
    count = int(next(lines)[0])
    rows = [next(lines) for _ in range(count)]
    if not rows:
        raise ValueError("points in a separate .node file are not supported; put them into this file")
    base = int(rows[0][0])
    points = [[float(w) for w in row[1:4]] for row in rows]
    header = [int(w) for w in next(lines)]
    marked, facets, marks = len(header) > 1 and header[1] > 0, [], []
    text = iter(lines)
    for number in range(header[0]):
        words = [int(float(w)) for w in next(text)]
        rings, holes, mark = _poly_facet(words, text, marked, number)
        facets.append(([[v - base for v in ring] for ring in rings], holes))
        marks.append(mark)
    holes = next(text, ["0"])
    if int(holes[0]):
        raise ValueError("holes are not supported: leave out the hole's point and give regions instead")
    regions = [next(text) for _ in range(int(next(text, ["0"])[0]))]
    return _triangulated(points, facets, marks, [([float(w) for w in r[1:4]], int(float(r[4]))) for r in regions if len(r) > 4])


def _poly_facet(words: list[int], lines, marked: bool, number: int) -> tuple[list[list[int]], list[list[float]], int]:
    """Return polygons, points of holes and marker of one facet."""
    if words[0] >= 3 and len(words) > words[0]:  # SMESH: corners on the same line
        return [words[1 : words[0] + 1]], [], words[words[0] + 1] if marked and len(words) > words[0] + 1 else 0
    rings = []
    for _ in range(words[0]):
        corners = [int(w) for w in next(lines)]
        count = corners.pop(0)
        while len(corners) < count:
            corners += [int(w) for w in next(lines)]
        rings.append(corners[:count])
    if not rings or min(len(ring) for ring in rings) < 3:
        raise ValueError(f"facet {number} has no polygons, or single points or lines among them; leave these out")
    holes = [[float(w) for w in next(lines)[1:4]] for _ in range(words[1] if len(words) > 1 else 0)]
    return rings, holes, words[2] if marked and len(words) > 2 else 0


READERS = {".stl": _read_stl, ".obj": _read_obj, ".off": _read_off, ".ply": _read_ply, ".poly": _read_poly, ".smesh": _read_poly}
"""Readers of files, by ending."""
