"""Finite element bodies: their meshes, and arrays of all of them for the kernels (Solfec-1.0's `fem`).

`BodyTable.meshes` keeps one `FiniteElementMesh` per body.  `compiled` numbers nodes and elements of all bodies consecutively and
groups elements by type; it is called at every use and works only after bodies were added or removed.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from .. import _kernels
from ..element_types import MOST_FACES, MOST_NODES, used_slots
from ..errors import SolfecError
from ..shapes.mesh import Mesh
from ..shapes.mesh_topology import MeshTopology
from ..shapes.point_query import in_hulls
from ..shapes.vectors import cross
from ..tables import Gaps, Record, appended, close_up, opened, pointers_of, ranges
from .element_assembly import ElementAssembly, OwnPoints, first_folded
from .frequencies import highest_element, laplacian_row_bounds, largest_frequency
from .materials import Law
from .reduced import ReducedBodies
from .table import REDUCED_FORMS, BodyKind, BodyTable, Form

#: Columns of the body table that the arrays below depend on; `known_...` of FiniteElements hold their last values.
MATERIAL = ("lame", "mass", "volume", "form", "law", "enhanced")

#: Arrays of FiniteElements that have a row per body, per node and per element.
OF_BODIES = (
    "row", "linear", "passive", "rotation", "strain", "stiffest", "square_at_rest", "laplacian", "square_present",
    *(f"known_{name}" for name in MATERIAL),
)  # fmt: skip
EQUALLY_NEAR = 1e-9  # part of a mesh's size by which distances of a point from elements may differ by round-off
OF_NODES = ("conf_row", "velo_row", "reference", "normal", "mass", "displacement", "internal", "viscous", "net")
OF_ELEMENTS = ("element_size", "element_node")
OF_STEPS = ("internal", "viscous", "net")  # of nodes: a step writes them before it reads them

_points = _kernels.finite_element_points
_materials_changed = _kernels.finite_element_motion.materials_changed
_place_vertices = _kernels.cut_elements.place_vertices


@dataclass(eq=False)
class FiniteElementMesh:
    """Mesh of one body, in its referential placement.

    Attributes
    ----------
    nodes : ndarray (n, 3)
    sizes : ndarray (ne,) int32
        Number of nodes of every element.
    elements : ndarray (ne, 8) int32
        Node numbers; zero beyond an element's size.
    normals : ndarray (n, 3)
        Integrals of N_a times the outward normal over the boundary [length**2].
    background : background_mesh.Background, optional
        Data of a shape inside the mesh.
    density : float, optional
        Mass density; by default the body's mass over its volume.
    materials : list of BulkMaterial
        Materials of some elements other than the body's.
    material : ndarray (ne,), optional
        Their numbers in this list, -1: the body's material.
    surfaces : ndarray (ne, 6) int32, optional
        Surface identifiers of the elements' faces.
    volume_ids : ndarray (ne,) int32, optional
        Volume identifiers of the elements.
    """

    nodes: np.ndarray
    sizes: np.ndarray
    elements: np.ndarray
    normals: np.ndarray
    background: object | None = None
    density: float | None = None
    materials: list = field(default_factory=list)
    material: np.ndarray | None = None
    surfaces: np.ndarray | None = None
    volume_ids: np.ndarray | None = None

    @classmethod
    def of(cls, mesh, background=None) -> FiniteElementMesh:
        """Make it from a `shapes.Mesh`."""
        sizes, elements, surfaces = _element_tables(mesh.topology)
        normals = normal_integrals(mesh.nodes, *mesh.topology.outer_faces)
        return cls(mesh.nodes.copy(), sizes, elements, normals, background, volume_ids=mesh.volume_ids, surfaces=surfaces)

    def shape(self) -> Mesh:
        """Return the `shapes.Mesh` from which it was made."""
        used = used_slots(self.sizes)
        pointers = pointers_of(self.sizes)
        topology = MeshTopology(len(self.nodes), pointers, self.elements[used].astype(int))
        if self.surfaces is not None:
            topology = topology.with_surfaces(self.surfaces[topology.face_element, topology.face_index])
        ids = np.zeros(len(self.sizes), np.int32) if self.volume_ids is None else self.volume_ids
        return Mesh(self.nodes.copy(), topology, ids)

    @property
    def node_count(self) -> int:
        """Number of nodes."""
        return len(self.nodes)

    @property
    def extent(self) -> float:
        """Largest side of the box round the nodes."""
        return float(max(np.ptp(coordinate) for coordinate in self.nodes.T))  # ptp along axis 0 takes ten times as long

    def lame(self, default) -> np.ndarray:
        """Return Lame's constants (ne, 2) of the elements; `default` (2,) are the body's."""
        result = np.tile(np.asarray(default, float), (len(self.sizes), 1))
        for number, material in enumerate(self.materials):
            result[self.material == number] = material.lame
        return result

    def densities(self, default: float) -> np.ndarray:
        """Return densities (ne,) of the elements; `default` is used where the mesh has none."""
        result = np.full(len(self.sizes), default if self.density is None else self.density)
        for number, material in enumerate(self.materials):
            result[self.material == number] = material.density
        return result

    def varied(self) -> bytes:
        """Key that changes when materials of elements change."""
        constants = [(material.young, material.poisson, material.density) for material in self.materials]
        return repr(constants).encode() + self.material.tobytes() if constants else b""

    def check(self) -> None:
        """Raise SolfecError unless all elements have positive volume at their quadrature points."""
        table = np.where(used_slots(self.sizes), self.elements, 0)
        failed = first_folded(self.nodes.T, self.sizes, table, self.own_points)
        if failed >= 0:
            nodes = ", ".join(map(str, self.elements[failed, : self.sizes[failed]].tolist()))
            raise SolfecError(
                f"element {failed} (nodes {nodes}) is folded: it has no positive volume at an integration point"
            )

    def apply(self, material, elements: np.ndarray) -> None:
        """Give some elements (marked in a mask) another BulkMaterial."""
        if self.material is None:
            self.material = np.full(len(self.sizes), -1, np.int32)
        if not any(material is known for known in self.materials):
            self.materials.append(material)
        self.material[elements] = next(k for k, known in enumerate(self.materials) if known is material)

    @property
    def own_points(self) -> OwnPoints | None:
        """Return quadrature points of elements that the shape fills in part."""
        held = self.background
        return None if held is None else OwnPoints(held.point_element, held.point_natural, held.point_weight)


def _element_tables(topology: MeshTopology) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return `sizes`, `elements` and `surfaces` of a FiniteElementMesh, which bodies of equal topology share."""
    if "elements" not in topology.shared:
        sizes = np.diff(topology.element_ptr).astype(np.int32)
        elements = np.zeros((len(sizes), MOST_NODES), np.int32)
        elements[used_slots(sizes)] = topology.element_nodes
        surfaces = np.zeros((len(sizes), MOST_FACES), np.int32)
        surfaces[topology.face_element, topology.face_index] = topology.face_surface
        for table in (sizes, elements, surfaces):
            table.flags.writeable = False
        topology.shared["elements"] = sizes, elements, surfaces
    return topology.shared["elements"]


def boundary_normals(nodes: np.ndarray, faces: np.ndarray) -> np.ndarray:
    """Return integrals (n, 3) of N_a times the normal over faces (nf, 4), -1 after the third node of triangles."""
    return normal_integrals(nodes, faces[faces[:, 3] < 0, :3], faces[faces[:, 3] >= 0])


def normal_integrals(nodes: np.ndarray, triangles: np.ndarray, quads: np.ndarray) -> np.ndarray:
    """Return these integrals over triangles (nt, 3) and quadrilaterals (nq, 4)."""
    at, shares = [np.zeros(0, int)], [np.zeros((0, 3))]
    if len(triangles):
        a, b, c = (nodes[triangles[:, k]] for k in range(3))
        at.append(triangles.ravel())
        shares.append(np.repeat(cross(b - a, c - a) / 6.0, 3, axis=0))
    if len(quads):
        # x = m + u s + v t + uv w has the normal s x t + u s x w + v w x t; of N_a = (1 + u_a u) (1 + v_a v) / 4 the moments are 1, u_a/3, v_a/3
        a, b, c, d = (nodes[quads[:, k]] for k in range(4))
        along, across, twist = (b - a + c - d) / 4.0, (d - a + c - b) / 4.0, (a - b + c - d) / 4.0
        middle, tilt, turn = cross(along, across), cross(along, twist) / 3.0, cross(twist, across) / 3.0
        at.append(quads.T.ravel())
        shares += [middle - tilt - turn, middle + tilt - turn, middle + tilt + turn, middle - tilt + turn]
    at, shares = np.concatenate(at), np.concatenate(shares)
    result = np.empty_like(nodes)
    for k in range(3):
        result[:, k] = np.bincount(at, shares[:, k], len(nodes))
    return result


class FiniteElements(Record):
    """Arrays of all finite element bodies; nodes and elements are numbered consecutively in the order of body rows.

    Attributes
    ----------
    count : int
        Number of bodies; `rows` (count,) are their rows in the body table.
    assembly, resting : ElementAssembly
        Elements that the time step evaluates, and elements of bodies in a base.
    reduced : ReducedBodies
        The bodies in a base.
    """

    COLUMNS = {
        "row": ((), "i4"),  # of bodies: rows of the body table
        "first": ((), "i4"),  # start of each body's nodes, and the number of all nodes
        "first_element": ((), "i4"),  # start of each body's elements, and the number of all elements
        "linear": ((), "i4"),  # 1: co-rotated, all forms but 'TL'
        "passive": ((), "i4"),  # 1: the body moves in a base, which treats its damping
        "rotation": ((3, 3), "f8"),  # from the elements' frames to space
        "strain": ((), "f8"),  # largest strain of the elements; Neo-Hookean: largest modulus
        "stiffest": ((2,), "f8"),  # largest lambda and mu of the elements [pressure]
        "square_at_rest": ((), "f8"),  # largest omega**2 at rest [1/time**2]; not a number: unknown
        "laplacian": ((), "f8"),  # largest omega**2 of unit stiffness [length/mass]; a bound of it until `find_frequency`
        "square_present": ((), "f8"),  # bound of omega**2 at the present strains; infinite: unknown
        "known_lame": ((2,), "f8"),  # columns of the body table from which the arrays were made
        "known_mass": ((), "f8"),
        "known_volume": ((), "f8"),
        "known_form": ((), "i4"),
        "known_law": ((), "i4"),
        "known_enhanced": ((), "i4"),
        "conf_row": ((), "i4"),  # of nodes: configuration triples
        "velo_row": ((), "i4"),  # velocity triples
        "reference": ((3,), "f8"),  # referential places [length]
        "normal": ((3,), "f8"),  # integrals of N_a times the referential normal over the boundary [length**2]
        "mass": ((), "f8"),  # lumped
        "displacement": ((3,), "f8"),  # in the elements' frames: co-rotated where linear
        "internal": ((3,), "f8"),  # internal forces, in the bodies' frames
        "viscous": ((3,), "f8"),  # K times velocities, in the bodies' frames
        "net": ((3,), "f8"),  # applied and internal forces of the step; before, velocities in the bodies' frames
        "element_size": ((), "i4"),  # of elements: number of nodes
        "element_node": ((MOST_NODES,), "i4"),  # nodes, numbered within the body
        "overlap_first": ((), "i4"),  # of primitives inside background meshes: start of the elements
        "overlap": ((), "i4"),  # that they overlap, numbered within their body
        "vertex_triple": ((MOST_NODES,), "i4"),  # of vertices of such shapes: configuration triples of the element's nodes
        "vertex_weights": ((MOST_NODES,), "f8"),  # and their shape functions
    }
    NUMBERS = {"count": "i4"}

    def __init__(self, bodies: BodyTable, first_row: int = 0):
        super().__init__()
        self.rows = first_row + np.flatnonzero(bodies.view("kind")[first_row:] == BodyKind.FINITE_ELEMENT)
        self.behind = bodies.n  # row from which on bodies have come since
        self.initialised = 0  # leading bodies whose energies `finite_element_motion.initialise` has found
        self.current = False  # whether displacements and strains are those of bodies' states; within a step this does not matter
        self.count = len(self.rows)
        self.implicit = None  # solvers that implicit.implicit_of keeps between steps
        self.recalled = None  # state that implicit.recall has set for them
        self.inverses: dict = {}  # of small implicit bodies, by their number of unknowns (`small_bodies.Inverses`)
        self.damped = False  # whether the last prediction found damping
        meshes = [bodies.meshes[int(bodies.id[row])] for row in self.rows]
        self.first = pointers_of([mesh.node_count for mesh in meshes], np.int32)
        self.first_element = pointers_of([len(mesh.sizes) for mesh in meshes], np.int32)
        self.element_size = _joined([mesh.sizes for mesh in meshes], (0,)).astype(np.int32)
        self.element_node = np.asfortranarray(_joined([mesh.elements for mesh in meshes], (0, MOST_NODES)).T.astype(np.int32))
        self._embed(bodies, meshes)
        bodies.node_ptr[self.rows] = self.first[:-1]
        bodies.element_ptr[self.rows] = self.first_element[:-1]
        self.reference = np.asfortranarray(_joined([mesh.nodes for mesh in meshes], (0, 3)).T)
        self.normal = np.asfortranarray(_joined([mesh.normals for mesh in meshes], (0, 3)).T)
        self.reduced = None
        if not self.count:
            self.element_size, self.element_node = np.zeros(1, np.int32), np.zeros((MOST_NODES, 1), np.int32, order="F")
            return
        self._find_triples(bodies)
        self.linear = np.isin(bodies.form[self.rows], (Form.BC, *REDUCED_FORMS)).astype(np.int32)
        in_base = np.isin(bodies.form[self.rows], REDUCED_FORMS)
        element_owner = np.repeat(np.arange(self.count), np.diff(self.first_element))
        nodes = np.where(used_slots(self.element_size).T, self.element_node + self.first[element_owner], 0).T
        lame = _joined([mesh.lame(bodies.lame[:, row]) for mesh, row in zip(meshes, self.rows)], (0, 2))
        self.stiffest = np.asfortranarray(np.maximum.reduceat(lame, self.first_element[:-1]).T)
        law = np.where(self.linear == 1, Law.LINEAR, bodies.law[self.rows])[element_owner]
        enhanced = bodies.enhanced[self.rows][element_owner] == 1
        moving = np.where(in_base[element_owner], 0, self.element_size)  # 0 is no type: these elements are left out
        own = self._own_points(meshes)
        self.assembly = ElementAssembly(self.reference, moving, nodes, lame, law, own, enhanced, joins=first_row > 0)
        self.resting = None
        if in_base.any():
            self.resting = ElementAssembly(self.reference, self.element_size - moving, nodes, lame, law, own, enhanced)
        failed = max(part.failed for part in self._parts)
        if failed >= 0:
            body = element_owner[failed]
            number = failed - int(self.first_element[body])
            raise SolfecError(
                f"{bodies.name(int(bodies.id[self.rows[body]]))}: element {number} has no positive volume at an integration point"
            )
        mean = bodies.mass[self.rows] / bodies.volume[self.rows]
        density = np.concatenate([mesh.densities(value) for mesh, value in zip(meshes, mean)])
        self.mass = sum(part.lumped_mass(density)[0] for part in self._parts)
        wrong = np.flatnonzero(~(self.mass > 0.0))
        if wrong.size:
            body = int(np.searchsorted(self.first, wrong[0], "right")) - 1
            node = int(wrong[0] - self.first[body])
            raise SolfecError(f"{bodies.name(int(bodies.id[self.rows[body]]))}: node {node} has no positive mass")
        n = len(self.mass)
        self.replace(
            rotation=np.asfortranarray(np.tile(np.eye(3)[:, :, None], self.count)),
            strain=np.zeros(self.count),
            square_at_rest=np.full(self.count, np.nan),  # until `find_frequency`
            laplacian=np.full(self.count, np.nan),
            square_present=np.full(self.count, np.inf),  # set only while the critical step is refined
            **{name: np.zeros((3, n), order="F") for name in ("displacement", "internal", "viscous", "net")},
        )
        self.meshes = meshes
        self.mixed = [mesh for mesh in meshes if mesh.materials]
        self.reduced = ReducedBodies(self, bodies)
        self.row = self.rows.astype(np.int32)
        self.passive = np.asarray(self.reduced.inside, np.int32)
        for group in self.assembly.groups:
            group.body = element_owner[group.numbers].astype(np.int32)
        self.replace(**{f"known_{name}": getattr(bodies, name)[..., self.rows].copy(order="F") for name in MATERIAL})
        self.varied = [mesh.varied() for mesh in self.mixed]

    @property
    def element_lame(self) -> np.ndarray:
        """Lame's constants (ne, 2) of all elements [pressure]."""
        return self.assembly.elements.lame

    @property
    def _parts(self) -> list[ElementAssembly]:
        """Elements that the time step evaluates, and those in bases, where there are any."""
        return [part for part in (self.assembly, self.resting) if part is not None]

    def append(self, bodies: BodyTable) -> bool:
        """Take up bodies that have come behind the others; False where all arrays are to be made anew instead."""
        if not (bodies.view("kind")[self.behind :] == BodyKind.FINITE_ELEMENT).any():
            self.behind = bodies.n
            return True
        if not self.count or self.resting is not None:
            return False
        new = FiniteElements(bodies, self.behind)
        if new.resting is not None:
            return False
        nodes, elements = int(self.first[-1]), int(self.first_element[-1])
        self.extend(
            **{name: getattr(new, name) for name in (*OF_BODIES, *OF_NODES, *OF_ELEMENTS)},
            first=new.first[1:] + np.int32(nodes), first_element=new.first_element[1:] + np.int32(elements),
        )  # fmt: skip
        for group in new.assembly.groups:
            group.body += np.int32(self.count)
        self.assembly.append(new.assembly, self.reference)  # groups of new kinds keep their bodies, others follow
        for group in self.assembly.groups:
            group.body = appended(group.body, np.searchsorted(self.first_element, group.numbers[len(group.body) :], "right").astype(np.int32) - np.int32(1))
        bodies.node_ptr[new.rows] += nodes
        bodies.element_ptr[new.rows] += elements
        self.rows = np.concatenate((self.rows, new.rows))
        self.count += new.count
        self.behind = bodies.n
        self.meshes += new.meshes
        self.mixed += new.mixed
        self.varied += new.varied
        if len(new.embedded):
            self._embed(bodies, self.meshes)
        self.reduced = ReducedBodies(self, bodies)
        self.implicit = self.recalled = None
        return True

    def remove(self, bodies: BodyTable, renumbered: np.ndarray) -> bool:
        """Let bodies go; False where all arrays are to be made anew instead.

        Parameters
        ----------
        bodies : BodyTable
            As it is now.
        renumbered : ndarray of int
            New row of every old one; -1: it is gone.
        """
        lost = np.flatnonzero(renumbered[self.rows] < 0)
        if not lost.size:
            self.renumber(bodies, renumbered)
            return True
        if self.resting is not None or len(lost) == self.count:
            return False
        gaps, nodes, elements = Gaps(lost, lost + 1), *(Gaps(first[lost], first[lost + 1]) for first in (self.first, self.first_element))
        total = self.first[-1], self.first_element[-1]
        for names, gap, n in ((OF_BODIES, gaps, self.count), (OF_NODES, nodes, total[0]), (OF_ELEMENTS, elements, total[1])):
            kept = {name: getattr(self, name) for name in names}
            kept.update((name, close_up(kept[name], gap, int(n), 0)) for name in names if name not in OF_STEPS)
            self.replace(**{name: array[..., : int(n) - gap.total] for name, array in kept.items()})
        left = self.count + 1 - len(lost)
        self.replace(
            first=close_up(self.first, gaps, self.count + 1, 0, nodes.shift)[:left],
            first_element=close_up(self.first_element, gaps, self.count + 1, 0, elements.shift)[:left],
        )
        self.assembly.remove(gaps, elements, nodes, self.reference)
        stay = renumbered[self.rows] >= 0
        for k in lost[::-1].tolist():
            del self.meshes[k]
        if self.mixed:
            self.mixed = [mesh for mesh in self.meshes if mesh.materials]
            self.varied = [mesh.varied() for mesh in self.mixed]
        self.initialised = int(stay[: self.initialised].sum())
        self.rows = self.rows[stay]
        self.count = len(self.rows)
        self.renumber(bodies, renumbered)
        return True

    def _find_triples(self, bodies: BodyTable) -> None:
        """Find the nodes' configuration and velocity triples."""
        owner = np.repeat(np.arange(self.count), np.diff(self.first))
        local = np.arange(self.first[-1]) - self.first[:-1][owner]
        self.conf_row = (bodies.conf_ptr[self.rows][owner] + local).astype(np.int32)
        self.velo_row = (bodies.velo_ptr[self.rows][owner] + local).astype(np.int32)

    def renumber(self, bodies: BodyTable, renumbered: np.ndarray) -> None:
        """Follow rows of the body table after some were removed; bodies that have not been taken up yet may be among these.

        Parameters
        ----------
        bodies : BodyTable
            The table after the removal.
        renumbered : ndarray of int
            New row of every old one.
        """
        self.implicit = None
        self.behind = int((renumbered[: self.behind] >= 0).sum())
        if not self.count:
            return
        self.rows = renumbered[self.rows]
        self.row = self.rows.astype(np.int32)
        for rows, start in ((self.conf_row, bodies.conf_ptr), (self.velo_row, bodies.velo_ptr)):
            shift = rows[self.first[:-1]] - start[self.rows]
            begins = np.flatnonzero(np.diff(shift, prepend=0))  # of runs of bodies with the same shift
            close_up(rows, Gaps(self.first[begins], self.first[begins]), len(rows), 0, shift[begins])  # closes nothing, but shifts
        bodies.node_ptr[self.rows] = self.first[:-1]
        bodies.element_ptr[self.rows] = self.first_element[:-1]
        if len(self.embedded):
            self._embed(bodies, self.meshes)
        self.reduced = ReducedBodies(self, bodies)

    def _own_points(self, meshes) -> OwnPoints | None:
        """Return quadrature points of all elements with individual rules."""
        held = [(start, mesh.own_points) for start, mesh in zip(self.first_element, meshes) if mesh.background is not None]
        if not held:
            return None
        return OwnPoints(
            np.concatenate([start + points.element for start, points in held]),
            np.concatenate([points.natural for _, points in held]),
            np.concatenate([points.weight for _, points in held]),
        )

    def _embed(self, bodies: BodyTable, meshes) -> None:
        """Compile vertices of shapes inside elements, and the elements that parts of such shapes overlap."""
        firsts, overlaps, triples, weights, rows = [], [], [], [], []
        pointers = listed = 0
        for row, mesh in zip(self.rows, meshes):
            held = mesh.background
            if held is None:
                continue
            bodies.overlap_ptr[row] = pointers
            firsts.append(held.overlap_first + listed)
            overlaps.append(held.overlap)
            pointers, listed = pointers + len(held.overlap_first), listed + len(held.overlap)
            triples.append(bodies.conf_ptr[row] + mesh.elements[held.vertex_element])
            weights.append(held.vertex_weights)
            rows.append(row)
        self.overlap_first = _joined([*firsts, np.zeros(1, np.int32)], (0,)).astype(np.int32)
        self.overlap = _joined([*overlaps, np.zeros(1, np.int32)], (0,)).astype(np.int32)
        self.embedded = np.array(rows, np.int32)
        self.vertex_triple = np.asfortranarray(_joined(triples, (0, MOST_NODES)).T.astype(np.int32))
        self.vertex_weights = np.asfortranarray(_joined(weights, (0, MOST_NODES)).T)
        self._vertex_rows = None

    def place_vertices(self, bodies: BodyTable, geometry) -> None:
        """Update the vertices of shapes inside meshes."""
        if len(self.embedded):
            if self._vertex_rows is None or self._vertex_rows[0] != geometry.version:
                rows = np.flatnonzero(np.isin(geometry.vertices.view("body"), self.embedded)).astype(np.int32)
                self._vertex_rows = geometry.version, rows
            opened(_place_vertices(bodies.handles, self.handle, geometry.vertices.handle, self._vertex_rows[1]))

    def outdated(self, bodies: BodyTable) -> bool:
        """Whether columns of the body table on which the arrays depend have changed."""
        if not self.count:
            return False
        changed, status = _materials_changed(bodies.handles, self.handle)
        opened(status)
        return changed > 0 or self.varied != [mesh.varied() for mesh in self.mixed]

    def number(self, row: int) -> int:
        """Return the number of a row's body among finite element bodies."""
        return int(np.searchsorted(self.rows, row))

    def nodes_and_elements(self, numbers: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the nodes and the elements of some bodies, body by body."""
        return tuple(ranges(first[numbers], first[numbers + 1] - first[numbers]) for first in (self.first, self.first_element))

    def part(self, assembly: ElementAssembly, numbers: np.ndarray) -> ElementAssembly:
        """Return the elements of some bodies, of those that an assembly holds; nodes are numbered body by body."""
        nodes, elements = self.nodes_and_elements(numbers)
        sizes, counts = np.diff(self.first)[numbers], np.diff(self.first_element)[numbers]
        table = self.element_node[:, elements] + np.repeat(np.cumsum(sizes) - sizes, counts)
        return assembly.part(elements, nodes, table.T)

    def body_assembly(self, bodies: BodyTable, k: int) -> tuple[ElementAssembly, np.ndarray]:
        """Return the elements of body number k, and the displacements (3, n) at which its stiffness is evaluated: zero except for 'TL'."""
        alone = np.array([k])
        nodes, assembly = self.nodes_and_elements(alone)[0], self.part(self.resting if self.reduced.inside[k] else self.assembly, alone)
        displacement = np.zeros((3, len(nodes)), order="F")
        if not self.linear[k]:
            displacement[:] = bodies.configurations.conf[:, self.conf_row[nodes]]
        return assembly, displacement

    def bound_frequencies(self) -> None:
        """Bound the largest omega**2 of unit stiffness of all bodies of which nothing is known."""
        start = int(np.argmax(np.isnan(self.laplacian)))
        bounds = laplacian_row_bounds(self.assembly, self.mass, int(self.first_element[start]), int(self.first[start]))
        # nodes of bodies in bases have no elements here
        bounds = np.maximum.reduceat(np.where(bounds > 0.0, bounds, np.inf), self.first[start:-1] - self.first[start])
        known = self.laplacian[start:]
        np.copyto(known, bounds, where=np.isnan(known))

    def find_frequency(self, bodies: BodyTable, k: int) -> None:
        """Compute the largest omega**2 at rest, and that of unit stiffness, of body number k (see `frequencies`)."""
        row, mesh = self.rows[k], self.meshes[k]
        alone = self.count == 1 and self.resting is None and self.assembly.is_plain
        self.square_at_rest[k], self.laplacian[k] = largest_frequency(
            mesh, mesh.lame(bodies.lame[:, row]), mesh.densities(bodies.mass[row] / bodies.volume[row]), self.assembly if alone else None
        )

    def stiffest_element(self, bodies: BodyTable, row: int) -> int:
        """Return the element of a body whose own frequency at rest is highest."""
        k = self.number(row)
        assembly, _ = self.body_assembly(bodies, k)
        density = self.meshes[k].densities(bodies.mass[row] / bodies.volume[row])
        return highest_element(assembly, density)


def _joined(arrays: list[np.ndarray], empty: tuple) -> np.ndarray:
    return np.concatenate(arrays) if arrays else np.zeros(empty)


def compiled(bodies: BodyTable) -> FiniteElements:
    """Return arrays of all finite element bodies, recompiled if bodies or their materials changed since the last call.

    Raises
    ------
    SolfecError
        An element without volume at an integration point, a node without mass.
    """
    fe = bodies.finite_elements
    if fe is None or fe.outdated(bodies) or (fe.behind < bodies.n and not fe.append(bodies)):
        fe = bodies.finite_elements = FiniteElements(bodies)
    return fe


def within_step(bodies: BodyTable) -> FiniteElements:
    """Return the compiled elements within a step, in which nothing that they depend on changes."""
    fe = bodies.finite_elements
    return compiled(bodies) if fe is None or fe.behind < bodies.n else fe


def find(bodies: BodyTable, row: int, point, epsilon: float) -> tuple[int, np.ndarray, np.ndarray]:
    """Find the element of a body that holds a referential point; return what `held_by` does.

    Raises
    ------
    SolfecError
        A point further than `epsilon` from the hulls of the nodes of all elements.
    """
    found = held_by(bodies, row, point, epsilon)
    if found is not None:
        return found
    x, y, z = point = np.asarray(point, float)
    mesh = bodies.meshes[int(bodies.id[row])]
    corners, used = mesh.nodes[mesh.elements], used_slots(mesh.sizes)[..., None]
    low, high = np.where(used, corners, np.inf).min(1), np.where(used, corners, -np.inf).max(1)
    away = np.sqrt((np.maximum(np.maximum(low - point, point - high), 0.0) ** 2).sum(1))
    nearest = int(np.argmin(away))
    raise SolfecError(
        f"{bodies.name(int(bodies.id[row]))}: the point ({x:g}, {y:g}, {z:g}) is outside of its elements"
        f" (element {nearest} is nearest{f', {away[nearest]:.3g} away' if away[nearest] > 0.0 else ''})"
    )


def held_by(bodies: BodyTable, row: int, point, epsilon: float) -> tuple[int, np.ndarray, np.ndarray] | None:
    """Return the element of a body that holds a referential point; None if the point is farther than `epsilon` from the hulls of all elements' nodes.

    Returns
    -------
    element : int
        The nearest element, numbered within the body (of equally near ones the first).
    natural, weights : ndarray (3,), (8,)
        Natural coordinates of the element's place nearest to the point, and shape functions at the point. A point between
        a hollow warped face and the hull of the element's nodes is outside of the element, which nevertheless carries it.
    """
    mesh, point = bodies.meshes[int(bodies.id[row])], np.asarray(point, float)
    listed = mesh.sizes, mesh.elements.T, np.asfortranarray(mesh.nodes.T)
    near = np.zeros(len(mesh.sizes), np.int32)
    _points.elements_near(point, epsilon, *listed, near)
    near = np.flatnonzero(near)
    if not near.size:
        return None
    natural, weights, distance = _weighed(np.tile(point[:, None], near.size), near, np.zeros(near.size), listed)
    inside = np.flatnonzero(distance <= epsilon)
    if inside.size:
        equal = distance[inside].min() + EQUALLY_NEAR * mesh.extent
        best = inside[np.argmax(distance[inside] <= equal)]
        return int(near[best]), natural[:, best], weights[:, best]
    sizes = mesh.sizes[near]
    held = np.flatnonzero(in_hulls(mesh.nodes[mesh.elements[near][used_slots(sizes)]], sizes, point, epsilon))
    if not held.size:
        return None
    best = held[np.argmin(distance[held])]
    weights = np.zeros((MOST_NODES, 1), order="F")
    _points.extend_weights(
        np.asfortranarray(point[:, None]), np.asfortranarray(natural[:, best, None]), near[best : best + 1].astype(np.int32), np.zeros(1, np.int32),
        *listed, weights,
    )  # fmt: skip
    return int(near[best]), natural[:, best], weights[:, 0]


def referential_point(bodies: BodyTable, row: int, place, epsilon: float) -> np.ndarray:
    """Return the referential point (3,) that is at a place of the present configuration; SolfecError if no element is within `epsilon` of it."""
    fe, mesh, place = compiled(bodies), bodies.meshes[int(bodies.id[row])], np.asarray(place, float)
    start = int(bodies.conf_ptr[row])
    nodes = mesh.nodes + bodies.configurations.conf[:, start : start + len(mesh.nodes)].T
    corners, used = nodes[mesh.elements], used_slots(mesh.sizes)[..., None]
    low, high = np.where(used, corners, np.inf).min(1), np.where(used, corners, -np.inf).max(1)
    away = np.sqrt((np.maximum(np.maximum(low - place, place - high), 0.0) ** 2).sum(1))
    near = np.flatnonzero(away <= max(epsilon, away.min()))
    listed = fe.element_size, fe.element_node, np.asfortranarray(nodes.T)
    _, weights, distance = _weighed(np.tile(place[:, None], near.size), bodies.element_ptr[row] + near, np.zeros(near.size), listed)
    best = int(np.argmin(distance))
    if distance[best] > epsilon:
        x, y, z = place
        raise SolfecError(
            f"{bodies.name(int(bodies.id[row]))}: the place ({x:g}, {y:g}, {z:g}) is outside of its elements, {distance[best]:.3g} away from the nearest one"
        )
    of_element = mesh.elements[near[best], : mesh.sizes[near[best]]]
    return mesh.nodes[of_element].T @ weights[: len(of_element), best]


def weigh(fe: FiniteElements, bodies: BodyTable, rows, elements, points):
    """Return natural coordinates (3, n) and shape functions (8, n) of referential points (3, n), and their distances (n,)."""
    return _weighed(points, bodies.element_ptr[rows] + elements, bodies.node_ptr[rows], (fe.element_size, fe.element_node, fe.reference))


def _weighed(points, elements, first_nodes, listed: tuple) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return what `weigh` does, from elements' sizes (ne,) and nodes (8, ne), which count from `first_nodes` (n,), and places (3, nn) of nodes."""
    count = len(elements)
    natural, weights, distance = np.zeros((3, count), order="F"), np.zeros((MOST_NODES, count), order="F"), np.zeros(count)
    _points.weigh_points(np.asfortranarray(points), np.asarray(elements, np.int32), np.asarray(first_nodes, np.int32), *listed, natural, weights, distance)
    return natural, weights, distance


def deformation_gradients(bodies: BodyTable, rows, elements, natural) -> np.ndarray:
    """Return F (3, 3, n) at natural coordinates (3, n) of elements of the bodies `rows`, from the present displacements."""
    fe = compiled(bodies)
    gradient = np.zeros((3, 3, len(rows)), order="F")
    displacement = np.asfortranarray(bodies.configurations.conf[:, fe.conf_row])
    _points.deformation_gradients(
        np.asfortranarray(natural), (bodies.element_ptr[rows] + elements).astype(np.int32), bodies.node_ptr[rows],
        fe.element_size, fe.element_node, fe.reference, displacement, gradient,
    )  # fmt: skip
    return gradient


def nodes_of(bodies: BodyTable, row: int, element: int) -> np.ndarray:
    """Return node numbers (size,) of an element of a body."""
    mesh = bodies.meshes[int(bodies.id[row])]
    return mesh.elements[element, : mesh.sizes[element]]
