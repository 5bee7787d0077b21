# half of a round punch pressed on half of a round block, without friction: tetrahedra, finer where they touch
from shapes import *

def half_disc (shape, n, outside, places, up):
  # a core of 2 n x n cells within a circle of radius outside [0], and rings of 4 n out to the others; places upwards
  half = 0.6 * outside [0]

  def put (x, y, k): return (-x, -y, up (at (places, k)))

  def core (i, j, k): return put (half * (2 * i - 1), half * j, k)

  def ring (i, j, k):
    # from the core's boundary, n, 2 n and n cells long
    (t, a) = (4. * j, pi * j)
    if t <= 1: (x, y) = (half, half * t)
    elif t <= 3: (x, y) = (half * (2 - t), half)
    else: (x, y) = (-half, half * (4 - t))
    (c, s) = (cos (a), sin (a))
    m = int (round (i * rings))
    if m <= inner:
      f = m / float (inner)
      return put (x + (outside [0] * c - x) * f, y + (outside [0] * s - y) * f, k)
    return put (outside [m - inner] * c, outside [m - inner] * s, k)

  # diagonals of tetrahedra rise along the core's sides, so where rings go back along them their cells are turned
  def right (i, j, k): return ring (i, 0.25 * j, k)
  def top (i, j, k): return ring (j, 0.75 - 0.5 * i, k)
  def left (i, j, k): return ring (j, 1. - 0.25 * i, k)

  inner = (n + 1) / 2
  rings = inner + len (outside) - 1
  high = len (places) - 1
  shape.block ((2 * n, n, high), core, 1E-8)
  shape.block ((rings, n, high), right, 1E-8)
  shape.block ((2 * n, rings, high), top, 1E-8)
  shape.block ((n, rings, high), left, 1E-8)
  return shape.tetrahedra ()

def create_simulation (step, stop, outstep, n):
  GEOMETRIC_EPSILON (1E-5)
  solfec = SOLFEC ('QUASI_STATIC', step, 'out/acceptance/bm16-' + str (step) + 's-' + str (n))
  light = BULK_MATERIAL (solfec, model = 'KIRCHHOFF', young = 7E10, poisson = 0.3, density = 5000, label = 'light')
  steel = BULK_MATERIAL (solfec, model = 'KIRCHHOFF', young = 2.1E11, poisson = 0.3, density = 7850, label = 'steel')
  SURFACE_MATERIAL (solfec, model = 'SIGNORINI_COULOMB', friction = 0.0)
  outside = [0.05 + 0.05 * i * (n + i) / (n * (n + n)) for i in range (n + 1)]
  block = half_disc (Shape (), n, outside, graded (n + 1, 0.05 / n, 0.2), lambda z: 0.2 - z)
  punch = half_disc (Shape (), n, [0.05], graded (n, 0.05 / n, 0.1), lambda z: 0.201 + z)
  # places of the block go down: turn its tetrahedra
  block.elements = [[a, c, b, d] for (a, b, c, d) in block.elements]
  bodies = []
  for (shape, material, top) in ((block, light, 0.2), (punch, steel, 0.301)):
    mesh = shape.mesh ((11, lambda p, top = top: near (p [2], top)))
    body = BODY (solfec, 'FINITE_ELEMENT', mesh, material, label = 'bod%d' % len (bodies))
    for m in shape.where (lambda p: True):
      p = shape.point (m)
      if near (p [2], 0.): FIX_POINT (body, p)
      else:
        if near (p [1], 0.): fix (body, [p], Y)
        if bodies and near (p [0], 0.) and near (p [1], 0.): fix (body, [p], X)
    bodies.append (body)
  PRESSURE (bodies [1], 11, -1E8)
  run (solfec, NEWTON_SOLVER (1E-10, delta = 5E-9, locdyn = 'OFF'), stop, outstep)
  return (solfec, bodies)

(step, stop, outstep) = (1E-5, 0.002, 0.001)
n = int ((NON_SOLFEC_ARGV () or [4])[0])
read = write_and_read (create_simulation, step, stop, outstep, n)
if read:
  (solfec, bodies) = read
  SEEK (solfec, stop)
  print
  for body in bodies:
    q = body.conf
    print 'mesh', body.mesh.nnod, len (body.mesh.get_data () [1]) / 6, body.volume
    print 'mean', sum (q [0::3]) * 3 / len (q), sum (q [1::3]) * 3 / len (q), sum (q [2::3]) * 3 / len (q)
  print 'constraints', solfec.ncon
  (up, sides) = (0., 0.)
  for con in solfec.constraints:
    if con.kind == 'CONTACT':
      sign = (-1, 1) [con.adjbod [0].label == 'bod1']
      up += sign * con.base [8] * con.R [2]
      sides += abs (con.base [6] * con.R [2]) + abs (con.base [7] * con.R [2])
  print 'carried', up, sides
  # the middle of the block's top, and the punch's edge, of which the program looks at five nodes
  for (name, r, degrees) in (('middle', 0., 0.), ('edge', 0.05, 0.), ('edge', 0.05, 180.), ('edge', 0.05, 123.75), ('edge', 0.05, 90.),
                             ('edge', 0.05, 56.25)):
    a = degrees * pi / 180
    p = (r * cos (a), -r * sin (a), 0.2)
    print_point (name, bodies [0], p)
