# An array of cubes between four walls: unit cubes, 1 mm apart, settle on one another
#
# Arguments: cubes along a side, how they deform (RIGID, TL or BC: 2 x 2 x 2 finite elements, implicit), duration, solver (NEWTON or GAUSS_SEIDEL):
#
#   solfec inp/speed/array.py 8 RIGID 0.1
#   solfec inp/speed/array.py 8 RIGID 0.1 GAUSS_SEIDEL
#   solfec inp/speed/array.py 5 BC 0.1

given = NON_SOLFEC_ARGV() or ()
side = int(given[0]) if len(given) > 0 else 8
form = given[1] if len(given) > 1 else 'RIGID'
duration = float(given[2]) if len(given) > 2 else 0.1
method = given[3] if len(given) > 3 else 'NEWTON'
GAP = 1E-3  # m
if form not in ('RIGID', 'TL', 'BC'):
    raise ValueError('array.py: the second argument is %r; it must be RIGID, TL or BC' % form)
if method not in ('NEWTON', 'GAUSS_SEIDEL'):
    raise ValueError('array.py: the fourth argument is %r; it must be NEWTON or GAUSS_SEIDEL' % method)

array = SOLFEC('DYNAMIC', 1E-3, 'out/speed/array-%d-%s' % (side, form))
SURFACE_MATERIAL(array, model='SIGNORINI_COULOMB', friction=0.3)
stone = BULK_MATERIAL(array, model='KIRCHHOFF', young=1E9, poisson=0.25, density=2000)
GRAVITY(array, (0, 0, -9.81))


def box(low, high):
    """The corners of a box, as HULL and HEX take them."""
    return [c for z in (low[2], high[2]) for x, y in ((low[0], low[1]), (high[0], low[1]), (high[0], high[1]), (low[0], high[1])) for c in (x, y, z)]


length = side * (1 + GAP) + GAP
for low, high in (((-1, -1, -1), (length + 1, length + 1, 0)), ((-1, -1, 0), (0, length + 1, length)), ((length, -1, 0), (length + 1, length + 1, length)),
                  ((0, -1, 0), (length, 0, length)), ((0, length, 0), (length, length + 1, length))):
    BODY(array, 'OBSTACLE', HULL(box(low, high), 1, 1), stone)
for k in range(side):
    for j in range(side):
        for i in range(side):
            low = [GAP + (1 + GAP) * n for n in (i, j, k)]
            corners = box(low, [c + 1 for c in low])
            if form == 'RIGID':
                BODY(array, 'RIGID', HULL(corners, 2, 2), stone)
            else:
                body = BODY(array, 'FINITE_ELEMENT', HEX(corners, 2, 2, 2, 2, [2] * 6), stone, form=form)
                body.scheme = 'DEF_LIM'

OUTPUT(array, duration)
solver = NEWTON_SOLVER(1E-8) if method == 'NEWTON' else GAUSS_SEIDEL_SOLVER(1E-4, 200)
if method == 'GAUSS_SEIDEL':
    solver.colouring = 'ON'  # the same sweeps in any number of processes
RUN(array, solver, duration)

if array.mode == 'WRITE' and not VIEWER():
    print('%d bodies, %d constraints, kinetic energy %.3e J' % (array.nbod, array.ncon, ENERGY(array)[0]))
