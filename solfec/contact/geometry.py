"""The geometry tables: vertices, faces and convex primitives of every body's shape.

A contact is always between two primitives: a convex polyhedron, a mesh element with a free face, a sphere or
an ellipsoid.  A primitive lists its vertices by number, so elements of one mesh share
nodes; faces list vertices by *global* vertex number, counter-clockwise seen from outside.
"""

from __future__ import annotations

import copy
from collections.abc import Collection

import numpy as np

from .. import _kernels
from ..kinds import PrimitiveKind
from ..tables import Gaps, Table, handles_of, opened, starts

IDENTITY = np.eye(3)

_write_polyhedron, _write_ball = _kernels.shape_rows.write_polyhedron, _kernels.shape_rows.write_ball


class VertexTable(Table):
    """Vertices of all shapes; a sphere has one, its centre."""

    REFILLED = True
    COLUMNS = {
        "reference": ((3,), "f8", 0.0),
        "current": ((3,), "f8", 0.0),
        "body": ((), "i4", -1),  # row of the body that moves it
        "node": ((), "i4", -1),  # of a finite element body: mesh node of the vertex
    }
    POINTS_INTO = {"body": "BodyTable"}


class VertexListTable(Table):
    """Vertex numbers of primitives, one list after another."""

    REFILLED = True
    COLUMNS = {"vertex": ((), "i4", -1)}
    POINTS_INTO = {"vertex": "VertexTable"}


class FaceTable(Table):
    """Planar faces of polyhedra and elements, those of one primitive together, outer ones first.

    Coplanar neighbours with one surface identifier are one polygon; a warped quadrilateral is two triangles, except
    in finite element bodies, where `current_faces` splits it as it deforms.
    """

    REFILLED = True
    COLUMNS = {
        "corner_ptr": ((), "i4", 0),  # first row of the corner table
        "corner_count": ((), "i4", 0),
        "surface": ((), "i4", 0),  # surface identifier
        "normal": ((3,), "f8", 0.0),  # current unit outward normal; the plane passes through the first corner
    }
    POINTS_INTO = {"corner_ptr": "CornerTable"}
    normals_elsewhere = False  # whether the present normals are those of `current_faces` alone

    def _idle_among(self, first: int, stop: int) -> Collection[str]:
        return ("normal",) if self.normals_elsewhere else ()


class CornerTable(Table):
    """Vertex numbers of faces, one polygon after another."""

    REFILLED = True
    COLUMNS = {
        "vertex": ((), "i4", -1),
        "local": ((), "i4", 0),  # the vertex's position in the list of the face's primitive
        "edge": ((), "i4", 0),  # edges of the primitive, packed; they fill half of the rows of its faces
    }
    POINTS_INTO = {"vertex": "VertexTable"}


class AdjacencyTable(Table):
    """Primitives adjacent to primitives (sharing a node, or touching in the reference shape), sorted lists."""

    REFILLED = True
    COLUMNS = {"primitive": ((), "i4", -1)}
    POINTS_INTO = {"primitive": "PrimitiveTable"}


OF_SHAPES = ("kind", "volume_id", "surface", "radius", "vertex_count", "face_count", "outer_count", "adjacent_count")  # columns as shapes have them
OF_ELLIPSOIDS = ("radii", "orientation", "axes")  # columns that are the same in all other primitives


class PrimitiveTable(Table):
    """One row per convex primitive; the primitives of a body are consecutive."""

    REFILLED = True
    COLUMNS = {
        "kind": ((), "i4", 0),  # PrimitiveKind
        "body": ((), "i4", -1),  # row of the body table
        "number": ((), "i4", 0),  # number within the body; with the body's id it identifies the primitive
        "deforming": ((), "i4", 0),  # 1: of a finite element body, whose faces warp
        "volume_id": ((), "i4", 0),
        "element": ((), "i4", -1),  # of a finite element body: mesh element of the primitive
        "surface": ((), "i4", 0),  # surface identifier of a sphere or ellipsoid
        "radius": ((), "f8", 0.0),  # of a sphere
        "radii": ((3,), "f8", 0.0),  # of an ellipsoid: referential semi-axes
        "orientation": ((3, 3), "f8", 0.0),  # of an ellipsoid: columns are the directions of its axes, referential
        "axes": ((3, 3), "f8", 0.0),  # current columns: the ellipsoid's points are centre + axes s, |s| <= 1
        "vertex_ptr": ((), "i4", 0),  # first row of the vertex list table
        "vertex_count": ((), "i4", 0),
        "face_ptr": ((), "i4", 0),  # first row of the face table
        "face_count": ((), "i4", 0),
        "outer_count": ((), "i4", 0),  # leading faces that lie on the body's surface
        "edge_count": ((), "i4", -2),  # -2: not listed yet, -1: cannot be listed (current_faces)
        "adjacent_ptr": ((), "i4", 0),  # first row of the adjacency table
        "adjacent_count": ((), "i4", 0),
        "margin": ((), "f8", 0.0),  # pairs within the lesser of both margins are in contact
        "drift": ((3, 4), "f8", 0.0),  # motion within the step: of the box's centre (last column), and its gradient; if short compared with the margin, without what loads add, and 0 at rest
        "push": ((3,), "f8", 0.0),  # part of the motion of the box's centre within the step that the step's loads make, which contacts may bear; 0 if the motion is short
        "reach": ((), "f8", 0.0),  # margin plus twice the longest motion of a point: pairs nearer than half the sum of both may come into contact
        "box": ((6,), "f8", 0.0),  # current box enlarged by the geometric epsilon: lower corner, upper corner
    }
    POINTS_INTO = {
        "body": "BodyTable",
        "vertex_ptr": "VertexListTable",
        "face_ptr": "FaceTable",
        "adjacent_ptr": "AdjacencyTable",
    }

    def append_shape(self, shape: ShapePrimitives, body_row: int, deforming: bool, pointers: dict[str, int]) -> None:
        """Append the primitives of one body's shape; `pointers` are first rows of theirs in other tables."""
        columns = {name: getattr(shape, name) for name in OF_SHAPES}
        count = shape.kind.size
        columns.update(radii=shape.radii, orientation=shape.orientation, axes=shape.orientation * shape.radii)
        columns.update((name, getattr(shape, name) + first) for name, first in pointers.items())
        self.append(count, body=body_row, deforming=int(deforming), number=np.arange(count), **columns)

    def _idle_among(self, first: int, stop: int) -> Collection[str]:
        return () if (self.kind[first:stop] == PrimitiveKind.ELLIPSOID).any() else OF_ELLIPSOIDS


OPENED_TOGETHER = {
    "geometry_tables": {
        "vertices": "VertexTable", "vertex_lists": "VertexListTable", "corners": "CornerTable", "faces": "FaceTable",
        "primitives": "PrimitiveTable",
    },
    "present_tables": {
        "vertices": "VertexTable", "vertex_lists": "VertexListTable", "adjacency": "AdjacencyTable", "primitives": "PrimitiveTable",
        "faces": "CurrentFaces",
    },
}  # fmt: skip


class Geometry:
    """All geometry tables of one domain."""

    def __init__(self):
        self.vertices = VertexTable()
        self.vertex_lists = VertexListTable()
        self.faces = FaceTable()
        self.corners = CornerTable()
        self.adjacency = AdjacencyTable()
        self.primitives = PrimitiveTable()
        self._join_handles()
        self.version = 0  # increases when primitives are added or removed
        self.workspace = None  # arrays that detection reuses in every step
        self.current = None  # present faces, see current_faces

    def __deepcopy__(self, memo: dict):
        copied = memo[id(self)] = type(self)()
        mine = {name: value for name, value in vars(self).items() if name not in ("workspace", "current")}
        vars(copied).update(copy.deepcopy(mine, memo))
        copied._join_handles()
        return copied

    def _join_handles(self) -> None:
        """Keep the handles of the tables that a polyhedron has rows in side by side."""
        self.handles = handles_of(self, OPENED_TOGETHER["geometry_tables"])

    @property
    def tables(self) -> tuple[Table, ...]:
        """The tables, vertices first."""
        return (self.vertices, self.vertex_lists, self.faces, self.corners, self.adjacency, self.primitives)

    def kinds_of(self, bodies, row: int) -> np.ndarray:
        """Kinds of the primitives of a body."""
        first = int(bodies.primitive_ptr[row])
        return self.primitives.kind[first : first + int(bodies.primitive_count[row])]

    def add(self, body_row: int, shape: ShapePrimitives, deforming: bool = False) -> tuple[int, int]:
        """Append the primitives of one body's shape; return (first primitive row, number of primitives).

        Faces of `deforming` bodies may warp.
        """
        primitive, count = self.primitives.n, shape.kind.size
        if count > 1 or shape.adjacency.size:  # an element is a neighbour of itself
            self._add_primitives(body_row, shape, deforming)
        elif shape.corners.size:
            self._add_polyhedron(body_row, shape, deforming)
        else:
            self._add_ball(body_row, shape)
        self.version += 1
        if self.workspace is not None:
            self.workspace.add(self.version)
        if self.current is not None and self.current.deforming.size and self.current.version == self.version - 1:
            self.current.append(self, primitive)
        return primitive, count

    def _add_polyhedron(self, body_row: int, shape: ShapePrimitives, deforming: bool) -> None:
        """Append one polyhedron."""
        self.vertices.extend(shape.vertices.shape[1])
        self.vertex_lists.extend(shape.vertex_list.size)
        self.corners.extend(shape.corners.size)
        self.faces.extend(shape.face_surface.size)
        self.primitives.extend(1)
        opened(_write_polyhedron(
            self.handles, body_row, self.adjacency.n, shape.kind.item(), shape.volume_id.item(), shape.outer_count.item(), deforming,
            shape.vertices, shape.vertex_list, shape.corners, shape.local, shape.face_corner_ptr, shape.face_corner_count, shape.face_surface,
        ))  # fmt: skip

    def _add_ball(self, body_row: int, shape: ShapePrimitives) -> None:
        """Append one sphere or ellipsoid."""
        self.vertices.extend(1)
        self.vertex_lists.extend(1)
        self.primitives.extend(1)
        opened(_write_ball(
            self.handles, body_row, self.adjacency.n, shape.kind.item(), shape.volume_id.item(), shape.surface.item(),
            shape.vertices, shape.radius.item(), shape.radii, shape.orientation,
        ))  # fmt: skip

    def _add_primitives(self, body_row: int, shape: ShapePrimitives, deforming: bool) -> None:
        """Append elements, or several primitives."""
        vertex = self.vertices.append(
            shape.vertices.shape[1], reference=shape.vertices, current=shape.vertices, body=body_row
        )
        pointers = {
            "vertex_ptr": self.vertex_lists.append(shape.vertex_list.size, vertex=shape.vertex_list + vertex),
            "face_ptr": self.faces.n,
            "adjacent_ptr": self.adjacency.n,
        }
        if shape.corners.size:
            corner = self.corners.append(shape.corners.size, vertex=shape.corners + vertex, local=shape.local)
            self.faces.append(
                shape.face_surface.size,
                corner_ptr=shape.face_corner_ptr + corner,
                corner_count=shape.face_corner_count,
                surface=shape.face_surface,
            )
        if shape.adjacency.size:
            self.adjacency.append(shape.adjacency.size, primitive=shape.adjacency + self.primitives.n)
        self.primitives.append_shape(shape, body_row, deforming, pointers)

    def clear(self) -> None:
        """Remove all primitives; shapes that come are new to detection."""
        for table in self.tables:
            table.keep(np.zeros(table.n, bool))
        self.version += 1

    def remove(self, bodies: np.ndarray, renumbered: np.ndarray) -> np.ndarray:
        """Remove the primitives of the bodies marked in `bodies`; return the map from old to new primitive rows.

        Parameters
        ----------
        bodies : (n,) bool
            Marked rows of the body table (as it was before the removal).
        renumbered : (n,) int
            New row of every old body row, -1 where removed.
        """
        rows, n = np.flatnonzero(bodies).astype(np.int32), self.primitives.n  # as `body`, or searches would convert that column
        gaps = {"BodyTable": Gaps(rows, rows + 1), **self._gaps(rows)}
        moved = gaps["PrimitiveTable"].rows(n)
        present = self.current
        self.faces.normals_elsewhere = present is not None and present.own
        if present is not None and present.deforming.size and present.version == self.version:
            present.remove(gaps)
            present.version += 1
        for table in self.tables:
            table.close(gaps)
        self.version += 1
        if self.workspace is not None:
            self.workspace.remove(gaps, self.version, renumbered, moved)
        return moved

    def _gaps(self, rows: np.ndarray) -> dict[str, Gaps]:
        """What the tables lack without some rows of the body table, ascending: all that a body owns stands together, in the order of bodies."""
        primitives, faces, owner = self.primitives, self.faces, self.vertices.view("body")
        gaps = {"VertexTable": Gaps(np.searchsorted(owner, rows), np.searchsorted(owner, rows, "right"))}
        owner = primitives.view("body")
        parts = np.searchsorted(owner, rows), np.searchsorted(owner, rows, "right")
        gaps["PrimitiveTable"] = Gaps(*parts)
        for table, pointer in ((self.vertex_lists, "vertex_ptr"), (faces, "face_ptr"), (self.adjacency, "adjacent_ptr")):
            gaps[type(table).__name__] = Gaps(*(starts(primitives.view(pointer), part, table.n) for part in parts))
        lost = gaps["FaceTable"]
        gaps["CornerTable"] = Gaps(*(starts(faces.view("corner_ptr"), part, self.corners.n) for part in (lost.start, lost.stop)))
        return gaps


class ShapePrimitives:
    """The primitives of one body's shape before they join the tables, numbered from zero.

    Attributes mirror the tables' columns: `vertices` (3, nv); `vertex_list`, `vertex_ptr`, `vertex_count`;
    `corners` (vertex numbers), `local` (see CornerTable), `face_corner_ptr`, `face_corner_count`, `face_surface` per face; `kind`,
    `volume_id`, `surface`, `radius`, `face_ptr`, `face_count`, `outer_count`, `adjacency` (primitive numbers),
    `adjacent_ptr`, `adjacent_count` per primitive; and, only where there are ellipsoids, their `radii` (3, np) and
    `orientation` (3, 3, np).
    """

    NAMES = (
        "vertices", "vertex_list", "vertex_ptr", "vertex_count", "corners", "local", "face_corner_ptr",
        "face_corner_count", "face_surface", "kind", "volume_id", "surface", "radius", "face_ptr", "face_count",
        "outer_count", "adjacency", "adjacent_ptr", "adjacent_count", "radii", "orientation",
    )  # fmt: skip

    def __init__(self, **arrays):
        if "radii" not in arrays:
            arrays.update(no_curvature(len(arrays["kind"])))
        if "local" not in arrays:
            arrays["local"] = local_corners(arrays["vertices"].shape[1], arrays)
        vars(self).update(arrays)

    @classmethod
    def of(cls, shared: dict, **own: np.ndarray) -> ShapePrimitives:
        """Return primitives of all columns: those that many bodies share, and their own."""
        made = object.__new__(cls)
        vars(made).update(shared, **own)
        return made


def no_curvature(count: int) -> dict[str, np.ndarray]:
    """Columns of so many primitives that are no ellipsoids."""
    return NO_CURVATURE if count == 1 else {"radii": np.zeros((3, count)), "orientation": np.repeat(IDENTITY[:, :, None], count, axis=2)}


NO_CURVATURE = {"radii": np.zeros((3, 1)), "orientation": IDENTITY[:, :, None]}


def local_corners(vertices: int, columns: dict) -> np.ndarray:
    """For every face corner the position of its vertex in the vertex list of the face's primitive, from columns of so many vertices."""
    if len(columns["corners"]) == 0:  # spheres
        return np.zeros(0, "i4")
    names = ("vertex_ptr", "vertex_count", "vertex_list", "face_ptr", "face_count", "face_corner_ptr", "face_corner_count", "corners")
    local = np.zeros(len(columns["corners"]), np.int32)
    failed = _kernels.mesh_connections.place_corners(vertices, *(np.asarray(columns[name], np.int32) for name in names), local)
    if failed >= 0:
        raise ValueError("a face uses a vertex that its primitive does not list")
    return local
