"""Linearly implicit bodies (scheme DEF_LIM): solutions with A = M + (eta h/2 + h**2/4) K (theory, "Time integration").

Finite elements are in `element_solver`; here are pseudo-rigid bodies, whose K is the tangent at mid-step, and the list of
all solvers of a model.
"""

from __future__ import annotations

import numpy as np

from .. import _kernels
from ..tables import note_reallocation
from .element_solver import ElementSolver, Memory, step_key
from .failures import raise_failure
from .table import BodyKind, BodyTable, Form, Scheme

_pseudo_rigid = _kernels.implicit_pseudo_rigid


class PseudoRigidSolver:
    """A of the implicit pseudo-rigid bodies, 12 unknowns each, as dense inverses.

    Attributes
    ----------
    rows : ndarray (k,) int32
        The bodies' rows; `dof_first` (k,) is where their unknowns begin, `rotation` (3, 3, k) that from them to space.
    inverses : ndarray (12, 12, k)
        A^-1 as of the last `refresh`.
    """

    def __init__(self, bodies: BodyTable, rows: np.ndarray):
        count = len(rows)
        self.rows = rows.astype(np.int32)
        self.size = 12 * count
        self.dof_first = (12 * np.arange(count)).astype(np.int32)
        self.rotation = np.asfortranarray(np.tile(np.eye(3)[:, :, None], count))
        self.inverses = np.zeros((12, 12, count), order="F")

    def refresh(self, bodies: BodyTable, step: float, dynamic: bool = True) -> None:
        """Inverses for the present gradients; SolfecError names a body whose matrix is singular."""
        failure, row = _pseudo_rigid.invert(step, dynamic, *bodies.columns.of(PseudoRigidSolver.matrix_columns, self, bodies))
        if failure:
            raise_failure(bodies, failure, row)

    def correct_free_velocity(self, bodies: BodyTable) -> None:
        """u* = u + A^-1 M (u*_explicit - u): the explicit kernel has left u*_explicit."""
        _pseudo_rigid.free_velocities(*bodies.columns.of(PseudoRigidSolver.velocity_columns, self, bodies))

    def add_reactions(self, bodies: BodyTable, step: float) -> None:
        """h (A^-1 - M^-1) r, to which the explicit kernel adds h M^-1 r."""
        _pseudo_rigid.add_reactions(step, *bodies.columns.of(PseudoRigidSolver.reaction_columns, self, bodies))

    def begin_static(self, bodies: BodyTable, gravity: np.ndarray, step: float) -> None:
        """h A^-1 (f - V P(F)), from rest; `force` takes gravity up."""
        _pseudo_rigid.begin_static(step, gravity, *bodies.columns.of(PseudoRigidSolver.begin_columns, self, bodies))

    def finish_static(self, bodies: BodyTable, step: float) -> tuple[int, int]:
        """The reactions' part of velocities, configuration and energy at the end of the step; returns (failure, row)."""
        return _pseudo_rigid.finish_static(step, *bodies.columns.of(PseudoRigidSolver.finish_columns, self, bodies))

    # --- arguments of kernels, here and in programs --------------------------------------------------------

    def matrix_columns(self, bodies: BodyTable) -> tuple[np.ndarray, ...]:
        """Of `invert`."""
        return (
            self.rows, self.inverses, bodies.mass, bodies.volume, bodies.damping, bodies.lame, bodies.tensor, bodies.conf_ptr,
            bodies.configurations.conf,
        )  # fmt: skip

    def velocity_columns(self, bodies: BodyTable) -> tuple[np.ndarray, ...]:
        """Of `free_velocities`."""
        triples = bodies.triples
        return self.rows, self.inverses, bodies.mass, bodies.tensor, bodies.velo_ptr, triples.velo_prev, triples.velo

    def reaction_columns(self, bodies: BodyTable) -> tuple[np.ndarray, ...]:
        """Of `add_reactions`."""
        triples = bodies.triples
        return self.rows, self.inverses, bodies.velo_ptr, triples.inverse_inertia, triples.reaction, triples.velo

    def begin_columns(self, bodies: BodyTable) -> tuple[np.ndarray, ...]:
        """Of `begin_static`."""
        triples = bodies.triples
        return (
            self.rows, self.inverses, bodies.mass, bodies.volume, bodies.lame, bodies.conf_ptr, bodies.velo_ptr,
            bodies.configurations.conf, triples.velo, triples.velo_prev, triples.force,
        )  # fmt: skip

    def finish_columns(self, bodies: BodyTable) -> tuple[np.ndarray, ...]:
        """Of `finish_static`."""
        triples = bodies.triples
        return (
            self.rows, self.inverses, bodies.volume, bodies.lame, bodies.conf_ptr, bodies.velo_ptr, triples.reaction,
            bodies.configurations.conf, triples.velo, bodies.energy,
        )  # fmt: skip


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


def population(bodies: BodyTable) -> tuple:
    """What changes whenever bodies come, go, or change their schemes: solvers are then made anew."""
    return bodies.n, bodies.generation, bodies.scheme.tobytes()


def implicit_of(bodies: BodyTable, fe, count: int) -> Implicit:
    """The solvers for the `count` bodies of scheme DEF_LIM, made anew when bodies or schemes changed."""
    if not count:
        if fe.implicit is not NONE:
            fe.implicit = NONE
            note_reallocation()
        return NONE
    key = population(bodies)
    if fe.implicit is None or fe.implicit.key != key:
        fe.implicit = _solvers(bodies, fe, key)
        if fe.recalled is not None and fe.recalled[0] != key:  # the run that is continued here made its solvers anew, too
            fe.recalled = None
        note_reallocation()
    return fe.implicit


def present_implicit(bodies: BodyTable, fe) -> Implicit:
    """The solvers for all bodies that are of scheme DEF_LIM now."""
    return implicit_of(bodies, fe, int((bodies.view("scheme") == Scheme.DEF_LIM).sum()))


def implicit_of_step(bodies: BodyTable, fe) -> Implicit:
    """The same within a step, whose prediction has looked for changes already."""
    known = fe.implicit
    if known is None or (known.solvers and known.key[0] != bodies.n):
        return present_implicit(bodies, fe)
    return known


def memory(bodies: BodyTable, step: float, dynamic: bool = True) -> Memory | None:
    """What a continued run has to `recall` besides the state of bodies; None when the next step starts afresh."""
    fe = bodies.finite_elements
    if fe is None or not fe.count or fe.outdated(bodies):
        return None
    rows, known = _nonlinear(bodies), fe.implicit
    present = population(bodies)
    if fe.recalled is not None:  # no step since
        return fe.recalled[2] if fe.recalled[:2] == (present, step_key(bodies, rows, step, dynamic)) else None
    if known is None or known.key != present:  # the next step makes its solvers anew
        return None
    for solver in known.elements:
        if not solver.linear and np.array_equal(solver.rows, rows) and solver.key == step_key(bodies, rows, step, dynamic):
            return solver.memory
    return None


def recall(bodies: BodyTable, fe, step: float, dynamic: bool, remembered: Memory) -> None:
    """Let the next step's solver take up where another run's was."""
    fe.recalled = population(bodies), step_key(bodies, _nonlinear(bodies), step, dynamic), remembered
    note_reallocation()


def _nonlinear(bodies: BodyTable) -> np.ndarray:
    """Rows of the bodies of form 'TL' and scheme DEF_LIM."""
    kind, form, scheme = (bodies.view(name) for name in ("kind", "form", "scheme"))
    return np.flatnonzero((kind == BodyKind.FINITE_ELEMENT) & (form == Form.TL) & (scheme == Scheme.DEF_LIM))
