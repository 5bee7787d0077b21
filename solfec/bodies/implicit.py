"""Linearly implicit bodies (scheme DEF_LIM): solutions with A = M + (eta h/2 + h**2/4) K (theory, "Time integration").

Finite elements are in `element_solver`; here are pseudo-rigid bodies, whose K is the tangent at mid-step, and the list of
all solvers of a model.
"""

from __future__ import annotations

import numpy as np

from ..errors import SolfecError
from .element_solver import ElementSolver, Memory, step_key, stiffness_weight
from .table import BodyKind, BodyTable, Form, Scheme


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

    @property
    def inverses(self) -> np.ndarray:
        """A^-1 (12, 12, k)."""
        return self.inverse.T

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
    reduced : ReducedBodies or None
    solvers : list
        All of them.
    """

    def __init__(self, key: tuple, elements: list[ElementSolver], pseudo_rigid: PseudoRigidSolver | None, reduced):
        self.key, self.elements, self.pseudo_rigid, self.reduced = key, elements, pseudo_rigid, reduced
        self.solvers = [*elements, *filter(None, (pseudo_rigid, reduced))]


NONE = Implicit((), [], None, None)


def _solvers(bodies: BodyTable, fe, key: tuple) -> Implicit:
    implicit = bodies.view("scheme") == Scheme.DEF_LIM
    elements, reduced = [], None
    if fe.count:
        reduced = fe.reduced if fe.reduced.count else None
        for linear in (0, 1):
            which = np.flatnonzero(implicit[fe.rows] & (fe.linear == linear) & ~fe.reduced.inside)
            if which.size:
                elements.append(ElementSolver(fe, which))
    rows = np.flatnonzero(implicit & (bodies.view("kind") == BodyKind.PSEUDO_RIGID))
    return Implicit(key, elements, PseudoRigidSolver(bodies, rows) if rows.size else None, reduced)


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


def memory(bodies: BodyTable, step: float, dynamic: bool = True) -> Memory | None:
    """What a continued run has to `recall` besides the state of bodies; None when the next step starts afresh."""
    fe = bodies.finite_elements
    if fe is None or not fe.count or fe.outdated(bodies):
        return None
    rows, known = _nonlinear(bodies), fe.implicit
    if fe.recalled is not None:  # no step since
        return fe.recalled[1] if fe.recalled[0] == step_key(bodies, rows, step, dynamic) else None
    if known is None:
        return None
    for solver in known.elements:
        if not solver.linear and np.array_equal(solver.rows, rows) and solver.key == step_key(bodies, rows, step, dynamic):
            return solver.memory
    return None


def recall(bodies: BodyTable, fe, step: float, dynamic: bool, remembered: Memory) -> None:
    """Let the next step's solver take up where another run's was."""
    fe.recalled = step_key(bodies, _nonlinear(bodies), step, dynamic), remembered


def _nonlinear(bodies: BodyTable) -> np.ndarray:
    """Rows of the bodies of form 'TL' and scheme DEF_LIM."""
    kind, form, scheme = (bodies.view(name) for name in ("kind", "form", "scheme"))
    return np.flatnonzero((kind == BodyKind.FINITE_ELEMENT) & (form == Form.TL) & (scheme == Scheme.DEF_LIM))
