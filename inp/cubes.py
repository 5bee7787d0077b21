# Box drop: n x n x n cubes fall on a floor
#
# Unit cubes start with gaps of 5 mm between layers and come to rest as columns.  Arguments: cubes per side,
# duration:
#
#   solfec inp/cubes.py 4 0.5

arguments = NON_SOLFEC_ARGV() or []
n = int(arguments[0]) if len(arguments) > 0 else 4
duration = float(arguments[1]) if len(arguments) > 1 else 0.5
gap, spacing = 0.005, 1.5

solfec = SOLFEC('DYNAMIC', 1E-3, 'out/cubes/%d' % n, contacts='MANIFOLD')
SURFACE_MATERIAL(solfec, friction=0.5)
bulk = BULK_MATERIAL(solfec, density=1000.0)
GRAVITY(solfec, (0, 0, -9.81))

size = n * spacing
floor = [c for z in (-1, 0) for y in (-2, size + 2) for x in (-2, size + 2) for c in (x, y, z)]
BODY(solfec, 'OBSTACLE', HULL(floor, 1, 1), bulk, label='floor')
cube = HULL([c for z in (0, 1) for y in (0, 1) for x in (0, 1) for c in (x, y, z)], 2, 2)
for k in range(n):
    for j in range(n):
        for i in range(n):
            place = (i * spacing, j * spacing, gap + k * (1 + gap))
            BODY(solfec, 'RIGID', TRANSLATE(COPY(cube), place), bulk)

OUTPUT(solfec, duration / 50)
RUN(solfec, AUTO_SOLVER(1E-6), duration)

if solfec.mode == 'WRITE' and not VIEWER():
    print('%d bodies, %d constraints, kinetic energy %.3e' % (solfec.nbod, solfec.ncon, ENERGY(solfec)[0]))
