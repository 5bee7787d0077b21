"""Affine and rigid motions of meshes of all four elements, from the language down to nodal forces."""

import numpy as np
import pytest
from finite_element_models import ElementModel, block

from solfec import BODY, BULK_MATERIAL, DISPLACEMENT, MESH, STRESS
from solfec.bodies.finite_elements import compiled
from solfec.bodies.table import Energy, Form

SHEET = [(x, y) for y in (0, 1) for x in range(4)]  # corners of three cells in a row, at z = 0 and 1
INTERIOR = (16, 21)


def nodes():
    """Places of 22 nodes: twice SHEET, the centre of the second cell (16), a cell on top of the third (17 to 20), its centre (21)."""
    place = np.array(
        [(x, y, z) for z in (0, 1) for x, y in SHEET]
        + [(1.55, 0.45, 0.6)]
        + [(2, 0, 2), (3, 0, 2), (3, 1, 2), (2, 1, 2)]
        + [(2.4, 0.55, 1.45)],
        float,
    )
    x, y, z = place.T
    shift = np.zeros_like(place)
    ends = (x == 0) | ((x == 3) & (z < 2))
    shift[ends, 0] = 0.2 * (x - 1.4 + 0.7 * y - 0.5 * z)[ends]  # faces of four corners stay plane, so that volumes are those of polyhedra
    shift[17:21] = 0.12 * np.random.default_rng(1).uniform(-1, 1, (4, 3))
    return place + shift


def elements():
    """A hexahedron, six pyramids about the first interior node, two wedges, twelve tetrahedra about the second one on top of them."""

    def corners(i):
        low = [i, i + 1, i + 5, i + 4]
        return low + [n + 8 for n in low]

    a, b, c = corners(0), corners(1), corners(2)
    faces = [(0, 1, 2, 3), (7, 6, 5, 4), (0, 4, 5, 1), (1, 5, 6, 2), (2, 6, 7, 3), (3, 7, 4, 0)]
    pyramids = [[b[n] for n in face] + [16] for face in faces]
    wedges = [[c[0], c[1], c[2], c[4], c[5], c[6]], [c[0], c[2], c[3], c[4], c[6], c[7]]]
    top = [*c[4:], 17, 18, 19, 20]
    tetrahedra = []
    for face in faces:
        p, q, r, s = (top[n] for n in face)
        tetrahedra += [[p, q, r, 21], [p, r, s, 21]]  # the lowest face is cut as the wedges cut it
    return [a, *pyramids, *wedges, *tetrahedra]


@pytest.fixture
def body(new_model):
    """`body(form)`: the mesh as a body of the language, with its model."""
    models = []

    def make(form):
        models.append(new_model("DYNAMIC", 1e-6))
        records = [x for e in elements() for x in (len(e), *e, 1)]
        return BODY(models[0], "FINITE_ELEMENT", MESH(nodes().ravel().tolist(), records, 1), BULK_MATERIAL(models[0]), form=form)

    make.bodies = lambda: models[0]._domain.bodies
    return make


def kirchhoff(gradient, lame):
    """First Piola-Kirchhoff stress and energy density."""
    strain = 0.5 * (gradient.T @ gradient - np.eye(3))
    stress = lame[0] * np.trace(strain) * np.eye(3) + 2 * lame[1] * strain
    return gradient @ stress, 0.5 * (strain * stress).sum()


@pytest.mark.parametrize("form", ["TL", "BC"])
def test_a_mixed_patch_has_one_stress_at_all_nodes_and_points(body, form):
    """Case 16: q = G X gives sigma = P F^T / J everywhere, also where nodes average over elements."""
    made = body(form)
    assert sorted(set(map(len, elements()))) == [4, 5, 6, 8]
    change = 0.1 * np.random.default_rng(2).uniform(-1, 1, (3, 3))
    gradient = np.eye(3) + change
    made.conf = (nodes() @ change.T).ravel().tolist()
    (lame,) = body.bodies().lame[:, :1].T
    first, density = kirchhoff(gradient, lame)
    cauchy = first @ gradient.T / np.linalg.det(gradient)
    expected = [*cauchy.diagonal(), cauchy[0, 1], cauchy[0, 2], cauchy[1, 2]]
    points = [*nodes()]
    for e in elements():
        points.append(nodes()[e].mean(0))
        points.append(0.6 * nodes()[e].mean(0) + 0.4 * nodes()[e[1]])
    for point in points:
        assert STRESS(made, tuple(point))[:6] == pytest.approx(expected, abs=1e-10 * np.abs(cauchy).max())
        assert DISPLACEMENT(made, tuple(point)) == pytest.approx(tuple(change @ point), abs=1e-13)
    if form == "TL":
        fe = compiled(body.bodies())
        stored = fe.assembly.energies(np.asfortranarray((nodes() @ change.T).T))[0].sum()
        assert stored == pytest.approx(made.volume * density, rel=1e-12)


@pytest.mark.parametrize("form", ["TL", "BC"])
def test_interior_nodes_of_a_mixed_patch_carry_no_force(body, form):
    """Case 16; strains small enough for the co-rotated form, which is linear in them."""
    made = body(form)
    change = 0.1 * np.random.default_rng(3).uniform(-1, 1, (3, 3))
    made.conf = (nodes() @ change.T).ravel().tolist()
    fe = compiled(body.bodies())
    fe.displacement[:] = (nodes() @ change.T).T  # as the elements see it; the co-rotated ones any affine field
    force = fe.assembly.internal_force(fe.displacement, np.zeros_like(fe.displacement, order="F"))
    assert np.abs(force).max() > 1e6
    assert np.abs(force[:, INTERIOR]).max() < 1e-12 * 1e9


def test_shape_functions_are_a_partition_of_unity(body):
    """Case 15: at any point of any element they add up to 1 and give the point's place; lumped masses add up to rho V."""
    from solfec.bodies.finite_elements import weigh

    body("TL")
    bodies, random = body.bodies(), np.random.default_rng(4)
    for number, e in enumerate(elements()):
        share = random.dirichlet(np.ones(len(e)), 5)
        points = np.asfortranarray((share @ nodes()[e]).T)
        _, weights, distance = weigh(compiled(bodies), bodies, np.zeros(5, int), np.full(5, number), points)
        assert weights.sum(0) == pytest.approx(np.ones(5), abs=1e-13) and distance.max() < 1e-9
        np.testing.assert_allclose(nodes()[e].T @ weights[: len(e)], points, atol=1e-9)
    assert compiled(bodies).mass.sum() == pytest.approx(bodies.mass[0], rel=1e-12)


@pytest.mark.parametrize("angle", [1e-3, 0.7, 2.0, 3.0, np.pi])
@pytest.mark.parametrize("form", [Form.TL, Form.BC])
def test_a_body_that_is_turned_carries_no_force(form, angle):
    """Case 17: q = (Q - I) X for any angle, and the frame of the co-rotated form is Q."""
    model = ElementModel()
    mesh = block((3, 2, 2), high=(1.5, 1.0, 0.7))
    model.add(mesh, form=form)
    axis = np.array((2.0, -1.0, 2.0)) / 3.0
    skew = np.cross(np.eye(3), axis).T
    turn = np.eye(3) + np.sin(angle) * skew + (1 - np.cos(angle)) * skew @ skew
    model.conf()[:] = (turn - np.eye(3)) @ mesh.nodes.T + [[3.0], [2.0], [1.0]]
    model.initialise()
    fe = model.bodies.finite_elements
    force = fe.assembly.internal_force(fe.displacement, np.zeros_like(fe.displacement, order="F"))
    stiffness = 1e9  # Young's modulus times a length of one
    assert np.abs(force).max() < 1e-14 * stiffness
    assert model.energy(Energy.INTERNAL) < 1e-20 * stiffness
    if form == Form.BC:
        assert np.abs(fe.rotation[:, :, 0] - turn).max() < 1e-14
