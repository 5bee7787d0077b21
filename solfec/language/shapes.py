"""CONVEX, HULL, MESH, HEX, SPHERE and ELLIP (docs/language-objects.md, Shapes), and checks of shape arguments."""

from __future__ import annotations

import math
import warnings

import numpy as np

from ..shapes.convex import Convex
from ..shapes.ellipsoid import Ellipsoid
from ..shapes.hex_mesh import hex_mesh
from ..shapes.hull import hexahedral_hull, hull
from ..shapes.integration_points import surface_integration_points, volume_integration_points
from ..shapes.mesh import Mesh
from ..shapes.sphere import Sphere
from . import checks, session
from .checks import BadType, BadValue, Members, command, put
from .hints import Integers, Numbers, Vector

MOST_PIECES = 1_000_000  # shapes that one command makes

class Shape(Members):
    """Base of CONVEX, MESH, SPHERE and ELLIP: a handle of contents that another command may take over."""

    __slots__ = ("_held", "_taken_by")

    @classmethod
    def _of(cls, content):
        handle = object.__new__(cls)
        handle._put(content)
        return handle

    def _put(self, content, taken_by: str | None = None) -> None:
        """Set the contents, or who took them."""
        put(self, "_held", content)
        put(self, "_taken_by", taken_by)

    @property
    def _content(self):
        if self._held is None:
            raise ValueError(f"this {type(self).__name__} is empty: its contents went into {self._taken_by}")
        return self._held

    def __repr__(self):
        kind = type(self).__name__
        return f"{kind} (empty)" if self._held is None else f"{kind} {self._said()}"

    def _said(self) -> str:
        """What there is to say of the contents in a line."""
        raise NotImplementedError


class CONVEX(Shape):
    """A convex polyhedron, or a collection of them (docs/language-objects.md, CONVEX).

    Parameters
    ----------
    vertices : list of 3 n numbers
        Coordinates of at least 4 vertices.
    faces : list of int
        Records: count, vertex numbers counter-clockwise seen from outside, surface identifier.
    volid : int
        Volume identifier.
    convex : CONVEX, optional
        Collection (emptied) that the new polyhedron joins.
    """

    __slots__ = ()

    @command("CONVEX", valid="volid")
    def __init__(self, vertices: Numbers, faces: Integers, volid: int, convex: CONVEX | None = None) -> None:
        vertices = checks.numbers(vertices, "vertices", multiple=3, minimum=4)
        faces = checks.integers(faces, "faces")
        volid = checks.identifier(volid, "volid")
        convex = None if convex is None else shape_of(convex, "convex", CONVEX)
        with reported():
            content = Convex.from_records(vertices, faces, volid)
        self._put(_joined(content, convex, "CONVEX"))

    def _said(self) -> str:
        polyhedra = self._content.polyhedra
        vertices, faces = (sum(len(getattr(one, name)) for one in polyhedra) for name in ("vertices", "faces"))
        return f"of {len(polyhedra)} {'polyhedron' if len(polyhedra) == 1 else 'polyhedra'}, {vertices} vertices, {faces} faces"

    @property
    def nver(self) -> int:
        """Number of vertices of the first polyhedron."""
        return len(self._content.polyhedra[0].vertices)

    @command("CONVEX.vertex")
    def vertex(self, n: int) -> tuple[float, ...]:
        """Current coordinates of the n-th vertex of the first polyhedron."""
        vertices = self._content.polyhedra[0].vertices
        return tuple(vertices[_index(n, len(vertices))].tolist())


class MESH(Shape):
    """A volumetric mesh of tetrahedra, pyramids, wedges and hexahedra (docs/language-objects.md, MESH).

    Parameters
    ----------
    nodes : list of 3 n numbers
        Coordinates of at least 4 nodes.
    elements : list of int
        Records: 4, 5, 6 or 8, node numbers, volume identifier.
    surfids : int or list of int
        Default surface identifier, then records: 3 or 4, node numbers, surface identifier.
    """

    __slots__ = ("_places",)  # of BODY.mesh: present places of nodes, by their referential ones

    @command("MESH")
    def __init__(self, nodes: Numbers, elements: Integers, surfids: int | Integers) -> None:
        nodes = checks.numbers(nodes, "nodes", multiple=3, minimum=4)
        elements = checks.integers(elements, "elements")
        if checks.is_sequence(surfids):
            surfids = checks.integers(surfids, "surfids")
            if not surfids:
                raise BadValue("'surfids' must hold at least the default surface identifier")
        else:
            surfids = [checks.identifier(surfids, "surfids")]
        with reported():
            content = Mesh.from_records(nodes, elements, surfids)
        self._put(content)

    def __getstate__(self):
        return None, {name: getattr(self, name) for name in Shape.__slots__}  # copies are of no body

    def _said(self) -> str:
        count = self._content.topology.element_count
        return f"of {self.nnod} nodes, {count} {'element' if count == 1 else 'elements'}"

    @property
    def nnod(self) -> int:
        """Number of nodes."""
        return len(self._content.nodes)

    @command("MESH.node")
    def node(self, n: int, x: float | None = None, y: float | None = None, z: float | None = None) -> tuple[float, ...]:
        """Return coordinates of the n-th node, after moving it to x, y or z if given."""
        content = self._content
        n = _index(n, len(content.nodes))
        point = [None if v is None else checks.number(v, name) for v, name in zip((x, y, z), "xyz")]
        if point != [None, None, None]:
            content.set_node(n, point)
        return tuple(content.nodes[n].tolist())

    @command("MESH.nodes_on_surface")
    def nodes_on_surface(self, surfid: int) -> list[int] | None:
        """Return ascending numbers of the nodes on a surface, None if there are none."""
        return self._content.nodes_on_surface(checks.identifier(surfid, "surfid")) or None

    def get_data(self) -> tuple[list, list, list]:
        """Nodes, elements and surface identifiers in the format of MESH."""
        return self._content.records()

    @command("MESH.set_volid")
    def set_volid(self, volid: int) -> int:
        """Give all elements a volume identifier; return it."""
        volid = checks.identifier(volid, "volid")
        self._content.set_volume_id(volid)
        return volid

    @command("MESH.surface_integration_points")
    def surface_integration_points(self, surfid: int | None = None) -> list[tuple[float, ...]]:
        """Integration points of all outer faces, or of those on one surface: one per triangle, four per quadrilateral."""
        surfid = None if surfid is None else checks.identifier(surfid, "surfid")
        return list(map(tuple, surface_integration_points(self._content, surfid).tolist()))

    @command("MESH.volume_integration_points")
    def volume_integration_points(self, volid: int | None = None) -> list[tuple[float, ...]]:
        """Integration points of all elements, or of those of one volume; elements with outer faces come first."""
        volid = None if volid is None else checks.identifier(volid, "volid")
        return list(map(tuple, volume_integration_points(self._content, volid).tolist()))

    def inter_element_faces(self) -> list[list[int]]:
        """Node numbers of every face between two elements."""
        return self._content.internal_faces()

    @command("MESH.inter_element_faces_on_plane")
    def inter_element_faces_on_plane(self, point: Vector, normal: Vector, ref: bool = True, eps: float | None = None) -> list[list[int]]:
        """Node numbers of the faces between two elements that lie on a plane.

        Parameters
        ----------
        point, normal : tuple of 3
            The plane.
        ref : bool
            The plane is in the reference configuration; False: in the current one, for the mesh of a body, where the body is now.
        eps : float
            Tolerance (default: geometric epsilon).
        """
        content = self._content
        point, normal = checks.vector(point, "point"), checks.direction(normal, "normal")
        checks.instance(ref, "ref", bool, "bool")
        eps = session.current().epsilon if eps is None else checks.positive(eps, "eps")
        places = None if ref else getattr(self, "_places", None)
        return content.internal_faces_on_plane(point, normal, eps, None if places is None else places(content.nodes))


class SPHERE(Shape):
    """A sphere (docs/language-objects.md, SPHERE).

    Parameters
    ----------
    center : tuple of 3
    radius : float
        Positive.
    volid, surfid : int
        Volume and surface identifiers.
    """

    __slots__ = ()

    @command("SPHERE")
    def __init__(self, center: Vector, radius: float, volid: int, surfid: int) -> None:
        center = checks.vector(center, "center")
        radius = checks.positive(radius, "radius")
        volid, surfid = checks.identifier(volid, "volid"), checks.identifier(surfid, "surfid")
        with refused():
            content = Sphere(center, radius, volid, surfid)
        self._put(content)

    def _said(self) -> str:
        return f"at {checks.in_words(self.center)}, radius {self.radius:g}"

    @property
    def center(self) -> tuple[float, ...]:
        """Centre."""
        return tuple(self._content.centre.tolist())

    @property
    def radius(self) -> float:
        """Radius."""
        return self._content.radius


class ELLIP(Shape):
    """An ellipsoid (docs/language-objects.md, ELLIP).

    Parameters
    ----------
    center : tuple of 3
    radii : tuple of 3
        Semi-axes along the global axes, positive.
    volid, surfid : int
        Volume and surface identifiers.
    """

    __slots__ = ()

    @command("ELLIP")
    def __init__(self, center: Vector, radii: Vector, volid: int, surfid: int) -> None:
        center, radii = checks.vector(center, "center"), checks.vector(radii, "radii")
        if not min(radii) > 0.0:
            raise BadValue(f"'radii' must be positive, they are {radii}")
        volid, surfid = checks.identifier(volid, "volid"), checks.identifier(surfid, "surfid")
        with reported():
            content = Ellipsoid(center, radii, volid, surfid)
        self._put(content)

    def _said(self) -> str:
        return f"at {checks.in_words(self.center)}, semi-axes {checks.in_words(self.radii)}"

    @property
    def center(self) -> tuple[float, ...]:
        """Centre."""
        return tuple(self._content.centre.tolist())

    @property
    def radii(self) -> tuple[float, ...]:
        """Semi-axes."""
        return tuple(self._content.radii.tolist())

    @property
    def rot(self) -> tuple[float, ...]:
        """Rotation by columns: the directions of the semi-axes."""
        return tuple(self._content.rotation.T.ravel().tolist())


KINDS = {Convex: CONVEX, Mesh: MESH, Sphere: SPHERE, Ellipsoid: ELLIP}


@command("HULL")
def HULL(points: Numbers, volid: int, surfid: int, convex: CONVEX | None = None) -> CONVEX:
    """Convex hull of a point set.

    Parameters
    ----------
    points : list of 3 n numbers
        Coordinates of at least 4 points, not all in a plane (RuntimeError).
    volid, surfid : int
        Volume identifier, and surface identifier of all faces.
    convex : CONVEX, optional
        Collection (emptied) that the hull joins.

    Returns
    -------
    CONVEX
        Collection of one polyhedron, or with `convex` of all.
    """
    points = checks.numbers(points, "points", multiple=3, minimum=4)
    volid, surfid = checks.identifier(volid, "volid"), checks.identifier(surfid, "surfid")
    convex = None if convex is None else shape_of(convex, "convex", CONVEX)
    points = points.reshape(-1, 3)
    content = hexahedral_hull(points, volid, surfid)
    if content is None:
        with reported():
            content = hull(points, volid, surfid, session.current().epsilon)
    return CONVEX._of(_joined(content, convex, "HULL"))


@command("HEX", surids="surfids")
def HEX(
    nodes: Numbers, i: int, j: int, k: int, volid: int, surfids: Integers,
    dx: Numbers | None = None, dy: Numbers | None = None, dz: Numbers | None = None,
) -> MESH:  # fmt: skip
    """Return a hexahedral shape meshed with i x j x k elements.

    Parameters
    ----------
    nodes : list of 24 numbers
        The 8 corners.
    i, j, k : int
        Numbers of subdivisions along the local axes, at least 1.
    volid : int
        Volume identifier.
    surfids : list of 6 int
        Surface identifiers of the faces z low, x low, y high, x high, y low, z high of the local frame.
    dx, dy, dz : list of numbers, optional
        Proportions of the subdivisions, at least i, j, k positive numbers.

    Returns
    -------
    MESH
    """
    nodes = checks.numbers(nodes, "nodes", multiple=3, minimum=8)[:24]
    counts = subdivisions((i, j, k), "ijk")
    volid = checks.identifier(volid, "volid")
    surfids = checks.integers(surfids, "surfids")
    if len(surfids) < 6:
        raise BadValue(f"'surfids' must hold 6 surface identifiers, it holds {len(surfids)}")
    ratios = ratios_of(dx, dy, dz, counts)
    with reported():
        return MESH._of(hex_mesh(nodes, *counts, volid, surfids[:6], *ratios))


def subdivisions(values, names) -> list[int]:
    """Check numbers of elements along the sides of a box or pipe; node numbers must be 32-bit integers."""
    counts = [checks.integer(n, name, minimum=1) for n, name in zip(values, names)]
    nodes = math.prod(n + 1 for n in counts)
    if nodes >= 2**31:
        raise BadValue(f"'{names[0]}', '{names[1]}', '{names[2]}' would make {nodes:.3g} nodes; a mesh can have {2**31 - 1}")
    return counts


def ratios_of(dx, dy, dz, counts) -> list[np.ndarray | None]:
    """Check proportions of the subdivisions of a box."""
    return [_ratios(d, name, n) for d, name, n in zip((dx, dy, dz), ("dx", "dy", "dz"), counts)]


def _ratios(value, name: str, count: int) -> np.ndarray | None:
    if value is None:
        return None
    ratios = checks.numbers(value, name)
    if ratios.size < count:
        raise BadValue(f"'{name}' must hold at least {count} numbers, it holds {ratios.size}")
    ratios = ratios[:count]
    if not (ratios > 0.0).all():
        raise BadValue(f"'{name}' must hold positive numbers")
    return ratios


# --- arguments ---------------------------------------------------------------------------------------------


def pieces_of(value, name: str) -> int:
    """Check a number of shapes that are made one by one."""
    count = checks.integer(value, name, 1)
    if count > MOST_PIECES:
        raise BadValue(f"'{name}' must be at most {MOST_PIECES}, it is {count}")
    return count


def shape_of(value, name: str, kind: type | tuple[type, ...] = Shape):
    """Check a shape argument that still has contents."""
    if isinstance(value, kind) and value._held is not None:
        return value
    kinds = kind if isinstance(kind, tuple) else (kind,)
    wanted = "CONVEX, MESH, SPHERE or ELLIP" if kind is Shape else " or ".join(one.__name__ for one in kinds)
    if isinstance(value, kind):
        raise BadType(f"'{name}' must be a non-empty {wanted} object; the contents went into {value._taken_by}")
    raise BadType(f"'{name}' must be a {wanted} object, not {checks.kind_of(value)}")


def shapes_of(value, name: str, once: bool = False) -> list[Shape]:
    """Check a shape or a list of shapes; `once`: the command empties them, so each may occur only once."""
    if isinstance(value, Shape) or not checks.is_sequence(value):
        return [shape_of(value, name)]
    shapes = [shape_of(item, f"{name}[{i}]") for i, item in enumerate(value)]
    if not shapes:
        raise BadValue(f"'{name}' must hold at least one shape object")
    if once and len({id(shape) for shape in shapes}) < len(shapes):
        raise BadType(f"'{name}' holds the same object twice, which can be emptied only once; use COPY")
    return shapes


def unwrapped(contents: list):
    """Return None for no contents, an object for one, a list for several."""
    handles = [KINDS[type(content)]._of(content) for content in contents]
    return None if not handles else handles[0] if len(handles) == 1 else handles


def consume(shapes: list[Shape], command_name: str) -> None:
    """Take over the contents of shape objects, which record the command that did it."""
    place = session.location()
    for shape in shapes:
        shape._put(None, f"{command_name} at {place}" if place else command_name)


def _joined(content: Convex, convex: CONVEX | None, command_name: str) -> Convex:
    """Put a new polyhedron in front of an existing collection, whose handle is emptied."""
    if convex is None:
        return content
    collection = convex._content
    collection.prepend(content)
    consume([convex], command_name)
    return collection


def _index(value, count: int) -> int:
    index = checks.integer(value, "n")
    if not 0 <= index < count:
        raise BadValue(f"'n' must lie between 0 and {count - 1}, it is {index}")
    return index


class refused:
    """Turns errors of the geometry code into those of the language.

    Parameters
    ----------
    sizes
        Arguments that only make a shape that geometry refuses if it is very thin, or small and far away.
    """

    def __init__(self, sizes: str = ""):
        self._sizes = sizes

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind, error, trace) -> None:
        if isinstance(error, ValueError) and not isinstance(error, BadValue):
            sizes = self._sizes
            thin = f"{sizes} make a shape that is too thin, or too small so far from the origin; keep its least length above a millionth of the others ({error})"
            raise BadValue(thin if sizes else str(error)) from None


class reported(refused):
    """Turns errors and warnings of the geometry code into those of the language."""

    def __enter__(self) -> None:
        self._caught = warnings.catch_warnings(record=True)
        self._warnings = self._caught.__enter__()
        warnings.simplefilter("always")

    def __exit__(self, kind, error, trace) -> None:
        self._caught.__exit__(kind, error, trace)
        super().__exit__(kind, error, trace)
        if error is None:
            for warning in self._warnings:
                session.warn(str(warning.message))
