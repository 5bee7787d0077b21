# A cube on a spring of the explicit engine, and another one that falls on it: an impact without restitution, then they swing together
# with half the frequency squared, until they part again.
import math, os

step, stop, gap, k, g = 1E-3, 0.5, 0.1, 100.0, 10.0
nodes = [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1]

solfec = SOLFEC ('DYNAMIC', step, 'out/two-cubes')
SURFACE_MATERIAL (solfec, model = 'SIGNORINI_COULOMB', friction = 0.3)
bulk = BULK_MATERIAL (solfec, density = 1.0)
lower = BODY (solfec, 'RIGID', HEX (nodes, 1, 1, 1, 1, [1]*6), bulk)
upper = BODY (solfec, 'RIGID', TRANSLATE (HEX (nodes, 1, 1, 1, 1, [1]*6), (0, 0, 1 + gap)), bulk)
GRAVITY (solfec, (0, 0, -g))

# the explicit input knows the names of this one
here = os.path.dirname (os.path.abspath (__file__))
hybrid = HYBRID_SOLVER (os.path.join (here, 'two-cubes-spring.py'), 2.5E-4, {0: lower.id}, GAUSS_SEIDEL_SOLVER (1E-6, 100))

places = []
def note ():
  places.append ((solfec.time, lower.conf[11] - 0.5, upper.conf[11] - 1.5 - gap))
  return 1
CALLBACK (solfec, step, (), note)
RUN (solfec, hybrid, stop)

if solfec.mode == 'WRITE' and not VIEWER():
  touch = [t for t, a, b in places if gap + b - a < 1E-3][0]
  print ('first contact at %.3f s; lowest by %.3f' % (touch, -min (a for t, a, b in places)))
