"""Shapes of bodies between the geometry tables and a results file, numbered within each body there."""

from __future__ import annotations

import numpy as np

from ..contact.geometry import Geometry, ShapePrimitives
from .layout import FACE, PARTS, PRIMITIVE, SHAPE


def pack(bodies, geometry: Geometry, first: int) -> dict[str, np.ndarray]:
    """Make arrays for `/model/shapes` and its detail datasets from the bodies at row `first` and after.

    Pointers in `shapes` count from the first row packed here.
    """
    primitives, faces = geometry.primitives, geometry.faces
    count = bodies.view("primitive_count")
    ends = {
        "primitives": np.cumsum(count),
        "vertices": np.searchsorted(geometry.vertices.view("body"), np.arange(bodies.n), side="right"),
    }
    for part, owner, name in (
        ("faces", primitives, "face"), ("vertex_lists", primitives, "vertex"), ("adjacency", primitives, "adjacent"),
        ("corners", faces, "corner"),
    ):  # fmt: skip
        last = np.maximum.accumulate(owner.view(name + "_ptr") + owner.view(name + "_count"))
        owner_end = ends["faces" if owner is faces else "primitives"]
        ends[part] = np.concatenate([[0], last])[owner_end].astype(np.int64)
    starts = {part: np.concatenate([[0], ends[part][:-1]]).astype(np.int64) for part in PARTS}

    shapes = np.empty(bodies.n - first, SHAPE)
    shapes["body"] = bodies.id[first : bodies.n]
    base, tail = {}, {}
    for part in PARTS:
        begin = starts[part][first:]
        length = ends[part][first:] - begin
        shapes[part + "_first"] = begin - (begin[0] if begin.size else 0)
        shapes[part] = length
        base[part] = begin
        tail[part] = slice(int(begin[0]) if begin.size else 0, int(ends[part][-1]) if begin.size else 0)

    def packed(table, part, names):
        """Pack rows of `part`; their pointers count from the first rows of the body that owns them."""
        origins = {type(getattr(geometry, into)).__name__: np.repeat(base[into], shapes[part]) for into in PARTS}
        return table.pack(tail[part], names, origins=origins)

    return {
        "shapes": shapes,
        "vertices": geometry.vertices.reference[:, tail["vertices"]].T,
        "vertex_lists": packed(geometry.vertex_lists, "vertex_lists", ("vertex",))["vertex"],
        "faces": packed(faces, "faces", FACE.names),
        "corners": packed(geometry.corners, "corners", ("vertex",))["vertex"],
        "adjacency": packed(geometry.adjacency, "adjacency", ("primitive",))["primitive"],
        "primitives": packed(primitives, "primitives", PRIMITIVE.names),
    }


def unpack(shape: np.void, tables: dict[str, np.ndarray]) -> ShapePrimitives:
    """Make the shape of one body from `shape`, a row of `/model/shapes`, and `tables`, the datasets of `/model`."""
    part = {name: tables[name][shape[name + "_first"] : shape[name + "_first"] + shape[name]] for name in PARTS}
    faces, primitives = part["faces"], part["primitives"]
    return ShapePrimitives(
        vertices=np.asfortranarray(part["vertices"].T),
        vertex_list=part["vertex_lists"],
        corners=part["corners"],
        face_corner_ptr=faces["corner_ptr"],
        face_corner_count=faces["corner_count"],
        face_surface=faces["surface"],
        adjacency=part["adjacency"],
        **{name: np.asfortranarray(np.moveaxis(primitives[name], 0, -1)) for name in PRIMITIVE.names},
    )
