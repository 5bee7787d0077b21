"""Pressure on the surfaces of meshes (manual, PRESSURE): traction `value` times the outward normal, so that a positive
value pulls.

Finite elements feel it on the referential surface, a dead load: the integrals of N_a n0 dA0 are made once.  Rigid and pseudo-
rigid bodies feel it on the present surface.  With a0 the area vectors of its triangles and A their centroids (from the mass
centre), F the gradient or rotation and cof F = det F F^-T, the force is cof F sum(a0), and what works on the rate of
F is cof F sum(a0 A^T); two constants of the surface, taken about the origin, are enough.
"""

from __future__ import annotations

import numpy as np

from ..tables import Table
from .table import BodyKind, BodyTable


class PressureTable(Table):
    """One row per pressure."""

    COLUMNS = {
        "body": ((), "i4", 0),  # row of the body table
        "value": ((), "f8", 0.0),  # [pressure], where `series` is -1
        "series": ((), "i4", -1),  # row of the time series of the value
        "area": ((3,), "f8", 0.0),  # sum of a0, the referential area vectors [length**2]
        "moment": ((3, 3), "f8", 0.0),  # sum of a0 X^T about the origin [length**3]
        "node_ptr": ((), "i4", 0),  # of finite elements: first row of the table of nodes
        "node_count": ((), "i4", 0),
    }


class PressureNodeTable(Table):
    """Nodes under pressure, those of one pressure after another."""

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

    def add(self, body_row: int, triangles: np.ndarray, nodal: np.ndarray | None, value: float, series: int) -> None:
        """Put a pressure on a surface.

        Parameters
        ----------
        body_row : int
            No obstacle.
        triangles : ndarray (nt, 3, 3)
            The referential surface, corners counter-clockwise seen from outside [length].
        nodal : ndarray (n, 3), optional
            Of finite elements: integrals of N_a n0 dA0 [length**2] for every node of the body.
        value, series : float, int
            The value, or the row of its time series (else -1).
        """
        area = 0.5 * np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
        loaded = np.flatnonzero(nodal.any(1)) if nodal is not None else np.zeros(0, int)
        weights = nodal[loaded] if nodal is not None else np.zeros((0, 3))
        self.append(body_row, value, series, area.sum(0), np.einsum("ti,tj->ij", area, triangles.mean(1)), loaded, weights)

    def append(self, body_row: int, value: float, series: int, area, moment, nodes, weights) -> None:
        """Add one of known columns; `nodes` (n,) and `weights` (n, 3) of finite elements."""
        first = self.nodes.append(len(nodes), node=nodes, weight=np.reshape(weights, (-1, 3)).T)
        self.table.append(
            body=int(body_row), value=value, series=series, area=np.reshape(area, (3, 1)),
            moment=np.reshape(moment, (3, 3, 1)), node_ptr=first, node_count=len(nodes),
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

    def apply(self, bodies: BodyTable, series: np.ndarray) -> None:
        """Add the generalised forces at the present configuration to `bodies.triples.force`; `series` has series' values."""
        table = self.table
        if not table.n:
            return
        value = table.view("value").copy()
        tabulated = table.view("series") >= 0
        value[tabulated] = series[table.view("series")[tabulated]]
        body = table.view("body")
        force = bodies.triples.force.T
        if self.nodes.n:
            count = table.view("node_count")
            rows = np.repeat(bodies.velo_ptr[body], count) + self.nodes.view("node")
            np.add.at(force, rows, np.repeat(value, count)[:, None] * self.nodes.view("weight").T)
        which = np.flatnonzero(bodies.kind[body] != BodyKind.FINITE_ELEMENT)
        if which.size:
            self._apply_to_rows(bodies, which, value[which])

    def _apply_to_rows(self, bodies: BodyTable, which: np.ndarray, value: np.ndarray) -> None:
        """Pressures on rigid and pseudo-rigid bodies."""
        body = self.table.body[which]
        pseudo = bodies.kind[body] == BodyKind.PSEUDO_RIGID
        triples = bodies.configurations.conf[:, bodies.conf_ptr[body][:, None] + np.arange(3)].transpose(1, 0, 2)
        gradient = np.where(pseudo[:, None, None], triples.transpose(0, 2, 1), triples)  # triples are rows of F, columns of R
        cofactors = np.linalg.det(gradient)[:, None, None] * np.linalg.inv(gradient).transpose(0, 2, 1)
        area = value[:, None] * self.table.area[:, which].T
        moment = value[:, None, None] * self.table.moment[:, :, which].transpose(2, 0, 1)
        moment = moment - np.einsum("ni,nj->nij", area, bodies.centre[:, body].T)
        force, rows = bodies.triples.force.T, bodies.velo_ptr[body]
        np.add.at(force, rows + np.where(pseudo, 3, 1), np.einsum("nij,nj->ni", cofactors, area))
        turning = np.stack([moment[:, k - 1, k - 2] - moment[:, k - 2, k - 1] for k in (0, 1, 2)], 1)
        np.add.at(force, rows[~pseudo], turning[~pseudo])  # of A x a0, in the body's frame
        work = np.einsum("nij,njk->nik", cofactors, moment)[pseudo]
        np.add.at(force, rows[pseudo, None] + np.arange(3), work)
