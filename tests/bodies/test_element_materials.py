"""APPLY_BULKMAT, BODY_CHARS of finite elements, FIELD: bars of two materials, what is refused."""

import numpy as np
import pytest
from unit_cube import CUBE

import solfec as s
from solfec.bodies import motion
from solfec.bodies.finite_elements import compiled
from solfec.domain import Domain
from solfec.errors import NotBuiltYet, SolfecWarning
from solfec.language import session
from solfec.results import ResultsReader

pytestmark = pytest.mark.usefixtures("fresh_session")



def two_part_mesh():
    """Four hexahedra one upon another, 0.25 high; volume identifiers 1, 1, 2, 2."""
    nodes, elements, surfaces = s.HEX(CUBE, 1, 1, 4, 1, [1, 2, 3, 4, 5, 6]).get_data()
    heights = [sum(nodes[3 * n + 2] for n in elements[k + 1 : k + 9]) / 8 for k in range(0, 40, 10)]
    for k, height in zip(range(0, 40, 10), heights):
        elements[k + 9] = 1 if height < 0.5 else 2
    return s.MESH(nodes, elements, surfaces)


def bar(tmp_path, analysis="QUASI_STATIC", step=0.1, name="bar", **options):
    model = s.SOLFEC(analysis, step, str(tmp_path / name))
    model.verbose = "OFF"
    soft = s.BULK_MATERIAL(model, label="soft", young=1e4, poisson=0.0, density=10.0)
    hard = s.BULK_MATERIAL(model, label="hard", young=4e4, poisson=0.0, density=30.0)
    body = s.BODY(model, "FINITE_ELEMENT", two_part_mesh(), soft, **options)
    s.APPLY_BULKMAT(model, body, 2, "hard")
    return model, body, soft, hard


def test_a_bar_of_two_materials_is_two_springs_in_a_row(tmp_path):
    model, body, _, hard = bar(tmp_path, form="BC")
    for x in (0, 1):
        for y in (0, 1):
            s.FIX_DIRECTION(body, (x, y, 0), (0, 0, 1))
    s.PRESSURE(body, 6, 2.0)
    s.RUN(model, s.AUTO_SOLVER(1e-11), 2.0)
    assert s.DISPLACEMENT(body, (0.5, 0.5, 0.5))[2] == pytest.approx(2.0 * 0.5 / 1e4, rel=1e-6)
    assert s.DISPLACEMENT(body, (0.5, 0.5, 1.0))[2] == pytest.approx(2.0 * 0.5 / 1e4 + 2.0 * 0.5 / 4e4, rel=1e-6)
    assert s.STRESS(body, (0.5, 0.5, 0.2))[2] == pytest.approx(2.0, rel=1e-3)
    assert s.STRESS(body, (0.5, 0.5, 0.9))[2] == pytest.approx(2.0, rel=1e-3)
    hard.young = 8e4  # members of materials keep their hold of elements
    assert s.STRESS(body, (0.5, 0.5, 0.9))[2] == pytest.approx(4.0, rel=1e-3)


def test_masses_and_the_critical_step_are_those_of_the_elements(tmp_path):
    model, body, _, _ = bar(tmp_path, "DYNAMIC", 1.0)
    domain = model._simulation.domain
    assert body.mass == pytest.approx(10.0)  # the member stays
    assert compiled(domain.bodies).mass.sum() == pytest.approx(0.5 * 10 + 0.5 * 30)
    step, _ = motion.critical_step(domain.bodies)
    fe = compiled(domain.bodies)
    n = len(fe.mass)
    matrix = np.zeros((3 * n, 3 * n))
    for k in range(3 * n):
        direction = np.zeros((3, n), order="F")
        direction[k % 3, k // 3] = 1.0
        product = fe.assembly.tangent_product(np.zeros((3, n), order="F"), direction, np.zeros((3, n), order="F"))
        matrix[:, k] = product.ravel(order="F")
    root = 1 / np.sqrt(np.repeat(fe.mass, 3))
    assert step == pytest.approx(1 / np.sqrt(np.linalg.eigvalsh(root[:, None] * matrix * root).max()), rel=1e-6)


def test_weight_follows_the_elements_and_characteristics_do_not_change_the_motion(tmp_path):
    paths = []
    for name in ("plain", "told"):
        model, body, _, _ = bar(tmp_path, "DYNAMIC", 1e-3, name)
        if name == "told":
            s.BODY_CHARS(body, 77.0, 2.0, (0.1, 0.2, 0.3), (1, 0, 0, 0, 2, 0, 0, 0, 2.5))
            assert (body.mass, body.volume, body.center) == (77.0, 2.0, (0.1, 0.2, 0.3))
            assert body.tensor[::4] == (1, 2, 2.5)
        s.GRAVITY(model, (0, 0, -10))
        s.RUN(model, s.GAUSS_SEIDEL_SOLVER(1e-6, 10), 0.01)
        assert s.DISPLACEMENT(body, (0, 0, 0))[2] == pytest.approx(-0.5 * 10 * 0.01**2, rel=1e-9)
        paths.append(body.conf)
    assert paths[0] == paths[1]


@pytest.mark.parametrize("empty", [False, True])
def test_materials_of_elements_come_back_from_results(tmp_path, empty):
    model, body, _, _ = bar(tmp_path, "DYNAMIC", 1e-4)
    s.GRAVITY(model, (0, 0, -10))
    body.velo = [0.1 * k for k in range(len(body.velo))]
    s.RUN(model, s.GAUSS_SEIDEL_SOLVER(1e-6, 10), 1e-3)
    path = str(tmp_path / "bar")
    session.current().close()
    again = Domain(1e-4)
    if not empty:
        again = bar(tmp_path, "DYNAMIC", 1e-4, "other")[0]._simulation.domain
    with ResultsReader(path) as reader:
        reader.load(again, len(reader.times) - 1)
    for point in ((0.5, 0.5, 0.3), (0.5, 0.5, 0.9)):
        assert again.points.stress(1, point)[2] == pytest.approx(s.STRESS(body, point)[2], rel=1e-12)
    with ResultsReader(path) as reader:
        _, stress = reader.history([(1, (0.5, 0.5, 0.9), "SZ")])
    assert stress[-1] == pytest.approx(s.STRESS(body, (0.5, 0.5, 0.9))[2], rel=1e-12)


def test_wrong_uses_are_refused(tmp_path):
    model, body, soft, hard = bar(tmp_path)
    with pytest.raises(ValueError, match=r"no element of body 1 has the volume identifier 9 \(there are 1, 2\)"):
        s.APPLY_BULKMAT(model, body, 9, hard)
    with pytest.raises(TypeError, match="no bulk material labelled 'steel'"):
        s.APPLY_BULKMAT(model, body, 1, "steel")
    rigid = s.BODY(model, "RIGID", s.SPHERE((5, 5, 5), 1, 1, 1), soft)
    with pytest.warns(SolfecWarning, match="body 2 is RIGID, nothing changes"):
        s.APPLY_BULKMAT(model, rigid, 1, hard)
    field = s.FIELD(model, lambda x, y, z, t: x, "heat")
    with pytest.warns(SolfecWarning, match="model 'KIRCHHOFF' depends on no fields"):
        warm = s.BULK_MATERIAL(model, fields=[field])
    with pytest.raises(ValueError, match="must have the fields of the body's material"):
        s.APPLY_BULKMAT(model, body, 1, warm)
    with pytest.raises(ValueError, match="depends on 4 'fields', not 0"):
        s.BULK_MATERIAL(model, "TSANG_MARSDEN")
    with pytest.raises(NotBuiltYet, match="TSANG_MARSDEN"):
        s.BULK_MATERIAL(model, "TSANG_MARSDEN", fields=["heat"] * 4)
    with pytest.raises(TypeError, match="no field labelled 'cold'"):
        s.BULK_MATERIAL(model, fields=["cold"])
    s.RUN(model, s.GAUSS_SEIDEL_SOLVER(1e-6, 10), 0.1)
    with pytest.raises(ValueError, match="before RUN only"):
        s.APPLY_BULKMAT(model, body, 1, hard)


def test_fields_are_found_by_label_and_replaced(tmp_path):
    model = s.SOLFEC("DYNAMIC", 1e-3, str(tmp_path / "fields"))
    one = s.FIELD(model, lambda a, b, x, y, z, t: a + b * x + t, data=(1.0, 2.0))
    assert one.label == "FIELD_0" and s.BYLABEL(model, "FIELD", "FIELD_0") == one and s.BYLABEL(model, "FIELD", "x") is None
    function = model._simulation.fields["FIELD_0"]
    assert function(3.0, 0.0, 0.0, 0.5) == 7.5
    s.FIELD(model, filed_callback=lambda data, x, y, z, t: data, label="FIELD_0", data=4.0)
    assert model._simulation.fields["FIELD_0"](0, 0, 0, 0) == 4.0
    with pytest.raises(TypeError):
        s.FIELD(model, 3.0)
