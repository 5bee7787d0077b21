"""The toolbox: a run in phases has the bits of RUN, states travel through the buffer, and any function can be the solver."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import solfec as s
from solfec.coupling.toolbox import Buffer, CallableSolver, InteractionSolver, OpenStep, SolfecInteractionSolver, SolfecSimulation
from solfec.errors import SolfecError, SolfecWarning

CUBE = [-1, -1, 0, 1, -1, 0, 1, 1, 0, -1, 1, 0, -1, -1, 2, 1, -1, 2, 1, 1, 2, -1, 1, 2]


def stack(output=None, friction=0.5, restitution=0.3):
    """A ground, two rigid cubes, a pseudo-rigid one, finite elements and a ball on a rod, about to fall on one another."""
    solfec = s.SOLFEC("DYNAMIC", 1e-3, output)
    solfec.verbose = "OFF"
    s.SURFACE_MATERIAL(solfec, friction=friction, restitution=restitution)
    bulk = s.BULK_MATERIAL(solfec, density=1000, young=1e7, poisson=0.2)
    s.GRAVITY(solfec, (0, 0, -10))
    s.BODY(solfec, "OBSTACLE", s.TRANSLATE(s.HULL(CUBE, 1, 1), (0, 0, -2)), bulk)
    kinds = ["RIGID", "RIGID", "PSEUDO_RIGID"]
    bodies = [s.BODY(solfec, kind, s.TRANSLATE(s.HULL(CUBE, 1, 1), (0.1 * k, 0, 2.001 * k)), bulk) for k, kind in enumerate(kinds)]
    s.BODY(solfec, "FINITE_ELEMENT", s.TRANSLATE(s.HEX(CUBE, 2, 2, 2, 1, [1] * 6), (0, 0, 6.003)), bulk, form="BC")
    ball = s.BODY(solfec, "RIGID", s.SPHERE((5, 0, 0), 0.5, 1, 1), bulk)
    s.PUT_RIGID_LINK(ball, bodies[1], (5, 0, 0.5), (1, 0, 3))
    s.INITIAL_VELOCITY(ball, (0, 1, 0), (0, 0, 1))
    return solfec


def state(solfec):
    """All that a step changes, as arrays."""
    domain = solfec._domain
    tables = domain.bodies.configurations.view("conf"), domain.bodies.triples.view("velo"), domain.constraints.view("R"), domain.constraints.view("U")
    return [np.array(table) for table in tables] + [domain.energy(), np.array([domain.time, domain.step_number])]


def assert_same_bits(one, other):
    for mine, theirs in zip(state(one), state(other), strict=True):
        np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("make", [lambda: s.GAUSS_SEIDEL_SOLVER(1e-6, 200), s.AUTO_SOLVER], ids=["sweeps", "auto"])
def test_run_through_the_roles_has_the_bits_of_run(make):
    whole, open_ = stack(), stack()
    s.RUN(whole, make(), 0.06)
    simulation = SolfecSimulation(open_, make())
    simulation.run(0.03)
    for _ in range(30):
        simulation.step()
    assert whole.ncon > 5
    assert_same_bits(whole, open_)


def test_run_through_the_roles_writes_frames_and_calls_callbacks(tmp_path):
    calls = []
    for name in ("a", "b"):
        solfec = stack(str(tmp_path / name))
        s.CALLBACK(solfec, 0.005, solfec, lambda model: calls.append(model.time))
        if name == "a":
            s.RUN(solfec, s.AUTO_SOLVER(), 0.01)
        else:
            SolfecSimulation(solfec, s.AUTO_SOLVER()).run(0.01)
    assert calls[:3] == pytest.approx([1e-3, 5e-3, 1e-2]) and calls[3:] == calls[:3]
    again = [s.SOLFEC("DYNAMIC", 1e-3, str(tmp_path / name), mode="READ") for name in ("a", "b")]
    frames = [one._simulation.reader for one in again]
    assert len(frames[0].times) == len(frames[1].times) == 11
    SolfecSimulation(again[0], s.AUTO_SOLVER()).run(0.01)  # as RUN, nothing in READ mode


def test_phases_give_views_and_take_reactions():
    solfec = stack(friction=0.0, restitution=0.0)
    s.RUN(solfec, s.AUTO_SOLVER(), 0.05)
    step = OpenStep(solfec)
    step.free_velocity()
    cube = SolfecSimulation(solfec, s.AUTO_SOLVER()).modeler.objects[1].model
    assert cube.v.base is not None and cube.q.shape == (3, 4)
    np.testing.assert_allclose(cube.inverse_mass[..., 1], np.eye(3) / 8000)
    free = cube.v.copy()
    step.detect()
    problem = step.assemble()
    assert np.shares_memory(problem.reactions, solfec._domain.local_dynamics.rows.R)
    np.testing.assert_allclose(problem.matrix(), problem.matrix().T, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(problem.q[:, problem.is_contact], problem.free_velocity[:, problem.is_contact])
    np.testing.assert_array_equal([problem.friction, problem.restitution], np.zeros((2, problem.n)))  # rows of the rod have none
    problem.reactions[:] = 0.0
    np.testing.assert_array_equal(problem.velocities(), problem.free_velocity)
    reactions = np.zeros((3, problem.n))
    lowest = next(a for a in range(problem.n) if set(problem.bodies[a]) == {1, 2})
    reactions[2, lowest] = 1e5
    normal, sign = problem.frames[lowest][:, 2], 1 if problem.bodies[lowest, 0] == 2 else -1
    step.apply(reactions)
    step.advance()
    np.testing.assert_allclose(cube.v[:, 1], free[:, 1] + sign * 1e-3 * 1e5 / 8000 * normal, rtol=1e-12)
    assert solfec.time == pytest.approx(0.051)


def test_wrong_order_and_wrong_reactions_are_told():
    solfec = stack()
    step = OpenStep(solfec)
    with pytest.raises(SolfecError, match="'solve' was called where 'free_velocity' is due"):
        step.solve(s.AUTO_SOLVER())
    with pytest.raises(SolfecError, match="'move_shapes' is for a step that 'free_velocity' has begun"):
        step.move_shapes()
    step.free_velocity()
    step.move_shapes()
    with pytest.raises(SolfecError, match="known after 'assemble'"):
        step.problem  # noqa: B018
    step.detect()
    problem = step.assemble()
    with pytest.raises(SolfecError, match=rf"shape \(3, {problem.n}\)"):
        step.apply(np.zeros(3))
    with pytest.raises(SolfecError, match="start another one"):
        s.RUN(solfec, s.AUTO_SOLVER(), 1)
    step.apply(np.zeros((3, problem.n)))
    step.advance()
    s.RUN(solfec, s.AUTO_SOLVER(), 1e-3)


def test_error_in_a_solver_breaks_the_model_off():
    class Failing(InteractionSolver):
        def solve_problem(self, problem):
            raise ValueError("no licence")

    solfec = stack()
    with pytest.raises(ValueError, match="no licence"):
        SolfecSimulation(solfec, Failing()).step()
    with pytest.raises(SolfecError, match="broken off"):
        s.RUN(solfec, s.AUTO_SOLVER(), 1e-3)


def assert_refused(role, buffer, words):
    """Pushing a buffer into a role raises an error with these words."""
    with pytest.raises(SolfecError, match=words):
        role.push(buffer)


def test_state_travels_through_the_buffer():
    one, other = stack(), stack()
    s.RUN(one, s.AUTO_SOLVER(), 0.05)
    first, second = (SolfecSimulation(model, s.AUTO_SOLVER()) for model in (one, other))
    buffer = Buffer()
    first.modeler.pull(buffer)
    assert buffer.time == pytest.approx(0.05) and len(buffer.bodies.node) == 27
    second.modeler.push(buffer)
    for mine, theirs in zip(state(one)[:2], state(other)[:2], strict=True):
        np.testing.assert_allclose(theirs, mine, rtol=0, atol=1e-14)
    buffer.bodies.rotation[1] *= 1.1
    assert_refused(second.modeler, buffer, "'rotation' of body 2 .*is no rotation")
    buffer.bodies.velocity[2, 0] = np.nan
    assert_refused(second.modeler, buffer, "'velocity' of body 3")
    buffer.bodies.id[0] = 99
    assert_refused(second.modeler, buffer, "bodies \\[99, ")


def test_objects_take_another_model_in_mid_run_with_their_momentum():
    solfec = stack()
    s.RUN(solfec, s.AUTO_SOLVER(), 0.05)
    simulation, before, after = SolfecSimulation(solfec, s.AUTO_SOLVER()), Buffer(), Buffer()
    thing = simulation.modeler.objects[2]
    assert (thing.number, thing.model.kind) == (3, "RIGID")
    simulation.modeler.pull(before)
    lost = thing.switch("PSEUDO_RIGID")
    simulation.modeler.pull(after)
    assert thing.model.kind == "PSEUDO_RIGID" and thing.number == after.bodies.id[-1] and abs(lost) < 1e-9
    np.testing.assert_allclose(after.bodies.mass[-1] * after.bodies.velocity[-1], before.bodies.mass[2] * before.bodies.velocity[2], rtol=1e-12, atol=1e-9)
    simulation.run(0.01)  # the run goes on
    thing.switch("RIGID")
    assert thing.model.kind == "RIGID" and 3 not in solfec._domain.bodies.view("id")
    with pytest.raises(ValueError, match="'kind' must be one of"):
        thing.switch("RIGIT")
    obstacle = simulation.modeler.objects[0]
    with pytest.raises((SolfecError, ValueError), match="OBSTACLE|obstacle"):
        obstacle.switch("RIGID")


def test_resultants_of_reactions_balance_weights_at_rest():
    solfec = s.SOLFEC("DYNAMIC", 1e-3)
    solfec.verbose = "OFF"
    bulk = s.BULK_MATERIAL(solfec, density=1000)
    s.GRAVITY(solfec, (0, 0, -10))
    for kind, level in (("OBSTACLE", -2), ("RIGID", 0), ("RIGID", 2)):
        s.BODY(solfec, kind, s.TRANSLATE(s.HULL(CUBE, 1, 1), (0, 0, level)), bulk)
    simulation, buffer = SolfecSimulation(solfec, s.AUTO_SOLVER(1e-10)), Buffer()
    simulation.run(0.01)
    simulation.modeler.pull(buffer)
    simulation.handler.pull(buffer)
    forces = buffer.interactions.resultants(buffer.bodies.id)
    np.testing.assert_allclose(forces, [[0, 0, -16e4], [0, 0, 8e4], [0, 0, 8e4]], atol=1)


def test_graph_has_bodies_as_nodes_and_constraints_as_edges():
    solfec = stack()
    s.FIX_POINT(solfec.bodies[0], (5, 0, -0.5))
    simulation = SolfecSimulation(solfec, s.AUTO_SOLVER())
    simulation.run(0.05)
    graph = simulation.graph()
    assert [(one.kind, one.degrees_of_freedom) for one in graph.systems.values()] == [
        ("OBSTACLE", 6), ("RIGID", 6), ("RIGID", 6), ("PSEUDO_RIGID", 12), ("FINITE_ELEMENT", 81), ("RIGID", 6),
    ]  # fmt: skip
    assert graph.neighbours(2) == {1, 3} and graph.neighbours(0) == {6} and graph.neighbours(6) == {0, 3}
    assert len(graph.interactions) == solfec.ncon
    edge = next(edge for edge in graph.interactions if set(edge.bodies) == {1, 2})
    assert (edge.kind, edge.law, edge.friction) == ("CONTACT", "SIGNORINI_COULOMB", 0.5) and edge.reaction[2] * edge.frame[2, 2] > 0
    nx = pytest.importorskip("networkx")
    view = graph.networkx()
    assert sorted(view.nodes) == [0, 1, 2, 3, 4, 5, 6] and view.number_of_edges() == solfec.ncon
    assert nx.has_path(view, 0, 1)


def test_missing_networkx_is_named_with_the_command_that_installs_it(monkeypatch):
    simulation = SolfecSimulation(stack(), s.AUTO_SOLVER())
    monkeypatch.setitem(sys.modules, "networkx", None)
    with pytest.raises(SolfecError, match="networkx, which is not installed: python -m pip install networkx"):
        simulation.graph().networkx()


def sweeps(W, q, mu, r0, tolerance, maxiter):
    """Projected sweeps over contacts in the order (normal, tangent, tangent): plain Python, written for this test."""
    W, r = W.toarray(), r0.copy()
    for iteration in range(1, maxiter + 1):
        before = r.copy()
        for a in range(len(mu)):
            at = slice(3 * a, 3 * a + 3)
            for _ in range(20):
                trial = r[at] - (q[at] + W[at] @ r) / np.linalg.norm(W[at, at], 2)
                trial[0] = max(trial[0], 0.0)
                slip = np.hypot(*trial[1:])
                trial[1:] *= min(1.0, mu[a] * trial[0] / slip) if slip else 1.0
                r[at] = trial
        change = np.linalg.norm(r - before) / (np.linalg.norm(r) or 1.0)
        if change <= tolerance:
            return r, 0, change, iteration
    return r, 1, change, maxiter


def test_any_function_can_be_the_solver_beside_joints():
    mine, theirs = stack(), stack()
    solver = CallableSolver(sweeps, 1e-7, 2000)
    s.RUN(mine, solver, 0.018)
    s.RUN(theirs, s.AUTO_SOLVER(1e-10), 0.018)
    assert solver.iters > 1 and solver.info == 0 and solver.claim <= 1e-7
    np.testing.assert_allclose(state(mine)[0], state(theirs)[0], rtol=0, atol=1e-7)


@pytest.mark.parametrize(
    "returned, message",
    [
        (lambda q: np.zeros(2), r"must return \(r, info, residual, iterations\)"),
        (lambda q: (q[:-1], 0, 0.0, 1), r"r has the shape"),
    ],
)
def test_function_that_returns_something_else_is_told(returned, message):
    solfec = stack()
    with pytest.raises(SolfecError, match=message):
        s.RUN(solfec, CallableSolver(lambda W, q, *rest: returned(q)), 0.05)


@pytest.mark.parametrize("normal", [0.0, -1.0, 5.0])
def test_function_whose_reactions_break_the_laws_is_not_believed(normal):
    """It claims success, with reactions that let bodies through, pull, or throw them apart."""
    solfec = stack()
    solver = CallableSolver(lambda W, q, mu, r0, *rest: (np.tile([1e6 * normal, 0, 0], len(mu)), 0, 0.0, 1))
    with pytest.warns(SolfecWarning, match="did not reach its accuracy"):
        s.RUN(solfec, solver, 0.018)
    assert solver.error == "DIVERGED"


def test_function_that_gives_up_makes_steps_unsolved():
    solfec = stack()
    with pytest.warns(SolfecWarning, match="CallableSolver"):
        s.RUN(solfec, CallableSolver(lambda W, q, mu, r0, tolerance, maxiter: (np.full(q.size, np.nan), 0, 0.0, 1)), 0.05)
    assert np.isfinite(state(solfec)[0]).all()


def test_roles_of_the_wrong_kind_are_refused():
    solfec = stack()
    simulation = SolfecSimulation(solfec, SolfecInteractionSolver(s.AUTO_SOLVER()))
    with pytest.raises(SolfecError, match="'modeler' must be a Modeler, not SolfecCollisionHandler"):
        SolfecSimulation(solfec, s.AUTO_SOLVER(), modeler=simulation.handler)
    coloured = s.GAUSS_SEIDEL_SOLVER(1e-6, 100)
    coloured.colouring = "ON"
    with pytest.raises(SolfecError, match="colouring = 'ON'"):
        SolfecSimulation(solfec, coloured).run(0.01)
