"""Quasi-static motion of all bodies (manual, SOLFEC: 'QUASI_STATIC'): the counterpart of `motion`.

A step has no memory of velocities.  It is one regularised correction towards equilibrium,

    u = h A^-1 (f(t+h) - f_int(q(t)) + r),   q(t+h) = q(t) + h u,   A = M + h**2 K(q(t)),

with A = M for rigid bodies.  Under a constant load the error of a mode of frequency omega shrinks by 1/(1 + h**2 omega**2)
in every step; a rigid mode that nothing holds moves by h**2 times its acceleration.
"""

from __future__ import annotations

import numpy as np

from .. import _kernels
from . import finite_element_motion
from .failures import raise_failure
from .finite_elements import compiled
from .implicit import implicit_of, implicit_of_step
from .loads import Loads
from .table import BodyTable, Energy

_move_rigid = _kernels.quasi_static.move_rigid
_begin_rigid = _kernels.quasi_static.begin_rigid
_finish_rigid = _kernels.quasi_static.finish_rigid

NOT_FINITE, BAD_REACTION = 8, 9  # failures as in the kernel body_motion


def predict(bodies: BodyTable, loads: Loads, time: float, step: float) -> None:
    """Set `velo` to h A^-1 (f - f_int), `velo_prev` to zero and `force` to the applied loads; conf(t) stays.

    Parameters
    ----------
    bodies : BodyTable
        State at `time`.
    loads : Loads
        Evaluated at ``time + step``; on rigid bodies where the last velocity would take them, on others at conf(t).
    time, step : float
        Beginning and length of the step.

    Raises
    ------
    SolfecError
        A body that turned inside out, a failing callback, a state that is not finite.
    """
    triples, configurations = bodies.triples, bodies.configurations
    conf = configurations.view("conf").copy()
    failure, row = _move_rigid(
        bodies.n, step, bodies.kind, bodies.conf_ptr, bodies.velo_ptr, configurations.conf, triples.velo
    )
    if failure:
        raise_failure(bodies, failure, row)
    triples.view("force")[:] = 0.0
    gravity = loads.apply(bodies, time + step, step)
    configurations.view("conf")[:] = conf
    bodies.view("energy")[Energy.KINETIC] = 0.0
    deformable = _begin_rigid(
        bodies.n, step, gravity, bodies.kind, bodies.rotation_disabled, bodies.mass, bodies.velo_ptr,
        triples.inverse_inertia, triples.velo, triples.velo_prev, triples.force,
    )  # fmt: skip
    elements = compiled(bodies)
    if elements.count:
        triples.velo_prev[:, elements.velo_row] = 0.0
        if not np.isfinite(bodies.configurations.conf[:, elements.conf_row]).all():
            _blame(bodies, elements, bodies.configurations.conf[:, elements.conf_row], NOT_FINITE)
        failure, row = finite_element_motion.follow(elements, bodies)
        if failure:
            raise_failure(bodies, failure, row)
        finite_element_motion.kick(elements, bodies, gravity, step, False)
    implicit = implicit_of(bodies, elements, deformable)
    for solver in implicit.solvers:
        solver.refresh(bodies, step, dynamic=False)
    for solver in implicit.elements:
        triples.velo[:, elements.velo_row[solver.nodes]] = step * solver.accelerations(elements.net[:, solver.nodes])
    if implicit.reduced:
        implicit.reduced.kick(bodies, step, dynamic=False)
    if implicit.pseudo_rigid:
        implicit.pseudo_rigid.begin_static(bodies, gravity, step)


def correct(bodies: BodyTable, step: float) -> None:
    """End the step: velocities with the part of `triples.reaction`, conf(t+h), INTERNAL energy.

    Raises
    ------
    SolfecError
        A reaction that is not finite, a body that turned inside out.
    """
    triples, conf = bodies.triples, bodies.configurations.conf
    failure, row = _finish_rigid(
        bodies.n, step, bodies.kind, bodies.conf_ptr, bodies.velo_ptr, triples.inverse_inertia, triples.reaction, conf,
        triples.velo,
    )  # fmt: skip
    if failure:
        raise_failure(bodies, failure, row)
    elements = compiled(bodies)
    implicit = implicit_of_step(bodies, elements)
    for solver in implicit.elements:
        rows = elements.velo_row[solver.nodes]
        reaction = triples.reaction[:, rows]
        if reaction.any():
            triples.velo[:, rows] += step * solver.accelerations(reaction)
    if implicit.reduced:
        implicit.reduced.react(bodies, step)
    if elements.count:
        velocity = triples.velo[:, elements.velo_row]
        if not np.isfinite(velocity).all():
            _blame(bodies, elements, velocity, BAD_REACTION)
        conf[:, elements.conf_row] += step * velocity
        failure, row = finite_element_motion.follow(elements, bodies)
        if failure:
            raise_failure(bodies, failure, row)
        elements.reduced.represent(bodies, whole=True)
        finite_element_motion.store_internal_energy(elements, bodies)
    if implicit.pseudo_rigid:
        failure, row = implicit.pseudo_rigid.finish_static(bodies, step)
        if failure:
            raise_failure(bodies, failure, row)


def _blame(bodies: BodyTable, elements, values: np.ndarray, failure: int) -> None:
    """Raise for the first finite element body with nodal values (3, n) that are not finite."""
    node = int(np.flatnonzero(~np.isfinite(values).all(0))[0])
    body = int(np.searchsorted(elements.first, node, side="right")) - 1
    raise_failure(bodies, failure, int(elements.rows[body]))
