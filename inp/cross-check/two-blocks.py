"""The upper one of two blocks is pulled away; it slides, and the lower one stays."""

solfec = SOLFEC('DYNAMIC', 1E-3, 'out/cross-check/two-blocks', contacts='MANIFOLD')
SURFACE_MATERIAL(solfec, friction=0.4)
stone = BULK_MATERIAL(solfec, density=2000, label='stone')
GRAVITY(solfec, (0, 0, -9.81))


def box(x, y, z, a, b, c):
    """Return a hexahedron with its lowest corner at (x, y, z) and sides a, b, c."""
    corners = [(0, 0), (a, 0), (a, b), (0, b)]
    return HULL([number for up in (0, c) for u, v in corners for number in (x + u, y + v, z + up)], 1, 1)


BODY(solfec, 'OBSTACLE', box(-1, -1, -0.4, 3, 2, 0.4), stone, label='table')
BODY(solfec, 'RIGID', box(-0.4, -0.3, 0, 0.8, 0.6, 0.3), stone, label='lower')
upper = BODY(solfec, 'RIGID', box(-0.2, -0.2, 0.3, 0.4, 0.4, 0.2), stone, label='upper')
FORCE(upper, 'SPATIAL', (0, 0, 0.4), (1, 0, 0), 1.2 * 0.4 * 64 * 9.81)
RUN(solfec, AUTO_SOLVER(1E-10), 0.5)
