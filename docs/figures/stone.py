"""A stone of 500 bonded cells that falls on an edge, for the picture in docs/fragmentation.md; `make.py --all` draws it, in six minutes."""
solfec = SOLFEC('DYNAMIC', 1E-4, 'out/stone', contacts='MANIFOLD')
stone = BULK_MATERIAL(solfec, density=2000)
SURFACE_MATERIAL(solfec, friction=0.5)
SURFACE_MATERIAL(solfec, 5, 5, model='COHESIVE', ft=1E6, Gf=100, friction=0.6)
corners = [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1]
BODY(solfec, 'OBSTACLE', TRANSLATE(SCALE(HULL(corners, 1, 1), (9, 9, 1)), (-4, -4, -1)), stone)
whole = TRANSLATE(ROTATE(HULL(corners, 1, 2), (0.5, 0.5, 0.5), (1, 1, 0), 30), (0, 0, 0.29))
bodies = [BODY(solfec, 'RIGID', cell, stone) for cell in VORONOI(whole, 500, surfid=5, relax=2)]
for body in bodies:
    INITIAL_VELOCITY(body, (0, 0, -4), (0, 0, 0))
GRAVITY(solfec, (0, 0, -10))
OUTPUT(solfec, 6E-3)
RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-3, 300), 0.06)
