# a pin pulls at the eye of a sheet that is round there, half of both, without friction
from shapes import *
(R, depth, half) = (0.05, 0.1, 0.02)

def core (i, j, k):
  # a rectangle of 20 x 10 about the axis
  return (0.2 + half * (2 * i - 1), half * j, depth * (k - 1))

def rings (i, j, k):
  # from its boundary, 10, 20 and 10 elements long, to the circle
  t = 40. * j
  if t <= 10: (x, y) = (half, half * t / 10)
  elif t <= 30: (x, y) = (half * (20 - t) / 10, half)
  else: (x, y) = (-half, half * (40 - t) / 10)
  a = pi * j
  return (0.2 + x + (R * cos (a) - x) * i, y + (R * sin (a) - y) * i, depth * (k - 1))

def around (i, j, k):
  a = pi * j
  (c, s) = (cos (a), sin (a))
  out = 0.1 # a round end on the right, a square on the left
  if c < 0: out = 0.1 / max (abs (c), abs (s))
  r = R + (out - R) * i
  return (0.2 + r * c, r * s, depth * (k - 1))

def left (i, j, k):
  return (0.1 - 0.1 * i, 0.1 * tan (0.25 * pi * (1 - j)), depth * (k - 1))

def tan (a): return sin (a) / cos (a)

def create_simulation (step, stop, outstep):
  GEOMETRIC_EPSILON (1E-6)
  solfec = SOLFEC ('QUASI_STATIC', step, 'out/acceptance/bm18-' + str (step) + 's')
  steel = BULK_MATERIAL (solfec, model = 'KIRCHHOFF', young = 2.1E11, poisson = 0.3, density = 7850, label = 'steel')
  light = BULK_MATERIAL (solfec, model = 'KIRCHHOFF', young = 3.5E10, poisson = 0.1, density = 2500, label = 'light')
  SURFACE_MATERIAL (solfec, model = 'SIGNORINI_COULOMB', friction = 0.0)
  p = Shape ().block ((20, 10, 1), core, 1E-8)
  p.block ((8, 40, 1), rings, 1E-8)
  s = Shape ().block ((6, 40, 1), around, 1E-8)
  s.block ((6, 10, 1), left, 1E-8)
  bodies = []
  for (shape, material) in ((p, steel), (s, light)):
    body = BODY (solfec, 'FINITE_ELEMENT', shape.mesh (), material, label = 'bod%d' % len (bodies))
    for n in shape.where (lambda q: True):
      q = shape.point (n)
      if near (q [0], 0.): FIX_POINT (body, q)
      else:
        if near (q [1], 0.): fix (body, [q], Y)
        # Solfec-1.0's SZ at the eye is that of plane strain, and 202 directions are fixed besides those across the plane of symmetry
        if near (q [1], 0.) or bodies and near (sqrt ((q [0] - 0.2) ** 2 + q [1] ** 2), R): fix (body, [q], Z)
    bodies.append (body)
  for z in (0., -depth):
    FORCE (bodies [0], 'SPATIAL', (0.2, 0., z), (1., 0., 0.), 100000)
  run (solfec, NEWTON_SOLVER (1E-8, delta = 5E-9, locdyn = 'OFF'), stop, outstep)
  return (solfec, bodies)

(step, stop, outstep) = (1E-4, 0.01, 0.001)
read = write_and_read (create_simulation, step, stop, outstep)
if read:
  (solfec, bodies) = read
  SEEK (solfec, stop)
  print
  print 'elements', len (bodies [0].mesh.get_data () [1]) / 10, len (bodies [1].mesh.get_data () [1]) / 10, 'nodes', bodies [0].mesh.nnod, bodies [1].mesh.nnod
  print 'volumes', bodies [0].volume, bodies [1].volume, 'constraints', solfec.ncon
  for z in (0., -depth):
    p = (0.25, 0., z)
    print_point ('edge', bodies [1], p)
  for body in bodies:
    print_mean (body)
  touching = [con for con in solfec.constraints if con.kind == 'CONTACT']
  print 'contacts', len (touching)
  print 'normal', sum ([con.R [2] for con in touching])
