"""Energy and momentum conserving steps of implicit finite elements (docs/materials.md, Conserving energy).

DEF_LIM solves one linear system per step.  A conserving body continues by Newton's method, with the same matrix, to

    M (u(t+h) - u(t)) = h (f + r - f_c(q(t), q(t+h)) - eta f_d((u(t) + u(t+h))/2)),   q(t+h) = q(t) + h/2 (u(t) + u(t+h)),

where the work of f_c over the step is the difference of internal energies (`midpoint_forces`), f_d is the force of the strain rate
(`ElementAssembly.strain_rate_force`), and f_c carries no angular momentum.  The free velocity and, with the reactions r, the final one are computed like this.  Constraints are solved with the
matrix in between, so that their velocities hold to second order in h where bodies deform much within a step.
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
    """Solve the equation above for velocities of conserving bodies, from the solution of one linear system.

    Parameters
    ----------
    fe : FiniteElements
    solver : ElementSolver
        Prepared for this step.
    reacting : bool
        Whether `triples.reaction` is included, as at the end of the step.

    Raises
    ------
    SolfecError
        The iterations do not converge.
    """
    if solver.linear or not _any_marked(solver.rows, bodies.conserving):
        return
    if solver.newton is None:
        solver.newton = NewtonIterations(fe, solver)
    if not solver.newton.run(bodies, step, reacting):
        name = bodies.name(int(bodies.id[solver.rows[np.argmax(bodies.conserving[solver.rows])]]))
        raise SolfecError(f"{name}: the energy conserving step does not converge; use a smaller time step")


class NewtonIterations(Record):
    """Newton iterations of one solver: vectors at its nodes, and calls of kernels."""

    COLUMNS = {
        "start": ((3,), "f8"),  # q(t)
        "finish": ((3,), "f8"),  # q(t+h)
        "old": ((3,), "f8"),  # u(t)
        "velocity": ((3,), "f8"),  # u(t+h)
        "mean": ((3,), "f8"),  # mean of u(t) and u(t+h)
        "load": ((3,), "f8"),  # applied forces and, at the end of a step, reactions
        "viscous": ((3,), "f8"),  # force of the strain rate of the mean velocity
        "residual": ((3,), "f8"),  # missing momentum
    }

    def __init__(self, fe, solver):
        super().__init__(**{name: np.zeros((3, len(solver.node)), order="F") for name in self.COLUMNS})
        self.fe, self.solver = fe, solver

    def run(self, bodies: BodyTable, step: float, reacting: bool) -> bool:
        """Run the iterations; return whether they converged, in which case velocities are written to the table."""
        solver, assembly = self.solver, self.solver.assembly
        everything = bodies.handles, self.fe.handle, solver.handle, self.handle
        damped, scale, far, status = _begin(*everything, step, reacting)
        opened(status)
        unseen = np.finfo(float).eps * (far / step + scale)  # velocities that do not change the digits of any node's place
        before = np.inf
        for _ in range(MOST):
            if damped:
                assembly.strain_rate_force(solver.present, self.mean, self.viscous)
            assembly.element_conserving_forces(self.start, self.finish)
            opened(_residuals(bodies.handles, assembly.handle, solver.handle, self.handle, step, damped))
            change = solver.solve(self.residual.ravel(order="F"))
            size, status = _improve(self.handle, step, change)
            opened(status)
            if size < 0.0:
                return False
            if size <= TOLERANCE * scale or before < 2.0 * size < 2.0 * unseen:  # the velocities of bodies at rest are round-off
                opened(_store(*everything))
                return True
            before = size
        return False
