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
    which = bodies.conserving[solver.rows] == 1
    triples, nodes = bodies.triples, solver.nodes
    rows = fe.velo_row[nodes]
    chosen = which[solver.owner]
    old, velocity = triples.velo_prev[:, rows], triples.velo[:, rows]
    start = bodies.configurations.conf[:, fe.conf_row[nodes]] - 0.5 * step * old
    load = triples.force[:, rows] + (triples.reaction[:, rows] if reacting else 0.0)
    start = np.asfortranarray(start)
    damping = bodies.damping[solver.rows][solver.owner]
    internal, viscous = np.zeros_like(start, order="F"), np.zeros_like(start, order="F")
    scale = np.abs(velocity).max() + np.abs(old).max()
    for _ in range(MOST):
        mean = 0.5 * (old + velocity)
        end = np.asfortranarray(start + step * mean)
        solver.assembly.conserving_force(start, end, internal)
        force = load - internal
        if damping.any():
            solver.assembly.tangent_product(solver.present, np.asfortranarray(mean), viscous)
            force -= damping * viscous
        residual = step * force - solver.mass * (velocity - old)
        residual[:, ~chosen] = 0.0
        change = solver.accelerations(residual)
        velocity = velocity + change
        size = np.abs(change).max()
        if not np.isfinite(size):
            break
        if size <= TOLERANCE * scale:
            triples.velo[:, rows[chosen]] = velocity[:, chosen]
            return
    number = int(bodies.id[solver.rows[np.argmax(which)]])
    raise SolfecError(f"body {number}: the energy conserving step does not converge; use a smaller time step")
