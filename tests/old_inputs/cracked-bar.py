# a bar of finite elements under growing tension, with a prescribed crack in its middle
step = 1E-5
stop = 4E-3

def look (sol, bod, seen):
	if len (sol.bodies) > 1 and not seen:
		seen.append (sol.time)
		print 'broken at', '%.6g' % sol.time
		for b in sol.bodies: print 'part', b.label, '%.6g' % b.mass
	return 1

solfec = SOLFEC ('DYNAMIC', step, 'out/old/cracked-bar')
if not VIEWER (): solfec.verbose = 'OFF'
bulk = BULK_MATERIAL (solfec, model = 'KIRCHHOFF', young = 1E9, poisson = 0, density = 1E3)
nodes = [0, 0, 0, .1, 0, 0, .1, .1, 0, 0, .1, 0, 0, 0, 1, .1, 0, 1, .1, .1, 1, 0, .1, 1]
msh = HEX (nodes, 1, 1, 10, 1, [1, 1, 1, 1, 1, 1])
bod = BODY (solfec, 'FINITE_ELEMENT', msh, bulk, label = 'bar')
pull = TIME_SERIES ([0, 0, 1, 2.5E6])
for (x, y) in [(0, 0), (.1, 0), (.1, .1), (0, .1)]:
	FORCE (bod, 'SPATIAL', (x, y, 1), (0, 0, 1), pull)
	FORCE (bod, 'SPATIAL', (x, y, 0), (0, 0, -1), pull)
SIMPLIFIED_CRACK (bod, (0, 0, 1 / 2.), (0, 0, 1), (2, 3), 'TENSILE', ft = 2E6)

seen = []
CALLBACK (solfec, step, (solfec, bod, seen), look)
gs = GAUSS_SEIDEL_SOLVER (1E-3, 100)
RUN (solfec, gs, stop)
