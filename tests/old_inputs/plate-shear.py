# cantilever plate, parabolic shear at its free end (quasi-static)
GEOMETRIC_EPSILON (1E-10)
step = 2E-4
sol = SOLFEC ('QUASI_STATIC', step, 'out/old/plate-shear')
sol.verbose = 'OFF'
mat = BULK_MATERIAL (sol, model = 'KIRCHHOFF', young = 3E10, poisson = 0.25, density = 7820)
(l, w, t) = (0.048, 0.012, 0.001)
msh = HEX ([0, -w/2, -t/2, l, -w/2, -t/2, l, w/2, -t/2, 0, w/2, -t/2,
            0, -w/2, t/2, l, -w/2, t/2, l, w/2, t/2, 0, w/2, t/2], 20, 5, 2, 1, [0, 1, 2, 3, 4, 5])
nod = [msh.node (i) for i in range (msh.nnod)]
bod = BODY (sol, 'FINITE_ELEMENT', msh, mat)
bod.scheme = 'DEF_LIM'

def near (a, b): return abs (a - b) < 1E-9

for p in nod:
	if near (p [0], 0): FIX_POINT (bod, p)
	elif near (p [0], l):
		y = abs (p [1])
		if near (y, 0.006): f = 0.32
		elif near (y, 0.0036): f = 2.4
		else: f = 3.68
		if near (p [2], 0): f -= 1E-4
		FORCE (bod, 'SPATIAL', p, (0, 1, 0), -f)

OUTPUT (sol, 0.01)
meritval = float ((NON_SOLFEC_ARGV () + ['1E-14']) [1])
RUN (sol, NEWTON_SOLVER (meritval = meritval, maxiter = 4096, locdyn = 'OFF'), float (NON_SOLFEC_ARGV () [0]))
print 'mass', repr (bod.mass)
print 'mean', ' '.join ([repr (sum (bod.conf [i::3]) / len (nod)) for i in range (3)])
for p in nod:
	if near (p [0], l): print 'node', p, DISPLACEMENT (bod, p)
