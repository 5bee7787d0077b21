"""The switch -c: schedules, what may be edited in between, what cannot be continued."""

from __future__ import annotations

import h5py
import pytest

from solfec import cli, results

FALL = """
solfec = SOLFEC('DYNAMIC', 1E-3, 'out/fall')
solfec.verbose = 'OFF'
stone = BULK_MATERIAL(solfec, density=1000.0)
ball = BODY(solfec, 'RIGID', SPHERE((0, 0, 0), 1, 1, 1), stone, label='ball')
GRAVITY(solfec, (0, 0, -10))
OUTPUT(solfec, 4E-3)
{more}
RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-3, 100), {duration})
print(solfec.mode, '%g' % solfec.time)
"""


@pytest.fixture
def fall(run_text):
    """`fall(duration, *switches, more=text, status=0)` runs the input; returns what it prints, or its errors."""

    def run(duration, *switches, more="", status=0, text=FALL):
        return run_text(text.format(duration=duration, more=more), *switches, status=status)

    return run


def times():
    with results.open("out/fall") as run:
        return [round(time, 9) for time in run.times]


def test_frames_go_on_with_their_schedule_without_a_second_one_at_the_junction(fall):
    fall(0.008)
    assert fall(0.02, "-c") == "WRITE 0.02\n"
    assert times() == [0, 0.004, 0.008, 0.012, 0.016, 0.02]


def test_a_state_that_a_stop_wrote_off_schedule_stays_and_the_schedule_goes_on(fall):
    fall(0.01)
    fall(0.02, "-c")
    assert times() == [0, 0.004, 0.008, 0.01, 0.012, 0.016, 0.02]


def test_without_results_a_run_begins(fall):
    assert fall(0.008, "-c") == "WRITE 0.008\n"
    assert times() == [0, 0.004, 0.008]


@pytest.mark.parametrize("duration", [0.008, 0.005])
def test_a_duration_that_is_reached_changes_nothing_and_is_said(fall, duration):
    fall(0.008)
    before = open("out/fall/fall.h5", "rb").read()
    assert fall(duration, "-c") == f"out/fall, time 0.008: the duration of {duration:g} is reached already, nothing to do\nWRITE 0.008\n"
    assert open("out/fall/fall.h5", "rb").read() == before


def test_where_it_goes_on_is_said(fall):
    fall(0.008)
    assert "continued from out/fall, time 0.008" in fall(0.02, "-c", more="solfec.verbose = 'ON'")


def test_results_may_be_read_in_the_same_process_after_they_were_continued(fall):
    again = FALL + "other = SOLFEC('DYNAMIC', 1E-3, 'out/fall')\nprint(other.mode, DURATION(other))\n"
    fall(0.008)
    assert fall(0.02, "-c", text=again).splitlines()[1] == "READ (0.0, 0.02)"
    assert fall(0.02, "-c", text=again).splitlines()[2] == "READ (0.0, 0.02)"


def test_an_output_directory_is_continued(fall):
    fall(0.008)
    text = open("out/fall/fall.py").read()
    open("out/fall/fall.py", "w").write(text.replace("0.008", "0.012"))
    assert cli.main(["-c", "out/fall"]) == 0
    assert times()[-1] == 0.012


# --- callbacks ---------------------------------------------------------------------------------------------

CALLS = "CALLBACK(solfec, 2E-3, (), lambda: print('%g' % solfec.time))"


def test_a_call_that_was_due_after_the_last_frame_is_made_up_for(fall):
    assert fall(0.008, more=CALLS).split()[:-2] == ["0.001", "0.002", "0.004", "0.006", "0.008"]
    assert fall(0.012, "-c", more=CALLS).split()[:-2] == ["0.008", "0.01", "0.012"]


def test_a_call_before_the_last_frame_is_not_repeated(fall):
    assert fall(0.01, more=CALLS).split()[-3] == "0.01"
    assert fall(0.012, "-c", more=CALLS).split()[:-2] == ["0.012"]


def test_a_call_that_ends_the_run_again_leaves_the_results_as_they_are(fall):
    ending = "CALLBACK(solfec, 4E-3, (), lambda: 0 if solfec.time > 7E-3 else 1)"
    fall(1, more=ending)
    assert fall(1, "-c", more=ending) == "WRITE 0.008\n"
    assert times() == [0, 0.004, 0.008]


def test_a_force_function_of_a_callback_cannot_be_continued(fall):
    more = "CALLBACK(solfec, 4E-3, (), lambda: FORCE(ball, 'SPATIAL', (0, 0, 0), (0, 0, 1), lambda q, u, t, h: (0,) * 9))"
    fall(0.012, more=more)
    assert "a force on body 1 that a Python function gives was applied during the run" in fall(0.02, "-c", more=more, status=1)


# --- edited inputs -----------------------------------------------------------------------------------------


def test_what_is_edited_in_the_input_counts_and_what_the_run_changed_stays(fall):
    changed = "CALLBACK(solfec, 4E-3, (), lambda: (SURFACE_MATERIAL(solfec, friction=0.7), GRAVITY(solfec, (0, 0, 0))) and None)"
    show = FALL + "print(BYLABEL(solfec, 'SURFACE_MATERIAL', 'DEFAULT').friction, '%.4g' % ball.velo[5], stone.young)\n"
    fall(0.008, more=changed)
    assert fall(0.012, "-c", more=changed, text=show).splitlines()[1] == "0.7 -0.01 1000000000.0"
    edited = changed + "; GRAVITY(solfec, (0, 0, -20)); stone.young = 5"
    assert fall(0.013, "-c", more=edited.replace("GRAVITY(solfec, (0, 0, 0))", "0"), text=show).splitlines()[1] == "0.7 -0.03 5.0"


SLIDE = """
solfec = SOLFEC('DYNAMIC', 1E-3, 'out/slide', contacts='MANIFOLD')
solfec.verbose = 'OFF'
stone = BULK_MATERIAL(solfec, density=1000.0)
SURFACE_MATERIAL(solfec, friction=0.9)
{more}
corners = [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1]
BODY(solfec, 'OBSTACLE', TRANSLATE(SCALE(HULL(corners, 1, 1), (9, 3, 1)), (-1, -1, -1)), stone)
block = BODY(solfec, 'RIGID', HULL(corners, 1, 2), stone)
GRAVITY(solfec, (5, 0, -10))
RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-9, 1000), {duration})
print('%.3f' % block.velo[3])
"""


def test_a_material_that_was_added_to_the_input_holds_for_contacts_of_the_last_frame(fall):
    """A block that stuck slides from the junction on, with 5 - 0.2 x 10 m/s2."""
    assert fall(0.1, text=SLIDE) == "0.000\n"
    assert fall(0.3, "-c", text=SLIDE, more="SURFACE_MATERIAL(solfec, 1, 2, friction=0.2)") == "0.600\n"


SLEEPING = SLIDE.replace("stone =", "solfec.sleeping = (1E-2, 20)\nstone =").replace("print('%.3f' % block.velo[3])", "print('%.3f %.3f' % block.velo[3:6:2])")


@pytest.mark.parametrize("before, after, velocities", [
    ("(5, 0, -10)", "(12, 0, -10)", "0.300 0.000"),
    ("friction=0.9", "friction=0.2", "0.300 0.000"),
    ("RUN(", "CONTACT_EXCLUDE_SURFACES(solfec, 1, 2)\nRUN(", "0.500 -1.000"),
])  # fmt: skip
def test_what_sleeps_in_the_last_frame_wakes_when_gravity_materials_or_exclusions_are_edited(fall, before, after, velocities):
    """A block that slept slides from the junction on, with 12 - 0.9 x 10 or 5 - 0.2 x 10 m/s2, or falls."""
    assert fall(0.1, text=SLEEPING) == "0.000 0.000\n"
    assert fall(0.2, "-c", text=SLEEPING.replace(before, after)).replace("-0.000", "0.000") == velocities + "\n"


def test_what_sleeps_in_the_last_frame_sleeps_on(fall):
    text = SLEEPING + "print(solfec._domain.bodies.view('rest').tolist())\n"
    assert "[0, -1]" in fall(0.1, text=text)
    assert "[0, -1]" in fall(0.11, "-c", text=text)


def test_an_edited_interval_and_step_count_from_the_junction_on(fall):
    fall(0.008)
    fall(0.02, "-c", text=FALL.replace("4E-3", "5E-3").replace("1E-3, 'out", "5E-4, 'out"))
    assert times() == [0, 0.004, 0.008, 0.013, 0.018, 0.02]
    with results.open("out/fall") as run:
        assert run.steps["step_number"][-1] == 8 + 24


LOADED = """
solfec = SOLFEC('DYNAMIC', 1E-3, 'out/fall')
solfec.verbose = 'OFF'
stone = BULK_MATERIAL(solfec, density=1000.0)
balls = [BODY(solfec, 'RIGID', SPHERE((k, 0, 0), 0.1, 1, 1), stone) for k in range(3)]
FORCE(balls[0], 'SPATIAL', balls[0].center, (0, 1, 0), 1)
FORCE(balls[1], 'SPATIAL', balls[1].center, (0, 1, 0), {more})
def change():
    if abs(solfec.time - 0.01) < 1e-9:
        DELETE(solfec, balls[0])
        FORCE(balls[2], 'SPATIAL', balls[2].center, (0, 1, 0), 5)
CALLBACK(solfec, 1E-3, (), change)
RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-3, 100), {duration})
print(*('%.6f' % (ball.velo[4] * ball.mass) for ball in balls[1:]))
"""


@pytest.mark.parametrize("added", [True, False])
def test_an_edited_force_counts_for_its_body_whatever_forces_came_and_went(fall, added):
    """Impulses; one force went with its body, and a callback put another one, so places in the list of all forces tell nothing."""
    text = LOADED if added else LOADED.replace("        FORCE(balls[2]", "        0 and FORCE(balls[2]")
    fall(0.05, more=2, text=text)
    assert fall(0.1, "-c", more=4, text=text) == "0.300000 %.6f\n" % (0.45 * added)


@pytest.mark.parametrize("before, after, said", [
    ("", "FIX_POINT(ball, (0, 0, 0))", "the input makes constraint 1 (FIXPNT on body 1), the run began without it"),
    ("FIX_POINT(ball, (0, 0, 0))", "", "the run began with constraint 1 (FIXPNT on body 1), the input does not make it"),
    ("FIX_POINT(ball, (0, 0, 0))", "FIX_DIRECTION(ball, (0, 0, 0), (0, 0, 1))", "the run began with constraint 1 (FIXPNT on body 1)"),
])  # fmt: skip
def test_constraints_that_come_or_go_in_the_input_are_refused(fall, before, after, said):
    """They had no effect: a body that the input holds fell on."""
    fall(0.008, more=before)
    assert said in fall(0.016, "-c", more=after, status=1)


APART = """
solfec = SOLFEC('DYNAMIC', 1E-3, 'out/fall')
solfec.verbose = 'OFF'
bulk = BULK_MATERIAL(solfec)
floor = BODY(solfec, 'OBSTACLE', BOX((1, 0, -0.1), (9, 1, 0.2)), bulk)
balls = [BODY(solfec, 'RIGID', SPHERE((k, 0, 0.1), 0.1, 1, 1), bulk) for k in range(3)]
GRAVITY(solfec, (0, 0, -10))
{more}
CALLBACK(solfec, 1E-3, (), lambda: CONTACT_EXCLUDE_BODIES(floor, balls[0]) if abs(solfec.time - 5E-3) < 1E-9 else None)
RUN(solfec, AUTO_SOLVER(), {duration})
print(*('%.3f' % abs(ball.velo[5]) for ball in balls))
"""


def test_pairs_that_a_callback_excluded_stay_so_when_others_are_edited(fall):
    """Balls that fall through the floor: one by the callback, one by the first input, one by the edited one."""
    one, other = (f"CONTACT_EXCLUDE_BODIES(floor, balls[{k}])" for k in (1, 2))
    assert fall(0.02, more=one, text=APART) == "0.150 0.200 0.000\n"
    assert fall(0.04, "-c", more=f"{one}; {other}", text=APART) == "0.350 0.400 0.200\n"


SLIDING = """
solfec = SOLFEC('DYNAMIC', 1E-3, 'out/fall')
solfec.verbose = 'OFF'
ball = BODY(solfec, 'RIGID', SPHERE((0, 0, 0), 0.1, 1, 1), BULK_MATERIAL(solfec))
INITIAL_VELOCITY(ball, (1, 0, 0), (0, 0, 0))
slider = SLIDER(ball, None, (0, 0, 0), (1, 0, 0), limits=(-9, 9), {more})
CALLBACK(solfec, 1E-3, (), lambda: MOTOR(slider, 'EFFORT', 20 * ball.mass) if abs(solfec.time - 5E-3) < 1E-9 else None)
RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-9, 100), {duration})
print('%.6f' % ball.velo[3])
"""


@pytest.mark.parametrize(
    "edited, acceleration", [("friction=10 * ball.mass", 10.0), ("spring=1E-6, rest=1E6 * ball.mass", 21.0), ("damper=1E-9", 20.0)]
)
def test_edited_laws_of_a_joint_count_and_a_motor_that_the_run_has_put_stays(fall, edited, acceleration):
    before = float(fall(0.01, text=SLIDING))
    assert before == pytest.approx(1.0 + 20 * 0.005, abs=1e-6)
    assert float(fall(0.02, "-c", text=SLIDING, more=edited)) == pytest.approx(before + 0.01 * acceleration, abs=1e-4)


def test_an_edited_motion_counts(fall):
    moved = "SET_VELOCITY(ball, (0, 0, 0), (1, 0, 0), TIME_SERIES([0, {0}, 1, {0}])); SET_VELOCITY(ball, (0, 0, 0), (0, 1, 0), {0})"
    fall(0.008, more=moved.format(1))
    show = FALL + "print('%.3g %.3g' % ball.velo[3:5])\n"
    assert fall(0.012, "-c", more=moved.format(1), text=show).splitlines()[1] == "1 1"
    assert fall(0.016, "-c", more=moved.format(3), text=show).splitlines()[1] == "3 3"


@pytest.mark.parametrize(
    "more, said",
    [
        ("BODY(solfec, 'RIGID', SPHERE((9, 0, 0), 1, 1, 1), stone)", "the run began with 1 bodies, the input makes 2"),
        ("DELETE(solfec, ball); BODY(solfec, 'RIGID', SPHERE((0, 0, 0), 1, 1, 1), stone)", "id was 1, the input makes 2"),
    ],
)
def test_an_input_with_other_bodies_is_refused(fall, more, said):
    fall(0.008)
    error = fall(0.02, "-c", more=more, status=1)
    assert error.startswith("input.py:9: ") and said in error and "do they belong together?" in error


def test_another_analysis_kind_or_place_of_a_body_is_refused(fall):
    fall(0.008)
    assert "the run was DYNAMIC, the input makes a QUASI_STATIC model" in fall(0.02, "-c", text=FALL.replace("DYNAMIC", "QUASI_STATIC"), status=1)
    assert "kind was 1, the input makes 2" in fall(0.02, "-c", text=FALL.replace("'RIGID'", "'PSEUDO_RIGID'"), status=1)
    assert "centre was 0 0 0, the input makes 0 0 1" in fall(0.02, "-c", text=FALL.replace("(0, 0, 0)", "(0, 0, 1)"), status=1)


# --- what cannot be continued ------------------------------------------------------------------------------


def test_several_runs_in_an_input_cannot_be_continued(fall):
    two = FALL + "RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-3, 100), 0.004)\n"
    fall(0.008)
    assert "one RUN per input" in fall(0.02, "-c", text=two, status=1)
    assert times()[-1] == 0.02
    fall(0.008, "-y", "-w", text=two)
    assert "come from 2 calls of RUN" in fall(0.02, "-c", status=1)


def test_results_of_another_version_are_named_or_refused(fall):
    fall(0.008)
    with h5py.File("out/fall/fall.h5", "r+") as file:
        file.attrs["solfec_version"] = "0.0.7"
    assert "the results were begun by version 0.0.7 of solfec" in fall(0.012, "-c")
    with h5py.File("out/fall/fall.h5", "r+") as file:
        del file["model/functions"]
    error = fall(0.02, "-c", status=1)
    assert "written by version 0.0.7 with other contents (model/functions)" in error and "can be read, but not continued" in error
    assert fall(0.02) == "READ 0\n"


def test_a_run_that_goes_on_elsewhere_is_not_continued(fall):
    fall(0.008)
    with results.ResultsWriter.append("out/fall"):
        assert "another run is writing these results" in fall(0.02, "-c", status=1)
