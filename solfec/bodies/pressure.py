"""Pressure on the surfaces of meshes: traction `value` times the outward normal, so that a positive value pulls
(docs/language-running.md, PRESSURE).

On finite elements it acts on the referential surface, a dead load: the integrals of N_a n0 dA0 are computed once.  On rigid and
pseudo-rigid bodies it acts on the present surface.  With a0 the area vectors of its triangles and A their centroids (from the mass
centre), F the gradient or rotation and cof F = det F F^-T, the force is cof F sum(a0), and the generalised force on the rate of
F is cof F sum(a0 A^T).  Two constants of the surface, taken about the origin, are enough.
"""

from __future__ import annotations

import numpy as np

from .. import _kernels
from ..tables import Table, opened
from ..time_series import SeriesTable
from .finite_elements import boundary_normals
from .table import BodyTable

UNKNOWN_SURFACE = -(2**31)  # no surface has this identifier

_add_pressures = _kernels.pressures.add_pressures


class PressureTable(Table):
    """One row per pressure."""

    COLUMNS = {
        "body": ((), "i4", 0),  # row of the body table
        "value": ((), "f8", 0.0),  # [pressure], where `series` is -1
        "series": ((), "i4", -1),  # row of the time series of the value
        "surface": ((), "i4", UNKNOWN_SURFACE),  # identifier of the surface
        "area": ((3,), "f8", 0.0),  # sum of a0, the referential area vectors [length**2]
        "moment": ((3, 3), "f8", 0.0),  # sum of a0 X^T about the origin [length**3]
        "node_ptr": ((), "i4", 0),  # of finite elements: first row of the table of nodes
        "node_count": ((), "i4", 0),
    }
    POINTS_INTO = {"body": "BodyTable", "series": "SeriesTable", "node_ptr": "PressureNodeTable"}


class PressureNodeTable(Table):
    """Nodes under pressure, pressure by pressure."""

    COLUMNS = {
        "node": ((), "i4", 0),  # number within the body
        "weight": ((3,), "f8", 0.0),  # integral of N_a n0 dA0 [length**2]
    }


class Pressures:
    """All pressures of a model.

    Attributes
    ----------
    table : PressureTable
    nodes : PressureNodeTable
    """

    def __init__(self):
        self.table = PressureTable()
        self.nodes = PressureNodeTable()

    def add(
        self, body_row: int, triangles: np.ndarray, nodal: np.ndarray | None, value: float, series: int, surface: int = UNKNOWN_SURFACE
    ) -> None:
        """Put a pressure on a surface.

        Parameters
        ----------
        body_row : int
            No obstacle.
        triangles : ndarray (nt, 3, 3)
            The referential surface, corners counter-clockwise seen from outside [length].
        nodal : ndarray (n, 3), optional
            For finite elements: integrals of N_a n0 dA0 [length**2] for every node of the body.
        value, series : float, int
            The value, or the row of its time series (else -1).
        surface : int
            Identifier of the surface, for fragments of the body.
        """
        area = 0.5 * np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
        loaded = np.flatnonzero(nodal.any(1)) if nodal is not None else np.zeros(0, int)
        weights = nodal[loaded] if nodal is not None else np.zeros((0, 3))
        moment = np.einsum("ti,tj->ij", area, triangles.mean(1))
        self.append(body_row, value, series, area.sum(0), moment, loaded, weights, surface)

    def append(self, body_row: int, value: float, series: int, area, moment, nodes, weights, surface_id: int = UNKNOWN_SURFACE) -> None:
        """Add a pressure by its columns; `nodes` (n,) and `weights` (n, 3) of finite elements."""
        first = self.nodes.append(len(nodes), node=nodes, weight=np.reshape(weights, (-1, 3)).T)
        self.table.append(
            body=int(body_row), value=value, series=series, area=np.reshape(area, (3, 1)),
            moment=np.reshape(moment, (3, 3, 1)), node_ptr=first, node_count=len(nodes), surface=surface_id,
        )  # fmt: skip

    def remap(self, renumbered: np.ndarray) -> None:
        """Follow a renumbering of body rows (old row -> new row, -1: removed with its pressures)."""
        table = self.table
        body = table.view("body")
        body[:] = renumbered[body]
        keep = body >= 0
        if not keep.all():
            count = table.view("node_count").copy()
            self.nodes.keep(np.repeat(keep, count))
            table.keep(keep)
            table.view("node_ptr")[:] = np.cumsum(table.view("node_count")) - table.view("node_count")

    def apply(self, bodies: BodyTable, series: SeriesTable) -> None:
        """Add the generalised forces at the present configuration to `bodies.triples.force`; `series` have been evaluated."""
        if self.table.n:
            opened(_add_pressures(bodies.handles, self.table.handle, self.nodes.handle, series.handle))


def loaded_surface(mesh, surface: int, elements: bool) -> tuple[np.ndarray, np.ndarray | None] | None:
    """Return the arguments `triangles` and `nodal` of `Pressures.add` for the outer faces of a `shapes.Mesh` with an identifier; None if there are none.

    `elements`: whether the body is of finite elements.
    """
    topology = mesh.topology
    faces = topology.face_nodes[topology.boundary & (topology.face_surface == surface)]
    if not len(faces):
        return None
    quads = faces[faces[:, 3] >= 0]
    triangles = mesh.nodes[np.concatenate((faces[:, :3], quads[:, [0, 2, 3]]))]
    return triangles, boundary_normals(mesh.nodes, faces) if elements else None
