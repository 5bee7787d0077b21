# Dominoes of finite elements, implicit: a long step carries them over many waves of stress
#
# Arguments: dominoes, elements along their height, duration:
#
#   solfec inp/speed/dominoes.py 20 8 0.2

given = NON_SOLFEC_ARGV() or ()
count, cells = (int(given[k]) if len(given) > k else default for k, default in enumerate((20, 8)))
duration = float(given[2]) if len(given) > 2 else 0.2
THICK, WIDTH, HEIGHT, PITCH = 0.02, 0.05, 0.1, 0.05  # m

row = SOLFEC('DYNAMIC', 1E-3, 'out/speed/dominoes-%d-%d' % (count, cells))
SURFACE_MATERIAL(row, model='SIGNORINI_COULOMB', friction=0.3)
wood = BULK_MATERIAL(row, model='KIRCHHOFF', young=1E9, poisson=0.3, density=700)
GRAVITY(row, (0, 0, -9.81))


def box(low, high):
    """The corners of a box, as HULL and HEX take them."""
    return [c for z in (low[2], high[2]) for x, y in ((low[0], low[1]), (high[0], low[1]), (high[0], high[1]), (low[0], high[1])) for c in (x, y, z)]


BODY(row, 'OBSTACLE', HULL(box((-0.2, -0.1, -0.1), (PITCH * count + 0.2, WIDTH + 0.1, 0)), 1, 1), wood, label='ground')
for k in range(count):
    corners = box((PITCH * k, 0, 0), (PITCH * k + THICK, WIDTH, HEIGHT))
    body = BODY(row, 'FINITE_ELEMENT', HEX(corners, 2, max(cells // 2, 1), cells, 2, [2] * 6), wood, form='BC')
    body.scheme = 'DEF_LIM'
    if k == 0:
        INITIAL_VELOCITY(body, (0.3, 0, 0), (0, 6.0, 0))

OUTPUT(row, duration)
RUN(row, NEWTON_SOLVER(1E-8), duration)

if row.mode == 'WRITE' and not VIEWER():
    print('%d bodies, %d constraints, kinetic energy %.3e J' % (row.nbod, row.ncon, ENERGY(row)[0]))
