"""Bodies in a base that vibrate while they turn are of second order in the step."""

import numpy as np

import solfec as s


def whirling_bar(step):
    """Displacement and velocity of a corner of a free bar in its modes, which spins and swings in its lowest one, after half a second."""
    model = s.SOLFEC("DYNAMIC", step, None)
    model.verbose = "OFF"
    bulk = s.BULK_MATERIAL(model, young=1e6, density=1000)
    box = s.BOX((0.5, 0, 0), (1, 0.15, 0.25), divisions=(4, 1, 2))
    base = s.MODAL_ANALYSIS(s.BODY(model, "FINITE_ELEMENT", s.COPY(box), bulk, form="BC"), 12)
    s.DELETE(model, model.bodies[0])
    bar = s.BODY(model, "FINITE_ELEMENT", box, bulk, form="BC-MODAL", base=base)
    s.INITIAL_VELOCITY(bar, (0, 0, 0), (0, 0, 5))
    speeds = list(bar.velo)
    speeds[6] = 0.3
    bar.velo = speeds
    s.RUN(model, s.AUTO_SOLVER(), 0.5)
    corner = 0.0, -0.075, -0.125
    return np.array([s.DISPLACEMENT(bar, corner), s.VELOCITY(bar, corner)])


def test_a_bar_that_spins_and_swings_has_errors_of_second_order():
    outcomes = [whirling_bar(1e-3 / n) for n in (1, 2, 4)]
    coarse, fine = (np.abs(one - two).max() for one, two in zip(outcomes, outcomes[1:]))
    assert coarse > 3.5 * fine
