"""SIMPLIFIED_CRACK of rigid bodies: their stress follows from forces, by statics and by the closed forms of rotation that are written down here."""

import copy
import math

import numpy as np
import pytest
from test_conservation import CORNERS, assert_kept, crack, model, sums, turned

import solfec as s
from solfec.solvers.gauss_seidel import GaussSeidelSolver

LENGTH, WIDTH, DENSITY = 1.0, 0.1, 1e3
AREA = WIDTH**2
END, START = (LENGTH, WIDTH / 2, WIDTH / 2), (0, WIDTH / 2, WIDTH / 2)
MIDDLE = (LENGTH / 2, WIDTH / 2, WIDTH / 2)
STEP = 1e-4


def bar(solfec, material, meshed=False, origin=(0, 0, 0), label="bar"):
    shape = s.HEX(CORNERS, 4, 1, 1, 1, [1, 2, 3, 4, 5, 6]) if meshed else s.HULL(CORNERS, 1, 1)
    return s.BODY(solfec, "RIGID", s.TRANSLATE(s.SCALE(shape, (LENGTH, WIDTH, WIDTH)), origin), material, label=label)


def place(body, rotation, position=(3, -2, 1)):
    body.conf = (*rotation.T.ravel(), *position)


def steps_to_break(solfec, body, limit):
    """The step after which the body is in pieces; None if it never is."""
    found = []

    def look():
        if body.fragments:
            found.append(round(solfec.time / solfec.step))
        return 0 if found else 1

    s.CALLBACK(solfec, solfec.step, (), look)
    s.RUN(solfec, s.GAUSS_SEIDEL_SOLVER(1e-12, 1000), limit * solfec.step)
    return found[0] if found else None


def tension(body):
    (value,) = body._simulation.domain.cracks.tensions.values()
    return value


def one_step(solfec, count=1):
    s.RUN(solfec, s.GAUSS_SEIDEL_SOLVER(1e-14, 1000), count * solfec.step)


@pytest.mark.parametrize("meshed", [False, True])
@pytest.mark.parametrize("strengths, first", [((2e3, 0.9e3), 1), ((2e3, 1.1e3), 0), ((0.0, 1e3), 0)])
def test_a_pulled_bar_breaks_in_the_step_and_at_the_plane_that_statics_says(strengths, first, meshed):
    """A section across carries F/A; at 45 degrees it carries half as much, and along the bar nothing."""
    solfec, material = model()
    body = bar(solfec, material, meshed)
    place(body, turned(1.0, (1, -2, 1)))
    rate = 1e4
    for point, sense in ((END, 1), (START, -1)):
        s.FORCE(body, "CONVECTED", point, (sense, 0, 0), s.TIME_SERIES([0, 0, 1, rate]))
    planes = [((0.3, 0.05, 0.05), (1, 0, 0), strengths[0], 1.0), ((0.6, 0.05, 0.05), (1, 1, 0), strengths[1], 0.5), (MIDDLE, (0, 0, 1), 1.0, 0.0)]
    for point, normal, strength, _ in planes:
        crack(body, point, normal, ft=strength, average=0)
    steps = [next(n for n in range(1, 10**6) if share * rate * (n - 0.5) * STEP / AREA > ft) if share else np.inf for _, _, ft, share in planes[:2]]
    assert np.argmin(steps) == first
    assert steps_to_break(solfec, body, 500) == min(steps)
    pieces = body.fragments
    cut = (0.3, 0.6)[first]
    assert [piece.mass for piece in pieces] == pytest.approx([DENSITY * AREA * cut, DENSITY * AREA * (LENGTH - cut)], rel=1e-9)


def test_a_bar_pulled_at_one_end_carries_half_the_force():
    """It accelerates, and tension falls linearly from F at the one end to 0 at the other; the mean is F/2A."""
    solfec, material = model()
    body = bar(solfec, material)
    s.FORCE(body, "SPATIAL", END, (1, 0, 0), 7.0)
    crack(body, MIDDLE, (1, 0, 0), ft=1e9, average=0)
    one_step(solfec, 5)
    assert tension(body) == pytest.approx(7.0 / 2 / AREA, rel=1e-12)


def test_a_bar_in_angular_acceleration_has_the_shear_of_its_inertia():
    """A couple of forces along y at the ends turns a bar about z: the mean shear is half of that of the forces' couple, see the integral below."""
    solfec, material = model()
    body = bar(solfec, material)
    force = 3.0
    s.FORCE(body, "SPATIAL", END, (0, 1, 0), force)
    s.FORCE(body, "SPATIAL", START, (0, -1, 0), force)
    crack(body, MIDDLE, (1, 1, 0), ft=1e9, average=0)
    solfec.step = 1e-8
    one_step(solfec)
    # forces f_y at x: sum (f_y x) = F L.  Inertia: a_y = w' x, a_x = -w' y with w' = F L/(m (L^2 + W^2)/12)
    mass = DENSITY * LENGTH * AREA
    rate = force * LENGTH / (mass * (LENGTH**2 + WIDTH**2) / 12)
    yx = force * LENGTH - rate * mass * LENGTH**2 / 12
    xy = rate * mass * WIDTH**2 / 12
    assert yx == pytest.approx(xy)  # balance of angular momentum makes stress symmetric
    assert tension(body) == pytest.approx(xy / (LENGTH * AREA), rel=1e-6)


@pytest.mark.parametrize("angle", [0.0, 1.0, 2.5])
@pytest.mark.parametrize("axis", [(0, 0, 1), (0, 1, 0), (1, 0, 0)])
def test_a_spinning_bar_has_the_mean_stress_of_rotation_in_any_placement(axis, angle):
    """Tension along x is rho w^2 (L^2/4 - x^2)/2, with the mean rho w^2 L^2/12, and likewise across."""
    solfec, material = model()
    body = bar(solfec, material)
    place(body, turned(angle, (1, -2, 1)))
    speed = 7.0
    body.velo = (*(speed * np.array(axis)), 1, 2, 3)
    normal = np.array((1.0, 0.4, -0.3))
    crack(body, MIDDLE, tuple(normal), ft=1e9, average=0)
    one_step(solfec, 20)
    across = (1 - np.array(axis)) * np.array([LENGTH, WIDTH, WIDTH]) ** 2
    expected = DENSITY * speed**2 / 12 * across @ normal**2 / (normal @ normal)
    assert tension(body) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("factor, breaks", [(0.999, True), (1.001, False)])
def test_a_spinning_bar_breaks_just_above_its_strength(factor, breaks):
    solfec, material = model()
    body = bar(solfec, material)
    place(body, turned(2.0, (1, -2, 1)))
    body.velo = (0, 0, 30.0, 0, 0, 0)
    crack(body, (0.4, 0.05, 0.05), (1, 0, 0), ft=factor * DENSITY * 30.0**2 * LENGTH**2 / 12, average=0)
    one_step(solfec, 3)
    assert bool(body.fragments) == breaks


def test_a_hanging_block_is_pulled_and_a_standing_one_pressed_by_its_weight():
    """Tension at height z is rho g z in a block that hangs from above, and rho g (z - H) in one that stands: the means are +- rho g H/2."""
    for hanging in (True, False):
        solfec, material = model()
        s.GRAVITY(solfec, (0, 0, -10))
        shape = s.SCALE(s.HULL(CORNERS, 1, 1), (0.5, 0.5, 2.0))
        body = s.BODY(solfec, "RIGID", shape, material)
        if hanging:
            s.FIX_POINT(body, (0.25, 0.25, 2.0))
        else:
            s.BODY(solfec, "OBSTACLE", s.TRANSLATE(s.SCALE(s.HULL(CORNERS, 1, 1), (3, 3, 1)), (-1, -1, -1)), material)
        crack(body, (0.25, 0.25, 1.0), (0, 0, 1), ft=1e9, average=0)
        one_step(solfec, 3)
        assert tension(body) == pytest.approx((1 if hanging else -1) * DENSITY * 10 * 2.0 / 2, rel=1e-9)


def test_forces_between_bodies_pull_both():
    """Of two bars that hang from one another by a link, the upper one carries the lower one's weight, too."""
    solfec, material = model()
    s.GRAVITY(solfec, (10, 0, 0))
    upper, lower = bar(solfec, material), bar(solfec, material, origin=(LENGTH + 0.2, 0, 0), label="lower")
    s.FIX_POINT(upper, START)
    s.PUT_RIGID_LINK(upper, lower, END, (LENGTH + 0.2, WIDTH / 2, WIDTH / 2))
    for body, x in ((upper, 0.5), (lower, LENGTH + 0.7)):
        crack(body, (x, 0.05, 0.05), (1, 0, 0), ft=1e9, average=0)
    one_step(solfec, 2)
    weight = DENSITY * 10 * LENGTH
    assert list(upper._simulation.domain.cracks.tensions.values()) == pytest.approx([1.5 * weight, 0.5 * weight], rel=1e-9)


def test_a_bar_that_carries_the_direction_of_a_spring_has_its_force_where_the_other_end_is():
    """There it has the moment that the bar bears; so it has the tension that a force at this place makes."""
    tensions = []
    for spring in (True, False):
        solfec, material = model()
        body, other = bar(solfec, material), bar(solfec, material, origin=(0, 0.4, 0.3), label="other")
        far = (0.7, 0.45, 0.35)
        if spring:
            law = [-1.0, 2.0, 1.0, 2.000001]  # nearly constant
            s.PUT_SPRING(body, END, other, far, law, (-9, 9), direction=(0.6, 0.8, 0), update="CONV1", law="IMPLICIT")
        else:
            s.FORCE(body, "SPATIAL", far, (0.6, 0.8, 0), 2.0)
        crack(body, MIDDLE, (1, 0, 0), ft=1e9, average=0)
        s.RUN(solfec, s.GAUSS_SEIDEL_SOLVER(1e-14, 1000), solfec.step)
        tensions.append(tension(body))
    assert abs(tensions[1]) > 1.0
    assert tensions[0] == pytest.approx(tensions[1], rel=1e-5)


def test_pressure_on_the_ends_pulls_a_bar():
    solfec, material = model()
    body = bar(solfec, material, meshed=True)
    place(body, turned(1.0, (3, 1, 1)))
    for surface in (5, 3):
        s.PRESSURE(body, surface, 40.0)
    crack(body, MIDDLE, (1, 0, 0), ft=1e9, average=0)
    s.SIMPLIFIED_CRACK(body, MIDDLE, (0, 1, 0), (7, 8), "TENSILE", ft=1e9, average=0)
    one_step(solfec)
    along, across = body._simulation.domain.cracks.tensions.values()
    assert sorted((along, across)) == pytest.approx([0.0, 40.0], abs=1e-9)


def test_the_average_forgets_at_the_rate_that_the_user_states():
    """Under a constant tension from time 0 on the average is tension (1 - exp (-t/T)), whatever the step."""
    lasting, share = 3e-3, 0.8
    for step in (1e-4, 4e-5):
        solfec, material = model()
        solfec.step = step
        body = bar(solfec, material)
        for point, sense in ((END, 1), (START, -1)):
            s.FORCE(body, "SPATIAL", point, (sense, 0, 0), 5.0)
        crack(body, MIDDLE, (1, 0, 0), ft=share * 5.0 / AREA, average=lasting)
        assert steps_to_break(solfec, body, 1000) == math.floor(-lasting * math.log(1 - share) / step) + 1


def test_an_impact_breaks_by_its_impulse_over_the_time_of_the_average():
    """A bar that falls on its end gets the impulse m v; the average is this impulse times its arm over V T, at any step, but the mean of a step is not."""
    values = {}
    for lasting in (0.0, 5e-3):
        for step in (1e-4, 1e-5):
            solfec, material = model()
            solfec.step = step
            body = bar(solfec, material, origin=(1e-9, 0, 0))
            s.BODY(solfec, "OBSTACLE", s.TRANSLATE(s.HULL(CORNERS, 1, 1), (-1, -0.5, -0.5)), material)
            body.velo = (0, 0, 0, -0.4, 0, 0)
            crack(body, MIDDLE, (1, 0, 0), ft=1e9, average=lasting)
            one_step(solfec)
            values[lasting, step] = tension(body)
    expected = -DENSITY * LENGTH * 0.4 / 2 / 5e-3  # m v L/2 over V T
    assert values[5e-3, 1e-4] == pytest.approx(expected, rel=0.02)
    assert values[5e-3, 1e-5] == pytest.approx(expected, rel=0.002)
    assert values[0.0, 1e-5] == pytest.approx(10 * values[0.0, 1e-4], rel=1e-4)


def test_copies_and_packed_bodies_keep_averages():
    solfec, material = model()
    body = bar(solfec, material)
    s.FORCE(body, "CONVECTED", END, (1, 0, 0), 7.0)
    crack(body, MIDDLE, (1, 0, 0), ft=1e9, average=1e-3)
    crack(body, MIDDLE, (1, 1, 0), ft=1e9, average=0)
    one_step(solfec, 3)
    domain = body._simulation.domain
    averages = dict(domain.cracks.tensions)
    assert len(averages) == 2 and all(averages.values())
    copied = copy.deepcopy(domain)
    assert copied.cracks.tensions == averages
    packed = domain.pack_bodies([body.id])
    domain.delete_body(body.id)
    domain.unpack_bodies(packed)
    assert domain.cracks.tensions == averages
    for each in (domain, copied):
        each.advance(GaussSeidelSolver(1e-12, 100))
    assert domain.cracks.tensions == copied.cracks.tensions != averages


@pytest.mark.parametrize("meshed", [False, True])
@pytest.mark.parametrize("normal", [(1, 0, 0), (1, 0.5, -0.3)])
def test_fragments_keep_mass_momenta_and_energy(meshed, normal):
    """A twin without a crack moves on; the fragments together have its sums."""
    results = []
    for strength in (0.0, 1e9):
        solfec, material = model()
        body = bar(solfec, material, meshed)
        place(body, turned(1.2, (1, 2, 3)))
        body.velo = (1, 3, 20, 4, 5, 6)
        s.FORCE(body, "CONVECTED", END, (1, 0, 0), 30)
        crack(body, (0.7, 0.05, 0.05), normal, ft=strength, average=0)
        domain, identifier = body._simulation.domain, body.id
        one_step(solfec)
        pieces = [piece.id for piece in body.fragments] if strength == 0 else [identifier]
        results.append(sums(domain, pieces))
        if strength == 0:
            assert len(pieces) == 2
            assert [len(domain.loads.table.view("body")[domain.loads.table.view("body") == domain.body_row(p)]) for p in pieces] == [0, 1]
    assert_kept(results[1], results[0], ("mass", "first", "second", "linear", "angular", "kinetic"), 1e-11)


def test_bonds_on_the_faces_of_a_rigid_bar_spend_the_fracture_energy():
    """Two forces pull slowly until the crack opens; its bond then carries what it carried, and falls with the opening."""
    solfec = s.SOLFEC("DYNAMIC", 1e-4, None, contacts="MANIFOLD")
    solfec.verbose = "OFF"
    body = bar(solfec, s.BULK_MATERIAL(solfec, density=DENSITY))
    ft, Gf = 1e3, 0.05
    for point, sense in ((END, 1), (START, -1)):
        s.FORCE(body, "SPATIAL", point, (sense, 0, 0), 1.02 * ft * AREA)
    s.SIMPLIFIED_CRACK(body, MIDDLE, (1, 0, 0), (2, 3), "TENSILE", ft=ft, Gf=Gf, average=0)
    s.RUN(solfec, s.GAUSS_SEIDEL_SOLVER(1e-12, 1000), 2 * solfec.step)
    assert len(body.fragments) == 2 and solfec.ncon == 4
    s.RUN(solfec, s.GAUSS_SEIDEL_SOLVER(1e-12, 1000), 0.2)
    assert -s.ENERGY(solfec).contact == pytest.approx(Gf * AREA, rel=0.03)


@pytest.mark.parametrize(
    "kind, more, message",
    [
        ("RIGID", {}, "is rigid; give 'average'"),
        ("RIGID", {"average": -1}, "'average'"),
        ("RIGID", {"average": math.nan}, "'average'"),
        ("PSEUDO_RIGID", {"average": 0.1}, "'average' is a time for RIGID bodies"),
        ("OBSTACLE", {"average": 0}, "obstacles do not crack"),
    ],
)
def test_wrong_averages_are_errors_and_leave_the_model_as_it_was(kind, more, message):
    solfec, material = model()
    body = s.BODY(solfec, kind, s.HULL(CORNERS, 1, 1), material)
    with pytest.raises(ValueError, match=message):
        crack(body, (0.5, 0.5, 0.5), **more)
    assert not body._simulation.domain.cracks.of_body
