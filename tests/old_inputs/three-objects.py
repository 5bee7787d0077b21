# four convexes, a mesh and a sphere; arguments: duration
step = 1E-3
a = NON_SOLFEC_ARGV ()
if a <> None: stop = float (a [0])
else: stop = 1

solfec = SOLFEC ('DYNAMIC', step, 'out/old/three-objects')
solfec.verbose = 'OFF'
CONTACT_SPARSIFY (solfec, 0.005, 0.0)
surfmat = SURFACE_MATERIAL (solfec, model = 'SIGNORINI_COULOMB', friction = 0.5, restitution = 0.0)
bulkmat = BULK_MATERIAL (solfec, model = 'KIRCHHOFF', young = 15E9, poisson = 0.3, density = 2E3)
GRAVITY (solfec, (0, 0, -10))

def shape (l, h, lo):
	return [-l/2, -l/2, lo, l/2, -l/2, lo, l/2, l/2, lo, -l/2, l/2, lo,
	        -l/2, -l/2, lo + h, l/2, -l/2, lo + h, l/2, l/2, lo + h, -l/2, l/2, lo + h]

BODY (solfec, 'OBSTACLE', HULL (shape (10, 1, -1), 1, 1), bulkmat)

faces = [4, 0, 3, 2, 1, 2, 4, 4, 5, 6, 7, 2, 4, 0, 1, 5, 4, 2,
         4, 1, 2, 6, 5, 2, 4, 2, 3, 7, 6, 2, 4, 3, 0, 4, 7, 2]
one = CONVEX (shape (2, 2, 0), faces, 2)
four = [TRANSLATE (COPY (one), (x, y, 0)) for x in (-1, 1) for y in (-1, 1)]
b1 = BODY (solfec, 'RIGID', four, bulkmat)

top = shape (2, 2, 2)
top [-1] = top [-4] = 3 # the side of positive y is lower
b2 = BODY (solfec, 'PSEUDO_RIGID', HEX (top, 2, 3, 2, 3, [3] * 6, dy = [1, 1, 2]), bulkmat)
b3 = BODY (solfec, 'RIGID', SPHERE ((0, 0, 5), 1, 1, 1), bulkmat)
INITIAL_VELOCITY (b3, (0, 0, -10), (0, 0, 0))

def energies (solfec):
	print 'kinetic %r %r' % (solfec.time, ENERGY (solfec) [0])
	return 1

CALLBACK (solfec, step, solfec, energies)
RUN (solfec, GAUSS_SEIDEL_SOLVER (1E-3, 1000), stop)
print 'step', repr (solfec.step)
