# half of a roller pressed on half of a block by forces on its axis, without friction, one element deep
from shapes import *
(R, depth, load) = (0.05, 0.1, 87500.)

across = graded (24, 8E-4, 0.1)
down = graded (30, 8E-4, 0.2)
turn = graded (36, 8E-4 / R, pi)
inward = graded (26, 8E-4, 0.9 * R)

def block (i, j, k):
  return (at (across, i), -at (down, 1 - j), depth * (k - 1))

def roller (i, j, k):
  (a, r) = (at (turn, i), R - at (inward, j))
  return (r * sin (a), R - r * cos (a), depth * (k - 1))

def middle (i, j, k):
  (a, r) = (at (turn, j), 0.1 * R * i)
  return (r * sin (a), R - r * cos (a), depth * (k - 1))

def create_simulation (step, stop, outstep):
  GEOMETRIC_EPSILON (1E-5)
  solfec = SOLFEC ('QUASI_STATIC', step, 'out/acceptance/bm15-' + str (step) + 's')
  light = BULK_MATERIAL (solfec, model = 'KIRCHHOFF', young = 7E10, poisson = 0.3, density = 5000, label = 'light')
  steel = BULK_MATERIAL (solfec, model = 'KIRCHHOFF', young = 2.1E11, poisson = 0.3, density = 7850, label = 'steel')
  SURFACE_MATERIAL (solfec, model = 'SIGNORINI_COULOMB', friction = 0.0)
  s = Shape ().block ((24, 30, 1), block, 1E-9)
  r = Shape ().block ((36, 26, 1), roller, 1E-9)
  r.block ((1, 36, 1), middle, 1E-9)
  bodies = []
  for (shape, material) in ((s, light), (r, steel)):
    body = BODY (solfec, 'FINITE_ELEMENT', shape.mesh (), material, label = 'bod%d' % len (bodies))
    for n in shape.where (lambda q: True):
      q = shape.point (n)
      if near (q [1], -0.2): FIX_POINT (body, q)
      elif near (q [0], 0.):
        fix (body, [q], X)
        if near (q [2], 0.): fix (body, [q], Z)
    bodies.append (body)
  for z in (0., -depth):
    FORCE (bodies [1], 'SPATIAL', (0., R, z), (0., -1., 0.), load)
  run (solfec, NEWTON_SOLVER (1E-8, delta = 5E-9, locdyn = 'OFF'), stop, outstep)
  return (solfec, bodies)

(step, stop, outstep) = (2E-5, float ((NON_SOLFEC_ARGV () or [0.005])[0]), 0.0005)
read = write_and_read (create_simulation, step, stop, outstep)
if read:
  (solfec, bodies) = read
  SEEK (solfec, stop)
  print
  print 'nodes', bodies [0].mesh.nnod, bodies [1].mesh.nnod, 'constraints', solfec.ncon
  for z in (0., -depth):
    p = (0., 0., z)
    print_point ('under', bodies [0], p)
  for body in bodies:
    print_mean (body)
  touching = [con for con in solfec.constraints if con.kind == 'CONTACT']
  print 'normal', sum ([con.R [2] for con in touching]), len (touching)
  print 'width', max ([con.point [0] for con in touching if con.R [2] > 0])
