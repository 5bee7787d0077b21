"""What passes between the engines: momentum, energy, and the motion of bodies that are in both."""

import numpy as np
import pytest
from test_hybrid_solver import FALL, ON_SPRING, PARTICLE, Scene

from solfec import BODY, FIX_POINT, GAUSS_SEIDEL_SOLVER, HEX, RUN, TRANSLATE
from solfec.parmec import model

CORNERS = [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1]
OBLIQUE = PARTICLE + (
    "far = ANALYTICAL (mass = 3, inertia = [1, 2, 3, 0, 0, 0], position = (3, 2, 1))\n"
    "SPRING (0, (1, 1, 1), far, (3, 2, 1.5), [-1, -300, 1, 300], [-1, -2, 1, 2])\n"
    "TORSION_SPRING (0, far, (0, 0, 1), (1, 0, 0), kyaw = [-1, 10, 1, -10])\n"
)


def oblique(step: float, parmec_step: float, **options) -> Scene:
    """A scene without gravity, whose cube moves and turns in a new model of the engine."""
    model.begin(None)
    return Scene(OBLIQUE, step=step, parmec_step=parmec_step, gravity=0.0, velocity=((1, 2, 3), (0.5, 1, 0.2)), **options)


@pytest.mark.parametrize("options", [{}, {"average_forces": "ON"}, {"resynchronise": "ON", "average_forces": "ON"}])
def test_the_impulse_of_the_engine_is_the_change_of_momentum(options):
    scene = oblique(1 / 256, 1 / 2000, **options)
    start = np.array(scene.body.velo[3:])
    scene.run(0.5)
    change = scene.body.mass * (np.array(scene.body.velo[3:]) - start)
    given = scene.hybrid.exchange
    assert np.linalg.norm(change) > 0.5
    assert given["impulse"] == pytest.approx(change, abs=1e-10)


def test_a_run_of_the_implicit_model_alone_exchanges_nothing():
    scene = oblique(1 / 256, 1 / 2000)
    scene.run(0.1)
    before = scene.hybrid.exchange
    RUN(scene.solfec, GAUSS_SEIDEL_SOLVER(1e-6, 10), 0.1)
    after = scene.hybrid.exchange
    assert before["work"] != 0.0 and [after[name] for name in ("impulse", "work")] == [before[name] for name in ("impulse", "work")]


def test_momentum_of_both_models_is_kept_where_forces_are_averaged():
    """Averaged, all that the engine's forces give to the particles arrives at the bodies, a step later; those of its first half step and half an
    explicit step act nearly twice as long."""
    balance, share = {}, (0.5 + 0.5 / 8)  # of a step: 8 explicit ones are one
    for averages in ("ON", "OFF"):
        scene = oblique(1 / 256, 1 / 2000, average_forces=averages)
        scene.run(1 / 256)
        first = np.array(scene.hybrid.exchange["impulse"])
        scene.run(0.5 - 1 / 256)
        found = scene.hybrid.exchange
        free = scene.explicit.particles.mass[1] * scene.explicit.particles.velocity[:, 1]
        assert found["engine_impulse"] == pytest.approx(-free, abs=1e-10)  # the spring's other end
        behind = scene.explicit.particles.impulse[:, 0]  # of the explicit steps that no implicit one has followed yet
        balance[averages] = np.linalg.norm(np.array(found["engine_impulse"]) - behind - (found["impulse"] - (1 - share) * first))
    assert balance["ON"] < 1e-12
    assert balance["OFF"] > 1e-4


def swinging(step, **options):
    """Energy that a cube of 0.5 J on a spring has after 5 s more than at first, and the report of the exchange."""
    model.begin(None)
    scene = Scene(ON_SPRING, step=step, parmec_step=step / 8, gravity=0.0, velocity=((0, 0, 1), (0, 0, 0)), **options)
    scene.run(5.0)
    z, v = scene.body.conf[11] - 0.5, scene.body.velo[5]
    found = scene.hybrid.exchange
    assert found["work"] == pytest.approx(0.5 * v * v - 0.5, abs=1e-9)
    assert found["gain"] == found["work"] - found["engine_work"]
    return 0.5 * v * v + 50 * z * z - 0.5, found["gain"]


def test_the_exchange_report_tells_the_energy_that_the_coupling_makes():
    """None of its own on a spring to the ground; averaged forces are late by half a step, and make some."""
    gains = []
    for step in (1 / 256, 1 / 512):
        made, told = swinging(step)
        assert abs(made) < 1e-4
        gains.append(abs(told))
        made, told = swinging(step, average_forces="ON")
        assert made > 0.1
        assert told == pytest.approx(made, rel=2e-3)
    assert gains[0] < 2e-4 and gains[1] < 0.3 * gains[0]


def test_the_energy_of_a_cube_that_falls_into_a_spring_is_told():
    for step in (1 / 128, 1 / 256):
        model.begin(None)
        scene = Scene(ON_SPRING + FALL, step=step, parmec_step=step / 8)
        scene.run(1.0)
        found, z, v = scene.hybrid.exchange, scene.body.conf[11] - 0.5, scene.body.velo[5]
        assert found["work"] == pytest.approx(0.5 * v * v, abs=1e-10)  # the weight is the engine's
        assert abs(0.5 * v * v + 50 * z * z + 10 * z) < 4 * step**2 * 100
        assert abs(found["gain"]) < 4 * step**2 * 100


def test_particles_stay_with_bodies_that_joint_correction_moves():
    """A cube whirls about a fixed corner: what closes the gap of its joint is no motion by its velocity."""
    scene = Scene(ON_SPRING + FALL, step=1 / 256, parmec_step=1 / 1024, velocity=((-4.5, 1.5, 0.5), (1, 2, 5)))
    FIX_POINT(scene.body, (0, 0, 1))
    scene.solfec.joint_correction = "ON"
    scene.run(1.0)
    body, particles = scene.body, scene.explicit.particles
    assert particles.position[:, 0] == pytest.approx(np.array(body.conf[9:]) + np.array(body.velo[3:]) / 512, abs=1e-12)


@pytest.mark.parametrize("options", [{}, {"resynchronise": "ON"}])
@pytest.mark.parametrize("substeps", [2, 8])
def test_a_spring_between_a_shared_cube_and_a_particle_is_of_second_order(substeps, options):
    """Two masses on a spring: 1 and 2, 1 m/s apart, w^2 = 100 (1/1 + 1/2); the particle at the time to which its position belongs."""
    w, errors = np.sqrt(150), []
    for step in (1 / 128, 1 / 256):
        model.begin(None)
        text = PARTICLE + "ANALYTICAL (mass = 2, position = (.5, .5, 3))\nSPRING (0, (.5, .5, 1), 1, (.5, .5, 3), [-1, -100, 1, 100])\n"
        scene = Scene(text, step=step, parmec_step=1.01 * step / substeps, gravity=0.0, velocity=((0, 0, 1), (0, 0, 0)), **options)
        scene.run(1.0)
        control, position = scene.explicit.control, scene.explicit.particles.position
        time = control.time[0] + control.step[0] / 2
        errors.append((scene.body.conf[11] - 0.5 - (1 + 2 * np.sin(w) / w) / 3, position[2, 1] - 3 - (time - np.sin(w * time) / w) / 3))
    coarse, fine = np.abs(errors)
    assert coarse.max() < 1e-3
    assert (fine < 0.27 * coarse).all()


@pytest.mark.parametrize("ratio", [0.25, 4, 0.9])
def test_bodies_swing_on_where_the_step_changes_between_two_runs(ratio):
    """Two masses on a spring, as above: the explicit model is half an implicit step of the new length ahead, so the error stays of second order."""
    w, errors = np.sqrt(150), []
    for step in (1 / 256, 1 / 512):
        model.begin(None)
        text = PARTICLE + "ANALYTICAL (mass = 2, position = (.5, .5, 3))\nSPRING (0, (.5, .5, 1), 1, (.5, .5, 3), [-1, -100, 1, 100])\n"
        scene = Scene(text, step=step, parmec_step=step / 4, gravity=0.0, velocity=((0, 0, 1), (0, 0, 0)))
        scene.run(0.5)
        scene.solfec.step = ratio * step
        scene.run(0.5)
        now, control, position = scene.solfec.time, scene.explicit.control, scene.explicit.particles.position
        time = control.time[0] + control.step[0] / 2
        assert control.time[0] - control.step[0] / 2 == pytest.approx(now + ratio * step / 2, abs=1e-12)
        errors.append((scene.body.conf[11] - 0.5 - (now + 2 * np.sin(w * now) / w) / 3, position[2, 1] - 3 - (time - np.sin(w * time) / w) / 3))
        assert abs(scene.hybrid.exchange["gain"]) < 30 * max(step, ratio * step) ** 2
    coarse, fine = np.abs(errors)
    assert coarse.max() < 1e-3
    assert (fine < 0.35 * coarse).all()


@pytest.mark.parametrize("options", [{}, {"resynchronise": "ON"}])
def test_driven_and_free_particles_of_one_body_move_alike(options):
    """Free flight with spin about a principal axis: after a step of half the length both are where forces were last computed, or a step later."""
    free = f"twin = MESH ({CORNERS}, [8, 0, 1, 2, 3, 4, 5, 6, 7, 0], 0, 1)\nVELOCITY (twin, (1, 2, 3), (0, 0, 2))\n"
    scene = Scene(PARTICLE + free, step=1 / 64, parmec_step=1 / 512, gravity=0.0, velocity=((1, 2, 3), (0, 0, 2)), **options)
    scene.run(1.0)
    particles, ahead = scene.explicit.particles, scene.explicit.control.step[0]
    assert scene.explicit.time == pytest.approx(1 + 1 / 128 + ahead / 2)
    assert particles.position[:, 1] - ahead * particles.velocity[:, 1] == pytest.approx(particles.position[:, 0], abs=1e-13)
    c, s = np.cos(2 * ahead), np.sin(2 * ahead)
    back = np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]])
    assert particles.rotation[:, :, 1] @ back == pytest.approx(particles.rotation[:, :, 0], abs=1e-13)
    assert particles.position[:, 0] == pytest.approx(0.5 + (1 + 1 / 128) * np.array([1, 2, 3]), abs=1e-13)


def test_resynchronised_particles_are_where_their_bodies_are():
    """Somebody moves a particle: without re-synchronisation it stays apart."""
    apart = {}
    for switch in ("ON", "OFF"):
        scene = oblique(1 / 64, 1 / 512, resynchronise=switch)
        scene.run(1 / 64)
        scene.explicit.particles.position[0, 0] += 0.1
        scene.explicit.particles.rotation[:, :, 0] = np.eye(3)
        scene.run(0.25)
        body, particles = scene.body, scene.explicit.particles
        ahead = 1 / 128
        place = np.array(body.conf[9:]) + ahead * np.array(body.velo[3:])
        apart[switch] = np.abs(particles.position[:, 0] - place).max()
    assert apart["ON"] < 1e-12
    assert apart["OFF"] == pytest.approx(0.1, abs=1e-9)


def test_bodies_with_contacts_get_impulses_besides_those_of_the_engine():
    scene = Scene(ON_SPRING + FALL, step=1 / 256, parmec_step=1 / 1024)
    other = BODY(scene.solfec, "RIGID", TRANSLATE(HEX(CORNERS, 1, 1, 1, 1, [1] * 6), (0, 0, 1.0)), scene.bulk)
    scene.run(0.25)
    both = scene.body.velo[5] + other.velo[5]
    # the upper cube's weight is the implicit model's, the lower one's the engine's
    assert both == pytest.approx(scene.hybrid.exchange["impulse"][2] - 10 * 0.25, abs=1e-10)
