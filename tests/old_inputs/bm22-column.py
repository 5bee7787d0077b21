# a slanted column, fixed at its foot, shaken by a harmonic force at its middle; argument: 5, 20 or 100 Hz
from shapes import *
from math import sin
hz = int (NON_SOLFEC_ARGV () [0])
u = [0.02 * x for x in (1 / sqrt (3), 0.5 - 0.5 / sqrt (3), -0.5 - 0.5 / sqrt (3))]
v = [u [0], u [2], u [1]]
w = 0.5 / sqrt (3)

def place (i, j, k): return tuple ([10 + (2*i - 1) * a + (2*j - 1) * b + w * k for (a, b) in zip (u, v)])

def force (period, points):
  data = []
  for k in range (points): data += [(k + 1) * period / 37, 5E5 * sin (3.1416 * k / 18.)]
  return TIME_SERIES (data)

def create_simulation (step, stop, outstep):
  GEOMETRIC_EPSILON (1E-8)
  solfec = SOLFEC ('DYNAMIC', step, 'out/acceptance/bm22-%d-' % hz + str (step) + 's')
  s = Shape ().block ((2, 2, 30), lambda i, j, k: place (1 - i, j, k), 1E-7)
  mesh = s.mesh ()
  bulk = BULK_MATERIAL (solfec, model = 'KIRCHHOFF', young = 2.0E+11, poisson = 0.3, density = 7.8E+03)
  body = BODY (solfec, 'FINITE_ELEMENT', mesh, bulk, form = 'BC')
  body.scheme = 'DEF_LIM'
  for i in range (3):
    for j in range (3): FIX_POINT (body, place (i / 2., j / 2., 0.))
  FORCE (body, 'SPATIAL', place (0.5, 0.5, 0.5), (1., 0., 0.), force ({5: 0.2, 20: 0.05, 100: 0.01} [hz], 740))
  run (solfec, GAUSS_SEIDEL_SOLVER (1E-6, 1000, 1E-6), stop, outstep)
  return solfec

(step, stop) = {5: (1E-4, 0.4), 20: (1E-4, 0.2), 100: (1E-5, 0.2)} [hz]
solfec = write_and_read (create_simulation, step, stop, stop / 10.)
if solfec:
  body = solfec.bodies [0]
  his = HISTORY (solfec, [(body, place (0.5, 0.5, 1.), 'DX'), (body, place (0.5, 0.5, 1.), 'VX')], 0, stop)
  print
  print 'volume', repr (body.volume), 'mass', repr (body.mass)
  print 'DX', ' '.join (map (repr, his [1]))
  print 'VX', ' '.join (map (repr, his [2]))
