"""Rows of each body in all tables, and sorting of tables by bodies' identifiers.

The rows of a body are contiguous in each table, and pointers lead to rows of the same body.  So the first row and the
number of rows of a body in each table are enough to remove the body or to move it to another place.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .bodies.table import conf_triples, velo_triples
from .tables import Table, ranges

COMPILED = ("nodes", "elements", "overlaps")  # lists that finite_elements.compiled numbers anew


@dataclass
class BodyRows:
    """Rows of all bodies in the tables of bodies and their shapes.

    Attributes
    ----------
    tables : dict of Table
        By the name of their class.
    first, count : dict of ndarray (n,)
        First row and number of rows of each body, in the order of body rows.
    """

    tables: dict[str, Table]
    first: dict[str, np.ndarray]
    count: dict[str, np.ndarray]

    @classmethod
    def of(cls, bodies, geometry) -> BodyRows:
        """Find the rows in the present tables."""
        n = bodies.n
        size = bodies.view("kind"), bodies.view("node_count"), bodies.view("mode_count")
        spans = {
            "BodyTable": (np.arange(n), np.ones(n, int)),
            "ConfigurationTable": (bodies.view("conf_ptr"), conf_triples(*size)),
            "TripleTable": (bodies.view("velo_ptr"), velo_triples(*size)),
            "PrimitiveTable": (bodies.view("primitive_ptr"), bodies.view("primitive_count")),
        }
        primitives, vertices = geometry.primitives, geometry.vertices
        owner = primitives.view("body")
        spans["VertexTable"] = _span(n, vertices.view("body"), np.arange(vertices.n), np.ones(vertices.n, int))
        for name, start in (("VertexListTable", "vertex"), ("FaceTable", "face"), ("AdjacencyTable", "adjacent")):
            spans[name] = _span(n, owner, primitives.view(f"{start}_ptr"), primitives.view(f"{start}_count"))
        first, count = spans["FaceTable"]
        faces, owner = ranges(first, count), np.repeat(np.arange(n), count)
        spans["CornerTable"] = _span(n, owner, geometry.faces.view("corner_ptr")[faces], geometry.faces.view("corner_count")[faces])
        tables = {type(table).__name__: table for table in (bodies, bodies.configurations, bodies.triples, *geometry.tables)}
        first = {name: np.asarray(span[0], np.int64) for name, span in spans.items()}
        return cls(tables, first, {name: np.asarray(span[1], np.int64) for name, span in spans.items()})

    def of_table(self, name: str, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return rows of one table that belong to the bodies in `rows`, body by body, and the position in `rows` of each owner."""
        count = self.count[name][rows]
        return ranges(self.first[name][rows], count), np.repeat(np.arange(len(rows)), count)

    def sort(self, order: np.ndarray) -> dict[str, np.ndarray]:
        """Reorder bodies and the rows that they own.

        Parameters
        ----------
        order : ndarray (n,)
            Present rows of the bodies in their new order.

        Returns
        -------
        dict of ndarray
            New row of every old one, by the name of the table; -1: it belonged to no body.
        """
        taken = {name: self.of_table(name, order) for name in self.tables}
        shift = {}
        for name in self.tables:
            count = self.count[name][order]
            shift[name] = np.cumsum(count) - count - self.first[name][order]  # in the new order of bodies
        moved = {}
        for name, table in self.tables.items():
            rows, owner = taken[name]
            moved[name] = np.full(table.n, -1)
            moved[name][rows] = np.arange(len(rows))
            for column in table.COLUMNS:
                values = getattr(table, column)
                values[..., : len(rows)] = values[..., rows]
                target = table.POINTS_INTO.get(column)
                if target in shift:
                    numbers = values[..., : len(rows)]
                    numbers[...] = np.where(numbers < 0, numbers, numbers + shift[target][owner])
            table.n = len(rows)
            table.edits += 1
        return moved


def _span(n: int, owner: np.ndarray, start: np.ndarray, count: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return first row and number of rows of `n` bodies, whose parts, each of one `owner`, begin at `start` and have `count` rows."""
    low, high = np.full(n, np.iinfo(np.int64).max), np.zeros(n, np.int64)
    np.minimum.at(low, owner, start)
    np.maximum.at(high, owner, np.add(start, count))
    low = np.minimum(low, high)  # for bodies without rows
    return low, high - low
