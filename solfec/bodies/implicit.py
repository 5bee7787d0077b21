"""Linearly implicit bodies (scheme DEF_LIM): solutions with A = M + (eta h/2 + h**2/4) K (docs/theory.md, Time integration).

Finite elements are in `element_solver` and `small_bodies`; this module has pseudo-rigid bodies, whose K is the tangent at mid-step, and the list of
all solvers of a model.
"""

from __future__ import annotations

import numpy as np

from .. import _kernels
from ..tables import Record, opened, unique
from .element_solver import ElementSolver, Memory, step_key
from .failures import raise_failure
from .small_bodies import MOST_UNKNOWNS, SmallBodySolver
from .table import BodyKind, BodyTable, Form, Scheme

_pseudo_rigid = _kernels.implicit_pseudo_rigid


class PseudoRigidSolver(Record):
    """A of the implicit pseudo-rigid bodies, 12 unknowns each, as dense inverses."""

    COLUMNS = {
        "rows": ((), "i4"),  # rows of the body table
        "dof_first": ((), "i4"),  # start of the bodies' unknowns
        "place": ((), "i4"),  # of the inverse in `inverses`
        "rotation": ((3, 3), "f8"),  # from the unknowns to space
        "inverses": ((12, 12), "f8"),  # A^-1 of the last `refresh`
    }

    def __init__(self, rows: np.ndarray):
        count = len(rows)
        self.size = 12 * count
        super().__init__(
            rows=rows.astype(np.int32),
            dof_first=(12 * np.arange(count)).astype(np.int32),
            place=np.arange(count, dtype=np.int32),
            rotation=np.asfortranarray(np.tile(np.eye(3)[:, :, None], count)),
            inverses=np.zeros((12, 12, count), order="F"),
        )

    def refresh(self, bodies: BodyTable, step: float, dynamic: bool = True) -> None:
        """Compute inverses for the present gradients; SolfecError names a body whose matrix is singular."""
        failure, row = _pseudo_rigid.invert(bodies.handles, self.handle, step, dynamic)
        if failure:
            raise_failure(bodies, failure, row)

    def correct_free_velocity(self, bodies: BodyTable) -> None:
        """Compute u* = u + A^-1 M (u*_explicit - u) from u*_explicit of the explicit kernel."""
        opened(_pseudo_rigid.free_velocities(bodies.handles, self.handle))

    def add_reactions(self, bodies: BodyTable, step: float) -> None:
        """Add h (A^-1 - M^-1) r to velocities; the explicit kernel adds h M^-1 r."""
        opened(_pseudo_rigid.add_reactions(bodies.handles, self.handle, step))

    def begin_static(self, bodies: BodyTable, gravity: np.ndarray, step: float) -> None:
        """Compute velocities h A^-1 (f - V P(F)) from rest; gravity is added to `force`."""
        opened(_pseudo_rigid.begin_static(bodies.handles, self.handle, step, gravity))

    def finish_static(self, bodies: BodyTable, step: float) -> tuple[int, int]:
        """Add reactions to velocities, and update configuration and energy at the end of the step; return (failure, row)."""
        return _pseudo_rigid.finish_static(bodies.handles, self.handle, step)


class Implicit:
    """All solvers of one model.

    Attributes
    ----------
    key
        Key of everything on which the solvers depend.
    elements : list of ElementSolver and SmallBodySolver
    pseudo_rigid : PseudoRigidSolver or None
    reduced : ReducedBodies or None
    copies : ndarray of int
        Rows of bodies of finite elements for which another process solves (`BodyTable.rank`).
    solvers : list
        The solvers of all kinds.
    """

    def __init__(self, key: tuple, elements: list[ElementSolver | SmallBodySolver], pseudo_rigid: PseudoRigidSolver | None, reduced, copies: np.ndarray):
        self.key, self.elements, self.pseudo_rigid, self.reduced, self.copies = key, elements, pseudo_rigid, reduced, copies
        self.solvers = [*elements, *filter(None, (pseudo_rigid, reduced))]


NONE = Implicit((), [], None, None, np.zeros(0, int))


def _solvers(bodies: BodyTable, fe, key: tuple) -> Implicit:
    implicit = bodies.view("scheme") == Scheme.DEF_LIM
    elements, reduced, copies = [], None, NONE.copies
    if fe.count:
        reduced = fe.reduced if fe.reduced.count else None
        unknowns = 3 * np.diff(fe.first)
        solved, mine = implicit[fe.rows] & ~fe.reduced.inside, bodies.moved_here[fe.rows]
        own, copies = solved & mine, fe.rows[solved & ~mine]
        small = (fe.linear == 1) & (unknowns <= MOST_UNKNOWNS)
        for chosen in (own & (fe.linear == 0), own & (fe.linear == 1) & ~small):
            if chosen.any():
                elements.append(ElementSolver(fe, np.flatnonzero(chosen)))
        sizes = unique(unknowns[own & small]).tolist()
        fe.inverses = {size: kept for size, kept in fe.inverses.items() if size in sizes}
        elements += [SmallBodySolver(fe, np.flatnonzero(own & small & (unknowns == size))) for size in sizes]
    rows = np.flatnonzero(implicit & (bodies.view("kind") == BodyKind.PSEUDO_RIGID))
    return Implicit(key, elements, PseudoRigidSolver(rows) if rows.size else None, reduced, copies)


def population(bodies: BodyTable) -> tuple:
    """Return a key that changes when bodies are added, removed, or change their schemes or owners; solvers are then made again."""
    owners = bodies.view("owner").tobytes() if bodies.rank >= 0 else b""
    return bodies.n, bodies.generation, bodies.scheme.tobytes(), owners


def implicit_of(bodies: BodyTable, fe, count: int) -> Implicit:
    """Return the solvers for the `count` bodies of scheme DEF_LIM, made again if bodies or schemes changed."""
    if not count:
        fe.implicit = NONE
        return NONE
    key = population(bodies)
    if fe.implicit is None or fe.implicit.key != key:
        fe.implicit = _solvers(bodies, fe, key)
        if fe.recalled is not None and fe.recalled[0] != key:  # the run that is continued made its solvers again, too
            fe.recalled = None
    return fe.implicit


def present_implicit(bodies: BodyTable, fe) -> Implicit:
    """Return the solvers for all bodies that have scheme DEF_LIM now."""
    return implicit_of(bodies, fe, int((bodies.view("scheme") == Scheme.DEF_LIM).sum()))


def implicit_of_step(bodies: BodyTable, fe) -> Implicit:
    """Return the solvers within a step, whose prediction has already checked for changes."""
    known = fe.implicit
    if known is None or (known.solvers and known.key[0] != bodies.n):
        return present_implicit(bodies, fe)
    return known


def memory(bodies: BodyTable, step: float, dynamic: bool = True) -> Memory | None:
    """Return the state that a continued run must `recall` besides the state of bodies; None if the next step needs none."""
    fe = bodies.finite_elements
    if fe is None or not fe.count or fe.outdated(bodies):
        return None
    rows, known = _nonlinear(bodies), fe.implicit
    present = population(bodies)
    if fe.recalled is not None:  # no step since then
        return fe.recalled[2] if fe.recalled[:2] == (present, step_key(bodies, rows, step, dynamic)) else None
    if known is None or known.key != present:  # the next step makes its solvers again
        return None
    for solver in known.elements:
        if not solver.linear and np.array_equal(solver.rows, rows) and solver.key == step_key(bodies, rows, step, dynamic):
            return solver.memory
    return None


def recall(bodies: BodyTable, fe, step: float, dynamic: bool, remembered: Memory) -> None:
    """Set the state with which the next step's solver continues another run."""
    fe.recalled = population(bodies), step_key(bodies, _nonlinear(bodies), step, dynamic), remembered


def _nonlinear(bodies: BodyTable) -> np.ndarray:
    """Return rows of the bodies of form 'TL' and scheme DEF_LIM."""
    kind, form, scheme = (bodies.view(name) for name in ("kind", "form", "scheme"))
    return np.flatnonzero((kind == BodyKind.FINITE_ELEMENT) & (form == Form.TL) & (scheme == Scheme.DEF_LIM))
