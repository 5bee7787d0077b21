"""The breaker of inp/mechanisms, 29 bodies, against its reduced model of one degree of freedom."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import quad

import solfec as s

INPUT = Path(__file__).parents[2] / "inp" / "mechanisms" / "breaker.py"


@pytest.fixture(scope="module")
def opening():
    """Names of the input, its bodies by label, and rows (time, angle of the arms, rate, travel of a fixed contact, roller held) of an opening."""
    names = {name: getattr(s, name) for name in s.__all__}
    bodies, made = {}, []

    def model(*arguments, **words):
        made.append(s.SOLFEC("DYNAMIC", 1e-4, None, **words))
        made[0].verbose = "OFF"
        return made[0]

    def body(*arguments, label, **words):
        bodies[label] = s.BODY(*arguments, label=label, **words)
        return bodies[label]

    names |= {"SOLFEC": model, "BODY": body, "RUN": lambda *_: None, "NON_SOLFEC_ARGV": lambda: None}
    exec(INPUT.read_text(), names)
    solfec, rows = made[0], []
    joint = {label: s.BYLABEL(solfec, "JOINT", label) for label in ("arm 2", "fixed 1", "fixed 2", "fixed 3", "buffer 2", "shaft", "flag")}
    held = {bodies["roller"].id, bodies["latch"].id}
    while joint["buffer 2"].travel < 1e-4 and solfec.time < 0.03:
        s.RUN(solfec, s.AUTO_SOLVER(), 1e-4)
        touches = any(c.kind == "CONTACT" and {b.id for b in c.adjbod} == held for c in solfec.constraints)
        rows.append((solfec.time, joint["arm 2"].angle, joint["arm 2"].turning, joint["fixed 2"].travel, touches))
    return names, bodies, joint, np.array(rows)


class Reduced:
    """Kinetic and potential energy of the breaker, from geometry alone: all levers turn by the angle q (negative: opening), arms like levers.

    Neither latch and trip nor contact friction are in it.
    """

    def __init__(self, names, bodies):
        self.n, self.bodies = names, bodies
        about = [("shaft", (0, 0)), ("nose", (0, 0)), *((f"lever {k}", (0, 0)) for k in (1, 2, 3)), *((f"spring lever {k}", (0, 0)) for k in (1, 2)),
                 *((f"arm {k}", (names["apart"], 0)) for k in (1, 2, 3))]  # fmt: skip
        self.turning = sum(self.inertia(label, place) for label, place in about) + 4 * self.inertia("flag", (0, -0.06))  # gear of ratio -2
        self.turning += sum(bodies[f"rod {k}"].mass for k in (1, 2, 3)) * names["lever"] ** 2 + bodies["roller"].mass * names["nose"] ** 2

    def inertia(self, label, place) -> float:
        """Moment of inertia about an axis along z."""
        body = self.bodies[label]
        return np.reshape(body.tensor, (3, 3))[2, 2] + body.mass * ((body.center[0] - place[0]) ** 2 + (body.center[1] - place[1]) ** 2)

    def spring(self, q):
        """Length of an opening spring's line from its anchor, its slope over q, and that of its direction."""
        n = self.n
        end = np.array(n["along"](n["closed"] + q - math.pi / 2, n["lever"]))
        way, velocity = end - n["anchor"], np.array([end[1], -end[0]])  # turned clockwise
        length = np.linalg.norm(way)
        return length, way @ velocity / length, (way[0] * velocity[1] - way[1] * velocity[0]) / length**2

    def energies(self, q, touching):
        """Twice the kinetic energy per squared rate, and potential energy."""
        n, b = self.n, self.bodies
        length, stretch, turn = self.spring(q)
        inertia = self.turning
        for k in (1, 2):
            behind = self.spring(0.0)[0] - math.dist(b[f"plunger {k}"].center[:2], n["anchor"])  # of the mass centre, along the line
            plunger = b[f"plunger {k}"]
            inertia += self.inertia(f"cylinder {k}", n["anchor"]) * turn**2
            inertia += self.inertia(f"plunger {k}", plunger.center) * turn**2 + plunger.mass * (stretch**2 + (length - behind) ** 2 * turn**2)
        potential = n["opening_spring"] * (n["compressed"] - length + self.spring(0.0)[0]) ** 2
        if touching:
            inertia += sum(b[f"fixed {k}"].mass for k in (1, 2, 3)) * (n["tip"] * math.cos(q)) ** 2
            potential += 1.5 * n["contact_spring"] * (n["press"] / n["contact_spring"] + n["tip"] * math.sin(q)) ** 2
        return inertia, potential

    def pass_on(self, start, rate, end, touching):
        """Time from one angle to another, and the rate there: energy is kept."""
        inertia, potential = self.energies(start, touching)
        total = 0.5 * inertia * rate**2 + potential

        def rate_at(q):
            inertia, potential = self.energies(q, touching)
            return math.sqrt(2 * (total - potential) / inertia)

        return quad(lambda q: 1 / rate_at(q), end, start)[0], -rate_at(end)


def crossing(rows, column, value):
    """Time at which a column falls below a value, between rows."""
    k = int(np.argmax(rows[:, column] < value))
    share = (value - rows[k - 1, column]) / (rows[k, column] - rows[k - 1, column])
    return rows[k - 1, 0] + share * (rows[k, 0] - rows[k - 1, 0])


def test_a_breaker_holds_until_its_solenoid_trips_it(opening):
    names, _, _, rows = opening
    before = rows[rows[:, 0] < names["trip_time"]]
    assert len(before) > 40 and np.abs(before[:, 1]).max() < 1e-5 and np.abs(before[:, 3]).max() < 1e-6
    assert before[:, 4].all()


def test_a_breaker_parts_and_opens_when_its_reduced_model_says(opening):
    """From the step in which the roller leaves the latch: contacts part after `follow`, and arms meet the buffers when they are open."""
    names, bodies, joint, rows = opening
    model = Reduced(names, bodies)
    free = int(np.flatnonzero(rows[:, 4])[-1]) + 1
    time, angle, rate = rows[free, :3]
    part = -math.asin(names["follow"] / names["tip"])
    wide = names["opened"] - names["closed"]
    assert angle > part
    until, rate = model.pass_on(angle, rate, part, True)
    parted = time + until
    assert parted == pytest.approx(crossing(rows, 1, part), abs=5e-5)
    assert rows[rows[:, 0] < parted - 1e-4, 3].min() > -names["follow"] and rows[rows[:, 0] > parted + 2e-4, 3] == pytest.approx(-names["follow"], abs=2e-5)
    until, rate = model.pass_on(part, rate, wide, False)
    assert parted + until == pytest.approx(crossing(rows, 1, wide), abs=1e-4)
    assert rows[:, 2].min() == pytest.approx(rate, rel=0.01)  # the buffers slow down the arms from here
    assert joint["flag"].angle == pytest.approx(-2 * joint["shaft"].angle, rel=1e-4)
    assert [joint[f"fixed {k}"].travel for k in (1, 2, 3)] == pytest.approx([-names["follow"]] * 3, abs=2e-5)
