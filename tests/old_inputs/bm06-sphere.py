# an octant of a thick sphere under internal pressure, held at its corners and odd edges; hexahedra and wedges at the pole
from shapes import *

def place (i, j, k):
  (a, b, r) = (0.5 * pi * i, 0.5 * pi * j, 1 + k)
  return (r * cos (b) * sin (a), r * sin (b), r * cos (b) * cos (a))

def create_simulation (step, stop, outstep):
  GEOMETRIC_EPSILON (1E-5)
  solfec = SOLFEC ('QUASI_STATIC', step, 'out/acceptance/bm06-' + str (step) + 's')
  s = Shape ()
  at = {}
  for k in range (26):
    for j in range (9):
      for i in range (9): at [i,j,k] = s.node (place (i / 8., j / 8., k / 25.))
    for j in range (8):
      for i in range (8):
        if k == 0: continue
        e = [at [i,j,k-1], at [i+1,j,k-1], at [i+1,j+1,k-1], at [i,j+1,k-1], at [i,j,k], at [i+1,j,k], at [i+1,j+1,k], at [i,j+1,k]]
        if j == 7: e = [e [0], e [1], e [2], e [4], e [5], e [6]]
        s.elements.append (e)
  mesh = s.mesh ((11, lambda p: sqrt (sum ([x * x for x in p])) < 1.001))
  bulk = BULK_MATERIAL (solfec, model = 'KIRCHHOFF', young = 2.E+11, poisson = 0.3, density = 7.820E+03)
  body = BODY (solfec, 'FINITE_ELEMENT', mesh, bulk)
  for k in range (26):
    for (i, j) in ((0, 0), (8, 0), (0, 8)): FIX_POINT (body, s.point (at [i,j,k]))
    for i in range (1, 8): FIX_DIRECTION (body, s.point (at [i,0,k]), Y)
    for j in range (1, 8):
      for i in (0, 8): FIX_DIRECTION (body, s.point (at [i,j,k]), Z)
  PRESSURE (body, 11, -1.0E+08)
  run (solfec, NEWTON_SOLVER (1E-12, delta = 1E-8, locdyn = 'OFF'), stop, outstep)
  return (solfec, s, at)

read = first_body (create_simulation, 2E-3, 0.02, 0.01)
if read:
  (body, s, at) = read
  table = [(3, 2, (6.400E-04, 1.702E-04, 2.519E-04)), (4, 3, (6.742E-04, 2.615E-04, 1.981E-04)), (5, 4, (6.733E-04, 3.263E-04, 1.223E-04))]
  for (i, j, reference) in table:
    value = DISPLACEMENT (body, s.point (at [i,j,0]))
    for c in range (3): check ('D' + 'XYZ' [c], value [c], reference [c], 0.0007)
