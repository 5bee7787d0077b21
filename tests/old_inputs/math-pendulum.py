# mathematical pendulum: period of a swing of 90 degrees; arguments: number of swings
from math import pi
arg = NON_SOLFEC_ARGV ()
if arg == None: swings = 1
else: swings = int (arg [0])

step = 1E-3
sol = SOLFEC ('DYNAMIC', step, 'out/old/math-pendulum')
sol.verbose = '%'
GRAVITY (sol, (0, 0, -pi**2))
mat = BULK_MATERIAL (sol)

a = (1, 0, 1)
bod = BODY (sol, 'RIGID', SPHERE (a, 0.05, 1, 1), mat, 'BALL')
BODY_CHARS (bod, 1, 1, a, [1, 0, 0, 0, 1, 0, 0, 0, 1])
PUT_RIGID_LINK (bod, None, a, (0, 0, 1))

class Swing:
	def __init__ (self, swings):
		self.left = 4 * swings + 1
		self.last = 0
	def step (self, vz):
		if vz * self.last <= 0: self.left -= 1
		self.last = vz
		return self.left <> 0

def callback (sol, bod, swing):
	if swing.step (bod.velo [5]): return 1
	else: return 0

swing = Swing (swings)
CALLBACK (sol, step, (sol, bod, swing), callback)
RUN (sol, GAUSS_SEIDEL_SOLVER (1E-3, 1000), 5 * swings / 2.)

if sol.mode == 'WRITE' and not VIEWER ():
	print
	print 'period', sol.time / swings
	print 'steps', int (round (sol.time / step))
	print 'height', repr (bod.conf [11])
	print 'speed', repr (bod.velo [5])
	print 'energy', repr (ENERGY (sol) [0] + pi**2 * bod.conf [11])
