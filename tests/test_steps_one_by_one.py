"""SOLFEC.steps: a run that its user goes through step by step."""

import pytest

from solfec import AUTO_SOLVER, BODY, BULK_MATERIAL, CALLBACK, GRAVITY, HULL, INITIAL_VELOCITY, OUTPUT, RUN, SOLFEC, SPHERE, SURFACE_MATERIAL, results
from solfec.errors import SolfecError


def model(output=None):
    solfec = SOLFEC("DYNAMIC", 1e-3, output)
    solfec.verbose = "OFF"
    bulk = BULK_MATERIAL(solfec, density=1e3)
    SURFACE_MATERIAL(solfec, friction=0.3)
    GRAVITY(solfec, (0, 0, -9.81))
    BODY(solfec, "OBSTACLE", HULL([x for z in (-1, 0) for y in (-1, 1) for x_ in (-1, 1) for x in (x_, y, z)], 1, 1), bulk)
    ball = BODY(solfec, "RIGID", SPHERE((0, 0, 0.12), 0.1, 1, 1), bulk)
    INITIAL_VELOCITY(ball, (1, 0, 0), (0, 0, 0))
    return solfec, ball


def test_steps_are_those_of_run(tmp_path):
    ran, one = model(tmp_path / "ran")
    RUN(ran, AUTO_SOLVER(), 0.2)
    walked, other = model(tmp_path / "walked")
    times = list(walked.steps(AUTO_SOLVER(), 0.2))
    assert len(times) == 200 and times[-1] == ran.time == walked.time
    assert list(one.conf) == list(other.conf) and list(one.velo) == list(other.velo)
    assert results.open(tmp_path / "walked").times.tolist() == results.open(tmp_path / "ran").times.tolist()


def test_what_is_changed_between_steps_is_read_in_the_next_one():
    solfec, ball = model()
    for _ in solfec.steps(AUTO_SOLVER(), 0.05):
        INITIAL_VELOCITY(ball, (0, 2, 0), (0, 0, 0))
    assert solfec.time == pytest.approx(0.05)
    assert ball.velo[4] == 2.0 and ball.conf[10] == pytest.approx(2 * 0.049, rel=0.02)


def test_a_schedule_made_between_steps_counts_from_then_on():
    solfec, _ = model()
    called = []
    for number, _ in enumerate(solfec.steps(AUTO_SOLVER(), 0.02)):
        if number == 4:
            CALLBACK(solfec, 1e-3, None, lambda _: called.append(solfec.time))
    assert len(called) >= 14


def test_a_loop_that_is_left_writes_the_last_state_and_the_model_runs_on(tmp_path):
    solfec, _ = model(tmp_path / "out")
    OUTPUT(solfec, 0.05)
    for time in solfec.steps(AUTO_SOLVER(), 1.0):
        if time > 0.0195:
            break
    assert results.open(tmp_path / "out").times.tolist() == pytest.approx([0.0, 0.02])
    RUN(solfec, AUTO_SOLVER(), 0.01)
    assert solfec.time == pytest.approx(0.03)


def test_a_callback_that_returns_0_ends_the_steps():
    solfec, _ = model()
    CALLBACK(solfec, 0.01, solfec, lambda solfec: 0 if solfec.time > 0.025 else 1)
    assert list(solfec.steps(AUTO_SOLVER(), 1.0))[-1] == pytest.approx(0.03, abs=1.5e-3)


def test_an_error_in_the_loop_leaves_complete_results(tmp_path):
    solfec, _ = model(tmp_path / "out")
    steps = solfec.steps(AUTO_SOLVER(), 1.0)
    with pytest.raises(ZeroDivisionError):
        for time in steps:
            if time > 0.01:
                raise ZeroDivisionError
    steps.close()
    assert results.open(tmp_path / "out").times[-1] == pytest.approx(0.011, abs=1.1e-3)


def test_a_run_within_the_steps_is_refused():
    solfec, _ = model()
    with pytest.raises(SolfecError, match="running already"):
        for _ in solfec.steps(AUTO_SOLVER(), 0.1):
            RUN(solfec, AUTO_SOLVER(), 0.1)


def test_there_are_no_steps_in_read_mode(tmp_path):
    solfec, _ = model(tmp_path / "out")
    RUN(solfec, AUTO_SOLVER(), 0.01)
    again = SOLFEC("DYNAMIC", 1e-3, tmp_path / "out", mode="READ")
    assert list(again.steps(AUTO_SOLVER(), 0.01)) == []


@pytest.mark.parametrize("arguments", [(AUTO_SOLVER, 1.0), (None, 1.0)])
def test_a_solver_is_asked_for_as_by_run(arguments):
    solfec, _ = model()
    with pytest.raises(TypeError, match="solver"):
        solfec.steps(*arguments)
