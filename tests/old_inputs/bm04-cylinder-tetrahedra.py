# a quarter of a solid cylinder under a pressure on its end: tetrahedra
from shapes import *

def square (i, j, k): return (0.5 * i, 0.5 * j, 3 * k)

def outside (i, j, k):
  a = 0.25 * pi * j
  (x, y) = (0.5, 0.5 * j)
  return (x + i * (cos (a) - x), y + i * (sin (a) - y), 3 * k)

def mirrored (i, j, k):
  (y, x, z) = outside (j, i, k)
  return (x, y, z)

def create_simulation (step, stop, outstep):
  GEOMETRIC_EPSILON (1E-5)
  solfec = SOLFEC ('QUASI_STATIC', step, 'out/acceptance/bm04-tetra-' + str (step) + 's')
  s = Shape ()
  for place in (square, outside, mirrored): s.block ((2, 2, 9), place)
  mesh = s.tetrahedra ().mesh ((11, lambda p: near (p [2], 3)))
  bulk = BULK_MATERIAL (solfec, model = 'KIRCHHOFF', young = 2.E+11, poisson = 0.3, density = 7.820E+03)
  body = BODY (solfec, 'FINITE_ELEMENT', mesh, bulk)
  for n in range (len (s.nodes) / 3):
    p = s.point (n)
    axis = near (p [0], 0) and near (p [1], 0)
    if axis and near (p [2], 0): FIX_POINT (body, p)
    elif axis: fix (body, [p], X, Y)
    else:
      if near (p [0], 0) or near (p [1], 0): fix (body, [p], Y)
      if near (p [2], 0): fix (body, [p], Z)
  PRESSURE (body, 11, -1.0E+08)
  run (solfec, NEWTON_SOLVER (1E-13, delta = 1E-8, locdyn = 'OFF'), stop, outstep)
  return solfec

body = first_body (create_simulation, 5E-3, 0.05, 0.01)
if body:
  print 'nodes', body.mesh.nnod
  check ('DZ', DISPLACEMENT (body, (0, 0, 3)) [2], -0.0014461, 0.0009)
