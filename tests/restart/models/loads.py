"""Gravity and forces by numbers, series and functions, on bodies that turn."""
import math

solfec = SOLFEC('DYNAMIC', 1E-3, 'out/model')
bulk = BULK_MATERIAL(solfec, young=1E7, density=10.0)
sway = TIME_SERIES([c for k in range(200) for c in (0.0007 * k, math.sin(k))])
GRAVITY(solfec, (sway, 0, -9.81))
cube = [c for k in (0, 1) for j in (0, 1) for i in (0, 1) for c in (i, j, k)]
for kind in ('RIGID', 'PSEUDO_RIGID'):
    body = BODY(solfec, kind, HULL(cube, 1, 1), bulk)
    INITIAL_VELOCITY(body, (0, 0, 0), (1, 5, 2))
    FORCE(body, 'SPATIAL', (1, 1, 1), (0, 0, 1), sway)
    FORCE(body, 'CONVECTED', (1, 0, 1), (0, 1, 0), 7.0)
    FORCE(body, 'SPATIAL', (0, 0, 0), (0, 0, 1), lambda c, q, u, t, h: [-c * v for v in u] + [math.sin(t)] * (9 - len(u) if len(u) < 9 else 0), 0.1)
    cube = [c + 3 for c in cube]
CONTACT_EXCLUDE_BODIES(*solfec.bodies[:2])
RUN(solfec, PENALTY_SOLVER(), int(NON_SOLFEC_ARGV()[0]) * 1E-3)
