# an octant of a thin spherical shell pulled by two forces, or pressed from within; argument: force or pressure
from shapes import *
from math import tan
kind = NON_SOLFEC_ARGV () [0]

def unit (p):
  l = sqrt (sum ([x * x for x in p]))
  return [x / l for x in p]

def patch (axis):
  def place (i, j):
    d = unit ((1., tan (0.25 * pi * i), tan (0.25 * pi * j)))
    return [10 * x for x in d [3 - axis:] + d [:3 - axis]]
  return place

s = Shape ()
for axis in (0, 1, 2): s.sheet ((4, 4), patch (axis))
inner = range (len (s.nodes) / 3)
s.thicken (0.4)

def create_simulation (step, stop, outstep):
  GEOMETRIC_EPSILON (1E-5)
  solfec = SOLFEC ('QUASI_STATIC', step, 'out/acceptance/bm01-%s-' % kind + str (step) + 's')
  mesh = s.mesh ((11, lambda p: sqrt (sum ([x * x for x in p])) < 10.001))
  bulk = BULK_MATERIAL (solfec, model = 'KIRCHHOFF', young = 210E+09, poisson = 0.3, density = 7.850E+03)
  (A, B, C) = ((10., 0, 0), (0, 10., 0), (0, 0, 10.))
  body = BODY (solfec, 'FINITE_ELEMENT', mesh, bulk)
  FIX_POINT (body, C)
  for n in inner:
    p = s.point (n)
    if near (p [1], 0) and not near (p [2], 10): FIX_DIRECTION (body, p, Y)
    if near (p [0], 0) and not near (p [2], 10): FIX_DIRECTION (body, p, X)
  if kind == 'force':
    FORCE (body, 'SPATIAL', A, (1, 0, 0), 2E+06)
    FORCE (body, 'SPATIAL', B, (0, -1, 0), 2E+06)
  else: PRESSURE (body, 11, -2E+06)
  run (solfec, NEWTON_SOLVER (1E-10, 1000), stop, outstep)
  return (solfec, A)

read = first_body (create_simulation, 5E-3, 1.0, 5E-2)
if read:
  (body, A) = read
  if kind == 'force': check ('DX', DISPLACEMENT (body, A) [0], 0.02134, 1E-5 / 0.02134)
  else: check ('DX', DISPLACEMENT (body, A) [0], 0.00466, 2E-4 / 0.00466)
