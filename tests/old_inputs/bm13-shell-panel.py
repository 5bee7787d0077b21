# a shallow shell over a square plan, its edges hinged, under pressures on ten patches; argument: elements through the thickness (2 or 20)
from shapes import *
args = NON_SOLFEC_ARGV ()
across = int (args [0])
(L, H) = (1570., 125.)

def arcs (n, even):
  # coordinates along an edge: equal lengths of arc of the parabola, or of the plan
  if even: return [L * i / n for i in range (n + 1)]
  (m, out) = (20000, [0.])
  y = [4 * H * (i / float (m)) * (1 - i / float (m)) for i in range (m + 1)]
  length = [0.]
  for i in range (m): length.append (length [-1] + sqrt ((L / m) ** 2 + (y [i+1] - y [i]) ** 2))
  k = 1
  for i in range (m + 1):
    if k < n and length [i] >= length [m] * k / n:
      out.append (L * i / m)
      k += 1
  return out + [L]

xs = arcs (8, 0)
ys = xs [:]

def middle (i, j):
  def z (x): return 4 * H * (x / L) * (1 - x / L)
  return (xs [i], ys [8 - j], z (xs [i]) + z (ys [8 - j]))

def unit (p):
  l = sqrt (sum ([x * x for x in p]))
  return [x / l for x in p]

def facet (i, j):
  (p, q, r, s) = (middle (i, j), middle (i, j+1), middle (i+1, j+1), middle (i+1, j))
  a = [r [c] - p [c] for c in range (3)]
  b = [s [c] - q [c] for c in range (3)]
  n = unit ((a [1] * b [2] - a [2] * b [1], a [2] * b [0] - a [0] * b [2], a [0] * b [1] - a [1] * b [0]))
  if n [2] < 0: n = [-x for x in n]
  return n

def normal (i, j):
  n = [0, 0, 0]
  for (a, b) in ((i-1, j-1), (i-1, j), (i, j-1), (i, j)):
    if 0 <= a < 8 and 0 <= b < 8: n = [x + y for (x, y) in zip (n, facet (a, b))]
  return unit (n)

def place (i, j, k):
  (i, j) = (int (round (8 * i)), int (round (8 * j)))
  return tuple ([p + 100 * (k - 0.5) * n for (p, n) in zip (middle (i, j), normal (i, j))])

PATCHES = ((1, 6, 44000), (3, 7, 56000), (3, 4, 96000), (6, 5, 32000), (5, 3, 44000), (6, 2, 78000), (3, 1, 68000), (1, 2, 44000), (1, 1, -22000), (0, 0, 44000))

def create_simulation (step, stop, outstep):
  GEOMETRIC_EPSILON (1E-5)
  solfec = SOLFEC ('QUASI_STATIC', step, 'out/acceptance/bm13-%d-' % across + str (step) + 's')
  s = Shape ().block ((8, 8, across), lambda i, j, k: place (i, 1 - j, k), 1E-3)
  sets = []
  for (n, (i, j, p)) in enumerate (PATCHES):
    corners = [place ((i + a) / 8., (j + b) / 8., 1.) for (a, b) in ((0, 0), (0, 1), (1, 0), (1, 1))]
    inside = [s.find (c) for c in corners]
    points = [s.point (m) for m in inside]
    sets.append ((11 + n, lambda q, points = points: q in points))
  mesh = s.mesh (*sets)
  bulk = BULK_MATERIAL (solfec, model = 'KIRCHHOFF', young = 1.29E+08, poisson = 0.2, density = 1.E+03)
  body = BODY (solfec, 'FINITE_ELEMENT', mesh, bulk)
  for i in range (9):
    for j in range (9):
      if i in (0, 8) or j in (0, 8): FIX_POINT (body, place (i / 8., j / 8., 0.5))
  for (n, (i, j, p)) in enumerate (PATCHES): PRESSURE (body, 11 + n, -p)
  run (solfec, NEWTON_SOLVER (1E-12, locdyn = 'OFF'), stop, outstep)
  return solfec

body = first_body (create_simulation, 2, 300, 30)
if body:
  for (i, j, reference, tolerance) in ((2, 2, (0.126, -0.148, -1.571), (0.018, 0.018, 0.026)), (3, 4, (0.131, -0.015, -3.008), (0.016, 0.003, 0.027)),
      (4, 4, (-0.017, -0.025, -3.364), (0.013, 0.025, 0.028)), (5, 5, (-0.133, 0.089, -2.639), (0.019, 0.023, 0.028)), (6, 6, (-0.115, 0.087, -1.369), (0.020, 0.025, 0.027))):
    value = DISPLACEMENT (body, place (i / 8., j / 8., 0.5))
    for c in range (3): check ('%d %d D' % (i, j) + 'XYZ' [c], value [c], reference [c], tolerance [c])
