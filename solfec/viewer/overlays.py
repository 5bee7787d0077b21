"""Lines and words in space: frames, inertia and boxes of bodies, joints, display points, background meshes, measured points, planes of cuts."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from ..bodies.finite_elements import compiled
from ..bodies.table import BodyKind
from ..element_types import BY_SIZE
from ..fragments import inherited_points
from ..kinds import ConstraintKind, Frame
from . import cuts, places

RED, GREEN, BLUE, GREY, ORANGE, PURPLE = (0.8, 0.1, 0.1), (0.1, 0.55, 0.15), (0.15, 0.25, 0.8), (0.45, 0.45, 0.45), (0.85, 0.4, 0.0), (0.5, 0.1, 0.6)
EQUAL = 1e-9  # over the sum of moments: differences that count as none
KINDS = ("frames", "inertia", "boxes", "joints", "labels", "display points")  # kinds of lines and words that commands switch
MOST_WORDS = 300  # most words that are drawn
ELLIPSE = 32  # sides of the polygon that stands for an ellipse

TWO_ENDED = tuple(kind for kind in ConstraintKind if kind.family.frame in (Frame.BETWEEN_POINTS, Frame.OF_SPRING))


@dataclass
class Overlay:
    """Lines: ends (2 n, 3) and colours (2 n, 3); words: places (m, 3), texts."""

    ends: list[np.ndarray] = field(default_factory=list)
    colours: list[np.ndarray] = field(default_factory=list)
    places: list[np.ndarray] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    def lines(self, start: np.ndarray, end: np.ndarray, colour) -> None:
        """Add lines from points (n, 3) to points (n, 3)."""
        ends = np.stack([start, end], 1).reshape(-1, 3)
        self.ends.append(ends)
        self.colours.append(np.broadcast_to(np.asarray(colour, float), ends.shape))

    def word(self, place, text: str) -> None:
        """Add a text beside a point."""
        if len(self.texts) < MOST_WORDS:
            self.places.append(np.asarray(place, float))
            self.texts.append(text)

    def cross(self, points: np.ndarray, size: float, colour) -> None:
        """Add a cross at each of the points (n, 3)."""
        for axis in np.eye(3):
            self.lines(points - size * axis, points + size * axis, colour)

    def arrays(self) -> tuple[np.ndarray, np.ndarray]:
        """All ends and colours (2 n, 3)."""
        nothing = np.zeros((0, 3))
        return np.concatenate([nothing, *self.ends]), np.concatenate([nothing, *self.colours])


def overlay(view, points: list) -> Overlay:
    """Make the lines and words that are switched on in a presentation, and those of measured points."""
    made, domain = Overlay(), view.domain
    shown = view.looks[:, 3] != 0.0
    size = 0.02 * view.camera.radius
    if domain.bodies.n:
        _switched(made, view, np.flatnonzero(shown), size)
    if view.rough:
        _background_meshes(made, domain, view.rows(view.rough))
    if points:
        placed = np.array(points)
        made.cross(placed, size, PURPLE)
        made.lines(placed[:-1], placed[1:], PURPLE)
        for number, point in enumerate(points):
            made.word(point, f"{number + 1}: " + ", ".join(f"{x:.4g}" for x in point))
    for number, plane in enumerate(view.planes if "planes" in view.shown_in_space else ()):
        _plane(made, view, number, plane)
    return made


def _switched(made: Overlay, view, rows: np.ndarray, size: float) -> None:
    domain, on = view.domain, view.shown_in_space
    bodies = domain.bodies
    if "inertia" in on:
        _inertia(made, domain, rows)
    if "frames" in on or "labels" in on:
        centres = places.centres(domain, rows)
    if "frames" in on:
        _frames(made, domain, rows, centres)
    if "boxes" in on:
        low, high = bodies.view("extents")[:3, rows].T, bodies.view("extents")[3:, rows].T
        corner = np.array([[(k >> axis) & 1 for axis in range(3)] for k in range(8)], bool)
        for a, b in combinations(range(8), 2):
            if bin(a ^ b).count("1") == 1:
                made.lines(np.where(corner[a], high, low), np.where(corner[b], high, low), GREY)
    if "labels" in on:
        for row, centre in zip(rows[:MOST_WORDS].tolist(), centres):
            identifier = int(bodies.id[row])
            made.word(centre, domain.body_labels.get(identifier) or str(identifier))
    if "joints" in on:
        _joints(made, domain, size)
    if "display points" in on:
        _display_points(made, domain, view.source.simulation, size)


def _frames(made: Overlay, domain, rows: np.ndarray, centres: np.ndarray) -> None:
    """Add axes of bodies' frames: images of small steps along x, y, z from the mass centre."""
    bodies = domain.bodies
    extents = bodies.view("extents")[:, rows]
    reach = 0.3 * np.linalg.norm(extents[3:] - extents[:3], axis=0)[:, None]
    first = bodies.conf_ptr[rows]
    for k, colour in enumerate((RED, GREEN, BLUE)):
        axis = np.tile(np.eye(3)[k], (len(rows), 1))
        kind = bodies.kind[rows]
        rigid, soft = kind <= BodyKind.RIGID, kind == BodyKind.PSEUDO_RIGID
        axis[rigid] = bodies.configurations.conf[:, first[rigid] + k].T
        axis[soft] = bodies.configurations.conf[k][first[soft][:, None] + np.arange(3)]
        made.lines(centres, centres + reach * axis, colour)


def _inertia(made: Overlay, domain, rows: np.ndarray) -> None:
    """Add the ellipsoid of even density that has a body's mass and second moments: axes in red, green, blue from the longest on, three ellipses.

    Second moments S = integral of rho (x - c)(x - c)^T of an ellipsoid with semi-axes a_k are m a_k^2 / 5 along its axes.  Of equal moments, as of a cube,
    any axes are principal: those of space are taken, instead of what round-off makes of them.
    """
    bodies = domain.bodies
    rows = rows[(bodies.kind[rows] != BodyKind.OBSTACLE) & (bodies.mass[rows] > 0.0)]
    centres = places.centres(domain, rows)
    moments = places.second_moments(domain, rows)
    preferred = EQUAL * np.trace(moments, axis1=1, axis2=2)[:, None, None] * np.diag([2.0, 1.0, 0.0])
    values, axes = np.linalg.eigh(moments + preferred)
    reach = np.sqrt(5.0 * np.maximum(values, 0.0) / bodies.mass[rows, None])
    ways = [axes[:, :, k] * reach[:, k, None] for k in (2, 1, 0)]
    angle = np.linspace(0.0, 2.0 * np.pi, ELLIPSE + 1)
    for number, (way, colour) in enumerate(zip(ways, (RED, GREEN, BLUE))):
        made.lines(centres - way, centres + way, colour)
        one, other = ways[number - 2], ways[number - 1]
        ring = centres[:, None] + one[:, None] * np.cos(angle)[:, None] + other[:, None] * np.sin(angle)[:, None]
        made.lines(ring[:, :-1].reshape(-1, 3), ring[:, 1:].reshape(-1, 3), GREY)


def _joints(made: Overlay, domain, size: float) -> None:
    """Add crosses at the points of constraints other than contacts, and lines between points of links and springs."""
    table = domain.constraints
    found = np.flatnonzero(table.view("kind") != ConstraintKind.CONTACT)
    if not len(found):
        return
    points = table.view("point")[:, found].T
    made.cross(points, 0.5 * size, ORANGE)
    slave, place = table.view("slave")[found], table.view("slave_point")[:, found].T.copy()
    joined = slave >= 0
    place[joined] = places.spatial_points(domain, slave[joined], place[joined].T).T
    two = np.isin(table.view("kind")[found], TWO_ENDED)
    made.lines(points[two], place[two], ORANGE)


def _display_points(made: Overlay, domain, simulation, size: float) -> None:
    """Add points of DISPLAY_POINT; results without their input hold none."""
    if not simulation.display_points:
        return
    for identifier in domain.bodies.view("id").tolist():
        for label, point in inherited_points(domain, identifier, simulation.display_points):
            place = np.asarray(point, float) + domain.points.displacement(identifier, point)
            made.cross(place[None], size, RED)
            made.word(place, label or "point")


def _background_meshes(made: Overlay, domain, rows: np.ndarray) -> None:
    """Add the edges of all elements, also inner ones, of finite element bodies."""
    fe = compiled(domain.bodies)
    place = (fe.reference + domain.bodies.configurations.conf[:, fe.conf_row]).T
    for row in rows.tolist():
        k = fe.number(row)
        elements = np.arange(fe.first_element[k], fe.first_element[k + 1])
        pairs = []
        for size, kind in BY_SIZE.items():
            edges = np.array(sorted({tuple(sorted(pair)) for face in kind.faces for pair in zip(face, face[1:] + face[:1])}))
            which = elements[fe.element_size[elements] == size]
            pairs.append(fe.element_node[:, which].T[:, edges].reshape(-1, 2) + fe.first[k])
        pairs = np.unique(np.sort(np.concatenate(pairs), axis=1), axis=0)
        made.lines(place[pairs[:, 0]], place[pairs[:, 1]], BLUE)


def _plane(made: Overlay, view, number: int, plane: cuts.Plane) -> None:
    """Add the border of a plane within the scene, and its normal, whose foot is the handle for the mouse."""
    foot, right, up, reach = handle(view, plane)
    corners = foot + reach * np.array([-right - up, right - up, right + up, up - right])
    colour = PURPLE if plane.referential else ORANGE
    made.lines(corners, np.roll(corners, -1, axis=0), colour)
    made.lines(foot[None], (foot + 0.25 * reach * plane.normal)[None], colour)
    made.word(foot, f"cut {number + 1}")


def handle(view, plane: cuts.Plane) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Return the foot (3,) of a plane's handle, two directions along the plane, and half of the border's width."""
    low, high = view.box()
    middle = 0.5 * (low + high)
    foot = middle + (plane.offset - plane.normal @ middle) * plane.normal
    side = np.eye(3)[np.argmin(np.abs(plane.normal))]
    right = np.cross(plane.normal, side)
    right /= np.linalg.norm(right)
    return foot, right, np.cross(plane.normal, right), 0.6 * float(np.linalg.norm(high - low)) / np.sqrt(2.0)
