# a quarter of a solid cylinder under a pressure on its end: hexahedra around wedges
from shapes import *

def create_simulation (step, stop, outstep):
  GEOMETRIC_EPSILON (1E-5)
  solfec = SOLFEC ('QUASI_STATIC', step, 'out/acceptance/bm04-hexa-' + str (step) + 's')
  bulk = BULK_MATERIAL (solfec, model = 'KIRCHHOFF', young = 2.E+11, poisson = 0.3, density = 7.820E+03)
  (x0, y0) = (-0.056211, -0.042939)
  def place (r, s, t):
    a = 0.5 * pi * s
    return (x0 + r * cos (a), y0 + r * sin (a), 3 * t)
  s = Shape ().block ((4, 8, 6), place)
  mesh = s.mesh ((11, lambda p: near (p [2], 3)))
  body = BODY (solfec, 'FINITE_ELEMENT', mesh, bulk)
  for n in range (len (s.nodes) / 3):
    p = s.point (n)
    axis = near (p [0], x0) and near (p [1], y0)
    if axis and near (p [2], 0): FIX_POINT (body, p)
    elif axis: fix (body, [p], X, Y)
    else:
      if near (p [0], x0) or near (p [1], y0): fix (body, [p], Y)
      if near (p [2], 0): fix (body, [p], Z)
  PRESSURE (body, 11, -1.0E+08)
  run (solfec, NEWTON_SOLVER (1E-13, delta = 1E-8, locdyn = 'OFF'), stop, outstep)
  return solfec

(step, stop, outstep) = (5E-3, 0.05, 0.01)
solfec = write_and_read (create_simulation, step, stop, outstep)
if solfec:
  body = solfec.bodies [0]
  mesh0 = COPY (body.mesh)
  SEEK (solfec, stop)
  table = [((0.2308, 0.6500, 3), -1.466E-03), ((0.2973, 0.3106, 3), -1.464E-03), ((0.3265, 0.8809, 3), -1.477E-03),
           ((0.3595, 0.2348, 3), -1.467E-03), ((0.3605, 0.5807, 3), -1.472E-03), ((0.4057, 0.1484, 3), -1.469E-03),
           ((0.4342, 0.0546, 3), -1.470E-03), ((0.4438, -0.0429, 3), -1.471E-03), ((0.4741, 0.4874, 3), -1.477E-03),
           ((0.4994, 0.7885, 3), -1.483E-03), ((0.5674, 0.3737, 3), -1.480E-03), ((0.6367, 0.2441, 3), -1.482E-03),
           ((0.6509, 0.6642, 3), -1.487E-03), ((0.6794, 0.1034, 3), -1.483E-03), ((0.6938, -0.0429, 3), -1.483E-03)]
  print
  print 'elements', body.mesh.nnod, 'volume', repr (body.volume), 'constraints', solfec.ncon
  ok = True
  for (p, reference) in table:
    (n, d) = (0, 1E9)
    for i in range (mesh0.nnod):
      q = mesh0.node (i)
      e = sum ([(a - b) ** 2 for (a, b) in zip (p, q)])
      if e < d: (n, d) = (i, e)
    value = DISPLACEMENT (body, mesh0.node (n)) [2]
    ok = check ('DZ (%g, %g, %g)' % p, value, reference, 0.0011) and ok
  print ('FAILED', 'PASSED') [ok]
