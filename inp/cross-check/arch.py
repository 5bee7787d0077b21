"""An arch of nine voussoirs between two abutments, tilted by a tenth of gravity, stands: its blocks stay where they are."""

from math import cos, pi, sin

solfec = SOLFEC('DYNAMIC', 1E-3, 'out/cross-check/arch', contacts='MANIFOLD')
SURFACE_MATERIAL(solfec, friction=0.6)
stone = BULK_MATERIAL(solfec, density=2400, label='stone')
GRAVITY(solfec, (0.5, 0, -9.81))


def voussoir(first, last, inner=4.0, outer=5.2, width=1.0):
    """Return the block between two angles."""
    ring = [(radius * cos(angle), radius * sin(angle)) for angle, radius in ((first, inner), (first, outer), (last, outer), (last, inner))]
    return HULL([number for y in (0, width) for x, z in ring for number in (x, y, z)], 1, 1)


angle = pi / 11
for k in range(11):
    kind = 'OBSTACLE' if k in (0, 10) else 'RIGID'
    BODY(solfec, kind, voussoir(k * angle, (k + 1) * angle), stone, label='voussoir %d' % k)
RUN(solfec, AUTO_SOLVER(1E-10), 0.5)
