"""Functions that every step calls before and after the motion of bodies."""

import sys
from pathlib import Path

import numpy as np
import pytest
from unit_cube import CUBE

import solfec as s
from solfec.errors import SolfecError

KINDS = ("OBSTACLE", "RIGID", "PSEUDO_RIGID", "FINITE_ELEMENT")


def cube(model, kind, x, bulk, **options):
    place = (x, 0, 0)
    shape = s.HEX(CUBE, 2, 2, 2, 1, [1] * 6) if kind == "FINITE_ELEMENT" else s.HULL(CUBE, 1, 1)
    return s.BODY(model, kind, s.TRANSLATE(shape, place), bulk, **options)


def scene(output=None, step=1e-3, analysis="DYNAMIC"):
    """A cube of every kind, far from each other."""
    model = s.SOLFEC(analysis, step, output)
    model.verbose = "OFF"
    bulk = s.BULK_MATERIAL(model, young=1e6, poisson=0.25, density=1e3)
    s.SURFACE_MATERIAL(model, friction=0.0)
    return model, [cube(model, kind, 5 * k, bulk) for k, kind in enumerate(KINDS)], bulk


def test_hooks_are_called_once_a_step_in_order_with_its_ends():
    model, _, _ = scene()
    calls = []
    for name in ("a", "b"):
        model.before_motion(lambda bodies, time, step, name=name: calls.append(("before " + name, time, step, model.time)))
        model.after_motion(lambda bodies, time, step, name=name: calls.append(("after " + name, time, step, model.time)))
    s.RUN(model, s.AUTO_SOLVER(), 3e-3)
    for k in range(3):
        names, times, steps, seen = zip(*calls[4 * k : 4 * k + 4])
        assert names == ("before a", "before b", "after a", "after b")
        assert times == seen == pytest.approx((1e-3 * k, 1e-3 * k, 1e-3 * (k + 1), 1e-3 * (k + 1)), abs=1e-15)
        assert set(steps) == {1e-3}
    assert len(calls) == 12


def test_a_hook_before_motion_knows_the_step_that_explicit_bodies_ask_for():
    model, _, _ = scene(step=0.5)
    steps = []
    model.before_motion(lambda bodies, time, step: steps.append(step))
    for _ in model.steps(s.AUTO_SOLVER(), 0.02):
        assert steps[-1] == model.step < 0.5


def test_velocities_written_before_motion_are_those_of_initial_velocity():
    written, bodies, _ = scene()
    given, others, _ = scene()
    for model in (written, given):
        s.GRAVITY(model, (0, 0, -1))
    for body in (bodies[1], others[1]):
        s.INITIAL_VELOCITY(body, (0, 0, 0), (0.3, -0.2, 0.1))  # so that referential and spatial differ

    def write(bodies, time, step):
        if time == 0:
            bodies.velocity[1:] = [(1, 2, 3)] * 3

    written.before_motion(write)
    s.INITIAL_VELOCITY(others[1], (1, 2, 3), (0.3, -0.2, 0.1))
    for body in others[2:]:
        s.INITIAL_VELOCITY(body, (1, 2, 3), (0, 0, 0))
    for model in (written, given):
        s.RUN(model, s.AUTO_SOLVER(), 0.2)
    for one, other in zip(bodies, others):
        assert list(one.velo) == list(other.velo) and list(one.conf) == list(other.conf)


def test_angular_velocities_are_spatial():
    model, (_, rigid, *_), _ = scene()
    s.INITIAL_VELOCITY(rigid, (0, 0, 0), (1, 0, 0))
    s.RUN(model, s.AUTO_SOLVER(), 0.5)

    def turn(bodies, time, step):
        bodies.angular_velocity[1] = (0, 0, 2)

    model.before_motion(turn)
    s.RUN(model, s.AUTO_SOLVER(), 1e-3)
    assert model.snapshot().bodies.angular_velocity[1] == pytest.approx((0, 0, 2), abs=1e-12)


def test_bodies_that_a_hook_does_not_change_keep_their_bits():
    watched, bodies, _ = scene()
    plain, others, _ = scene()
    watched.before_motion(lambda bodies, time, step: bodies.velocity.sum() + bodies.angular_velocity[:2].sum() and None)
    watched.after_motion(lambda bodies, time, step: bodies.centre.sum() and None)
    for model, (_, rigid, _, mesh) in ((watched, bodies), (plain, others)):
        s.INITIAL_VELOCITY(rigid, (1, 2, 3), (0.1, 0.2, 0.3))
        s.INITIAL_VELOCITY(mesh, (1, 2, 3), (0.1, 0.2, 0.3))
        s.RUN(model, s.AUTO_SOLVER(), 0.1)
    for one, other in zip(bodies, others):
        assert list(one.velo) == list(other.velo) and list(one.conf) == list(other.conf)


@pytest.mark.parametrize("analysis", ["DYNAMIC", "QUASI_STATIC"])
def test_loads_of_a_step_are_those_of_add_forces(analysis):
    """Equal loads given before motion and at mid-step lead to equal bits, in dynamics and quasi-statics."""
    hooked, bodies, _ = scene(analysis=analysis)
    pushed, others, _ = scene(analysis=analysis)
    force = np.array([(9, 9, 9), (1, -2, 3), (2, 0, 1), (0, 1, -1)], float)
    torque = np.array([(0, 0, 0), (0, 0, 5), (0, 0, 0), (0, 0, 0)], float)

    def load(bodies, time, step):
        bodies.force += (1 + time) * force
        bodies.torque = torque

    hooked.before_motion(load)
    shift = pushed.step / 2 if analysis == "DYNAMIC" else pushed.step
    pushed.add_forces(lambda bodies, time, step: ((1 + (round((time - shift) / step)) * step) * force, torque))
    for model in (hooked, pushed):
        s.RUN(model, s.AUTO_SOLVER(), 0.05)
    for one, other in zip(bodies, others):
        np.testing.assert_allclose(one.velo, other.velo, rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(one.conf, other.conf, rtol=1e-12, atol=1e-15)
    assert np.abs(bodies[1].velo[3:]).min() > 0 or analysis == "QUASI_STATIC"


def test_loads_of_a_step_end_with_it():
    model, (_, rigid, *_), _ = scene()

    def kick(bodies, time, step):
        if time == 0:
            bodies.force[1] = (0, 0, 1e3 / step)

    model.before_motion(kick)
    s.RUN(model, s.AUTO_SOLVER(), 0.1)
    assert rigid.velo[5] == pytest.approx(1.0, abs=1e-12)


def test_functions_of_single_bodies_and_of_many_add_up_in_the_order_of_one_list():
    """FORCE with a function, TORQUE with a function, add_forces and a hook act on one body."""
    model, (_, rigid, *_), _ = scene()
    model.add_forces(lambda bodies, time, step: 1e3 * np.eye(4)[:, 1:2] * (0, 1, 0))
    s.FORCE(rigid, "SPATIAL", (0, 0, 0), (0, 0, 1), lambda q, u, t, h: (1e3, 0, 0, 0, 0, 0, 0, 0, 0))
    s.TORQUE(rigid, "SPATIAL", (0, 0, 1), lambda q, u, t, h: 1e3 / 6)
    model.before_motion(lambda bodies, time, step: bodies.force.__setitem__((1, 2), 1e3))
    s.RUN(model, s.AUTO_SOLVER(), 0.5)
    found = model.snapshot().bodies
    assert found.velocity[1] == pytest.approx((0.5, 0.5, 0.5), abs=1e-12)
    assert found.angular_velocity[1] == pytest.approx((0, 0, 0.5), abs=1e-9)


def test_arrays_after_motion_are_views_of_the_end_of_the_step():
    model, (_, rigid, soft, mesh), _ = scene()
    s.INITIAL_VELOCITY(rigid, (1, 0, 0), (0, 0, 0))
    checked = []

    def look(bodies, time, step):
        tables = model._domain.bodies
        assert np.shares_memory(bodies.velo, tables.triples.velo) and np.shares_memory(bodies.conf, tables.configurations.conf)
        assert np.shares_memory(bodies.id, tables.id) and np.shares_memory(bodies.mass, tables.mass)
        for i, body in enumerate((rigid, soft, mesh), start=1):
            first, size = bodies.velo_ptr[i], len(body.velo) // 3
            assert bodies.velo[:, first : first + size].T.ravel().tolist() == list(body.velo)
            first, size = bodies.conf_ptr[i], len(body.conf) // 3
            assert bodies.conf[:, first : first + size].T.ravel().tolist() == list(body.conf)
        assert bodies.centre.tolist() == model.snapshot().bodies.centre.tolist()
        assert bodies.centre[1, 0] == pytest.approx(5.5 + time)
        checked.append(time)

    model.after_motion(look)
    s.RUN(model, s.AUTO_SOLVER(), 5e-3)
    assert len(checked) == 5


@pytest.mark.parametrize("name", ["velo", "conf", "velocity", "centre", "mass", "force"])
def test_what_counts_for_nothing_after_motion_cannot_be_written(name):
    model, _, _ = scene()

    def write(bodies, time, step):
        getattr(bodies, name)[:] = 0

    model.after_motion(write)
    with pytest.raises((ValueError, AttributeError)) as caught:
        s.RUN(model, s.AUTO_SOLVER(), 1e-3)
    assert "in a function of SOLFEC.after_motion at time 0.001" in caught.value.__notes__
    with pytest.raises(AttributeError):
        model, _, _ = scene()
        model.after_motion(lambda bodies, time, step: setattr(bodies, "velocity", 0))
        s.RUN(model, s.AUTO_SOLVER(), 1e-3)


def test_frames_and_callbacks_see_what_hooks_after_motion_have_done(tmp_path):
    model, (_, rigid, *_), _ = scene(tmp_path / "out")
    order = []
    model.after_motion(lambda bodies, time, step: order.append("after") or s.INITIAL_VELOCITY(rigid, (time, 0, 0), (0, 0, 0)))
    s.CALLBACK(model, 1e-3, None, lambda _: order.append("callback"))
    s.RUN(model, s.AUTO_SOLVER(), 2e-3)
    assert order == ["after", "callback"] * 2
    read = s.SOLFEC("DYNAMIC", 1e-3, tmp_path / "out", mode="READ")
    bulk = s.BULK_MATERIAL(read, young=1e6, poisson=0.25, density=1e3)
    bodies = [cube(read, kind, 5 * k, bulk) for k, kind in enumerate(KINDS)]
    s.SEEK(read, 2e-3)
    assert bodies[1].velo[3] == 2e-3


# --- hooks that raise, change bodies, are none ----------------------------------------------------------------


@pytest.mark.parametrize("place", ["before_motion", "after_motion"])
def test_a_hook_that_raises_ends_the_run_at_the_end_of_a_step(place):
    model, (_, rigid, *_), _ = scene()
    s.INITIAL_VELOCITY(rigid, (1, 0, 0), (0, 0, 0))
    once = []

    def fail(bodies, time, step):
        if time > 2.5e-3 and not once:
            once.append(time)
            raise KeyError("mine")

    getattr(model, place)(fail)
    if place == "before_motion":
        model.before_motion(lambda bodies, time, step: None)
    with pytest.raises(KeyError, match="mine") as caught:
        s.RUN(model, s.AUTO_SOLVER(), 0.01)
    assert caught.value.__notes__ == [f"in a function of SOLFEC.{place} at time 0.003"]
    assert model.time == pytest.approx(3e-3) and rigid.conf[9] == pytest.approx(5.5 + 3e-3)
    s.RUN(model, s.AUTO_SOLVER(), 7e-3)
    assert model.time == pytest.approx(0.01) and rigid.conf[9] == pytest.approx(5.51)


def test_loads_of_a_step_that_a_hook_stops_are_not_left_for_another():
    model, (_, rigid, *_), _ = scene()
    tries = []

    def push(bodies, time, step):
        bodies.force[1] = (1e3, 0, 0)

    def fail(bodies, time, step):
        tries.append(time)
        if len(tries) == 1:
            raise ValueError

    model.before_motion(push)
    model.before_motion(fail)
    with pytest.raises(ValueError):
        s.RUN(model, s.AUTO_SOLVER(), 1e-3)
    s.RUN(model, s.AUTO_SOLVER(), 1e-3)
    assert rigid.velo[3] == pytest.approx(1e-3, rel=1e-12)


@pytest.mark.parametrize("place", ["before_motion", "after_motion"])
def test_hooks_may_make_and_delete_bodies(place):
    """Velocities and loads that were written go to the bodies that are left."""
    model, bodies, bulk = scene()
    made = []

    def change(arrays, time, step):
        if time > 1.5e-3 and not made:
            if place == "before_motion":
                arrays.velocity[1:] = (1, 0, 0)
                arrays.force[1:] = (0, 1e3 / step, 0)
            s.DELETE(model, bodies[2])
            made.append(cube(model, "RIGID", 20, bulk))
            made.append(cube(model, "FINITE_ELEMENT", 25, bulk))
            assert model.snapshot().bodies.centre[-1] == pytest.approx((25.5, 0.5, 0.5))

    getattr(model, place)(change)
    s.RUN(model, s.AUTO_SOLVER(), 5e-3)
    found = model.snapshot().bodies
    assert found.id.tolist() == [1, 2, 4, 5, 6]
    moving = (1, 1, 0) if place == "before_motion" else (0, 0, 0)
    np.testing.assert_allclose(found.velocity, [(0, 0, 0), moving, moving, (0, 0, 0), (0, 0, 0)], atol=1e-12)


def test_arrays_that_a_hook_asks_for_after_it_changed_bodies_are_refused():
    model, bodies, _ = scene()

    def change(arrays, time, step):
        s.DELETE(model, bodies[2])
        return arrays.centre

    model.after_motion(change)
    with pytest.raises(SolfecError, match="bodies have been made or deleted"):
        s.RUN(model, s.AUTO_SOLVER(), 1e-3)


@pytest.mark.parametrize("place", ["before_motion", "after_motion"])
@pytest.mark.parametrize("wrong", [3.0, None, "name"])
def test_what_is_no_function_is_refused(place, wrong):
    model, _, _ = scene()
    with pytest.raises(TypeError, match="'function' must be callable, not"):
        getattr(model, place)(wrong)


@pytest.mark.parametrize("place", ["before_motion", "after_motion"])
def test_what_returns_something_is_an_error(place):
    model, _, _ = scene()
    getattr(model, place)(lambda bodies, time, step: bodies.mass)
    with pytest.raises(SolfecError, match=f"SOLFEC.{place}: at time .* the function returned ndarray; it must return nothing"):
        s.RUN(model, s.AUTO_SOLVER(), 1e-3)


def test_a_hook_cannot_run_the_model():
    model, _, _ = scene()
    model.after_motion(lambda bodies, time, step: s.RUN(model, s.AUTO_SOLVER(), 1e-3))
    with pytest.raises(SolfecError, match="is running already"):
        s.RUN(model, s.AUTO_SOLVER(), 1e-3)


WRONG = {
    "not finite": ("velocity", (1, (0, np.nan, 0)), r"body 2 cannot take a velocity that is not finite"),
    "turned": ("angular_velocity", (3, (0, 0, 1)), r"body 4 deforms and has no angular velocity"),
    "force": ("force", (1, (0, np.inf, 0)), r"'bodies.force' must be finite numbers"),
    "torque": ("torque", (2, (0, 0, 1)), r"body 3 deforms and takes no torque"),
}


@pytest.mark.parametrize("name, numbers, words", WRONG.values(), ids=WRONG)
def test_wrong_numbers_are_errors_that_say_whose(name, numbers, words):
    model, _, _ = scene()
    row, values = numbers
    model.before_motion(lambda bodies, time, step: getattr(bodies, name).__setitem__(row, values))
    with pytest.raises(SolfecError, match="SOLFEC.before_motion.*" + words):
        s.RUN(model, s.AUTO_SOLVER(), 1e-3)


def test_arrays_of_the_wrong_shape_are_refused():
    model, _, _ = scene()
    model.before_motion(lambda bodies, time, step: setattr(bodies, "force", np.zeros((3, 4))))
    with pytest.raises(ValueError, match="broadcast"):
        s.RUN(model, s.AUTO_SOLVER(), 1e-3)


def test_joints_of_bodies_that_get_a_velocity_are_looked_at_anew():
    """As after INITIAL_VELOCITY the first step stops the point that is held."""
    states = []
    for hooked in (True, False):
        model, (_, rigid, *_), _ = scene()
        s.FIX_POINT(rigid, (5, 0, 0))
        s.RUN(model, s.GAUSS_SEIDEL_SOLVER(1e-12, 1000), 2e-3)
        if hooked:
            model.before_motion(lambda bodies, time, step, start=model.time: bodies.velocity.__setitem__(1, (0, 1, 0)) if time == start else None)
        else:
            s.INITIAL_VELOCITY(rigid, (0, 1, 0), (0, 0, 0))
        s.RUN(model, s.GAUSS_SEIDEL_SOLVER(1e-12, 1000), 5e-3)
        states.append(list(rigid.velo) + list(rigid.conf))
    assert states[0] == states[1] and abs(states[0][2]) > 0.1


# --- steps without hooks, and other solvers -------------------------------------------------------------------


def outsiders(model, solver):
    """Files, other than Solfec's, numpy's and Python's own, whose functions three steps call."""
    inside = [str(Path(module.__file__).parent) for module in (s, np)]
    called = set()

    def note(frame, event, argument):
        file = frame.f_code.co_filename
        if event == "call" and not file.startswith("<") and not any(file.startswith(folder) for folder in inside):
            called.add(Path(file).name)

    domain = model._domain
    domain.advance(solver)
    sys.setprofile(note)
    try:
        for _ in range(3):
            domain.advance(solver)
    finally:
        sys.setprofile(None)
    return called


def test_a_step_without_functions_of_the_user_calls_none():
    model, (_, rigid, *_), _ = scene()
    s.GRAVITY(model, (0, 0, -10))
    s.FORCE(rigid, "SPATIAL", (5, 0, 0), (0, 0, 1), 3.0)
    solver = s.AUTO_SOLVER()._solver
    assert Path(__file__).name not in outsiders(model, solver)
    assert not model._domain.loads.in_python
    model.after_motion(lambda bodies, time, step: None)
    assert Path(__file__).name in outsiders(model, solver)


# --- the switch -c --------------------------------------------------------------------------------------------

FALL = """
solfec = SOLFEC('DYNAMIC', 1E-3, 'out/fall')
solfec.verbose = 'OFF'
stone = BULK_MATERIAL(solfec, density=1000.0)
ball = BODY(solfec, 'RIGID', SPHERE((0, 0, 0), 1, 1, 1), stone, label='ball')
OUTPUT(solfec, 4E-3)
{more}
RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-3, 100), {duration})
"""


@pytest.fixture
def fall(run_text):
    """`fall(duration, *switches, more=text, status=0)` runs the input; returns what it prints, or its errors."""

    def run(duration, *switches, more="", status=0):
        return run_text(FALL.format(duration=duration, more=more), *switches, status=status)

    return run


def test_a_continued_run_calls_hooks_for_the_steps_that_it_computes(fall):
    more = "solfec.before_motion(lambda b, t, h: print('b%g' % t)); solfec.after_motion(lambda b, t, h: print('a%g' % t))"
    assert fall(0.002, more=more).split() == ["b0", "a0.001", "b0.001", "a0.002"]
    assert fall(0.003, "-c", more=more).split() == ["b0.002", "a0.003"]


@pytest.mark.parametrize("name, body", [("add_forces", "0 * b.velocity"), ("before_motion", "None"), ("after_motion", "None")])
def test_functions_that_a_callback_gave_cannot_be_continued(fall, name, body):
    more = f"CALLBACK(solfec, 4E-3, (), lambda: solfec.{name}(lambda b, t, h: {body}))"
    fall(0.012, more=more)
    assert f"SOLFEC.{name} was called during the run; a continued run has no such function" in fall(0.02, "-c", more=more, status=1)


def test_functions_that_the_input_no_longer_gives_are_edits(fall):
    more = "solfec.before_motion(lambda b, t, h: b.force.__setitem__((0, 2), 1.0))"
    fall(0.008, more=more)
    fall(0.012, "-c")
