"""Every scene with every option set and solver against theory; wrong figures fail, known defects are expected failures."""

import pytest

from scenes import ALL_SCENES


def _parameter(run):
    marks = [pytest.mark.slow] if run.slow or run.solver != "AUTO" else []
    if run.defect is not None:
        marks.append(pytest.mark.xfail(strict=True, reason=run.defect.reason))
    return pytest.param(run, id=str(run), marks=marks)


@pytest.mark.parametrize("run", [_parameter(run) for scene in ALL_SCENES for run in scene.runs()])
def test_scene_agrees_with_theory(run):
    figures, warned = run.figures()
    wrong = [str(figure) for figure, verdict in figures if verdict == "wrong"]
    assert figures and not wrong, "; ".join(wrong + warned)
