"""The element types of meshes: one record each, used by all modules instead of node counts.

A new type needs a record here, and its shape functions and quadrature in `fortran/bodies/element_shapes.f90`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

GAUSS = 1.0 / math.sqrt(3.0)
SQUARE_RULE = GAUSS * np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])
"""Gauss points (4, 2) of the square from (-1, -1) to (1, 1)."""

TRIANGLE_RULE = np.array([[4.0, 1.0, 1.0], [1.0, 4.0, 1.0], [1.0, 1.0, 4.0]]) / 6.0
"""Area coordinates (3, 3) of the points of the rule of degree 2 in a triangle."""


def bilinear(points: np.ndarray) -> np.ndarray:
    """Weights (np, 4) of the corners of a square at local coordinates (np, 2)."""
    x, y = points.T
    return 0.25 * np.stack(((1 - x) * (1 - y), (1 + x) * (1 - y), (1 + x) * (1 + y), (1 - x) * (1 + y)), axis=1)


def _tetrahedron_rule() -> np.ndarray:
    """Weights (4, 4): each point is nearest to one node."""
    near = 0.25 + 0.15 * math.sqrt(5.0)
    return np.full((4, 4), (1.0 - near) / 3.0) + (near - (1.0 - near) / 3.0) * np.eye(4)


def _pyramid_rule() -> np.ndarray:
    """Weights (8, 5): the square's rule in two layers between base and apex, exact for the shrinking section."""
    root = math.sqrt(10.0)
    heights = ((5.0 - root) / 15.0, (5.0 + root) / 15.0)  # zeros of 15 z^2 - 10 z + 1
    return np.concatenate([np.hstack(((1 - z) * bilinear(SQUARE_RULE), np.full((4, 1), z))) for z in heights])


def _layers(base: np.ndarray) -> np.ndarray:
    """Weights in elements made of a base and a copy above it: the base's rule at two Gauss points, the lower layer first."""
    return np.concatenate([np.hstack((0.5 * (1 - z) * base, 0.5 * (1 + z) * base)) for z in (-GAUSS, GAUSS)])


@dataclass(frozen=True, eq=False)
class ElementType:
    """Record of one type of elements.

    Nodes, faces and sides are numbered from 0.

    Parameters
    ----------
    name : str
        Name for users.
    nodes : tuple of tuple of 3 int
        Natural coordinates of the nodes.
    faces : tuple of tuple of int
        Nodes of the faces, counter-clockwise from outside; the position is the face index.
    mirror : tuple of int
        The permutation of nodes that mirrors an element.
    corners : tuple of tuple of 4 int
        Nodes at which three edges meet, and the ends of these edges, right-handed where the element is convex; for a simplex one
        node is enough.
    volume_rule : ndarray (points, nodes)
        Weights of the nodes at the integration points. The kernels' rule has the same points, perhaps in another order.
    vtk, xdmf : int
        Cell types of VTK and XDMF.
    meshio : str
        Name of the first-order cell in meshio; '' where files know no such element, and `listed` says how they hold it.
    exodus_sides : tuple of tuple of int
        Nodes of the sides, in the order of the Exodus manual.
    listed : tuple of int
        Nodes as VTK and XDMF list them, where they take the element for one of more nodes, some of which are the same.
    abaqus : tuple of int
        Node counts <n> of Abaqus' solid elements C3D<n> of this shape; nodes at corners come first.
    abaqus_sides : tuple of tuple of int
        Nodes of the faces S1, S2, ... (Abaqus, solid element library); none where Abaqus has no such element.
    med : str
        Name of the cell in MED files; '' where they know no such element.
    takes_enhancement : bool
        Whether it may have enhanced strains.
    stores_jacobians : bool
        Whether kernels read inverse Jacobians, 3 columns a quadrature point, instead of the gradients of all shape functions.
    """

    name: str
    nodes: tuple[tuple[int, int, int], ...]
    faces: tuple[tuple[int, ...], ...]
    mirror: tuple[int, ...]
    corners: tuple[tuple[int, int, int, int], ...]
    volume_rule: np.ndarray
    vtk: int
    xdmf: int
    meshio: str
    exodus_sides: tuple[tuple[int, ...], ...] = ()
    listed: tuple[int, ...] = ()
    abaqus: tuple[int, ...] = ()
    abaqus_sides: tuple[tuple[int, ...], ...] = ()
    med: str = ""
    takes_enhancement: bool = False
    stores_jacobians: bool = False

    def __post_init__(self):
        self.volume_rule.flags.writeable = False

    @property
    def size(self) -> int:
        """Number of nodes, which identifies the type in tables and kernels."""
        return len(self.nodes)

    @property
    def file_nodes(self) -> list[int]:
        """Nodes in the order in which VTK and XDMF list them."""
        return list(self.listed or range(self.size))

    @property
    def quadrature_points(self) -> int:
        """Number of points of the rule for stiffness and internal forces; for a simplex kernels take one, of its whole volume, since gradients are constant."""
        return len(self.volume_rule)

    @property
    def is_simplex(self) -> bool:
        """Whether gradients are constant, and every order of the nodes gives an element or its mirror image."""
        return self.size == 4


TETRAHEDRON = ElementType(
    name="tetrahedron",
    nodes=((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)),
    faces=((0, 2, 1), (0, 1, 3), (1, 2, 3), (2, 0, 3)),
    mirror=(0, 2, 1, 3),
    corners=((0, 1, 2, 3),),
    volume_rule=_tetrahedron_rule(),
    vtk=10,
    xdmf=6,
    meshio="tetra",
    exodus_sides=((0, 1, 3), (1, 2, 3), (2, 0, 3), (0, 2, 1)),
    abaqus=(4, 10),
    abaqus_sides=((0, 1, 2), (0, 3, 1), (1, 3, 2), (2, 3, 0)),
    med="TETRA4",
)

PYRAMID = ElementType(
    name="pyramid",
    nodes=((1, 1, 0), (-1, 1, 0), (-1, -1, 0), (1, -1, 0), (0, 0, 1)),
    faces=((0, 3, 2, 1), (0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4)),
    mirror=(0, 3, 2, 1, 4),
    corners=((0, 1, 3, 4), (1, 2, 0, 4), (2, 3, 1, 4), (3, 0, 2, 4)),
    volume_rule=_pyramid_rule(),
    vtk=14,
    xdmf=7,
    meshio="pyramid",
    exodus_sides=((0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4), (0, 3, 2, 1)),
    med="PYRA5",
)

WEDGE = ElementType(
    name="wedge",
    nodes=((0, 0, -1), (1, 0, -1), (0, 1, -1), (0, 0, 1), (1, 0, 1), (0, 1, 1)),
    faces=((0, 2, 1), (3, 4, 5), (0, 1, 4, 3), (1, 2, 5, 4), (2, 0, 3, 5)),
    mirror=(3, 4, 5, 0, 1, 2),
    corners=((0, 1, 2, 3), (1, 2, 0, 4), (2, 0, 1, 5), (3, 5, 4, 0), (4, 3, 5, 1), (5, 4, 3, 2)),
    volume_rule=_layers(TRIANGLE_RULE),
    vtk=13,
    xdmf=8,
    meshio="wedge",
    exodus_sides=((0, 1, 4, 3), (1, 2, 5, 4), (0, 3, 5, 2), (0, 2, 1), (3, 4, 5)),
    abaqus=(6, 15),
    abaqus_sides=((0, 1, 2), (3, 5, 4), (0, 3, 4, 1), (1, 4, 5, 2), (2, 5, 3, 0)),
    med="PENTA6",
)

HEXAHEDRON = ElementType(
    name="hexahedron",
    nodes=((-1, -1, -1), (1, -1, -1), (1, 1, -1), (-1, 1, -1), (-1, -1, 1), (1, -1, 1), (1, 1, 1), (-1, 1, 1)),
    faces=((0, 3, 2, 1), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (0, 4, 7, 3), (4, 5, 6, 7)),
    mirror=(4, 5, 6, 7, 0, 1, 2, 3),
    corners=(
        (0, 1, 3, 4), (1, 2, 0, 5), (2, 3, 1, 6), (3, 0, 2, 7), (4, 7, 5, 0), (5, 4, 6, 1), (6, 5, 7, 2), (7, 6, 4, 3),
    ),  # fmt: skip
    volume_rule=_layers(bilinear(SQUARE_RULE)),
    vtk=12,
    xdmf=9,
    meshio="hexahedron",
    exodus_sides=((0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (0, 4, 7, 3), (0, 3, 2, 1), (4, 5, 6, 7)),
    abaqus=(8, 20),
    abaqus_sides=((0, 1, 2, 3), (4, 7, 6, 5), (0, 4, 5, 1), (1, 5, 6, 2), (2, 6, 7, 3), (3, 7, 4, 0)),
    med="HEXA8",
    takes_enhancement=True,
    stores_jacobians=True,
)

ELEMENT_TYPES = (TETRAHEDRON, PYRAMID, WEDGE, HEXAHEDRON)
"""All types, by ascending number of nodes."""

BY_SIZE = {kind.size: kind for kind in ELEMENT_TYPES}
"""The types by number of nodes, which identifies them in tables and input files."""

SIZES = tuple(BY_SIZE)
MOST_NODES = max(SIZES)
"""Width of tables of elements' nodes."""
MOST_FACES = max(len(kind.faces) for kind in ELEMENT_TYPES)
"""Width of tables of elements' faces."""


def used_slots(sizes: np.ndarray) -> np.ndarray:
    """Return a mask (ne, MOST_NODES) of the used entries of a table of elements' nodes; `sizes` (ne,) are numbers of nodes."""
    return np.arange(MOST_NODES) < sizes[:, None]


def sizes_in_words() -> str:
    """Return the possible numbers of nodes of an element, for messages."""
    return ", ".join(map(str, SIZES[:-1])) + f" or {SIZES[-1]}"
