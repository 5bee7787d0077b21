"""Finite element bodies of the forms 'BC-MODAL' and 'BC-RO': nodal velocities R E u in a base E turning with the body.

Nodes are treated as in other finite element bodies (drift, loads, contact, points, results).  This module has the
reduced mass, stiffness and their inverses, and calls the kernels that project from nodes to the base and back, for all
bodies at once.  `*_ptr` hold the starts of arrays; bodies with one base share its numbers.
"""

from __future__ import annotations

import numpy as np

from .. import _kernels
from ..errors import SolfecError
from ..tables import Record, opened, unique
from .reduced_base import BadBase, check_mass, rigid_fields
from .table import REDUCED_FORMS, BodyTable, Form

_motion = _kernels.reduced_motion

HELD = 1e-6  # part of a rigid motion that may be missing in a base that counts as holding it


class ReducedBodies(Record):
    """All finite element bodies in a base, in the order of body rows; made by `FiniteElements`.

    Attributes
    ----------
    velo_rows : ndarray (m,)
        Rows of the triples that hold reduced velocities.
    size, dof_first, rotation
        Nodal unknowns, see `element_solver.ElementSolver`.
    """

    COLUMNS = {
        "rows": ((), "i4"),  # of bodies: rows of the body table
        "number": ((), "i4"),  # number among all finite element bodies
        "modes": ((), "i4"),  # k, vectors of the base
        "modal": ((), "i4"),  # 1: form 'BC-MODAL', projections use the masses; 0: 'BC-RO', without masses
        "vector_ptr": ((), "i4"),  # start of the base in `vectors`: (k, 3 n) numbers, grouped by nodal component
        "matrix_ptr": ((), "i4"),  # start of k x k numbers in stiffness and inverse
        "coordinate_ptr": ((), "i4"),  # start of k numbers in coordinates
        "frame_ptr": ((), "i4"),  # the first of three configuration triples that hold the rotation between steps
        "rigid": ((), "i4"),  # r, rigid motions that the base holds (6: all)
        "motion_ptr": ((), "i4"),  # start of (k, r) numbers in motions
        "field_ptr": ((), "i4"),  # start of (6, r) numbers in fields and duals
        "node_ptr": ((), "i4"),  # start of n nodes in turning
        "turning": ((3,), "f8"),  # what the end of a step without reactions adds to velocities of nodes, since the frame turns [length/time]
        "turned_by": ((), "f8"),  # square of the angle between the frames of t and t+h of the last step, at most 1 [radian**2]
        "beta": ((), "f8"),  # weight of the stiffness in A = E^T M E + beta E^T K E [time**2]
        "rotation": ((3, 3), "f8"),  # frames of mid-step
        "vectors": ((), "f8"),  # E of all bases
        "stiffness": ((), "f8"),  # E^T K E
        "inverse": ((), "f8"),  # A^-1
        "motions": ((), "f8"),  # C with E C = r rigid motions, orthonormal in the norm of M
        "fields": ((), "f8"),  # these motions as translations and rotations about the mass centre
        "duals": ((), "f8"),  # their momenta
        "coordinates": ((), "f8"),  # q, set by `find_coordinates`
    }
    NUMBERS = {"count": "i4"}

    def __init__(self, fe, bodies: BodyTable):
        super().__init__()
        self.fe = fe
        form = bodies.form[fe.rows]
        self.inside = np.isin(form, REDUCED_FORMS)  # among all finite element bodies
        self.number = np.flatnonzero(self.inside).astype(np.int32)
        self.count = len(self.number)
        self.rows = fe.rows[self.number].astype(np.int32)
        self.checked = False
        if self.count:
            self._compile(bodies, form[self.number])

    def _compile(self, bodies: BodyTable, form: np.ndarray) -> None:
        """Compile everything that does not change while bodies stay."""
        fe = self.fe
        bases = [bodies.bases[int(bodies.id[row])] for row in self.rows]
        modes = np.array([base.mode_count for base in bases], np.int32)
        self.replace(
            modal=(form == Form.BC_MODAL).astype(np.int32),
            modes=modes,
            matrix_ptr=_starts(modes**2),
            coordinate_ptr=_starts(modes),
            coordinates=np.zeros(int(modes.sum())),
            inverse=np.zeros(int((modes**2).sum())),
            turned_by=np.zeros(self.count),
            beta=np.full(self.count, -1.0),
            rotation=np.zeros((3, 3, self.count), order="F"),
        )
        self._share_vectors(bases)
        nodes = np.diff(fe.first)[self.number]
        self.size, self.dof_first = int(3 * nodes.sum()), _starts(3 * nodes)
        self.replace(node_ptr=_starts(nodes), turning=np.zeros((3, int(nodes.sum())), order="F"))
        self._find_rows(bodies, nodes)
        self._reduce(bases)

    def _share_vectors(self, bases: list) -> None:
        """Store one copy of every base, with the k numbers of a nodal component together."""
        place, parts, at = {}, [], 0
        starts = np.zeros(self.count, np.int32)
        for i, base in enumerate(bases):
            if id(base) not in place:
                place[id(base)] = at
                parts.append(np.ascontiguousarray(base.vectors.T).ravel())
                at += parts[-1].size
            starts[i] = place[id(base)]
        self.replace(vector_ptr=starts, vectors=np.concatenate(parts))

    def _find_rows(self, bodies: BodyTable, nodes: np.ndarray) -> None:
        """Find rows of triples after those of nodes: reduced velocities, columns of frames."""
        triples = -(-self.modes // 3)
        starts = np.repeat(bodies.velo_ptr[self.rows] + nodes, triples)
        self.velo_rows = starts + np.arange(len(starts)) - np.repeat(_starts(triples), triples)
        self.velo_first = _starts(triples)
        self.frame_ptr = (bodies.conf_ptr[self.rows] + nodes).astype(np.int32)
        self.frame_rows = self.frame_ptr[:, None] + np.arange(3)

    def _reduce(self, bases: list) -> None:
        """Compute reduced masses and stiffnesses and the rigid motions within bases; meshes keep those of their bodies."""
        fe = self.fe
        spans = [slice(fe.first[b], fe.first[b + 1]) for b in self.number]
        kept = fe.resting.elements.lame, fe.resting.elements.enhanced
        keys = [
            (int(modal), fe.mass[span].tobytes(), *(part[fe.first_element[b] : fe.first_element[b + 1]].tobytes() for part in kept))
            for b, span, modal in zip(self.number, spans, self.modal)
        ]
        meshes = [fe.meshes[b] for b in self.number]
        known = [getattr(mesh, "_reduced", (None, None, None)) for mesh in meshes]
        new = [i for i, (base, key, _) in enumerate(known) if base is not bases[i] or key != keys[i]]
        for i, product in zip(new, self._stiffness_products(bases, spans, new)):
            known[i] = meshes[i]._reduced = bases[i], keys[i], self._parts(bases[i], spans[i], product, self.modal[i])
        parts = list(zip(*(found for _, _, found in known)))
        rigid = np.array([len(fields) for fields in parts[3]], np.int32)
        # rows of C order are columns of the kernels; one extra number, so that pointers of bodies without rigid motions are valid
        flat = [np.concatenate([*(part.ravel() for part in arrays), np.zeros(1)]) for arrays in parts]
        self.mass = flat[0][:-1]  # E^T M E
        self.replace(
            rigid=rigid, motion_ptr=_starts(self.modes * rigid), field_ptr=_starts(6 * rigid), stiffness=flat[1][:-1], motions=flat[2],
            fields=flat[3], duals=flat[4],
        )  # fmt: skip

    def _parts(self, base, span: slice, product: np.ndarray, modal: int) -> tuple[np.ndarray, ...]:
        """Return reduced mass and stiffness, and `_held_motions` of one body."""
        lumps, k = np.repeat(self.fe.mass[span], 3), base.mode_count
        if modal:
            mass, stiffness = np.eye(k), np.diag(np.where(np.arange(k) < 6, 0.0, base.values))
        else:
            mass, stiffness = _symmetric((base.vectors * lumps) @ base.vectors.T), _symmetric(product @ base.vectors.T)
        return mass, stiffness, *_held_motions(base, lumps, self.fe.reference[:, span].T)

    def _stiffness_products(self, bases: list, spans: list, new: list[int]) -> list:
        """Return K e (k, 3n) of every vector of the `new` bodies of form 'BC-RO', by one product with all elements per vector."""
        rows = [0 if self.modal[i] else int(self.modes[i]) for i in new]
        products = [np.zeros((count, bases[i].vectors.shape[1])) for i, count in zip(new, rows)]
        shape = self.fe.reference.shape
        zero, result = np.zeros(shape, order="F"), np.zeros(shape, order="F")
        for mode in range(max(rows, default=0)):
            direction = np.zeros(shape, order="F")
            moved = [(i, product) for i, count, product in zip(new, rows, products) if mode < count]
            for i, _ in moved:
                direction[:, spans[i]] = bases[i].vectors[mode].reshape(-1, 3).T
            self.fe.resting.tangent_product(zero, direction, result)
            for i, product in moved:
                product[mode] = result[:, spans[i]].T.ravel()
        return products

    def check(self, bodies: BodyTable) -> None:
        """Raise SolfecError, naming the body, unless modes are orthonormal with the final materials of elements."""
        if self.checked:
            return
        for i in np.flatnonzero(self.modal) if self.count else ():
            span, identifier = slice(*self.fe.first[self.number[i] : self.number[i] + 2]), int(bodies.id[self.rows[i]])
            try:
                check_mass(bodies.bases[identifier], np.repeat(self.fe.mass[span], 3))
            except BadBase as error:
                raise SolfecError(f"body {identifier}: its base does not suit it: {error}") from None
        self.checked = True

    # --- the time step -------------------------------------------------------------------------------------

    def begin(self, bodies: BodyTable) -> None:
        """Clear reduced forces."""
        if self.count:
            opened(_motion.clear_forces(bodies.handles, self.fe.handle, self.handle))

    def refresh(self, bodies: BodyTable, step: float, dynamic: bool = True) -> None:
        """Update frames, and inverses of E^T M E + beta E^T K E if beta has changed."""
        changed, status = _motion.frames_and_weights(bodies.handles, self.fe.handle, self.handle, step, dynamic)
        opened(status)
        if changed:
            self.invert()

    def invert(self) -> None:
        """Compute A^-1 of every body for its beta."""
        for k in unique(self.modes):
            which = np.flatnonzero(self.modes == k)
            place = self.matrix_ptr[which][:, None] + np.arange(k * k)
            matrix = (self.mass[place] + self.beta[which][:, None] * self.stiffness[place]).reshape(-1, k, k)
            try:
                inverse = np.linalg.inv(matrix)
            except np.linalg.LinAlgError as error:
                raise SolfecError(f"the matrix of a body in a base of {k} vectors is singular ({error})") from error
            self.inverse[place] = (0.5 * (inverse + inverse.transpose(0, 2, 1))).reshape(-1, k * k)

    def kick(self, bodies: BodyTable, step: float, dynamic: bool = True) -> None:
        """Compute u* and u_m* from nodal loads `fe.net` and reduced ones; quasi-static ones start from rest, without damping."""
        opened(_motion.free_velocities(bodies.handles, self.fe.handle, self.handle, step, dynamic))

    def react(self, bodies: BodyTable, step: float) -> None:
        """Add reactions to u and u_m."""
        opened(_motion.add_reactions(bodies.handles, self.fe.handle, self.handle, step))

    def end(self, bodies: BodyTable, step: float) -> int:
        """Transform velocities to the frames of t+h, before conf moves there; return the row of a body that is turned inside out, or -1."""
        failed, status = _motion.end_velocities(bodies.handles, self.fe.handle, self.handle, step)
        opened(status)
        return failed

    def represent(self, bodies: BodyTable, whole: bool = False) -> None:
        """Move nodes towards shapes that the base can represent.

        They move as far as the last step rotated the body; with `whole` (quasi-statics) completely, in frames that follow the
        present configuration.
        """
        if self.count:
            opened(_motion.represent_shapes(bodies.handles, self.fe.handle, self.handle, whole))

    def frames(self, bodies: BodyTable) -> np.ndarray:
        """Return rotations (3, 3, count) to the frames of reduced velocities between steps."""
        return np.asfortranarray(bodies.configurations.conf[:, self.frame_rows].transpose(0, 2, 1))

    def store_energy(self, bodies: BodyTable) -> None:
        """Store INTERNAL energy q.K_r q/2 of the present configuration."""
        if self.count:
            opened(_motion.strain_energies(bodies.handles, self.fe.handle, self.handle))

    def find_coordinates(self, bodies: BodyTable, frames: np.ndarray) -> None:
        """Compute reduced coordinates of the present configuration in frames (3, 3, count)."""
        opened(_motion.reduced_coordinates(bodies.handles, self.fe.handle, self.handle, frames))

    # --- one body, between steps ---------------------------------------------------------------------------

    def place(self, row: int) -> int:
        """Return the number of a row's body among reduced bodies."""
        return int(np.searchsorted(self.rows, row))

    def coordinates_of(self, bodies: BodyTable, row: int, within_step: bool = False) -> np.ndarray:
        """Return reduced coordinates and the columns of the rotation, k + 9 numbers, as in BODY.conf."""
        frames = np.asfortranarray(self.fe.rotation[:, :, self.number]) if within_step else self.frames(bodies)
        self.find_coordinates(bodies, frames)
        i = self.place(row)
        first = self.coordinate_ptr[i]
        return np.concatenate([self.coordinates[first : first + self.modes[i]], frames[:, :, i].T.ravel()])

    def set_coordinates(self, bodies: BodyTable, row: int, values: np.ndarray) -> None:
        """Set displacements R (X + E q) - X of the nodes from q and the columns of R."""
        i = self.place(row)
        k, nodes = int(self.modes[i]), int(bodies.node_count[row])
        rotation = values[k:].reshape(3, 3).T
        reference = bodies.meshes[int(bodies.id[row])].nodes
        shape = reference + (values[:k] @ bodies.bases[int(bodies.id[row])].vectors).reshape(-1, 3)
        conf = bodies.configurations.conf[:, bodies.conf_slice(row)]
        conf[:, :nodes] = (shape @ rotation.T - reference).T
        conf[:, nodes:] = rotation

    def velocities_of(self, bodies: BodyTable, row: int) -> np.ndarray:
        """Return reduced velocities (k,)."""
        i = self.place(row)
        first = self.velo_first[i]
        rows = self.velo_rows[first : first - (-int(self.modes[i]) // 3)]
        return bodies.triples.velo[:, rows].T.ravel()[: self.modes[i]]

    def set_velocities(self, bodies: BodyTable, row: int, values: np.ndarray) -> None:
        """Set reduced velocities, and the nodal velocities that follow from them."""
        velo = bodies.triples.velo[:, bodies.velo_slice(row)]
        reduced = velo[:, int(bodies.node_count[row]) :].T
        reduced[:] = np.concatenate([values, np.zeros(reduced.size - len(values))]).reshape(-1, 3)
        opened(_motion.reduced_velocities(bodies.handles, self.fe.handle, self.handle, self.place(row), 1))

    def project_velocities(self, bodies: BodyTable, row: int) -> None:
        """Project nodal velocities on the base; parts that it cannot represent are lost."""
        i = self.place(row)
        opened(_motion.reduced_velocities(bodies.handles, self.fe.handle, self.handle, i, 0))
        opened(_motion.reduced_velocities(bodies.handles, self.fe.handle, self.handle, i, 1))


def _held_motions(base, mass: np.ndarray, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rigid motions within a base, orthonormal in the norm of M, for the kernel `end_velocities`.

    Returns
    -------
    motions : ndarray (r, k)
        Their coefficients in the base.
    fields, duals : ndarray (r, 6)
        Their coefficients in translations and rotations about the mass centre, and their momenta.
    """
    centre = (mass[::3, None] * nodes).sum(0) / mass[::3].sum()
    fields = rigid_fields(nodes, centre)
    metric = (fields * mass) @ fields.T  # blocks of mass and inertia
    metric[:3, 3:] = metric[3:, :3] = 0.0
    gram = (base.vectors * mass) @ base.vectors.T
    mixed = (fields * mass) @ base.vectors.T
    # rigid motions that equal their projection on the base: eigenvalues 1 of a pencil
    factor = np.linalg.inv(np.linalg.cholesky(metric))
    part, turn = np.linalg.eigh(factor @ mixed @ np.linalg.solve(gram, mixed.T) @ factor.T)
    held = (turn[:, part > 1.0 - HELD].T @ factor)[::-1]
    return np.linalg.solve(gram, (held @ mixed).T).T, held, held @ metric


def _starts(counts: np.ndarray) -> np.ndarray:
    return (np.cumsum(counts) - counts).astype(np.int32)


def _symmetric(matrix: np.ndarray) -> np.ndarray:
    return 0.5 * (matrix + matrix.T)
