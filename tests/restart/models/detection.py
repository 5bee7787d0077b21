"""Curved shapes, contacts found from a distance, patches, gap-aware materials, exclusions and sparsification."""
solfec = SOLFEC('DYNAMIC', 1E-3, 'out/model')
SURFACE_MATERIAL(solfec, friction=0.3, gap_aware=0.02)
stone = BULK_MATERIAL(solfec, density=1000.0)
GRAVITY(solfec, (0, 0, -9.81))
CONTACT_OPTIONS(solfec, margin=0.01, patch='ON', seams='OFF')
CONTACT_SPARSIFY(solfec, 0.05, 1E-8, 1E-3)
CONTACT_EXCLUDE_SURFACES(solfec, 3, 3)

def box(x, y, z, a, b, c, surface=1):
    return HULL([w for k in (z, z + c) for j in (y, y + b) for i in (x, x + a) for w in (i, j, k)], 1, surface)

BODY(solfec, 'OBSTACLE', box(-5, -5, -1, 10, 10, 1), stone)
for k in range(3):
    BODY(solfec, 'RIGID', [box(0, 0, 1.001 * k, 1, 1, 1), box(1, 0, 1.001 * k, 1, 1, 1)], stone)
    INITIAL_VELOCITY(BODY(solfec, 'RIGID', ELLIP((-2 + k, -2, 0.4 + 0.5 * k), (0.6, 0.3, 0.3), 1, 3), stone), (0.1, 0, -1), (0, 1, k))
    INITIAL_VELOCITY(BODY(solfec, 'RIGID', SPHERE((3, -1 + 0.5 * k, 0.305), 0.3, 1, 2), stone), (0, 0, -1), (3, 0, 0))
RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-5, 100), int(NON_SOLFEC_ARGV()[0]) * 1E-3)
