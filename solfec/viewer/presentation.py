"""What is shown of a source and how: result, range, looks, cuts; it keeps a renderer up to date."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..errors import SolfecError
from . import arrays, colours, cuts, fields
from .camera import VIEWS, Camera

MOST_PLANES = 4
FADE = 0.3  # opacity of bodies while arrows and tubes are shown


@dataclass
class Legend:
    """What explains the colours: a `title`, and either the `range` of a colour map or the `words` of categories with their numbers."""

    title: str
    range: tuple[float, float] | None = None
    words: list[tuple[int, str]] = field(default_factory=list)


class Presentation:
    """A source, a renderer and a camera.

    Parameters
    ----------
    source : sources.Stored
        Or another with `domain` and `time`.
    renderer : gl.renderer.Renderer
        Anything with its `set_...` methods.

    Attributes
    ----------
    result : str
        One of `fields.RESULTS`, or empty.
    fixed_range : tuple of 2 float, optional
        Of colours; without it least and greatest values of the visible bodies.
    looks : ndarray (bodies, 4)
        Colours and opacities, by body row.
    legend : Legend, optional
    """

    def __init__(self, source, renderer):
        self.source, self.renderer, self.camera = source, renderer, Camera()
        self.result, self.fixed_range, self.colour_map, self.legend = "", None, "viridis", None
        self.planes: list[cuts.Plane] = []
        self._cells = None
        self.topology, self.looks, self._body_ids = None, np.zeros((0, 4), np.float32), None
        self.refresh()

    @property
    def domain(self):
        """The source's."""
        return self.source.domain

    def refresh(self) -> None:
        """Upload the present state."""
        domain, renderer = self.domain, self.renderer
        if self.topology is None or self.topology.version != domain.geometry.version or self._known is not domain:
            self.topology, self._known = arrays.Topology(domain), domain
            renderer.set_topology(self.topology)
            self._carry_looks()
        renderer.set_shapes(arrays.positions(domain, self.topology.origin), arrays.quadrics(domain, self.topology))
        self._upload_result()
        renderer.set_looks(self.looks)

    def _carry_looks(self) -> None:
        """Looks belong to identifiers; rows move when bodies are born and deleted."""
        ids, before, old = self.domain.bodies.view("id").copy(), self._body_ids, self.looks
        self.looks = arrays.looks(self.domain)
        if before is not None and len(before):
            place = np.clip(np.searchsorted(before, ids), 0, len(before) - 1)
            same = before[place] == ids
            self.looks[same, 3] = old[place[same], 3]
        self._body_ids = ids

    # -- results --------------------------------------------------------------------------------------------

    def show(self, result: str) -> None:
        """Colour by a result; empty: by kind."""
        self.result = fields.named(result) if result else ""
        self.refresh()

    def set_range(self, low: float | None, high: float | None) -> None:
        """Fix the range of colours; None, None: least and greatest values."""
        if low is not None and not low < high:
            raise SolfecError(f"the range {low:g}, {high:g} is empty")
        self.fixed_range = None if low is None else (float(low), float(high))
        self.refresh()

    def set_colours(self, name: str) -> None:
        """Choose the colour map."""
        self.renderer.set_colours(name)
        self.colour_map = name

    def _upload_result(self) -> None:
        renderer, result, domain, topology = self.renderer, self.result, self.domain, self.topology
        renderer.mode, self.legend, category = 0, None, (None, None)
        values = np.zeros(domain.geometry.vertices.n)
        if result in fields.AT_VERTICES:
            values = fields.at_vertices(domain, result)
            renderer.mode, renderer.range = 1, self.fixed_range or colours.finite_range(values[self._seen_vertices()])
            self.legend = Legend(result, renderer.range)
        elif result in fields.KINDS and result != "constraints":
            *category, words = fields.categories(domain, topology, result)
            renderer.mode, self.legend = 2, Legend(result, words=list(enumerate(words)))
        renderer.set_owners(*topology.owners(domain, *category))
        single = values.astype(np.float32)
        renderer.set_values(single, single[topology.quadric_centre])
        self._upload_cuts()
        self._upload_arrows()

    def _upload_cuts(self) -> None:
        """Close the bodies that planes cut by caps in the colours of the result."""
        renderer, domain = self.renderer, self.domain
        renderer.planes = np.array([plane.row() for plane in self.planes]).reshape(-1, 4)
        corners, values, owners = [np.zeros((0, 3, 3))], [np.zeros((0, 3))], [np.zeros((0, 4), np.int32)]
        if self.planes:
            if self._cells is None or self._cells[0] is not domain or self._cells[1].version != domain.geometry.version:
                self._cells = domain, cuts.Cells(domain)
            cells = self._cells[1]
            points = cells.points(domain)
            at = cells.values(domain, self.result) if self.result in fields.AT_VERTICES else np.zeros(len(points))
        category = self._body_categories() if self.planes else None
        for number, plane in enumerate(self.planes):
            found = cuts.section(cells, plane, points, at)
            corners.append(found.corners)
            values.append(found.values)
            ids = domain.bodies.view("id")[found.body]
            owners.append(np.stack([found.body, ids, category[found.body], np.full(len(ids), number)], 1).astype(np.int32))
        shifted = np.concatenate(corners).reshape(-1, 3) - self.topology.origin
        renderer.set_caps(shifted.astype(np.float32), np.concatenate(values).ravel().astype(np.float32), np.concatenate(owners))

    def _body_categories(self) -> np.ndarray:
        """Discrete colours of caps, by body row: of kinds and materials; surfaces and volumes differ within bodies, there -1."""
        if self.result not in ("bodies", "materials"):
            return np.full(self.domain.bodies.n, -1)
        column = self.domain.bodies.view("kind" if self.result == "bodies" else "material")
        shown = np.unique(column[self.domain.geometry.primitives.view("body")])
        return np.searchsorted(shown, column)

    def cut(self, words: str) -> None:
        """Cut all bodies by a plane, see `cuts.Plane.of`; by default it goes through the middle of all bodies."""
        if len(self.planes) == MOST_PLANES:
            raise SolfecError(f"there can be {MOST_PLANES} cuts at once")
        low, high = arrays.extents(self.domain)
        self.planes.append(cuts.Plane.of(words, 0.5 * (low + high)))
        self.refresh()

    def clear_cuts(self) -> None:
        """Whole bodies again."""
        self.planes = []
        self.refresh()

    def _seen_vertices(self) -> np.ndarray:
        """Mask of the vertices of bodies that are not hidden."""
        return self.looks[self.domain.geometry.vertices.view("body"), 3] != 0.0

    def _upload_arrows(self) -> None:
        renderer, domain = self.renderer, self.domain
        name = self.result if self.result in (*fields.AT_CONSTRAINTS, "constraints") else ""
        renderer.fade = FADE if name else 1.0
        tubes, mode = name in (*fields.TUBES, "constraints"), 1
        if not name:
            empty = np.zeros((0, 3), np.float32)
            renderer.set_arrows(empty, empty, np.zeros(0, np.float32), np.zeros((0, 4), np.int32))
            return
        points, vectors, values = fields.at_constraints(domain, "gap" if name == "constraints" else name)
        owners = np.zeros((len(values), 4), np.int32)
        owners[:, 1] = domain.constraints.view("id")
        if name == "constraints":
            owners[:, 2], words = fields.constraint_categories(domain)
            values, mode = np.ones(len(values)), 2
            self.legend = Legend(name, words=[(k, words[k]) for k in np.unique(owners[:, 2]).tolist()])
        else:
            renderer.arrow_range = self.fixed_range or colours.finite_range(values)
            self.legend = Legend(name, renderer.arrow_range)
        shifted = (points - self.topology.origin).astype(np.float32)
        renderer.set_arrows(shifted, vectors.astype(np.float32), values.astype(np.float32), owners, tubes, mode)

    # -- looks ----------------------------------------------------------------------------------------------

    def rows(self, identifiers) -> np.ndarray:
        """Rows of living bodies with these identifiers."""
        return np.flatnonzero(np.isin(self.domain.bodies.view("id"), np.asarray(list(identifiers), np.int64)))

    def set_opacity(self, identifiers, opacity: float) -> None:
        """Let bodies be seen (1), half seen, hidden (0) or drawn as edges alone (-1); without identifiers all bodies."""
        which = slice(None) if identifiers is None else self.rows(identifiers)
        self.looks[which, 3] = opacity
        self.refresh()

    # -- camera ---------------------------------------------------------------------------------------------

    def fit(self, aspect: float = 1.0) -> None:
        """See all bodies that are not hidden."""
        boxes = self.domain.bodies.view("extents")[:, self.looks[:, 3] != 0.0]
        if boxes.shape[1]:
            self.camera.fit(boxes[:3].min(1), boxes[3:].max(1), aspect)
        else:
            self.camera.fit(*arrays.extents(self.domain), aspect)

    def look(self, words: str) -> None:
        """Look from a named view (front, back, left, right, top, bottom) or from 'azimuth,elevation' in degrees."""
        if words in VIEWS:
            self.camera.look(*VIEWS[words])
            return
        try:
            azimuth, elevation = (float(word) for word in words.split(","))
        except ValueError:
            raise SolfecError(f"{words!r} is no view: one of {', '.join(VIEWS)}, or azimuth,elevation in degrees") from None
        self.camera.look(azimuth, elevation)
