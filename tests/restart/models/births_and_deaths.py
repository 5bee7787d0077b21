"""A callback that makes and deletes bodies, joints and loads, and changes materials, gravity, detection and the solver."""
solfec = SOLFEC('DYNAMIC', 1E-3, 'out/model')
SURFACE_MATERIAL(solfec, friction=0.3)
stone = BULK_MATERIAL(solfec, density=1000.0)
GRAVITY(solfec, (0, 0, -9.81))
EXTENTS(solfec, (-5, -5, -5, 5, 5, 5))
corners = [c for z in (-1, 0) for y in (-4, 4) for x in (-4, 4) for c in (x, y, z)]
floor = BODY(solfec, 'OBSTACLE', HULL(corners, 1, 1), stone)
doomed = BODY(solfec, 'RIGID', SPHERE((3, 0, 0.1), 0.1, 1, 1), stone, label='doomed')
FORCE(doomed, 'SPATIAL', (3, 0, 0.1), (1, 0, 0), 1.0)
leaver = BODY(solfec, 'RIGID', SPHERE((4.5, 0, 3), 0.1, 1, 1), stone)
INITIAL_VELOCITY(leaver, (25, 0, 0), (0, 0, 0))
gs = GAUSS_SEIDEL_SOLVER(1E-5, 100)

def change():
    n = round(solfec.time * 1000)
    ball = BODY(solfec, 'RIGID', SPHERE((0.3 * (n % 5), 0.1 * n, 0.099), 0.1, 2, 2), stone, label='born at %d' % n)
    INITIAL_VELOCITY(ball, (0.1 * n, 0, -1), (0, 0, 1))
    if n >= 10 and BYLABEL(solfec, 'BODY', 'doomed'):
        DELETE(solfec, BYLABEL(solfec, 'BODY', 'doomed'))
        SET_VELOCITY(ball, ball.center, (0, 1, 0), TIME_SERIES([0, 0, 0.1 + 0.001 * n, 1]))
        FORCE(ball, 'SPATIAL', ball.center, (1, 0, 0), TIME_SERIES([0, 0, 0.1, 500]))
        GRAVITY(solfec, (0, TIME_SERIES([0, 0, 0.1, 1]), -9.0))
        SURFACE_MATERIAL(solfec, 1, 2, friction=0.1, label='smooth')
        BULK_MATERIAL(solfec, label='light', density=100.0)
        CONTACT_SPARSIFY(solfec, 0.1, 0, 1E-4)
        CONTACT_EXCLUDE_OBJECTS(floor, (0, 0, -0.5), ball, ball.center)
        gs.epsilon, gs.reverse = 1E-7, 'ON'
    if n >= 20 and solfec.nbod < 9:
        OUTPUT(solfec, 0)

CALLBACK(solfec, 5E-3, (), change)
RUN(solfec, gs, int(NON_SOLFEC_ARGV()[0]) * 1E-3)
