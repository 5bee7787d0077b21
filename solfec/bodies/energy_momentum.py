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
from ..tables import Record, opened
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


class NewtonIterations(Record):
    """Vectors at the nodes of one solver, and the calls of kernels."""

    COLUMNS = {
        "start": ((3,), "f8"),  # q(t)
        "finish": ((3,), "f8"),  # q(t+h)
        "old": ((3,), "f8"),  # u(t)
        "velocity": ((3,), "f8"),  # u(t+h)
        "mean": ((3,), "f8"),  # their mean
        "load": ((3,), "f8"),  # applied forces and, at the end of a step, reactions
        "viscous": ((3,), "f8"),  # K times the mean velocity
        "residual": ((3,), "f8"),  # momentum that is missing
    }

    def __init__(self, fe, solver):
        super().__init__(**{name: np.zeros((3, len(solver.node)), order="F") for name in self.COLUMNS})
        self.fe, self.solver = fe, solver

    def run(self, bodies: BodyTable, step: float, reacting: bool) -> bool:
        """Whether the iterations converged; velocities go to the table then."""
        solver, assembly = self.solver, self.solver.assembly
        everything = bodies.handles, self.fe.handle, solver.handle, self.handle
        damped, scale, far, status = _begin(*everything, step, reacting)
        opened(status)
        unseen = np.finfo(float).eps * (far / step + scale)  # velocities that move no node by a digit
        before = np.inf
        for _ in range(MOST):
            if damped:
                assembly.tangent_product(solver.present, self.mean, self.viscous)
            assembly.element_conserving_forces(self.start, self.finish)
            opened(_residuals(bodies.handles, assembly.handle, solver.handle, self.handle, step, damped))
            change = solver.solve(self.residual.ravel(order="F"))
            size, status = _improve(self.handle, step, change)
            opened(status)
            if size < 0.0:
                return False
            if size <= TOLERANCE * scale or before < 2.0 * size < 2.0 * unseen:  # of bodies at rest the velocities are round-off
                opened(_store(*everything))
                return True
            before = size
        return False
