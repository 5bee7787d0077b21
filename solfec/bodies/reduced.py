"""Finite element bodies of the forms 'BC-MODAL' and 'BC-RO': nodal velocities R E u in a base E turning with the body.

Everything about nodes (drift, loads, contact, points, results) is the same as for other finite element bodies; here are the
reduced mass, stiffness and their inverses, and the calls of the kernels that go from nodes to the base and back.  All
bodies are in one call.  Arrays begin where `*_ptr` say; bodies with one base share its numbers.
"""

from __future__ import annotations

import numpy as np

from .. import _kernels
from ..errors import SolfecError
from .element_solver import stiffness_weight
from .reduced_base import BadBase, check_mass, rigid_fields
from .table import REDUCED_FORMS, BodyTable, Energy, Form

_motion = _kernels.reduced_motion
_add_compliance = _kernels.reduced_compliance.add_reduced_compliance

HELD = 1e-6  # the part of a rigid motion that may be missing where a base is taken to hold it


class ReducedBodies:
    """All of them, in the order of body rows; made by `FiniteElements`.

    Attributes
    ----------
    count : int
        Number of bodies; `number` (count,) are their numbers among finite element bodies, `rows` those in the body table.
    modes : ndarray (count,) int32
        Numbers of vectors.
    velo_rows : ndarray (m,)
        Rows of the triples that hold reduced velocities.
    size, dof_first, rotation
        Nodal unknowns, as `implicit.ElementSolver` has them.
    """

    def __init__(self, fe, bodies: BodyTable):
        self.fe = fe
        form = bodies.form[fe.rows]
        self.number = np.flatnonzero(np.isin(form, REDUCED_FORMS)).astype(np.int32)
        self.count = len(self.number)
        self.rows = fe.rows[self.number].astype(np.int32)
        self.inside = np.isin(np.arange(fe.count), self.number)  # among all finite element bodies
        self.key, self.checked = None, False
        if self.count:
            self._compile(bodies, form[self.number])

    def _compile(self, bodies: BodyTable, form: np.ndarray) -> None:
        """Everything that does not change while bodies stay."""
        fe = self.fe
        bases = [bodies.bases[int(bodies.id[row])] for row in self.rows]
        self.modal = (form == Form.BC_MODAL).astype(np.int32)
        self.modes = np.array([base.mode_count for base in bases], np.int32)
        self._share_vectors(bases)
        self.matrix_ptr = _starts(self.modes**2)
        self.coordinate_ptr = _starts(self.modes)
        self.coordinates, self.strain_energy = np.zeros(int(self.modes.sum())), np.zeros(self.count)
        self.inverse = np.zeros(int((self.modes**2).sum()))
        self.status, self.turned_by = np.zeros(self.count, np.int32), np.zeros(self.count)
        nodes = np.diff(fe.first)[self.number]
        self.size, self.dof_first = int(3 * nodes.sum()), _starts(3 * nodes)
        self._find_rows(bodies, nodes)
        self._reduce(bases)

    def _share_vectors(self, bases: list) -> None:
        """One copy of every base, the k numbers of a nodal component together."""
        place, parts, at = {}, [], 0
        self.vector_ptr = np.zeros(self.count, np.int32)
        for i, base in enumerate(bases):
            if id(base) not in place:
                place[id(base)] = at
                parts.append(np.ascontiguousarray(base.vectors.T).ravel())
                at += parts[-1].size
            self.vector_ptr[i] = place[id(base)]
        self.vectors = np.concatenate(parts)

    def _find_rows(self, bodies: BodyTable, nodes: np.ndarray) -> None:
        """Rows of triples behind those of nodes: reduced velocities, columns of frames."""
        triples = -(-self.modes // 3)
        starts = np.repeat(bodies.velo_ptr[self.rows] + nodes, triples)
        self.velo_rows = starts + np.arange(len(starts)) - np.repeat(_starts(triples), triples)
        self.velo_first = _starts(triples)
        self.node_rows = np.concatenate([self.fe.velo_row[self.fe.first[b] : self.fe.first[b + 1]] for b in self.number])
        self.frame_rows = (bodies.conf_ptr[self.rows] + nodes)[:, None] + np.arange(3)

    def _reduce(self, bases: list) -> None:
        """Reduced masses and stiffnesses, and how rigid motions are held; meshes keep those of their bodies."""
        fe = self.fe
        spans = [slice(fe.first[b], fe.first[b + 1]) for b in self.number]
        kept = fe.resting.parts[2], fe.resting.parts[4]  # Lame's constants, enhanced strains
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
        self.rigid = np.array([len(fields) for fields in parts[3]], np.int32)
        self.motion_ptr, self.field_ptr = _starts(self.modes * self.rigid), _starts(6 * self.rigid)
        # rows of C order are columns of the kernels; one number more so that bodies without rigid motions point somewhere
        flat = [np.concatenate([*(part.ravel() for part in arrays), np.zeros(1)]) for arrays in parts]
        self.mass, self.stiffness = flat[0][:-1], flat[1][:-1]
        self.motions, self.fields, self.duals = flat[2:]

    def _parts(self, base, span: slice, product: np.ndarray, modal: int) -> tuple[np.ndarray, ...]:
        """Reduced mass and stiffness, and `_held_motions` of one body."""
        lumps, k = np.repeat(self.fe.mass[span], 3), base.mode_count
        if modal:
            mass, stiffness = np.eye(k), np.diag(np.where(np.arange(k) < 6, 0.0, base.values))
        else:
            mass, stiffness = _symmetric((base.vectors * lumps) @ base.vectors.T), _symmetric(product @ base.vectors.T)
        return mass, stiffness, *_held_motions(base, lumps, self.fe.reference[:, span].T)

    def _stiffness_products(self, bases: list, spans: list, new: list[int]) -> list:
        """K e (k, 3n) of every vector of the `new` bodies of form 'BC-RO': one product with all elements per vector."""
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
        """Modes must still be orthonormal, now that materials of elements are known; SolfecError names the body."""
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

    @property
    def _lists(self) -> tuple:
        """First arguments of the kernels."""
        return self.number, self.modes, self.modal, self.vector_ptr

    @property
    def _nodes(self) -> tuple:
        return self.fe.first, self.fe.velo_row, self.fe.mass

    def begin(self, bodies: BodyTable) -> None:
        """No reduced forces yet."""
        if self.count:
            bodies.triples.force[:, self.velo_rows] = 0.0

    def refresh(self, bodies: BodyTable, step: float, dynamic: bool = True) -> None:
        """Inverses of E^T M E + beta E^T K E, unless nothing that they depend on has changed."""
        self.rotation = np.asfortranarray(self.fe.rotation[:, :, self.number])
        beta = stiffness_weight(bodies.damping[self.rows], step, dynamic)
        key = beta.tobytes()
        if key == self.key:
            return
        for k in np.unique(self.modes):
            which = np.flatnonzero(self.modes == k)
            place = self.matrix_ptr[which][:, None] + np.arange(k * k)
            matrix = (self.mass[place] + beta[which][:, None] * self.stiffness[place]).reshape(-1, k, k)
            try:
                inverse = np.linalg.inv(matrix)
            except np.linalg.LinAlgError as error:
                raise SolfecError(f"the matrix of a body in a base of {k} vectors is singular ({error})") from error
            self.inverse[place] = (0.5 * (inverse + inverse.transpose(0, 2, 1))).reshape(-1, k * k)
        self.key = key

    def kick(self, bodies: BodyTable, step: float, dynamic: bool = True) -> None:
        """u* and u_m* from nodal loads `fe.net` and reduced ones; quasi-static ones start from rest, without damping."""
        fe, triples = self.fe, bodies.triples
        if not dynamic:
            triples.velo[:, self.node_rows] = 0.0
            triples.velo[:, self.velo_rows] = 0.0
        _motion.free_velocities(
            step, *self._lists, self.matrix_ptr, self.vectors, self.stiffness, self.inverse, bodies.damping[self.rows] * dynamic,
            *self._nodes, fe.net, fe.displacement, fe.rotation, triples.velo, triples.velo_prev, triples.force,
        )  # fmt: skip

    def react(self, bodies: BodyTable, step: float) -> None:
        """The part of reactions in u and u_m."""
        fe, triples = self.fe, bodies.triples
        _motion.add_reactions(
            step, self.number, self.modes, self.vector_ptr, self.matrix_ptr, self.vectors, self.inverse,
            fe.first, fe.velo_row, fe.rotation, triples.velo, triples.reaction,
        )  # fmt: skip

    def end(self, bodies: BodyTable, step: float) -> int:
        """Velocities in the frames of t+h, before conf goes there; the row of a body that is turned inside out, or -1."""
        fe, triples = self.fe, bodies.triples
        frames = self.frames(bodies)
        _motion.end_velocities(
            step, *self._lists, self.vectors, self.rigid, self.motion_ptr, self.field_ptr,
            self.motions, self.fields, self.duals, frames,
            fe.first, fe.velo_row, fe.conf_row, fe.mass, fe.reference, fe.normal, fe.rotation, bodies.configurations.conf,
            triples.velo, triples.velo_prev, self.turned_by, self.status,
        )  # fmt: skip
        bodies.configurations.conf[:, self.frame_rows] = frames.transpose(0, 2, 1)
        rows = self.velo_rows
        force = triples.force[:, rows]
        if force.any():  # of callbacks; the work of nodal forces is counted at the nodes
            work = (force * (triples.velo_prev[:, rows] + triples.velo[:, rows])).sum(0)
            bodies.energy[Energy.EXTERNAL, self.rows] += 0.5 * step * np.add.reduceat(work, self.velo_first)
        return int(self.rows[np.argmax(self.status)]) if self.status.any() else -1

    def represent(self, bodies: BodyTable, part: np.ndarray | None = None) -> None:
        """Nodes go a part (count,) of the way to where the base can have them; by default as far as the last step turned them."""
        fe = self.fe
        if self.count:
            _motion.represent_shapes(
                *self._lists, self.vectors, self.turned_by if part is None else part, self.frames(bodies),
                fe.first, fe.mass, fe.reference, fe.conf_row, bodies.configurations.conf,
            )  # fmt: skip

    def follow(self, bodies: BodyTable) -> None:
        """Frames are those of the present configuration (quasi-statics)."""
        if self.count:
            bodies.configurations.conf[:, self.frame_rows] = self.fe.rotation[:, :, self.number].transpose(0, 2, 1)

    def frames(self, bodies: BodyTable) -> np.ndarray:
        """Rotations (3, 3, count) in whose frames reduced velocities stand between steps."""
        return np.asfortranarray(bodies.configurations.conf[:, self.frame_rows].transpose(0, 2, 1))

    def store_energy(self, bodies: BodyTable) -> None:
        """INTERNAL energy q.K_r q/2 of the present configuration."""
        if self.count:
            self.find_coordinates(bodies, self.frames(bodies))
            bodies.energy[Energy.INTERNAL, self.rows] = self.strain_energy

    def find_coordinates(self, bodies: BodyTable, frames: np.ndarray) -> None:
        """Reduced coordinates of the present configuration seen from frames (3, 3, count)."""
        fe = self.fe
        _motion.reduced_coordinates(
            *self._lists, self.matrix_ptr, self.vectors, self.stiffness, frames, fe.first, fe.mass, fe.reference, fe.conf_row,
            bodies.configurations.conf, self.coordinate_ptr, self.coordinates, self.strain_energy,
        )  # fmt: skip

    def add_compliance(self, bodies, step, dense_ptr, count, rest, dense, diagonal) -> None:
        """What these bodies add to W (`local_dynamics`): `count` rows are attached to each body."""
        room = 6 * self.modes * count[self.rows]
        work = np.empty(max(1, int(room.sum())))
        _add_compliance(
            step, self.rows, self.rotation, self.modes, self.vector_ptr, self.matrix_ptr, self.vectors, self.inverse,
            bodies.velo_ptr, dense_ptr, *rest, _starts(room), work, dense, diagonal,
        )  # fmt: skip

    # --- one body, between steps ---------------------------------------------------------------------------

    def place(self, row: int) -> int:
        """Number of the body of a row among these."""
        return int(np.searchsorted(self.rows, row))

    def coordinates_of(self, bodies: BodyTable, row: int, within_step: bool = False) -> np.ndarray:
        """Reduced coordinates and the columns of the rotation, k + 9 numbers, as BODY.conf gives them."""
        frames = np.asfortranarray(self.fe.rotation[:, :, self.number]) if within_step else self.frames(bodies)
        self.find_coordinates(bodies, frames)
        i = self.place(row)
        first = self.coordinate_ptr[i]
        return np.concatenate([self.coordinates[first : first + self.modes[i]], frames[:, :, i].T.ravel()])

    def set_coordinates(self, bodies: BodyTable, row: int, values: np.ndarray) -> None:
        """Displacements R (X + E q) - X of the nodes from q and the columns of R."""
        i = self.place(row)
        k, nodes = int(self.modes[i]), int(bodies.node_count[row])
        rotation = values[k:].reshape(3, 3).T
        reference = bodies.meshes[int(bodies.id[row])].nodes
        shape = reference + (values[:k] @ bodies.bases[int(bodies.id[row])].vectors).reshape(-1, 3)
        conf = bodies.configurations.conf[:, bodies.conf_slice(row)]
        conf[:, :nodes] = (shape @ rotation.T - reference).T
        conf[:, nodes:] = rotation

    def velocities_of(self, bodies: BodyTable, row: int) -> np.ndarray:
        """Reduced velocities (k,)."""
        i = self.place(row)
        first = self.velo_first[i]
        rows = self.velo_rows[first : first - (-int(self.modes[i]) // 3)]
        return bodies.triples.velo[:, rows].T.ravel()[: self.modes[i]]

    def set_velocities(self, bodies: BodyTable, row: int, values: np.ndarray) -> None:
        """Reduced velocities, and those of the nodes that follow from them."""
        velo = bodies.triples.velo[:, bodies.velo_slice(row)]
        reduced = velo[:, int(bodies.node_count[row]) :].T
        reduced[:] = np.concatenate([values, np.zeros(reduced.size - len(values))]).reshape(-1, 3)
        self._follow(bodies, self.place(row))

    def project_velocities(self, bodies: BodyTable, row: int) -> None:
        """Reduced velocities from those of the nodes, and back: what the base cannot represent is lost."""
        i = self.place(row)
        one = slice(i, i + 1)
        _motion.reduced_velocities(
            *(array[one] for array in self._lists), self.vectors, *self._nodes, self._present(bodies), bodies.triples.velo
        )
        self._follow(bodies, i)

    def _follow(self, bodies: BodyTable, i: int) -> None:
        one = slice(i, i + 1)
        _motion.nodal_velocities(
            self.number[one], self.modes[one], self.vector_ptr[one], self.vectors, self.fe.first, self.fe.velo_row,
            self._present(bodies), bodies.triples.velo,
        )  # fmt: skip

    def _present(self, bodies: BodyTable) -> np.ndarray:
        """The frames, numbered as all finite element bodies."""
        rotation = self.fe.rotation.copy(order="F")
        rotation[:, :, self.number] = self.frames(bodies)
        return rotation


def _held_motions(base, mass: np.ndarray, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rigid motions that a base holds, orthonormal in the norm of M, for the kernel `end_velocities`.

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
    # rigid motions to which the closest motion in the base is the motion itself: eigenvalues 1 of a pencil
    factor = np.linalg.inv(np.linalg.cholesky(metric))
    part, turn = np.linalg.eigh(factor @ mixed @ np.linalg.solve(gram, mixed.T) @ factor.T)
    held = (turn[:, part > 1.0 - HELD].T @ factor)[::-1]
    return np.linalg.solve(gram, (held @ mixed).T).T, held, held @ metric


def _starts(counts: np.ndarray) -> np.ndarray:
    return (np.cumsum(counts) - counts).astype(np.int32)


def _symmetric(matrix: np.ndarray) -> np.ndarray:
    return 0.5 * (matrix + matrix.T)
