"""PARMEC_IMPORT: a model of the explicit engine in the implicit one."""

import re
import shutil
from pathlib import Path

import numpy as np
import pytest

from solfec import BULK_MATERIAL, CALLBACK, NEWTON_SOLVER, PARMEC_IMPORT, RUN, SOLFEC, cli, parmec_command
from solfec.parmec import model

INPUTS = Path(__file__).parent.parent.parent / "inp" / "hybrid"


def imported(text, step=1e-3):
    """A SOLFEC object and the bodies of an explicit model."""
    Path("explicit.py").write_text(text)
    solfec = SOLFEC("DYNAMIC", step, "out", mode="WRITE")
    solfec.verbose = "OFF"
    return solfec, PARMEC_IMPORT(solfec, "explicit.py", BULK_MATERIAL(solfec, density=7))


def places(command, words, capsys):
    """What an example prints: coordinates of particles."""
    assert command(words) == 0
    found = re.findall(r"particle (\d+): (\S+) (\S+) (\S+)", capsys.readouterr().out)
    return {int(number): np.array(place, float) for number, *place in found}


@pytest.mark.parametrize(("name", "tolerance"), [("block", 3e-3), ("chain", 1e-3), pytest.param("row", 4e-4, marks=pytest.mark.slow)])
def test_examples_move_alike_in_either_engine(name, tolerance, tmp_path, capsys):
    """The block's corners sink by 2.5 mm into the springs' plane; the others differ by what the steps do."""
    for path in INPUTS.glob("either*.py"):
        shutil.copy(path, tmp_path / path.name)
    implicit = places(cli.main, ["-w", "-y", "--quiet", "either.py", name], capsys)
    explicit = places(parmec_command.main, ["either-explicit.py", name], capsys)
    assert implicit.keys() == explicit.keys()
    for number, place in implicit.items():
        assert place == pytest.approx(explicit[number], abs=tolerance)
    if name == "block":
        assert implicit[0][0] == pytest.approx(0.5 + 1 / 6, abs=2e-3)  # v^2/(2 mu g)
        assert explicit[0][0] == pytest.approx(0.5 + 1 / 6, abs=2e-3)


def test_bodies_have_the_mass_inertia_place_and_motion_of_their_particles():
    turn = [0, 1, 0, -1, 0, 0, 0, 0, 1]
    solfec, bodies = imported(f"""
ANALYTICAL ([1, 2, 3, .1, .2, .3], 5, {turn}, (1, 2, 3))
SPHERE ((0, 0, 9), 0.5, MATERIAL (1000, 1, 0.3), 1)
MESH ([0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1], [8, 0, 1, 2, 3, 4, 5, 6, 7, 0], 0, 1)
for i in range (3): VELOCITY (i, (1, 2, 3), (.1, .2, .3))
""")
    particles, table = model.current().particles, solfec._simulation.domain.bodies
    for number, body in bodies.items():
        row, turn = body._row, particles.rotation[:, :, number]
        assert body.mass == pytest.approx(particles.mass[number])
        assert table.tensor[:, :, row] == pytest.approx(turn @ particles.inertia[:, :, number] @ turn.T)
        assert body.conf[9:12] == pytest.approx(particles.position[:, number])
        assert body.velo == pytest.approx([0.1, 0.2, 0.3, 1, 2, 3])
    RUN(solfec, NEWTON_SOLVER(), 0.01)
    assert bodies[1].conf[9:12] == pytest.approx([0.01, 0.02, 9.03])  # no gravity, no contacts


def test_springs_of_turned_particles_are_stretched_as_in_the_explicit_engine():
    """A quarter turn brings the point (1, 0, 0) to (0, 1, 0), 2 from the ground's point; the spring's length is that of the points as given, sqrt (10)."""
    solfec, bodies = imported("""
ANALYTICAL (mass = 2, rotation = [0, 1, 0, -1, 0, 0, 0, 0, 1])
SPRING (0, (1, 0, 0), -1, (0, 3, 0), [-1, -200, 1, 200])
""")
    RUN(solfec, NEWTON_SOLVER(), 0.2)
    assert bodies[0].conf[9:12] == pytest.approx([0, (2 - np.sqrt(10)) * (1 - np.cos(2)), 0], abs=1e-4)


def test_points_of_joints_that_turned_particles_hold_apart_are_refused():
    with pytest.raises(ValueError, match=r"BALL_JOINT 0 cannot become BALL: its particles are turned, and its points are 1.41421 apart"):
        imported("ANALYTICAL (rotation = [0, 1, 0, -1, 0, 0, 0, 0, 1])\nBALL_JOINT (0, (1, 0, 0))\n")


@pytest.mark.parametrize("changed", ["", "ANALYTICAL (particle = 0)", "ANALYTICAL ([200, 200, 200, 0, 0, 0], 1200, particle = 0)"])
def test_a_mesh_that_is_made_analytical_rests_on_its_own_faces(changed):
    """As a small sphere at its centre it would fall through the plane until this one touches it."""
    corners = [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1]
    solfec, bodies = imported(f"""
MESH ({corners}, [8, 0, 1, 2, 3, 4, 5, 6, 7, MATERIAL (1000, 1, 0.3)], 0, 1)
{changed}
for x, y in ((0, 0), (1, 0), (1, 1), (0, 1)): SPRING (0, (x, y, 0), -1, [(0, 0, 0), (0, 0, 1)], [-1, 1E7, 0, 0, 1, 0], 1.)
GRAVITY (0., 0., -10.)
""")
    RUN(solfec, NEWTON_SOLVER(), 0.2)
    assert bodies[0].mass == pytest.approx(1200 if "1200" in changed else 1000)
    assert bodies[0].conf[9:12] == pytest.approx([0.5, 0.5, 0.5], abs=1e-3)


DAMPED = np.sqrt(99)


@pytest.mark.parametrize(("spring", "expected"), [
    ("[-1, -200, 1, 200], direction = (0, 0, 1)", lambda t: 0.1 * np.sin(10 * t)),
    ("[-1, -200, 1, 200], [-1, -4, 1, 4], (0, 0, 1)", lambda t: np.exp(-t) * np.sin(DAMPED * t) / DAMPED),
    ("[-1, -200, 1, 200], 0.1, (0, 0, 1)", lambda t: np.exp(-t) * np.sin(DAMPED * t) / DAMPED),
    ("[-1, -200, 1, 200]", lambda t: 0.1 * np.sin(10 * t)),
    ("[-1, -200, -0.6, 0, 0.6, 0, 1, 200], [-1, -9, 1, 9], (0, 0, 1)", lambda t: t),
], ids=["constant", "damped", "ratio", "follower", "within a dead zone"])  # fmt: skip
def test_springs_are_those_of_the_tables(spring, expected):
    """A mass of 2 is struck, and swings on a spring of 200 to the ground."""
    solfec, bodies = imported(f"""
ANALYTICAL (mass = 2)
SPRING (0, (0, 0, 0), -1, (0, 0, -1), {spring})
VELOCITY (0, (0, 0, 1))
""")
    found = []
    CALLBACK(solfec, 0.01, (), lambda: found.append((solfec.time, bodies[0].conf[11])) or 1)
    RUN(solfec, NEWTON_SOLVER(), 0.5)
    t, z = np.array(found).T
    assert z == pytest.approx(expected(t), abs=1e-3)


@pytest.mark.parametrize(("text", "message"), [
    ("", "it has no particles"),
    ("ANALYTICAL ()\nTORSION_SPRING (0, -1, (0, 0, 1), (1, 0, 0))", "TORSION_SPRING has no counterpart"),
    ("ANALYTICAL ()\nGRANULAR (0, 0, 1E4)", "GRANULAR and OBSTACLE"),
    ("ANALYTICAL ()\nDAMPING (lambda t: (1, 1, 1), lambda t: (1, 1, 1))", "DAMPING has no counterpart"),
    ("ANALYTICAL ()\nGRAVITY (0., 0., lambda t: t)", "functions of time; TSERIES is followed"),
    ("ANALYTICAL ()\nRESTRAIN (0, None, [1, 0, 0])", "RESTRAIN of one or two rotations"),
    ("ANALYTICAL ()\nPRESCRIBE (0, (TSERIES (1.),) * 3, None, 'av')", "PRESCRIBE of accelerations or rotations"),
    ("ANALYTICAL ()\nSPRING (0, (0, 0, 0), -1, (0, 0, 1), [-1, -1, 1, 1], direction = (1, 0, 0), planar = 'ON')", "SPRING with 'planar'"),
    ("ANALYTICAL ()\nSPRING (0, (0, 0, 0), -1, (0, 0, 1), [-1, -1, 1, 1], friction = 0.1)", "SPRING with 'friction' between points"),
    ("ANALYTICAL ()\nSPRING (0, (0, 0, 0), -1, (0, 0, 1), [-1, -1, 1, 1], inactive = True)", "SPRING with 'inactive'"),
    ("ANALYTICAL ()\nSPRING (0, (0, 0, 0), -1, [(0, 0, 0), (0, 0, 1)], [-1, 1, 0, 0, 1, 0])", "spring 0 to a plane cannot become a contact"),
    ("ANALYTICAL ()\nDEM (1, 0.1)", "does not call DEM"),
])  # fmt: skip
def test_what_has_no_counterpart_is_named_and_nothing_is_made(text, message):
    Path("explicit.py").write_text(text)
    solfec = SOLFEC("DYNAMIC", 1e-3, "out", mode="WRITE")
    with pytest.raises(Exception, match=re.escape(message)):
        PARMEC_IMPORT(solfec, "explicit.py", BULK_MATERIAL(solfec, density=7))
    assert solfec._simulation.domain.bodies.n == 0


def test_masses_hang_on_straight_springs_without_shapes_in_contact():
    """Two spheres that overlap are joined by a spring, and touch nothing."""
    solfec, bodies = imported("""
SPHERE ((0, 0, 0), 0.5, MATERIAL (1000, 1, 0.3), 1)
SPHERE ((0.6, 0, 0), 0.5, 0, 1)
SPRING (0, (0, 0, 0), 1, (0.6, 0, 0), [-1, -100, 1, 100])
""")
    RUN(solfec, NEWTON_SOLVER(), 0.01)
    assert bodies[0].conf[9:12] == pytest.approx([0, 0, 0], abs=1e-12)
    assert solfec.ncon == 1  # the spring
