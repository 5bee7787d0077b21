"""The present faces for contact detection: those of the tables, except on finite element bodies, whose faces warp.

A warped polygon counts as triangles, a flat one as one face, and a face of a deforming shape may change from one to the
other.  The tables keep the faces of the shape; this module keeps their present form.
"""

from __future__ import annotations

import numpy as np

from .. import _kernels
from ..tables import Gaps, Record, close_up, ranges, starts

OF_PRIMITIVES = ("face_ptr", "face_count", "outer_count", "edge_count")
OF_FACES = ("corner_ptr", "corner_count", "surface", "normal")
OF_CORNERS = ("vertex", "local", "edge")
OF_SPLIT = ("corner_count", "surface", "normal", *OF_CORNERS)  # which `split` makes of deforming primitives in every step
NOT_LISTED = -2  # a count of edges, fortran/contact/shape_edges.f90

_split_faces = _kernels.warped_faces.split_faces
_list_edges = _kernels.shape_edges.list_edges


class CurrentFaces(Record):
    """Present columns of the tables of primitives, faces and corners.

    Where primitives deform, columns have those of each body together, in the order of bodies, as tables do; else they are the tables' own.

    Attributes
    ----------
    version : int
        Version of the geometry for which they were made.
    deforming : ndarray, int32
        Rows of the primitives of finite element bodies.
    own : bool
        Whether they have columns of their own; if no body deforms when they are made, all columns are those of the tables themselves.
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
        self.version, self.deforming, self.own = geometry.version, deforming, deforming.size > 0
        tables = geometry.vertices, geometry.vertex_lists, geometry.adjacency, geometry.primitives, self
        self.handles = np.array([table.handle for table in tables], np.longlong)


    def append(self, geometry, first: int) -> None:
        """Take up the primitives from row `first` on; `split` finds their faces when they are first needed."""
        _list_edges_of_tables(geometry)
        columns = _columns(geometry, first)
        columns["face_ptr"] += np.int32(len(self.surface))
        columns["corner_ptr"] += np.int32(len(self.vertex))
        self.extend(**columns)
        new = np.flatnonzero(geometry.primitives.deforming[first : geometry.primitives.n]) + first
        self.deforming = np.append(self.deforming, new.astype(np.int32))
        self.version = geometry.version

    def remove(self, gaps: dict[str, Gaps]) -> None:
        """Let primitives go, by gaps of the tables."""
        lost = gaps["PrimitiveTable"]
        faces = Gaps(*(starts(self.face_ptr, rows, len(self.surface)) for rows in (lost.start, lost.stop)))
        corners = Gaps(*(starts(self.corner_ptr, rows, len(self.vertex)) for rows in (faces.start, faces.stop)))
        shifts = {"face_ptr": faces.shift, "corner_ptr": corners.shift, "vertex": gaps["VertexTable"].shift}
        kept, first = {}, lost.start[0]
        deforming_behind = len(self.deforming) - np.searchsorted(self.deforming, np.int32(first))
        made_again = OF_SPLIT if deforming_behind == len(self.face_ptr) - first else ()
        for gap, names in ((lost, OF_PRIMITIVES), (faces, OF_FACES), (corners, OF_CORNERS)):
            for name in names:
                column = getattr(self, name)
                left = column.shape[-1] - gap.total
                if name not in made_again:
                    column = close_up(column, gap, column.shape[-1], 0, shifts.get(name))
                kept[name] = column[..., :left]
        if made_again:
            kept["edge_count"][first:] = NOT_LISTED
        self.replace(**kept)
        self.deforming = lost.left_of(self.deforming)


def current_faces(geometry) -> CurrentFaces:
    """Return the present faces of all primitives; `split` updates those of finite elements."""
    made = geometry.current
    if made is None or made.version != geometry.version:
        deforming = np.flatnonzero(geometry.primitives.view("deforming")).astype(np.int32)
        _list_edges_of_tables(geometry)
        before, made = made, _with_room(geometry, deforming) if deforming.size else _of_tables(geometry, deforming)
        if geometry.workspace is not None and (made.own or before is not None and before.own):
            geometry.workspace.afresh = 1  # normals of bodies that have not moved are in other columns, or nowhere
        geometry.current = made
    return made


def _of_tables(geometry, deforming: np.ndarray) -> CurrentFaces:
    primitives, faces, corners = geometry.primitives, geometry.faces, geometry.corners
    return CurrentFaces(
        geometry, deforming, primitives.face_ptr, primitives.face_count, primitives.outer_count,
        primitives.edge_count, faces.corner_ptr, faces.corner_count, faces.surface, faces.normal,
        corners.vertex, corners.local, corners.edge,
    )  # fmt: skip


def _list_edges_of_tables(geometry) -> None:
    """List the edges of primitives added since the last call."""
    primitives, faces, corners = geometry.primitives, geometry.faces, geometry.corners
    _list_edges(
        primitives.n, 0, primitives.body, primitives.vertex_count, primitives.face_ptr, primitives.face_count,
        faces.corner_ptr, faces.corner_count, corners.local, primitives.edge_count, corners.edge,
    )  # fmt: skip


def _with_room(geometry, deforming: np.ndarray) -> CurrentFaces:
    """Copies of the tables, with room for the triangles of faces that deform in place of these faces."""
    columns = _columns(geometry, 0)
    made = CurrentFaces(geometry, deforming, *columns.values())
    split(geometry, made, True)
    return made


def _columns(geometry, first: int) -> dict[str, np.ndarray]:
    """Columns of CurrentFaces of the primitives from row `first` on, which begin with row 0 of faces and corners."""
    primitives, faces, corners = geometry.primitives, geometry.faces, geometry.corners
    chosen = slice(first, primitives.n)
    deforming = primitives.deforming[chosen] > 0
    counts = primitives.face_count[chosen]
    source = ranges(primitives.face_ptr[chosen], counts)
    owner = np.repeat(np.arange(len(counts)), counts)
    room = np.bincount(owner, faces.corner_count[source] - 2, len(counts)).astype(int)  # triangles
    face_count = np.where(deforming, room, counts)
    corner_count = np.where(deforming, 3 * room, np.bincount(owner, faces.corner_count[source], len(counts)).astype(int))
    face_ptr, corner_ptr = np.cumsum(face_count) - face_count, np.cumsum(corner_count) - corner_count
    made = {name: np.zeros(int(face_count.sum()), np.int32) for name in ("corner_ptr", "corner_count", "surface")}
    made["normal"] = np.zeros((3, int(face_count.sum())), order="F")
    made.update({name: np.zeros(int(corner_count.sum()), np.int32) for name in ("vertex", "local", "edge")})
    made["corner_ptr"][face_ptr[deforming]] = corner_ptr[deforming]  # where `split` begins
    rigid = ~deforming[owner]
    source, target = source[rigid], ranges(face_ptr[~deforming], counts[~deforming])
    length = faces.corner_count[source]
    made["corner_count"][target], made["surface"][target] = length, faces.surface[source]
    places = ranges(corner_ptr[~deforming], corner_count[~deforming])
    made["corner_ptr"][target] = places[np.cumsum(length) - length] if length.size else 0
    for name in ("vertex", "local", "edge"):
        made[name][places] = getattr(corners, name)[ranges(faces.corner_ptr[source], length)]
    own = {name: getattr(primitives, name)[chosen].copy() for name in ("face_count", "outer_count", "edge_count")}
    return {"face_ptr": face_ptr.astype(np.int32), **own, **made}


def split(geometry, made: CurrentFaces, normals: bool) -> None:
    """Update faces and edges of finite elements to the present vertices, and `normals`, else detection does where it needs them."""
    tables = geometry.primitives, geometry.faces, geometry.corners
    _split_faces(made.handles, np.array([table.handle for table in tables], np.longlong), made.deforming, normals)
    _list_edges(
        made.deforming.size, 1, made.deforming, geometry.primitives.view("vertex_count"), made.face_ptr, made.face_count,
        made.corner_ptr, made.corner_count, made.local, made.edge_count, made.edge,
    )  # fmt: skip
