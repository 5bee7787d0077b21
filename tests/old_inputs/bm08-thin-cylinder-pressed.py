# a quarter of a thin cylinder under internal pressure
from shapes import *

def place (i, j, k):
  (a, b, t) = (0.5 * pi * i, 0.5 * pi * i, 0.02 * k / cos (pi / 80))
  if i == 0: (b, t) = (pi / 80, 0.02 * k)
  if i == 1: (b, t) = (0.5 * pi - pi / 80, 0.02 * k)
  return (sin (a) + t * sin (b), cos (a) + t * cos (b), 2 * j)

def create_simulation (step, stop, outstep):
  GEOMETRIC_EPSILON (1E-5)
  solfec = SOLFEC ('QUASI_STATIC', step, 'out/acceptance/bm08-' + str (step) + 's')
  s = Shape ().block ((20, 20, 1), lambda i, j, k: place (1 - i, j, k))
  mesh = s.mesh ((11, lambda p: sqrt (p [0] ** 2 + p [1] ** 2) < 1.01))
  bulk = BULK_MATERIAL (solfec, model = 'KIRCHHOFF', young = 2.1E+11, poisson = 0.3, density = 7.820E+03)
  body = BODY (solfec, 'FINITE_ELEMENT', mesh, bulk)
  for j in range (21): FIX_DIRECTION (body, place (0., j / 20., 0.), X)
  FIX_DIRECTION (body, place (0., 0., 0.), Y)
  for j in range (21): FIX_DIRECTION (body, place (1., j / 20., 0.), Y)
  for i in range (21): FIX_DIRECTION (body, place (i / 20., 0., 0.), Z)
  PRESSURE (body, 11, -1.0E+04)
  run (solfec, NEWTON_SOLVER (1E-12, delta = 1E-8, locdyn = 'OFF'), stop, outstep)
  return (solfec, place (9 / 20., 0.5, 0.))

(step, stop, outstep) = (1E-3, 0.2, 0.01)
read = write_and_read (create_simulation, step, stop, outstep)
if read:
  (solfec, point) = read
  SEEK (solfec, stop)
  body = solfec.bodies [0]
  print
  print 'volume', repr (body.volume), 'constraints', solfec.ncon, point
  stress = STRESS (body, point)
  for (k, reference, tolerance) in ((0, 4.97435E+05, 0.00093), (1, 3.88269E+05, 0.0012), (2, 1.17299E+05, 0.0035)):
    check ('S' + 'XYZ' [k], stress [k], reference, tolerance)
