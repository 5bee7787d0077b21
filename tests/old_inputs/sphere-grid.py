# 4 x 4 x 4 touching pseudo-rigid spheres on a floor, one step; the local dynamics go to a text file
GEOMETRIC_EPSILON (1E-20)
n = 4
sol = SOLFEC ('DYNAMIC', 1E-3, 'out/old/sphere-grid')
sol.verbose = 'OFF'
SURFACE_MATERIAL (sol, model = 'SIGNORINI_COULOMB', friction = 0.3)
mat = BULK_MATERIAL (sol, model = 'KIRCHHOFF', young = 1E5, poisson = 0.25, density = 10)
CONTACT_SPARSIFY (sol, 0.005, 0.001)
GRAVITY (sol, (0, 0, -10))
floor = HULL ([x for k in (-1, 0) for p in [(0, 0), (n, 0), (n, n), (0, n)] for x in p + (k,)], 1, 1)
BODY (sol, 'OBSTACLE', floor, mat)
for i in range (n):
	for j in range (n):
		for k in range (n): BODY (sol, 'PSEUDO_RIGID', SPHERE ((i+0.5, j+0.5, k+0.5), 1/2., 1, 1), mat)
RUN (sol, GAUSS_SEIDEL_SOLVER (1E-3, 10), 1E-3)
LOCDYN_DUMP (sol, 'out/old/sphere-grid/dump.txt')
print 'constraints', sol.ncon, 'lines', len (file ('out/old/sphere-grid/dump.txt').readlines ())
