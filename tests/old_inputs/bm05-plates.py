# five square plates of different thickness in one body, held along two edges of the upper face, pushed down at the opposite corner
from shapes import *
PLATES = ((0.1, -4.0984E-05, 0.00023), (0.05, -2.8612E-04, 0.0033), (0.025, -2.0862E-03, 0.038), (0.015, -9.2098E-03, 0.01224), (0.01, -3.0381E-02, 0.46))

def create_simulation (step, stop, outstep):
  GEOMETRIC_EPSILON (1E-5)
  solfec = SOLFEC ('QUASI_STATIC', step, 'out/acceptance/bm05-' + str (step) + 's')
  s = Shape ()
  for (n, (t, dz, tolerance)) in enumerate (PLATES):
    s.block ((15, 15, 1), lambda i, j, k: (1.5 * n + i, j, (k - 1) * t))
  mesh = s.mesh ()
  bulk = BULK_MATERIAL (solfec, model = 'KIRCHHOFF', young = 2.1E+11, poisson = 0.3, density = 7.820E+03)
  body = BODY (solfec, 'FINITE_ELEMENT', mesh, bulk)
  for m in s.where (lambda p: near (p [2], 0)):
    p = s.point (m)
    x = p [0] - 1.5 * int (p [0] / 1.5 + 1E-6)
    if near (x, 0) or near (p [1], 0): FIX_POINT (body, p)
    else:
      if near (x, 1): FIX_DIRECTION (body, p, X)
      if near (p [1], 1): FIX_DIRECTION (body, p, Y)
      if near (x, 1) and near (p [1], 1): FORCE (body, 'SPATIAL', p, (0, 0, 1), -2500.)
  run (solfec, NEWTON_SOLVER (1E-10, delta = 1E-6, locdyn = 'OFF'), stop, outstep)
  return solfec

body = first_body (create_simulation, 1E-3, 0.1, 0.01)
if body:
  for (n, (t, dz, tolerance)) in enumerate (PLATES):
    check ('DZ %g' % t, DISPLACEMENT (body, (1.5 * n + 1, 1, 0)) [2], dz, tolerance)
