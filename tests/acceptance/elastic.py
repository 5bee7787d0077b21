"""Meshes of hexahedra and linear equilibrium of one finite element body, for comparison with closed-form solutions."""

import numpy as np
from scipy.sparse import coo_matrix
from scipy.sparse.linalg import splu

from solfec.bodies import motion
from solfec.bodies.finite_elements import FiniteElementMesh, boundary_normals, compiled
from solfec.bodies.table import BodyKind, BodyTable, Form, Scheme
from solfec.shapes.characteristics import characteristics
from solfec.shapes.mesh import Mesh


def lame_of(young, poisson):
    return young * poisson / ((1 + poisson) * (1 - 2 * poisson)), young / (2 * (1 + poisson))


def grid(counts, place):
    """A Mesh of counts hexahedra; `place` maps parameters (n, 3) in the unit cube to nodes (n, 3), right-handed."""
    return merged([(counts, place)])


def merged(patches):
    """The Mesh of several grids whose common nodes are one."""
    points, cells, start = [], [], 0
    for counts, place in patches:
        axes = [np.linspace(0, 1, n + 1) for n in counts]
        i, j, k = np.meshgrid(*axes, indexing="ij")
        points.append(place(np.stack([i.ravel(), j.ravel(), k.ravel()], 1)))
        number = start + np.arange(i.size).reshape(i.shape)
        a, b = slice(None, -1), slice(1, None)
        corners = [(a, a, a), (b, a, a), (b, b, a), (a, b, a), (a, a, b), (b, a, b), (b, b, b), (a, b, b)]
        cells.append(np.stack([number[c].ravel() for c in corners], 1))
        start += i.size
    points = np.concatenate(points)
    size = np.ptp(points, axis=0).max()
    _, first, same = np.unique(np.round(points / size, 9), axis=0, return_index=True, return_inverse=True)
    cells = same.ravel()[np.concatenate(cells)]
    records = np.concatenate([np.full((len(cells), 1), 8), cells, np.zeros((len(cells), 1), int)], axis=1)
    return Mesh.from_records(points[first].ravel(), records.ravel().tolist())


def octant(inner, outer, side, across):
    """An octant of a hollow sphere in three patches of side x side."""

    def patch(axis):
        def place(p):
            t = np.tan(0.25 * np.pi * p[:, :2])
            direction = np.stack([np.ones(len(p)), t[:, 0], t[:, 1]], 1)
            # patches meet where two coordinates are equal: their common corner is the diagonal
            direction = np.roll(direction, axis, axis=1)
            direction /= np.linalg.norm(direction, axis=1)[:, None]
            return direction * (inner + (outer - inner) * p[:, 2:])

        return place

    return merged([((side, side, across), patch(axis)) for axis in range(3)])


class Body:
    """One finite element body at rest.

    Parameters
    ----------
    mesh : Mesh
    enhanced : bool
        With enhanced strains (BODY.enhanced).
    """

    def __init__(self, mesh, young, poisson, density=1.0, enhanced=False, form=Form.BC):
        volume, centre, euler = characteristics([mesh])
        self.bodies = BodyTable()
        self.bodies.add(
            BodyKind.FINITE_ELEMENT, mesh=FiniteElementMesh.of(mesh), id=1, form=int(form), scheme=Scheme.DEF_LIM,
            mass=density * volume, volume=volume, centre=centre, tensor=density * np.asarray(euler),
            lame=lame_of(young, poisson), enhanced=int(enhanced),
        )  # fmt: skip
        motion.initialise_inertia(self.bodies)
        self.nodes = self.bodies.meshes[1].nodes
        topology = mesh.topology
        self.faces = topology.face_nodes[topology.boundary]
        self.volume = volume

    @property
    def mass(self):
        return compiled(self.bodies).mass

    def stiffness(self):
        """K (3n, 3n) at rest."""
        assembly = compiled(self.bodies).assembly
        (group,) = assembly.groups
        (dense,) = assembly.element_stiffness(np.zeros((3, len(self.nodes)), order="F"))
        dofs = (3 * group.from_lanes(group.node)[:, :, None] + np.arange(3)).reshape(-1, 24)
        rows, columns = np.repeat(dofs, 24, axis=1).ravel(), np.tile(dofs, 24).ravel()
        return coo_matrix((group.from_lanes(dense).ravel(), (rows, columns))).tocsc()

    def pressure(self, value, on):
        """Nodal forces (n, 3) of a pressure on the faces all of whose nodes are marked in `on` (n,)."""
        marked = self.faces[on[self.faces].all(1)]
        return -value * boundary_normals(self.nodes, marked)

    def equilibrium(self, load, fixed):
        """Displacements (n, 3) under nodal forces (n, 3), where those marked in `fixed` (n, 3) are zero."""
        free = ~fixed.ravel()
        solution = np.zeros(free.size)
        stiffness = self.stiffness()
        factor = splu(stiffness[free][:, free].tocsc(), "MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
        solution[free] = factor.solve(load.ravel()[free])
        self.bodies.configurations.conf[:, self.bodies.conf_slice(0)] = solution.reshape(-1, 3).T
        return solution.reshape(-1, 3)


def order(errors):
    """Return the rates at which errors fall when the element size is halved."""
    errors = np.abs(errors)
    return np.log2(errors[:-1] / errors[1:])
