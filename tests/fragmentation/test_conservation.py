"""What a split must keep: mass, centre, inertia, momenta, energies, places and velocities of points; by sums written down here."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import solfec as s
from solfec import body_cuts, fragments
from solfec.bodies.finite_elements import compiled
from solfec.bodies.table import BodyKind

CORNERS = [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1]


def model(scheme="DYNAMIC"):
    solfec = s.SOLFEC(scheme, 1e-4, None)
    solfec.verbose = "OFF"
    return solfec, s.BULK_MATERIAL(solfec, young=1e6, poisson=0.25, density=1e3)


def block(counts=(2, 2, 4)):
    return s.SCALE(s.HEX(CORNERS, *counts, 1, [1, 2, 3, 4, 5, 6]), (0.5, 0.6, 1.0))


def made(kind, material, solfec):
    if kind == "hull":
        return s.BODY(solfec, "PSEUDO_RIGID", s.SCALE(s.HULL(CORNERS, 1, 1), (0.5, 0.6, 1.0)), material, label="b")
    if kind == "pseudo":
        return s.BODY(solfec, "PSEUDO_RIGID", block(), material, label="b")
    if kind == "embedded":
        shape = s.SCALE(s.HULL(CORNERS, 1, 1), (0.5, 0.6, 1.0))
        mesh = s.TRANSLATE(s.SCALE(s.HEX(CORNERS, 3, 3, 3, 1, [1] * 6), (0.7, 0.8, 1.3)), (-0.1, -0.1, -0.1))
        return s.BODY(solfec, "FINITE_ELEMENT", shape, material, label="b", mesh=mesh)
    return s.BODY(solfec, "FINITE_ELEMENT", block(), material, label="b", form=kind)


def turned(angle, axis):
    """Rodrigues' formula."""
    x, y, z = np.array(axis, float) / np.linalg.norm(axis)
    skew = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * skew + (1 - np.cos(angle)) * skew @ skew


def set_state(solfec, body, stretch=0.05, roughness=0.0, seed=0):
    """A rotated, spinning, stretched state; `roughness` moves nodes on their own.  Returns gradient and rate of the uniform part."""
    random = np.random.default_rng(seed)
    rotation = turned(1.2, (1, 2, 3))
    gradient = rotation @ (np.eye(3) + stretch * np.diag([0.2, 0.3, 1.0]) + 0.01 * random.standard_normal((3, 3)))
    rate = gradient @ random.standard_normal((3, 3)) * 3.0
    place, speed = np.array([3.0, -2.0, 1.0]), np.array([1.0, 2.0, -3.0])
    domain = body._simulation.domain
    if body.kind == "PSEUDO_RIGID":
        body.conf = (*gradient.ravel(), *place)
        body.velo = (*rate.ravel(), *speed)
    else:
        nodes = domain.bodies.meshes[body.id].nodes
        arm = nodes - body.center
        noise = roughness * random.standard_normal((2, *nodes.shape))
        body.conf = tuple((place + arm @ gradient.T + noise[0] - nodes).ravel())
        body.velo = tuple((speed + arm @ rate.T + 10 * noise[1]).ravel())
    domain.initialise()
    return gradient, rate


def sums(domain, identifiers):
    """Mass, first moment, inertia about the origin, momenta about the origin; kinetic and internal energy."""
    bodies = domain.bodies
    mass, first, second, linear, angular, kinetic = 0.0, np.zeros(3), np.zeros((3, 3)), np.zeros(3), np.zeros(3), 0.0
    axial = lambda m: np.array([m[1, 2] - m[2, 1], m[2, 0] - m[0, 2], m[0, 1] - m[1, 0]])  # noqa: E731
    for identifier in identifiers:
        row = domain.body_row(identifier)
        conf, velo = (a.reshape(-1, 3) for a in (domain.states.conf(identifier), domain.states.velo(identifier)))
        if bodies.kind[row] == BodyKind.FINITE_ELEMENT:
            fe = compiled(bodies)
            k = fe.number(row)
            m, x, v = fe.mass[fe.first[k] : fe.first[k + 1]], bodies.meshes[identifier].nodes + conf, velo
            second += np.einsum("n,ni,nj->ij", m, x, x)
            first += m @ x
            linear += m @ v
            angular += m @ np.cross(x, v)
            kinetic += 0.5 * m @ (v**2).sum(1)
            mass += m.sum()
            continue
        m, x, tensor = bodies.mass[row], conf[3], bodies.tensor[:, :, row]
        if bodies.kind[row] == BodyKind.PSEUDO_RIGID:
            gradient, rate, v = conf[:3], velo[:3], velo[3]
        else:
            gradient, v = conf[:3].T, velo[1]
            rate = gradient @ np.array([[0, -velo[0][2], velo[0][1]], [velo[0][2], 0, -velo[0][0]], [-velo[0][1], velo[0][0], 0]])
            tensor = 0.5 * np.trace(tensor) * np.eye(3) - tensor  # Euler tensor of the inertia
        second += gradient @ tensor @ gradient.T + m * np.outer(x, x)
        first += m * x
        linear += m * v
        angular += axial(gradient @ tensor @ rate.T) + m * np.cross(x, v)
        kinetic += 0.5 * m * v @ v + 0.5 * np.trace(rate @ tensor @ rate.T)
        mass += m
    energy = domain.energy(identifiers)
    return {"mass": mass, "first": first, "second": second, "linear": linear, "angular": angular, "kinetic": kinetic, "internal": energy[1]}


def assert_kept(before, after, names, tolerance=1e-12):
    for name in names:
        size = np.abs(before[name]).max()
        assert np.abs(np.asarray(after[name]) - before[name]).max() <= tolerance * size, name


def crack(body, point=(0.25, 0.3, 0.5), normal=(0, 0, 1), **more):
    s.SIMPLIFIED_CRACK(body, point, normal, (7, 8), "TENSILE", **more)


PLANES = {"along faces": ((0.25, 0.3, 0.5), (0, 0, 1)), "oblique": ((0.24, 0.31, 0.44), (0.3, -0.2, 1.0))}


@pytest.mark.parametrize("plane", PLANES)
@pytest.mark.parametrize("kind", ["hull", "pseudo", "TL", "BC", "embedded"])
@pytest.mark.parametrize("roughness", [0.0, 1e-3])
def test_a_split_keeps_what_it_must(kind, plane, roughness):
    solfec, material = model()
    body = made(kind, material, solfec)
    set_state(solfec, body, roughness=roughness)
    domain, identifier = body._simulation.domain, body.id
    before = sums(domain, [identifier])
    mass, centre = body.mass, np.array(body.center)
    exact = plane == "along faces" or kind in ("hull", "pseudo", "embedded")
    inner = np.array([[0.1, 0.2, 0.1], [0.3, 0.5, 0.2], [0.2, 0.1, 0.9], [0.4, 0.4, 0.8]])
    points = [(s.DISPLACEMENT(body, tuple(p)), s.VELOCITY(body, tuple(p))) for p in inner]
    crack(body, *PLANES[plane])
    fragments.open_cracks(domain)
    pieces = body.fragments
    assert len(pieces) == 2 and domain.bodies.n == 2
    assert [p.label for p in pieces] == ["b/1", "b/2"]
    after = sums(domain, [p.id for p in pieces])
    assert sum(p.mass for p in pieces) == pytest.approx(mass, rel=1e-12)
    assert sum(p.mass * np.array(p.center) for p in pieces) == pytest.approx(mass * centre, rel=1e-12)
    assert_kept(before, after, ("mass", "linear"))
    assert_kept(before, after, ("angular",), 1e-11)
    if exact or not roughness:  # masses of nodes of cut elements have other centres, and places of nodes stay
        assert_kept(before, after, ("first",), 3e-12)
    if exact:
        assert_kept(before, after, ("second", "kinetic"), 1e-11)
        tolerance = 1e-9 if kind == "embedded" else 1e-11  # quadrature points of cut elements are others
        if roughness == 0.0 or kind not in ("embedded", "BC"):  # of 'BC' each fragment has a mean rotation of its own
            assert_kept(before, after, ("internal",), tolerance)
        for p, (moved, speed) in zip(inner, points):
            holder = pieces[int((p - PLANES[plane][0]) @ PLANES[plane][1] > 0)]
            assert np.allclose(s.DISPLACEMENT(holder, tuple(p)), moved, atol=1e-12, rtol=0)
            assert np.allclose(s.VELOCITY(holder, tuple(p)), speed, atol=1e-11, rtol=0)
    else:
        told = [e.energy for e in domain.lives.events if not e.born][0]
        assert told == pytest.approx(after["kinetic"] - before["kinetic"], abs=1e-9 * before["kinetic"])
        assert abs(told) < 0.02 * before["kinetic"]


def test_the_correction_is_the_least():
    """Any other field with the same momenta differs from what interpolation gives by more, in the norm of the masses."""
    solfec, material = model()
    body = made("TL", material, solfec)
    set_state(solfec, body, roughness=1e-3)
    domain = body._simulation.domain
    plane = fragments.Crack((0.24, 0.31, 0.44), (0.0, 0.6, 0.8), (0, 0))
    cut = body_cuts.cut_body(domain, body.id, plane)
    interpolated = np.concatenate([part.velo for part in cut.parts])
    children = fragments.replace(domain, body.id, cut, fragments.Cause.CRACK, plane)
    fe = compiled(domain.bodies)
    velo = np.concatenate([domain.states.velo(child).reshape(-1, 3) for child in children])
    nodes = np.concatenate([domain.bodies.meshes[child].nodes + domain.states.conf(child).reshape(-1, 3) for child in children])
    change = velo - interpolated
    mass = fe.mass
    random = np.random.default_rng(1)
    for _ in range(5):  # fields without momenta are at right angles to the change
        field = random.standard_normal(nodes.shape)
        for _ in range(3):
            centre = mass @ nodes / mass.sum()
            arm = nodes - centre
            inertia = (mass @ (arm**2).sum(1)) * np.eye(3) - np.einsum("n,ni,nj->ij", mass, arm, arm)
            field -= mass @ field / mass.sum() + np.cross(np.linalg.solve(inertia, mass @ np.cross(arm, field)), arm)
        assert abs(np.einsum("n,ni,ni->", mass, field, change)) < 1e-10 * np.sqrt(mass @ (field**2).sum(1)) * np.sqrt(mass @ (change**2).sum(1)) + 1e-13


@pytest.mark.parametrize("keep", ["ON", "OFF"])
@pytest.mark.parametrize("kind", ["RIGID", "PSEUDO_RIGID", "TL", "BC"])
def test_rt_split_keeps_what_it_must(kind, keep):
    solfec, material = model()
    if kind == "RIGID":
        body = s.BODY(solfec, "RIGID", block(), material, label="b")
        body.conf = (*turned(0.7, (3, 1, -1)).T.ravel(), 1.0, 2.0, 3.0)
        body.velo = (5.0, -3.0, 2.0, 1.0, 0.5, -1.0)
        body._simulation.domain.initialise()
    elif kind == "PSEUDO_RIGID":
        body = made("pseudo", material, solfec)
    else:
        body = made(kind, material, solfec)
    if kind != "RIGID":
        set_state(solfec, body, roughness=1e-3)
    domain, old = body._simulation.domain, body.id
    before = sums(domain, [old])
    mesh = body.mesh
    surface = mesh.inter_element_faces_on_plane((0, 0, 0.5), (0, 0, 1))
    upper, one, two = s.RT_SPLIT(body, surface, 7, 8, keep=keep)
    assert body.id != old and upper.id != body.id and body.center[2] < 0.5 < upper.center[2]
    for fragment, numbers, identifier in ((body, one, 7), (upper, two, 8)):
        assert len(numbers) == fragment.mesh.nnod
        for new, number in enumerate(numbers):
            assert fragment.mesh.node(new) == mesh.node(number)
        assert len(fragment.mesh.nodes_on_surface(identifier)) == 9
        assert fragment.mesh.nodes_on_surface(15 - identifier) in (None, [])
    after = sums(domain, [body.id, upper.id])
    assert_kept(before, after, ("mass", "first", "second", "linear", "angular", "kinetic"), 1e-11)
    if kind != "RIGID":
        assert_kept(before, after, ("internal",), 1e-4 if kind == "BC" else 1e-11)  # the fragments of 'BC' have their own rotations


@settings(max_examples=40, deadline=None)
@given(
    kind=st.sampled_from(["hull", "pseudo", "TL", "embedded"]),
    point=st.tuples(st.floats(0.15, 0.35), st.floats(0.2, 0.4), st.floats(0.25, 0.75)),
    normal=st.tuples(*[st.floats(-1, 1)] * 3).filter(lambda n: np.linalg.norm(n) > 0.2),
    seed=st.integers(0, 9),
)
def test_random_splits_keep_mass_and_momenta(kind, point, normal, seed):
    solfec, material = model()
    body = made(kind, material, solfec)
    set_state(solfec, body, stretch=0.3, seed=seed)
    domain, identifier = body._simulation.domain, body.id
    before = sums(domain, [identifier])
    plane = fragments.Crack(point, tuple(np.array(normal) / np.linalg.norm(normal)), (3, 4))
    cut = body_cuts.cut_body(domain, identifier, plane)
    children = fragments.replace(domain, identifier, cut, fragments.Cause.CRACK, plane)
    after = sums(domain, children)
    assert len(children) == 2
    assert_kept(before, after, ("mass", "linear", "angular"), 1e-11)
    assert_kept(before, after, ("first",), 1e-11)
    if kind in ("hull", "pseudo"):
        assert_kept(before, after, ("second", "kinetic", "internal"), 1e-10)
