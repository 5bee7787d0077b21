"""RUN takes solvers that others have written; what they return is measured, not believed."""

from __future__ import annotations

import numpy as np
import pytest

from solfec.errors import SolfecWarning
from solfec.results.settings import solver_settings
from solfec.solvers.foreign_solver import ForeignSolver
from solfec.solvers.report import SolverReport


class ExactPointMass:
    """The reaction of one contact whose W is diagonal: stops the approach, and what friction allows of the slip."""

    SETTINGS = ("gain",)

    def __init__(self, gain: float = 1.0):
        self.gain, self.calls = gain, 0

    def solve(self, local):
        self.calls += 1
        rows = local.rows
        for a in range(local.n):
            if rows.kind[a] != 0:
                rows.R[:, a] = 0.0
                continue
            w, b, mu = rows.diagonal[..., a], rows.free[:, a], rows.law[4, a]
            normal = max(-b[2] / w[2, 2], 0.0) * self.gain
            slip = -b[:2] / np.diag(w)[:2]
            size = np.hypot(*slip)
            rows.R[:, a] = [*(slip * min(1.0, mu * normal / size) if size else slip), normal]


def dropped(language, path, solver, steps=60):
    solfec = language.SOLFEC("DYNAMIC", 1e-3, str(path))
    solfec.verbose = "OFF"
    language.SURFACE_MATERIAL(solfec, friction=0.25, restitution=0.5)
    bulk = language.BULK_MATERIAL(solfec, density=1000)
    language.GRAVITY(solfec, (0, 0, -10))
    plate = [-9, -9, 0, 9, -9, 0, 9, 9, 0, -9, 9, 0, -9, -9, 1, 9, -9, 1, 9, 9, 1, -9, 9, 1]
    language.BODY(solfec, "OBSTACLE", language.TRANSLATE(language.HULL(plate, 1, 1), (0, 0, -1)), bulk)
    ball = language.BODY(solfec, "RIGID", language.SPHERE((0, 0, 0.505), 0.5, 1, 1), bulk)
    language.RUN(solfec, solver, steps * 1e-3)
    return solfec, ball


@pytest.fixture
def language():
    import solfec

    return solfec


def test_a_ball_bounces_as_with_our_own(language, tmp_path):
    _, foreign = dropped(language, tmp_path / "a", ExactPointMass(), 40)
    _, ours = dropped(language, tmp_path / "b", language.GAUSS_SEIDEL_SOLVER(1e-12, 100), 40)
    np.testing.assert_allclose(foreign.velo, ours.velo, atol=1e-12)
    assert foreign.velo[5] > 0.05  # it came back


def test_wrong_reactions_count_as_unsolved(language, tmp_path):
    with pytest.warns(SolfecWarning, match="ExactPointMass.*did not reach its accuracy in"):
        dropped(language, tmp_path / "a", ExactPointMass(gain=0.3))


class Returns:
    def __init__(self, *values):
        self.values = values

    def solve(self, local):
        local.rows.R[:, : local.n] = np.nan if self.values == ("nan",) else 0.0
        return None if self.values == ("nan",) else self.values[0]


def test_numbers_that_are_none_do_not_reach_bodies(language, tmp_path):
    with pytest.warns(SolfecWarning, match="Returns_SOLVER did not reach its accuracy"):
        _, ball = dropped(language, tmp_path / "a", Returns("nan"))
    assert np.isfinite(ball.velo).all()


def test_other_return_values_are_refused(language, tmp_path):
    with pytest.raises(TypeError, match="must return a SolverReport or None, not int"):
        dropped(language, tmp_path / "a", Returns(7))


def test_a_report_is_kept(language, tmp_path):
    class Tells(ExactPointMass):
        def solve(self, local):
            super().solve(local)
            return SolverReport(17, 0.0, 0.0, 0.0, "OK")

    solfec, _ = dropped(language, tmp_path / "a", Tells())
    report = solfec._simulation.domain.report
    assert (report.iterations, report.solver, report.status) == (17, "Tells", "OK")


@pytest.mark.parametrize("wrong", [ExactPointMass, object(), lambda local: None, "AUTO"])
def test_what_cannot_solve_is_refused(language, tmp_path, wrong):
    with pytest.raises(TypeError, match=r"'solver' must be a constraint solver object, or one with a method solve \(local\)"):
        dropped(language, tmp_path / "a", wrong)


def test_settings_are_kept_and_restored():
    settings = solver_settings(ForeignSolver(ExactPointMass(gain=0.9)))
    assert settings == {"class": "ExactPointMass", "gain": 0.9}
    other = ExactPointMass()
    ForeignSolver(other).restore(settings)
    assert other.gain == 0.9
