"""Histories of quantities at points that were clicked."""

from __future__ import annotations

import shlex
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
PANELS = ("energies", "iterations", "histories", "inspector", "bodies", "cuts", "console")  # of the window; pictures have none


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

    @property
    def entities(self) -> list[str]:
        """Entities of HISTORY that the quantity is made of."""
        return [ENTITIES[name] for name in {"|d|": "dx dy dz", "|v|": "vx vy vz"}.get(self.name, self.name).split()]

    def values(self, source) -> tuple[np.ndarray, np.ndarray]:
        """Return times and values (n,)."""
        if source.live:
            return source.collected(self.title, self.present)
        if self._read is None or len(self._read[0]) != len(source.times):
            try:
                times, *columns = source.reader.history([(self.body, self.point, entity) for entity in self.entities])
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


def left_out(app) -> str:
    """Return what pictures, movies and pages do not show of what is switched on, and what draws it instead; '' if nothing is missing."""
    on = [name for name in PANELS if getattr(app, name + "_shown")]
    if not on:
        return ""
    text = f"only the window shows the panel{'s' * (len(on) > 1)} {', '.join(on)}"
    items = [f"{one.body}:{','.join(f'{x:.9g}' for x in one.point)}:{entity}" for one in app.histories for entity in one.entities]
    plots = [[]] * ("energies" in on or "iterations" in on) + [items] * ("histories" in on and bool(items))
    if not plots:
        return text
    if app.source.live:
        return f"{text}; of results on disk 'solfec plot' draws the plots"
    return f"{text}; the plots are drawn by " + " and ".join(f"'{shlex.join(['solfec', 'plot', app.source.path, *words])}'" for words in plots)


def referential(domain, row: int, point: np.ndarray) -> np.ndarray:
    """Return the referential point (3,) of a current point on a body's shape; on elements that of the nearest vertex."""
    if domain.bodies.kind[row] <= 2:
        return motion.referential_points(domain.bodies, np.array([row]), np.asarray(point, float)[:, None])[:, 0]
    vertices = domain.geometry.vertices
    rows = np.flatnonzero(vertices.view("body") == row)
    away = vertices.view("current")[:, rows] - np.asarray(point)[:, None]
    return vertices.view("reference")[:, rows[np.argmin((away**2).sum(0))]].copy()
