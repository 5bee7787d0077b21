# two elastic plates, one pressed on the other (quasi-static, no friction); arguments: duration
GEOMETRIC_EPSILON (1E-5)
step = 2E-4
stop = float (NON_SOLFEC_ARGV () [0])
sol = SOLFEC ('QUASI_STATIC', step, 'out/old/two-plates')
sol.verbose = 'OFF'
mat = BULK_MATERIAL (sol, model = 'KIRCHHOFF', young = 2E11, poisson = 0.3, density = 7850)
SURFACE_MATERIAL (sol, model = 'SIGNORINI_COULOMB', friction = 0.0, restitution = 0.0)
h = 0.5
nodes = [0, -2.5, h, 10, -2.5, h, 10, 2.5, h, 0, 2.5, h,
         0, -2.5, 0, 10, -2.5, 0, 10, 2.5, 0, 0, 2.5, 0] # the upper face first: HEX turns them round, 6 stays above
msh = HEX (nodes, 16, 8, 1, 1, [1, 2, 3, 4, 5, 6])
plates = [msh, TRANSLATE (COPY (msh), (0, 0, -0.501))]
bods = []
for n, p in enumerate (plates):
	nod = [p.node (i) for i in xrange (p.nnod)]
	bod = BODY (sol, 'FINITE_ELEMENT', p, mat, label = 'bod' + `n`)
	bod.scheme = 'DEF_LIM'
	for q in nod:
		for edge, k in ((0, 0), (10, 0), (-2.5, 1), (2.5, 1)):
			if abs (q [k] - edge) < 1E-6:
				d = [0, 0, 0]; d [k] = 1
				FIX_DIRECTION (bod, q, tuple (d))
				FIX_DIRECTION (bod, q, (0, 0, 1))
		if (abs (q [0] - 5) < 1E-6) and abs (q [1]) < 1E-6:
			FIX_DIRECTION (bod, q, (1, 0, 0))
			FIX_DIRECTION (bod, q, (0, 1, 0))
	bods.append (bod)
PRESSURE (bods [0], 6, -2.5E8)
print 'constraints', sol.ncon, 'volume', bods [0].volume
OUTPUT (sol, 0.01)
RUN (sol, NEWTON_SOLVER (meritval = 1E-10, locdyn = 'OFF'), stop)
print 'constraints', sol.ncon
for bod in bods: print 'mean', ' '.join ([repr (sum (bod.conf [i::3]) / 306) for i in range (3)])
for z in (0.5, 0):
	p = (5, 0, z)
	print 'point', ' '.join (map (repr, DISPLACEMENT (bods [0], p) + STRESS (bods [0], p) [0:3]))
