"""Snapshots and forces as arrays: what notebooks and couplings read and write."""

import copy
import pickle
import warnings

import numpy as np
import pytest
from unit_cube import CUBE

from solfec import AUTO_SOLVER, BODY, BULK_MATERIAL, ENERGY, GRAVITY, HEX, HULL, INITIAL_VELOCITY, RUN, SOLFEC, SPHERE, SURFACE_MATERIAL
from solfec.errors import SolfecError, SolfecWarning
from solfec.kinds import BodyKind


def moved(shift):
    return [x + shift[k % 3] for k, x in enumerate(CUBE)]


def scene(step=1e-3):
    """An obstacle below, and a rigid, a pseudo-rigid and a finite element cube, far from each other."""
    model = SOLFEC("DYNAMIC", step)
    model.verbose = "OFF"
    bulk = BULK_MATERIAL(model, young=1e6, poisson=0.25, density=1e3)
    SURFACE_MATERIAL(model, friction=0.0)
    BODY(model, "OBSTACLE", HULL(moved((0, 0, -50)), 1, 1), bulk)
    bodies = [
        BODY(model, "RIGID", HULL(moved((0, 0, 0)), 1, 1), bulk),
        BODY(model, "PSEUDO_RIGID", HULL(moved((5, 0, 0)), 1, 1), bulk),
        BODY(model, "FINITE_ELEMENT", HEX(moved((10, 0, 0)), 2, 2, 2, 1, [1] * 6), bulk),
    ]
    return model, bodies


def test_a_snapshot_tells_where_bodies_are_and_how_they_move():
    model, bodies = scene()
    for body in bodies:
        INITIAL_VELOCITY(body, (1, 2, 3), (0, 0, 0.5))
    shot = model.snapshot()
    assert shot.time == 0 and shot.bodies.id.tolist() == [1, 2, 3, 4]
    np.testing.assert_allclose(shot.bodies.centre[1:], [(0.5, 0.5, 0.5), (5.5, 0.5, 0.5), (10.5, 0.5, 0.5)], atol=1e-12)
    np.testing.assert_allclose(shot.bodies.velocity[1:], [(1, 2, 3)] * 3, atol=1e-12)
    np.testing.assert_allclose(shot.bodies.mass, 1000)
    RUN(model, AUTO_SOLVER(), 0.2)
    later = model.snapshot().bodies
    np.testing.assert_allclose(later.centre[1:] - shot.bodies.centre[1:], [(0.2, 0.4, 0.6)] * 3, atol=1e-9)
    c, s = np.cos(0.1), np.sin(0.1)
    np.testing.assert_allclose(later.rotation[1], [[c, -s, 0], [s, c, 0], [0, 0, 1]], atol=1e-6)
    np.testing.assert_allclose(later.rotation[2:, :2, :2], [[[c, -s], [s, c]]] * 2, atol=1e-3)  # they strain a little as they turn
    np.testing.assert_allclose(later.angular_velocity[1], (0, 0, 0.5), atol=1e-12)
    assert np.isnan(later.angular_velocity[2:]).all()
    assert shot.bodies.centre[1].tolist() == [0.5, 0.5, 0.5]  # a copy


def test_a_snapshot_has_the_contacts_of_a_body_at_rest():
    model = SOLFEC("DYNAMIC", 1e-3, contacts="MANIFOLD")
    model.verbose = "OFF"
    bulk = BULK_MATERIAL(model, density=1e3)
    SURFACE_MATERIAL(model, friction=0.5)
    GRAVITY(model, (0, 0, -10))
    BODY(model, "OBSTACLE", HULL(moved((0, 0, -1)), 1, 1), bulk)
    BODY(model, "RIGID", HULL(moved((0, 0, 0)), 1, 1), bulk)
    RUN(model, AUTO_SOLVER(1e-12), 0.02)
    found = model.snapshot().constraints
    assert found.contacts.all() and len(found.id) == 4
    assert sorted(found.bodies[0].tolist()) == [1, 2]
    total = np.einsum("nij,nj->i", found.base, found.R)
    np.testing.assert_allclose(np.abs(total), (0, 0, 1e4), atol=1e-6)


def test_forces_as_arrays_accelerate_every_kind_of_body_alike():
    pushed, bodies = scene()
    fallen, others = scene()
    GRAVITY(fallen, (1, -2, 3))
    pushed.add_forces(lambda bodies, time, step: bodies.mass[:, None] * (1.0, -2.0, 3.0))
    for model in (pushed, fallen):
        RUN(model, AUTO_SOLVER(), 0.3)
    for one, other in zip(bodies, others):
        np.testing.assert_allclose(one.conf, other.conf, atol=1e-12)
        np.testing.assert_allclose(one.velo, other.velo, atol=1e-11)


def test_torques_as_arrays_turn_rigid_bodies():
    model, (rigid, *_) = scene()

    def turn(bodies, time, step):
        torque = np.zeros_like(bodies.centre)
        torque[1] = (0, 0, 500.0)
        return np.zeros_like(bodies.centre), torque

    model.add_forces(turn)
    RUN(model, AUTO_SOLVER(), 1.0)
    assert model.snapshot().bodies.angular_velocity[1] == pytest.approx((0, 0, 3.0), abs=1e-9)  # J = m/6


def test_drag_of_many_bodies_decays_as_theory_says():
    def speed(step):
        model = SOLFEC("DYNAMIC", step)
        model.verbose = "OFF"
        bulk = BULK_MATERIAL(model, density=1e3)
        for x in range(50):
            INITIAL_VELOCITY(BODY(model, "RIGID", SPHERE((x, 0, 0), 0.1, 1, 1), bulk), (0, 1, 0), (0, 0, 0))
        model.add_forces(lambda bodies, time, step: -3.0 * bodies.mass[:, None] * bodies.velocity)
        RUN(model, AUTO_SOLVER(), 0.5)
        assert len(set(model.snapshot().bodies.velocity[:, 1].tolist())) == 1
        return model.snapshot().bodies.velocity[0, 1]

    coarse, fine = (abs(speed(step) - np.exp(-1.5)) for step in (1e-2, 5e-3))
    assert fine < 0.6 * coarse < 0.01  # velocities of the beginning of the step: first order


@pytest.mark.parametrize(
    "function, words",
    [
        (lambda bodies, time, step: np.zeros(3), r"finite numbers of the shape \(4, 3\)"),
        (lambda bodies, time, step: np.full((4, 3), np.nan), "finite numbers"),
        (lambda bodies, time, step: "up", r"SOLFEC.add_forces: what the function returns must be finite numbers of the shape \(4, 3\), not 'up'"),
        (lambda bodies, time, step: (np.zeros((4, 3)),) * 3, "returned 3 arrays"),
        (lambda bodies, time, step: (None, np.ones((4, 3))), "deforms and takes no torque"),
    ],
)
def test_wrong_forces_are_errors_that_say_so(function, words):
    model, _ = scene()
    model.add_forces(function)
    with pytest.raises(SolfecError, match=words):
        RUN(model, AUTO_SOLVER(), 0.01)


@pytest.mark.parametrize("command", ["add_forces", "before_motion"])
def test_loads_on_obstacles_which_take_none_are_told_once(command):
    model, bodies = scene()

    def push(bodies, time, step):
        bodies.force[:] = 1.0

    model.before_motion(push) if command == "before_motion" else model.add_forces(lambda bodies, time, step: np.ones((4, 3)))
    with pytest.warns(SolfecWarning, match=f"SOLFEC.{command}: obstacles take no loads, and those on body 1 have no effect") as told:
        RUN(model, AUTO_SOLVER(), 0.01)
    assert len(told) == 1 and bodies[0].velo[3] == pytest.approx(0.01 / 1000)
    model, _ = scene()
    model.add_forces(lambda bodies, time, step: (bodies.kind != BodyKind.OBSTACLE)[:, None] * np.ones((4, 3)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        RUN(model, AUTO_SOLVER(), 0.002)


def test_models_are_not_copied_and_what_they_tell_is():
    """Copies failed from the depths once a run had begun; pools of processes could not return energies."""
    model, bodies = scene()
    RUN(model, AUTO_SOLVER(), 0.002)
    for each in (model, bodies[0], {"all": bodies}):
        for copied, word in ((copy.deepcopy, "copied"), (pickle.dumps, "pickled")):
            with pytest.raises(SolfecError, match=f"a (SOLFEC|BODY) cannot be {word}, since it refers to its model; make the model again"):
                copied(each)
    assert copy.copy(model) == model and copy.copy(bodies[0]).velo == bodies[0].velo
    energy = ENERGY(model)
    for again in (copy.copy(energy), copy.deepcopy(energy), pickle.loads(pickle.dumps(energy))):
        assert again == energy and again.dissipated == energy.dissipated


def test_what_is_no_function_is_refused():
    model, _ = scene()
    with pytest.raises(TypeError, match="'function' must be callable, not float"):
        model.add_forces(3.0)
