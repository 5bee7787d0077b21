"""Impacts of bodies that begin nearer to one another than they move in half a step.

Contacts are found in the middle of steps, so the first half step of a body has none: it would carry the body into others, or through thin ones.  Before
it a copy of the model meets what it would meet within half a step, in a step of a negligible length.  Only velocities come back.
"""

from __future__ import annotations

import copy

import numpy as np

from . import _kernels, step_limit
from .bodies.finite_elements import within_step
from .bodies.implicit import implicit_of_step
from .bodies.loads import BodyCallbacks, Loads
from .constraints.joint_operators import coordinates_and_rates, relative_velocities
from .edited_energy import accounted
from .kinds import PRESCRIBED, ConstraintKind, Energy, Motor, SurfaceModel
from .motion_hooks import Hooks
from .solvers.auto import AutoSolver
from .tables import opened
from .time_step import TimeStep

PART_OF_STEP = 1e-9  # length of the step of impacts over that of others
SLIVER = 0.02  # over the margin: overlaps so small do not matter
ACCURACY, SWEEPS = 1e-8, 1000
MOST_COMPARED = 1_000_000  # boxes of new bodies times boxes of all

_bound_lengths = _kernels.motion_bounds.bound_lengths


class Newborn:
    """Bodies of a model that have not begun to move."""

    def __init__(self):
        self._first = 0  # lowest identifier of these; 0: before the first step of a run

    def go_on(self, model) -> None:
        """Let all bodies count as moving, such as fragments of moving ones."""
        self._first = model.next_body_id

    def begin_motion(self, model) -> None:
        """Let new bodies meet, at the beginning of a step, what they would pass in its first half."""
        first, self._first = self._first, model.next_body_id
        if first < self._first and (first or not model.step_number):  # a continued run has known its bodies
            model.settle()
            step_limit.limit_step(model)
            strike(model, first)


def copy_without_functions(model):
    """Return a copy of a model without functions of the user, who may count on it that there is one of each."""
    loads, callbacks, functions = model.loads, BodyCallbacks(), model.constraints.functions
    others = {id(model.hooks): Hooks(), id(loads.callbacks): callbacks, id(loads.sources): [callbacks], id(loads.of_step): [], id(model.kept_rows): None}
    return copy.deepcopy(model, {**others, id(functions): functions})


def strike(model, first: int) -> None:
    """Change the velocities of a model with new bodies, if any of them would overlap others after half a step, by the impacts that prevent it.

    Parameters
    ----------
    model : Domain
        At the beginning of a step, all changes of the user taken into account.
    first : int
        Identifier from which bodies are new.
    """
    if not (model.dynamic and model.surface_materials.view("gap_aware").any() and _may_meet(model, first)):
        return
    trial = copy_without_functions(model)
    trial.loads, phases, half = Loads(trial.bodies), TimeStep(trial), 0.5 * model.step
    trial.step = PART_OF_STEP * model.step
    phases.predict()
    _keep_motions(trial)
    phases.driven.forget()
    for solver in implicit_of_step(trial.bodies, within_step(trial.bodies)).solvers:
        solver.refresh(trial.bodies, model.step)  # bodies that steps do not resolve are struck as in whole steps, as stiff ones
    trial.step = half  # shapes are found to move by what bodies move in half a step
    phases.detect()
    trial.step = PART_OF_STEP * model.step
    trial.constraints.view("gap")[trial.constraints.user_count :] *= trial.step / half  # what closes in half a step, closes in this one
    trial.epsilon *= trial.step / half
    solver = AutoSolver(ACCURACY, SWEEPS)
    phases.assemble(solver.stored_form, solver.colouring)
    if not _meet(trial, first):
        return
    phases.solve(solver)
    friction = phases.correct()[1]
    _take_velocities(model, trial.bodies, friction)
    if model.sleeping.on:
        model.sleeping.wake_all()


def _keep_motions(trial) -> None:
    """Let prescribed motions and motors keep the velocities that there are: what they prescribe is for the end of the step."""
    constraints, bodies = trial.constraints, trial.bodies
    users = slice(0, constraints.user_count)
    kind, motor = constraints.kind[users], constraints.motor[users] & ~Motor.CALLED
    rows = np.flatnonzero(np.isin(kind, PRESCRIBED))
    velocity = relative_velocities(constraints, bodies, rows)
    constraints.value[:, rows] = np.where(kind[rows] == ConstraintKind.VELODIR, velocity[2], velocity)
    rows = np.flatnonzero((motor == Motor.RATE) | (motor == Motor.COORDINATE))
    constraints.value[0, rows] = coordinates_and_rates(constraints, bodies, rows)[1]
    constraints.motor[rows] = Motor.RATE


def _take_velocities(model, struck, friction: float) -> None:
    """Give a model the velocities of bodies that are `struck`; what they lose is the work of contacts, `friction` of it that of tangential reactions."""
    bodies, energy = model.bodies, model.bodies.view("energy")
    before, external = accounted(energy), energy[Energy.EXTERNAL].sum()
    bodies.triples.view("velo")[:] = struck.triples.view("velo")
    for name in ("momentum", "energy"):
        bodies.view(name)[:] = struck.view(name)
    energy[Energy.EXTERNAL] += accounted(energy) - before
    model.contact_energy += energy[Energy.EXTERNAL].sum() - external - friction
    model.friction_energy += friction


def _may_meet(model, first: int) -> bool:
    """Whether new bodies, or others towards them, move by more than a sliver in half a step, and their boxes meet in it."""
    bodies, margin = model.bodies, model.geometry.primitives.view("margin")
    model.settings.set_margins(model.geometry)
    new = bodies.view("id") >= first
    if bodies.n < 2 or not (new.any() and margin.size):
        return False
    speed = np.zeros(bodies.n)
    opened(_bound_lengths(bodies.handles, np.asfortranarray(bodies.triples.velo), speed))
    way = 0.5 * model.step * speed
    return bool(way[new].max() + way.max() > SLIVER * margin.min()) and _boxes_meet(model, new, way)


def _boxes_meet(model, new: np.ndarray, way: np.ndarray) -> bool:
    """Whether boxes of new bodies come upon those of others while bodies move by some lengths (n,); too many boxes are not compared, and may."""
    model.states.update_shapes()
    body, box = (model.geometry.primitives.view(name) for name in ("body", "box"))
    chosen = np.flatnonzero(new[body])
    if chosen.size * body.size > MOST_COMPARED:
        return True
    low, high = box[:3] - way[body], box[3:] + way[body]
    meet = ((low[:, chosen, None] <= high[:, None, :]) & (low[:, None, :] <= high[:, chosen, None])).all(axis=0)
    return bool((meet & (body[chosen, None] != body)).any())


def _meet(trial, first: int) -> bool:
    """Whether gap-aware contacts of new bodies would overlap by more than a sliver after half a step; gaps are scaled to the present step."""
    local, constraints, materials = trial.local_dynamics, trial.constraints, trial.surface_materials
    margin, ids = trial.geometry.primitives.margin, trial.bodies.id
    rows = local.rows.order[: local.n]
    contacts = constraints.kind[rows] == ConstraintKind.CONTACT
    rows, closing = rows[contacts], -trial.step * local.rows.V[2, : local.n][contacts]
    least = np.minimum(margin[constraints.master_primitive[rows]], margin[constraints.slave_primitive[rows]])
    sliver = np.maximum(2 * PART_OF_STEP * SLIVER * least, 10 * trial.epsilon)
    material = constraints.material[rows]
    meet = (constraints.gap[rows] - closing < -sliver) & (constraints.gap[rows] >= -trial.epsilon)
    meet &= (materials.gap_aware[material] > 0.0) & (materials.model[material] != SurfaceModel.SPRING_DASHPOT)
    return bool((meet & (np.maximum(ids[constraints.master[rows]], ids[constraints.slave[rows]]) >= first)).any())
