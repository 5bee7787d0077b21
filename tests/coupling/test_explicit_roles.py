"""The explicit engine behind the roles: bits of HYBRID_SOLVER, and states that travel through the buffer."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from test_hybrid_solver import FALL, ON_SPRING, PARTICLE, Scene
from test_toolbox import assert_refused

from solfec import GAUSS_SEIDEL_SOLVER, RUN, SEEK, SOLFEC
from solfec.coupling.toolbox import Buffer, HybridSimulation, OpenStep, SolfecCollisionHandler
from solfec.errors import SolfecError

FREE = """
hy_free = SPHERE ((3, 0, 0), 0.5, MATERIAL (1, 1, 0.3), 1)
VELOCITY (hy_free, (0, 0, 2), (0, 1, 0))
SPRING (hy_free, (3, 0, 0.5), 0, (1, 0.5, 0.5), [-9, -900, 9, 900])
"""
VELOCITY = ((0.3, 0, 1), (0.1, 0.2, 2))
HALF = 0.01 / 16  # of an explicit step, by which its velocities are ahead of the middle of an implicit one


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def scene(text=ON_SPRING + FREE + FALL, **hybrid):
    made = Scene(text, parmec_step=0.002, velocity=VELOCITY, **hybrid)
    made.solfec.verbose = "OFF"
    made.cube(1.001)  # which falls on the other one
    return made


def state(made):
    """All that moves in both models."""
    domain, particles = made.solfec._domain, made.explicit.particles
    tables = domain.bodies.configurations.view("conf"), domain.bodies.triples.view("velo"), domain.constraints.view("R")
    return [np.array(values) for values in (*tables, *(particles.view(name) for name in ("position", "rotation", "velocity", "spin", "force")))]


@pytest.mark.parametrize("options", [{}, {"average_forces": "ON", "resynchronise": "ON", "boundary_contact_detection": "ON"}], ids=["plain", "all options"])
def test_roles_have_the_bits_of_hybrid_solver(options):
    whole, open_ = scene(**options), scene(**options)
    simulation = HybridSimulation(open_.solfec, open_.hybrid)
    for duration in (0.1, 0.07):
        RUN(whole.solfec, whole.hybrid, duration)
        simulation.run(duration)
        for mine, theirs in zip(state(whole), state(open_), strict=True):
            np.testing.assert_array_equal(mine, theirs)
    assert whole.solfec.ncon >= 1 and whole.hybrid.exchange == open_.hybrid.exchange


def test_a_handler_of_ones_own_finds_the_contacts_beside_the_explicit_engine():
    class Blind(SolfecCollisionHandler):
        def detect(self):
            self.open_step.detect(lambda: None)

    made = scene()
    HybridSimulation(made.solfec, made.hybrid, handler=Blind(OpenStep(made.solfec))).run(0.2)
    assert made.solfec.ncon == 0 and made.explicit.control.time[0] == pytest.approx(0.205 + HALF)  # the engine is half an implicit step ahead


def test_what_would_leave_the_explicit_engine_behind_is_refused():
    made = scene()
    with pytest.raises(SolfecError, match="'hybrid' must be a HYBRID_SOLVER, not GAUSS_SEIDEL_SOLVER"):
        HybridSimulation(made.solfec, GAUSS_SEIDEL_SOLVER(1e-6, 100))
    simulation = HybridSimulation(made.solfec, made.hybrid)
    for _ in range(2):
        with pytest.raises(SolfecError, match="in 'run' only"):
            simulation.step()
        simulation.run(0.02)
    assert made.solfec.time == pytest.approx(0.04) and made.explicit.control.time[0] == pytest.approx(0.045 + HALF)


def test_results_are_read_as_by_run(monkeypatch):
    made = scene(output="out/read")
    HybridSimulation(made.solfec, made.hybrid).run(0.05)
    end = made.body.conf
    monkeypatch.setattr("solfec.SOLFEC", functools.partial(SOLFEC, mode="READ"))
    again = scene(output="out/read")
    HybridSimulation(again.solfec, again.hybrid).run(0.05)
    SEEK(again.solfec, 0.05)
    assert again.solfec.mode == "READ" and again.body.conf == end


def test_particles_are_bodies_of_the_buffer():
    one, other = scene(), scene()
    first, second = (HybridSimulation(made.solfec, made.hybrid) for made in (one, other))
    with pytest.raises(SolfecError, match="in the first 'run'"):
        first.explicit  # noqa: B018
    first.run(0.1)
    second.run(0.01)
    buffer = Buffer()
    first.explicit.pull(buffer)
    assert buffer.time == pytest.approx(0.105 + HALF) and buffer.bodies.id.tolist() == [0, 1]
    sphere = first.explicit.objects[1].model
    assert buffer.bodies.mass[1] == pytest.approx(np.pi / 6) and sphere.inverse_mass[0, 0, 1] == pytest.approx(6 / np.pi)
    np.testing.assert_array_equal(buffer.bodies.centre[1], sphere.q)
    np.testing.assert_allclose(sphere.rotation @ sphere.rotation.T, np.eye(3), atol=1e-12)
    with pytest.raises(SolfecError, match="ParticleModel stays of kind 'RIGID'; it cannot become 'FINITE_ELEMENT'"):
        first.explicit.objects[1].switch("FINITE_ELEMENT")
    second.explicit.push(buffer)
    for mine, theirs in zip(state(one)[3:7], state(other)[3:7], strict=True):
        np.testing.assert_array_equal(mine, theirs)
    buffer.bodies.rotation[1] *= 1.1
    assert_refused(second.explicit, buffer, "'rotation' of particle 1 is no rotation")
    buffer.bodies.velocity[0, 1] = np.inf
    assert_refused(second.explicit, buffer, "'velocity' of a particle is not finite")
    buffer.bodies.id = np.array([1, 2])
    assert_refused(second.explicit, buffer, "particles 0 to 1")


def test_a_pushed_velocity_moves_the_particle():
    """Without spring and gravity: x = x0 + v t."""
    made = scene(PARTICLE + FREE.splitlines()[1])
    simulation = HybridSimulation(made.solfec, made.hybrid)
    simulation.run(0.01)
    buffer = Buffer()
    simulation.explicit.pull(buffer)
    buffer.bodies.velocity[1], before = (1, -2, 3), buffer.bodies.centre[1].copy()
    simulation.explicit.push(buffer)
    simulation.run(0.1)
    np.testing.assert_allclose(simulation.explicit.objects[1].model.q, before + 0.1 * np.array([1, -2, 3]), atol=1e-12)
