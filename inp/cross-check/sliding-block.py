"""A block is pulled over a table by 1.5 times the friction that holds it: it slides 0.2146 m in half a second."""

solfec = SOLFEC('DYNAMIC', 1E-3, 'out/cross-check/sliding-block', contacts='MANIFOLD')
SURFACE_MATERIAL(solfec, friction=0.35)
stone = BULK_MATERIAL(solfec, density=1000, label='stone')
GRAVITY(solfec, (0, 0, -9.81))

BODY(solfec, 'OBSTACLE', BOX((1, 0, -0.2), (4, 2, 0.4)), stone, label='table')
block = BODY(solfec, 'RIGID', BOX((0, 0, 0.2), (0.4, 0.4, 0.4)), stone, label='block')
FORCE(block, 'SPATIAL', (0, 0, 0.2), (1, 0, 0), 1.5 * 0.35 * 64 * 9.81)
RUN(solfec, AUTO_SOLVER(1E-10), 0.5)
