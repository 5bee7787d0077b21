"""Hexahedra with enhanced strains, which do not lock (docs/materials.md, Hexahedra that do not lock; fortran/bodies/enhanced_hexahedra.f90)."""

from __future__ import annotations

import numpy as np

from .. import _kernels
from ..element_types import HEXAHEDRON

_enhanced = _kernels.enhanced_hexahedra

SIGNS = np.array(list(zip(*HEXAHEDRON.nodes)))  # (3, 8)


def _mode_shapes() -> np.ndarray:
    """Return the nine symmetric matrices M (8, 9, 3, 3) of unit alpha at the Gauss points."""
    shapes = np.zeros((8, 9, 3, 3))
    x, y, z = SIGNS / np.sqrt(3.0)
    for mode, (i, j, value) in enumerate(
        ((0, 0, x), (1, 1, y), (2, 2, z), (0, 1, x), (0, 1, y), (0, 2, x), (0, 2, z), (1, 2, y), (1, 2, z))
    ):
        shapes[:, mode, i, j] = shapes[:, mode, j, i] = value
    return shapes


def _products(point) -> tuple:
    """Return x y, y z, z x, of which the three volumetric modes are multiples."""
    x, y, z = point
    return x * y, y * z, z * x


MODE_SHAPES = _mode_shapes()
VOLUME_SHAPES = np.stack(_products(SIGNS / np.sqrt(3.0)), axis=1)  # (8, 3)


def centre_maps(corners: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return inverse Jacobians (ne, 3, 3) at the centres of hexahedra with corners (ne, 8, 3), and their determinants' inverses."""
    jacobian = np.einsum("eai,ka->eik", corners, SIGNS / 8.0)
    return np.linalg.inv(jacobian), np.linalg.det(jacobian)


def condensation(maps: np.ndarray, jacobian: np.ndarray, weight: np.ndarray, lame: np.ndarray) -> np.ndarray:
    """Return the inverses (ne, 12, 12) of the sums over points of weight (mode : C : mode); weight (ne, 8), lame (ne, 2)."""
    ratio = jacobian[:, None] / weight
    bending = np.einsum("eki,qmkl,elj,eq->eqmij", maps, MODE_SHAPES, maps, ratio, optimize=True)
    volume = np.einsum("qm,ij,eq->eqmij", VOLUME_SHAPES, np.eye(3), ratio)
    modes = np.concatenate([bending, volume], axis=2)
    trace = np.einsum("eqmii->eqm", modes)
    matrix = np.einsum("e,eq,eqm,eqn->emn", lame[:, 0], weight, trace, trace, optimize=True)
    matrix += np.einsum("e,eq,eqmij,eqnij->emn", 2.0 * lame[:, 1], weight, modes, modes, optimize=True)
    stiff = np.einsum("emm->e", matrix) > 0.0
    matrix[~stiff] = np.eye(12)  # a material without stiffness has no enhanced strain
    return np.linalg.inv(matrix)


class EnhancedStrains:
    """Enhanced strains of a group of hexahedra (`element_assembly.ElementGroup`): data and calls of kernels."""

    def __init__(self, group, reference: np.ndarray, in_lanes):
        corners = reference.T[group.from_lanes(group.node)]
        maps, jacobian = centre_maps(corners)
        lame, weight = group.from_lanes(group.lame), group.from_lanes(group.weight)
        inverse = condensation(maps, jacobian, weight, lame)
        self._group = group
        self.arrays = {"maps": in_lanes(maps), "jacobian": in_lanes(jacobian), "inverse": in_lanes(inverse)}

    @property
    def columns(self) -> tuple:
        g = self._group
        return g.law, g.node, g.gradient, g.weight, g.lame, *self.arrays.values()

    def forces(self, displacement: np.ndarray, other: np.ndarray) -> None:
        """Compute forces of the mean strain of two displacements along the mean gradient into `group.force`."""
        _enhanced.enhanced_forces(*self.columns, displacement, other, self._group.force)

    def products(self, displacement: np.ndarray, direction: np.ndarray, share: np.ndarray) -> None:
        """Compute K v into `group.force`, with a share (8, blocks) of the stress in K."""
        _enhanced.enhanced_products(*self.columns, share, displacement, direction, self._group.force)

    def energies(self, displacement: np.ndarray) -> None:
        """Compute energies and strains into `group.energy` and `group.strain`."""
        _enhanced.enhanced_energies(*self.columns, displacement, self._group.energy, self._group.strain)

    def stiffness(self, displacement: np.ndarray, dense: np.ndarray, share: np.ndarray) -> None:
        """Compute tangents into `dense`, with a share (8, blocks) of the stress."""
        _enhanced.enhanced_stiffness(*self.columns, share, displacement, dense)


def strain_at(corners: np.ndarray, displacement: np.ndarray, lame, natural: np.ndarray) -> np.ndarray:
    """Return the enhanced strain E+ (3, 3) of one hexahedron at natural coordinates (3,), which is added to Green's strain.

    Parameters
    ----------
    corners, displacement : ndarray (8, 3)
    lame : sequence of 2
    """
    maps, jacobian = centre_maps(corners[None])
    points = SIGNS.T / np.sqrt(3.0)
    weight = np.array([np.linalg.det(_jacobian(corners, point)) for point in points])[None]
    inverse = condensation(maps, jacobian, weight, np.asarray(lame, float)[None])[0]
    load = np.zeros(12)
    for shapes, volumes, point in zip(MODE_SHAPES, VOLUME_SHAPES, points):
        gradient = np.eye(3) + displacement.T @ _slopes(point).T @ np.linalg.inv(_jacobian(corners, point))
        strain = 0.5 * (gradient.T @ gradient - np.eye(3))
        stress = lame[0] * np.trace(strain) * np.eye(3) + 2.0 * lame[1] * strain
        load[:9] += jacobian[0] * np.einsum("mij,ij->m", shapes, maps[0] @ stress @ maps[0].T)
        load[9:] += jacobian[0] * volumes * np.trace(stress)
    x, y, z = natural
    alpha = -inverse @ load
    mixed = np.array(
        [
            [alpha[0] * x, alpha[3] * x + alpha[4] * y, alpha[5] * x + alpha[6] * z],
            [0.0, alpha[1] * y, alpha[7] * y + alpha[8] * z],
            [0.0, 0.0, alpha[2] * z],
        ]
    )
    mixed = np.triu(mixed) + np.triu(mixed, 1).T
    ratio = jacobian[0] / np.linalg.det(_jacobian(corners, natural))
    return ratio * (maps[0].T @ mixed @ maps[0] + np.dot(alpha[9:], _products(natural)) * np.eye(3))


def _slopes(natural: np.ndarray) -> np.ndarray:
    """Return natural derivatives (3, 8) of the shape functions."""
    value = 0.5 * (1.0 + SIGNS * np.asarray(natural)[:, None])
    return 0.5 * SIGNS * np.roll(value, -1, axis=0) * np.roll(value, -2, axis=0)


def _jacobian(corners: np.ndarray, natural: np.ndarray) -> np.ndarray:
    """Return derivatives (3, 3) of places with respect to natural coordinates."""
    return corners.T @ _slopes(natural).T
