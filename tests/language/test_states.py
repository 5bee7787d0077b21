"""INITIALIZE_STATE and RIGID_TO_FEM: what is taken, for which bodies, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from unit_cube import CUBE

import solfec as s
from solfec.errors import SolfecWarning
from solfec.language import session

pytestmark = pytest.mark.usefixtures("fresh_session")

POINTS = [(0.05, -0.05, 0.5), (0.01, 0.02, -0.3), (-0.05, -0.05, -0.5)]


def bar(cells=(2, 2, 20)):
    nodes = [x - 0.5 if k % 3 == 2 else 0.1 * x - 0.05 for k, x in enumerate(CUBE)]
    return s.HEX(nodes, *cells, 1, [1] * 6)


def bars(path, kinds, form="TL", label="bar {}", cells=(2, 2, 20), step=np.pi / 200, base=None):
    """Bars of given kinds, spinning, far from one another's contact."""
    model = s.SOLFEC("DYNAMIC", step, str(path))
    model.verbose = "OFF"
    bulk = s.BULK_MATERIAL(model, young=2e6, poisson=0.26, density=7800)
    bodies = [s.BODY(model, kind, bar(cells), bulk, label.format(k), form=form, base=base) for k, kind in enumerate(kinds)]
    for one in range(len(bodies)):
        for two in range(one):
            s.CONTACT_EXCLUDE_BODIES(bodies[one], bodies[two])
    return model, bodies


@pytest.fixture
def spun(tmp_path):
    """Results of two rigid bars that have turned by 90 and by 180 degrees, at time pi/2."""
    model, bodies = bars(tmp_path / "spun", ["RIGID", "RIGID"])
    s.INITIAL_VELOCITY(bodies[0], (0.1, 0, 0), (1, 0, 0))
    s.INITIAL_VELOCITY(bodies[1], (0, 0, 0.2), (0, 2, 0))
    s.RUN(model, s.GAUSS_SEIDEL_SOLVER(1e-6, 10), np.pi / 2)
    session.current().close()
    return model, bodies, str(tmp_path / "spun")


@pytest.mark.parametrize("form", ["TL", "BC"])
def test_finite_elements_take_the_motion_of_rigid_bodies(spun, tmp_path, form):
    """Case 32."""
    _, rigid, path = spun
    model, bodies = bars(tmp_path / form, ["FINITE_ELEMENT", "FINITE_ELEMENT"], form)
    s.RIGID_TO_FEM(path, np.pi / 2, model)
    for body, other in zip(bodies, rigid):
        for point in POINTS:
            np.testing.assert_allclose(s.DISPLACEMENT(body, point), s.DISPLACEMENT(other, point), rtol=0, atol=1e-12)
            np.testing.assert_allclose(s.VELOCITY(body, point), s.VELOCITY(other, point), rtol=0, atol=1e-12)
        energy = s.ENERGY(body)
        assert energy.kinetic == pytest.approx(s.ENERGY(other).kinetic, rel=0.03) and energy.internal < 1e-12 * energy.kinetic
    assert model.time == 0.0
    fixed = s.FIX_POINT(bodies[0], POINTS[1])  # still by its referential place
    np.testing.assert_allclose(fixed.point, np.add(POINTS[1], s.DISPLACEMENT(bodies[0], POINTS[1])), atol=1e-12)


def test_bodies_in_a_base_take_rigid_motions_and_their_own_states(spun, tmp_path):
    _, rigid, path = spun
    _, (free, _) = bars(tmp_path / "free", ["FINITE_ELEMENT", "FINITE_ELEMENT"], "BC", cells=(1, 1, 6))
    base = s.MODAL_ANALYSIS(free, 9, str(tmp_path / "modes"))
    kinds = ["FINITE_ELEMENT", "FINITE_ELEMENT"]
    model, bodies = bars(tmp_path / "modal", kinds, "BC-MODAL", cells=(1, 1, 6), base=base)
    s.RIGID_TO_FEM(path, np.pi / 2, model)
    for body, other in zip(bodies, rigid):
        for point in POINTS:
            np.testing.assert_allclose(s.DISPLACEMENT(body, point), s.DISPLACEMENT(other, point), rtol=0, atol=1e-9)
            np.testing.assert_allclose(s.VELOCITY(body, point), s.VELOCITY(other, point), rtol=0, atol=1e-9)
    s.RUN(model, s.GAUSS_SEIDEL_SOLVER(1e-6, 10), 0.1)
    session.current().close()
    other, again = bars(tmp_path / "again", kinds, "BC-MODAL", cells=(1, 1, 6), base=base)
    s.INITIALIZE_STATE(other, str(tmp_path / "modal"), model.time)
    for body, twin in zip(bodies, again):
        assert body.conf == twin.conf and body.velo == twin.velo


def test_states_of_all_kinds_are_taken_over(tmp_path):
    kinds = ["RIGID", "PSEUDO_RIGID", "FINITE_ELEMENT"]
    model, bodies = bars(tmp_path / "one", kinds, step=1e-3)
    for k, body in enumerate(bodies):
        s.INITIAL_VELOCITY(body, (k, 0, 1), (1, 2, 3))
    s.RUN(model, s.GAUSS_SEIDEL_SOLVER(1e-6, 10), 0.02)
    session.current().close()
    other, again = bars(tmp_path / "two", kinds, step=1e-3)
    s.INITIALIZE_STATE(other, str(tmp_path / "one"), 0.02)
    for body, twin in zip(bodies, again):
        assert body.conf == twin.conf and body.velo == twin.velo
        assert s.ENERGY(twin) == pytest.approx(s.ENERGY(body), rel=1e-12)


def test_subsets_choose_bodies_by_their_labels(spun, tmp_path):
    _, rigid, path = spun
    model, bodies = bars(tmp_path / "subset", ["RIGID", "OBSTACLE", "RIGID"])
    s.INITIALIZE_STATE(model, path, np.pi / 2, subset=["^bar [1-9]$"])
    assert bodies[0].velo == (0,) * 6 and bodies[2].velo == (0,) * 6  # the second by its label, the third is not there
    assert bodies[1].conf == rigid[1].conf
    s.RIGID_TO_FEM(path, np.pi / 2, model, "0")
    assert bodies[0].conf == rigid[0].conf and bodies[0].velo == rigid[0].velo
    with pytest.raises(ValueError, match="no body was initialised"):
        s.INITIALIZE_STATE(model, path, 0, "nobody")


def test_what_does_not_fit_is_refused(spun, tmp_path):
    _, _, path = spun
    model, _ = bars(tmp_path / "kinds", ["FINITE_ELEMENT"])
    with pytest.raises(RuntimeError, match=r"body 1 \(bar 0\) is FINITE_ELEMENT, the state of body 1 in .* is RIGID"):
        s.INITIALIZE_STATE(model, path, 0)
    with pytest.raises(ValueError, match="there are no results in '/nowhere'"):
        s.INITIALIZE_STATE(model, "/nowhere", 0)
    with pytest.raises(ValueError, match="where this simulation writes"):
        s.RIGID_TO_FEM(str(tmp_path / "kinds"), 0, model)
    with pytest.warns(SolfecWarning, match="no state at time 99; that of time 1.5708 is taken"):
        s.RIGID_TO_FEM(path, 99, model)
    s.RUN(model, s.GAUSS_SEIDEL_SOLVER(1e-6, 10), 1e-3)
    session.current().close()
    other, _ = bars(tmp_path / "nodes", ["FINITE_ELEMENT"], cells=(1, 1, 2))
    with pytest.raises(RuntimeError, match=r"body 1 \(bar 0\) has 12 nodes, body 1 in .* has 189"):
        s.INITIALIZE_STATE(other, str(tmp_path / "kinds"), 0)
    other, _ = bars(tmp_path / "elements", ["FINITE_ELEMENT"], cells=(2, 20, 2))  # as many nodes
    with pytest.raises(RuntimeError, match=r"body 1 \(bar 0\) and body 1 in .* have as many nodes, but not the same elements"):
        s.INITIALIZE_STATE(other, str(tmp_path / "kinds"), 0)
    reading = s.SOLFEC("DYNAMIC", 1e-3, path, "READ")
    with pytest.warns(SolfecWarning, match="ignored in READ mode"):
        s.INITIALIZE_STATE(reading, str(tmp_path / "kinds"), 0)
    s.BODY(reading, "RIGID", s.SPHERE((0, 0, 0), 1, 1, 1), s.BULK_MATERIAL(reading))
