"""A wall of twenty blocks in running bond: a force pushes the last block of the top row over the row below, and the first one tips over its edge."""

solfec = SOLFEC('DYNAMIC', 1E-3, 'out/cross-check/wall', contacts='MANIFOLD')
SURFACE_MATERIAL(solfec, friction=0.5)
stone = BULK_MATERIAL(solfec, density=2000, label='stone')
GRAVITY(solfec, (0, 0, -9.81))


def box(x, y, z, a, b, c):
    """Return a hexahedron with its lowest corner at (x, y, z) and sides a, b, c."""
    corners = [(0, 0), (a, 0), (a, b), (0, b)]
    return HULL([number for up in (0, c) for u, v in corners for number in (x + u, y + v, z + up)], 1, 1)


BODY(solfec, 'OBSTACLE', box(-1, -2, -0.4, 6, 4, 0.4), stone, label='ground')
for row in range(5):
    for k in range(4):
        block = BODY(solfec, 'RIGID', box(0.8 * k + 0.4 * (row % 2), 0, 0.3 * row, 0.79, 0.4, 0.3), stone, label='block %d.%d' % (row, k))
weight = 2000 * 0.79 * 0.4 * 0.3 * 9.81
FORCE(block, 'SPATIAL', (0.8 * 3 + 0.395, 0.2, 1.35), (0, 1, 0), 1.05 * 0.5 * weight)
RUN(solfec, AUTO_SOLVER(1E-10), 0.5)
