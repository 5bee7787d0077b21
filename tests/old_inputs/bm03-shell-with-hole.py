# a quarter of a hemispherical shell with a hole, pulled and pushed at its equator; argument: 8 (hexahedra) or 6 (wedges)
from shapes import *
corners = int (NON_SOLFEC_ARGV () [0])

def place (i, j):
  (a, b) = (0.5 * pi * i, 0.4 * pi * j)
  return (10 * cos (b) * sin (a), 10 * sin (b), 10 * cos (b) * cos (a))

def create_simulation (step, stop, outstep):
  GEOMETRIC_EPSILON (1E-5)
  solfec = SOLFEC ('QUASI_STATIC', step, 'out/acceptance/bm03-%d-' % corners + str (step) + 's')
  s = Shape ().sheet ((10, 10), place).thicken (0.1)
  if corners == 6: s.wedges ()
  mesh = s.mesh ()
  bulk = BULK_MATERIAL (solfec, model = 'KIRCHHOFF', young = 62.8E+06, poisson = 0.3, density = 7.850E+00)
  body = BODY (solfec, 'FINITE_ELEMENT', mesh, bulk)
  C = place (0., 1.)
  FIX_DIRECTION (body, C, X)
  FIX_DIRECTION (body, C, Y)
  for j in range (10): FIX_DIRECTION (body, place (0., j / 10.), X)
  for j in range (11): FIX_DIRECTION (body, place (1., j / 10.), Z)
  (A, B) = (place (0., 0.), place (1., 0.))
  FORCE (body, 'SPATIAL', A, (0, 0, 1), -2)
  FORCE (body, 'SPATIAL', B, (1, 0, 0), 2)
  run (solfec, NEWTON_SOLVER (1E-10, 1000), stop, outstep)
  return (solfec, B)

read = first_body (create_simulation, 2E-2, 2.0, 5E-2)
if read:
  (body, B) = read
  value = abs (DISPLACEMENT (body, B) [0])
  if corners == 8: check ('DX', value, 1.16E-03, 0.01E-3 / 1.16E-03)
  else: check ('DX', value, 1.52E-04, 1E-6 / 1.52E-04)
