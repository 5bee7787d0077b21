# a ball falls on a plate: spring and three dashpots, three analyses in one file
step, stop = 1E-3, 2.0
slab = [-1, -1, -1, 1, -1, -1, 1, 1, -1, -1, 1, -1,
        -1, -1,  0, 1, -1,  0, 1, 1,  0, -1, 1,  0]

def ball_impact (step, stop, spring, dashpot, output):
	w = 1
	sol = SOLFEC ('DYNAMIC', step, output)
	sol.verbose = 'OFF'
	SURFACE_MATERIAL (sol, model = 'SPRING_DASHPOT', friction = 0, spring = spring, dashpot = dashpot)
	mat = BULK_MATERIAL (sol, model = 'KIRCHHOFF', young = 15E9, poisson = 0.3, density = 2E3)
	GRAVITY (sol, (0, 0, -10))
	BODY (sol, 'OBSTACLE', HULL (slab, 1, 1), mat)
	bod = BODY (sol, 'RIGID', SPHERE ((0, 0, w), w, 1, 1), mat)
	INITIAL_VELOCITY (bod, (0, 0, -5), (0, 0, 0))
	RUN (sol, PENALTY_SOLVER (), stop)
	return (sol, bod)

for again in (False, True):
	for (n, dashpot) in ((1, 0), (2, 1E6), (3, 1E7)):
		(sol, bod) = ball_impact (step, stop, 1E9, dashpot, 'out/old/ball-impact-%d' % n)
		if sol.mode == 'READ':
			data = HISTORY (sol, [(sol, 'KINETIC'), (sol, 'CONTACT'), (sol, 'EXTERNAL'), (bod, bod.center, 'CZ')], 0, stop)
			for i in [10, 20, 50, 100, 200, 500, 1000, 2000]:
				print n, i,
				for k in range (1, 5): print repr (data [k][i]),
				print
