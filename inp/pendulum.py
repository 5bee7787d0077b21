# Mathematical pendulum: the period of a swing of 90 degrees
#
# A unit mass on a rigid link of unit length is released from the horizontal.  With gravity pi^2 the period is
# 4 K(sin 45) / pi = 2.3607 s.  An argument sets the number of swings:
#
#   solfec inp/pendulum.py 10

from math import pi

arguments = NON_SOLFEC_ARGV()
swings = int(arguments[0]) if arguments else 1

solfec = SOLFEC('DYNAMIC', 1E-3, 'out/pendulum')
bulk = BULK_MATERIAL(solfec)
GRAVITY(solfec, (0, 0, -pi ** 2))

ball = BODY(solfec, 'RIGID', SPHERE((1, 0, 1), 0.05, 1, 1), bulk, label='ball')
BODY_CHARS(ball, 1.0, 1.0, (1, 0, 1), (1, 0, 0, 0, 1, 0, 0, 0, 1))
PUT_RIGID_LINK(ball, None, (1, 0, 1), (0, 0, 1))

turns = []  # times at which the vertical velocity changes its sign
previous = [0.0]


def watch(solfec, ball):
    vertical = ball.velo[5]
    if vertical * previous[0] <= 0.0:
        turns.append(solfec.time)
    previous[0] = vertical
    return 0 if len(turns) == 4 * swings + 1 else 1


CALLBACK(solfec, 1E-3, (solfec, ball), watch)
OUTPUT(solfec, 0.01)
RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-3, 1000), 2.5 * swings)

if solfec.mode == 'WRITE' and not VIEWER():
    print('period: %.4f s' % (turns[-1] / swings))
