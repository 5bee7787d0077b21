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
from .finite_elements import compiled, within_step
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
    elements, loaded = compiled(bodies), loads.on_bodies
    failure, row = _move_rigid(bodies.n, bodies.triples.n, loaded, step, *bodies.columns.of(move_columns, bodies))
    if failure:
        raise_failure(bodies, failure, row)
    gravity = loads.apply(bodies, time + step, step)
    deformable = _begin_rigid(bodies.n, loaded, step, gravity, *bodies.columns.of(begin_columns, bodies))
    if elements.count:
        failed = _begin_nodes(elements.count, *bodies.columns.of(begin_node_columns, elements, bodies))
        if failed >= 0:
            raise_failure(bodies, NOT_FINITE, int(elements.rows[failed]))
        failure, row = finite_element_motion.follow(elements, bodies)
        if failure:
            raise_failure(bodies, failure, row)
        finite_element_motion.kick(elements, bodies, gravity, step, False)
    predict_implicit(bodies, gravity, step, deformable)


def predict_implicit(bodies: BodyTable, gravity: np.ndarray, step: float, count: int) -> None:
    """The velocities of the `count` implicit bodies."""
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
    """End the step: velocities with the part of `triples.reaction`, conf(t+h), INTERNAL energy.

    Raises
    ------
    SolfecError
        A reaction that is not finite, a body that turned inside out.
    """
    failure, row = _finish_rigid(bodies.n, step, *bodies.columns.of(finish_columns, bodies))
    if failure:
        raise_failure(bodies, failure, row)
    elements = within_step(bodies)
    implicit = implicit_of_step(bodies, elements)
    for solver in implicit.elements:
        solver.add_velocities(bodies, step, bodies.triples.reaction, by_row=True)
    if implicit.reduced:
        implicit.reduced.react(bodies, step)
    if elements.count:
        failed = _finish_nodes(elements.count, step, *bodies.columns.of(finish_node_columns, elements, bodies))
        if failed >= 0:
            raise_failure(bodies, BAD_REACTION, int(elements.rows[failed]))
        failure, row = finite_element_motion.follow(elements, bodies)
        if failure:
            raise_failure(bodies, failure, row)
        elements.reduced.represent(bodies, whole=True)
        finite_element_motion.store_internal_energy(elements, bodies)
    if implicit.pseudo_rigid:
        failure, row = implicit.pseudo_rigid.finish_static(bodies, step)
        if failure:
            raise_failure(bodies, failure, row)


def move_columns(bodies: BodyTable) -> tuple[np.ndarray, ...]:
    """Arrays of the kernel `move_rigid`."""
    configurations, triples = bodies.configurations, bodies.triples
    return (
        bodies.kind, bodies.conf_ptr, bodies.velo_ptr, configurations.kept, configurations.conf, triples.velo, triples.force,
        bodies.energy,
    )  # fmt: skip


def begin_columns(bodies: BodyTable) -> tuple[np.ndarray, ...]:
    """Arrays of the kernel `begin_rigid`."""
    configurations, triples = bodies.configurations, bodies.triples
    return (
        bodies.kind, bodies.rotation_disabled, bodies.mass, bodies.conf_ptr, bodies.velo_ptr, triples.inverse_inertia,
        configurations.kept, configurations.conf, triples.velo, triples.velo_prev, triples.force,
    )  # fmt: skip


def finish_columns(bodies: BodyTable) -> tuple[np.ndarray, ...]:
    """Arrays of the kernel `finish_rigid`."""
    triples = bodies.triples
    return (
        bodies.kind, bodies.conf_ptr, bodies.velo_ptr, triples.inverse_inertia, triples.reaction,
        bodies.configurations.conf, triples.velo,
    )  # fmt: skip


def begin_node_columns(elements, bodies: BodyTable) -> tuple[np.ndarray, ...]:
    """Arrays of the kernel `begin_nodes`."""
    triples = bodies.triples
    return (
        elements.first, elements.conf_row, elements.velo_row, bodies.configurations.conf, triples.velo, triples.velo_prev,
    )  # fmt: skip


def finish_node_columns(elements, bodies: BodyTable) -> tuple[np.ndarray, ...]:
    """Arrays of the kernel `finish_nodes`."""
    return elements.first, elements.conf_row, elements.velo_row, bodies.configurations.conf, bodies.triples.velo
