"""A stone of 500 bonded cells that falls on an edge, for the picture in docs/fragmentation.md; `make.py --all` draws it, in five minutes."""
solfec = SOLFEC('DYNAMIC', 5E-5, 'out/stone', contacts='MANIFOLD')
stone = BULK_MATERIAL(solfec, density=2000)
SURFACE_MATERIAL(solfec, friction=0.5)
SURFACE_MATERIAL(solfec, 5, 5, model='COHESIVE', ft=1E6, Gf=100, friction=0.6, spring=3E11)
corners = [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1]
BODY(solfec, 'OBSTACLE', TRANSLATE(SCALE(HULL(corners, 1, 1), (9, 9, 1)), (-4, -4, -1)), stone)
whole = TRANSLATE(ROTATE(HULL(corners, 1, 2), (0.5, 0.5, 0.5), (1, 1, 0), 30), (0, 0, 0.29))
bodies = [BODY(solfec, 'RIGID', cell, stone) for cell in VORONOI(whole, 500, surfid=5, relax=2)]
for body in bodies:
    INITIAL_VELOCITY(body, (0, 0, -4), (0, 0, 0))
GRAVITY(solfec, (0, 0, -10))
solver = GAUSS_SEIDEL_SOLVER(1E-3, 5000)
energies, unsolved = [], []


def note():
    """Note kinetic energy and that of gravity after every step, and whether the step is solved."""
    energies.append(sum(ENERGY(body).kinetic + body.mass * 10 * body.conf[11] for body in bodies))
    unsolved.append(solver.error != 'OK')
    return 1


if solfec.mode == 'WRITE':
    CALLBACK(solfec, 5E-5, (), note)
OUTPUT(solfec, 6E-3)
RUN(solfec, solver, 0.06)
if energies:
    rise = max(later - earlier for earlier, later in zip(energies, energies[1:]))
    print('%d steps, %d of them unsolved; energy %.0f to %.0f J, largest rise in a step %.2f J' % (len(energies), sum(unsolved), energies[0], energies[-1], rise))
