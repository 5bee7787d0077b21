"""RT_SPLIT: two parts, one part, refusals; what stays and what goes."""

import numpy as np
import pytest
from test_conservation import block, made, model

import solfec as s


def gauss_seidel():
    return s.GAUSS_SEIDEL_SOLVER(1e-6, 200)


def plane_of(body, x=0.5, axis=2):
    normal = [0, 0, 0]
    normal[axis] = 1
    return body.mesh.inter_element_faces_on_plane(tuple(x * n for n in normal), tuple(normal))


def areas(body, identifier):
    """Sum of the area vectors of the faces with an identifier, in the referential placement."""
    mesh = body._simulation.domain.meshes_of(body.id)[0]
    topology, total = mesh.topology, np.zeros(3)
    for face in topology.face_nodes[topology.boundary & (topology.face_surface == identifier)].tolist():
        corners = mesh.nodes[[n for n in face if n >= 0]]
        total += 0.5 * np.cross(corners[1:-1] - corners[0], corners[2:] - corners[0]).sum(0)
    return total


@pytest.mark.parametrize("kind", ["TL", "pseudo", "RIGID"])
def test_body2_is_on_the_positive_side_and_surfaces_get_their_identifiers(kind):
    for turn in (False, True):
        solfec, material = model()
        body = s.BODY(solfec, "RIGID", block(), material) if kind == "RIGID" else made(kind, material, solfec)
        surface = [face[::-1] if turn else face for face in plane_of(body)]
        body2, _, _ = s.RT_SPLIT(body, surface, 11, 12, "one", "two")
        assert (body.label, body2.label) == ("one", "two")
        assert (body2.center[2] > body.center[2]) != turn
        assert areas(body, 11) == pytest.approx((0, 0, -0.3 if turn else 0.3)) and not areas(body, 12).any()
        assert areas(body2, 12) == pytest.approx((0, 0, 0.3 if turn else -0.3)) and not areas(body2, 11).any()
        s.RUN(solfec, gauss_seidel(), 1e-3)


@pytest.mark.parametrize("turned", [1, 0])
def test_the_first_face_decides_where_others_point_to_the_other_side(turned):
    """Solfec-1.0 takes faces in any sense, as those on both sides of a pipe's axis; body2 is where the first one points."""
    solfec, material = model()
    body = made("TL", material, solfec)
    surface = plane_of(body)
    surface = [face[::-1] if (k == 0) == (turned == 0) else face for k, face in enumerate(surface)]
    body2, first, second = s.RT_SPLIT(body, surface, 11, 12)
    assert (body2.center[2] > body.center[2]) == (turned == 1)
    up = 0.3 if turned else -0.3
    assert areas(body, 11) == pytest.approx((0, 0, up)) and not areas(body, 12).any()
    assert areas(body2, 12) == pytest.approx((0, 0, -up)) and not areas(body2, 11).any()
    assert (len(first), len(second)) == (body.mesh.nnod, body2.mesh.nnod)


def test_halves_of_a_pipe_open_along_both_sides_of_its_axis():
    solfec, material = model()
    body = s.BODY(solfec, "FINITE_ELEMENT", s.PIPE((0, 0, 0), (0, 0, 2), 0.5, 1, 1, 8, 1, 1, [1] * 4), material)
    mass = body.mass
    body2, _, _ = s.RT_SPLIT(body, [[2, 3, 19, 18], [10, 11, 27, 26]], 11, 12)
    assert body.mass == pytest.approx(0.5 * mass) and body2.mass == pytest.approx(0.5 * mass)
    assert np.abs(areas(body, 11)).max() > 1 and not areas(body, 12).any() and areas(body, 11) == pytest.approx(-areas(body2, 12))


def test_a_cut_that_ends_inside_doubles_nodes_behind_its_front():
    solfec, material = model()
    body = made("TL", material, solfec)
    old, count = body.id, body.mesh.nnod
    domain = body._simulation.domain
    mesh = body.mesh
    half = [face for face in plane_of(body) if np.mean([mesh.node(n)[0] for n in face]) < 0.25]
    body2, nodes, nothing = s.RT_SPLIT(body, half, 11, 12)
    assert body2 is None and nothing is None and body.id != old and body.label == "b"
    assert body.mesh.nnod == count + 3 and sorted(nodes) == sorted([*range(count), *doubled(nodes)])
    assert all(mesh.node(n)[0] == 0 for n in doubled(nodes)) and len(doubled(nodes)) == 3
    assert areas(body, 11) == pytest.approx((0, 0, 0.15)) and areas(body, 12) == pytest.approx((0, 0, -0.15))
    assert domain.lives.fragments == {old: [body.id]} and body.selfcontact == "OFF"
    rest = [face for face in plane_of(body) if len(face) == 4 and np.mean([body.mesh.node(n)[0] for n in face]) > 0.25]
    body2, _, _ = s.RT_SPLIT(body, rest, 11, 12)
    assert body2 is not None and body.volume == pytest.approx(body2.volume)


def doubled(nodes):
    return [n for n in set(nodes) if nodes.count(n) > 1]


@pytest.mark.parametrize("keep", ["ON", "OFF"])
def test_loads_and_constraints_are_deleted_unless_kept(keep):
    solfec, material = model()
    body = made("TL", material, solfec)
    domain = body._simulation.domain
    fixed = s.FIX_POINT(body, (0.25, 0.3, 0.0))
    moved = s.SET_VELOCITY(body, (0.25, 0.3, 1.0), (0, 0, 1), 1.0)
    s.FORCE(body, "SPATIAL", (0.25, 0.3, 1.0), (0, 0, 1), 1.0)
    s.PRESSURE(body, 6, 1.0)
    body2, _, _ = s.RT_SPLIT(body, plane_of(body), keep=keep)
    if keep == "OFF":
        assert fixed.kind is moved.kind is None and body.ncon == body2.ncon == 0
        assert domain.loads.table.n == domain.loads.pressures.table.n == 0
    else:
        assert (fixed.adjbod, moved.adjbod) == (body, body2)
        row = domain.body_row(body2.id)
        assert domain.loads.table.view("body").tolist() == domain.loads.pressures.table.view("body").tolist() == [row]
    s.RUN(solfec, gauss_seidel(), 1e-3)


def test_closed_cracks_go_on_in_the_parts():
    solfec, material = model()
    body = made("TL", material, solfec)
    domain = body._simulation.domain
    for point, normal in (((0.2, 0.3, 0.7), (0, 0, 1)), ((0.25, 0.3, 0.5), (1, 0, 0))):
        s.SIMPLIFIED_CRACK(body, point, normal, (1, 2), "TENSILE", ft=1e9)
    body2, _, _ = s.RT_SPLIT(body, plane_of(body))
    assert [len(domain.cracks.of_body[b.id]) for b in (body, body2)] == [1, 2]


def refused(match, body, *arguments, **more):
    domain = body._simulation.domain
    before = domain.bodies.n, body.id, domain.next_body_id
    with pytest.raises((ValueError, TypeError), match=match):
        s.RT_SPLIT(body, *arguments, **more)
    assert (domain.bodies.n, body.id, domain.next_body_id) == before


def test_refusals():
    solfec, material = model()
    body = made("TL", material, solfec)
    mesh = body.mesh
    surface = plane_of(body)
    refused("at least one face", body, [])
    refused("item 0 of 'surf', .* is no face between two elements", body, [[0, 1, 4, 3]])
    refused("out of the range", body, [[0, 1, 2, 999]])
    refused("has 2 nodes; it must have 3 or 4", body, [[0, 1]])
    refused("'surf\\[0\\]'", body, [0])
    refused("into 3 parts", body, surface + plane_of(body, 0.25))
    refused("'keep' must be one of", body, surface, keep="MAYBE")
    refused("is an obstacle", s.BODY(solfec, "OBSTACLE", block(), material), surface)
    refused("not a single MESH", s.BODY(solfec, "RIGID", s.SPHERE((0, 0, 0), 1, 1, 1), material), surface)
    refused("not a single MESH", made("embedded", material, solfec), surface)
    values, vectors = s.MODAL_ANALYSIS(body, 8, None)
    refused("whose base is of the whole body", s.BODY(solfec, "FINITE_ELEMENT", block(), material, form="BC-MODAL", base=(values, vectors)), surface)
    assert mesh.nnod == body.mesh.nnod


def test_a_face_that_is_listed_again_in_the_other_sense_changes_nothing():
    found = []
    for again in (False, True):
        solfec, material = model()
        body = made("TL", material, solfec)
        faces = plane_of(body)
        _, one, two = s.RT_SPLIT(body, faces + [faces[0][::-1]] * again)
        found.append((one, two))
    assert found[0] == found[1]


def test_a_single_inner_face_opens_nothing():
    """A face all of whose nodes are on the front of the cut."""
    solfec, material = model()
    body = s.BODY(solfec, "FINITE_ELEMENT", block((3, 3, 2)), material)
    mesh = body.mesh
    (middle,) = [f for f in plane_of(body) if np.allclose(np.mean([mesh.node(n) for n in f], 0), (0.25, 0.3, 0.5))]
    refused("on the front of the cut", body, [middle])


def test_a_split_in_a_callback_of_a_run(tmp_path):
    """The handle follows the first part; the run goes on with both."""
    solfec, material = model()
    s.SURFACE_MATERIAL(solfec, friction=0.5)
    s.GRAVITY(solfec, (0, 0, -10))
    s.BODY(solfec, "OBSTACLE", s.TRANSLATE(s.SCALE(block(), (9, 9, 1)), (-2, -2, -1)), material)
    body = made("TL", material, solfec)
    made_parts = []

    def split():
        if not made_parts and solfec.time > 0.005:
            made_parts.append(s.RT_SPLIT(body, plane_of(body))[0])
        return 1

    s.CALLBACK(solfec, 1e-3, (), split)
    s.RUN(solfec, gauss_seidel(), 0.05)
    (upper,) = made_parts
    assert {b.id for b in solfec.bodies} == {1, body.id, upper.id}
    between = [c for c in solfec.constraints if c.kind == "CONTACT" and set(c.adjbod) == {body, upper}]
    assert between and sum(c.R[2] for c in between) != 0.0
    assert body.center[2] < upper.center[2]
