"""Linearly implicit bodies (scheme DEF_LIM): solutions with A = M + (eta h/2 + h**2/4) K (theory, "Time integration").

All bodies of one form share one block-diagonal matrix, so a factorisation and a solution are one call whatever their
number.  K is the tangent at mid-step for form 'TL' and pseudo-rigid bodies, refactorised in every step, and the stiffness
at rest in the body's frame for form 'BC', whose factor is kept while step, damping and bodies stay.
"""

from __future__ import annotations

import numpy as np

from ..errors import SolfecError
from .table import BodyKind, BodyTable, Scheme

LANES = 8
DENSE_UNKNOWNS = 250  # bodies of form 'BC' that have fewer keep their inverses: a product is faster than a solution


def stiffness_weight(damping: np.ndarray, step: float, dynamic: bool) -> np.ndarray:
    """beta (n,) of A = M + beta K: eta h/2 + h**2/4, or h**2 in quasi-statics, which know no damping."""
    if not dynamic:
        return np.full(len(damping), step**2)
    return 0.5 * damping * step + 0.25 * step**2


class ElementSolver:
    """A of the implicit finite element bodies of one form.

    Attributes
    ----------
    rows : ndarray (k,) int32
        The bodies' rows; `dof_first` (k,) is where their unknowns begin.
    rotation : ndarray (3, 3, k)
        From the frame of the unknowns to space, as of the last `refresh`.
    """

    def __init__(self, fe, which: np.ndarray):
        self.fe, self.which = fe, which
        self.rows = fe.rows[which].astype(np.int32)
        sizes = np.diff(fe.first)[which]
        self.nodes = np.concatenate([np.arange(fe.first[k], fe.first[k + 1]) for k in which])
        self.dof_first = (3 * (np.cumsum(sizes) - sizes)).astype(np.int32)
        self.size = 3 * len(self.nodes)
        self.owner = np.repeat(np.arange(len(which)), sizes)
        self.linear = bool(fe.linear[which[0]])
        self.key = self.inverse = None
        self._lay_out()

    def _lay_out(self) -> None:
        """The pattern of K: for every entry of an element's matrix its place among the stored numbers."""
        fe = self.fe
        local = np.full(len(fe.mass), -1)
        local[self.nodes] = np.arange(len(self.nodes))
        keys, self.taken, factors = [], [], []
        for g in fe.assembly.groups:
            nodes = local[g.from_lanes(g.node)]
            chosen = np.flatnonzero(nodes[:, 0] >= 0)
            dofs = (3 * nodes[chosen][:, :, None] + np.arange(3)).reshape(len(chosen), 3 * g.size)
            width = 3 * g.size
            r, c = np.arange(width)[:, None], np.arange(width)
            start = chosen % LANES + LANES * width * width * (chosen // LANES)
            self.taken.append((start[:, None, None] + LANES * (r + width * c)).ravel())
            keys.append((dofs[:, None, :] * self.size + dofs[:, :, None]).ravel())  # column by column
            factors.append(np.repeat(self.owner[nodes[chosen, 0]], width * width))
        diagonal = np.arange(self.size) * (self.size + 1)
        unique, place = np.unique(np.concatenate([*keys, diagonal]), return_inverse=True)
        self.place, self.diagonal = place[: -self.size], place[-self.size :]
        self.factors = np.concatenate(factors)
        self.indices = (unique % self.size).astype(np.int32)
        self.indptr = np.searchsorted(unique, np.arange(self.size + 1) * self.size).astype(np.int32)

    def refresh(self, bodies: BodyTable, step: float, dynamic: bool = True) -> None:
        """Assemble and factorise A for the present displacements, unless nothing that it depends on has changed."""
        from scipy.sparse import csc_matrix  # slow to import
        from scipy.sparse.linalg import splu

        fe = self.fe
        self.rotation = np.asfortranarray(fe.rotation[:, :, self.which])
        beta = stiffness_weight(bodies.damping[self.rows], step, dynamic)
        key = (step, beta.tobytes())
        if self.linear and key == self.key:
            return
        dense = fe.assembly.element_stiffness(fe.displacement)
        values = np.concatenate([matrix.ravel(order="F")[taken] for matrix, taken in zip(dense, self.taken)])
        data = np.bincount(self.place, values * beta[self.factors], len(self.indices))
        data[self.diagonal] += np.repeat(fe.mass[self.nodes], 3)
        matrix = csc_matrix((data, self.indices, self.indptr), (self.size, self.size))
        try:
            self.factor = splu(matrix, "MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})
        except RuntimeError as error:
            raise SolfecError(f"scheme DEF_LIM: the matrix of finite element bodies is singular ({error})") from error
        self.key = key
        self.inverse = self._inverses() if self.linear else None

    def _inverses(self) -> np.ndarray | None:
        """Inverses (k, n, n) of small bodies of one size n, for factors that are kept."""
        count, size = len(self.which), self.size // len(self.which)
        if size > DENSE_UNKNOWNS or (np.diff([*self.dof_first, self.size]) != size).any():
            return None
        inverse = self.factor.solve(np.tile(np.eye(size), (count, 1))).reshape(count, size, size)
        return 0.5 * (inverse + inverse.transpose(0, 2, 1))

    def solve(self, right: np.ndarray) -> np.ndarray:
        """A^-1 times columns (size, n) in the bodies' frames."""
        if self.inverse is None:
            return self.factor.solve(right)
        return (self.inverse @ right.reshape(len(self.which), self.inverse.shape[1], -1)).reshape(right.shape)

    def accelerations(self, vectors: np.ndarray) -> np.ndarray:
        """A^-1 f (3, n) for spatial forces (3, n) on the nodes `nodes`."""
        rotation = self.rotation[:, :, self.owner]
        local = np.einsum("ijn,in->jn", rotation, vectors) if self.linear else vectors
        solved = self.solve(local.ravel(order="F")).reshape(3, -1, order="F")
        return np.einsum("ijn,jn->in", rotation, solved) if self.linear else solved


class PseudoRigidSolver:
    """A of the implicit pseudo-rigid bodies, 12 unknowns each, as dense inverses."""

    def __init__(self, bodies: BodyTable, rows: np.ndarray):
        self.rows = rows.astype(np.int32)
        self.size = 12 * len(rows)
        self.dof_first = (12 * np.arange(len(rows))).astype(np.int32)
        self.rotation = np.asfortranarray(np.tile(np.eye(3)[:, :, None], len(rows)))
        self.conf = bodies.conf_ptr[rows][:, None] + np.arange(3)
        self.velo = bodies.velo_ptr[rows][:, None] + np.arange(4)

    def refresh(self, bodies: BodyTable, step: float, dynamic: bool = True) -> None:
        """Inverses (k, 12, 12) and first Piola-Kirchhoff stresses (k, 3, 3) for the present gradients."""
        rows = self.rows
        f = bodies.configurations.conf[:, self.conf].transpose(1, 2, 0)  # (k, 3, 3), rows of F
        lame, mu = bodies.lame[:, rows]
        eye = np.eye(3)
        strain = 0.5 * (np.einsum("bki,bkj->bij", f, f) - eye)
        second = (lame * np.trace(strain, axis1=1, axis2=2))[:, None, None] * eye + 2 * mu[:, None, None] * strain
        self.stress = f @ second
        left = np.einsum("bim,bkm->bik", f, f)
        tangent = (
            np.einsum("ik,bjl->bijkl", eye, second)
            + np.einsum("b,bij,bkl->bijkl", lame, f, f)
            + np.einsum("b,bik,jl->bijkl", mu, left, eye)
            + np.einsum("b,bil,bkj->bijkl", mu, f, f)
        ).reshape(-1, 9, 9)
        beta = stiffness_weight(bodies.damping[rows], step, dynamic)
        self.mass = np.zeros((len(rows), 12, 12))
        for i in range(3):
            self.mass[:, 3 * i : 3 * i + 3, 3 * i : 3 * i + 3] = bodies.tensor[:, :, rows].transpose(2, 0, 1)
            self.mass[:, 9 + i, 9 + i] = bodies.mass[rows]
        matrix = self.mass.copy()
        matrix[:, :9, :9] += (beta * bodies.volume[rows])[:, None, None] * tangent
        try:
            self.inverse = np.linalg.inv(matrix)
        except np.linalg.LinAlgError as error:
            raise SolfecError(f"scheme DEF_LIM: the matrix of a pseudo-rigid body is singular ({error})") from error

    def solve(self, right: np.ndarray) -> np.ndarray:
        """A^-1 times columns (size, n)."""
        return (self.inverse @ right.reshape(len(self.rows), 12, -1)).reshape(self.size, -1)

    def apply_inverse(self, vectors: np.ndarray) -> np.ndarray:
        """A^-1 times generalised forces (k, 4, 3), as velocity triples (3, k, 4)."""
        solved = self.inverse @ vectors.reshape(len(self.rows), 12, 1)
        return solved.reshape(-1, 4, 3).transpose(2, 0, 1)

    def internal_energy(self, bodies: BodyTable) -> np.ndarray:
        """V Psi(F) (k,) of the present gradients."""
        f = bodies.configurations.conf[:, self.conf].transpose(1, 2, 0)
        lame, mu = bodies.lame[:, self.rows]
        strain = 0.5 * (np.einsum("bki,bkj->bij", f, f) - np.eye(3))
        density = 0.5 * lame * np.trace(strain, axis1=1, axis2=2) ** 2 + mu * (strain**2).sum((1, 2))
        return bodies.volume[self.rows] * density

    def correct_free_velocity(self, bodies: BodyTable) -> None:
        """u* = u + A^-1 M (u*_explicit - u): the explicit kernel has left u*_explicit."""
        triples = bodies.triples
        old = triples.velo_prev[:, self.velo]
        change = (triples.velo[:, self.velo] - old).transpose(1, 2, 0).reshape(len(self.rows), 12, 1)
        solved = self.inverse @ (self.mass @ change)
        triples.velo[:, self.velo] = old + solved.reshape(-1, 4, 3).transpose(2, 0, 1)

    def add_reactions(self, bodies: BodyTable, step: float) -> None:
        """h (A^-1 - M^-1) r, to which the explicit kernel adds h M^-1 r."""
        triples = bodies.triples
        reaction = triples.reaction[:, self.velo].transpose(1, 2, 0).reshape(len(self.rows), 12, 1)
        if reaction.any():
            solved = self.inverse @ reaction - np.linalg.solve(self.mass, reaction)
            triples.velo[:, self.velo] += step * solved.reshape(-1, 4, 3).transpose(2, 0, 1)


class Implicit:
    """All solvers of one model.

    Attributes
    ----------
    key
        What they depend on.
    elements : list of ElementSolver
    pseudo_rigid : PseudoRigidSolver or None
    solvers : list
        All of them.
    """

    def __init__(self, key: tuple, elements: list[ElementSolver], pseudo_rigid: PseudoRigidSolver | None):
        self.key, self.elements, self.pseudo_rigid = key, elements, pseudo_rigid
        self.solvers = [*elements, *([pseudo_rigid] if pseudo_rigid else [])]


NONE = Implicit((), [], None)


def _solvers(bodies: BodyTable, fe, key: tuple) -> Implicit:
    implicit = bodies.view("scheme") == Scheme.DEF_LIM
    elements = []
    if fe.count:
        for linear in (0, 1):
            which = np.flatnonzero(implicit[fe.rows] & (fe.linear == linear))
            if which.size:
                elements.append(ElementSolver(fe, which))
    rows = np.flatnonzero(implicit & (bodies.view("kind") == BodyKind.PSEUDO_RIGID))
    return Implicit(key, elements, PseudoRigidSolver(bodies, rows) if rows.size else None)


def implicit_of(bodies: BodyTable, fe, count: int) -> Implicit:
    """The solvers for the `count` bodies of scheme DEF_LIM, made anew when bodies or schemes changed."""
    if not count:
        fe.implicit = NONE
        return NONE
    key = (bodies.n, bodies.generation, bodies.scheme.tobytes())
    if fe.implicit is None or fe.implicit.key != key:
        fe.implicit = _solvers(bodies, fe, key)
    return fe.implicit


def implicit_of_step(bodies: BodyTable, fe) -> Implicit:
    """The same within a step, whose prediction has looked for changes already."""
    known = fe.implicit
    if known is None or (known.solvers and known.key[0] != bodies.n):
        return implicit_of(bodies, fe, int((bodies.view("scheme") == Scheme.DEF_LIM).sum()))
    return known
