"""Quasi-static motion of all bodies (docs/language-objects.md, SOLFEC): the counterpart of `motion`.

A step does not depend on earlier velocities.  It is one regularised correction towards equilibrium,

    u = h A^-1 (f(t+h) - f_int(q(t)) + r),   q(t+h) = q(t) + h u,   A = M + h**2 K(q(t)),

with A = M for rigid bodies.  Under a constant load the error of a mode of frequency omega shrinks by 1/(1 + h**2 omega**2)
in every step; a rigid mode that nothing holds moves by h**2 times its acceleration.
"""

from __future__ import annotations

import numpy as np

from .. import _kernels
from ..tables import opened
from . import finite_element_motion
from .failures import raise_failure
from .finite_elements import FiniteElements, compiled, within_step
from .implicit import implicit_of, implicit_of_step
from .loads import Loads
from .table import BodyTable

_move_rigid = _kernels.quasi_static.move_rigid
_begin_rigid = _kernels.quasi_static.begin_rigid
_finish_rigid = _kernels.quasi_static.finish_rigid
_begin_nodes = _kernels.quasi_static.begin_nodes
_finish_nodes = _kernels.quasi_static.finish_nodes

NOT_FINITE, BAD_REACTION = 8, 9  # failures as in the kernel body_motion


def predict(bodies: BodyTable, loads: Loads, time: float, step: float) -> None:
    """Set `velo` to h A^-1 (f - f_int), `velo_prev` to zero and `force` to the applied loads; conf(t) stays.

    Arguments and errors are those of `motion.predict`, but loads are evaluated at ``time + step``: on rigid bodies at the configuration that the
    last velocity predicts, on others at conf(t).
    """
    elements, loaded = compiled(bodies), loads.on_bodies
    failure, row = _move_rigid(bodies.handles, loaded, step)
    if failure:
        raise_failure(bodies, failure, row)
    gravity = loads.apply(bodies, time + step, step)
    deformable, status = _begin_rigid(bodies.handles, loaded, step, gravity)
    opened(status)
    if elements.count:
        _follow_nodes(bodies, elements, NOT_FINITE, *_begin_nodes(bodies.handles, elements.handle))
        finite_element_motion.kick(elements, bodies, gravity, step, False)
    predict_implicit(bodies, gravity, step, deformable)


def _follow_nodes(bodies: BodyTable, elements: FiniteElements, failure: int, failed: int, status: int) -> None:
    """Raise `failure` of element body `failed`, or -1; else update rotations and displacements to the present configuration."""
    opened(status)
    if failed >= 0:
        raise_failure(bodies, failure, int(elements.rows[failed]))
    failure, row = finite_element_motion.follow(elements, bodies)
    if failure:
        raise_failure(bodies, failure, row)


def predict_implicit(bodies: BodyTable, gravity: np.ndarray, step: float, count: int) -> None:
    """Compute the velocities of the `count` implicit bodies."""
    elements = within_step(bodies)
    implicit = implicit_of(bodies, elements, count)
    for solver in implicit.solvers:
        solver.refresh(bodies, step, dynamic=False)
    for solver in implicit.elements:
        solver.add_velocities(bodies, step, elements.net, by_row=False)
    if implicit.reduced:
        implicit.reduced.kick(bodies, step, dynamic=False)
    if implicit.pseudo_rigid:
        implicit.pseudo_rigid.begin_static(bodies, gravity, step)


def correct(bodies: BodyTable, step: float) -> None:
    """End the step: velocities including `triples.reaction`, conf(t+h), INTERNAL energy.

    Raises
    ------
    SolfecError
        A reaction that is not finite, a body that turned inside out.
    """
    failure, row = _finish_rigid(bodies.handles, step)
    if failure:
        raise_failure(bodies, failure, row)
    elements = within_step(bodies)
    implicit = implicit_of_step(bodies, elements)
    for solver in implicit.elements:
        solver.add_velocities(bodies, step, bodies.triples.reaction, by_row=True)
    if implicit.reduced:
        implicit.reduced.react(bodies, step)
    if elements.count:
        _follow_nodes(bodies, elements, BAD_REACTION, *_finish_nodes(bodies.handles, elements.handle, step))
        elements.reduced.represent(bodies, whole=True)
        finite_element_motion.store_internal_energy(elements, bodies)
    if implicit.pseudo_rigid:
        failure, row = implicit.pseudo_rigid.finish_static(bodies, step)
        if failure:
            raise_failure(bodies, failure, row)
