# Granular column: a gate opens, and the column runs out
#
# Balls with friction against sliding and rolling settle in a channel between a back wall and a gate, which vanishes. Arguments:
# number of balls, duration:
#
#   solfec inp/tutorial/column.py 400 2.0

arguments = NON_SOLFEC_ARGV() or []
count = int(arguments[0]) if len(arguments) > 0 else 400
duration = float(arguments[1]) if len(arguments) > 1 else 2.0
width, radius = 0.6, 0.09 * (60.0 / count) ** (1 / 3.0)
opens = 0.25 * duration

solfec = SOLFEC('DYNAMIC', 2E-3, 'out/tutorial/column-%d' % count, contacts='MANIFOLD')
SURFACE_MATERIAL(solfec, friction=0.5, rolling_length=0.1 * radius)
stone = BULK_MATERIAL(solfec, density=2500.0)
GRAVITY(solfec, (0, 0, -9.81))

BODY(solfec, 'OBSTACLE', PLANE((1.5, width / 2, 0), (0, 0, 1), 4), stone, label='ground')
for y in (-0.05, width + 0.05):
    BODY(solfec, 'OBSTACLE', BOX((1.3, y, 0.6), (2.8, 0.1, 1.2)), stone, label='side %g' % y)
BODY(solfec, 'OBSTACLE', BOX((-0.05, width / 2, 0.6), (0.1, width, 1.2)), stone, label='back')
gate = BODY(solfec, 'OBSTACLE', BOX((width + 0.05, width / 2, 0.6), (0.1, width, 1.2)), stone, label='gate')
shapes = PACKING(count, (0, 0, 0), (width, width, 1.1), (0.66 * radius, radius))
balls = [BODY(solfec, 'RIGID', shape, stone) for shape in shapes]
calls = []


def pull():
    calls.append(solfec.time)
    if len(calls) == 2:
        DELETE(solfec, gate)


CALLBACK(solfec, opens, (), pull)
OUTPUT(solfec, duration / 50)
RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-3, 100), duration)

if solfec.mode == 'WRITE' and not VIEWER():
    inside = all(0 < ball.conf[10] < width and ball.conf[11] > 0 for ball in balls)
    beyond = sum(ball.conf[9] > width for ball in balls)
    print('%d of %d balls beyond the gate, %s' % (beyond, count, 'all in the channel' if inside else 'some outside of the channel'))
