"""Commands that make meshes and convexes: MESH2CONVEX, ROUGH_HEX, PIPE, ELLIP_MESH, TETRAHEDRALIZE (docs/language-objects.md, Shapes)."""

from __future__ import annotations

import os
from collections.abc import Sequence

from ..shapes.characteristics import characteristics
from ..shapes.mesh_to_convex import mesh_to_convex
from ..shapes.pipe import pipe
from ..shapes.rough_hex import rough_hex
from . import checks, session
from .checks import BadType, BadValue, command
from .hints import Integers, Numbers, Vector
from .shapes import CONVEX, MESH, ratios_of, reported, shape_of, subdivisions

OVERLAP = 1e-3  # part of a mesh's volume by which its convexes may overlap without a warning


@command("MESH2CONVEX")
def MESH2CONVEX(mesh: MESH) -> CONVEX:
    """Return a collection of convexes, one per element.

    Parameters
    ----------
    mesh : MESH
        Not changed.

    Returns
    -------
    CONVEX
        A polyhedron for each element.
    """
    elements = shape_of(mesh, "mesh", MESH)._content
    convexes = mesh_to_convex(elements)
    with reported():
        ratio = characteristics([convexes])[0] / characteristics([elements])[0]
    if ratio > 1.0 + OVERLAP:
        session.warn(f"MESH2CONVEX: faces between elements are not plane, so that convexes overlap; they have {ratio:.4g} times the volume of the mesh")
    return CONVEX._of(convexes)


@command("ROUGH_HEX")
def ROUGH_HEX(
    shape: CONVEX | Sequence[CONVEX], i: int, j: int, k: int, dx: Numbers | None = None, dy: Numbers | None = None, dz: Numbers | None = None
) -> MESH:
    """Return a meshed box around convexes, along their principal axes of inertia.

    Parameters
    ----------
    shape : CONVEX or list of CONVEX
        Not changed.
    i, j, k : int
        Numbers of subdivisions along the local axes (the first: least extent), at least 1.
    dx, dy, dz : list of numbers, optional
        Proportions of the subdivisions, at least i, j, k positive numbers.

    Returns
    -------
    MESH
    """
    items = list(shape) if checks.is_sequence(shape) else [shape]
    if not items:
        raise BadValue("'shape' must hold at least one CONVEX object")
    convexes = [shape_of(item, "shape", CONVEX)._content for item in items]
    counts = subdivisions((i, j, k), "ijk")
    ratios = ratios_of(dx, dy, dz, counts)
    with reported():
        return MESH._of(rough_hex(convexes, *counts, *ratios, epsilon=session.current().epsilon))


@command("PIPE", ndri="ndir", surids="surfids")
def PIPE(pnt: Vector, dir: Vector, rin: float, thi: float, ndir: int, nrad: int, nthi: int, volid: int, surfids: Integers) -> MESH:
    """Return a straight pipe of hexahedra.

    Parameters
    ----------
    pnt, dir : tuple of 3
        Centre of the base, and the axis, as long as the pipe.
    rin, thi : float
        Inner radius and thickness, positive.
    ndir, nrad, nthi : int
        Numbers of subdivisions along the axis, round it (at least 3) and across the wall.
    volid : int
        Volume identifier.
    surfids : list of 4 int
        Surface identifiers of base, far end, inner wall, outer wall.

    Returns
    -------
    MESH
    """
    pnt, dir = checks.vector(pnt, "pnt"), checks.direction(dir, "dir")
    rin, thi = checks.positive(rin, "rin"), checks.positive(thi, "thi")
    if checks.integer(nrad, "nrad", minimum=1) < 3:
        raise BadValue(f"'nrad', the number of elements round the axis, must be at least 3, it is {nrad}; 'nthi' is that across the wall")
    counts = subdivisions((ndir, nrad, nthi), ("ndir", "nrad", "nthi"))
    volid, surfids = checks.identifier(volid, "volid"), checks.integers(surfids, "surfids")
    if len(surfids) < 4:
        raise BadValue(f"'surfids' must hold 4 surface identifiers, it holds {len(surfids)}")
    with reported():
        return MESH._of(pipe(pnt, dir, rin, thi, *counts, volid, surfids))


@command("ELLIP_MESH")
def ELLIP_MESH(center: Vector, radii: Vector, error: float, volid: int, surfid: int) -> MESH:
    """Return an ellipsoid of tetrahedra; needs the package tetgen.

    Parameters
    ----------
    center, radii : tuple of 3
        Centre and positive semi-axes.
    error : float
        Greatest distance of the surface mesh from the ellipsoid, positive.
    volid, surfid : int
        Volume and surface identifiers.

    Returns
    -------
    MESH
    """
    from ..shapes.ellipsoid_mesh import ellipsoid_mesh

    center, radii = checks.vector(center, "center"), checks.vector(radii, "radii")
    error = checks.positive(error, "error")
    volid, surfid = checks.identifier(volid, "volid"), checks.identifier(surfid, "surfid")
    with reported():
        return MESH._of(ellipsoid_mesh(center, radii, error, volid, surfid))


@command("TETRAHEDRALIZE", surid="surfid")
def TETRAHEDRALIZE(
    shape: MESH | str, path: str, volume: float | None = None, quality: float | None = None, volid: int | None = None, surfid: int | None = None
) -> MESH:
    """Return tetrahedra inside a surface, or the mesh that an earlier call has stored; needs the package tetgen.

    Parameters
    ----------
    shape : MESH or str
        A mesh (not changed), or the path of a closed surface: .stl, .obj, .off, .ply, .poly or .smesh.
    path : str
        File of the mesh: read if it exists, else written.
    volume : float, optional
        Greatest volume of an element, positive.
    quality : float, optional
        Greatest ratio of circumradius to shortest edge, above 1.
    volid, surfid : int, optional
        Identifiers where none is inherited (default 0); `volid` replaces volume identifiers of a mesh.

    Returns
    -------
    MESH
    """
    from ..shapes.tetrahedralize import tetrahedral

    if not isinstance(shape, (str, MESH)):
        raise BadType(f"'shape' must be a MESH object or the path of a file, not {checks.kind_of(shape)}")
    path = checks.path(path, "path")
    volume = None if volume is None else checks.positive(volume, "volume")
    quality = None if quality is None else checks.number(quality, "quality")
    if quality is not None and not quality > 1.0:
        raise BadValue(f"'quality' must be greater than 1, it is {quality:g}")
    volid = None if volid is None else checks.identifier(volid, "volid")
    surfid = None if surfid is None else checks.identifier(surfid, "surfid")
    if isinstance(shape, str):
        if not os.path.exists(path) and not os.path.isfile(shape):
            raise BadValue(f"'shape' names the file '{shape}', which does not exist")
        content = shape
    else:
        content = shape_of(shape, "shape", MESH)._content
    with reported():
        return MESH._of(tetrahedral(content, path, volume, quality, volid, surfid))
