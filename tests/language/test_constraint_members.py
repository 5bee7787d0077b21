"""Every member of CONSTRAINT, for every kind of constraint, in both analyses and with every solver that handles them all."""

from __future__ import annotations

import pytest

SCENE = """
import math
solfec = SOLFEC('{analysis}', 0.01, 'out/members')
solfec.verbose = 'OFF'
GRAVITY(solfec, (0, 0, -10))
SURFACE_MATERIAL(solfec, model='SIGNORINI_COULOMB', friction=0.5, label='rough')
bulk = BULK_MATERIAL(solfec)
def box(x0, y0, z0, x1, y1, z1, surface):
    return HULL([x0, y0, z0, x1, y0, z0, x1, y1, z0, x0, y1, z0, x0, y0, z1, x1, y0, z1, x1, y1, z1, x0, y1, z1], surface, surface)
def ball(place):
    body = BODY(solfec, 'RIGID', SPHERE(place, 0.5, 3, 3), bulk)
    BODY_CHARS(body, 1, 1, place, (1, 0, 0, 0, 1, 0, 0, 0, 1))
    return body
floor = BODY(solfec, 'OBSTACLE', box(-1, -1, -1, 1, 1, 0, 7), bulk)
anchor = BODY(solfec, 'OBSTACLE', box(59, -1, 7, 61, 1, 8, 7), bulk)
rest = TIME_SERIES([0, 0.25, 1, 0.25])
balls = [ball((10 * k, 0, 5 if k else 0.49999)) for k in range(7)]
def at(k):
    return (10 * k, 0, 5)
fixed = FIX_POINT(balls[1], at(1))
guided = FIX_DIRECTION(balls[2], at(2), (0, 0, 1))
driven = SET_VELOCITY(balls[3], at(3), (0, 0, 1), 0.5)
three = SET_VELOCITY3(balls[4], at(4), (1, 0, 0, 0, 1, 0, 0, 0, 1), (rest, rest, rest))
link = PUT_RIGID_LINK(balls[5], None, at(5), (50, 0, 7))
spring = PUT_SPRING(balls[6], at(6), anchor, (60, 0, 7), lambda s, v: -1000 * s, (-1, 1))
solver = {solver}
RUN(solfec, solver, 0.05)
(contact,) = balls[0].constraints
"""
CHECK = """
def near(one, two, tolerance=1e-5):
    return all(abs(a - b) <= tolerance for a, b in zip(one, two, strict=True))
every = dict(CONTACT=contact, FIXPNT=fixed, FIXDIR=guided, VELODIR=driven, VELODIR3=three, RIGLNK=link, SPRING=spring)
assert [name for name, c in every.items() if c.kind != name] == []
assert sorted(c.kind for c in solfec.constraints) == sorted(every)
for name, c in every.items():
    assert len(c.R) == len(c.U) == len(c.V) == 3 and len(c.base) == 9 and len(c.point) == (6 if name == 'RIGLNK' else 3), name
    columns = [c.base[0:3], c.base[3:6], c.base[6:9]]
    for i in range(3):
        assert near([sum(a * b for a, b in zip(columns[i], other)) for other in columns], [i == 0, i == 1, i == 2]), name
    assert math.isfinite(c.merit) and c.merit >= 0 and 0 <= c.residual < 1e-4, (name, c.merit, c.residual)
    assert (c.spair is None) == (c.matlab is None) == (name != 'CONTACT'), name
    assert (c.area > 0) == (name == 'CONTACT'), name
    if name in ('FIXDIR', 'VELODIR', 'RIGLNK', 'SPRING'):
        assert near(c.R[:2], (0, 0), 0.0), name
assert contact.matlab == 'rough' and -2e-5 < contact.gap < 0 and set(contact.adjbod) == {{balls[0], floor}}
assert contact.spair == tuple(3 if body == balls[0] else 7 for body in contact.adjbod)
assert near(contact.R, (0, 0, 10)) and near(contact.U, (0, 0, 0))
assert fixed.adjbod == balls[1] and fixed.gap == 0 and near(fixed.R, (0, 0, 10)) and near(fixed.U, (0, 0, 0)) and near(fixed.point, at(1))
assert near(guided.R, (0, 0, 10)) and near(guided.U[2:], (0,)) and near(guided.base[6:], (0, 0, 1))
assert near(driven.R[2:], (10 if {dynamic} else 10 + 0.5 / 0.01,), 1e-3) and near(driven.U[2:], (0.5,))
assert near(three.U, (0.25,) * 3) and near(driven.V[2:], (0.5 if {dynamic} else 0.0,))
assert near(link.R, (0, 0, -10)) and near(link.base[6:], (0, 0, -1)) and abs(link.gap) < 1e-6 and link.point[3:] == (50, 0, 7)
assert spring.adjbod == (balls[6], anchor) and spring.gap > 0
allowed = 1000 * 0.01 * max(abs(spring.U[2]), abs(spring.V[2])) + 1e-3
assert abs(spring.R[2] + 1000 * spring.gap) <= allowed
assert fixed in balls[1].constraints and contact in floor.constraints and spring in anchor.constraints
DELETE(solfec, link)
assert link.kind is None and link.R is None and balls[5].constraints == []
print('every member holds')
"""
SOLVERS = {
    "GAUSS_SEIDEL": "GAUSS_SEIDEL_SOLVER(1E-9, 1000)",
    "NEWTON": "NEWTON_SOLVER(1E-16)",
    "AUTO": "AUTO_SOLVER(1E-9)",
}


@pytest.mark.parametrize("solver", list(SOLVERS))
@pytest.mark.parametrize("analysis", ["DYNAMIC", "QUASI_STATIC"])
def test_every_member_of_every_kind_in_both_analyses(good, analysis, solver):
    text = (SCENE + CHECK).format(analysis=analysis, solver=SOLVERS[solver], dynamic=analysis == "DYNAMIC")
    assert good(text).strip() == "every member holds"
