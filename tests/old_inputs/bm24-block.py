# a tilted elastic block falls on an elastic table held below and around, some of its points twice; arguments: friction, duration
from shapes import *
args = NON_SOLFEC_ARGV ()
(Mu, stop) = (float (args [0]), float (args [1]))
(c, d) = (sqrt (1 - 0.009948213 ** 2), 0.009948213)

def place (i, j, k):
  (x, y) = (0.36 * i, 0.8 * j)
  return (c * x - d * y, d * x + c * y, k)

def create_simulation (step, stop, Mu, outstep):
  GEOMETRIC_EPSILON (1E-8)
  solfec = SOLFEC ('DYNAMIC', step, 'out/acceptance/bm24-Mu_' + str (Mu) + '_st_' + str (step) + 's')
  t = Shape ().block ((12, 1, 12), lambda i, j, k: (-0.18 + 0.72 * i, -0.08 + 0.08 * j, -0.5 + 2 * k))
  b = Shape ().block ((6, 6, 6), place)
  (table, block) = (t.mesh (), b.mesh ())
  SURFACE_MATERIAL (solfec, model = 'SIGNORINI_COULOMB', friction = Mu,)
  BLOCK = BULK_MATERIAL (solfec, model = 'KIRCHHOFF', young = 6.0E+11, poisson = 0.2, density = 1.45E+03)
  TABLE = BULK_MATERIAL (solfec, model = 'KIRCHHOFF', young = 1e+12, poisson = 0.3, density = 2.5E+03)
  one = BODY (solfec, 'FINITE_ELEMENT', table, TABLE, form = 'BC')
  one.scheme = 'DEF_LIM'
  two = BODY (solfec, 'FINITE_ELEMENT', block, BLOCK, form = 'BC', label = 'blk0')
  two.scheme = 'DEF_LIM'
  held = t.where (lambda p: near (p [1], -0.08) or near (p [0], -0.18) or near (p [0], 0.54) or near (p [2], -0.5) or near (p [2], 1.5))
  for n in held + held [-2:]: FIX_POINT (one, t.point (n))
  for k in (0., 1.):
    for i in (0., 0.5, 1.):
      for j in (0, 2, 4, 6): FIX_DIRECTION (two, place (i, j / 6., k), Z)
  GRAVITY (solfec, (0, -9.81, 0))
  run (solfec, NEWTON_SOLVER (delta = 1E-8, locdyn = 'OFF'), stop, outstep)
  return (solfec, place (1., 0., 0.))

step = 1E-5
read = write_and_read (create_simulation, step, stop, Mu, 0.013)
if read:
  (solfec, point) = read
  bod = BYLABEL (solfec, 'BODY', 'blk0')
  his = HISTORY (solfec, [(bod, point, 'DX'), (bod, point, 'VX'), 'CONS'], 0, stop)
  print
  print 'constraints', solfec.ncon, his [3]
  for k in range (3): print ('T', 'DX', 'VX') [k], ' '.join (map (repr, his [k]))
