"""Histories of quantities at points that were clicked."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..bodies import motion
from ..errors import SolfecError
from . import fields

ITERATIONS = ("iterations", "contacts")
ENTITIES = {
    **dict(zip(("dx", "dy", "dz", "vx", "vy", "vz"), ("DX", "DY", "DZ", "VX", "VY", "VZ"))),
    **dict(zip(("sx", "sy", "sz", "sxy", "sxz", "syz", "mises"), ("SX", "SY", "SZ", "SXY", "SXZ", "SYZ", "MISES"))),
    **{name: name.upper() for name in ("cx", "cy", "cz")},
}
NAMES = (*ENTITIES, "|d|", "|v|")


@dataclass
class History:
    """A quantity at a referential point of a body: read once from stored results, or collected step by step in a run."""

    body: int
    point: tuple[float, float, float]
    name: str
    _read: tuple | None = None

    @property
    def title(self) -> str:
        """Title of the curve."""
        return f"{self.name} of {self.body} at ({', '.join(f'{x:.4g}' for x in self.point)})"

    def values(self, source) -> tuple[np.ndarray, np.ndarray]:
        """Return times and values (n,)."""
        if source.live:
            return source.collected(self.title, self.present)
        if self._read is None or len(self._read[0]) != len(source.times):
            names = {"|d|": "dx dy dz", "|v|": "vx vy vz"}.get(self.name, self.name).split()
            try:
                times, *columns = source.reader.history([(self.body, self.point, ENTITIES[name]) for name in names])
            except ValueError as error:
                raise SolfecError(str(error)) from None
            self._read = times, columns[0] if len(columns) == 1 else np.linalg.norm(columns, axis=0)
        return self._read

    def present(self, domain) -> float:
        """Return the present value; NaN if the body is gone."""
        if not domain.is_alive(self.body):
            return np.nan
        points = domain.points
        if self.name[0] == "c":
            return float(self.point["xyz".index(self.name[1])] + points.displacement(self.body, self.point)["xyz".index(self.name[1])])
        if self.name in fields.DISPLACEMENTS or self.name in fields.VELOCITIES:
            vector = (points.displacement if "d" in self.name else points.velocity)(self.body, self.point)
            return float(np.linalg.norm(vector) if self.name[0] == "|" else vector["xyz".index(self.name[1])])
        return float(points.stress(self.body, self.point)[fields.COMPONENTS.index(self.name)])


def at(domain, picked, name: str) -> History:
    """Return the history of a quantity at a picked point.

    Raises
    ------
    SolfecError
        Nothing was picked, or there is no such quantity.
    """
    if name not in NAMES:
        raise SolfecError(f"there is no history of {name!r}; there are those of {', '.join(NAMES)}")
    if not picked.body or picked.point is None or not domain.is_alive(picked.body):
        raise SolfecError("click the point of a body whose history is to be drawn")
    row = domain.body_row(picked.body)
    return History(picked.body, tuple(referential(domain, row, picked.point).tolist()), name)


def referential(domain, row: int, point: np.ndarray) -> np.ndarray:
    """Return the referential point (3,) of a current point on a body's shape; on elements that of the nearest vertex."""
    if domain.bodies.kind[row] <= 2:
        return motion.referential_points(domain.bodies, np.array([row]), np.asarray(point, float)[:, None])[:, 0]
    vertices = domain.geometry.vertices
    rows = np.flatnonzero(vertices.view("body") == row)
    away = vertices.view("current")[:, rows] - np.asarray(point)[:, None]
    return vertices.view("reference")[:, rows[np.argmin((away**2).sum(0))]].copy()
