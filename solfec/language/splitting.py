"""SPLIT, VORONOI, MESH_SPLIT and OVERLAPPING: taking shapes apart and sorting them (docs/language-objects.md, Shapes)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np

from ..shapes import mesh_split, overlapping, split, voronoi
from ..shapes.characteristics import characteristics
from . import checks, session
from .checks import BadValue, command
from .hints import Integers, Switch, Vector
from .shapes import CONVEX, ELLIP, MESH, SPHERE, Shape, consume, pieces_of, reported, shape_of, shapes_of, unwrapped

Parts: TypeAlias = Shape | list[Shape] | None  # one, several, or none


@command("SPLIT")
def SPLIT(
    shape: Shape | Sequence[Shape],
    point: Vector,
    normal: Vector,
    surfid: int | Sequence[int] = (0, 0),
    topoadj: Switch = "OFF",
    remesh: Switch = "ON",
    first: Literal["BELOW", "ABOVE"] = "BELOW",
) -> tuple[Parts, Parts]:
    """Split shapes by a plane; return (below, above).

    Parameters
    ----------
    shape : CONVEX, MESH, or list of them
        Emptied.
    point, normal : tuple of 3
        The plane; its normal points up.
    surfid : tuple of 2 int
        Surface identifiers of new faces: of the lower parts, which face up, and of the upper parts.
    topoadj : 'ON' or 'OFF'
        'ON': only the part of the section connected with `point` is cut.
    remesh : 'ON' or 'OFF'
        Whether tetrahedra replace a mesh whose elements the plane passes through (needs the package tetgen); with 'OFF'
        this is an error.
    first : 'BELOW' or 'ABOVE'
        Which parts come first; Solfec-1.0 returned 'ABOVE' first, contrary to its manual.

    Returns
    -------
    tuple of 2
        Each is None, a shape, or a list of shapes, one for every connected part.  Shapes that 'ON' cuts without
        dividing them count as below.
    """
    shapes = shapes_of(shape, "shape", once=True)
    for item in shapes:
        if isinstance(item, (SPHERE, ELLIP)):
            raise BadValue(f"'shape' holds a {type(item).__name__}, which cannot be split; only CONVEX and MESH can")
    point, normal = checks.vector(point, "point"), checks.direction(normal, "normal")
    surfid = None if surfid is None else checks.sequence(surfid, "surfid")
    if surfid is not None and len(surfid) != 2:
        raise BadValue(f"'surfid' must hold 2 surface identifiers, it holds {len(surfid)}")
    surfid = (0, 0) if surfid is None else tuple(checks.identifier(s, f"surfid[{i}]") for i, s in enumerate(surfid))
    topoadj = topoadj is not None and checks.switch(topoadj, "topoadj")
    remesh = remesh is None or checks.switch(remesh, "remesh")
    first = checks.choice(first, "first", ("BELOW", "ABOVE"))
    with reported():
        below, above = split.split(
            [item._content for item in shapes], point, normal, surfid, topoadj, remesh, session.current().epsilon
        )
    consume(shapes, "SPLIT")
    parts = unwrapped(below), unwrapped(above)
    return parts if first == "BELOW" else parts[::-1]


@command("VORONOI")
def VORONOI(
    shape: CONVEX | MESH | Sequence[CONVEX], seeds: int | Sequence[Vector], surfid: int = 0, relax: int = 0, random: int = 0
) -> list[CONVEX] | list[MESH]:
    """Cut convexes, or a mesh along faces between its elements, into the cells of points: what is nearer to a point than to all others.

    Parameters
    ----------
    shape : CONVEX, list of them, or MESH
        Emptied.
    seeds : int or list of tuples of 3
        Number of cells with random points, or the points, inside the shape.
    surfid : int
        Surface identifier of the faces between cells; outer faces keep theirs.
    relax : int
        Number of times that points move to the centres of their cells, which makes cells more equal.
    random : int
        Seed of random points.

    Returns
    -------
    list of CONVEX or of MESH
        The cells, those of one convex after another, and in the order of the points; of a mesh the parts that hang together.
    """
    if not isinstance(shape, Shape) and not checks.is_sequence(shape):
        shape_of(shape, "shape", (CONVEX, MESH))
    shapes = shapes_of(shape, "shape", once=True)
    mesh = shapes[0]._content if len(shapes) == 1 and isinstance(shapes[0], MESH) else None
    for item in shapes:
        if mesh is None and not isinstance(item, CONVEX):
            raise BadValue(f"'shape' holds a {type(item).__name__}; only CONVEX objects, or one MESH, have cells")
    surfid, relax = checks.identifier(surfid, "surfid"), checks.integer(relax, "relax", 0)
    random = checks.integer(random, "random", 0)
    polyhedra = [] if mesh else [polyhedron for item in shapes for polyhedron in item._content.polyhedra]
    if checks.is_sequence(seeds):
        points = np.array([checks.vector(point, f"seeds[{i}]") for i, point in enumerate(seeds)], float)
        if not len(points):
            raise BadValue("'seeds' must hold at least one point")
    else:
        count = pieces_of(seeds, "seeds")
        with reported():
            points = voronoi.random_points_of_mesh(mesh, count, random) if mesh else voronoi.random_points(polyhedra, count, random)
    if mesh:
        parts = voronoi.voronoi_of_mesh(mesh, points, surfid, relax)
        consume(shapes, "VORONOI")
        return [MESH._of(part) for part in parts]
    with reported():
        cells = voronoi.voronoi(polyhedra, points, surfid)
        for _ in range(relax):
            points = np.array([characteristics([cell])[1] for cell in cells])
            cells = voronoi.voronoi(polyhedra, points, surfid)
    consume(shapes, "VORONOI")
    return [CONVEX._of(cell) for cell in cells]


@command("MESH_SPLIT")
def MESH_SPLIT(
    mesh: MESH, nodeset: Integers | None = None, faceset: Sequence[Integers] | None = None, surfid1: int = 0, surfid2: int = 0
) -> list[MESH] | None:
    """Split a mesh along faces between its elements.

    Parameters
    ----------
    mesh : MESH
        Not changed.
    nodeset : list of int, optional
        Faces with all nodes in the list are cut; new faces get `surfid1`.
    faceset : list of lists of 3 or 4 int, optional
        Faces to cut, instead of `nodeset`.  New faces with the right-hand normal of the listed face get
        `surfid1`, the others `surfid2`.
    surfid1, surfid2 : int
        Surface identifiers of new faces.

    Returns
    -------
    list of MESH or None
        The parts; one mesh with doubled nodes if the cut ends inside; None if nothing was cut.
    """
    content = shape_of(mesh, "mesh", MESH)._content
    nodeset = None if nodeset is None else checks.integers(nodeset, "nodeset")
    if faceset is not None:
        faceset = checks.sequence(faceset, "faceset")
        faceset = [checks.integers(face, f"faceset[{i}]") for i, face in enumerate(faceset)]
    surfid1 = 0 if surfid1 is None else checks.identifier(surfid1, "surfid1")
    surfid2 = 0 if surfid2 is None else checks.identifier(surfid2, "surfid2")
    with reported():
        parts = mesh_split.mesh_split(content, nodeset, faceset, surfid1, surfid2)
    return None if parts is None else [MESH._of(part) for part in parts]


@command("OVERLAPPING", **{"not": "not_"})
def OVERLAPPING(obstacles: Shape | Sequence[Shape], shapes: Shape | Sequence[Shape], not_: Literal["NOT"] | None = None, gap: float = 0.0) -> Parts:
    """Find the shapes that touch or overlap obstacles, or with 'NOT' the shapes that do not.

    Parameters
    ----------
    obstacles : shape or list of shapes
        Not changed.
    shapes : shape or list of shapes
        Emptied; a collection of convexes counts as one.
    not_ : 'NOT', optional
        Return the other shapes.
    gap : float
        Not positive: only overlaps of at least this depth count.

    Returns
    -------
    None, a shape, or a list of shapes in the order of `shapes`; the others are discarded.
    """
    obstacles = shapes_of(obstacles, "obstacles")
    shapes = shapes_of(shapes, "shapes", once=True)
    invert = not_ is not None and checks.choice(not_, "not", ("NOT",)) == "NOT"
    gap = checks.number(gap, "gap")
    if gap > 0.0:
        raise BadValue(f"'gap' must not be positive, it is {gap:g}")
    with reported():
        hit = overlapping.overlapping(
            [item._content for item in obstacles], [item._content for item in shapes], gap, session.current().epsilon
        )
    kept = [item._content for item, met in zip(shapes, hit.tolist()) if met != invert]
    consume(shapes, "OVERLAPPING")
    return unwrapped(kept)
