"""Sections of bodies by planes: polygons of convex parts and elements, with values of results."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..bodies.finite_elements import compiled
from ..bodies.table import BodyKind
from ..element_types import BY_SIZE
from ..errors import SolfecError
from ..kinds import PrimitiveKind
from ..tables import ranges
from . import fields

AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


@dataclass
class Plane:
    """A plane that cuts away points with n . x > offset, n the unit `normal` (3,); `referential`: x are points of the referential shape."""

    normal: np.ndarray
    offset: float
    referential: bool = False

    @classmethod
    def of(cls, text: str, middle, referential: bool = False) -> Plane:
        """Read 'x', '-z:0.5' or '1,1,0:0.5': a normal, and the offset from the origin along it, by default that of the point `middle`."""
        direction, _, at = text.partition(":")
        try:
            sign, axis = (-1.0, direction[1:]) if direction[:1] == "-" and direction[1:] in AXES else (1.0, direction)
            normal = sign * np.array(AXES[axis] if axis in AXES else [float(word) for word in axis.split(",")])
            size = float(np.linalg.norm(normal))
            if normal.shape != (3,) or not 0.0 < size < np.inf:
                raise ValueError
            offset = float(at) if at else float(normal @ np.asarray(middle)) / size
        except ValueError:
            raise SolfecError(f"{text!r} is no cut; x, -z:0.5 and 1,1,0:0.5 are some: a normal, and an offset along it") from None
        return cls(normal / size, offset, referential)

    def words(self) -> str:
        """Return the plane as text for `of`."""
        return ",".join(repr(float(x)) for x in self.normal) + f":{float(self.offset)!r}"

    def row(self) -> np.ndarray:
        """Return normal and offset (4,)."""
        return np.append(self.normal, self.offset)


class Cells:
    """Edges of convex parts and elements of all bodies; valid until `Geometry.version` changes.

    Points are the vertices of the geometry, followed by the nodes of finite element bodies.

    Attributes
    ----------
    edges : ndarray (n, 3)
        Cell and two points.
    body, element : ndarray (cells,)
        Rows of bodies, and elements as they are numbered in finite element bodies; -1 for other cells.
    """

    def __init__(self, domain):
        primitives, geometry, fe = domain.geometry.primitives, domain.geometry, compiled(domain.bodies)
        self.version, kind, body = geometry.version, primitives.view("kind"), primitives.view("body")
        whole = (domain.bodies.view("kind") == BodyKind.FINITE_ELEMENT)[body] & ~np.isin(body, fe.embedded)
        rows = np.flatnonzero(((kind == PrimitiveKind.CONVEX) | (kind == PrimitiveKind.ELEMENT)) & ~whole)
        faces = ranges(primitives.view("face_ptr")[rows], primitives.view("face_count")[rows])
        start, count = geometry.faces.view("corner_ptr")[faces], geometry.faces.view("corner_count")[faces]
        corner, following = ranges(start, count), np.arange(count.sum()) + 1
        last = np.cumsum(count) - 1
        following[last] = last - count + 1
        vertex = geometry.corners.view("vertex")[corner]
        cell = np.repeat(np.repeat(np.arange(len(rows)), primitives.view("face_count")[rows]), count)
        pieces, bodies, elements = [np.stack([cell, vertex, vertex[following]], 1)], [body[rows]], [np.full(len(rows), -1)]
        if fe.count:
            own, nodes = _element_edges(domain, fe)
            number = np.cumsum(own) - 1 + len(rows)
            pieces.append(np.stack([number[nodes[:, 0]], nodes[:, 1] + geometry.vertices.n, nodes[:, 2] + geometry.vertices.n], 1)[own[nodes[:, 0]]])
            count = np.diff(fe.first_element)
            bodies.append(np.repeat(fe.rows, count)[own])
            elements.append((np.arange(len(own)) - np.repeat(fe.first_element[:-1], count))[own])
        edges = np.concatenate(pieces).astype(np.int64)
        edges[:, 1:] = np.sort(edges[:, 1:], axis=1)
        self.edges, self.body, self.element = np.unique(edges, axis=0), np.concatenate(bodies), np.concatenate(elements)

    def references(self, domain) -> np.ndarray:
        """Return referential positions (n, 3) of points."""
        fe, parts = compiled(domain.bodies), [domain.geometry.vertices.view("reference").T]
        if fe.count:
            parts.append(fe.reference.T)
        return np.concatenate(parts)

    def points(self, domain) -> np.ndarray:
        """Return current positions (n, 3) of points."""
        fe, parts = compiled(domain.bodies), [domain.geometry.vertices.view("current").T]
        if fe.count:
            parts.append((fe.reference + domain.bodies.configurations.conf[:, fe.conf_row]).T)
        return np.concatenate(parts)

    def values(self, domain, name: str) -> np.ndarray:
        """Return values (n,) of a result at points."""
        parts = [fields.at_vertices(domain, name)]
        if compiled(domain.bodies).count:
            parts.append(fields.at_nodes(domain, name))
        return np.concatenate(parts)


def _element_edges(domain, fe) -> tuple[np.ndarray, np.ndarray]:
    """Return a mask (ne,) of elements that are cut themselves, not as a background mesh; and element and nodes (n, 3) of all edges."""
    owner = np.repeat(fe.rows, np.diff(fe.first_element))
    pieces = []
    for size, kind in BY_SIZE.items():
        pairs = np.array(sorted({tuple(sorted(pair)) for face in kind.faces for pair in zip(face, face[1:] + face[:1])}))
        which = np.flatnonzero(fe.element_size[: len(owner)] == size)
        nodes = fe.element_node[:, which].T[:, pairs] + domain.bodies.node_ptr[owner[which], None, None]
        pieces.append(np.concatenate([np.repeat(which, len(pairs))[:, None], nodes.reshape(-1, 2)], axis=1))
    return ~np.isin(owner, fe.embedded), np.concatenate(pieces)


@dataclass
class Section:
    """Triangles of a section.

    Attributes
    ----------
    corners, references : ndarray (n, 3, 3)
        Current and referential.
    values : ndarray (n, 3)
    body, cell : ndarray (n,)
        Rows of bodies and of `Cells`.
    """

    corners: np.ndarray
    references: np.ndarray
    values: np.ndarray
    body: np.ndarray
    cell: np.ndarray

    def area(self, row: int | None = None) -> float:
        """Return the area of the section of all bodies, or of one."""
        corners = self.corners if row is None else self.corners[self.body == row]
        return 0.5 * float(np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1).sum())


def section(cells: Cells, plane: Plane, points: np.ndarray, values: np.ndarray, references: np.ndarray | None = None) -> Section:
    """Cut cells by a plane; their points (n, 3) have values (n,), and without `references` (n, 3) have not moved."""
    references = points if references is None else references
    height = (references if plane.referential else points) @ plane.normal - plane.offset
    low, high = height[cells.edges[:, 1]], height[cells.edges[:, 2]]
    crossed = (low < 0) != (high < 0)
    cell, a, b = cells.edges[crossed].T
    part = (low[crossed] / (low[crossed] - high[crossed]))[:, None]
    at = np.concatenate([references, points, values[:, None]] if plane.referential else [points, references, values[:, None]], axis=1)
    at = (1 - part) * at[a] + part * at[b]
    kept, cell = np.unique(cell, return_inverse=True)
    count = np.bincount(cell, minlength=len(kept))
    middle = np.stack([np.bincount(cell, at[:, k], len(kept)) for k in range(3)], 1) / np.maximum(count, 1)[:, None]
    side = np.eye(3)[np.argmin(np.abs(plane.normal))]
    right = np.cross(plane.normal, side)
    right /= np.linalg.norm(right)
    away = at[:, :3] - middle[cell]
    angle = np.arctan2(away @ np.cross(plane.normal, right), away @ right)
    order = np.lexsort((angle, cell))
    first, fans = np.cumsum(count) - count, np.maximum(count - 2, 0)  # polygons as fans around their first corner
    owner = np.repeat(np.arange(len(kept)), fans)
    within = np.arange(fans.sum()) - (np.cumsum(fans) - fans)[owner]
    corner = order[np.stack([first[owner], first[owner] + within + 1, first[owner] + within + 2], 1)]
    cut, other = at[corner, :3], at[corner, 3:6]
    current, reference = (other, cut) if plane.referential else (cut, other)
    return Section(current, reference, at[corner, 6], cells.body[kept[owner]], kept[owner])
