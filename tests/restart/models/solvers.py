"""A slanted wall of blocks under every solver, one directory each."""
solvers = [
    PENALTY_SOLVER('IMPLICIT'), PENALTY_SOLVER('EXPLICIT'), NEWTON_SOLVER(1E-8, 200), NEWTON_SOLVER(1E-6, 500, linver='DIAG'),
    AUTO_SOLVER(1E-8), GAUSS_SEIDEL_SOLVER(1E-6, 200, diagsolver='PROJECTED_GRADIENT'),
    GAUSS_SEIDEL_SOLVER(1E-6, 200, anderson='ON', islands='ON'), GAUSS_SEIDEL_SOLVER(1E-6, 200),
]
solvers[-1].reverse, solvers[-1].colouring = 'ON', 'ON'

def box(x, y, z, a=1.0, b=1.0, c=1.0):
    return HULL([w for k in (z, z + c) for j in (y, y + b) for i in (x, x + a) for w in (i, j, k)], 1, 1)

for number, solver in enumerate(solvers):
    solfec = SOLFEC('DYNAMIC', 1E-3, 'out/model-%d' % number)
    model = 'SPRING_DASHPOT' if number < 2 else 'SIGNORINI_COULOMB'
    SURFACE_MATERIAL(solfec, model=model, friction=0.4, spring=1E8, dashpot=-1)
    stone = BULK_MATERIAL(solfec, density=1000.0)
    GRAVITY(solfec, (3, 0, -9.81))
    BODY(solfec, 'OBSTACLE', box(-5, -5, -1, 10, 10, 1), stone)
    for k in range(3):
        BODY(solfec, 'RIGID', box(0.1 * k, 0, k), stone)
    INITIAL_VELOCITY(BODY(solfec, 'RIGID', box(-1.005, 0.1, 0.0005), stone), (1, 0, 0), (0, 0, 0.1))
    RUN(solfec, solver, int(NON_SOLFEC_ARGV()[0]) * 1E-3)
