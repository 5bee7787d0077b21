# block on a rough table, pushed a little more than friction can hold: sticks and slips
from math import cos
step = 1E-3
stop = 10

def hexa (a, b, c, i, j, k):
	return HEX ([a [0], b [0], c [0], a [1], b [0], c [0], a [1], b [1], c [0], a [0], b [1], c [0], \
	             a [0], b [0], c [1], a [1], b [0], c [1], a [1], b [1], c [1], a [0], b [1], c [1]], \
	             i, j, k, 1, 6 * [1])

def push (mag, q, u, t, h): return (mag * cos (t), 0, 0, 0, 0, 0, 0, 0, 0)

def sample (sol, bod, samples):
	samples.append ((sol.time, bod.conf [9], bod.velo [3]))
	return 1

sol = SOLFEC ('DYNAMIC', step, 'out/old/block-sliding')
sol.verbose = 'OFF'
mat = BULK_MATERIAL (sol, model = 'KIRCHHOFF', young = 1E9, poisson = 0.25, density = 1000 / 9.)
SURFACE_MATERIAL (sol, model = 'SIGNORINI_COULOMB', friction = 0.8, restitution = 0)
GRAVITY (sol, (0, 0, -9.81))
tab = hexa ((-0.5, 0.5), (-0.15, 0.15), (-0.1, 0), 1, 1, 1)
blk = hexa ((-0.15, 0.15), (-0.15, 0.15), (0, 0.1), 2, 2, 1)
for shp in [tab, blk]: TRANSLATE (shp, (3, 0, 0))
BODY (sol, 'OBSTACLE', tab, mat)
bod = BODY (sol, 'RIGID', blk, mat)
FORCE (bod, 'SPATIAL', bod.center, (1, 0, 0), push, 8)
samples = []
CALLBACK (sol, step, (sol, bod, samples), sample)
OUTPUT (sol, stop / 10)
RUN (sol, GAUSS_SEIDEL_SOLVER (1E-3, 1000), stop)
for s in samples: print 'sample %r %r %r' % s
