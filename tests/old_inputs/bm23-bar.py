# a bar hits a wall that is fixed though it is an obstacle
from shapes import *

def create_simulation (step, stop, outstep):
  GEOMETRIC_EPSILON (1E-8)
  solfec = SOLFEC ('DYNAMIC', step, 'out/acceptance/bm23-' + str (step) + 's')
  f = Shape ().block ((2, 2, 1), lambda i, j, k: (-0.02 + 0.04 * i, -0.02 + 0.04 * j, -0.01 + 0.01 * k))
  b = Shape ().block ((1, 1, 20), lambda i, j, k: (-0.01 + 0.02 * i, -0.01 + 0.02 * j, 0.002 + 0.2 * k))
  (wall, bar) = (f.mesh (), b.mesh ())
  steel = BULK_MATERIAL (solfec, model = 'KIRCHHOFF', young = 2.0E+11, poisson = 0., density = 8.E+03)
  stiff = BULK_MATERIAL (solfec, model = 'KIRCHHOFF', young = 1.0E+16, poisson = 0.0, density = 1.E+00)
  base = BODY (solfec, 'OBSTACLE', wall, stiff)
  body = BODY (solfec, 'FINITE_ELEMENT', bar, steel)
  for n in range (len (b.nodes) / 3): DISPLAY_POINT (body, b.point (n), 'N%d' % n)
  for n in f.where (lambda p: near (p [2], -0.01)): FIX_POINT (base, f.point (n))
  for p in ((0, -0.02, 0), (-0.02, 0, 0), (0, 0, 0), (0.02, 0, 0), (0, 0.02, 0)): fix (base, [p], X, Y)
  for n in range (len (b.nodes) / 3): fix (body, [b.point (n)], X, Y)
  INITIAL_VELOCITY (body, (0., 0., -100), (0, 0, 0))
  run (solfec, GAUSS_SEIDEL_SOLVER (1E-6, 1000, 1E-6), stop, outstep)
  return (solfec, (-0.01, -0.01, 0.002))

step = 2E-6
stop = 0.00014
outstep = stop / 10.
read = write_and_read (create_simulation, step, stop, outstep)
if read:
  (solfec, point) = read
  bod = solfec.bodies [0]
  his = HISTORY (solfec, [(bod, point, 'DZ'), (bod, point, 'VZ')], 0, stop)
  print
  print 'kind', bod.kind, 'constraints', solfec.ncon, 'step', solfec.step
  print 'T', ' '.join (map (repr, his [0]))
  print 'DZ', ' '.join (map (repr, his [1]))
  print 'VZ', ' '.join (map (repr, his [2]))
