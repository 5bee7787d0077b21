"""Element kernels: reference values, patch tests, tangents, rigid motion."""

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from solfec import _kernels
from solfec.bodies.element_assembly import ElementAssembly
from solfec.bodies.point_values import cauchy_stress

DATA = Path(__file__).parent.parent / "data" / "bodies"
HEX = [[-1, -1, -1], [1, -1, -1], [1, 1, -1], [-1, 1, -1], [-1, -1, 1], [1, -1, 1], [1, 1, 1], [-1, 1, 1]]
WEDGE = [[0, 0, -1], [1, 0, -1], [0, 1, -1], [0, 0, 1], [1, 0, 1], [0, 1, 1]]
PYRAMID = [[1, 1, 0], [-1, 1, 0], [-1, -1, 0], [1, -1, 0], [0, 0, 1]]
TET = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]
ELEMENTS = {"tetrahedron": TET, "pyramid": PYRAMID, "wedge": WEDGE, "hexahedron": HEX}
LAME = (1.2e5, 0.8e5)


def assembly(nodes, elements, lame=LAME, linear=False):
    nodes = np.asarray(nodes, float)
    sizes = np.array([len(e) for e in elements])
    table = np.array([list(e) + [-1] * (8 - len(e)) for e in elements])
    count = len(elements)
    return ElementAssembly(nodes.T, sizes, table, np.tile(lame, (count, 1)), np.full(count, linear))


def distorted(name, seed=1):
    nodes = np.array(ELEMENTS[name], float)
    return nodes + 0.1 * np.random.default_rng(seed).uniform(-1, 1, nodes.shape)


def single(name, linear=False, seed=1):
    nodes = distorted(name, seed)
    return assembly(nodes, [range(len(nodes))], linear=linear)


def force(a, displacement):
    return a.internal_force(np.asfortranarray(displacement), np.zeros(displacement.shape, order="F"))


def stiffness(a, displacement):
    """Dense K of an assembly of few elements."""
    n = a.node_count
    k = np.zeros((3 * n, 3 * n))
    for g, dense in zip(a.groups, a.element_stiffness(np.asfortranarray(displacement))):
        for e, block in enumerate(g.from_lanes(dense)):
            dofs = (3 * g.from_lanes(g.node)[e][:, None] + np.arange(3)).ravel()
            k[np.ix_(dofs, dofs)] += block
    return k


def svk(f, lame=LAME):
    e = 0.5 * (f.T @ f - np.eye(3))
    s = lame[0] * np.trace(e) * np.eye(3) + 2 * lame[1] * e
    return f @ s, 0.5 * np.sum(e * s)


def rotation(axis, angle):
    axis = np.asarray(axis, float) / np.linalg.norm(axis)
    w = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    return np.eye(3) + np.sin(angle) * w + (1 - np.cos(angle)) * w @ w


def cases():
    with gzip.open(DATA / "finite_element.json.gz", "rt") as file:
        return json.load(file)["cases"]


def close(value, reference, tolerance, scale=None):
    scale = np.abs(reference).max() if scale is None else scale
    return np.abs(np.asarray(value) - np.asarray(reference)).max() <= tolerance * max(scale, 1e-300)


@pytest.mark.parametrize("case", cases(), ids=lambda c: f"{c['label']}-{c['case']}")
def test_elements_agree_with_reference(case):
    linear = case["form"] != "total_lagrangian"
    young, nu = case["young"], case["poisson"]
    lame = (young * nu / ((1 + nu) * (1 - 2 * nu)), young / (2 * (1 + nu)))
    nodes = np.array(case["nodes"], float)
    a = assembly(nodes, case["elements"], lame, linear)
    q = np.array(case["displacement"], float)
    mass, _ = a.lumped_mass(np.full(len(case["elements"]), case["density"]))
    if any(len(e) == 5 for e in case["elements"]):  # the reference has a wrong derivative there: 0.6 % in K
        assert close(np.repeat(mass, 3), case["lumped_mass"], 3e-3)
        assert close(stiffness(a, q.T), case["stiffness"], 1e-2)
        return
    assert close(np.repeat(mass, 3), case["lumped_mass"], 1e-12)
    k_reference = np.array(case["stiffness"])
    stiff = np.abs(k_reference).max()
    assert close(stiffness(a, q.T), k_reference, 1e-12)
    if linear:
        r = np.array(case["corotation"])
        d = (nodes + q) @ r - nodes
        f = force(a, d.T).T @ r.T
        energy = a.energies(np.asfortranarray(d.T))[0].sum()
        # the reference multiplies out K (X + q) - K X: round-off of the order of the nodes' coordinates
        assert close(f, case["internal_force"], 1e-13, stiff * np.abs(nodes + q).max())
    else:
        f = force(a, q.T).T
        energy = a.energies(np.asfortranarray(q.T))[0].sum()
        assert close(f, case["internal_force"], 1e-12, stiff * max(np.abs(q).max(), 1e-3))
    assert close(energy, case["internal_energy"], 1e-12, max(case["internal_energy"], stiff * np.abs(nodes + q).max() ** 2))


def mixed_mesh():
    """Columns of hexahedra beside columns of wedges about one interior node that is out of line."""
    grid = np.array([[x, y, z] for z in range(3) for y in range(3) for x in range(3)], float)
    centre = 13
    grid[centre] += [0.1, -0.05, 0.08]

    def n(x, y, z):
        return x + 3 * y + 9 * z

    elements = []
    for z in range(2):
        for y in range(2):
            for x in range(2):
                c = [n(x, y, z), n(x + 1, y, z), n(x + 1, y + 1, z), n(x, y + 1, z)]
                c += [k + 9 for k in c]
                if (x + y) % 2 == 0:
                    elements.append(c)
                else:
                    elements += [[c[0], c[1], c[2], c[4], c[5], c[6]], [c[0], c[2], c[3], c[4], c[6], c[7]]]
    return grid, elements, centre


@pytest.mark.parametrize("name", ELEMENTS)
def test_affine_displacement_gives_one_stress_everywhere(name):
    gradient = 0.1 * np.random.default_rng(3).uniform(-1, 1, (3, 3))
    a = single(name)
    p, density = svk(np.eye(3) + gradient)
    q = gradient @ a.reference
    (g,) = a.groups
    volume = g.weight.sum()
    expected = sum(np.einsum("ij,ja,->ia", p, g.shape_gradients()[0, :, :, k, 0], g.weight[0, k, 0]) for k in range(g.weight.shape[1]))
    assert np.abs(force(a, q) - expected).max() < 1e-11 * LAME[0]
    assert abs(a.energies(np.asfortranarray(q))[0].sum() - volume * density) < 1e-12 * volume * density


def test_interior_nodes_of_a_patch_carry_no_force():
    nodes, elements, centre = mixed_mesh()
    a = assembly(nodes, elements)
    gradient = 0.1 * np.random.default_rng(4).uniform(-1, 1, (3, 3))
    q = gradient @ a.reference
    k = stiffness(a, q)
    assert np.abs(force(a, q)[:, centre]).max() < 1e-12 * np.linalg.norm(k)


def test_interior_node_of_pyramids_carries_no_force():
    """A cube of six pyramids about a shifted centre; fails with a wrong derivative of the rational term."""
    nodes = np.array(HEX + [[0.2, -0.1, 0.15]], float)
    faces = [(0, 1, 2, 3), (7, 6, 5, 4), (0, 4, 5, 1), (1, 5, 6, 2), (2, 6, 7, 3), (3, 7, 4, 0)]
    a = assembly(nodes, [(*f, 8) for f in faces])
    assert a.failed < 0
    gradient = 0.1 * np.random.default_rng(5).uniform(-1, 1, (3, 3))
    q = gradient @ a.reference
    assert np.abs(force(a, q)[:, 8]).max() < 1e-12 * np.linalg.norm(stiffness(a, q))


@pytest.mark.parametrize("name", ELEMENTS)
def test_tangent_is_the_derivative_of_the_internal_force(name):
    a = single(name)
    q = 0.1 * np.random.default_rng(6).uniform(-1, 1, a.reference.shape)
    k, h = stiffness(a, q), 1e-6
    numeric = np.zeros_like(k)
    for dof in range(q.size):
        d = np.zeros(q.size)
        d[dof] = h
        d = d.reshape(-1, 3).T
        numeric[:, dof] = ((force(a, q + d) - force(a, q - d)) / (2 * h)).T.ravel()
    assert close(k, numeric, 1e-8)
    assert close(k, k.T, 1e-14)
    v = np.asfortranarray(np.random.default_rng(7).uniform(-1, 1, q.shape))
    product = a.tangent_product(np.asfortranarray(q), v, np.zeros(q.shape, order="F"))
    assert close(product.T.ravel(), k @ v.T.ravel(), 1e-13)


@pytest.mark.parametrize("name", ELEMENTS)
@pytest.mark.parametrize("angle", [0.1, 1.0, np.pi])
def test_rigid_rotation_gives_no_force(name, angle):
    a = single(name)
    q = (rotation((1, 2, 3), angle) - np.eye(3)) @ a.reference
    assert np.abs(force(a, q)).max() < 1e-13 * np.abs(stiffness(a, q)).max()


@pytest.mark.parametrize("name", ELEMENTS)
def test_mass_and_volume_of_ideal_elements(name):
    exact = {"tetrahedron": 1 / 6, "pyramid": 4 / 3, "wedge": 1.0, "hexahedron": 8.0}[name]
    a = assembly(ELEMENTS[name], [range(len(ELEMENTS[name]))])
    mass, volume = a.lumped_mass(np.array([1e3]))
    assert mass.sum() == pytest.approx(1e3 * exact, rel=1e-13)
    assert volume[0] == pytest.approx(exact, rel=1e-13)
    (g,) = a.groups
    assert np.abs(g.shape_gradients()[0].sum(1)).max() < 1e-14
    assert (mass > 0).all()


def test_lanes_without_elements_weigh_nothing():
    nodes, elements, _ = mixed_mesh()
    whole = assembly(nodes, elements)
    q = 0.1 * np.random.default_rng(8).uniform(-1, 1, nodes.T.shape)
    alone = sum(force(assembly(nodes, [e]), q) for e in elements)
    assert close(force(whole, q), alone, 1e-14)


def test_inverted_element_is_named():
    nodes, elements, _ = mixed_mesh()
    elements[2] = [elements[2][k] for k in (4, 5, 6, 7, 0, 1, 2, 3)] if len(elements[2]) == 8 else elements[2][3:] + elements[2][:3]
    assert assembly(nodes, elements).failed == 2


def test_kirchhoff_material_agrees_with_reference():
    """Through an affine tetrahedron: P, energy and tangent of the reference points."""
    with np.load(DATA / "stvenant_kirchhoff.npz") as data:
        lame = (float(data["lame_lambda"]), float(data["lame_mu"]))
        a = assembly(TET, [range(4)], lame)
        g = np.array([[-1, -1, -1], [1, 0, 0], [0, 1, 0], [0, 0, 1]], float)
        for f, p, energy, tangent in zip(data["F"], data["P"], data["energy"], data["tangent"]):
            q = (f - np.eye(3)) @ a.reference
            assert close(force(a, q), (p @ g.T) / 6, 1e-12, max(np.abs(p).max(), lame[1]))
            assert close(a.energies(np.asfortranarray(q))[0][0], energy / 6, 1e-11, max(energy, 1e-6 * lame[1]))
            # columns by columns: index 3 J + i
            dense = tangent.reshape(3, 3, 3, 3).transpose(1, 0, 3, 2)  # i J k L
            k = np.einsum("aJ,iJkL,bL->aibk", g, dense, g).reshape(12, 12) / 6
            assert close(stiffness(a, q), k, 1e-12)


@pytest.mark.parametrize("case", [c for c in cases() if "pyr" not in c["label"]], ids=lambda c: f"{c['label']}-{c['case']}")
def test_points_have_the_gradients_of_the_reference_and_the_true_stress(case):
    """F as in Solfec-1.0; its Cauchy stress is F P / J, ours P F^T / J."""
    kernels = _kernels.finite_element_points
    nodes, elements, q = np.array(case["nodes"], float), case["elements"], np.array(case["displacement"], float)
    table = np.array([e + [0] * (8 - len(e)) for e in elements], np.int32).T
    sizes, numbers = np.array([len(e) for e in elements], np.int32), np.arange(len(elements), dtype=np.int32)
    start, count = np.zeros(len(elements), np.int32), len(elements)
    place = np.asfortranarray(np.array([p["position"] for p in case["points"]], float).T)
    natural, weights, distance = np.zeros((3, count), order="F"), np.zeros((8, count), order="F"), np.zeros(count)
    table, reference = np.asfortranarray(table), np.asfortranarray(nodes.T)
    kernels.weigh_points(place, numbers, start, sizes, table, reference, natural, weights, distance)
    gradient = np.zeros((3, 3, count), order="F")
    kernels.deformation_gradients(natural, numbers, start, sizes, table, reference, np.asfortranarray(q.T), gradient)
    lame = (case["young"] * case["poisson"] / ((1 + case["poisson"]) * (1 - 2 * case["poisson"])),
            case["young"] / (2 * (1 + case["poisson"])))  # fmt: skip
    for k, point in enumerate(case["points"]):
        f = np.array(point["F"], float)
        assert np.abs(natural[:, k] - point["local"]).max() < 1e-12
        assert np.abs(weights[: len(point["shapes"]), k] - point["shapes"]).max() < 1e-12
        assert np.abs(gradient[:, :, k] - f).max() < 1e-12
        p, _ = svk(f, lame)
        assert close(cauchy_stress(gradient[:, :, k], lame), p @ f.T / np.linalg.det(f), 1e-11, lame[1])


@pytest.mark.parametrize("seed", range(4))
def test_masses_of_warped_meshes_are_the_sums_of_their_nodes_masses(seed):
    """Inner faces, too, are not plane; a rigid body keeps the polyhedra of Solfec-1.0, whose mass is another."""
    from solfec import BODY, BULK_MATERIAL, HEX, MESH, SOLFEC
    from solfec.bodies.finite_elements import compiled

    rng = np.random.default_rng(seed)
    solfec = SOLFEC("DYNAMIC", 1e-3, None)
    bulk = BULK_MATERIAL(solfec, young=1e6, poisson=0.25, density=7.0)
    even = HEX([0, 0, 0, 2, 0, 0, 2, 1, 0, 0, 1, 0, 0, 0, 1, 2, 0, 1, 2, 1, 1, 0, 1, 1], 3, 2, 2, 0, [0] * 6)
    nodes = np.array([even.node(k) for k in range(even.nnod)]) + rng.uniform(-0.12, 0.12, (even.nnod, 3))
    number = {tuple(np.round(even.node(k), 9)): k for k in range(even.nnod)}
    records = []
    for x in range(3):
        for y in range(2):
            for z in range(2):
                corners = [(x, y, z), (x + 1, y, z), (x + 1, y + 1, z), (x, y + 1, z)]
                corners += [(a, b, c + 1) for a, b, c in corners]
                records += [8, *(number[tuple(np.round((2 * a / 3, b / 2, c / 2), 9))] for a, b, c in corners), 0]
    soft = BODY(solfec, "FINITE_ELEMENT", MESH(nodes.ravel().tolist(), records, 0), bulk)
    rigid = BODY(solfec, "RIGID", MESH(nodes.ravel().tolist(), records, 0), bulk)
    masses = compiled(solfec._simulation.domain.bodies).mass
    assert soft.mass == pytest.approx(masses.sum(), rel=1e-13)
    assert np.array(soft.center) == pytest.approx(masses @ nodes / masses.sum(), abs=0.02)  # row sums of warped elements
    assert abs(rigid.mass / soft.mass - 1.0) > 1e-6


SKEW = np.array([[0.7, 0.2, -0.1], [0.1, 1.1, 0.3], [-0.2, 0.15, 0.9]])  # of a parallelepiped


def by_quadrature(nodes, displacement):
    """Forces (3, 8) and energy of a hexahedron with nodes (8, 3), by Gauss points and derivatives of the trilinear shape functions."""
    total, energy = np.zeros((3, 8)), 0.0
    signs = np.array(HEX, float)
    for point in signs / np.sqrt(3.0):
        one = 1.0 + signs * point
        slopes = 0.125 * signs * np.column_stack([one[:, 1] * one[:, 2], one[:, 0] * one[:, 2], one[:, 0] * one[:, 1]])
        jacobian = nodes.T @ slopes
        gradients = slopes @ np.linalg.inv(jacobian)
        stress, density = svk(np.eye(3) + displacement @ gradients)
        total += np.linalg.det(jacobian) * stress @ gradients.T
        energy += np.linalg.det(jacobian) * density
    return total, energy


def test_parallelepipeds_keep_one_jacobian_and_have_the_forces_of_eight_points():
    random = np.random.default_rng(3)
    nodes = np.array(HEX, float) @ SKEW.T + (5.0, -3.0, 2.0)
    a, (one, other) = assembly(nodes, [range(8)]), 0.1 * random.normal(size=(2, 3, 8))
    (group,) = a.groups
    assert group.gradient.shape[3] == 1 and group.weight.shape[1] == 8
    for displacement in (one, other):
        forces, energy = by_quadrature(nodes, displacement)
        assert close(force(a, displacement), forces, 1e-13)
        assert close(a.energies(np.asfortranarray(displacement))[0], [energy], 1e-13)
        step = 1e-6 * random.normal(size=(3, 8))
        difference = (by_quadrature(nodes, displacement + step)[0] - by_quadrature(nodes, displacement - step)[0]) / 2
        assert close((stiffness(a, displacement) @ step.T.ravel()).reshape(8, 3).T, difference, 1e-8)
        assert close(a.tangent_product(np.asfortranarray(displacement), np.asfortranarray(step), np.zeros((3, 8), order="F")), difference, 1e-8)
    a.element_conserving_forces(np.asfortranarray(one), np.asfortranarray(other))
    work = (a._gather(np.zeros((3, 8), order="F")) * (other - one)).sum()
    assert close(work, by_quadrature(nodes, other)[1] - by_quadrature(nodes, one)[1], 1e-12)


@pytest.mark.parametrize("off", [1e-9, 0.1])
def test_each_element_keeps_what_it_needs_whatever_the_others_are(off):
    """So the bits of a body do not depend on others."""
    nodes = np.array(HEX, float) @ SKEW.T
    both = np.concatenate([nodes, nodes + (4.0, 0, 0)])
    both[6] += off
    a = assembly(both, [range(8), range(8, 16)])
    assert [(group.gradient.shape[3], group.numbers.tolist()) for group in a.groups] == [(1, [1]), (8, [0])]
    displacement = 0.1 * np.random.default_rng(4).normal(size=(3, 16))
    found = force(a, displacement)
    for first in (0, 8):
        part = slice(first, first + 8)
        assert close(found[:, part], by_quadrature(both[part], displacement[:, part])[0], 1e-13)
        assert np.array_equal(found[:, part], force(assembly(both[part], [range(8)]), displacement[:, part]))


def test_tetrahedra_have_one_point_of_their_whole_volume():
    nodes = distorted("tetrahedron")
    (group,) = assembly(nodes, [range(4)]).groups
    assert group.gradient.shape[3] == group.weight.shape[1] == 1
    assert close(group.weight[0, 0, 0], np.linalg.det(nodes[1:] - nodes[0]) / 6.0, 1e-14)
