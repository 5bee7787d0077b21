"""HYBRID_SOLVER: bodies that the implicit engine moves under springs of the explicit engine."""

import json
import math
import warnings
from pathlib import Path

import numpy as np
import pytest

import solfec as s
from solfec.errors import SolfecWarning
from solfec.parmec import model

CASES = json.loads((Path(__file__).parent.parent / "data" / "parmec.json").read_text())["hybrid"]
CORNERS = [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1]
PARTICLE = f"""
hy_cube = MESH ({CORNERS}, [8, 0, 1, 2, 3, 4, 5, 6, 7, MATERIAL (1, 1, 0.3)], 0, 1)
"""
ON_SPRING = PARTICLE + "SPRING (0, (.5, .5, 0), -1, (.5, .5, -1), [-1, -100, 1, 100], direction = (0, 0, 1))\n"
FALL = "GRAVITY (0., 0., -10.)\n"


class Scene:
    """A unit cube of density 1 in both models."""

    def __init__(self, text, step=0.01, parmec_step=0.01, gravity=-10.0, velocity=None, output=None, pairs=None, **hybrid):
        Path("explicit.py").write_text(text)
        self.solfec = s.SOLFEC("DYNAMIC", step, output)
        self.bulk = s.BULK_MATERIAL(self.solfec, density=1.0)
        s.SURFACE_MATERIAL(self.solfec, friction=0.3)
        self.body = s.BODY(self.solfec, "RIGID", s.HEX(CORNERS, 1, 1, 1, 1, [1] * 6), self.bulk)
        if velocity:
            s.INITIAL_VELOCITY(self.body, *velocity)
        s.GRAVITY(self.solfec, (0, 0, gravity))
        self.hybrid = s.HYBRID_SOLVER("explicit.py", parmec_step, {0: self.body.id} if pairs is None else pairs, s.GAUSS_SEIDEL_SOLVER(1e-6, 100), **hybrid)
        self.explicit = model.current()

    def cube(self, height):
        return s.BODY(self.solfec, "RIGID", s.TRANSLATE(s.HEX(CORNERS, 1, 1, 1, 1, [1] * 6), (0, 0, height)), self.bulk)

    def run(self, duration):
        s.RUN(self.solfec, self.hybrid, duration)

    def centres(self, times):
        """Places of the first body after so much time, step by step."""
        found, now = [], 0.0
        for time in times:
            self.run(time - now)
            now = time
            found.append(self.body.conf)
        return np.array(found)


# --- numbers of Solfec-1.0 with Parmec ----------------------------------------------------------------------


def holds(name, scene):
    """The implicit body's configurations are those of the case."""
    case = CASES[name]
    found = scene.centres(case["time"])
    assert found[:, 9:] == pytest.approx(np.array(case["centre"]), abs=2e-9, rel=1e-9)
    assert found[:, :9] == pytest.approx(np.array(case["rotation"]), abs=2e-9)


@pytest.mark.parametrize(("name", "step", "explicit_step"), [("spring", 0.01, 0.005), ("spring_fine", 0.001, 0.000625)])
def test_a_cube_on_a_spring_moves_as_in_solfec_1(name, step, explicit_step):
    """Samples have labels half an explicit step later: those of the steps at whose middles forces are computed."""
    text = ON_SPRING + FALL + "hy_f = HISTORY ('FZ')\nhy_d = HISTORY ('DZ')\nhy_t = HISTORY ('TIME')\n"
    scene = Scene(text, parmec_step=step)
    scene.hybrid.parmec_interval = (1e9, explicit_step)
    holds(name, scene)
    case = CASES[name]["explicit"]
    taken = [0, *np.searchsorted(hy_t, np.array(case["TIME"][1:]) + 0.25 * explicit_step)]  # noqa: F821  (made by the explicit input)
    assert np.array(hy_t)[taken[1:]] == pytest.approx(np.array(case["TIME"][1:]) + 0.5 * explicit_step, abs=1e-8)  # noqa: F821
    for recorded, label in ((hy_f, "FZ"), (hy_d, "DZ")):  # noqa: F821
        assert np.array(recorded)[taken] == pytest.approx(case[label], abs=1e-8)


def test_a_particle_that_hangs_on_a_falling_cube_falls_with_it():
    """Error of second order; in Solfec-1.0 the spring sees the cube half an explicit step ahead of the particle, so that it falls 30 mm of 20 m less."""
    text = PARTICLE + FALL + "ANALYTICAL (mass = 2, position = (.5, .5, -1))\n"
    text += "SPRING (0, (.5, .5, .5), 1, (.5, .5, -1), [-1, -100, 1, 100], direction = (0, 0, 1))\n"
    case = CASES["chain"]
    fall = 0.5 - 5 * np.array(case["time"]) ** 2
    apart = [np.abs(Scene(text, step=step, parmec_step=step).centres(case["time"])[:, 11] - fall).max() for step in (0.01, 0.005)]
    assert np.abs(np.array(case["centre"])[:, 2] - fall).max() > 7 * apart[0]
    assert apart[0] < 5e-3 and apart[1] < 0.26 * apart[0]


OFF_CENTRE = PARTICLE + "SPRING (0, (1, .5, .5), -1, (1, .5, 1.5), [-1, -50, 1, 50], direction = (0, 0, 1))\n"


def test_what_solfec_1_did_otherwise_with_initial_velocities_is_half_an_explicit_step():
    """There, Parmec's first half step moved the particle of the body as well."""
    scene = Scene(OFF_CENTRE, velocity=((0, 0, 0.5), (0, 0, 0)))
    scene.explicit.particles.position[2, 0] += 0.005 / 2 * 0.5
    holds("offcentre", scene)


# --- closed forms -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("parmec_step", [0.005, 0.0002])
def test_a_cube_on_a_spring_swings_under_its_weight_however_many_substeps(parmec_step):
    scene = Scene(ON_SPRING + FALL, step=0.001, parmec_step=parmec_step)
    times = [0.1, 0.35, 0.6, 1.0]
    z = scene.centres(times)[:, 11] - 0.5
    assert z == pytest.approx(-0.1 * (1 - np.cos(10 * np.array(times))), abs=5e-6)


def test_a_torsion_spring_turns_a_cube():
    text = PARTICLE + "TORSION_SPRING (0, -1, (0, 0, 1), (1, 0, 0), kyaw = [-1, 10, 1, -10])\n"
    scene = Scene(text, step=1 / 1024, parmec_step=1 / 2048, gravity=0.0, velocity=((0, 0, 0), (0, 0, 1)))
    for time in (0.25, 0.5, 1.0):
        scene.run(time - scene.solfec.time)
        assert scene.body.velo[2] == pytest.approx(math.cos(math.sqrt(60) * time), abs=2e-4)


def test_gravity_of_a_shared_body_is_that_of_the_explicit_model():
    scene = Scene(PARTICLE)
    other = scene.cube(5)
    scene.run(0.5)
    assert scene.body.conf[9:] == (0.5, 0.5, 0.5)
    assert other.conf[11] < 4.5


def test_restraints_of_shared_bodies_take_away_forces_of_the_explicit_model():
    """Neither its weight nor an oblique spring at a corner moves the body along z, or turns it about x and y."""
    text = PARTICLE + FALL + "SPRING (0, (1, .5, .5), -1, (3, 1.5, 2), [-1, -10, 1, 10])\nVELOCITY (0, (0, 0, 0), (0, 0, 0))\n"
    moved = []
    for restraint in ("", "RESTRAIN (0, [0, 0, 1], [1, 0, 0, 0, 1, 0])\n"):
        scene = Scene(text + restraint, velocity=((1, 0, 0), (0, 0, 1)))
        scene.run(0.5)
        moved.append((abs(scene.body.conf[11] - 0.5), np.abs(scene.body.velo[:2]).max(), abs(scene.body.velo[3] - 1)))
    assert moved[0][0] > 0.5 and moved[0][1] > 0.1
    assert moved[1][0] < 1e-12 and moved[1][1] < 1e-12 and moved[1][2] > 0.1


def test_particles_stay_with_restrained_bodies_that_move_nevertheless():
    """An initial velocity is none of the explicit model's, no more than one that a contact gives."""
    scene = Scene(PARTICLE + "RESTRAIN (0, [0, 0, 1], [1, 0, 0, 0, 1, 0])\n", gravity=0.0, velocity=((1, 0, 0.5), (0.3, 0, 1)))
    scene.run(1.0)
    place = np.array(scene.body.conf[9:]) + 0.005 * np.array(scene.body.velo[3:])
    assert place == pytest.approx([1.505, 0.5, 1.0025])
    assert scene.explicit.particles.position[:, 0] == pytest.approx(place, abs=1e-12)


def test_what_springs_give_is_what_bodies_get():
    """Two shared cubes and a free particle on springs without ground: momentum is kept to rounding, angular momentum with them."""
    text = PARTICLE + "import numpy\nMESH ((numpy.array (%s).reshape (8, 3) + (0, 0, 2)).ravel ().tolist (), [8, 0, 1, 2, 3, 4, 5, 6, 7, 0], 0, 1)\n" % CORNERS  # noqa: UP031
    text += "ANALYTICAL (mass = 2, position = (2, .5, 1))\nVELOCITY (2, (0, 1, 0), (1, 0, 0))\n"
    for one, a, two, b in ((0, (1, 1, 1), 1, (0, 0, 2)), (0, (1, 0, 0), 2, (2, 0.5, 1)), (1, (1, 1, 3), 2, (2, 0.6, 1.2))):
        text += f"SPRING ({one}, {a}, {two}, {b}, [-1, -30, 1, 30], 0.1)\n"
    Path("explicit.py").write_text(text)
    scene = Scene(text, step=1 / 256, parmec_step=1 / 512, gravity=0.0, velocity=((0.1, 0, 0.5), (0, 1, 0)), pairs={})
    upper = scene.cube(2)
    scene.hybrid = s.HYBRID_SOLVER("explicit.py", 1 / 512, {0: scene.body.id, 1: upper.id}, s.GAUSS_SEIDEL_SOLVER(1e-6, 100))
    boundary_impulse, before = np.zeros(3), None
    p = model.current().particles

    def momentum():
        return np.array(scene.body.velo[3:]) + np.array(upper.velo[3:])

    before = momentum()
    for _ in range(64):
        force = scene.hybrid._boundary.force.sum(axis=1) if scene.hybrid._boundary else None
        scene.run(1 / 256)
        if force is not None:
            boundary_impulse += force / 256
        else:
            before = momentum()
    assert momentum() - before == pytest.approx(boundary_impulse, abs=1e-10)
    assert np.abs(boundary_impulse).max() > 0.1
    assert np.isfinite(p.view("velocity")).all()


def test_explicit_steps_are_the_implicit_one_over_powers_of_two():
    counts = {}
    for bound in (0.01, 0.005, 0.004, 0.001):
        scene = Scene(ON_SPRING, parmec_step=bound)
        scene.run(0.01)
        control = scene.explicit.control
        counts[bound] = int(control.steps[0]), float(control.step[0])
    assert counts == {0.01: (4, 0.005), 0.005: (4, 0.005), 0.004: (7, 0.0025), 0.001: (25, 0.000625)}  # and half a step at first


def test_both_engines_keep_time_where_finite_elements_lower_the_step():
    scene = Scene(ON_SPRING + FALL)
    soft = s.BULK_MATERIAL(scene.solfec, young=1e6, poisson=0.3, density=1e3)
    s.BODY(scene.solfec, "FINITE_ELEMENT", s.TRANSLATE(s.HEX(CORNERS, 5, 5, 5, 1, [1] * 6), (5, 5, 5)), soft)
    s.GRAVITY(scene.solfec, (0, 0, 0))
    scene.run(0.2)
    now, step = scene.solfec.time, scene.solfec.step
    assert step < 0.005
    assert scene.explicit.time == pytest.approx(now + step / 2 + scene.explicit.control.step[0] / 2, abs=1e-9)
    assert scene.body.conf[11] - 0.5 == pytest.approx(-0.1 * (1 - math.cos(10 * now)), abs=1e-3)


def test_a_step_that_changes_within_a_run_is_an_error_and_between_runs_is_none():
    scene = Scene(ON_SPRING + FALL)
    scene.run(0.05)
    scene.solfec.step = 0.004
    scene.run(0.05)
    assert scene.explicit.control.step[0] == pytest.approx(0.002)
    s.CALLBACK(scene.solfec, 0.01, (), lambda: setattr(scene.solfec, "step", 0.001) or 1)
    with pytest.raises(RuntimeError, match="the step has changed from 0.004 to 0.001 within a run"):
        scene.run(0.05)


def test_shared_bodies_touch_one_another_only_when_asked_and_others_always():
    for detection, contacts in (("OFF", 0), ("ON", 4)):
        scene = Scene(PARTICLE + f"MESH ({[c + 0.999 * (i % 3 == 2) for i, c in enumerate(CORNERS)]}, [8, 0, 1, 2, 3, 4, 5, 6, 7, 0], 0, 1)\n", gravity=0.0, pairs={})
        upper = scene.cube(0.999)
        scene.hybrid = s.HYBRID_SOLVER("explicit.py", 0.01, {0: scene.body.id, 1: upper.id}, s.GAUSS_SEIDEL_SOLVER(1e-6, 100), boundary_contact_detection=detection)
        scene.run(0.01)
        assert (len(scene.solfec.constraints) > 0) == (contacts > 0)
        assert scene.solfec._simulation.domain.settings.excluded_bodies.shape == (2, 0)


def test_a_cube_that_falls_on_a_sprung_one_goes_on_with_it():
    """A stiff spring carries the lower cube; the upper one falls on it without restitution, and they swing together."""
    scene = Scene(ON_SPRING + FALL, step=1e-3, parmec_step=2.5e-4)
    upper = scene.cube(1.1)
    masses, g, k = 1.0, 10.0, 100.0
    lower_z = lambda t: 0.5 - g / k * (1 - math.cos(10 * t))  # noqa: E731
    lower_v = lambda t: -g / k * 10 * math.sin(10 * t)  # noqa: E731
    time = 0.0
    while scene.body.conf[11] + 1.0 < upper.conf[11] - 2e-5 and time < 1:
        scene.run(1e-3)
        time += 1e-3
        if upper.conf[11] - scene.body.conf[11] > 1.01:
            assert scene.body.conf[11] == pytest.approx(lower_z(time), abs=2e-6)
            assert upper.velo[5] == pytest.approx(-g * time, abs=1e-9)
            speeds = lower_v(time + 1e-3), -g * (time + 1e-3)
    scene.run(3e-3)
    assert scene.body.velo[5] == pytest.approx(upper.velo[5], abs=1e-6)
    assert scene.body.velo[5] == pytest.approx(sum(speeds) / 2 / masses, rel=0.1)


# --- language -----------------------------------------------------------------------------------------------


def hybrid_input(tmp_path, extra="", explicit=ON_SPRING + FALL):
    (tmp_path / "explicit.py").write_text(explicit)
    (tmp_path / "input.py").write_text(
        f"""
N = 3
sol = SOLFEC ('DYNAMIC', 0.01, 'out')
bulk = BULK_MATERIAL (sol, density = 1)
SURFACE_MATERIAL (sol)
body = BODY (sol, 'RIGID', HEX ({CORNERS}, 1, 1, 1, 1, [1]*6), bulk)
hs = HYBRID_SOLVER ('explicit.py', 0.001, {{0: body.id}}, GAUSS_SEIDEL_SOLVER (1E-3, 10), ['a', '-b'])
{extra}
RUN (sol, hs, 0.5)
"""
    )
    return s.cli.main(["input.py"])


def test_both_inputs_keep_their_own_commands_and_share_names(tmp_path, capsys):
    explicit = ON_SPRING + "import parmec\nhy_seen = N + 1\nprint (ARGV (), MESH is parmec.MESH)\nhy_z = HISTORY ('PZ')\n"
    extra = "import parmec, solfec\nprint (hy_seen, MESH is solfec.MESH, MESH is parmec.MESH)\nhs.parmec_interval = 0.1\nhs.parmec_prefix = 'springs'"
    assert hybrid_input(tmp_path, extra, explicit) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["['a', '-b'] True", "4 True False"]
    assert (tmp_path / "springs0rb.h5").exists()


def test_without_intervals_there_are_no_files_and_no_histories(tmp_path):
    assert hybrid_input(tmp_path, explicit=ON_SPRING + "hy_z = HISTORY ('PZ')\nhy_list = [hy_z]\n") == 0
    assert not list(tmp_path.glob("explicit*.h5"))


def test_reading_computes_nothing(tmp_path, capsys):
    assert hybrid_input(tmp_path) == 0
    stored = (tmp_path / "out").stat()
    assert hybrid_input(tmp_path, "print (sol.mode)") == 0
    assert "READ" in capsys.readouterr().out
    assert (tmp_path / "out").stat().st_mtime == stored.st_mtime
    assert s.results.open(tmp_path / "out").times[-1] == pytest.approx(0.5)


@pytest.mark.parametrize(("text", "message"), [
    ("DEM (1, 0.1)\n", "explicit.py:1: ValueError: DEM: an input of HYBRID_SOLVER or PARMEC_IMPORT does not call DEM"),
    ("SPHERE (0)\n", "explicit.py:1: TypeError: SPHERE: missing a required argument"),
    ("x = 1\n", "input.py:7: ValueError: HYBRID_SOLVER: 'parmec2solfec': there is no particle 0"),
    (PARTICLE + "PRESCRIBE (0, lambda t: (0, 0, 0))\n", "input.py:9: ValueError: RUN: HYBRID_SOLVER: the motion of particle 0 is prescribed"),
])  # fmt: skip
def test_errors_name_the_file_and_line_of_the_input_that_they_are_in(tmp_path, capsys, text, message):
    assert hybrid_input(tmp_path, explicit=text) == 1
    assert message in capsys.readouterr().err


def test_bodies_that_are_missing_or_not_rigid_are_refused():
    for pairs, message in (({0: 9}, "there is no body 9"), ({0: 2}, "body 2, which particle 0 is to be, is not RIGID")):
        scene = Scene(PARTICLE, pairs=pairs)
        s.BODY(scene.solfec, "PSEUDO_RIGID", s.TRANSLATE(s.HEX(CORNERS, 1, 1, 1, 1, [1] * 6), (0, 0, 5)), scene.bulk)
        with pytest.raises(ValueError, match=message):
            scene.run(0.1)


@pytest.mark.parametrize("other", ["", ", 1"])
def test_joints_on_shared_bodies_are_refused_since_they_would_hold_nothing(other):
    second = f"MESH ({[c + 1.5 * (k % 3 == 0) for k, c in enumerate(CORNERS)]}, [8, 0, 1, 2, 3, 4, 5, 6, 7, 0], 0, 1)\n"
    for joint, places in (("BALL_JOINT (0, (0.5, 0.5, 1)" + other + ")\n", ("0", "0")), ("BALL_JOINT (1, (2, 0, 0))\n" + "BALL_JOINT (1, (1, 0, 0), 0)\n", ("1", "0"))):
        with pytest.raises(ValueError, match=f"BALL_JOINT {places[0]} holds particle {places[1]}, which is a body of solfec as well"):
            Scene(PARTICLE + second + joint).run(0.1)
    Scene(PARTICLE + second + "BALL_JOINT (1, (2, 0, 0))\n").run(0.1)


def test_a_body_that_is_turned_against_its_particle_draws_a_warning():
    """Springs act on the points of the particle, so a quarter turn exchanges them unless particles take the rotations of their bodies."""
    for options in ({}, {"resynchronise": "ON"}):
        scene = Scene(PARTICLE, **options)
        scene.body.conf = (0, 1, 0, -1, 0, 0, 0, 0, 1, *scene.body.conf[9:])
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            scene.run(0.05)
        assert any("is turned against its particle 0" in str(warning.message) for warning in caught) != bool(options)


def test_bodies_of_another_inertia_draw_a_warning():
    scene = Scene("ANALYTICAL ([1, 2, 3, 0, 0, 0], 1, position = (.5, .5, .5))\n")
    with pytest.warns(SolfecWarning, match="particle 0 has another inertia than its body 1"):
        scene.run(0.05)


def test_bodies_of_another_mass_or_centre_draw_a_warning():
    with pytest.warns(SolfecWarning, match="particle 0 has the mass 2, and its body 1 1"):
        Scene("ANALYTICAL (mass = 2, position = (.5, .5, .5))\n").run(0.01)
    with pytest.warns(SolfecWarning, match="the mass centres of particle 0 and its body 1 are 0.5 apart"):
        Scene("ANALYTICAL (mass = 1, position = (.5, .5, 0))\n").run(0.01)


@pytest.mark.parametrize(("arguments", "kind", "message"), [
    (("none.py", 0.1, {}), ValueError, "'parmec_file': cannot read 'none.py'"), (("explicit.py", 0, {}), ValueError, "'parmec_step' must be positive"),
    (("explicit.py", 0.1, [0]), TypeError, "'parmec2solfec' must be a dict"), (("explicit.py", 0.1, {0: 1.5}), TypeError, "'parmec2solfec' must be an integer"),
    (("explicit.py", 0.1, {0: 1, 1: 1}), ValueError, "gives two particles the same body"),
])  # fmt: skip
def test_wrong_arguments_are_named(arguments, kind, message):
    Path("explicit.py").write_text(PARTICLE)
    with pytest.raises(kind, match=message):
        s.HYBRID_SOLVER(*arguments, s.GAUSS_SEIDEL_SOLVER(1e-3, 10))


def test_several_runs_go_on_as_one():
    whole, parts = Scene(ON_SPRING + FALL), Scene(ON_SPRING + FALL)
    whole.run(0.4)
    for _ in range(4):
        parts.run(0.1)
    assert parts.body.conf == pytest.approx(whole.body.conf, abs=1e-13)


def test_intervals_are_read_as_pairs_of_numbers_functions_and_series():
    scene = Scene(PARTICLE + "TSERIES (1.0)\n")
    assert scene.hybrid.parmec_interval is None
    scene.hybrid.parmec_interval = (0.5, 0)
    assert scene.hybrid.parmec_interval == [(0.5, 0.0), (None, None), (-1, 0)]
    with pytest.raises(ValueError, match="parmec_interval"):
        scene.hybrid.parmec_interval = (1, 2, 3)
