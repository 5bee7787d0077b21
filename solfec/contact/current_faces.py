"""The faces that detection works with: those of the tables, but for finite element bodies, whose faces warp.

A warped polygon counts as triangles, a flat one as one face, and a face of a deforming shape may be the one today and the
other tomorrow.  The tables keep it as the shape has it; what it is at present is kept here.
"""

from __future__ import annotations

import numpy as np

from .. import _kernels
from ..tables import Record
from .geometry import ranges

_split_faces = _kernels.warped_faces.split_faces
_list_edges = _kernels.shape_edges.list_edges


class CurrentFaces(Record):
    """Columns as in the tables of primitives, faces and corners.

    Attributes
    ----------
    version : int
        That of the geometry for which they were made.
    deforming : ndarray, int32
        Rows of the primitives of finite element bodies; without any, all columns are those of the tables themselves.
    handles : ndarray (5,) int64
        Of vertices, vertex lists, adjacency, primitives and these faces (fortran/contact/shape_state.f90).
    """

    COLUMNS = {
        "face_ptr": ((), "i4"),  # of primitives: first face
        "face_count": ((), "i4"),
        "outer_count": ((), "i4"),  # leading faces that lie on the body's surface
        "edge_count": ((), "i4"),  # see PrimitiveTable
        "corner_ptr": ((), "i4"),  # of faces: first corner
        "corner_count": ((), "i4"),
        "surface": ((), "i4"),  # surface identifier
        "normal": ((3,), "f8"),  # current unit outward normal
        "vertex": ((), "i4"),  # of corners: vertex number
        "local": ((), "i4"),  # position in the vertex list of the face's primitive
        "edge": ((), "i4"),  # edges of primitives, packed, at the places of their corners
    }

    def __init__(self, geometry, deforming: np.ndarray, *columns: np.ndarray):
        super().__init__(**dict(zip(self.COLUMNS, columns, strict=True)))
        self.version, self.deforming = geometry.version, deforming
        tables = geometry.vertices, geometry.vertex_lists, geometry.adjacency, geometry.primitives, self
        self.handles = np.array([table.handle for table in tables], np.longlong)


def current_faces(geometry) -> CurrentFaces:
    """The present faces of all primitives; those of finite elements are as `split` last left them."""
    made = geometry.current
    if made is None or made.version != geometry.version:
        deforming = np.flatnonzero(geometry.primitives.view("deforming")).astype(np.int32)
        _list_edges_of_tables(geometry)
        made = geometry.current = _with_room(geometry, deforming) if deforming.size else _of_tables(geometry, deforming)
        if deforming.size and geometry.workspace is not None:
            geometry.workspace.afresh = 1  # normals of all faces are to be found
    return made


def _of_tables(geometry, deforming: np.ndarray) -> CurrentFaces:
    primitives, faces, corners = geometry.primitives, geometry.faces, geometry.corners
    return CurrentFaces(
        geometry, deforming, primitives.face_ptr, primitives.face_count, primitives.outer_count,
        primitives.edge_count, faces.corner_ptr, faces.corner_count, faces.surface, faces.normal,
        corners.vertex, corners.local, corners.edge,
    )  # fmt: skip


def _list_edges_of_tables(geometry) -> None:
    """Edges of the primitives that have come since the last call."""
    primitives, faces, corners = geometry.primitives, geometry.faces, geometry.corners
    _list_edges(
        primitives.n, 0, primitives.body, primitives.vertex_count, primitives.face_ptr, primitives.face_count,
        faces.corner_ptr, faces.corner_count, corners.local, primitives.edge_count, corners.edge,
    )  # fmt: skip


def _with_room(geometry, deforming: np.ndarray) -> CurrentFaces:
    """Copies of the tables, and behind them room for the triangles of every face that deforms."""
    primitives, faces, corners = geometry.primitives, geometry.faces, geometry.corners
    counts = primitives.face_count[deforming]
    source = ranges(primitives.face_ptr[deforming], counts)
    owner = np.repeat(np.arange(len(deforming)), counts)
    room = np.bincount(owner, faces.corner_count[source] - 2, len(deforming)).astype(int)
    rows, corner = faces.n + int(room.sum()), corners.n + 3 * int(room.sum())
    made = CurrentFaces(
        geometry, deforming,
        *(getattr(primitives, name).copy() for name in ("face_ptr", "face_count", "outer_count", "edge_count")),
        *(np.zeros(rows, np.int32) for _ in range(3)), np.zeros((3, rows), order="F"),
        *(np.zeros(corner, np.int32) for _ in range(3)),
    )  # fmt: skip
    for name in ("corner_ptr", "corner_count", "surface"):
        getattr(made, name)[: faces.n] = faces.view(name)
    for name in ("vertex", "local", "edge"):
        getattr(made, name)[: corners.n] = corners.view(name)
    made.face_ptr[deforming] = faces.n + np.cumsum(room) - room
    made.corner_ptr[made.face_ptr[deforming]] = corners.n + 3 * (np.cumsum(room) - room)
    split(geometry, made)
    return made


def split(geometry, made: CurrentFaces) -> None:
    """Faces, normals and edges of finite elements at the present vertices."""
    if not made.deforming.size:
        return
    tables = geometry.primitives, geometry.faces, geometry.corners
    _split_faces(made.handles, np.array([table.handle for table in tables], np.longlong), made.deforming)
    _list_edges(
        made.deforming.size, 1, made.deforming, geometry.primitives.vertex_count, made.face_ptr, made.face_count,
        made.corner_ptr, made.corner_count, made.local, made.edge_count, made.edge,
    )  # fmt: skip
