"""Bodies that begin nearer to one another than they move in half a step meet before it; where the run does not look for that, it names their overlap."""

import warnings

import numpy as np
import pytest
from test_manifold import box

import solfec as s

WORDS = "in the first half step, before contacts are found"


def drop(shape, gap, speed, contacts="MANIFOLD", after=0.0, margin=0.0, restitution=0.0):
    """Let a body of 0.1 m, `gap` above a floor, begin with a speed of fall, `after` some time; its last place above the floor, and the warnings."""
    model = s.SOLFEC("DYNAMIC", 1e-3, contacts=contacts)
    model.verbose = "OFF"
    s.SURFACE_MATERIAL(model, friction=0.5, restitution=restitution)
    if margin:
        s.CONTACT_OPTIONS(model, margin=margin)
    bulk = s.BULK_MATERIAL(model, density=1000.0)
    s.GRAVITY(model, (0, 0, -10))
    s.BODY(model, "OBSTACLE", box(-1, -1, -1, 1, 1, 0), bulk)
    if after:
        s.BODY(model, "RIGID", box(0.5, 0.5, 0, 0.6, 0.6, 0.1), bulk)
        s.RUN(model, s.AUTO_SOLVER(1e-8), after)
    if shape == "sphere":
        body = s.BODY(model, "RIGID", s.SPHERE((0, 0, 0.05 + gap), 0.05, 1, 1), bulk)
    else:
        body = s.BODY(model, "RIGID", box(-0.05, -0.05, gap, 0.05, 0.05, gap + 0.1), bulk)
    s.INITIAL_VELOCITY(body, (0, 0, -speed), (0, 0, 0))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        s.RUN(model, s.AUTO_SOLVER(1e-8), 0.01)
    return body.conf[11] - 0.05, [str(w.message) for w in told if WORDS in str(w.message)]


@pytest.mark.parametrize(("shape", "gap"), [("sphere", 1e-3), ("box", 2e-3)])
def test_a_body_that_begins_fast_and_beyond_a_margin_of_the_user_is_named_with_its_overlap(shape, gap):
    place, told = drop(shape, gap, 10.0, margin=5e-4)
    assert place == pytest.approx(gap - 5e-3, abs=1e-5)  # it moves by 5 mm in half a step
    assert len(told) == 1 and f"bodies 1 and 2 begin {gap:g} apart and move by 0.005" in told[0] and f"overlap by {5e-3 - gap:g}" in told[0]


@pytest.mark.parametrize("shape", ["sphere", "box"])
@pytest.mark.parametrize(
    ("gap", "speed", "contacts"),
    [(6e-3, 10.0, "MANIFOLD"), (0.0, 0.0, "MANIFOLD"), (1e-3, 1.0, "MANIFOLD"), (-4e-3, 0.0, "MANIFOLD"), (1e-3, 10.0, "CLASSIC")],
    ids=["far enough", "at rest", "slow", "overlapping in the input", "classic"],
)
def test_nothing_is_said_of_others(shape, gap, speed, contacts):
    """The last one overlaps by what it moves in a step anyway, as in Solfec-1.0."""
    assert drop(shape, gap, speed, contacts)[1] == []


@pytest.mark.parametrize(("shape", "gap"), [("sphere", 1e-3), ("box", 2e-3)])
def test_a_body_that_is_born_in_mid_run_is_named_as_well(shape, gap):
    place, told = drop(shape, gap, 10.0, after=0.005, margin=5e-4)
    assert place == pytest.approx(gap - 5e-3, abs=1e-5)
    assert len(told) == 1 and f"bodies 1 and 3 begin {gap:g} apart" in told[0] and f"overlap by {5e-3 - gap:g}" in told[0]
    assert drop(shape, 6e-3, 10.0, after=0.005)[1] == []


# --- bodies that meet before their first half step -------------------------------------------------------------


@pytest.mark.parametrize("after", [0.0, 0.005], ids=["in the input", "in mid run"])
@pytest.mark.parametrize(("shape", "gap"), [("sphere", 1e-3), ("sphere", 0.0), ("box", 2e-3), ("box", 1e-5)])
def test_a_body_that_begins_near_and_fast_stops_at_the_surface(shape, gap, after):
    place, told = drop(shape, gap, 10.0, after=after)
    assert place == pytest.approx(0.0, abs=1e-9) and told == []


@pytest.mark.parametrize("shape", ["sphere", "box"])
def test_it_bounces_with_its_speed(shape):
    place, _ = drop(shape, 1e-3, 10.0, restitution=0.5)
    assert place == pytest.approx(1e-3 + 5.0 * 0.01, rel=2e-2)  # gravity takes half a millimetre


def scene(step=1e-3, restitution=0.0, friction=0.0):
    model = s.SOLFEC("DYNAMIC", step, contacts="MANIFOLD")
    model.verbose = "OFF"
    s.SURFACE_MATERIAL(model, friction=friction, restitution=restitution)
    return model, s.BULK_MATERIAL(model, density=1000.0, young=1e9, poisson=0.25)


def thrown(model, kind, shape, bulk, velocity, spin=(0, 0, 0)):
    body = s.BODY(model, kind, shape, bulk)
    s.INITIAL_VELOCITY(body, velocity, spin)
    return body


def test_a_body_does_not_begin_behind_a_thin_plate():
    model, bulk = scene()
    s.BODY(model, "OBSTACLE", box(-1, -1, -1e-3, 1, 1, 0), bulk)
    body = thrown(model, "RIGID", box(-5e-3, -5e-3, 2e-3, 5e-3, 5e-3, 12e-3), bulk, (0, 0, -30))
    s.RUN(model, s.AUTO_SOLVER(1e-10), 5e-3)
    assert body.conf[11] == pytest.approx(5e-3, abs=1e-9)


def test_a_row_of_bodies_that_touch_stops_at_a_wall():
    """The impact passes through all of them."""
    model, bulk = scene()
    s.BODY(model, "OBSTACLE", box(0.302, -1, -1, 0.4, 1, 1), bulk)
    row = [thrown(model, "RIGID", box(0.1 * k, 0, 0, 0.1 * k + 0.1, 0.1, 0.1), bulk, (20, 0, 0)) for k in range(3)]
    s.RUN(model, s.AUTO_SOLVER(1e-10), 5e-3)
    for k, body in enumerate(row):
        assert body.conf[9] == pytest.approx(0.1 * k + 0.05 + 2e-3, abs=1e-8)


def test_a_body_on_a_hinge_stops_at_a_wall():
    model, bulk = scene()
    s.BODY(model, "OBSTACLE", box(0.052, -1, -1.2, 0.4, 1, -0.8), bulk)
    bar = thrown(model, "RIGID", box(-0.05, -0.05, -1, 0.05, 0.05, 0), bulk, (5, 0, 0), (0, -10, 0))
    s.FIX_POINT(bar, (0, 0, 0))
    s.RUN(model, s.AUTO_SOLVER(1e-10), 5e-3)
    assert bar.conf[9] == pytest.approx(1e-3, abs=1e-5)  # its foot moves by 2 mm
    assert np.linalg.norm(np.array(bar.conf[9:12]) + 0.5 * np.reshape(bar.conf[:9], (3, 3))[2]) < 1e-8


@pytest.mark.parametrize("restitution", [0.0, 1.0])
def test_free_bodies_keep_their_momentum_and_angular_momentum(restitution):
    model, bulk = scene(restitution=restitution, friction=0.0 if restitution else 0.3)
    bodies = thrown(model, "RIGID", box(0, 0, 0, 0.1, 0.1, 0.1), bulk, (8, 0, 0)), thrown(model, "RIGID", box(0.101, 0.03, 0.02, 0.2, 0.15, 0.1), bulk, (-8, 1, 0), (1, 2, 3))
    sides = np.array([(0.1, 0.1, 0.1), (0.099, 0.12, 0.08)])

    def momenta():
        total = np.zeros(6)
        for body, side in zip(bodies, sides):
            turn, square = np.reshape(body.conf[:9], (3, 3)).T, side**2
            spin = turn @ (body.mass / 12 * (square.sum() - square) * body.velo[:3])
            total += body.mass * np.array([*body.velo[3:6], *np.cross(body.conf[9:12], body.velo[3:6])])
            total[3:] += spin
        return total

    before, energy = momenta(), sum(0.5 * body.mass * 8**2 for body in bodies)
    s.RUN(model, s.AUTO_SOLVER(1e-10), 3e-3)
    np.testing.assert_allclose(momenta(), before, atol=1e-9)
    energies = s.ENERGY(model)
    assert energies.contact + energies.friction <= 1e-9 * energy
    assert energies.kinetic - energies.contact - energies.friction == pytest.approx(62.900015154800016, rel=1e-6)


@pytest.mark.parametrize("kind", ["TL", "BC"])
def test_a_deformable_body_stops_at_the_surface_and_its_energy_is_accounted_for(kind):
    model, bulk = scene(2e-4)
    s.BODY(model, "OBSTACLE", box(-1, -1, -1, 1, 1, 0), bulk)
    low = 2e-4
    nodes = [value + (low if k % 3 == 2 else 0) for k, value in enumerate([0, 0, 0, 0.1, 0, 0, 0.1, 0.1, 0, 0, 0.1, 0, 0, 0, 0.1, 0.1, 0, 0.1, 0.1, 0.1, 0.1, 0, 0.1, 0.1])]
    body = s.BODY(model, "FINITE_ELEMENT", s.HEX(nodes, 2, 2, 2, 1, [1] * 6), bulk, form=kind)
    body.scheme = "DEF_LIM"
    s.INITIAL_VELOCITY(body, (0, 0, -10), (0, 0, 0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(10):
            s.RUN(model, s.AUTO_SOLVER(1e-10), 2e-4)
            assert min(low + s.DISPLACEMENT(body, (x, y, low))[2] for x in (0, 0.1) for y in (0, 0.1)) > -1e-6
