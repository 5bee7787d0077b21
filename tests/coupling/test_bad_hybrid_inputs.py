"""Wrong hybrid inputs end with the file and line that is wrong, and leave no results behind."""

import warnings

import pytest
from test_hybrid_solver import CORNERS, PARTICLE

from solfec import cli
from solfec.errors import SolfecWarning

INPUT = f"""
sol = SOLFEC ('DYNAMIC', 0.01, 'out')
bulk = BULK_MATERIAL (sol, density = 1)
SURFACE_MATERIAL (sol)
body = BODY (sol, 'RIGID', HEX ({CORNERS}, 1, 1, 1, 1, [1]*6), bulk)
hs = HYBRID_SOLVER ('explicit.py', 0.001, {{0: body.id}}, GAUSS_SEIDEL_SOLVER (1E-3, 10))
hs.parmec_interval = 0.01
RUN (sol, hs, 0.05)
"""
RUN = "input.py:8: ValueError: RUN: HYBRID_SOLVER: "


@pytest.mark.parametrize(("explicit", "old", "new", "message"), [
    (PARTICLE, "0: body.id", "0: 9", RUN + "there is no body 9, which particle 0 is to be"),
    (PARTICLE, "'RIGID'", "'PSEUDO_RIGID'", RUN + "body 1, which particle 0 is to be, is not RIGID"),
    (PARTICLE, "0: body.id", "4: body.id", "input.py:6: ValueError: HYBRID_SOLVER: 'parmec2solfec': there is no particle 4"),
    (PARTICLE + "DEM (1, 0.1)\n", "", "", "explicit.py:3: ValueError: DEM: an input of HYBRID_SOLVER"),
    (PARTICLE + "SPRING (0, (0, 0, 0), 3, (0, 0, 0), [0, 0, 1, 1])\n", "", "", "explicit.py:3: ValueError: SPRING: 'part2'"),
    (PARTICLE + "SPRING (0, (0, 0, 0), -1, (0, 0, 0), [1, 0, 0, 1])\n", "", "", "explicit.py:3: ValueError: SPRING: 'spring'"),
    (PARTICLE, "hs.parmec_interval = 0.01", "hs.parmec_interval = 3", "input.py:7: ValueError: HYBRID_SOLVER.parmec_interval: 'parmec_interval' must be the number of a TSERIES, not 3"),
    (PARTICLE, "'explicit.py', 0.001", "'none.py', 0.001", "input.py:6: ValueError: HYBRID_SOLVER: 'parmec_file': cannot read"),
])  # fmt: skip
def test_errors_name_file_and_line_and_no_results_begin(explicit, old, new, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "explicit.py").write_text(explicit)
    (tmp_path / "input.py").write_text(INPUT.replace(old, new))
    assert cli.main(["input.py"]) == 1
    assert message in capsys.readouterr().err
    assert not list(tmp_path.rglob("*.h5"))
    assert not list(tmp_path.rglob("*.xmf"))


@pytest.mark.parametrize(("particle", "message"), [
    ("ANALYTICAL (mass = 2, inertia = [1, 1, 1, 0, 0, 0], position = (.5, .5, .5))\n", "particle 0 has the mass 2, and its body 1 1; the body's counts"),
    ("ANALYTICAL (mass = 1, inertia = [1, 1, 1, 0, 0, 0], position = (.5, .5, 0))\n", "the mass centres of particle 0 and its body 1 are 0.5 apart"),
])  # fmt: skip
def test_other_masses_and_centres_draw_a_warning_with_figures_and_the_run_goes_on(particle, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "explicit.py").write_text(particle)
    (tmp_path / "input.py").write_text(INPUT)
    with warnings.catch_warnings():
        warnings.simplefilter("always", SolfecWarning)
        assert cli.main(["input.py"]) == 0
    printed = capsys.readouterr()
    assert f"input.py:8: warning: HYBRID_SOLVER: {message}" in printed.err + printed.out
    assert list(tmp_path.rglob("*.h5"))
