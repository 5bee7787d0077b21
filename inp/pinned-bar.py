# Pinned bar: a compound pendulum on two fixed points
#
# A slender bar hung a quarter of its length below the upper end is released 30 degrees off the vertical.  Below
# the pivot a thin rod has angular velocity 2.121.  An argument sets the step:
#
#   solfec inp/pinned-bar.py 0.001

arguments = NON_SOLFEC_ARGV()
step = float(arguments[0]) if arguments else 1E-3

solfec = SOLFEC('DYNAMIC', step, 'out/pinned-bar')
bulk = BULK_MATERIAL(solfec, young=200E9, poisson=0.3, density=1.0)
GRAVITY(solfec, (0, 0, -9.8))

a = 0.05
bar = HEX([-a, -a, 0, a, -a, 0, a, a, 0, -a, a, 0,
           -a, -a, 1, a, -a, 1, a, a, 1, -a, a, 1], 1, 1, 1, 1, [1] * 6)
ROTATE(bar, (0, 0, 0.75), (0, 1, 0), -30)
body = BODY(solfec, 'RIGID', bar, bulk, label='bar')
FIX_POINT(body, (0, -a, 0.75))
FIX_POINT(body, (0, a, 0.75))


def below_pivot(body):
    return 0 if body.conf[9] <= 0.0 else 1


CALLBACK(solfec, step, body, below_pivot)
OUTPUT(solfec, 0.01)
RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-3, 1000), 0.5)

if solfec.mode == 'WRITE' and not VIEWER():
    print('angular velocity below the pivot: %.4f' % body.velo[1])
