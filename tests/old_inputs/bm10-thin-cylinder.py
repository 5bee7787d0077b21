# a quarter of a thin cylinder under axial forces, or under its weight; argument: force or gravity
from shapes import *
kind = NON_SOLFEC_ARGV () [0]
(R, L, t) = (1.0, 4.0, 0.01)

def surface (s):
  # a point of the middle surface and what goes at right angles through the facets that meet there
  a = 0.5 * pi * s
  (b, f) = (a, 1 / cos (0.025 * pi))
  if s == 0: (b, f) = (0.025 * pi, 1)
  if s == 1: (b, f) = (0.475 * pi, 1)
  return (R * cos (a), R * sin (a), f * cos (b), f * sin (b))

def place (i, j, k):
  (x, y, nx, ny) = surface (i)
  d = (2 * k - 1) * t
  return (x + d * nx, y + d * ny, L * j)

def create_simulation (step, stop, outstep):
  GEOMETRIC_EPSILON (1E-8)
  solfec = SOLFEC ('QUASI_STATIC', step, 'out/acceptance/bm10-%s-' % kind + str (step) + 's')
  s = Shape ().block ((10, 20, 2), lambda i, j, k: place (i, j, k))
  mesh = s.mesh ()
  bulk = BULK_MATERIAL (solfec, model = 'KIRCHHOFF', young = 2.1E+11, poisson = 0.3, density = 7.82E+03)
  body = BODY (solfec, 'FINITE_ELEMENT', mesh, bulk)
  for j in range (21):
    for i in (0., 1.): FIX_DIRECTION (body, place (i, j / 20., 0.5), Y)
  for i in range (11): FIX_DIRECTION (body, place (i / 10., 0., 0.5), Z)
  FIX_DIRECTION (body, place (1., 0., 0.5), X)
  if kind == 'force':
    for i in range (11):
      f = 1178.1
      if i in (0, 10): f = 785.4
      FORCE (body, 'SPATIAL', place (i / 10., 1., 0.5), (0., 0., 1.), f)
  else: GRAVITY (solfec, (0, 0, -10))
  run (solfec, NEWTON_SOLVER (1E-12, locdyn = 'OFF'), stop, outstep)
  return solfec

body = first_body (create_simulation, 5E-4, 0.1, 0.01)
if body:
  for i in range (10):
    p = place (i / 10., 1., 0.5)
    print 'at', 221 + i, repr (DISPLACEMENT (body, p) [2]), repr (STRESS (body, p) [2])
