# Dominoes of finite elements, implicit: a long step carries them over many waves of stress
#
# Arguments: dominoes, elements along their height, duration, solver (GAUSS_SEIDEL or NEWTON):
#
#   solfec inp/speed/dominoes.py 10 10 0.2 GAUSS_SEIDEL

given = NON_SOLFEC_ARGV() or ()
count, cells = (int(given[k]) if len(given) > k else default for k, default in enumerate((10, 10)))
duration = float(given[2]) if len(given) > 2 else 0.2
solver = given[3] if len(given) > 3 else 'GAUSS_SEIDEL'
STEP, THICK, WIDTH, HEIGHT, PITCH = 1E-3, 0.02, 0.07, 0.25, 0.06  # s, m

row = SOLFEC('DYNAMIC', STEP, 'out/speed/dominoes-%d-%d-%s' % (count, cells, solver))
SURFACE_MATERIAL(row, model='SIGNORINI_COULOMB', friction=0.2)
stone = BULK_MATERIAL(row, model='KIRCHHOFF', young=15E9, poisson=0.3, density=1800)
GRAVITY(row, (0, 0, -9.81))


def box(low, high):
    """The corners of a box, as HULL and HEX take them."""
    return [c for z in (low[2], high[2]) for x, y in ((low[0], low[1]), (high[0], low[1]), (high[0], high[1]), (low[0], high[1])) for c in (x, y, z)]


BODY(row, 'OBSTACLE', HULL(box((-0.3, -0.1, -0.1), (PITCH * count + 0.3, WIDTH + 0.1, 0)), 1, 1), stone, label='ground')
for k in range(count):
    corners = box((PITCH * k, 0, 0), (PITCH * k + THICK, WIDTH, HEIGHT))
    body = BODY(row, 'FINITE_ELEMENT', HEX(corners, 3, 4, cells, 2, [2] * 6), stone, form='BC')
    body.scheme = 'DEF_LIM'
    body.damping = STEP
    if k == 0:
        push = SET_VELOCITY(body, (0, 0.5 * WIDTH, HEIGHT), (1, 0, 0), 1)  # m/s, for a moment

method = GAUSS_SEIDEL_SOLVER(1E-3, 200) if solver == 'GAUSS_SEIDEL' else NEWTON_SOLVER(1E-8)
OUTPUT(row, duration)
RUN(row, method, min(0.025, duration))
DELETE(row, push)
if duration > 0.025:
    RUN(row, method, duration - 0.025)

if row.mode == 'WRITE' and not VIEWER():
    print('%d bodies, %d constraints, kinetic energy %.3e J' % (row.nbod, row.ncon, ENERGY(row)[0]))
