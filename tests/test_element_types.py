"""Records of element types against first principles, the kernels' tables and meshio; no other module lists element types."""

import ast
import itertools
from fractions import Fraction
from math import factorial
from pathlib import Path

import numpy as np
import pytest

from solfec.bodies.background_mesh import weigh
from solfec.bodies.element_assembly import ElementAssembly
from solfec.element_types import BY_SIZE, ELEMENT_TYPES, HEXAHEDRON, MOST_NODES, PYRAMID, SIZES, TETRAHEDRON, WEDGE, used_slots
from solfec.shapes.mesh import Mesh

SOURCES = Path(__file__).parent.parent / "solfec"
each = pytest.mark.parametrize("kind", ELEMENT_TYPES, ids=lambda kind: kind.name)


def edges(faces):
    """Directed edges of faces."""
    return [pair for face in faces for pair in zip(face, face[1:] + face[:1])]


def line(power):
    """Integral of x**power from -1 to 1."""
    return Fraction(1 + (-1) ** power, power + 1)


def beta(one, two):
    """Integral of x**one (1 - x)**two from 0 to 1."""
    return Fraction(factorial(one) * factorial(two), factorial(one + two + 1))


MOMENTS = {  # integrals of x**i y**j z**k over the elements as natural coordinates have them
    TETRAHEDRON: lambda i, j, k: Fraction(factorial(i) * factorial(j) * factorial(k), factorial(i + j + k + 3)),
    PYRAMID: lambda i, j, k: line(i) * line(j) * beta(k, 2 + i + j),
    WEDGE: lambda i, j, k: Fraction(factorial(i) * factorial(j), factorial(i + j + 2)) * line(k),
    HEXAHEDRON: lambda i, j, k: line(i) * line(j) * line(k),
}


def monomials(degree):
    return [powers for powers in itertools.product(range(degree + 1), repeat=3) if sum(powers) <= degree]


def quadrature_of_kernels(kind, nodes):
    """Weights (points,) times the Jacobian at the quadrature points of an element with these nodes, from the kernels."""
    table = np.full((1, MOST_NODES), -1)
    table[0, : kind.size] = range(kind.size)
    assembly = ElementAssembly(np.asarray(nodes, float).T, np.array([kind.size]), table, np.ones((1, 2)), [0])
    assert assembly.failed < 0
    (group,) = assembly.groups
    return group.weight[0, :, 0]


def shapes_of(kind):
    """Functions of natural coordinates (terms, points) that span the shape functions, and their gradients (terms, 3, points)."""
    powers = {
        TETRAHEDRON: [p for p in monomials(1)],
        PYRAMID: [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)],
        WEDGE: [(i, j, k) for i, j in ((0, 0), (1, 0), (0, 1)) for k in (0, 1)],
        HEXAHEDRON: list(itertools.product((0, 1), repeat=3)),
    }[kind]

    def values(x):
        terms = [x[0] ** i * x[1] ** j * x[2] ** k for i, j, k in powers]
        if kind is PYRAMID:  # xy + xyz/(1 - z): bilinear in every section
            terms.append(x[0] * x[1] / np.where(x[2] < 1, 1 - x[2], 1.0))
        return np.array(terms)

    def gradients(x):
        h = 1e-20  # complex step: exact to rounding
        return np.stack([np.imag(values(x + 1j * h * np.eye(3)[:, [k]])) / h for k in range(3)], 1)

    return values, gradients


@each
def test_faces_close_the_element_and_point_outwards(kind):
    nodes, directed = np.array(kind.nodes, float), edges(kind.faces)
    assert len(set(directed)) == len(directed) and {(b, a) for a, b in directed} == set(directed)
    assert len({a for a, _ in directed}) - len(directed) // 2 + len(kind.faces) == 2  # Euler
    volume = Fraction(0)
    for face in kind.faces:
        a, b, c = nodes[list(face[:3])]
        normal = np.cross(b - a, c - a)
        assert normal @ (nodes.mean(0) - a) < 0.0 and np.abs((nodes[list(face)] - a) @ normal).max() < 1e-14
        corners = [[Fraction(x) for x in kind.nodes[n]] for n in face]
        for one, two in zip(corners[1:], corners[2:]):
            volume += determinant(corners[0], one, two) / 6
    assert volume == MOMENTS[kind](0, 0, 0)


def determinant(a, b, c):
    return (
        a[0] * (b[1] * c[2] - b[2] * c[1]) + a[1] * (b[2] * c[0] - b[0] * c[2]) + a[2] * (b[0] * c[1] - b[1] * c[0])
    )


@each
def test_mirror_turns_every_face_round(kind):
    assert sorted(kind.mirror) == list(range(kind.size))
    turned = {frozenset(edges([tuple(kind.mirror[n] for n in face)])) for face in kind.faces}
    assert turned == {frozenset((b, a) for a, b in edges([face])) for face in kind.faces}


@each
def test_corners_are_the_nodes_of_three_edges(kind):
    ends = {node: {b for a, b in edges(kind.faces) if a == node} for node in range(kind.size)}
    found = {node: set(rest) for node, *rest in kind.corners}
    if kind.is_simplex:  # one decides for all
        assert len(found) == 1 and ends | found == ends
    else:
        assert found == {n: near for n, near in ends.items() if len(near) == 3}
    for node, *rest in kind.corners:
        at = np.array(kind.nodes[node], float)
        assert np.linalg.det(np.array([kind.nodes[n] for n in rest], float) - at) > 0.0


@each
def test_integration_points_are_the_kernels_and_of_second_degree(kind):
    points = kind.volume_rule @ np.array(kind.nodes, float)
    assert kind.volume_rule.sum(1) == pytest.approx(1.0) and kind.volume_rule.min() > 0.0
    powers = monomials(2)
    terms = np.array([np.prod(points**p, 1) for p in powers])
    exact = np.array([float(MOMENTS[kind](*p)) for p in powers])
    weights = np.linalg.lstsq(terms, exact, rcond=None)[0]  # of all weights that may serve the smallest: those of most symmetry
    assert terms @ weights == pytest.approx(exact, abs=1e-14)
    of_kernels = quadrature_of_kernels(kind, kind.nodes)
    if kind.is_simplex:  # one point is enough where gradients are constant
        weights = weights.sum(keepdims=True)
        points = points.mean(axis=0, keepdims=True)
    assert len(of_kernels) == len(weights) and np.sort(of_kernels) == pytest.approx(np.sort(weights), rel=1e-12)

    nodes = np.array(kind.nodes, float) + 0.1 * np.random.default_rng(5).uniform(-1, 1, (kind.size, 3))
    values, gradients = shapes_of(kind)
    coefficients = np.linalg.solve(values(np.array(kind.nodes, float).T).T, nodes)
    jacobian = np.linalg.det(np.einsum("tkq,ti->qik", gradients(points.T), coefficients))
    assert np.sort(quadrature_of_kernels(kind, nodes)) == pytest.approx(np.sort(weights * jacobian), rel=1e-12)


@each
def test_kernels_have_the_nodes_at_the_same_places(kind):
    nodes = np.array(kind.nodes, float)
    stretched = nodes * (2.0, 3.0, 5.0) + (0.5, 0.25, 0.125)
    mesh = Mesh.from_records(stretched.ravel().tolist(), [kind.size, *range(kind.size), 1], 1)
    table = np.zeros((1, MOST_NODES), np.int32)
    table[0, : kind.size] = range(kind.size)
    places = np.concatenate((stretched, [stretched.mean(0)]))
    natural, weights, outside = weigh(mesh, np.array([kind.size], np.int32), table, np.zeros(len(places), int), places)
    assert outside == pytest.approx(0.0, abs=1e-9)
    assert natural == pytest.approx(np.vstack([nodes, nodes.mean(0)]), abs=1e-9)
    assert weights[:-1, : kind.size] == pytest.approx(np.eye(kind.size), abs=1e-9) and not weights[:, kind.size :].any()


@each
def test_sides_of_exodus_and_abaqus_are_the_faces(kind):
    faces = {frozenset(face): set(edges([face])) for face in kind.faces}
    assert bool(kind.exodus_sides) == bool(kind.meshio)
    assert not kind.meshio or {frozenset(side): set(edges([side])) for side in kind.exodus_sides} == faces  # seen from outside there, too
    assert bool(kind.abaqus) == bool(kind.abaqus_sides)
    if kind.abaqus:
        assert kind.abaqus[0] == kind.size and len(kind.abaqus_sides) == len(faces)
        for side in kind.abaqus_sides:
            assert set(edges([side])) in (faces[frozenset(side)], {(b, a) for a, b in faces[frozenset(side)]})
        assert kind.abaqus_sides[0] == tuple(range(len(kind.abaqus_sides[0])))  # S1 is the base, listed as the element lists it


@each
def test_files_call_the_types_as_meshio_does(kind):
    meshio = pytest.importorskip("meshio")
    if not kind.meshio:
        assert set(kind.listed) == set(range(kind.size)) and len(kind.listed) > kind.size
        return
    from meshio._vtk_common import vtk_to_meshio_type
    from meshio.xdmf.common import xdmf_idx_to_meshio_type

    assert vtk_to_meshio_type[kind.vtk] == xdmf_idx_to_meshio_type[kind.xdmf] == kind.meshio
    assert meshio.CellBlock(kind.meshio, np.zeros((1, kind.size), int)).dim == 3


def test_types_are_told_apart():
    assert SIZES == tuple(sorted(set(SIZES))) and [BY_SIZE[size] for size in SIZES] == list(ELEMENT_TYPES)
    for name in ("name", "vtk", "xdmf", "meshio", "size", "listed"):
        of = ELEMENT_TYPES if name in ("name", "size") else [kind for kind in ELEMENT_TYPES if bool(kind.meshio) == (name != "listed")]
        assert len({getattr(kind, name) for kind in of}) == len(of)
    assert len(set(itertools.chain.from_iterable(kind.abaqus for kind in ELEMENT_TYPES))) == sum(len(k.abaqus) for k in ELEMENT_TYPES)
    assert used_slots(np.array([4, 8])).sum(1).tolist() == [4, 8] and used_slots(np.array([5]))[0].tolist() == [True] * 5 + [False] * 3


def literals(path):
    """Places of a module that tell types of elements by numbers of nodes: lists of them, comparisons, masks of eight columns."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Dict | ast.Tuple | ast.List | ast.Set):
            items = node.keys if isinstance(node, ast.Dict) else node.elts
            numbers = [item.value for item in items if isinstance(item, ast.Constant) and type(item.value) is int]
            if len(numbers) == len(items) and len(numbers) >= 3 and set(numbers) <= set(SIZES):
                yield node.lineno
        elif isinstance(node, ast.Compare) and "size" in ast.unparse(node) and "face" not in ast.unparse(node):
            numbers = {side.value for side in (node.left, *node.comparators) if isinstance(side, ast.Constant)}
            if numbers & (set(SIZES) - {4}):  # quadrilaterals have four nodes, too
                yield node.lineno
        elif isinstance(node, ast.Call) and ast.unparse(node).endswith(f"arange({MOST_NODES})"):
            yield node.lineno


def test_no_other_module_lists_element_types(tmp_path):
    others = (p for p in SOURCES.rglob("*.py") if p.name != "element_types.py")
    found = {str(p.relative_to(SOURCES)): lines for p in others if (lines := list(literals(p)))}
    assert not found
    bad = tmp_path / "bad.py"
    bad.write_text("A = {4: 1, 5: 2, 6: 3, 8: 4}\nB = (4, 5, 6, 8)\nif mesh.sizes[k] == 8: pass\nC = np.arange(8) < sizes\n")
    assert sorted(set(literals(bad))) == [1, 2, 3, 4]
