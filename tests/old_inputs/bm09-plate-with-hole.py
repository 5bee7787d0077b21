# a quarter of a plate with a hole, pulled by forces at its edge
from shapes import *
(x0, y0, r, side) = (-0.084064, -0.053436, 0.01, 0.1)

def grade (t): return 0.206709 * t + 0.10843 * t ** 2 + 0.684861 * t ** 3

def place (i, j, k):
  # i from the hole, j around it
  a = 0.5 * pi * j
  if j <= 0.5: (x, y) = (side, 2 * side * j)
  else: (x, y) = (2 * side * (1 - j), side)
  t = grade (i)
  return (x0 + (1 - t) * r * cos (a) + t * x, y0 + (1 - t) * r * sin (a) + t * y, 0.001 * k)

def create_simulation (step, stop, outstep):
  GEOMETRIC_EPSILON (1E-10)
  solfec = SOLFEC ('QUASI_STATIC', step, 'out/acceptance/bm09-' + str (step) + 's')
  s = Shape ().block ((10, 10, 1), place, 1E-9)
  mesh = s.mesh ()
  bulk = BULK_MATERIAL (solfec, model = 'KIRCHHOFF', young = 3.0E+10, poisson = 0.25, density = 7.82E+03)
  body = BODY (solfec, 'FINITE_ELEMENT', mesh, bulk)
  for k in (0., 1.):
    for i in range (11):
      for j in range (11):
        p = s.point (s.find (place (i / 10., j / 10., k)))
        if j == 0: FIX_DIRECTION (body, p, Y)
        elif j == 10: FIX_DIRECTION (body, p, X)
        else: FIX_DIRECTION (body, p, Z)
    for j in range (5, 11):
      f = 25
      if j in (5, 10): f = 12.5
      FORCE (body, 'SPATIAL', s.point (s.find (place (1., j / 10., k))), (0., 1., 0.), f)
  run (solfec, NEWTON_SOLVER (1E-9), stop, outstep)
  return solfec

body = first_body (create_simulation, 2E-4, 0.004, 0.001)
if body:
  for (j, reference, tolerance) in ((0., (5.26E+05, 7.46E+06, -9.22E+05), (0.13, 0.035, 0.76)),
      (0.5, (5.27E+05, 2.40E+06, 7.31E+05), (0.36, 0.096, 0.84)), (1., (-2.31E+06, -1.33E+05, 2.95E+05), (0.0064, 0.43, 0.83))):
    stress = STRESS (body, place (0., j, 0.))
    for c in range (3): check ('S' + 'XYZ' [c], stress [c], reference [c], tolerance [c])
