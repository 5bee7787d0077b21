"""A page that shows a scene in any browser: arrays in base64 and some WebGL2, without further files."""

from __future__ import annotations

import base64
import html
import json
from pathlib import Path

import numpy as np

from ..bodies.table import BodyKind
from ..errors import SolfecError
from . import arrays, colours, fields

MOST_BYTES = 300_000_000  # largest size of the page's arrays
FINE, COARSE = (24, 12), (12, 6)  # parts of a sphere around and along its axis, for few and for many spheres
MANY = 500


def write(app, path: str, every: int = 1) -> None:
    """Write a page of the scene in all frames or in every N-th one.

    Raises
    ------
    SolfecError
        Cuts are shown, which pages do not support; the page is too large; the file cannot be written.
    """
    text = text_of(app, every)
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise SolfecError(f"{path}: cannot be written: {error.strerror or error}") from None


def text_of(app, every: int = 1) -> str:
    """Return the page's text, see `write`."""
    view = app.view
    if view.planes:
        raise SolfecError("pages show no cuts: 'clear cuts' first, or write a picture")
    before, over_all = view.source.frame, view.over_all
    view.over_all = True  # so that colours mean the same in all frames
    frames = [0] if view.source.live else list(range(0, len(view.source.times), every))
    try:
        scene = _Scene(view)
        for frame in frames:
            if not view.source.live:
                view.source.seek(frame)
                view.refresh()
            scene.add()
        data = scene.data()
    finally:
        view.over_all = over_all
        if not view.source.live:
            view.source.seek(before)
            view.refresh()
    template = (Path(__file__).parent / "page.html").read_text(encoding="utf-8")
    return template.replace("@TITLE@", html.escape(f"solfec: {view.source.path}")).replace("@DATA@", json.dumps(data).replace("</", "<\\/"))


def _coded(array: np.ndarray, dtype: str) -> str:
    """Return the little-endian bytes of an array in base64."""
    return base64.b64encode(np.ascontiguousarray(array, dtype).tobytes()).decode()


def _sphere(parts: tuple[int, int]) -> tuple[np.ndarray, np.ndarray]:
    """Return points (n, 3) and triangles (m, 3) of the unit sphere."""
    around, along = parts
    theta, phi = np.meshgrid(np.linspace(0, np.pi, along + 1), np.linspace(0, 2 * np.pi, around, endpoint=False), indexing="ij")
    points = np.stack([np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi), np.cos(theta)], -1).reshape(-1, 3)
    k, j = np.meshgrid(np.arange(along), np.arange(around), indexing="ij")
    a, b, c, d = k * around + j, k * around + (j + 1) % around, (k + 1) * around + (j + 1) % around, (k + 1) * around + j
    return points, np.concatenate([np.stack([a, d, c], -1).reshape(-1, 3), np.stack([a, c, b], -1).reshape(-1, 3)])


def _circles(parts: tuple[int, int]) -> np.ndarray:
    """Return pairs of points (n, 2) of `_sphere` that are edges of three great circles."""
    around, along = parts
    equator = along // 2 * around + np.arange(around)
    rings = [np.stack([equator, np.roll(equator, -1)], 1)]
    for j in range(0, around, around // 4):
        meridian = np.arange(along + 1) * around + j
        rings.append(np.stack([meridian[:-1], meridian[1:]], 1))
    return np.concatenate(rings)


def _apart(triangles: np.ndarray, kinds: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Give triangles (n, 3) last corners of their own category, whose colour a browser takes for all of a triangle.

    Returns
    -------
    triangles : ndarray (n, 3)
        With copies of points in the place of last corners that have another category already; copies are numbered from `count` on.
    category : ndarray
        Categories of the points and the copies.
    copied : ndarray
        The points of which they are copies.
    """
    pairs, place = np.unique(np.stack([triangles[:, 2], kinds], 1), axis=0, return_inverse=True)
    again = np.zeros(len(pairs), bool)
    again[1:] = pairs[1:, 0] == pairs[:-1, 0]
    number = pairs[:, 0].copy()
    number[again] = count + np.arange(again.sum())
    category = np.full(count + again.sum(), -1)
    category[number] = pairs[:, 1]
    return np.column_stack((triangles[:, :2], number[place.ravel()])), category, pairs[again, 0]


class _Scene:
    """Shapes of all bodies that are visible in some frame, and their changes from frame to frame."""

    def __init__(self, view):
        self.view, self.origin = view, view.topology.origin.copy()
        self.known: dict[int, int] = {}  # numbers of bodies by identifier
        self.looks: list = []
        self.names: list[str] = []
        self.points, self.body, self.triangles, self.edges = [], [], [], []
        self.category: list = []
        self.words: dict[int, str] = {}  # of categories, by the numbers that the page has for them
        self.count, self.frames, self.size = 0, [], 0
        self.chunks: list = []  # chunks of points, with functions that find the current ones in a domain
        self.version = None

    def add(self) -> None:
        """Add a frame."""
        view, domain = self.view, self.view.domain
        if self.version != (id(domain), domain.geometry.version):
            self.version = id(domain), domain.geometry.version
            self._new_bodies()
        values = view.values_shown
        frame = {"time": view.source.time, "pose": self._poses(), "moved": self._deformed(), "arrows": self._arrows(), "kinds": self._kinds()}
        if values is not None:
            frame["values"] = self._coded_values(values)
        self.size += sum(part.nbytes for part in frame.values() if isinstance(part, np.ndarray))
        if self.size > MOST_BYTES:
            raise SolfecError(f"the page would hold more than {MOST_BYTES // 1_000_000} MB: show fewer frames (--every N) or bodies")
        self.frames.append(frame)

    def _new_bodies(self) -> None:
        """Add shapes of bodies that were not visible before."""
        view, domain, topology = self.view, self.view.domain, self.view.topology
        bodies, geometry = domain.bodies, domain.geometry
        ids, owner = bodies.view("id"), geometry.vertices.view("body")
        seen = view.looks[:, 3] != 0.0
        new = np.array([row for row in np.flatnonzero(seen).tolist() if int(ids[row]) not in self.known], int)
        if not len(new):
            return
        for row in new.tolist():
            self.known[int(ids[row])] = len(self.known)
            self.looks.append(view.looks[row].tolist())
            self.names.append(self._label(int(ids[row])))
        rigid = bodies.view("kind") <= BodyKind.RIGID
        taken = np.flatnonzero(np.isin(owner, new))
        number = np.full(geometry.vertices.n, -1)
        number[taken] = self.count + np.arange(len(taken))
        reference = geometry.vertices.view("reference").T[taken] - self.origin
        self.chunks.append((self.count, len(taken), [int(ids[row]) for row in owner[taken]], rigid[owner[taken]], None))
        self._append(reference, owner[taken], ids)
        mine = np.isin(owner[topology.triangles[:, 0]], new) if len(topology.triangles) else np.zeros(0, bool)
        triangles, category = number[topology.triangles[mine].astype(int)], view.categories_shown
        per_point = np.full(len(taken), -1)
        copied = np.zeros(0, int)
        if category is not None:
            triangles, per_point, copied = _apart(triangles - (self.count - len(taken)), self._numbers(category[0][mine]), len(taken))
            triangles += self.count - len(taken)
        self.triangles.append(triangles)
        self.category.append(per_point)
        if len(copied):
            rows = owner[taken][copied]
            self.chunks.append((self.count, len(copied), [int(ids[row]) for row in rows], rigid[rows], copied + self.count - len(taken)))
            self._append(reference[copied], rows, ids)
        mine = np.isin(topology.edge_body, new)
        self.edges.append(number[topology.edges[mine].astype(int)])
        self._new_quadrics(new, ids, category)

    def _numbers(self, category: np.ndarray) -> np.ndarray:
        """Return the page's numbers of categories: numbers of the view grow with what occurs in a frame."""
        known = {word: number for number, word in self.words.items()}
        table = np.full(len(self.view.legend.words) + 1, -1)  # the last one, of -1, is grey
        for number, word in self.view.legend.words:
            table[number] = known.setdefault(word, len(known))
        self.words.update({number: word for word, number in known.items()})
        return table[category]

    def _kinds(self) -> np.ndarray:
        """Return categories (bodies,) of known bodies, if the result has one for each of them; they may change from frame to frame."""
        view = self.view
        if view.result not in fields.OF_BODIES:
            return np.zeros(0, np.int16)
        result = np.full(len(self.known), -1, np.int16)
        number = self._numbers(fields.body_categories(view.domain, view.result)[0])
        for row, body in enumerate(view.domain.bodies.view("id").tolist()):
            if body in self.known:
                result[self.known[body]] = number[row]
        return result

    def _new_quadrics(self, new: np.ndarray, ids: np.ndarray, category) -> None:
        """Add spheres and ellipsoids as triangles."""
        domain, topology = self.view.domain, self.view.topology
        owner = domain.geometry.primitives.view("body")[topology.quadrics]
        which = np.flatnonzero(np.isin(owner, new))
        if not len(which):
            return
        parts = COARSE if len(topology.quadrics) > MANY else FINE
        points, triangles = _sphere(parts)
        _, shapes = arrays.references(domain, topology)
        shapes = shapes[which].astype(float)
        placed = shapes[:, None, :3] + np.einsum("pk,nkj->npj", points, shapes[:, 3:].reshape(-1, 3, 3))
        rows = np.repeat(owner[which], len(points))
        rigid = domain.bodies.view("kind")[rows] <= BodyKind.RIGID
        self.chunks.append((self.count, len(rows), [int(ids[row]) for row in rows], rigid, (points, [int(ids[row]) for row in owner[which]])))
        first = self.count + len(points) * np.arange(len(which))[:, None, None]
        self.triangles.append((first + triangles).reshape(-1, 3))
        wire = self.view.looks[owner[which], 3] < 0.0  # drawn as edges, of which they have none
        self.edges.append((first[wire] + _circles(parts)).reshape(-1, 2))
        self.category.append(np.repeat(np.full(len(which), -1) if category is None else self._numbers(category[1][which]), len(points)))
        self._append(placed.reshape(-1, 3) - (self.origin - topology.origin), rows, ids)

    def _append(self, points: np.ndarray, rows: np.ndarray, ids: np.ndarray) -> None:
        self.points.append(points)
        self.body.append(np.array([self.known[int(body)] for body in ids[rows]], int))
        self.count += len(points)

    def _poses(self) -> np.ndarray:
        """Return quaternion (x, y, z, w) and shift (bodies, 7) of bodies; NaN if a body is gone."""
        from scipy.spatial.transform import Rotation

        bodies = self.view.domain.bodies
        result = np.full((len(self.known), 7), np.nan)
        ids = bodies.view("id").tolist()
        rows = np.array([row for row, body in enumerate(ids) if body in self.known and self.view.looks[row, 3] != 0.0], int)
        numbers = np.array([self.known[ids[row]] for row in rows], int)
        result[numbers] = (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)
        rigid = bodies.kind[rows] <= BodyKind.RIGID
        if rigid.any():
            first = bodies.conf_ptr[rows[rigid]]
            turned = bodies.configurations.conf[:, first[:, None] + np.arange(3)].transpose(1, 0, 2)  # columns
            centre = bodies.configurations.conf[:, first + 3].T - self.origin
            old = bodies.view("centre")[:, rows[rigid]].T - self.origin
            shift = centre - np.einsum("nij,nj->ni", turned, old)
            result[numbers[rigid]] = np.concatenate([Rotation.from_matrix(turned).as_quat(), shift], axis=1)
        return result.astype(np.float32)

    def _current(self) -> list:
        """Return, for each chunk of points, rows of those of present bodies, and their current positions."""
        domain, topology = self.view.domain, self.view.topology
        owner = domain.geometry.vertices.view("body")
        ids = domain.bodies.view("id")
        of_vertex = ids[owner] if len(owner) else np.zeros(0, int)
        found = []
        for _, size, bodies, _, quadric in self.chunks:
            bodies = np.array(bodies)
            place = np.full((size, 3), np.nan)
            if isinstance(quadric, np.ndarray):  # copies of the points of the chunk before
                place = np.concatenate(found)[quadric]
            elif quadric is None:
                for body in np.unique(bodies).tolist():
                    rows = np.flatnonzero(of_vertex == body)
                    mine = np.flatnonzero(bodies == body)
                    if len(rows) == len(mine):
                        place[mine] = domain.geometry.vertices.view("current")[:, rows].T - self.origin
            else:
                points, owners = quadric
                shapes = arrays.quadrics(domain, topology).astype(float)
                holder = ids[domain.geometry.primitives.view("body")[topology.quadrics]]
                place = place.reshape(len(owners), len(points), 3)
                for body in set(owners):
                    mine, now = np.flatnonzero(np.array(owners) == body), np.flatnonzero(holder == body)
                    if len(mine) == len(now):
                        place[mine] = shapes[now, None, :3] + np.einsum("pk,nkj->npj", points, shapes[now, 3:].reshape(-1, 3, 3))
                place = place.reshape(-1, 3) - (self.origin - topology.origin)
            found.append(place)
        return found

    def _deformed(self) -> np.ndarray:
        """Return current positions (n, 3) of the points of deforming bodies, in the order of all points."""
        soft = [~rigid for _, _, _, rigid, _ in self.chunks]
        if not any(part.any() for part in soft):
            return np.zeros((0, 3), np.float32)
        return np.concatenate([place[part] for place, part in zip(self._current(), soft)]).astype(np.float32)

    def _coded_values(self, values: np.ndarray) -> np.ndarray:
        """Return values (points,) as numbers 0 to 254 within the range of the frame; 255: none."""
        domain, topology = self.view.domain, self.view.topology
        ids, owner = domain.bodies.view("id"), domain.geometry.vertices.view("body")
        of_vertex = ids[owner]
        result = np.full(self.count, np.nan)
        for first, _, bodies, _, quadric in self.chunks:
            if isinstance(quadric, np.ndarray):
                continue  # copies, of results without values
            bodies = np.array(bodies)
            holder = ids[domain.geometry.primitives.view("body")[topology.quadrics]]
            for body in np.unique(bodies).tolist():
                mine = first + np.flatnonzero(bodies == body)
                found = values[topology.quadric_centre[holder == body]] if quadric is not None else values[of_vertex == body]
                if quadric is not None and len(found):
                    found = np.repeat(found, len(quadric[0]))
                if len(found) == len(mine):
                    result[mine] = found
        low, high = self.view.legend.range
        share = (result - low) / (high - low) if high > low else np.where(np.isfinite(result), 0.5, np.nan)
        inside = (share >= -1e-4) & (share <= 1.0001)
        coded = np.full(self.count, 255, np.uint8)
        coded[inside] = np.round(254 * np.clip(share[inside], 0.0, 1.0)).astype(np.uint8)
        return coded

    def _arrows(self) -> np.ndarray:
        """Return points, drawn vectors, and shares of the colour range, or numbers of categories, (n, 7) of arrows."""
        points, vectors, values, tubes = self.view.arrows_drawn()
        if self.view.arrow_kinds is not None:
            self.words.update(self.view.legend.words)
        if not len(points):
            return np.zeros((0, 7), np.float32)
        low, high = self.view.renderer.arrow_range
        if self.view.arrow_kinds is not None:
            share = self.view.arrow_kinds
        else:
            share = np.clip((values - low) / (high - low), 0.0, 1.0) if high > low else np.full(len(values), 0.5)
        start = points - self.origin - (0.5 * vectors if tubes == 1 else vectors if tubes == 0 else 0.0)
        return np.concatenate([start, vectors, share[:, None]], axis=1).astype(np.float32)

    def data(self) -> dict:
        """Return all data in types of JSON."""
        view, nothing = self.view, np.zeros((0, 3), int)
        widest = max((len(frame.get("values", ())) for frame in self.frames), default=0)
        low, high = view.box()
        legend = None
        if view.legend is not None:
            legend = {"title": view.legend.title, "words": [[int(k), word] for k, word in sorted(self.words.items())]}
            if view.legend.range is not None:
                legend["numbers"] = [[place, word] for place, word in colours.numbers(*view.legend.range, 9, view.legend.logarithmic)]
        soft = np.concatenate([~rigid for _, _, _, rigid, _ in self.chunks]) if self.chunks else np.zeros(0, bool)
        return {
            "points": _coded(np.concatenate([np.zeros((0, 3)), *self.points]), "<f4"),
            "body": _coded(np.concatenate([np.zeros(0), *self.body]), "<u4"), "category": _coded(np.concatenate([np.zeros(0), *self.category]), "<i2"),
            "triangles": _coded(np.concatenate([nothing, *self.triangles]), "<u4"), "edges": _coded(np.concatenate([np.zeros((0, 2)), *self.edges]), "<u4"),
            "soft": _coded(np.flatnonzero(soft), "<u4"), "looks": _coded(np.array(self.looks).reshape(-1, 4), "<f4"),
            "labels": self.names, "valued": widest > 0 and view.result not in fields.KINDS,
            "frames": [
                {"time": frame["time"], "pose": _coded(frame["pose"], "<f4"), "moved": _coded(frame["moved"], "<f4"), "arrows": _coded(frame["arrows"], "<f4"),
                 "values": _coded(frame["values"], "u1") if "values" in frame else "", "kinds": _coded(frame["kinds"], "<i2")}
                for frame in self.frames
            ],
            "map": _coded(colours.colour_map(view.colour_map), "u1"), "palette": _coded(colours.palette(), "u1"), "legend": legend,
            "camera": {
                "target": (view.camera.target - self.origin).tolist(), "distance": view.camera.distance, "rotation": view.camera.rotation.tolist(),
                "radius": 0.5 * float(np.linalg.norm(high - low)), "ortho": view.camera.ortho,
            },
            "fade": view.renderer.fade, "kinds": view.arrow_kinds is not None, "start": max(len(self.frames) - 1, 0),
        }  # fmt: skip

    def _label(self, body: int) -> str:
        label = self.view.domain.body_labels.get(body, "")
        return f"body {body}" + (f" ({label})" if label else "")
