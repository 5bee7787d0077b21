"""The presentation of a source: result, range, looks, cuts, lines in space; it updates a renderer."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..bodies.table import BodyKind
from ..errors import SolfecError
from . import arrays, colours, cuts, fields, overlays
from .camera import VIEWS, Camera
from .ranges import AllFrames

MOST_PLANES = 4
FADE = 0.3  # opacity of bodies while arrows and tubes are shown


@dataclass
class Legend:
    """Explanation of colours: a `title`, and either the `range` of a colour map or the `words` of categories with their numbers.

    `logarithmic`: the range holds decimal logarithms.
    """

    title: str
    range: tuple[float, float] | None = None
    logarithmic: bool = False
    words: list[tuple[int, str]] = field(default_factory=list)


class Presentation:
    """A source with a renderer, a camera and settings of the picture.

    Parameters
    ----------
    source : sources.Stored
        Or another object with `domain` and `time`.
    renderer : gl.renderer.Renderer
        Or another object with its `set_...` methods.

    Attributes
    ----------
    result : str
        One of `fields.RESULTS`, or empty.
    fixed_range : tuple of 2 float, optional
        Range of colours; by default least and greatest values of the visible bodies.
    over_all, symmetric, logarithmic : bool
        Whether the range covers all frames, is symmetric about zero, and is logarithmic.
    looks : ndarray (bodies, 4)
        Colours and opacities, by body row.
    shown_in_space : set of str
        Kinds of `overlays.KINDS`, and 'planes', that are drawn.
    rough : set of int
        Identifiers of bodies whose elements' edges are drawn.
    highlighted : set of int
        Identifiers of bodies that are tinted; tools that click bodies act on all of them at once.
    shape : modes.Shape, optional
        The mode that displaces vertices.
    followed : int
        Identifier of the body with which the camera moves, 0: none; `riding`: and turns.
    measured : list of ndarray
        Points that a tool has measured; they stay drawn.
    overlay : overlays.Overlay
    budget : float
        Seconds of a refresh for reading other frames, for a range over all of them.
    legend : Legend, optional
    values_shown, categories_shown : ndarray, tuple of 2 ndarray, optional
        Values of vertices in the picture; categories of triangles and quadrics.
    arrow_kinds : ndarray, optional
        Categories of arrows or tubes.
    """

    def __init__(self, source, renderer):
        self.source, self.renderer, self.camera = source, renderer, Camera()
        self.result, self.fixed_range, self.colour_map, self.legend = "", None, "viridis", None
        self.over_all = self.symmetric = self.logarithmic = self.riding = False
        self.shown_in_space: set[str] = set()
        self.rough: set[int] = set()
        self.highlighted: set[int] = set()
        self.shape, self.bases, self.followed, self._place, self.arrow_kinds = None, {}, 0, None, None
        self.measured: list[np.ndarray] = []
        self.overlay, self.ranges, self.budget = overlays.Overlay(), AllFrames(source), np.inf
        self.planes: list[cuts.Plane] = []
        self._cells = None
        self.topology, self.looks, self._body_ids = None, np.zeros((0, 4), np.float32), None
        self._opacities: dict[int, float] = {}  # of bodies that are not opaque, as last noted
        self.refresh()

    @property
    def domain(self):
        """Domain of the source."""
        return self.source.domain

    def refresh(self) -> None:
        """Upload the present state."""
        domain, renderer = self.domain, self.renderer
        if not self._knows_bodies():
            self.topology, self._known = arrays.Topology(domain), domain
            renderer.set_topology(self.topology)
            renderer.set_references(*arrays.references(domain, self.topology))
            self._carry_looks()
        positions, moved = arrays.positions(domain, self.topology.origin), None
        if self.shape is not None and not len(self.rows([self.shape.body])):
            self.shape = None
        if self.shape is not None:
            moved = self.shape.displacements(domain)
            positions += moved.astype(np.float32)
        renderer.set_shapes(positions, arrays.quadrics(domain, self.topology))
        self._upload_result(moved)
        self._upload_looks()
        self._follow()
        self.draw_lines()

    def _knows_bodies(self) -> bool:
        """Whether no body has come or gone since the last refresh."""
        return self.topology is not None and self.topology.version == self.domain.geometry.version and self._known is self.domain

    def keep_up(self) -> None:
        """Refresh if bodies have come or gone, as they do where a script seeks another frame: looks are those of rows of bodies."""
        if not self._knows_bodies():
            self.refresh()

    def _upload_looks(self) -> None:
        """Upload colours and opacities; 2 is added to the red of bodies that are highlighted."""
        looks = self.looks
        if self.highlighted:
            looks = looks.copy()
            looks[self.rows(self.highlighted), 0] += 2.0
        self.renderer.set_looks(looks)

    def highlight(self, identifiers) -> None:
        """Tint these bodies, and no others."""
        self.highlighted = {int(identifier) for identifier in identifiers}
        self._upload_looks()

    def meant(self, body: int) -> list[int]:
        """Return the bodies on which a click on one acts: all highlighted ones if it is one of them."""
        return sorted(self.highlighted) if body in self.highlighted else [body]

    def draw_lines(self, points: list | None = None) -> None:
        """Upload the lines in space, including points that a tool has picked so far."""
        self.overlay = overlays.overlay(self, self.measured if points is None else points)
        self.upload_lines()

    def upload_lines(self) -> None:
        """Upload the lines of `overlay`."""
        ends, colour = self.overlay.arrays()
        self.renderer.set_lines((ends - self.topology.origin).astype(np.float32), colour.astype(np.float32))

    def _follow(self) -> None:
        """Move the camera with the followed body."""
        rows = self.rows([self.followed]) if self.followed else ()
        if not len(rows):
            self.followed, self._place = 0, None
            return
        row, bodies = int(rows[0]), self.domain.bodies
        extents = bodies.view("extents")[:, row]
        first, rigid = int(bodies.conf_ptr[row]), bodies.kind[row] <= 1
        frame = bodies.configurations.conf[:, first : first + 3].copy() if rigid else np.eye(3)
        centre = bodies.configurations.conf[:, first + 3].copy() if rigid else 0.5 * (extents[:3] + extents[3:])
        if self._place is not None and self._place[0] == self.followed:
            _, before, turned = self._place
            turn = frame @ turned.T if self.riding else np.eye(3)
            self.camera.target = centre + turn @ (self.camera.target - before)
            self.camera.rotation = self.camera.rotation @ turn.T
        self._place = self.followed, centre, frame

    def box(self) -> tuple[np.ndarray, np.ndarray]:
        """Return corners (3,) of a box around all visible bodies."""
        boxes = self.domain.bodies.view("extents")[:, self.looks[:, 3] != 0.0]
        return (boxes[:3].min(1), boxes[3:].max(1)) if boxes.shape[1] else arrays.extents(self.domain)

    def _framed(self) -> tuple[np.ndarray, np.ndarray]:
        """Return corners (3,) of a box around what a first picture shows."""
        bodies, seen = self.domain.bodies, self.looks[:, 3] != 0.0
        if not seen.any():
            return self.box()
        fixed = bodies.view("kind")[seen] == BodyKind.OBSTACLE
        ids, boxes = self.source.began
        moved = np.isin(ids, bodies.view("id")[seen][~fixed])
        return arrays.framed(bodies.view("extents")[:, seen], fixed, boxes[:, moved])

    def _carry_looks(self) -> None:
        """Move looks with their bodies after rows have changed; bodies that a frame lacks get theirs back when they come again."""
        self._note_opacities()
        self._body_ids = self.domain.bodies.view("id").copy()
        self.looks = arrays.looks(self.domain)
        self.put_opacities(self._opacities)

    def _note_opacities(self) -> None:
        """Note the opacities of the bodies of the last refresh that are not opaque."""
        if self._body_ids is None:
            return
        gone = self._opacities.keys() - set(self._body_ids.tolist())
        other = self.looks[:, 3] != 1.0
        seen = zip(self._body_ids[other].tolist(), self.looks[other, 3].tolist())
        self._opacities = {body: self._opacities[body] for body in gone} | dict(seen)

    def opacities(self) -> dict[int, float]:
        """Return the opacities of bodies that are not opaque, also of those that this frame lacks."""
        self._note_opacities()
        return dict(self._opacities)

    def put_opacities(self, opacities: dict[int, float]) -> None:
        """Set opacities by identifiers of bodies; all others become opaque."""
        self._opacities = dict(opacities)
        known = np.array(sorted(opacities), np.int64)
        self.looks[:, 3] = 1.0
        here = np.flatnonzero(np.isin(self._body_ids, known))
        self.looks[here, 3] = [opacities[body] for body in self._body_ids[here].tolist()]

    # -- results --------------------------------------------------------------------------------------------

    def show(self, result: str) -> None:
        """Colour bodies by a result; empty: by kind."""
        before, self.result = self.result, fields.named(result) if result else ""
        try:
            self.refresh()
        except SolfecError:
            self.result = before
            self.refresh()
            raise

    def set_range(self, low: float | None, high: float | None) -> None:
        """Fix the range of colours; None, None: least and greatest values."""
        if low is not None and not low < high:
            raise SolfecError(f"the range {low:g}, {high:g} is empty")
        if low is not None and self.logarithmic and not low > 0:
            raise SolfecError(f"a logarithmic range begins above zero, not at {low:g}")
        if low is None:
            self.over_all = self.symmetric = self.logarithmic = False
        self.fixed_range = None if low is None else (float(low), float(high))
        self.refresh()

    def switch_range(self, which: str) -> None:
        """Switch `over_all`, `symmetric` or `logarithmic` of a range that the user has not fixed."""
        self.fixed_range = None
        setattr(self, which, not getattr(self, which))
        self.refresh()

    def set_colours(self, name: str) -> None:
        """Choose the colour map."""
        self.renderer.set_colours(name)
        self.colour_map = name
        self.refresh()

    def _range(self, name: str, values: np.ndarray) -> tuple[float, float]:
        """Return the range of colours: the user's, or least and greatest values, of this frame or of all."""
        if self.fixed_range is not None:
            low, high = self.fixed_range
        elif self.over_all and (found := self.ranges.range(name, self.budget)) is not None:
            low, high = found
        else:
            low, high = colours.finite_range(np.abs(values[values != 0.0]) if self.logarithmic else values)
        if self.logarithmic:
            high = max(abs(low), abs(high))
            low = low if 0.0 < low < high else 1e-6 * high
            return (float(np.log10(low)), float(np.log10(high))) if high > 0.0 else (0.0, 0.0)
        if self.fixed_range is None and (self.symmetric or self.colour_map in colours.SIGNED):
            high = max(abs(low), abs(high))
            low = -high
        return low, high

    def _scaled(self, values: np.ndarray) -> np.ndarray:
        """Return values for the colour map, which are logarithms for a logarithmic range."""
        if not self.logarithmic:
            return values
        with np.errstate(divide="ignore"):
            return np.where(values == 0.0, np.nan, np.log10(np.abs(values)))

    def _upload_result(self, moved: np.ndarray | None = None) -> None:
        renderer, result, domain, topology = self.renderer, self.result, self.domain, self.topology
        renderer.mode, self.legend, category = 0, None, (None, None)
        self.values_shown = self.categories_shown = None
        values = np.zeros(domain.geometry.vertices.n)
        if result in fields.AT_VERTICES:
            values = fields.at_vertices(domain, result)
            renderer.mode, renderer.range = 1, self._range(result, values[self._seen_vertices()])
            self.legend, values = Legend(result, renderer.range, self.logarithmic), self._scaled(values)
            self.values_shown = values
        elif moved is not None:
            values = np.linalg.norm(moved, axis=1)
            values[domain.geometry.vertices.view("body") != domain.body_row(self.shape.body)] = np.nan
            renderer.mode, renderer.range = 1, (0.0, max(float(np.nanmax(values, initial=0.0)), 1e-30))
        elif result in fields.KINDS and result not in (*fields.OF_CONSTRAINTS, "forces"):
            *category, words = fields.categories(domain, topology, result)
            renderer.mode, self.legend = 2, Legend(result, words=list(enumerate(words)))
            self.categories_shown = category
        renderer.set_owners(*topology.owners(domain, *category))
        single = values.astype(np.float32)
        renderer.set_values(single, single[topology.quadric_centre])
        self._upload_cuts()
        self._upload_arrows()

    def _upload_cuts(self) -> None:
        """Upload caps, in the colours of the result, that close the bodies at cuts."""
        renderer, domain = self.renderer, self.domain
        renderer.planes = np.array([plane.row() for plane in self.planes]).reshape(-1, 4)
        renderer.referential = np.array([float(plane.referential) for plane in self.planes])
        corners, values, owners = [np.zeros((0, 3, 3))], [np.zeros((0, 3))], [np.zeros((0, 4), np.int32)]
        old = [np.zeros((0, 3, 3))]
        if self.planes:
            if self._cells is None or self._cells[0] is not domain or self._cells[1].version != domain.geometry.version:
                self._cells = domain, cuts.Cells(domain)
            cells = self._cells[1]
            points, references = cells.points(domain), cells.references(domain)
            at = self._scaled(cells.values(domain, self.result)) if self.result in fields.AT_VERTICES else np.zeros(len(points))
            category = self._cell_categories(cells)
        for number, plane in enumerate(self.planes):
            found = cuts.section(cells, plane, points, at, references)
            corners.append(found.corners)
            old.append(found.references)
            values.append(found.values)
            ids = domain.bodies.view("id")[found.body]
            owners.append(np.stack([found.body, ids, category[found.cell], np.full(len(ids), number)], 1).astype(np.int32))
        now, before = ((np.concatenate(part).reshape(-1, 3) - self.topology.origin).astype(np.float32) for part in (corners, old))
        renderer.set_caps(now, np.concatenate(values).ravel().astype(np.float32), np.concatenate(owners), before)

    def _cell_categories(self, cells: cuts.Cells) -> np.ndarray:
        """Return discrete colours of caps by cell: of kinds and materials; -1 for surfaces and volumes."""
        if self.result == "materials":
            return fields.material_categories(self.domain, cells.body, cells.element)[0]
        if self.result in fields.OF_BODIES:
            return fields.body_categories(self.domain, self.result)[0][cells.body]
        return np.full(len(cells.body), -1)

    def cut(self, words: str, referential: bool = False) -> None:
        """Cut all bodies by a plane (`cuts.Plane.of`), by default through the middle of all bodies.

        A `referential` plane cuts the referential shape, and the section moves with the material.
        """
        if len(self.planes) == MOST_PLANES:
            raise SolfecError(f"there can be {MOST_PLANES} cuts at once")
        low, high = arrays.extents(self.domain)
        self.planes.append(cuts.Plane.of(words, 0.5 * (low + high), referential))
        self.refresh()

    def move_cut(self, number: int, offset: float) -> None:
        """Move a plane, numbered from 1, to another offset from the origin."""
        if not 1 <= number <= len(self.planes):
            raise SolfecError(f"there is no cut {number}; there are {len(self.planes)}")
        self.planes[number - 1].offset = offset
        self._upload_cuts()
        self.draw_lines()

    def clear_cuts(self) -> None:
        """Remove all cuts."""
        self.planes = []
        self.refresh()

    def _seen_vertices(self) -> np.ndarray:
        """Return a mask of the vertices of visible bodies."""
        return self.looks[self.domain.geometry.vertices.view("body"), 3] != 0.0

    def _upload_arrows(self) -> None:
        renderer, domain = self.renderer, self.domain
        name = self.result if self.result in (*fields.AT_CONSTRAINTS, *fields.OF_CONSTRAINTS, "forces") else ""
        renderer.fade = FADE if name else 1.0
        tubes, mode = 2 if name == "chains" else int(name in (*fields.TUBES, *fields.OF_CONSTRAINTS)), 1
        self._arrows, self.arrow_kinds = (np.zeros((0, 3)), np.zeros((0, 3)), np.zeros(0), 0), None
        if not name:
            empty = np.zeros((0, 3), np.float32)
            renderer.set_arrows(empty, empty, np.zeros(0, np.float32), np.zeros((0, 4), np.int32))
            return
        if name == "forces":
            points, vectors, values, _ = fields.at_loads(domain)
        else:
            points, vectors, values = fields.at_constraints(domain, "gap" if name in fields.OF_CONSTRAINTS else name)
        owners = np.zeros((len(values), 4), np.int32)
        owners[:, 1] = np.resize(domain.constraints.view("id"), len(values)) if name != "forces" else 0x7FFFFFFF
        if name in fields.OF_CONSTRAINTS:
            owners[:, 2], words = fields.constraint_categories(domain, name)
            values, mode, self.arrow_kinds = np.ones(len(values)), 2, owners[:, 2]
            self.legend = Legend(name, words=[(k, words[k]) for k in np.unique(owners[:, 2]).tolist()])
        else:
            renderer.arrow_range = self._range(name, values)
            self.legend = Legend(name, renderer.arrow_range, self.logarithmic)
        self._arrows = points, vectors, values, tubes
        shifted = (points - self.topology.origin).astype(np.float32)
        renderer.set_arrows(shifted, vectors.astype(np.float32), values.astype(np.float32), owners, tubes, mode)

    def arrows_drawn(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
        """Return points (n, 3), drawn vectors (n, 3) and values (n,) of arrows or tubes, and the kind of these."""
        points, vectors, values, tubes = self._arrows
        sizes = np.abs(values) if tubes else np.linalg.norm(vectors, axis=1)
        if tubes == 2 or not len(points):
            return self._arrows
        share = sizes / max(float(sizes.max()), 1e-30)
        lengths = self.renderer.arrow_scale * self.camera.distance * (0.02 + 0.08 * share) * ((sizes > 0) | bool(tubes))
        return points, vectors * (lengths / np.maximum(np.linalg.norm(vectors, axis=1), 1e-30))[:, None], values, tubes

    # -- looks ----------------------------------------------------------------------------------------------

    def rows(self, identifiers) -> np.ndarray:
        """Return rows of the bodies with these identifiers that exist."""
        return np.flatnonzero(np.isin(self.domain.bodies.view("id"), np.asarray(list(identifiers), np.int64)))

    def with_elements(self, identifiers) -> set[int]:
        """Return the identifiers of those bodies that have finite elements.

        Raises
        ------
        SolfecError
            No body has elements.
        """
        bodies = self.domain.bodies
        rows = self.rows(identifiers)
        found = set(bodies.view("id")[rows[bodies.kind[rows] == BodyKind.FINITE_ELEMENT]].tolist())
        if not found:
            raise SolfecError("only finite element bodies have a mesh of elements to show")
        return found

    def follow(self, body: int, riding: bool) -> None:
        """Move the camera with a body, and if `riding` turn it, too; 0: no body.

        Raises
        ------
        SolfecError
            There is no such body.
        """
        if body and not len(self.rows([body])):
            raise SolfecError(f"there is no body {body} to follow")
        self.followed, self.riding, self._place = body, riding, None
        self._follow()

    def set_opacity(self, identifiers, opacity: float) -> None:
        """Set the opacity of bodies: 1 opaque, less transparent, 0 hidden, -1 only edges; without identifiers of all bodies."""
        which = slice(None) if identifiers is None else self.rows(identifiers)
        if identifiers is None:
            self._opacities = {}
        self.looks[which, 3] = opacity
        self.refresh()

    # -- camera ---------------------------------------------------------------------------------------------

    def fit(self, aspect: float = 1.0, near: bool = False) -> None:
        """Fit all visible bodies into the picture; if `near`, only the near parts of obstacles that dwarf the others."""
        low, high = self.box()
        self.camera.fit(*(self._framed() if near else (low, high)), aspect)
        away = np.maximum(abs(low - self.camera.target), abs(high - self.camera.target))
        self.camera.reach = 1.1 * float(np.linalg.norm(away))

    def look(self, words: str) -> None:
        """Set a named view (front, back, left, right, top, bottom) or 'azimuth,elevation' in degrees."""
        if words in VIEWS:
            self.camera.look(*VIEWS[words])
            return
        try:
            azimuth, elevation = (float(word) for word in words.split(","))
        except ValueError:
            raise SolfecError(f"{words!r} is no view: one of {', '.join(VIEWS)}, or azimuth,elevation in degrees") from None
        self.camera.look(azimuth, elevation)
