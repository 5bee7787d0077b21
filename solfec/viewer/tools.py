"""Tools for clicks and rectangles of the mouse."""

from __future__ import annotations

import numpy as np

from ..errors import SolfecError
from ..kinds import ConstraintKind
from .fields import BODY_WORDS
from .picking import nearest_vertex


def _inspect(app, found) -> None:
    """Show numbers of the clicked object, and outline it."""
    domain = app.view.domain
    app.view.renderer.chosen, app.message = found.body, ""
    if found.body:
        row = domain.body_row(found.body)
        label = domain.body_labels.get(found.body, "")
        kind = BODY_WORDS[int(domain.bodies.kind[row])]
        constraints = domain.constraints
        count = int(((constraints.view("master") == row) | (constraints.view("slave") == row)).sum())
        app.message = (
            f"body {found.body}{f' ({label})' if label else ''}, {kind}, mass {domain.bodies.mass[row]:.4g}, "
            f"kinetic energy {domain.bodies.energy[0, row]:.4g}, {count} constraints, at ({_text(found.point)})"
        )
    elif found.constraint:
        table = domain.constraints
        row = table.row_of(found.constraint)
        size = float(np.linalg.norm(table.R[:, row]))
        app.message = f"constraint {found.constraint}, {ConstraintKind(int(table.kind[row])).family.word}, |R| {size:.4g}, gap {float(table.gap[row]):.4g}"


def _text(point) -> str:
    return ", ".join(f"{x:.6g}" for x in point)


def _hide(app, found) -> None:
    if found.body:
        app.view.set_opacity(app.view.meant(found.body), 0.0)


def _transparent(app, found) -> None:
    if found.body:
        row = int(app.view.rows([found.body])[0])
        app.view.set_opacity(app.view.meant(found.body), 0.35 if app.view.looks[row, 3] == 1.0 else 1.0)


def _centre(app, found) -> None:
    if found.point is not None:
        app.view.camera.target = _node(app, found)
        app.tool = ""


def _node(app, found) -> np.ndarray:
    """Return the vertex that is nearest to the click, or the point of a clicked constraint."""
    vertex = nearest_vertex(app.view, found)
    return found.point if vertex is None else app.view.domain.geometry.vertices.current[:, vertex].copy()


def _measure(app, found) -> None:
    """Measure coordinates of one node, distance of two, angle at the second of three; show and print the result."""
    if found.point is None:
        return
    vertex = nearest_vertex(app.view, found)
    app.points.append(_node(app, found))
    wanted = {"point coordinates": 1, "points distance": 2, "points angle": 3}[app.tool]
    vertices = app.view.domain.geometry.vertices
    text = f"({_text(app.points[-1])})"
    if vertex is not None:
        node = int(vertices.node[vertex])
        text += f", referential ({_text(vertices.reference[:, vertex])})" + (f", node {node}" if node >= 0 else "")
    app.message = f"{app.tool}: {text}"
    if len(app.points) == wanted:
        if wanted == 2:
            app.message = f"distance {np.linalg.norm(app.points[0] - app.points[1]):.6g}"
        elif wanted == 3:
            app.message = f"angle {_angle(*app.points):.6g} degrees"
        app.view.measured, app.points = app.points, []
    app.view.draw_lines(app.points or None)
    print(app.message, flush=True)


def _angle(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> float:
    """Return the angle at the second point between the other two, in degrees."""
    u, v = a - b, c - b
    if not (u.any() and v.any()):
        raise SolfecError("the angle between points of which two are the same is not defined")
    return float(np.degrees(np.arctan2(np.linalg.norm(np.cross(u, v)), u @ v)))


def _rough(app, found) -> None:
    if found.body:
        app.view.rough ^= app.view.with_elements(app.view.meant(found.body))
        app.view.draw_lines()


MEASURES = ("point coordinates", "points distance", "points angle")
CLICKS = {"": _inspect, "hide": _hide, "toggle transparent": _transparent, "toggle rough mesh": _rough, "trackball center": _centre} | dict.fromkeys(MEASURES, _measure)
NODES = (*MEASURES, "trackball center")
POINTING = tuple(name for name in CLICKS if name)  # tools that show what they would act on
RECTANGLES = ("2D selection", "3D selection", "2D wireframe", "3D wireframe")


def within(app, x0: int, y0: int, x1: int, y1: int) -> set[int]:
    """Return identifiers of bodies in a rectangle: visible in its pixels (2D), or with a vertex or centre behind it (3D)."""
    left, right = sorted((min(max(x0, 0), app.size[0] - 1), min(max(x1, 0), app.size[0] - 1)))
    top, bottom = sorted((min(max(y0, 0), app.size[1] - 1), min(max(y1, 0), app.size[1] - 1)))
    domain = app.view.domain
    if app.tool.startswith("2D"):
        seen = app.draw().ids(left, top, right - left + 1, bottom - top + 1)[..., 0]
        return set(np.unique(seen).tolist()) & set(domain.bodies.view("id").tolist())
    vertices = domain.geometry.vertices
    at = app.view.camera.project(vertices.view("current").T, *app.size)
    inside = (at[:, 0] >= left) & (at[:, 0] <= right + 1) & (at[:, 1] >= top) & (at[:, 1] <= bottom + 1)
    found = domain.bodies.view("id")[np.unique(vertices.view("body")[inside])]
    return set(found.tolist()) & set(app.visible().tolist())


def chosen(domain, words: list[str]) -> set[int]:
    """Return identifiers of bodies that words name: numbers, or regular expressions that are searched for in labels."""
    from ..results.export import chosen as matching

    items = [int(word) if word.isdigit() else word for word in words]
    try:
        return matching(items, domain.body_labels, domain, domain.bodies.view("id").tolist())
    except ValueError as error:
        raise SolfecError(str(error)) from None
