# a quarter of a circular plate held along the upper edge, under pressure; arguments: 8 (hexahedra) or 6 (wedges), divisions
from shapes import *
args = NON_SOLFEC_ARGV ()
(corners, side) = (int (args [0]), int (args [1]))

def square (i, j, k): return (0.5 * i, 0.5 * j, -0.01 + 0.01 * k)

def outside (i, j, k):
  a = 0.25 * pi * j
  (x, y) = (0.5, 0.5 * j)
  return (x + i * (cos (a) - x), y + i * (sin (a) - y), -0.01 + 0.01 * k)

def mirrored (i, j, k):
  (y, x, z) = outside (j, i, k)
  return (x, y, z)

def create_simulation (step, stop, outstep):
  GEOMETRIC_EPSILON (1E-5)
  solfec = SOLFEC ('QUASI_STATIC', step, 'out/acceptance/bm02-%d-%d-' % (corners, side) + str (step) + 's')
  s = Shape ()
  for place in (square, outside, mirrored): s.block ((side, side, 1), place)
  if corners == 6: s.wedges ()
  mesh = s.mesh ((11, lambda p: near (p [2], 0)))
  bulk = BULK_MATERIAL (solfec, model = 'KIRCHHOFF', young = 62.80E+09, poisson = 0.3, density = 7.850E+03)
  body = BODY (solfec, 'FINITE_ELEMENT', mesh, bulk)
  for n in s.where (lambda p: near (p [2], 0)):
    p = s.point (n)
    if near (p [0] ** 2 + p [1] ** 2, 1): FIX_POINT (body, p)
    else:
      if near (p [1], 0): FIX_DIRECTION (body, p, Y)
      if near (p [0], 0): FIX_DIRECTION (body, p, X)
  PRESSURE (body, 11, -1E+03)
  run (solfec, NEWTON_SOLVER (1E-10, 1000), stop, outstep)
  return solfec

body = first_body (create_simulation, 5E-3, 1.0, 5E-2)
if body:
  value = abs (DISPLACEMENT (body, (0, 0, 0)) [2])
  if corners == 8: check ('DZ', value, 3.02E-03, 0.1E-3 / 3.02E-03)
  else: check ('DZ', value, 4.28E-04, 1E-6 / 4.28E-04)
