# two masses on two links swing into a wall; run, then read back in one process
from math import sin, cos, pi

def box (x, y, z):
	return reduce (lambda l, p: l + list (p), [(i, j, k) for k in z for j in y for i in x], [])

def double_pendulum (stop):
	sol = SOLFEC ('DYNAMIC', 1E-3, 'out/old/double-pendulum')
	sol.verbose = 'OFF'
	sol.joint_impacts = 'OFF' # links keep what impacts leave in them, as in Solfec-1.0
	GRAVITY (sol, (0, 0, -9.81))
	mat = BULK_MATERIAL (sol, model = 'KIRCHHOFF', young = 1, poisson = 0, density = 1)
	SURFACE_MATERIAL (sol, model = 'SIGNORINI_COULOMB', friction = 0.0, restitution = 0.1)
	BODY (sol, 'OBSTACLE', HULL (box ((-0.10, -0.05), (-0.2, 0.2), (0, 2)), 1, 1), mat)
	a = (0, 0, 2)
	b = (sin (pi/3), 0, 2 - cos (pi/3))
	c = (b [0] + sin (pi/5), 0, b [2] - cos (pi/5))
	unit = [1, 0, 0, 0, 1, 0, 0, 0, 1]
	balls = []
	for n, p in zip (xrange (1, 3), (b, c)):
		bod = BODY (sol, 'RIGID', SPHERE (p, 0.05, 1, 1), mat, label = 'BALL' + str (n))
		BODY_CHARS (bod, 1, 1, p, unit)
		balls.append (bod)
	PUT_RIGID_LINK (balls [0], None, b, a)
	PUT_RIGID_LINK (balls [0], balls [1], b, c)
	RUN (sol, GAUSS_SEIDEL_SOLVER (1E-3, 1000), stop)
	return sol, b, c

GEOMETRIC_EPSILON (1E-5)
stop = 2.5
double_pendulum (stop)
sol, b, c = double_pendulum (stop)
if sol.mode != 'READ':
	print 'ERROR: the results should be read by now'
	import sys
	sys.exit (1)

items = [(sol, 'KINETIC')]
for label, p in (('BALL1', b), ('BALL2', c)): items += [(label, p, 'CX'), (label, p, 'CZ')]
th = HISTORY (sol, items, 0, stop)
tot = map (lambda k, z1, z2: k + 9.81 * (max (z1, 0) + max (z2, 0)), th [1], th [3], th [5])
for t, x1, x2, e in zip (th [0], th [2], th [4], tot):
	print 'sample', '%.17g %.17g %.17g %.17g' % (t, x1, x2, e - tot [2500])
