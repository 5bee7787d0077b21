"""Steps above the critical one, points outside of bodies, folded elements: errors name body and element."""

import pytest
from unit_cube import CUBE

from solfec import BODY, BULK_MATERIAL, DISPLACEMENT, FORCE, GAUSS_SEIDEL_SOLVER, HEX, HULL, INITIAL_VELOCITY, MESH, RUN, SOLFEC, STRESS, VELOCITY
from solfec.errors import SolfecWarning

pytestmark = pytest.mark.usefixtures("fresh_session")



def model_of(tmp_path, step=1e-3):
    model = SOLFEC("DYNAMIC", step, str(tmp_path / "out"))
    model.verbose = "OFF"
    return model, BULK_MATERIAL(model)


def keep(model):
    with pytest.warns(SolfecWarning, match="longer ones end the run"):
        model.step_control = "OFF"


def test_the_user_may_keep_a_step_up_to_the_limit_of_stability(tmp_path):
    """The critical step of one unit hexahedron is 3.53553E-4, and it is stable up to twice that."""
    model, bulk = model_of(tmp_path, 6.5e-4)
    body = BODY(model, "FINITE_ELEMENT", HEX(CUBE, 1, 1, 1, 1, [1] * 6), bulk)
    INITIAL_VELOCITY(body, (1, 0, 0), (1e-3, 2e-3, 0))
    keep(model)
    assert model.step_control == "OFF"
    RUN(model, GAUSS_SEIDEL_SOLVER(1e-6, 10), 0.2)
    assert model.step == 6.5e-4 and max(map(abs, body.velo)) < 1.1


def test_a_step_that_is_too_long_becomes_the_critical_one(tmp_path):
    """Case 11: 1/sqrt(2.4E7) of a pseudo-rigid unit cube, where 1E-3 is asked for."""
    model, bulk = model_of(tmp_path, 1e-3)
    BODY(model, "PSEUDO_RIGID", HEX(CUBE, 1, 1, 1, 1, [1] * 6), bulk)
    RUN(model, GAUSS_SEIDEL_SOLVER(1e-6, 10), 5e-3)
    assert model.step == pytest.approx(2.04124e-4, abs=1e-9)


def test_a_longer_step_is_an_error_that_names_body_and_element(tmp_path):
    model, bulk = model_of(tmp_path, 1e-3)
    nodes, elements, surfaces = HEX(CUBE, 3, 1, 1, 1, [1] * 6, dx=[1, 0.1, 1]).get_data()
    BODY(model, "FINITE_ELEMENT", HEX(CUBE, 1, 1, 1, 1, [1] * 6), bulk)
    BODY(model, "FINITE_ELEMENT", MESH([x + 5 for x in nodes], elements, surfaces), bulk)
    keep(model)
    with pytest.raises(RuntimeError, match=r"body 2 \(FINITE_ELEMENT\), element 1, is unstable at the step 0.001.*'DEF_LIM'"):
        RUN(model, GAUSS_SEIDEL_SOLVER(1e-6, 10), 0.1)


def test_pseudo_rigid_bodies_are_named_as_well(tmp_path):
    model, bulk = model_of(tmp_path, 1e-3)
    BODY(model, "PSEUDO_RIGID", HEX(CUBE, 1, 1, 1, 1, [1] * 6), bulk)
    keep(model)
    with pytest.raises(RuntimeError, match=r"body 1 \(PSEUDO_RIGID\) is unstable at the step 0.001.*allows for 0.000204124"):
        RUN(model, GAUSS_SEIDEL_SOLVER(1e-6, 10), 0.1)


def test_a_folded_element_is_refused_when_the_body_is_made(tmp_path):
    model, bulk = model_of(tmp_path)
    mesh = HEX(CUBE, 2, 1, 1, 1, [1] * 6)
    corner = next(n for n in range(mesh.nnod) if mesh.node(n) == (1.0, 1.0, 1.0))
    mesh.node(corner, 0.62, 0.1, 0.1)
    with pytest.raises(RuntimeError, match=r"BODY: body 1: element 1 \(nodes .*\) is folded"):
        BODY(model, "FINITE_ELEMENT", mesh, bulk)


def test_points_outside_are_named_with_the_nearest_element(tmp_path):
    model, bulk = model_of(tmp_path)
    body = BODY(model, "FINITE_ELEMENT", HEX(CUBE, 2, 1, 1, 1, [1] * 6), bulk)
    for query in (STRESS, DISPLACEMENT, VELOCITY):
        with pytest.raises(ValueError, match=r"body 1: the point \(1.5, 0.5, 0.5\) is outside of its elements \(element 1 is nearest, 0.5 away\)"):
            query(body, (1.5, 0.5, 0.5))
    with pytest.raises(ValueError, match="body 1: the point .* is outside of its elements"):
        FORCE(body, "SPATIAL", (0.5, 0.5, -1), (1, 0, 0), 1.0)


def test_points_in_the_mesh_but_not_in_the_shape_are_outside(tmp_path):
    model, bulk = model_of(tmp_path)
    part = HULL([(0.2 * x, 0.2 * y, 0.4 * z) for x in (0, 1) for y in (0, 1) for z in (0, 1)], 1, 1)
    body = BODY(model, "FINITE_ELEMENT", part, bulk, mesh=HEX(CUBE, 1, 1, 1, 1, [1] * 6))
    assert STRESS(body, (0.1, 0.1, 0.1)) == (0,) * 7
    for query in (STRESS, DISPLACEMENT, VELOCITY):
        with pytest.raises(ValueError, match=r"body 1: the point \(0.5, 0.5, 0.5\) is outside of its shape"):
            query(body, (0.5, 0.5, 0.5))
    with pytest.raises(ValueError, match="outside of its shape"):
        FORCE(body, "SPATIAL", (0.5, 0.5, 0.5), (1, 0, 0), 1.0)
