"""Time integration of all bodies: drift, kick, drift (docs/theory.md, Time integration; Solfec-1.0's `bod`).

A step is `predict`, then contact reactions from elsewhere in `bodies.triples.reaction`, then `correct`.  Each
function makes one to three kernel calls on the whole body table.
"""

from __future__ import annotations

import math

import numpy as np

from .. import _kernels
from ..tables import opened, unique
from . import energy_momentum, finite_element_motion
from .failures import raise_failure as _raise
from .finite_elements import compiled, within_step
from .frequencies import SHORT, present_squares
from .implicit import implicit_of, implicit_of_step
from .loads import Loads
from .table import BodyKind, BodyTable

_initialise = _kernels.body_motion.initialise_inertia
_predict = _kernels.body_motion.predict
_finish = _kernels.body_motion.finish
_critical_step = _kernels.critical_time_step.critical_step
_find_outside = _kernels.body_options.find_outside
_spatial_points = _kernels.point_motion.spatial_points
_referential_points = _kernels.point_motion.referential_points
_point_velocities = _kernels.point_motion.point_velocities

BOTH, DRIFT, KICK = 0, 1, 2  # stages of a prediction
MOVING, WAKING = 0, 1  # the bodies that it moves: all but those that sleep; those that wake in this step


def initialise_inertia(bodies: BodyTable, rows: np.ndarray | None = None) -> None:
    """Fill `triples.inverse_inertia` and the KINETIC and INTERNAL energies from mass, tensor and state.

    `rows` (k,) are the bodies of which something has changed since the last call, if that is known.  To be called when any of mass, tensor, material, `rotation_disabled` or an assigned velocity has changed.

    Raises
    ------
    SolfecError
        A mass that is not positive or a tensor that is not positive definite.
    """
    some = np.arange(bodies.n) if rows is None else unique(rows)
    failure, row = _initialise(bodies.handles, some.astype(np.int32))
    if not failure:
        failure, row = finite_element_motion.initialise(bodies, rows)
    if failure:
        _raise(bodies, failure, row)


def predict(bodies: BodyTable, loads: Loads, time: float, step: float) -> None:
    """Move bodies to mid-step: conf(t+h/2), u* in `velo`, u(t) in `velo_prev`, applied loads in `force`.

    Parameters
    ----------
    bodies : BodyTable
        State at `time`.
    loads : Loads
        Gravity, point forces and callbacks; evaluated at ``time + step/2`` in the mid-step configuration.
    time, step : float
        Beginning and length of the step.

    Raises
    ------
    SolfecError
        A body that turned inside out, a failing callback, a state that is not finite.
    NotBuiltYet
        A scheme that this version does not have.
    """
    elements = compiled(bodies)
    count = _predict_explicit(bodies, elements, loads, time, step)
    implicit = implicit_of(bodies, elements, count)
    if implicit.solvers:
        _predict_implicit(bodies, elements, implicit, step)


def predict_waking(bodies: BodyTable, loads: Loads, step: float) -> None:
    """Predict rigid bodies that wake in this step (column `rest`): they stood still, and gravity, as evaluated last, is all that loads them."""
    failure, row, _ = _predict(bodies.handles, BOTH, WAKING, step, loads.gravity)
    if failure:
        _raise(bodies, failure, row)


def _predict_implicit(bodies: BodyTable, elements, implicit, step: float) -> None:
    """Compute u* of bodies of scheme DEF_LIM, after a prediction as if they were explicit."""
    for solver in implicit.solvers:
        solver.refresh(bodies, step)
    for solver in implicit.elements:
        solver.add_velocities(bodies, step, elements.net, by_row=False)
        energy_momentum.iterate(elements, bodies, solver, step, reacting=False)
    if implicit.reduced:
        implicit.reduced.kick(bodies, step)
    if implicit.pseudo_rigid:
        implicit.pseudo_rigid.correct_free_velocity(bodies)


def _predict_explicit(bodies: BodyTable, elements, loads: Loads, time: float, step: float) -> int:
    """Make explicit predictions, with loads at mid-step; return the number of bodies of scheme DEF_LIM."""
    handles = bodies.handles
    if not (elements.count or loads.on_bodies):
        failure, row, implicit_bodies = _predict(handles, BOTH, MOVING, step, loads.gravity_at(time + 0.5 * step))
        if failure:
            _raise(bodies, failure, row)
        return implicit_bodies
    failure, row, _ = _predict(handles, DRIFT, MOVING, step, loads.gravity)
    damped = False
    if elements.count and not failure:
        damped, failure, row = finite_element_motion.drift(elements, bodies, step)
    if failure:
        _raise(bodies, failure, row)
    gravity = loads.apply(bodies, time + 0.5 * step, step)
    failure, row, implicit_bodies = _predict(handles, KICK, MOVING, step, gravity)
    if failure:
        _raise(bodies, failure, row)
    if elements.count:
        finite_element_motion.kick(elements, bodies, gravity, step, damped)
    return implicit_bodies


def correct(bodies: BodyTable, step: float) -> None:
    """End the step: u(t+h) from u* and `triples.reaction`, conf(t+h), KINETIC, INTERNAL, EXTERNAL and DISSIPATED energy.

    Raises
    ------
    SolfecError
        RIG_IMP found no angular velocity, or a reaction that is not finite.
    """
    elements = within_step(bodies)
    implicit = implicit_of_step(bodies, elements)
    if implicit.solvers:
        _add_implicit_reactions(implicit, elements, bodies, step)
    if elements.damped:
        finite_element_motion.dissipate(elements, bodies, step)
    if implicit.reduced and (row := implicit.reduced.end(bodies, step)) >= 0:
        _raise(bodies, finite_element_motion.TURNED_INSIDE_OUT, row)
    failure, row = _finish(bodies.handles, step)
    if elements.count and not failure:
        failure, row = finite_element_motion.finish(elements, bodies, step)
    if failure:
        _raise(bodies, failure, row)


def _add_implicit_reactions(implicit, elements, bodies: BodyTable, step: float) -> None:
    """Add h A^-1 r to bodies of scheme DEF_LIM where later kernels do not add it."""
    for solver in implicit.elements:
        solver.add_velocities(bodies, step, bodies.triples.reaction, by_row=True)
        energy_momentum.iterate(elements, bodies, solver, step, reacting=True)
    if implicit.reduced:
        implicit.reduced.react(bodies, step)
    if implicit.pseudo_rigid:
        implicit.pseudo_rigid.add_reactions(bodies, step)


def critical_step(bodies: BodyTable, wanted: float = math.inf) -> tuple[float, int]:
    """Return the admissible time step (half the limit: 1/omega_max without damping) and the row of the body that bounds it.

    Parameters
    ----------
    bodies : BodyTable
    wanted : float, optional
        If the admissible step is larger, any step from this one to the admissible one may be returned, which may be cheaper.

    Returns
    -------
    step, row
        ``(inf, -1)`` if no body is integrated explicitly; the first of equal bodies.

    Raises
    ------
    SolfecError
        A pseudo-rigid body without stiffness.
    """
    step, row, failure = _critical_step(bodies.handles, bodies.rank)
    if failure:
        _raise(bodies, failure, row)
    if row < 0:
        step = math.inf
    other = finite_element_motion.critical_step(bodies, wanted)
    return other if other[0] < step else (step, row)


def refined_critical_step(bodies: BodyTable, exactly: bool, wanted: float = math.inf) -> tuple[float, int]:
    """Return the critical step from frequencies of finite elements at the present strains instead of a bound.

    Parameters
    ----------
    bodies : BodyTable
    exactly : bool
        False: strains are ignored.
    wanted : float, optional
        As for `critical_step`.
    """
    elements = finite_element_motion.between_steps(bodies)
    if not elements.count:
        return critical_step(bodies, wanted)
    try:
        elements.square_present[:] = present_squares(elements) if exactly else 0.0
        return critical_step(bodies, wanted)
    finally:
        elements.square_present[:] = np.inf


def stability_limit(bodies: BodyTable, row: int, admissible: float) -> float:
    """Return the step beyond which explicit integration of a body is unstable; `admissible` is its admissible step.

    For finite elements it is at most that of the body at rest.
    """
    if bodies.kind[row] != BodyKind.FINITE_ELEMENT:
        return 2.0 * admissible
    return 2.0 * min(finite_element_motion.resting_step(bodies, row), math.sqrt(SHORT) * admissible)


def find_outside(bodies: BodyTable, scene) -> np.ndarray | None:
    """Return a mask (n,) of the bodies whose boxes do not overlap a scene's box, six numbers [length]; None: there are none."""
    outside = np.zeros(bodies.capacity, np.int32)
    count, status = _find_outside(bodies.handle, np.asarray(scene, float), outside)
    opened(status)
    if not count:
        return None
    return outside[: bodies.n] == 1


def spatial_points(bodies: BodyTable, rows: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Return current images (3, n) of the referential points (3, n) of the bodies `rows` (n)."""
    return _of_points(_spatial_points, bodies, rows, points)


def referential_points(bodies: BodyTable, rows: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Return referential points (3, n) whose current images are `points` (3, n).

    Raises
    ------
    SolfecError
        A pseudo-rigid body that is turned inside out.
    """
    return _of_points(_referential_points, bodies, rows, points)


def point_velocities(bodies: BodyTable, rows: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Return spatial velocities (3, n) of the referential points (3, n) of the bodies `rows` (n)."""
    return _of_points(_point_velocities, bodies, rows, points)


def _of_points(kernel, bodies: BodyTable, rows, points) -> np.ndarray:
    """Call a kernel that computes vectors (3, n) from points (3, n) of the bodies `rows` (n)."""
    rows = np.ascontiguousarray(rows, np.int32)
    points = np.asfortranarray(points, float)
    if rows.ndim != 1 or points.shape != (3, rows.size):
        raise ValueError(f"points must have the shape (3, {rows.size}), one column per row number, not {points.shape}")
    result = np.empty(points.shape, order="F")
    failure, row = kernel(bodies.handles, rows, points, result)
    if failure:
        _raise(bodies, failure, row)
    return result
