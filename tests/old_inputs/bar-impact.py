# elastic bar hits a rigid base at 100 m/s
GEOMETRIC_EPSILON (1E-8)
stop = 1.4E-4
sol = SOLFEC ('DYNAMIC', 2E-6, 'out/old/bar-impact')
sol.verbose = 'OFF'
base = BULK_MATERIAL (sol, 'KIRCHHOFF', young = 1E16, poisson = 0, density = 1)
steel = BULK_MATERIAL (sol, 'KIRCHHOFF', young = 2E11, poisson = 0, density = 8E3)
SURFACE_MATERIAL (sol, model = 'SIGNORINI_COULOMB', friction = 0)

def bar (a, lo, hi, i, j, k):
	xy = (-a, -a, a, -a, a, a, -a, a)
	n = []
	for z in lo, hi:
		for m in range (len (xy) / 2): n += [xy [2*m], xy [2*m+1], z]
	return HEX (n, i, j, k, 1, [1] * 6)

BODY (sol, 'OBSTACLE', bar (0.02, -0.01, 0, 2, 2, 1), base)
msh = bar (0.01, 0.002, 0.202, 1, 1, 20)
bod = BODY (sol, 'FINITE_ELEMENT', COPY (msh), steel)
for i in range (msh.nnod):
	FIX_DIRECTION (bod, msh.node (i), (1, 0, 0))
	FIX_DIRECTION (bod, msh.node (i), (0, 1, 0))
INITIAL_VELOCITY (bod, (0, 0, -100), (0, 0, 0))
print 'volume', bod.volume, 'mass', bod.mass
OUTPUT (sol, stop / 10)
RUN (sol, GAUSS_SEIDEL_SOLVER (1E-6, 1000, 1E-6), stop)
print 'step', sol.step
end = (-0.01, -0.01, 0.002)
print 'mean', repr (sum (bod.conf [2::3]) / msh.nnod)
print 'end', DISPLACEMENT (bod, end) [2], VELOCITY (bod, end) [2]
