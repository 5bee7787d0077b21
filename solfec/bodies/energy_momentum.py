"""Energy and momentum conserving steps of implicit finite elements (docs, BODY.conserving).

DEF_LIM solves one linear system a step.  A conserving body goes on from there by Newton's method, with the same matrix, to

    M (u(t+h) - u(t)) = h (f + r - f_c(q(t), q(t+h)) - eta K (u(t) + u(t+h))/2),   q(t+h) = q(t) + h/2 (u(t) + u(t+h)),

where the work of f_c over the step is the difference of internal energies (`midpoint_forces`), and f_c carries no angular
momentum.  The free velocity and, with the reactions r, the final one are found like this; constraints are solved with the
matrix in between, so that their velocities are met to second order in h where bodies deform much within a step.
"""

from __future__ import annotations

import numpy as np

from .. import _kernels
from ..errors import SolfecError
from .table import BodyTable

_any_marked = _kernels.nodal_vectors.any_marked
_begin = _kernels.energy_momentum.begin
_residuals = _kernels.energy_momentum.residuals
_improve = _kernels.energy_momentum.improve
_store = _kernels.energy_momentum.store

TOLERANCE = 1e-13  # change of velocities in the last iteration, relative to the greatest one
MOST = 40


def iterate(fe, bodies: BodyTable, solver, step: float, reacting: bool) -> None:
    """Bring velocities of conserving bodies from the solution of one linear system to that of the equation above.

    Parameters
    ----------
    fe : FiniteElements
    solver : ElementSolver
        Refreshed for this step.
    reacting : bool
        Whether `triples.reaction` counts, as at the end of the step.

    Raises
    ------
    SolfecError
        Iterations that do not converge.
    """
    if solver.linear or not _any_marked(solver.rows, bodies.conserving):
        return
    if solver.newton is None:
        solver.newton = NewtonIterations(fe, solver)
    if not solver.newton.run(bodies, step, reacting):
        name = bodies.name(int(bodies.id[solver.rows[np.argmax(bodies.conserving[solver.rows])]]))
        raise SolfecError(f"{name}: the energy conserving step does not converge; use a smaller time step")


class NewtonIterations:
    """Work arrays of one solver's nodes (3, n), and the calls of kernels."""

    def __init__(self, fe, solver):
        self.fe, self.solver = fe, solver
        self.node = solver.nodes.astype(np.int32)
        self.start, self.old, self.velocity, self.mean, self.finish, self.load, self.residual, self.viscous = (
            np.zeros((3, len(self.node)), order="F") for _ in range(8)
        )

    def run(self, bodies: BodyTable, step: float, reacting: bool) -> bool:
        """Whether the iterations converged; velocities go to the table then."""
        solver, assembly = self.solver, self.solver.assembly
        damped, scale, far = _begin(step, reacting, *bodies.columns.of(_begin_columns, self, bodies))
        unseen = np.finfo(float).eps * (far / step + scale)  # velocities that move no node by a digit
        before = np.inf
        residual_columns = bodies.columns.of(_residual_columns, self, bodies)
        for _ in range(MOST):
            if damped:
                assembly.tangent_product(solver.present, self.mean, self.viscous)
            assembly.element_conserving_forces(self.start, self.finish)
            _residuals(step, damped, *residual_columns)
            change = solver.solve(self.residual.ravel(order="F"))
            size = _improve(step, change, self.start, self.old, self.velocity, self.mean, self.finish)
            if size < 0.0:
                return False
            if size <= TOLERANCE * scale or before < 2.0 * size < 2.0 * unseen:  # of bodies at rest the velocities are round-off
                _store(*bodies.columns.of(_store_columns, self, bodies))
                return True
            before = size
        return False


def _begin_columns(work: NewtonIterations, bodies: BodyTable) -> tuple[np.ndarray, ...]:
    fe, triples = work.fe, bodies.triples
    return (
        work.node, fe.conf_row, fe.velo_row, bodies.configurations.conf, triples.velo, triples.velo_prev, triples.force,
        triples.reaction, work.solver.rows, bodies.damping, work.start, work.old, work.velocity, work.mean, work.finish,
        work.load,
    )  # fmt: skip


def _residual_columns(work: NewtonIterations, bodies: BodyTable) -> tuple[np.ndarray, ...]:
    solver, assembly = work.solver, work.solver.assembly
    return (
        solver.owner, solver.rows, bodies.conserving, bodies.damping, solver.mass, assembly.first, assembly.position,
        assembly.flat, work.viscous, work.old, work.velocity, work.load, work.residual,
    )  # fmt: skip


def _store_columns(work: NewtonIterations, bodies: BodyTable) -> tuple[np.ndarray, ...]:
    return (
        work.node, work.fe.velo_row, work.solver.owner, work.solver.rows, bodies.conserving, work.velocity, bodies.triples.velo,
    )  # fmt: skip
