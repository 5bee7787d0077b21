"""Rigid bars that fall, strike one another and crack: kills fall into the time over which tensions are averaged."""
solfec = SOLFEC('DYNAMIC', 1E-3, 'out/model')
SURFACE_MATERIAL(solfec, friction=0.3)
stone = BULK_MATERIAL(solfec, density=2000.0)
GRAVITY(solfec, (0, 0, -9.81))
nodes = [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1]
BODY(solfec, 'OBSTACLE', TRANSLATE(SCALE(HULL(nodes, 1, 1), (9, 9, 1)), (-4, -4, -1)), stone)
for k in range(5):
    shape = HULL(nodes, 1, 1) if k % 2 else HEX(nodes, 3, 1, 1, 1, [1] * 6)
    bar = BODY(solfec, 'RIGID', TRANSLATE(SCALE(shape, (1, 0.1, 0.1)), (0.2 * k, 0.03 * k, 0.002 + 0.103 * k)), stone, label='bar %d' % k)
    INITIAL_VELOCITY(bar, (0, 0, -0.5), (0, 4 - k, 0.3 * k))
    FORCE(bar, 'CONVECTED', (0.2 * k + 1, 0.03 * k + 0.05, 0.05 + 0.103 * k), (1, 0, 0), TIME_SERIES([0, 0, 0.02, 200]))
    for n, normal in enumerate([(1, 0, 0), (1, 0, 1), (0, 0, 1)]):
        SIMPLIFIED_CRACK(bar, (0.2 * k + 0.3 + 0.2 * n, 0.03 * k + 0.05, 0.052 + 0.103 * k), normal, (2, 3), 'TENSILE', ft=2E3 * (1 + k), average=4E-3 * (k % 3))
RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-6, 1000), int(NON_SOLFEC_ARGV()[0]) * 1E-3)
