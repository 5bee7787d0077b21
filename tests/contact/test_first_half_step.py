"""Bodies that begin nearer to one another than they move in half a step overlap from then on, and the run says so."""

import warnings

import pytest
from test_manifold import box

import solfec as s

WORDS = "in the first half step, before contacts are found"


def drop(shape, gap, speed, contacts="MANIFOLD", after=0.0):
    """Let a body of 0.1 m, `gap` above a floor, begin with a speed of fall, `after` some time; its last place above the floor, and the warnings."""
    model = s.SOLFEC("DYNAMIC", 1e-3, contacts=contacts)
    model.verbose = "OFF"
    s.SURFACE_MATERIAL(model, friction=0.5)
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
def test_a_body_that_begins_near_and_fast_is_named_with_its_overlap(shape, gap):
    place, told = drop(shape, gap, 10.0)
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
    place, told = drop(shape, gap, 10.0, after=0.005)
    assert place == pytest.approx(gap - 5e-3, abs=1e-5)
    assert len(told) == 1 and f"bodies 1 and 3 begin {gap:g} apart" in told[0] and f"overlap by {5e-3 - gap:g}" in told[0]
    assert drop(shape, 6e-3, 10.0, after=0.005)[1] == []
