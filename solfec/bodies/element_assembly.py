"""Finite elements of many bodies in blocks of eight of one type, and sums of their contributions at nodes.

Gradients of shape functions are computed once and stored, those of hexahedra as inverse Jacobians; one each where they are constant, in
tetrahedra and parallelepipeds, since memory bounds the speed of large meshes.  Every evaluation is one kernel call per type of
element and material law, plus one that sums element vectors at nodes in a fixed order, so bits do not depend on threads.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .. import _kernels
from ..element_types import BY_SIZE, ELEMENT_TYPES
from ..tables import Gaps, Record, appended, close_up
from .enhanced_elements import SIGNS, EnhancedStrains
from .materials import Law

LANES = 8  # elements of a block
AT_ONCE = 1 << 10  # elements that are checked together, a multiple of LANES
STRAIGHT = 1e-12  # bilinear parts of places over the width of a hexahedron, up to which it is a parallelepiped


def _hexahedron_slopes() -> np.ndarray:
    """Natural derivatives (3, 8, 8) of the shape functions of a hexahedron at its Gauss points."""
    value = 0.5 * (1 + SIGNS[:, :, None] * SIGNS[:, None, :] / np.sqrt(3.0))
    one, two = np.roll(value, -1, axis=0), np.roll(value, -2, axis=0)
    return 0.5 * SIGNS[:, :, None] * one * two


def in_lanes(values: np.ndarray) -> np.ndarray:
    """Values of elements (ne, ...) with lanes first and blocks last; lanes left over repeat the last element."""
    count = len(values)
    lane = np.minimum(np.arange(LANES * -(-count // LANES)), count - 1).reshape(-1, LANES)
    return np.asfortranarray(np.moveaxis(values[lane], (0, 1), (-1, 0)))


HEXAHEDRON_SLOPES = _hexahedron_slopes()
BILINEAR = np.array([SIGNS[0] * SIGNS[1], SIGNS[1] * SIGNS[2], SIGNS[2] * SIGNS[0], SIGNS.prod(axis=0)]) / 8.0  # (4, 8)


def are_parallelepipeds(elements: np.ndarray, reference: np.ndarray) -> np.ndarray:
    """Return which hexahedra (ne, 8) with nodes (3, n) are parallelepipeds, so that their Jacobians are constant."""
    result = np.zeros(len(elements), bool)
    for first in range(0, len(elements), AT_ONCE):
        some = slice(first, first + AT_ONCE)
        corners = reference[:, elements[some]]
        corners = corners - corners[..., :1]
        bent = np.abs(corners @ BILINEAR.T).max(axis=(0, 2))
        result[some] = bent <= STRAIGHT * np.ptp(corners, axis=2).max(axis=0)
    return result


_blocks = _kernels.element_blocks
_tangents = _kernels.element_tangents
_conserving_forces = _kernels.midpoint_forces.conserving_forces
_prepare_points = _kernels.cut_elements.prepare_points


class ElementGroup:
    """Elements of one type and material law.

    Parameters
    ----------
    elements : ndarray (ne, size) of int
        Node numbers.
    numbers : ndarray (ne,) of int
        Numbers of these elements among all.
    lame : ndarray (ne, 2)
        Lame's constants [pressure].
    law : Law
        The material; LINEAR stands for the stiffness at zero displacement (form 'BC').
    straight : bool
        Whether the elements are parallelepipeds: one inverse Jacobian each is kept instead of eight.
    """

    enhanced: EnhancedStrains | None = None
    LANED = ("node", "lame", "gradient", "weight", "energy", "strain")  # arrays with lanes first and blocks last

    def __init__(self, elements: np.ndarray, numbers: np.ndarray, lame: np.ndarray, law: int, straight: bool = False):
        count, self.size = elements.shape
        self.count = count
        self.numbers = numbers.astype(np.int32)
        self.law = int(law)
        self.blocks = -(-count // LANES)
        self.node = in_lanes(elements.astype(np.int32))
        self.lame = in_lanes(lame)
        kind = BY_SIZE[self.size]
        points = 1 if kind.is_simplex else kind.quadrature_points
        columns, kept = 3 if kind.stores_jacobians else self.size, 1 if straight else points
        self.gradient = np.zeros((LANES, 3, columns, kept, self.blocks), order="F")
        self.weight = np.zeros((LANES, points, self.blocks), order="F")
        self.energy = np.zeros((LANES, self.blocks), order="F")
        self.strain = np.zeros((LANES, self.blocks), order="F")

    def from_lanes(self, values: np.ndarray) -> np.ndarray:
        """Arrange values (8, ..., blocks) by elements (ne, ...)."""
        return np.moveaxis(values, (-1, 0), (0, 1)).reshape(-1, *values.shape[1:-1])[: self.count]

    def shape_gradients(self, blocks: slice = slice(None)) -> np.ndarray:
        """Referential gradients of the shape functions at the quadrature points of elements in some blocks, (8, 3, size, points, blocks)."""
        gradient = self.gradient[..., blocks]
        if gradient.shape[2] == self.size:
            return gradient
        gradient = np.broadcast_to(gradient, (*gradient.shape[:3], self.weight.shape[1], gradient.shape[4]))
        return np.einsum("kaq,lkjqb->ljaqb", HEXAHEDRON_SLOPES, gradient)

    def prepare(self, reference: np.ndarray) -> int:
        """Compute gradients and weights from the nodes (3, n); return the number of an element without volume, or -1."""
        failed = _blocks.prepare_blocks(self.node, reference, self.gradient, self.weight)
        unused = LANES * self.blocks - self.count
        if unused:
            self.weight[LANES - unused :, :, -1] = 0.0
        return int(self.numbers[min(failed, self.count - 1)]) if failed >= 0 else -1

    @property
    def key(self) -> tuple:
        """What the elements of a group have in common."""
        return type(self), self.size, self.law, self.enhanced is not None, self.gradient.shape[3]

    @property
    def place(self) -> tuple:
        """Where the group stands among those of an assembly."""
        return self.size, self.law, type(self) is CutGroup, self.enhanced is not None, self.gradient.shape[3]

    def move_behind(self, first_node: int, first_element: int) -> None:
        """Let node numbers and numbers of elements begin at these."""
        self.node = self.node + np.int32(first_node)
        self.numbers = self.numbers + first_element

    def _lane_arrays(self) -> list[tuple[dict, str]]:
        """Holders and names of the arrays that have lanes first and blocks last."""
        held = [] if self.enhanced is None else [(self.enhanced.arrays, name) for name in self.enhanced.arrays]
        return [(vars(self), name) for name in self.LANED] + held

    def append(self, other: ElementGroup, first_node: int, first_element: int) -> None:
        """Take up the elements of another group of the same key, whose nodes and numbers begin at these."""
        whole, left = divmod(self.count, LANES)
        other.move_behind(first_node, first_element)
        for (mine, name), (theirs, _) in zip(self._lane_arrays(), other._lane_arrays()):
            more = theirs[name]
            if left:
                more = in_lanes(np.concatenate((self._values(mine[name], whole), other._values(more))))
            mine[name] = appended(mine[name][..., :whole], more)
        self.numbers = appended(self.numbers, other.numbers)
        self._count(self.count + other.count)

    def remove(self, elements: Gaps, nodes: np.ndarray, bodies: np.ndarray) -> Gaps | None:
        """Let elements go, by gaps in all numbers of elements; `nodes` and `bodies` (k,) are taken from numbers of nodes and bodies behind each gap.

        Returns
        -------
        Gaps or None
            The blocks that went, where the other elements keep their lanes.
        """
        lanes = Gaps(*(np.searchsorted(self.numbers, at.astype(np.int32)) for at in (elements.start, elements.stop)))
        gaps = None
        if not ((lanes.start % LANES).any() or ((lanes.stop % LANES > 0) & (lanes.stop < self.count)).any()):
            gaps = Gaps(lanes.start // LANES, -(-lanes.stop // LANES))
            for holder, name in self._lane_arrays():
                holder[name] = close_up(holder[name], gaps, self.blocks, 0, nodes if name == "node" else None)[..., : self.blocks - gaps.total]
        else:
            stay = lanes.rows(self.count)
            stay = np.flatnonzero(stay >= 0)
            shift = np.append(0, nodes)[np.searchsorted(lanes.stop, stay, "right")].astype(np.int32)
            for holder, name in self._lane_arrays():
                values = self._values(holder[name])[stay]
                if name == "node":
                    values = values - shift[:, None]
                holder[name] = in_lanes(values)
        left = self.count - lanes.total
        self.numbers = close_up(self.numbers, lanes, self.count, 0, elements.shift)[:left]
        self.body = close_up(self.body, lanes, self.count, 0, bodies)[:left]
        self._count(left)
        return gaps

    def _values(self, array: np.ndarray, first: int = 0) -> np.ndarray:
        """Values (8, ..., blocks) from block `first` on, element by element."""
        return np.moveaxis(array[..., first:], (-1, 0), (0, 1)).reshape(-1, *array.shape[1:-1])[: self.count - LANES * first]

    def _count(self, count: int) -> None:
        """There are so many elements; lanes left over weigh nothing."""
        self.count, self.blocks = count, -(-count // LANES)
        if count % LANES:
            self.weight[count % LANES :, :, -1] = 0.0

    def enhance(self, reference: np.ndarray) -> None:
        """Give hexahedra enhanced strains."""
        self.enhanced = EnhancedStrains(self, reference, in_lanes)

    @property
    def force_length(self) -> int:
        """Numbers of the elements' vectors."""
        return LANES * 3 * self.size * self.blocks

    def part_of(self, flat: np.ndarray, start: int) -> np.ndarray:
        """The elements' vectors (8, 3, size, blocks) in a flat array."""
        return flat[start : start + self.force_length].reshape(LANES, 3, self.size, self.blocks, order="F")

    @property
    def columns(self) -> tuple:
        """First arguments of kernels that process the elements."""
        return self.law, self.node, self.gradient, self.weight, self.lame

    def forces(self, displacement: np.ndarray) -> None:
        """Compute internal forces into `force`."""
        if self.enhanced:
            self.enhanced.forces(displacement, displacement)
        else:
            _blocks.internal_forces(*self.columns, displacement, self.force)

    def conserving_forces(self, displacement: np.ndarray, other: np.ndarray) -> None:
        """Compute internal forces that conserve energy between two displacements (St Venant-Kirchhoff) into `force`."""
        if self.enhanced:
            self.enhanced.forces(displacement, other)
        else:
            _conserving_forces(*self.columns[1:], displacement, other, self.force)

    def shares(self, value: float = 1.0) -> np.ndarray:
        """Return the same share (8, blocks) of the stress in tangents for all elements."""
        return np.full((LANES, self.blocks), value, order="F")

    def products(self, displacement: np.ndarray, direction: np.ndarray, share: np.ndarray) -> None:
        """Compute K v, with a share (8, blocks) of the stress in K, into `force`."""
        if self.enhanced:
            self.enhanced.products(displacement, direction, share)
        else:
            _blocks.tangent_products(*self.columns, share, displacement, direction, self.force)

    def energies(self, displacement: np.ndarray, first: int = 0) -> None:
        """Energies and measures of strain of the elements from `first` on, at least, into `energy` and `strain`."""
        if self.enhanced:
            self.enhanced.energies(displacement)
        elif first:
            blocks = slice(first // LANES, None)
            parts = (array[..., blocks] for array in (*self.columns[1:], self.energy, self.strain))
            node, gradient, weight, lame, energy, strain = parts
            _blocks.internal_energies(self.law, node, gradient, weight, lame, displacement, energy, strain)
        else:
            _blocks.internal_energies(*self.columns, displacement, self.energy, self.strain)

    def stiffness(self, displacement: np.ndarray, dense: np.ndarray, mirrored: bool, share: np.ndarray) -> None:
        """Compute tangents, with a share (8, blocks) of the stress, into `dense` (8, 3 size, 3 size, blocks); only their upper triangles unless `mirrored`."""
        if self.enhanced:
            self.enhanced.stiffness(displacement, dense, share)
        else:
            _tangents.element_stiffness(*self.columns, share, displacement, mirrored, dense)

    def lumps(self, reference: np.ndarray, density: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return integrals (ne, size) of density (ne,) times N_a, and volumes (ne,)."""
        lumps = np.zeros((LANES, self.size, self.blocks), order="F")
        volumes = np.zeros((LANES, self.blocks), order="F")
        _blocks.lumped_masses(self.node, reference, in_lanes(density), lumps, volumes)
        return self.from_lanes(lumps), volumes.ravel(order="F")[: self.count]

    def total(self, values: np.ndarray, count: int) -> np.ndarray:
        """Spread values (ne, ...) of the group's elements to all `count` elements, zero for others."""
        result = np.zeros((count, *values.shape[1:]))
        result[self.numbers] = values
        return result


class CutGroup(ElementGroup):
    """Elements with quadrature points of their own, from a shape inside a mesh (`background_mesh`).

    An element with more points than its type's rule takes several rows.

    Parameters
    ----------
    natural, factor : ndarray (ne, 3, points), (ne, points)
        Natural coordinates and weights [length**3]; points of weight 0 are padding.
    """

    LANED = (*ElementGroup.LANED, "natural", "factor", "value")

    def __init__(self, elements, numbers, lame, law, natural: np.ndarray, factor: np.ndarray):
        super().__init__(elements, numbers, lame, law)
        points = factor.shape[1]
        self.natural = in_lanes(natural)
        self.factor = in_lanes(factor)
        self.gradient = np.zeros((LANES, 3, self.size, points, self.blocks), order="F")
        self.weight = np.zeros((LANES, points, self.blocks), order="F")
        self.value = np.zeros((LANES, self.size, points, self.blocks), order="F")

    def prepare(self, reference: np.ndarray) -> int:
        failed = _prepare_points(self.node, reference, self.natural, self.gradient, self.value)
        self.weight[:] = self.factor
        unused = LANES * self.blocks - self.count
        if unused:
            self.weight[LANES - unused :, :, -1] = 0.0
        return int(self.numbers[min(failed, self.count - 1)]) if failed >= 0 else -1

    def lumps(self, reference: np.ndarray, density: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        weight, value = self.from_lanes(self.weight), self.from_lanes(self.value)
        # point by point: the order of sums of einsum and sum depends on how many elements there are
        lumps, volumes = np.zeros(value.shape[:2]), np.zeros(len(weight))
        for q in range(weight.shape[1]):
            lumps += weight[:, q, None] * value[:, :, q]
            volumes += weight[:, q]
        return density[:, None] * lumps, volumes

    def total(self, values: np.ndarray, count: int) -> np.ndarray:
        result = np.zeros((count, *values.shape[1:]))
        np.add.at(result, self.numbers, values)
        return result


@dataclass
class OwnPoints:
    """Quadrature points of elements with individual rules: `element` (nq,) ascending, `natural` (nq, 3), `weight` (nq,)."""

    element: np.ndarray
    natural: np.ndarray
    weight: np.ndarray

    def rows(self, which: np.ndarray, points: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return elements (n,), natural coordinates (n, 3, points) and weights (n, points) of the elements marked in `which`, in rows of `points`."""
        chosen = np.flatnonzero(which[self.element])
        element = self.element[chosen]
        numbers, start, count = np.unique(element, return_index=True, return_counts=True)
        rows = -(-count // points)
        rank = np.arange(len(element)) - np.repeat(start, count)
        row = np.repeat(np.cumsum(rows) - rows, count) + rank // points
        owner = np.repeat(numbers, rows)
        natural = np.zeros((len(owner), 3, points))
        natural[:] = self.natural[chosen[np.repeat(start, rows)]][:, :, None]
        factor = np.zeros((len(owner), points))
        natural[row, :, rank % points] = self.natural[chosen]
        factor[row, rank % points] = self.weight[chosen]
        return owner, natural, factor

    def behind(self, others: OwnPoints | None, first: int) -> OwnPoints:
        """These, of elements that begin at number `first`, and others before them."""
        if others is None:
            return OwnPoints(self.element + first, self.natural, self.weight)
        return OwnPoints(
            np.concatenate((others.element, self.element + first)), np.concatenate((others.natural, self.natural)),
            np.concatenate((others.weight, self.weight)),
        )  # fmt: skip

    def without(self, gaps: Gaps) -> OwnPoints | None:
        """Those of the elements that stay; None: there are none."""
        number = gaps.rows(max(int(self.element[-1]), int(gaps.stop[-1])) + 1)[self.element]
        stay = number >= 0
        return OwnPoints(number[stay], self.natural[stay], self.weight[stay]) if stay.any() else None

    def part(self, elements: np.ndarray) -> OwnPoints:
        """Return the points of some elements, which get new numbers."""
        number = np.full(max(int(self.element.max(initial=0)), int(elements.max(initial=0))) + 1, -1)
        number[elements] = np.arange(len(elements))
        chosen = np.flatnonzero(number[self.element] >= 0)
        chosen = chosen[np.argsort(number[self.element[chosen]], kind="stable")]
        return OwnPoints(number[self.element[chosen]], self.natural[chosen], self.weight[chosen])


class ElementColumns(NamedTuple):
    """What an assembly keeps of its elements besides their groups; the arguments of ElementAssembly."""

    sizes: np.ndarray
    lame: np.ndarray
    law: np.ndarray
    enhanced: np.ndarray


class ElementAssembly(Record):
    """All elements of a set of bodies, and sums of their vectors at nodes.

    Parameters
    ----------
    reference : ndarray (3, n)
        Referential nodes [length].
    sizes, nodes : ndarray (ne,), (ne, 8) of int
        Numbers of nodes and node numbers of the elements (-1 beyond the last).
    lame, law : ndarray (ne, 2), (ne,) of int
        Lame's constants, and numbers of material laws (`Law`).
    own_points : OwnPoints, optional
        Quadrature points of elements with individual rules.
    enhanced : ndarray (ne,) of bool, optional
        Elements with enhanced strains; only hexahedra without individual points are enhanced. Their law must be
        KIRCHHOFF or LINEAR.
    joins : bool
        Whether another assembly will `append` these elements, and sum their vectors.

    Attributes
    ----------
    failed : int
        Number of the first element that has no positive volume at a quadrature point, or -1.
    """

    COLUMNS = {
        "first": ((), "i4"),  # of nodes: start of their contributions, and the number of all
        "position": ((), "i4"),  # of contributions: their start in `flat`
        "flat": ((), "f8"),  # vectors of all elements
    }

    def __init__(self, reference, sizes, nodes, lame, law, own_points: OwnPoints | None = None, enhanced=None, joins: bool = False):
        super().__init__()
        enhanced = np.zeros(len(sizes), bool) if enhanced is None else np.asarray(enhanced, bool)
        nodes, lame = np.ascontiguousarray(nodes), np.ascontiguousarray(lame)
        self.elements = ElementColumns(sizes, lame, np.asarray(law, np.int32), enhanced)
        self.own_points = own_points
        self.groups: list[ElementGroup] = []
        self.reference = np.asfortranarray(reference)
        self.node_count = self.reference.shape[1]
        self.element_count = len(sizes)
        softened: list[ElementGroup] = []
        whole = np.ones(len(sizes), bool)
        if own_points is not None:
            whole[own_points.element] = False
        for kind in ELEMENT_TYPES:
            size = kind.size
            for number in Law:
                alike = (sizes == size) & (self.elements.law == number)
                special = enhanced & kind.takes_enhancement
                straight = alike & whole & ~special if kind.stores_jacobians else np.zeros(len(sizes), bool)
                straight[straight] = are_parallelepipeds(nodes[straight, :size], self.reference)
                for softer, constant in ((False, True), (False, False), (True, False)):
                    which = np.flatnonzero(alike & whole & (special == softer) & (straight == constant))
                    if which.size:
                        self.groups.append(ElementGroup(nodes[which, :size], which, lame[which], number, constant))
                        softened += [self.groups[-1]] if softer else []
                if (alike & ~whole).any():
                    which, *points = own_points.rows(alike, kind.quadrature_points)
                    self.groups.append(CutGroup(nodes[which, :size], which, lame[which], number, *points))
        failures = [group.prepare(self.reference) for group in self.groups]
        self.failed = min((number for number in failures if number >= 0), default=-1)
        if self.failed < 0:
            for group in softened:
                group.enhance(self.reference)
        if not joins:
            self._share_force()

    @property
    def is_plain(self) -> bool:
        """Whether all elements are of one type and law, whole and without enhanced strains."""
        return len(self.groups) == 1 and type(self.groups[0]) is ElementGroup and self.groups[0].enhanced is None

    def append(self, other: ElementAssembly, reference: np.ndarray) -> None:
        """Take up the elements of other bodies, whose nodes follow in `reference` (3, n)."""
        known, new_kinds = {group.key: group for group in self.groups}, False
        for group in other.groups:
            if group.key in known:
                known[group.key].append(group, self.node_count, self.element_count)
            else:
                group.move_behind(self.node_count, self.element_count)
                self.groups.append(group)
                new_kinds = True
        if new_kinds:
            self.groups.sort(key=lambda group: group.place)
        self.elements = ElementColumns(*(appended(mine.T, theirs.T).T for mine, theirs in zip(self.elements, other.elements)))
        if other.own_points is not None:
            self.own_points = other.own_points.behind(self.own_points, self.element_count)
        new = self.node_count
        self.reference, self.node_count = reference, reference.shape[1]
        self.element_count += other.element_count
        if len(self.groups) > 1:
            self._share_force()
            return
        group = self.groups[0]
        self.extend(flat=np.zeros(group.force_length - self.flat.size))
        group.force = group.part_of(self.flat, 0)
        first, position = self._contributions(group.count - other.groups[0].count)
        self.extend(position=position, first=self.first[-1] + first[new + 1 :])

    def remove(self, bodies: Gaps, elements: Gaps, nodes: Gaps, reference: np.ndarray) -> None:
        """Let bodies go, with their elements and nodes; `reference` (3, n) are the nodes that stay."""
        blocks = [group.remove(elements, nodes.shift, bodies.shift) for group in self.groups]
        self.groups = [group for group in self.groups if group.count]
        left = self.element_count - elements.total
        self.elements = ElementColumns(*(close_up(column.T, elements, self.element_count, 0).T[:left] for column in self.elements))
        self.element_count = left
        if self.own_points is not None:
            self.own_points = self.own_points.without(elements)
        contributions, count = Gaps(self.first[nodes.start], self.first[nodes.stop]), self.node_count + 1
        self.reference, self.node_count = reference, reference.shape[1]
        if len(self.groups) != 1 or blocks[0] is None or len(blocks) != 1:
            self._share_force()
            return
        group = self.groups[0]
        position = close_up(self.position, contributions, len(self.position), 0, LANES * 3 * group.size * blocks[0].shift)
        self.replace(
            position=position[: len(self.position) - contributions.total], first=close_up(self.first, nodes, count, 0, contributions.shift)[: self.node_count + 1],
            flat=self.flat[: group.force_length],
        )  # fmt: skip
        group.force = group.part_of(self.flat, 0)

    def _share_force(self) -> None:
        """One flat array for the vectors of all elements, and for every node the positions of its contributions."""
        lengths = [group.force_length for group in self.groups]
        self.flat = np.zeros(sum(lengths))
        start = 0
        for group, length in zip(self.groups, lengths):
            group.force = group.part_of(self.flat, start)
            start += length
        first, position = self._contributions()
        self.replace(position=position, first=first)

    def _contributions(self, behind: int = 0) -> tuple[np.ndarray, np.ndarray]:
        """Return for nodes (n + 1) where their contributions start, and positions of these in `flat`, of elements of each group `behind` the first ones."""
        starts = np.zeros(self.node_count + 2, np.int32)
        for group in self.groups:
            _blocks.count_contributions(behind, group.count, group.node, starts)
        np.cumsum(starts, dtype=np.int32, out=starts)
        position, origin = np.empty(starts[-1], np.int32), 0
        for group in self.groups:
            _blocks.place_contributions(behind, group.count, origin, group.node, starts, position)
            origin += group.force_length
        return starts[:-1], position

    def _gather(self, result: np.ndarray) -> np.ndarray:
        _blocks.gather_nodes(self.first, self.position, self.flat, result)
        return result

    def element_forces(self, displacement: np.ndarray) -> None:
        """Compute internal forces of the elements into `flat`."""
        for g in self.groups:
            g.forces(displacement)

    def internal_force(self, displacement: np.ndarray, result: np.ndarray) -> np.ndarray:
        """Return internal nodal forces (3, n) at the displacement (3, n), co-rotated where elements are linear."""
        self.element_forces(displacement)
        return self._gather(result)

    def element_conserving_forces(self, displacement: np.ndarray, other: np.ndarray) -> None:
        """Compute internal forces of the elements into `flat`, whose work between two displacements is the difference of energies."""
        for g in self.groups:
            g.conserving_forces(displacement, other)

    def element_products(self, displacement: np.ndarray, direction: np.ndarray, shares: list[np.ndarray] | None = None) -> None:
        """Compute the elements' contributions to K v into `flat`, with shares (8, blocks) of the stress for each group, by default all of it."""
        for number, g in enumerate(self.groups):
            g.products(displacement, direction, g.shares() if shares is None else shares[number])

    def tangent_product(self, displacement: np.ndarray, direction: np.ndarray, result: np.ndarray) -> np.ndarray:
        """Return K v (3, n) with the tangent at the displacement; v is in the co-rotated frame where elements are linear."""
        self.element_products(displacement, direction)
        return self._gather(result)

    def strain_rate_force(self, displacement: np.ndarray, velocity: np.ndarray, result: np.ndarray) -> np.ndarray:
        """Return the force (3, n) of the stresses F (dS/dE : dE/dt), by the strain rate of a velocity: what damping is a part of.

        It is K v without the force of stresses that the velocity turns, and so has no moment.
        """
        self.element_products(displacement, velocity, [g.shares(0.0) for g in self.groups])
        return self._gather(result)

    def energies(self, displacement: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the internal energy (ne,) of every element, and a bound of its tangent (ne,).

        The bound is the largest norm of Green's strain (linear: 0; Neo-Hookean: a modulus, see `frequencies`).
        """
        energy, strain = np.zeros(self.element_count), np.zeros(self.element_count)
        for g in self.groups:
            g.energies(displacement)
            energy += g.total(g.energy.ravel(order="F")[: g.count], self.element_count)
            np.maximum.at(strain, g.numbers, g.strain.ravel(order="F")[: g.count])
        return energy, strain

    def lumped_mass(self, density: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return nodal masses (n,), integrals of density (ne,) times N_a, and volumes (ne,) of the elements."""
        mass, volume = np.zeros(self.node_count), np.zeros(self.element_count)
        for g in self.groups:
            lumps, volumes = g.lumps(self.reference, density[g.numbers])
            mass += np.bincount(g.from_lanes(g.node).ravel(), lumps.ravel(), self.node_count)
            volume += g.total(volumes, self.element_count)
        return mass, volume

    def stiffness_room(self) -> tuple[np.ndarray, list[np.ndarray]]:
        """Return memory for dense tangents (8, 3 size, 3 size, blocks) of every group: one flat array, and its parts."""
        shapes = [(LANES, 3 * g.size, 3 * g.size, g.blocks) for g in self.groups]
        ends = np.cumsum([0, *(int(np.prod(shape)) for shape in shapes)])
        flat = np.empty(ends[-1])
        return flat, [flat[start:end].reshape(shape, order="F") for shape, start, end in zip(shapes, ends, ends[1:])]

    def element_stiffness(
        self, displacement: np.ndarray, room: list[np.ndarray] | None = None, mirrored: bool = True, shares: list[np.ndarray] | None = None
    ) -> list[np.ndarray]:
        """Compute dense tangents of every group, in parts of `stiffness_room`; only their upper triangles unless `mirrored`; `shares` as of `element_products`."""
        room = self.stiffness_room()[1] if room is None else room
        for number, (g, dense) in enumerate(zip(self.groups, room)):
            g.stiffness(displacement, dense, mirrored, g.shares() if shares is None else shares[number])
        return room

    def part(self, elements: np.ndarray, nodes: np.ndarray, table: np.ndarray) -> ElementAssembly:
        """Return the assembly of some elements with some nodes; `table` (ne, 8) has places among these of the elements' nodes."""
        sizes, lame, law, enhanced = (column[elements] for column in self.elements)
        own = None if self.own_points is None else self.own_points.part(elements)
        return ElementAssembly(self.reference[:, nodes], sizes, table, lame, law, own, enhanced)


def first_folded(reference: np.ndarray, sizes: np.ndarray, nodes: np.ndarray, own_points: OwnPoints | None = None) -> int:
    """Number of the first element without positive volume at a quadrature point, or -1; arguments are those of ElementAssembly."""
    none, reference = np.zeros(len(sizes), np.int32), np.asfortranarray(reference)
    if own_points is not None:
        return ElementAssembly(reference, sizes, nodes, np.ones((len(sizes), 2)), none, own_points).failed
    failures = []
    for kind in ELEMENT_TYPES:
        which = np.flatnonzero(sizes == kind.size)
        for first in range(0, which.size, AT_ONCE):
            some = which[first : first + AT_ONCE]
            failures.append(ElementGroup(nodes[some, : kind.size], some, np.ones((some.size, 2)), 0).prepare(reference))
    return min((number for number in failures if number >= 0), default=-1)
