"""SIMPLIFIED_CRACK: when and where bodies crack, what fragments inherit, what is refused."""

import copy

import numpy as np
import pytest
from test_conservation import CORNERS, block, crack, made, model, set_state, turned

import solfec as s
from solfec import body_cuts, fragments
from solfec.bodies.finite_elements import compiled
from solfec.solvers.gauss_seidel import GaussSeidelSolver


def gauss_seidel():
    return s.GAUSS_SEIDEL_SOLVER(1e-6, 200)


def bar(solfec, material, kind="TL", layers=20, **more):
    shape = s.SCALE(s.HEX(CORNERS, 1, 1, layers, 1, [1, 2, 3, 4, 5, 6]), (0.1, 0.1, 1.0))
    if kind == "PSEUDO_RIGID":
        return s.BODY(solfec, kind, shape, material, label="bar", **more)
    return s.BODY(solfec, "FINITE_ELEMENT", shape, material, label="bar", form=kind, **more)


def cauchy(gradient, young, poisson):
    """Of the St Venant-Kirchhoff material, written down once more."""
    lame, shear = young * poisson / (1 + poisson) / (1 - 2 * poisson), young / 2 / (1 + poisson)
    green = 0.5 * (gradient.T @ gradient - np.eye(3))
    return gradient @ (lame * np.trace(green) * np.eye(3) + 2 * shear * green) @ gradient.T / np.linalg.det(gradient)


@pytest.mark.parametrize("ft", [0.0, 1e4, 3e4])
def test_a_pulled_bar_breaks_in_the_step_in_which_the_stress_passes_the_strength(ft):
    """Two forces that grow pull a bar that turns; a twin without a crack says when the tension is high enough."""
    steps = {}
    for cracked in (False, True):
        solfec, material = model()
        body = bar(solfec, material, "PSEUDO_RIGID")
        body.velo = (0, -2, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0)
        pull = s.TIME_SERIES([0, 0, 0.1, 2000])
        s.FORCE(body, "CONVECTED", (0.05, 0.05, 1), (0, 0, 1), pull)
        s.FORCE(body, "CONVECTED", (0.05, 0.05, 0), (0, 0, -1), pull)
        if cracked:
            crack(body, (0.05, 0.05, 0.3), (0.2, 0.1, 1), ft=ft)
        carried = np.array((0.2, 0.1, 1))
        found = []

        def look():
            n = round(solfec.time / solfec.step)  # noqa: B023
            if cracked and body.fragments:  # noqa: B023
                found.append(n)  # noqa: B023
                return 0
            if not cracked:  # noqa: B023
                gradient = np.reshape(body.conf[:9], (3, 3))  # noqa: B023
                normal = np.linalg.solve(gradient.T, carried)  # noqa: B023
                normal /= np.linalg.norm(normal)
                if normal @ cauchy(gradient, 1e6, 0.25) @ normal > ft:
                    found.append(n)  # noqa: B023
                    return 0
            return 1

        s.CALLBACK(solfec, solfec.step, (), look)
        s.RUN(solfec, gauss_seidel(), 0.1)
        steps[cracked] = found
    assert steps[True] == steps[False] != []


@pytest.mark.parametrize("kind", ["pseudo", "TL", "BC", "embedded"])
def test_the_criterion_turns_with_the_body(kind):
    """A body stretched along the normal by 5 % cracks at once whatever way it is turned, at a strength just below the tension and not just above."""
    for angle in (0.0, 1.0, 2.5):
        for factor, opens in ((0.999, True), (1.001, False)):
            solfec, material = model()
            body = made(kind, material, solfec)
            domain = body._simulation.domain
            gradient = turned(angle, (1, -2, 1)) @ np.diag([0.99, 1.01, 1.05])
            if kind == "pseudo":
                body.conf = (*gradient.ravel(), *body.center)
            else:
                nodes = domain.bodies.meshes[body.id].nodes
                body.conf = tuple((nodes @ (gradient - np.eye(3)).T).ravel())
            normal = gradient @ (0, 0, 1)
            tension = normal @ cauchy(gradient, 1e6, 0.25) @ normal / (normal @ normal)
            crack(body, ft=factor * tension)
            fragments.open_cracks(domain)
            assert bool(body.fragments) == opens


def test_halves_of_a_broken_bar_recoil_as_theory_says():
    """A bar held at both ends by a known stress: until the wave comes back, each half gains stress times area times time."""
    young, density, strain = 1e9, 1e3, 1e-3
    solfec = s.SOLFEC("DYNAMIC", 2e-6, None)
    solfec.verbose = "OFF"
    material = s.BULK_MATERIAL(solfec, young=young, poisson=0.0, density=density)
    body = bar(solfec, material, layers=40)
    nodes = body._simulation.domain.bodies.meshes[body.id].nodes
    body.conf = tuple((nodes * [0, 0, strain]).ravel())
    for node in nodes[np.isin(nodes[:, 2], (0, 1))]:
        s.FIX_POINT(body, tuple(node))
    crack(body, (0.05, 0.05, 0.5), ft=0.99 * young * strain)
    stress = young * strain * (1 + strain) * (1 + 0.5 * strain)  # first Piola-Kirchhoff, SVK
    s.RUN(solfec, gauss_seidel(), solfec.step)
    lower, upper = body.fragments
    assert lower.ncon == upper.ncon == 4
    duration = 0.3 * 0.5 / np.sqrt(young / density)
    s.RUN(solfec, gauss_seidel(), duration)
    elapsed = solfec.time - 1e-6 - 2e-6  # from the end of the step of the crack, seen from mid-step
    for fragment, sense in ((lower, -1), (upper, 1)):
        momentum = momentum_of(fragment)
        assert momentum[2] == pytest.approx(sense * stress * 0.01 * elapsed, rel=0.05)
        assert abs(momentum[:2]).max() < 1e-6 * abs(momentum[2])


def momentum_of(fragment):
    domain = fragment._simulation.domain
    fe = compiled(domain.bodies)
    k = fe.number(domain.body_row(fragment.id))
    return fe.mass[fe.first[k] : fe.first[k + 1]] @ domain.states.velo(fragment.id).reshape(-1, 3)


def test_a_cantilever_breaks_at_its_root():
    """Of cracks in three places the one at the root opens, where the moment of the weight is the largest."""
    solfec = s.SOLFEC("DYNAMIC", 2e-3, None)
    solfec.verbose = "OFF"
    material = s.BULK_MATERIAL(solfec, young=1e9, poisson=0.0, density=1e3)
    shape = s.SCALE(s.HEX(CORNERS, 40, 1, 4, 1, [1] * 6), (1.0, 0.1, 0.2))
    body = s.BODY(solfec, "FINITE_ELEMENT", shape, material, label="beam")
    body.scheme, body.damping = "DEF_LIM", 1e-3
    for y in (0, 0.1):
        for z in (0, 0.05, 0.1, 0.15, 0.2):
            s.FIX_POINT(body, (0, y, z))
    s.GRAVITY(solfec, (0, 0, s.TIME_SERIES([0, 0, 1, -10])))
    for x in (0.7, 0.05, 0.4):
        crack(body, (x, 0.05, 0.1), (1, 0, 0), ft=5e4)
    s.CALLBACK(solfec, 2e-3, (), lambda: 0 if body.fragments else 1)
    s.RUN(solfec, gauss_seidel(), 1.0)
    root, rest = body.fragments
    assert root.volume == pytest.approx(0.05 * 0.02) and rest.volume == pytest.approx(0.95 * 0.02)
    moment = 10 * solfec.time * 1000 * 0.02 * 0.95**2 / 2
    place = 0.05 + 0.05 * 2 / 3  # middles of the outermost triangles, from the neutral plane
    assert moment * place / (0.1 * 0.2**3 / 12) == pytest.approx(5e4, rel=0.05)


def test_the_newest_satisfied_crack_opens_and_the_others_go_on():
    solfec, material = model()
    body = made("TL", material, solfec)
    set_state(solfec, body)
    domain, identifier = body._simulation.domain, body.id
    crack(body, (0.25, 0.3, 0.75), ft=1.0)
    crack(body, (0.25, 0.3, 0.25), ft=1.0)
    crack(body, (0.25, 0.3, 0.5), ft=1e12)
    crack(body, (0.25, 0.3, 0.5), (1, 0, 0), ft=1e12)
    fragments.open_cracks(domain)
    lower, upper = body.fragments
    assert identifier not in domain.cracks.of_body
    assert lower.volume == pytest.approx(0.25 * 0.3) and len(domain.cracks.of_body[lower.id]) == 1
    assert len(domain.cracks.of_body[upper.id]) == 3
    fragments.open_cracks(domain)
    assert not lower.fragments
    assert [f.label for f in upper.fragments] == ["b/2/1", "b/2/2"]
    fragments.open_cracks(domain)
    assert domain.bodies.n == 3


def without(mesh, middles):
    """The mesh without the hexahedra whose middles have these x and z."""
    nodes, elements, _ = mesh.get_data()
    places = np.reshape(nodes, (-1, 3))
    kept = [e for e in np.reshape(elements, (-1, 10)).tolist() if places[e[1:9]].mean(0)[[0, 2]].tolist() not in middles]
    return s.MESH(nodes, [n for e in kept for n in e], 0)


def test_pieces_that_do_not_hang_together_part():
    """A yoke cut through both legs: two feet and the rest, whether it is a mesh or convexes."""
    for kind in ("mesh", "convex"):
        solfec, material = model()
        boxes = [((0, 0, 0), (1, 1, 2)), ((2, 0, 0), (3, 1, 2)), ((0, 0, 2), (3, 1, 3))]
        if kind == "convex":
            shape = [s.TRANSLATE(s.SCALE(s.HULL(CORNERS, 1, 1), tuple(np.subtract(b, a))), a) for a, b in boxes]
            body = s.BODY(solfec, "PSEUDO_RIGID", shape, material, label="yoke")
        else:
            full = s.SCALE(s.HEX(CORNERS, 3, 1, 3, 1, [1] * 6), (3, 1, 3))
            body = s.BODY(solfec, "FINITE_ELEMENT", without(full, [[1.5, 0.5], [1.5, 1.5]]), material, label="yoke")
        domain = body._simulation.domain
        plane = fragments.Crack((0.5, 0.5, 1.0), (0.0, 0.0, 1.0), (1, 2))
        cut = body_cuts.cut_body(domain, body.id, plane)
        children = fragments.replace(domain, body.id, cut, fragments.Cause.CRACK, plane)
        made_of = {domain.body_labels[c]: float(domain.bodies.volume[domain.body_row(c)]) for c in children}
        assert made_of == pytest.approx({"yoke/1/0": 1.0, "yoke/1/1": 1.0, "yoke/2": 5.0})


@pytest.mark.parametrize("kind", ["mesh", "convex"])
def test_a_crack_that_ends_inside_leaves_one_body(kind):
    """A frame cut in one post: one body, that may touch itself, with the new surfaces; cut at the other post it falls apart."""
    solfec, material = model()
    if kind == "mesh":
        full = s.SCALE(s.HEX(CORNERS, 3, 1, 3, 1, [1] * 6), (3, 1, 3))
        body = s.BODY(solfec, "FINITE_ELEMENT", without(full, [[1.5, 1.5]]), material, label="frame")
    else:
        boxes = [((0, 0, 0), (3, 1, 1)), ((0, 0, 1), (1, 1, 2)), ((2, 0, 1), (3, 1, 2)), ((0, 0, 2), (3, 1, 3))]
        shape = [s.TRANSLATE(s.SCALE(s.HULL(CORNERS, 1, 1), tuple(np.subtract(b, a))), a) for a, b in boxes]
        body = s.BODY(solfec, "PSEUDO_RIGID", shape, material, label="frame")
    domain = body._simulation.domain
    if kind == "mesh":
        nodes = domain.bodies.meshes[body.id].nodes
        body.conf = tuple((nodes * [0, 0, 0.01]).ravel())
    else:
        body.conf = (1, 0, 0, 0, 1, 0, 0, 0, 1.01, *body.center)
    for k, x in enumerate((0.5, 2.5)):
        crack(body, (x, 0.5, 1.5), topoadj="ON", ft=1.0 - 0.5 * k)
    with pytest.raises(ValueError, match="no section at 'point'"):
        crack(body, (1.5, 0.5, 1.5), topoadj="ON")
    fragments.open_cracks(domain)
    (one,) = body.fragments
    assert one.label == "frame" and one.selfcontact == "ON" and one.volume == pytest.approx(8.0)
    if kind == "mesh":
        fragments.open_cracks(domain)
        assert len(one.fragments) == 2
    s.GRAVITY(solfec, (0, 0, -1))
    s.RUN(solfec, gauss_seidel(), 0.01)


def test_a_crack_at_a_point_is_found_wherever_its_plane_passes_elements():
    """Cuts run through nodes near the plane and so pass the point; many such cracks were refused."""
    full = s.SCALE(s.HEX(CORNERS, 3, 1, 3, 1, [1] * 6), (3, 1, 3))
    random = np.random.default_rng(1)
    for z, x, y in np.column_stack((np.linspace(1.06, 1.94, 23), random.uniform(-0.05, 0.05, (23, 2)))):
        solfec, material = model()
        frame = s.BODY(solfec, "PSEUDO_RIGID", without(full, [[1.5, 1.5]]), material)
        domain = frame._simulation.domain
        with pytest.raises(ValueError, match="no section at 'point'"):
            crack(frame, (1.5, 0.5, z), (x, y, 1), topoadj="ON", ft=1e12)
        for k, post in enumerate((2.5, 0.5)):
            crack(frame, (post, 0.5, z), (x, y, 1), topoadj="ON", ft=[1e12, 0.0][k])
        frame.conf = (1, 0, 0, 0, 1, 0, 0, 0, 1.01, *frame.center)
        fragments.open_cracks(domain)
        (one,) = frame.fragments
        assert len(domain.cracks.of_body[one.id]) == 1, "the crack of the other post"
        assert one.volume == pytest.approx(8.0)


def test_loads_and_constraints_go_with_the_points_that_they_hold():
    for kind in ("TL", "pseudo"):
        solfec, material = model()
        body = made(kind, material, solfec)
        other = s.BODY(solfec, "RIGID", s.SPHERE((0.25, 0.3, 3), 0.1, 1, 1), material)
        domain = body._simulation.domain
        set_state(solfec, body)
        top, bottom = (0.25, 0.3, 1.0), (0.25, 0.3, 0.0)
        series = s.TIME_SERIES([0, 1, 1, 2])
        s.FORCE(body, "SPATIAL", top, (0, 0, 1), 5.0)
        s.FORCE(body, "CONVECTED", bottom, (1, 0, 0), series)
        s.PRESSURE(body, 6, 7.0)  # on top
        s.PRESSURE(body, 2, series)  # on a side
        s.DISPLAY_POINT(body, top, "top")
        s.DISPLAY_POINT(body, bottom, "bottom")
        fixed = s.FIX_POINT(body, bottom)
        velocity = s.SET_VELOCITY(body, top, (0, 0, 1), series)
        link = s.PUT_RIGID_LINK(body, other, top, (0.25, 0.3, 3))
        spring = s.PUT_SPRING(other, (0.25, 0.3, 3), body, bottom, [-9, -9, 9, 9], (-20, 20))
        places = {c: c.point for c in (fixed, velocity, link)}
        s.CONTACT_EXCLUDE_BODIES(body, other)
        forces = generalised(domain, [body.id])
        crack(body, (0.25, 0.3, 0.5), ft=0.0)
        fragments.open_cracks(domain)
        lower, upper = body.fragments
        assert set(map(repr, (fixed.adjbod, velocity.adjbod))) == {repr(lower), repr(upper)}
        assert fixed.adjbod == lower and velocity.adjbod == upper and link.adjbod == (upper, other) and spring.adjbod == (other, lower)
        assert all(np.allclose(c.point, place) for c, place in places.items())
        assert [text for text, _ in lower.display_points] == ["bottom"] and [text for text, _ in upper.display_points] == ["top"]
        after = generalised(domain, [lower.id, upper.id])
        assert np.allclose(sum(after), sum(forces), atol=1e-12 * np.abs(forces).max())
        assert abs(after[0]).max() > 0 and abs(after[1]).max() > 0
        pairs = set(map(tuple, domain.settings.excluded_bodies.T.tolist()))
        assert {tuple(sorted((other.id, f.id))) for f in (lower, upper)} <= pairs
        s.RUN(solfec, gauss_seidel(), 0.01)


def generalised(domain, identifiers):
    """Sums of the forces (n, 3) that loads put on bodies."""
    bodies = domain.bodies
    bodies.triples.force[:] = 0.0
    domain.loads.apply(bodies, 0.5, 1e-4)
    result = []
    for identifier in identifiers:
        row = domain.body_row(identifier)
        force = bodies.triples.force[:, bodies.velo_slice(row)]
        result.append(force.sum(1) if identifier in bodies.meshes else force[:, 3].copy())
    return result


def test_a_force_by_a_function_ends_with_a_warning():
    solfec, material = model()
    body = made("pseudo", material, solfec)
    set_state(solfec, body)
    s.FORCE(body, "SPATIAL", (0, 0, 0), (0, 0, 1), lambda q, u, t, h: [0.0] * 12)
    crack(body)
    with pytest.warns(UserWarning, match="acts no longer"):
        fragments.open_cracks(body._simulation.domain)
    s.RUN(solfec, gauss_seidel(), 1e-3)


def test_materials_and_flags_are_inherited():
    solfec, material = model()
    body = made("TL", material, solfec)
    hard = s.BULK_MATERIAL(solfec, "KIRCHHOFF", "hard", young=5e6, poisson=0.1, density=3e3)
    domain = body._simulation.domain
    domain.bodies.meshes[body.id].apply(domain.bulk_materials[-1], np.arange(16) < 4)  # the lowest layer
    domain.bodies.finite_elements = None
    body.scheme, body.damping, body.selfcontact, body.enhanced = "DEF_LIM", 1e-3, "ON", "ON"
    set_state(solfec, body)
    crack(body, (0.25, 0.3, 0.4), (0.1, 0, 1))
    fragments.open_cracks(domain)
    for fragment in body.fragments:
        assert (fragment.scheme, fragment.damping, fragment.selfcontact, fragment.enhanced) == ("DEF_LIM", 1e-3, "ON", "ON")
        assert fragment.material == body._of(body._simulation, fragment.id).material
    lower, upper = (domain.bodies.meshes[f.id] for f in body.fragments)
    low = lower.nodes[lower.elements].mean(1)[:, 2] < 0.25
    assert ((lower.material >= 0) == (lower.nodes[lower.elements[:, :4]].max(1)[:, 2] <= 0.25 + 1e-12)).all() and low.any()
    assert upper.material is None
    assert hard.density == 3e3


def tension(gradient):
    """n . sigma n of the carried normal z."""
    normal = np.linalg.solve(gradient.T, (0, 0, 1))
    return normal @ cauchy(gradient, 1e6, 0.25) @ normal / (normal @ normal)


def tension_rate(gradient, rate):
    return tension(gradient + 1e-6 * rate) - tension(gradient)


def test_a_model_and_its_copy_crack_alike():
    solfec, material = model()
    body = made("TL", material, solfec)
    gradient, _ = set_state(solfec, body, stretch=0.02)
    body.velo = tuple(-v for v in body.velo) if tension_rate(*set_state(solfec, body, stretch=0.02)) < 0 else body.velo
    crack(body, ft=tension(gradient) + 1e3)
    domain = body._simulation.domain
    twin = copy.deepcopy(domain)
    for each in (domain, twin):
        for _ in range(40):
            each.advance(GaussSeidelSolver(1e-6, 100))
            if len(each.lives.events):
                break
    assert domain.bodies.n == twin.bodies.n == 2 and domain.step_number == twin.step_number > 1
    assert (domain.bodies.configurations.view("conf") == twin.bodies.configurations.view("conf")).all()


def refused(match, body, **more):
    arguments = {"point": (0.25, 0.3, 0.5), "normal": (0, 0, 1), "surfid": (1, 2), "criterion": "TENSILE"} | more
    domain = body._simulation.domain
    before = domain.bodies.n, dict(domain.cracks.of_body)
    with pytest.raises((ValueError, TypeError), match=match):
        s.SIMPLIFIED_CRACK(body, **arguments)
    assert (domain.bodies.n, dict(domain.cracks.of_body)) == before


def test_bad_arguments_are_refused_and_change_nothing():
    solfec, material = model()
    body = made("TL", material, solfec)
    refused("misses the shape", body, point=(0.25, 0.3, 1.5))
    refused("misses the shape", body, point=(0.25, 0.3, 1.0))
    refused("no section", body, point=(5, 5, 0.5), topoadj="ON")
    refused("'normal' must not be zero", body, normal=(0, 0, 0))
    refused("'criterion' must be one of", body, criterion="SHEAR")
    refused("'ft' must not be negative", body, ft=-1)
    refused("'Gf' must not be negative", body, Gf=-1)
    refused("must hold 2 surface identifiers", body, surfid=(1,))
    refused("'surfid'", body, surfid=3)
    refused("'topoadj'", body, topoadj="MAYBE")
    refused("is rigid; give 'average'", s.BODY(solfec, "RIGID", block(), material))
    refused("is an obstacle", s.BODY(solfec, "OBSTACLE", block(), material))
    refused("holds a SPHERE", s.BODY(solfec, "PSEUDO_RIGID", s.SPHERE((0, 0, 0), 1, 1, 1), material))
    values, vectors = s.MODAL_ANALYSIS(body, 8, None)
    reduced = s.BODY(solfec, "FINITE_ELEMENT", block(), material, form="BC-MODAL", base=(values, vectors))
    refused("form 'BC-MODAL'", reduced)
    refused("'Gf' needs a strength 'ft'", body, Gf=10.0)
    with pytest.warns(UserWarning, match="'Gf' needs SOLFEC .*MANIFOLD"):
        crack(body, ft=1e3, Gf=10.0)


def test_many_splits_take_no_more_memory_or_entries():
    """Sticks crack, their fragments are deleted, new ones come: tables do not grow."""
    solfec, material = model()
    domain = None
    sizes = []
    for n in range(100):
        body = made("hull" if n % 2 else "TL", material, solfec)
        domain = body._simulation.domain
        set_state(solfec, body)
        crack(body, (0.24, 0.31, 0.44), (0.3, -0.2, 1.0))
        fragments.open_cracks(domain)
        for fragment in body.fragments:
            s.DELETE(solfec, fragment)
        sizes.append((domain.bodies.n, domain.geometry.primitives.n, domain.constraints.n, len(domain.cracks._sections), len(domain.body_meshes)))
    assert sizes[-1] == sizes[1] == (0, 0, 0, sizes[-1][3], 0) and sizes[-1][3] <= 1


def test_a_split_within_a_force_function_is_refused():
    solfec, material = model()
    body = made("pseudo", material, solfec)
    victim = s.BODY(solfec, "FINITE_ELEMENT", s.TRANSLATE(block(), (5, 0, 0)), material)
    surface = victim.mesh.inter_element_faces_on_plane((0, 0, 0.5), (0, 0, 1))
    s.FORCE(body, "SPATIAL", (0, 0, 0), (0, 0, 1), lambda q, u, t, h: s.RT_SPLIT(victim, surface))
    with pytest.raises(RuntimeError, match="in the midst of a time step cannot split bodies"):
        s.RUN(solfec, gauss_seidel(), 1e-3)
    assert len(solfec.bodies) == 2
