"""A model as text in the multi-body frictional contact problem format (docs/language-running.md, MBFCP_EXPORT).

Sections of lines 'KEY:<tab>values', numbers with six digits; shapes in the referential placement.
"""

from __future__ import annotations

import numpy as np

from ..bodies.loads import LoadKind
from ..bodies.table import BodyKind, Form
from ..constraints.table import ANY_SURFACE, ConstraintKind, SurfaceModel
from ..contact.geometry import PrimitiveKind
from ..errors import SolfecError
from ..kinds import LINKS


def text_of(domain) -> str:
    """Return the text of the whole file.

    Raises
    ------
    SolfecError
        An ellipsoid, or a force that a callback gives: the format has neither.
    """
    _refuse(domain)
    sections = (_surface_materials, _bulk_materials, _gravity, _bodies, _constraints)
    return "\n\n".join("\n".join(section(domain)) for section in sections) + "\n"


def _line(key: str, *values) -> str:
    words = []
    for value in values:
        flat = np.ravel(value)
        words += [f"{x:.6g}" if flat.dtype.kind == "f" else str(x) for x in flat]
    return f"{key}:\t" + " ".join(words)


def _refuse(domain) -> None:
    p, bodies = domain.geometry.primitives, domain.bodies
    for k in np.flatnonzero(p.view("kind") == PrimitiveKind.ELLIPSOID)[:1]:
        raise SolfecError(f"MBFCP_EXPORT: body {int(bodies.id[p.body[k]])} has an ellipsoid, which the format does not know")
    for callback in domain.loads.callbacks[:1]:
        raise SolfecError(f"the force on body {int(bodies.id[callback.body])} is a callback, which the format does not know")


def _surface_materials(domain) -> list[str]:
    table = domain.surface_materials
    lines = [_line("SURFACE_MATERIALS", table.n)]
    for k in range(table.n):
        pair = ["ANY" if s == ANY_SURFACE else str(s) for s in table.surface[:, k].tolist()]
        lines += ["", _line("SURF1", pair[0]), _line("SURF2", pair[1]), _line("MODEL", SurfaceModel(int(table.model[k])).name)]
        for name in ("friction", "cohesion", "restitution", "spring", "dashpot"):
            lines.append(_line(name.upper(), getattr(table, name)[k]))
    return lines


def _bulk_materials(domain) -> list[str]:
    lines = [_line("BULK_MATERIALS", len(domain.bulk_materials))]
    for material in domain.bulk_materials:
        lines += ["", _line("LABEL", material.label), _line("MODEL", material.model)]
        for name in ("young", "poisson", "density"):
            lines.append(_line(name.upper(), float(getattr(material, name))))
    return lines


def _gravity(domain) -> list[str]:
    loads = domain.loads
    lines = []
    tabulated = dict(loads.gravity_series)
    for i, name in enumerate("XYZ"):
        value = _knots(loads.series, tabulated[i]) if i in tabulated else [float(loads.gravity[i])]
        lines.append(_line(f"GRAVITY_{name}", np.array(value, float)))
    return lines


def _knots(table, row: int) -> list[float]:
    """Return t0, v0, t1, v1, ... of a time series."""
    times, values = table.knots(row)
    return np.stack([times, values], 1).ravel().tolist() if times.size else values.tolist()


def _bodies(domain) -> list[str]:
    bodies = domain.bodies
    lines = [_line("BODIES", bodies.n)]
    for row in range(bodies.n):
        identifier = int(bodies.id[row])
        kind = BodyKind(int(bodies.kind[row]))
        lines += ["", _line("ID", identifier)]
        if identifier in domain.body_labels:
            lines.append(_line("LABEL", domain.body_labels[identifier]))
        lines.append(_line("KINEMATICS", kind.name))
        if kind == BodyKind.FINITE_ELEMENT:
            lines.append(_line("FORMULATION", Form(int(bodies.form[row])).name))
        lines.append(_line("BULK_MATERIAL", domain.bulk_materials[int(bodies.material[row])].label))
        lines += _shape(domain, row)
        lines.append(_line("VELOCITY", domain.states.velo(identifier)))
        lines += _forces(domain, row)
    return lines


def _shape(domain, row: int) -> list[str]:
    bodies, geometry = domain.bodies, domain.geometry
    p = geometry.primitives
    first = int(bodies.primitive_ptr[row])
    which = range(first, first + int(bodies.primitive_count[row]))
    mesh = bodies.meshes.get(int(bodies.id[row]))
    lines = []
    if mesh is not None and mesh.background is None:
        return _mesh(mesh.nodes, [nodes[:size] for nodes, size in zip(mesh.elements, mesh.sizes)])
    for k in which:
        vertices = geometry.vertex_lists.vertex[p.vertex_ptr[k] : p.vertex_ptr[k] + p.vertex_count[k]]
        points = geometry.vertices.reference[:, vertices].T
        if p.kind[k] == PrimitiveKind.SPHERE:
            lines += [_line("SPHERE", int(p.surface[k])), _line("CENTER", points), _line("RADIUS", float(p.radius[k]))]
        elif p.kind[k] == PrimitiveKind.CONVEX:
            rows = range(p.face_ptr[k], p.face_ptr[k] + p.face_count[k])
            lines += [_line("CONVEX", int(p.volume_id[k])), _line("VERTICES", len(points), points), _line("FACES", len(rows))]
            lines += [_line("FACE", geometry.faces.surface[f], *_corners(geometry, f)) for f in rows]
    solid = [k for k in which if p.kind[k] == PrimitiveKind.ELEMENT]
    if solid:
        listed = [geometry.vertex_lists.vertex[p.vertex_ptr[k] : p.vertex_ptr[k] + p.vertex_count[k]] for k in solid]
        used = np.unique(np.concatenate(listed))
        lines += _mesh(geometry.vertices.reference[:, used].T, [np.searchsorted(used, nodes) for nodes in listed])
    return lines


def _corners(geometry, face: int) -> list[int]:
    start, count = int(geometry.faces.corner_ptr[face]), int(geometry.faces.corner_count[face])
    return geometry.corners.local[start : start + count].tolist()


def _mesh(nodes: np.ndarray, elements: list[np.ndarray]) -> list[str]:
    lines = [_line("MESH", len(elements)), _line("NODES", len(nodes))]
    lines += [_line("NODE", point) for point in nodes]
    return lines + [_line("ELEMENT", len(element), element) for element in elements]


def _forces(domain, row: int) -> list[str]:
    table = domain.loads.table
    which = np.flatnonzero(table.view("body") == row)
    lines = [_line("FORCES", len(which))]
    for k in which:
        value = _knots(domain.loads.series, int(table.series[k])) if table.series[k] >= 0 else [float(table.value[k])]
        lines += [
            _line("FORCE_KIND", LoadKind(int(table.kind[k])).name), _line("POINT", table.point[:, k]),
            _line("DIRECTION", table.direction[:, k]), _line("VALUE", np.array(value, float)),
        ]  # fmt: skip
    return lines


def _constraints(domain) -> list[str]:
    table, identifiers = domain.constraints, domain.bodies.view("id")
    lines = [_line("CONSTRAINTS", table.user_count)]
    for k in range(table.user_count):
        slave = int(table.slave[k])
        lines += ["", _line("KIND", ConstraintKind(int(table.kind[k])).name), _line("BODY1", int(identifiers[table.master[k]]))]
        if slave >= 0:
            lines.append(_line("BODY2", int(identifiers[slave])))
        lines.append(_line("POINT1", table.master_point[:, k]))
        if slave >= 0 or table.kind[k] in LINKS:
            lines.append(_line("POINT2", table.slave_point[:, k]))
        if np.any(table.direction[:, k]):
            lines.append(_line("DIRECTION", table.direction[:, k]))
    return lines
