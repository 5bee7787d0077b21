# An array of cubes of which the inner ones have implicit contacts; around them the cubes are joined by one-sided springs of the explicit
# engine. The outermost cubes are shaken by a sine dwell. hs1, hs2 and hs3 of the report on the hybrid solver: a row, a sheet, a block.
#
#   solfec cube-array.py [dimension] [outer layers] [inner cubes] [duration] [step]
import math, os

words = NON_SOLFEC_ARGV () or []
dimension, outer, inner, duration, step = [kind (word) for kind, word in zip ((int, int, int, float, float), words + ['1', '5', '3', '1.0', '5E-4'][len (words):])]
side, gap, density, k, eta = 0.1, 0.001, 100.0, 1E3, 7.0
frequency, acceleration = 1.0, 1.0
count = 2 * outer + inner
pitch = side + gap

solfec = SOLFEC ('DYNAMIC', step, 'out/cube-array-%dd' % dimension)
SURFACE_MATERIAL (solfec, model = 'SIGNORINI_COULOMB', friction = 0.1, restitution = 0)
bulk = BULK_MATERIAL (solfec, model = 'KIRCHHOFF', young = 1E6, poisson = 0.25, density = density)

def corners (cell):
  x, y, z = [pitch * i for i in cell]
  a = side
  return [x, y, z, x+a, y, z, x+a, y+a, z, x, y+a, z, x, y, z+a, x+a, y, z+a, x+a, y+a, z+a, x, y+a, z+a]

cells = [(i, j, l) for l in range (count if dimension > 2 else 1) for j in range (count if dimension > 1 else 1) for i in range (count)]

def depth (cell):
  # layers of cubes between this one and the outside, along the axes of the array
  return min (min (cell[a], count - 1 - cell[a]) for a in range (dimension))

number = {} # of particles by cell: all but the inner cubes
parmec2solfec = {} # rigid cubes around the inner ones are in both models
deformable = {}
for cell in cells:
  if depth (cell) < outer: number[cell] = len (number)
for cell in cells:
  if depth (cell) == outer - 1:
    body = BODY (solfec, 'RIGID', HEX (corners (cell), 1, 1, 1, 1, [1]*6), bulk)
    parmec2solfec[number[cell]] = body.id
  elif depth (cell) >= outer:
    body = deformable[cell] = BODY (solfec, 'FINITE_ELEMENT', HEX (corners (cell), 2, 2, 2, 1, [1]*6), bulk)
    body.scheme = 'DEF_LIM'
    body.damping = 1E-4

here = os.path.dirname (os.path.abspath (__file__))
hybrid = HYBRID_SOLVER (os.path.join (here, 'cube-array-springs.py'), step / 5, parmec2solfec, GAUSS_SEIDEL_SOLVER (1E-4, 200), average_forces = 'ON')
hybrid.parmec_interval = (1E9, 0.01)
hybrid.parmec_prefix = os.path.abspath ('out/cube-array-springs')   # files of the explicit engine, beside those of solfec
OUTPUT (solfec, 0.01)
RUN (solfec, hybrid, duration)

if solfec.mode == 'WRITE' and not VIEWER():
  given = hybrid.exchange
  print ('%d cubes, %d of them implicit, %d in both models' % (len (cells), len (parmec2solfec) + len (deformable), len (parmec2solfec)))
  print ('shaken by %.2f mm; cubes move by up to %.2f mm; impulse %.4f; the coupling made %.1E of %.1E J'
         % (1E3 * max (shaken), 1E3 * max (max (d) for d in moved), given['impulse'][0], given['gain'], given['work']))
