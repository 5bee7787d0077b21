"""Contacts of 'MANIFOLD': blocks, a body of convexes and a mesh that slide over seams, and a margin that follows the primitives."""
solfec = SOLFEC('DYNAMIC', 1E-3, 'out/model', contacts='MANIFOLD')
SURFACE_MATERIAL(solfec, friction=0.3, restitution=0.2)
stone = BULK_MATERIAL(solfec, density=1000.0, young=1E6, poisson=0.2)
GRAVITY(solfec, (0, 0, -9.81))

def box(x, y, z, a, b, c):
    return HULL([w for k in (z, z + c) for j in (y, y + b) for i in (x, x + a) for w in (i, j, k)], 1, 1)

for k in range(4):
    BODY(solfec, 'OBSTACLE', box(-2 + k, -2, -1, 1, 4, 1), stone)
for k in range(3):
    BODY(solfec, 'RIGID', [box(0, 0, 0.501 * k, 0.5, 0.5, 0.5), box(0.5, 0, 0.501 * k, 0.5, 0.5, 0.5)], stone)
slider = BODY(solfec, 'RIGID', ROTATE(box(-1.5, -1, 0.02, 0.5, 0.5, 0.3), (-1.5, -1, 0.02), (0, 1, 0), -3), stone)
INITIAL_VELOCITY(slider, (2, 0, 0), (0, 0, 1))
corners = [c for z in (0.005, 0.305) for x, y in ((-1, 0), (-0.5, 0), (-0.5, 0.5), (-1, 0.5)) for c in (x, y, z)]
block = BODY(solfec, 'FINITE_ELEMENT', HEX(corners, 2, 2, 1, 1, [1] * 6), stone)
INITIAL_VELOCITY(block, (1, 0, 0), (0, 0, 0))
RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-5, 100), int(NON_SOLFEC_ARGV()[0]) * 1E-3)
