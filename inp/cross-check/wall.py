"""A wall of twenty blocks in running bond: a force pushes the last block of the top row over the row below, and the first one tips over its edge."""

solfec = SOLFEC('DYNAMIC', 1E-3, 'out/cross-check/wall', contacts='MANIFOLD')
SURFACE_MATERIAL(solfec, friction=0.5)
stone = BULK_MATERIAL(solfec, density=2000, label='stone')
GRAVITY(solfec, (0, 0, -9.81))

BODY(solfec, 'OBSTACLE', BOX((2, 0, -0.2), (6, 4, 0.4)), stone, label='ground')
for row in range(5):
    for k in range(4):
        block = BODY(solfec, 'RIGID', BOX((0.8 * k + 0.4 * (row % 2) + 0.395, 0.2, 0.3 * row + 0.15), (0.79, 0.4, 0.3)), stone, label='block %d.%d' % (row, k))
weight = 2000 * 0.79 * 0.4 * 0.3 * 9.81
FORCE(block, 'SPATIAL', (0.8 * 3 + 0.395, 0.2, 1.35), (0, 1, 0), 1.05 * 0.5 * weight)
RUN(solfec, AUTO_SOLVER(1E-10), 0.5)
