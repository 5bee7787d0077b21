"""Shapes inside coarser meshes: exact cuts, mass, stiffness, contacts, restarts, refusals."""

import numpy as np
import pytest
from unit_cube import BOX, block

from solfec.bodies import motion
from solfec.bodies.background_mesh import cut_quadrature, element_table, tetrahedron_rule
from solfec.bodies.finite_elements import compiled
from solfec.bodies.materials import BulkMaterial
from solfec.bodies.table import BodyKind, Energy, Form, Scheme
from solfec.domain import Domain
from solfec.errors import SolfecError
from solfec.results import ResultsReader, ResultsWriter
from solfec.shapes.characteristics import characteristics
from solfec.shapes.hull import hull
from solfec.shapes.mesh import Mesh
from solfec.shapes.mesh_parts import submesh
from solfec.shapes.mesh_to_convex import mesh_to_convex
from solfec.shapes.tetrahedron_clip import cut_by_elements, volumes
from solfec.solvers.gauss_seidel import GaussSeidelSolver

SOFT = BulkMaterial(young=1e7, poisson=0.3, density=1e3)


def convex_box(size, low=(0.0, 0.0, 0.0)):
    return hull(BOX * np.asarray(size) + np.asarray(low), 1, 1)


def ball(centre, radius, count=60):
    k = np.arange(count) + 0.5
    polar, turn = np.arccos(1 - 2 * k / count), np.pi * (1 + 5**0.5) * k
    points = np.column_stack((np.cos(turn) * np.sin(polar), np.sin(turn) * np.sin(polar), np.cos(polar)))
    return hull(radius * points + np.asarray(centre), 1, 1)


def tetrahedra():
    """A unit cube of six tetrahedra."""
    path = [(0, 1, 2, 6), (0, 2, 3, 6), (0, 3, 7, 6), (0, 7, 4, 6), (0, 4, 5, 6), (0, 5, 1, 6)]
    return Mesh.from_records(BOX.ravel(), [n for corners in path for n in (4, *corners, 1)])


def wedges():
    return Mesh.from_records(BOX.ravel(), [6, 0, 1, 2, 4, 5, 6, 1, 6, 0, 2, 3, 4, 6, 7, 1])


def pyramids():
    nodes = [*BOX.ravel(), 0.5, 0.5, 0.5]
    faces = [(0, 3, 2, 1), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7)]
    return Mesh.from_records(nodes, [n for face in faces for n in (5, *face[::-1], 8, 1)])


def domain_of(shapes, mesh, form=Form.TL, material=SOFT, **options):
    domain = Domain(1e-4, **options)
    domain.insert_body(BodyKind.FINITE_ELEMENT, shapes, material, form=form, mesh=mesh)
    return domain


MESHES = {"hexahedra": lambda: block(cells=(2, 3, 2)), "tetrahedra": tetrahedra, "wedges": wedges, "pyramids": pyramids}


@pytest.mark.parametrize("mesh", MESHES.values(), ids=MESHES)
def test_parts_in_elements_add_up_to_the_shape(mesh):
    shape = ball((0.5, 0.5, 0.5), 0.45)
    pieces, part, element, whole = cut_by_elements(shape.polyhedra, mesh())
    volume, centre, _ = characteristics(shape)
    assert volumes(pieces).sum() == pytest.approx(volume, rel=1e-12)
    np.testing.assert_allclose((volumes(pieces)[:, None] * pieces.mean(1)).sum(0) / volume, centre, rtol=1e-12)
    assert whole.sum() == pytest.approx(1.0, rel=1e-12) and not part.any()
    assert (np.bincount(element, volumes(pieces)) <= whole[: element.max() + 1] * (1 + 1e-12)).all()


def test_warped_elements_are_cut_along_the_same_faces():
    mesh = block((4, 4, 4), (3, 3, 3), (-2, -2, -2))
    rng = np.random.default_rng(0)
    inner = (abs(mesh.nodes) < 1.9).all(1)
    mesh.nodes[inner] += 0.15 * rng.uniform(-1, 1, (inner.sum(), 3))
    shape = ball((0, 0, 0), 1.7)
    pieces, *_ = cut_by_elements(shape.polyhedra, mesh)
    assert volumes(pieces).sum() == pytest.approx(characteristics(shape)[0], rel=1e-12)


def test_the_rule_of_tetrahedra_is_exact_to_degree_five():
    points, weights = tetrahedron_rule()
    x, y, z = points[:, 1:].T
    factorial = np.array([1, 1, 2, 6, 24, 120, 720, 5040, 40320], float)
    for i, j, k in ((5, 0, 0), (0, 5, 0), (2, 2, 1), (1, 1, 3), (0, 0, 4)):
        exact = 6 * factorial[i] * factorial[j] * factorial[k] / factorial[i + j + k + 3]
        assert (weights * x**i * y**j * z**k).sum() == pytest.approx(exact, rel=1e-13)


@pytest.mark.parametrize("mesh", MESHES.values(), ids=MESHES)
def test_few_positive_weights_give_the_mass_of_the_part(mesh):
    mesh = mesh()
    shape = ball((0.45, 0.5, 0.55), 0.4)
    pieces, _, element, _ = cut_by_elements(shape.polyhedra, mesh)
    owner, natural, weight = cut_quadrature(mesh, *element_table(mesh), pieces, element)
    assert (weight > 0).all() and np.bincount(owner).max() <= 23
    domain = domain_of([shape], mesh)
    fe = compiled(domain.bodies)
    volume, centre, _ = characteristics(shape)
    assert fe.mass.sum() == pytest.approx(1e3 * volume, rel=1e-10)
    np.testing.assert_allclose(fe.reference @ fe.mass / fe.mass.sum(), centre, rtol=1e-9)


def test_a_cube_that_fills_one_hexahedron_is_that_hexahedron():
    """Case 19: the largest eigenvalue 8E6 gives the critical step 3.53553E-4."""
    domain = domain_of([convex_box((1, 1, 1))], block(), material=BulkMaterial())
    assert motion.critical_step(domain.bodies)[0] == pytest.approx(1 / np.sqrt(8e6), rel=1e-9)
    assert not len(compiled(domain.bodies).meshes[0].background.point_element)
    np.testing.assert_allclose(compiled(domain.bodies).mass, 125.0, rtol=1e-12)


@pytest.mark.parametrize("low, size", [((0, 0, 0), (1, 1, 0.5)), ((0, 0, 0.9), (1, 1, 0.1)), ((0.6, 0, 0), (0.4, 0.3, 1))])
def test_a_hexahedron_filled_in_part_has_mass_and_stiffness_of_the_part(low, size):
    """Case 29; and the stiffness is that of the integral over the part, by Gauss points of the part itself."""
    domain = domain_of([convex_box(size, low)], block(), Form.BC)
    fe = compiled(domain.bodies)
    assert fe.mass.sum() == pytest.approx(1e3 * np.prod(size), rel=1e-12)
    np.testing.assert_allclose(fe.reference @ fe.mass / fe.mass.sum(), np.asarray(low) + np.asarray(size) / 2, rtol=1e-12)
    rng = np.random.default_rng(1)
    u = rng.normal(size=(3, 8))
    energy, _ = fe.assembly.energies(np.asfortranarray(u))
    lame, mu = SOFT.lame
    gauss, factor = np.polynomial.legendre.leggauss(4)
    exact = 0.0
    for i, x in enumerate(gauss):
        for j, y in enumerate(gauss):
            for k, z in enumerate(gauss):
                at = np.asarray(low) + np.asarray(size) * (np.array([x, y, z]) + 1) / 2
                corner = fe.reference.T
                value = np.where(corner > 0.5, at, 1 - at)
                slope = np.where(corner > 0.5, 1.0, -1.0)
                g = np.stack([slope[:, a] * np.delete(value, a, 1).prod(1) for a in range(3)], 1)
                h = u @ g
                e = (h + h.T) / 2
                weight = factor[i] * factor[j] * factor[k] * np.prod(size) / 8
                exact += weight * (lame / 2 * np.trace(e) ** 2 + mu * (e**2).sum())
    assert energy.sum() == pytest.approx(exact, rel=1e-10)


@pytest.mark.parametrize("mesh", MESHES.values(), ids=MESHES)
def test_an_affine_deformation_has_the_energy_of_the_shape(mesh):
    shape = ball((0.5, 0.5, 0.5), 0.45)
    domain = domain_of([shape], mesh())
    gradient = np.array([[0.02, 0.03, 0.0], [-0.01, 0.04, 0.02], [0.0, 0.05, -0.03]])
    nodes = domain.bodies.meshes[1].nodes
    domain.states.set_conf(1, (nodes @ gradient.T).ravel())
    f = np.eye(3) + gradient
    e = (f.T @ f - np.eye(3)) / 2
    lame, mu = SOFT.lame
    volume = characteristics(shape)[0]
    density = lame / 2 * np.trace(e) ** 2 + mu * (e**2).sum()
    assert domain.energy()[Energy.INTERNAL] == pytest.approx(volume * density, rel=1e-9)
    domain.states.update_shapes()
    reference, current = (domain.geometry.vertices.view(name) for name in ("reference", "current"))
    np.testing.assert_allclose(current, f @ reference, rtol=0, atol=1e-12)


def test_elements_without_any_of_the_shape_are_left_out():
    domain = domain_of([convex_box((0.9, 0.9, 0.9), (0.05, 0.05, 0.05))], block((4, 1, 1), (4, 1, 1)))
    assert len(domain.bodies.meshes[1].sizes) == 1 and domain.bodies.meshes[1].node_count == 8


def standing(form, scheme=Scheme.DEF_EXP):
    """A tile of convexes inside 2 x 2 x 1 hexahedra on the ground, a rigid block on it."""
    domain = Domain(2e-4)
    domain.insert_body(BodyKind.OBSTACLE, [block((6, 6, 1), low=(-2, -2, -1))], SOFT)
    tile = mesh_to_convex(block((1.6, 1.4, 0.8), (2, 2, 1), (0.1, 0.2, 0.0)))
    domain.insert_body(BodyKind.FINITE_ELEMENT, [tile], SOFT, form=form, mesh=block((2, 2, 1), (2, 2, 1)))
    domain.insert_body(BodyKind.RIGID, [block((0.5, 0.5, 0.3), low=(0.6, 0.6, 0.8))], SOFT)
    domain.bodies.scheme[1], domain.bodies.damping[1] = scheme, 1e-3
    domain.surface_materials.friction[0] = 0.3
    domain.loads.set_gravity((1.0, 0.0, -10.0))
    domain.joints.fix_point(2, (0.6, 0.6, 0.3))
    return domain


@pytest.mark.parametrize("form, scheme", [(Form.TL, Scheme.DEF_EXP), (Form.TL, Scheme.DEF_LIM), (Form.BC, Scheme.DEF_LIM)])
def test_contacts_carry_a_shape_inside_a_mesh(form, scheme):
    domain = standing(form, scheme)
    bodies, ground, elapsed = domain.bodies, 0.0, 0.0
    for _ in range(150):
        domain.advance(GaussSeidelSolver(1e-10, 2000))
        elapsed += domain.step
        table = domain.constraints
        upward = (table.view("base")[2] * table.view("R")).sum(0)
        held = table.view("kind") == 1
        on_ground = (table.view("master") == 0) | (table.view("slave") == 0)
        ground += domain.step * (np.where(table.view("master") == 0, -upward, upward)[on_ground].sum() + upward[held].sum())
    fe = compiled(bodies)
    momentum = (fe.mass * bodies.triples.velo[2, fe.velo_row]).sum() + bodies.mass[2] * bodies.triples.velo[2, bodies.velo_slice(2)][-1]
    weight = bodies.mass[1:3].sum() * 10.0
    assert momentum == pytest.approx(ground - weight * elapsed, abs=1e-9 * weight)
    assert ground > 0.3 * weight * elapsed
    assert domain.constraints.contact_count >= 5
    assert np.linalg.norm(domain.points.displacement(2, (0.6, 0.6, 0.3))) < 1e-9


@pytest.mark.parametrize("empty", [False, True])
def test_a_run_continued_from_a_frame_has_the_bits_of_one_run(tmp_path, empty):
    whole = standing(Form.TL, Scheme.DEF_LIM)
    for _ in range(8):
        whole.advance(GaussSeidelSolver(1e-6, 200))
    with ResultsWriter.create(str(tmp_path / "run")) as writer:
        writer.write_frame(whole)
    continued = standing(Form.TL, Scheme.DEF_LIM)
    if empty:  # shapes and meshes come from the file then
        continued = Domain(2e-4)
        continued.loads.set_gravity((1.0, 0.0, -10.0))
        continued.surface_materials.friction[0] = 0.3
    with ResultsReader(tmp_path / "run") as reader:
        reader.load(continued, 0)
    for domain in (whole, continued):
        for _ in range(8):
            domain.advance(GaussSeidelSolver(1e-6, 200))
    assert whole.bodies.configurations.view("conf").tobytes() == continued.bodies.configurations.view("conf").tobytes()
    assert whole.constraints.view("R").tobytes() == continued.constraints.view("R").tobytes()


def test_a_mesh_that_does_not_contain_the_shape_is_refused():
    with pytest.raises(SolfecError, match=r"body 1: the mesh does not contain the shape: 20 % .* vertex \(1.25, 0, 0\) of convex part 0"):
        domain_of([convex_box((1.25, 1, 1))], block())
    hole = block((3, 1, 1), (3, 1, 1))
    open_mesh = submesh(hole, np.array([0, 2]), hole.topology.face_surface)
    with pytest.raises(SolfecError, match="33.3 % of its volume is outside"):
        domain_of([convex_box((3, 1, 1))], open_mesh)
