"""Faces of finite elements warp: their contacts are those of a rigid mesh that has the deformed shape."""

from __future__ import annotations

import numpy as np
import pytest
from builders import Polyhedron as Faces
from builders import box as corners_of_a_box
from builders import compiled, random_rotation
from detection_models import Model, box, mesh_box
from kernel_threads import with_threads

from solfec.bodies.table import BodyKind
from solfec.contact.current_faces import current_faces, split
from solfec.contact.detection import update_geometry
from solfec.contact.geometry import Geometry
from solfec.contact.narrow import NarrowResult, narrow_phase
from solfec.shapes.convex import Convex
from solfec.shapes.polyhedron import Polyhedron
from solfec.shapes.primitives import compile as compile_shape

UPPER = ((0.2, 0.1, 0.98), (0.9, 0.8, 1.5))


def deform(model, row, displacement):
    """Displace the nodes of a finite element body by a function of their referential places."""
    nodes = model.bodies.meshes[int(model.bodies.id[row])].nodes
    model.conf(row)[:] = np.array([displacement(x) for x in nodes]).T


def reshaped(mesh, nodes):
    """A mesh with other nodes."""
    other = mesh.copy()
    other.nodes[:] = nodes
    other.topology = other.topology.renewed()
    return other


def twist(angle):
    """Turn planes of constant z about the vertical through (0.5, 0.5), and lift two opposite corners of the top."""
    def displacement(x):
        c, s = np.cos(angle * x[2]), np.sin(angle * x[2])
        turned = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]) @ (x - [0.5, 0.5, 0]) + [0.5, 0.5, 0]
        return turned - x + [0, 0, 0.2 * angle * x[2] * (x[0] + x[1] - 2 * x[0] * x[1])]

    return displacement


def columns(model):
    table = model.constraints
    return {name: table.view(name) for name in ("slave_primitive", "base", "point", "gap", "area", "surface")}


@pytest.mark.parametrize("angle", [0.0, 0.004, 0.3, -0.3])
@pytest.mark.parametrize("cells", [(1, 1, 1), (2, 3, 2)])
def test_contacts_of_a_deformed_mesh_are_those_of_a_rigid_one_of_that_shape(angle, cells):
    models = []
    for kind in (BodyKind.FINITE_ELEMENT, BodyKind.RIGID):
        model = Model(threshold=0.0)
        mesh = mesh_box((0, 0, 0), (1, 1, 1), cells, (1, 2, 3, 4, 5, 6))
        rigid = kind == BodyKind.RIGID
        row = model.add(reshaped(mesh, mesh.nodes + [twist(angle)(x) for x in mesh.nodes]) if rigid else mesh, kind=kind)
        if not rigid:
            deform(model, row, twist(angle))
        model.add(box(*UPPER))
        model.detect()
        models.append(model)
    one, two = models
    assert one.constraints.n == two.constraints.n > 0
    for name, column in columns(one).items():
        np.testing.assert_allclose(column, columns(two)[name], rtol=0, atol=1e-12, err_msg=name)


def test_a_face_splits_along_its_ridge_as_it_warps_and_is_whole_again_when_it_flattens():
    model = Model()
    row = model.add(mesh_box((0, 0, 0), (1, 1, 1), surfaces=(1, 2, 3, 4, 5, 6)), kind=BodyKind.FINITE_ELEMENT)
    model.add(box(*UPPER))
    counts = []
    for lift in (0.0, 1e-10, 1e-8, 0.1, -0.1, 0.0):  # of the corners (1, 0) and (0, 1)
        deform(model, row, lambda x, lift=lift: np.array([0, 0, lift * x[2] * (x[0] + x[1] - 2 * x[0] * x[1])]))
        model.detect()
        faces = model.geometry.current
        rows = faces.face_ptr[0] + np.arange(faces.face_count[0])
        counts.append(len(rows))
        if abs(lift) == 0.1:
            tops = np.round(faces.normal[:, rows[faces.surface[rows] == 6]].T, 7)
            expected = 0.0990148 * (np.array([[1, 1], [-1, -1]]) if lift > 0 else np.array([[1, -1], [-1, 1]]))
            assert sorted(map(tuple, tops)) == sorted((x, y, 0.9901475) for x, y in np.round(expected, 7))
    assert counts == [6, 6, 7, 7, 7, 6]


def test_removed_bodies_leave_the_faces_of_others_alone():
    models = []
    for extra in (0, 1):
        model = Model()
        if extra:
            gone = model.add(mesh_box((5, 5, 5), (6, 6, 6)), kind=BodyKind.FINITE_ELEMENT)
        row = model.add(mesh_box((0, 0, 0), (1, 1, 1)), kind=BodyKind.FINITE_ELEMENT, identifier=7)
        deform(model, row, twist(0.3))
        model.add(box(*UPPER), identifier=8)
        if extra:
            update_geometry(model.geometry, model.bodies, model.epsilon)
            marked = np.arange(model.bodies.n) == gone
            renumbered = model.bodies.remove(marked)
            model.geometry.remove(marked, renumbered)
        model.detect()
        models.append(columns(model) | {"key": model.key(0)})
    for name, column in models[0].items():
        np.testing.assert_array_equal(column, models[1][name], err_msg=name)


def test_contacts_of_warped_elements_do_not_depend_on_threads():
    found = []
    for _ in with_threads(1, 2):
        model = Model(threshold=0.0)
        row = model.add(mesh_box((0, 0, 0), (1, 1, 1), (16, 16, 2)), kind=BodyKind.FINITE_ELEMENT)
        deform(model, row, twist(0.3))
        model.add(box((0, 0, 0.98), (1, 1, 2)))
        model.detect()
        found.append({name: column.copy() for name, column in columns(model).items()})
    assert len(found[0]["gap"]) > 100
    for name in found[0]:
        assert found[0][name].tobytes() == found[1][name].tobytes(), name


def test_faces_of_many_corners_become_fans_while_they_are_warped():
    """Of a hexagonal prism, as convexes in a background mesh are; the faces stay a closed surface."""
    angle = np.pi / 3 * np.arange(6)
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    vertices = np.vstack([np.column_stack([ring, np.full(6, z)]) for z in (0.0, 1.0)])
    faces = [tuple(range(5, -1, -1)), tuple(range(6, 12)), *((k, (k + 1) % 6, 6 + (k + 1) % 6, 6 + k) for k in range(6))]
    geometry = Geometry()
    geometry.add(0, compile_shape(Convex([Polyhedron(vertices, faces, range(1, 9))]), 1e-6), deforming=True)
    for twist_angle, count in ((0.0, 8), (0.3, 1 + 1 + 12), (0.0, 8)):
        turned = vertices.copy()
        c, s = np.cos(twist_angle), np.sin(twist_angle)
        turned[6:, :2] = turned[6:, :2] @ np.array([[c, s], [-s, c]])
        geometry.vertices.current[:, :12] = turned.T
        present = current_faces(geometry)
        split(geometry, present, True)
        assert present.face_count[0] == present.outer_count[0] == count
    bent = vertices + np.column_stack([np.zeros(12), np.zeros(12), 0.1 * vertices[:, 0] ** 2 * vertices[:, 2]])
    geometry.vertices.current[:, :12] = bent.T
    split(geometry, present, True)
    rows = present.face_ptr[0] + np.arange(present.face_count[0])
    tops = rows[present.surface[rows] == 2]
    assert len(tops) == 4 and (present.corner_count[tops] == 3).all()
    area = np.zeros(3)
    for row in rows:
        corners = bent[present.vertex[present.corner_ptr[row] + np.arange(present.corner_count[row])]]
        normal = np.cross(corners[1:-1] - corners[0], corners[2:] - corners[0]).sum(0)
        assert normal @ present.normal[:, row] == pytest.approx(np.linalg.norm(normal))
        area += normal
    assert area == pytest.approx(np.zeros(3), abs=1e-12)


@pytest.mark.parametrize("kind", [BodyKind.FINITE_ELEMENT, BodyKind.RIGID])
def test_patches_span_all_of_a_warped_face(kind):
    """Two triangles share the area that they were as one quadrilateral; slots stay through the change."""
    found = []
    for lift in (0.0, 0.002):
        displacement = lambda x, lift=lift: np.array([0, 0, lift * x[2] * (x[0] + x[1] - 2 * x[0] * x[1])])  # noqa: E731
        model = Model(patch=True, margin=0.01, threshold=0.0, min_distance=0.0)
        model.add(box((-1, -1, 1.0), (2, 2, 2)), kind=BodyKind.OBSTACLE)
        mesh = mesh_box((0, 0, 0), (1, 1, 1))
        if kind == BodyKind.RIGID:
            mesh = reshaped(mesh, mesh.nodes + [displacement(x) for x in mesh.nodes])
        row = model.add(mesh, kind=kind)
        if kind == BodyKind.FINITE_ELEMENT:
            deform(model, row, displacement)
        model.detect()
        table = model.constraints
        found.append({int(slot): np.round(point[:2], 2).tolist() for slot, point in zip(table.view("slot"), table.view("point").T)})
    assert found[0] == found[1]
    assert sorted(found[0].values()) == [[0, 0], [0, 1], [1, 0], [1, 1]]


@pytest.mark.parametrize("turned", [False, True])
def test_elements_that_meet_at_their_edges_share_a_sliver_though_their_faces_are_warped_a_little(turned):
    """One elastic plate on another: an element touches the neighbour of the one below it at a common edge, first by less than epsilon.

    The side wall must not count as common surface:
    it would outweigh the sliver, survive sparsification and pull at the contact for good.
    """
    random, epsilon, count = np.random.default_rng(1), 1e-5, 4000
    shapes, bounds = [], []
    for _ in range(count):
        depth, shift, warp = random.choice([0, 1e-5, 1e-4, 2e-3]), random.uniform(-2, 2) * epsilon, 10 ** random.uniform(-6, -3.5)
        rotation = random_rotation(random) if turned else np.eye(3)
        upper, lower = corners_of_a_box(0, 1, 0, 1, 0, 1), corners_of_a_box(-1, 0, 0, 1, -1, 0)
        order = ([0, 1, 2, 3, 4, 5], [5, 0, 1, 2, 3, 4])  # outer faces first: the lower, and the upper one
        for body, faces, move in ((upper, order[0], (shift, 0, -depth)), (lower, order[1], (0, 0, 0))):
            vertices = (body.vertices + random.uniform(-warp, warp, (8, 3)) + move) @ rotation.T
            shapes.append(Faces(vertices, [body.faces[k] for k in faces], body.surfaces, 1))
        bounds.append(2 * (depth + abs(shift) + 4 * warp + 6 * epsilon))
    first, result = np.arange(0, 2 * count, 2, dtype=np.int32), NarrowResult()
    narrow_phase(compiled(shapes, epsilon), count, first, first + 1, epsilon, True, result)
    assert result.view("status").sum() > count // 2
    assert (result.view("area") < bounds).all()


@pytest.mark.parametrize("contacts", ["CLASSIC", "MANIFOLD"])
def test_a_floor_still_holds_bodies_when_the_last_finite_element_body_has_gone_and_another_body_comes(contacts):
    import solfec as s

    solfec = s.SOLFEC("DYNAMIC", 1e-3, None, contacts=contacts)
    material = s.BULK_MATERIAL(solfec, young=1e7, poisson=0.3, density=1e3)
    s.GRAVITY(solfec, (0, 0, -10))
    cube = [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1]
    s.BODY(solfec, "OBSTACLE", s.TRANSLATE(s.SCALE(s.HULL(cube, 1, 1), (9, 9, 1)), (-4, -4, -1)), material)
    box = s.BODY(solfec, "RIGID", s.HULL(cube, 1, 1), material)
    soft = s.BODY(solfec, "FINITE_ELEMENT", s.TRANSLATE(s.HEX(cube, 1, 1, 1, 1, [1] * 6), (2, 2, 0)), material)
    solver = s.GAUSS_SEIDEL_SOLVER(1e-6, 100)
    s.RUN(solfec, solver, 0.003)
    s.DELETE(solfec, soft)
    s.RUN(solfec, solver, 0.003)
    s.BODY(solfec, "RIGID", s.SPHERE((3, 3, 3), 0.5, 1, 1), material)
    s.RUN(solfec, solver, 0.05)
    assert box.conf[11] == pytest.approx(0.5, abs=1e-5)
