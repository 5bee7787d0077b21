"""The upper one of two blocks is pulled away; it slides, and the lower one stays."""

solfec = SOLFEC('DYNAMIC', 1E-3, 'out/cross-check/two-blocks', contacts='MANIFOLD')
SURFACE_MATERIAL(solfec, friction=0.4)
stone = BULK_MATERIAL(solfec, density=2000, label='stone')
GRAVITY(solfec, (0, 0, -9.81))

BODY(solfec, 'OBSTACLE', BOX((0.5, 0, -0.2), (3, 2, 0.4)), stone, label='table')
BODY(solfec, 'RIGID', BOX((0, 0, 0.15), (0.8, 0.6, 0.3)), stone, label='lower')
upper = BODY(solfec, 'RIGID', BOX((0, 0, 0.4), (0.4, 0.4, 0.2)), stone, label='upper')
FORCE(upper, 'SPATIAL', (0, 0, 0.4), (1, 0, 0), 1.2 * 0.4 * 64 * 9.81)
RUN(solfec, AUTO_SOLVER(1E-10), 0.5)
