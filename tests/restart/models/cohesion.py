"""Glued blocks of rigid and pseudo-rigid bodies, pulled: some contacts hold, some come off for good."""
solfec = SOLFEC('DYNAMIC', 1E-3, 'out/model')
SURFACE_MATERIAL(solfec, friction=0.5, cohesion=1000.0)
SURFACE_MATERIAL(solfec, 2, 2, model='SPRING_DASHPOT', spring=1E6, dashpot=-1, cohesion=10.0, friction=0.2)
bulk = BULK_MATERIAL(solfec, young=1E6, density=10.0)

def box(x, z, surface, kind='RIGID'):
    return BODY(solfec, kind, HULL([c for k in (z, z + 1) for j in (0, 1) for i in (x, x + 1) for c in (i, j, k)], 1, surface), bulk)

for k, surface in enumerate((1, 2)):
    box(3 * k, -1, surface, 'OBSTACLE')
    for kind, z in (('RIGID', 0), ('PSEUDO_RIGID', 1)):
        body = box(3 * k, z, surface, kind)
        FORCE(body, 'SPATIAL', (3 * k + 0.5, 0.5, z + 0.5), (0, 0, 1), TIME_SERIES([0, 0, 0.03, (900, 18)[k]]))
RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-6, 1000), int(NON_SOLFEC_ARGV()[0]) * 1E-3)
