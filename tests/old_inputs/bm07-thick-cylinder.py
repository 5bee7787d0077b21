# a quarter slice of a thick cylinder under internal pressure
from shapes import *

def create_simulation (step, stop, outstep):
  GEOMETRIC_EPSILON (1E-5)
  solfec = SOLFEC ('QUASI_STATIC', step, 'out/acceptance/bm07-' + str (step) + 's')
  bulk = BULK_MATERIAL (solfec, model = 'KIRCHHOFF', young = 2.E+11, poisson = 0.3, density = 7.820E+03)
  def place (i, j, k):
    (r, a) = (0.1 + 0.1 * i, 0.5 * pi * j)
    return (r * sin (a), 0.1 * k, r * cos (a))
  s = Shape ().block ((40, 10, 1), place)
  mesh = s.mesh ((11, lambda p: sqrt (p [0] ** 2 + p [2] ** 2) < 0.1 + 1E-9))
  Nodes = []
  for i in mesh.nodes_on_surface (11): Nodes.append (mesh.node (i))
  body = BODY (solfec, 'FINITE_ELEMENT', mesh, bulk)
  for i in range (0, len (Nodes)): DISPLAY_POINT (body, Nodes [i], 'N%d' % i)
  for n in s.where (lambda p: near (p [0], 0, 1E-9)): fix (body, [s.point (n)], X, Y)
  for n in s.where (lambda p: near (p [2], 0, 1E-9)): fix (body, [s.point (n)], Z, Y)
  PRESSURE (body, 11, -6.0E+07)
  run (solfec, NEWTON_SOLVER (1E-12, delta = 1E-8, locdyn = 'OFF'), stop, outstep)
  return (solfec, place)

read = first_body (create_simulation, 1E-3, 0.005, 0.001)
if read:
  (body, place) = read
  for k in (0, 1):
    for j in range (3, 8):
      p = place (0., j / 10., k)
      print 'at', j, k, ' '.join (map (repr, DISPLACEMENT (body, p) + STRESS (body, p) [0:3]))
