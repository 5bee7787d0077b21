# a block of tetrahedra split by triples of nodes in a callback: first half way, then in two
from math import fabs
step = 1E-3

def on_plane (msh, y0, y1):
	faces = []
	for f in msh.inter_element_faces_on_plane ((0, 0, .5), (0, 0, 1)):
		p = [msh.node (n) for n in f]
		y = sum ([q [1] for q in p]) / 3.
		if y0 < y < y1:
			(a, b, c) = p
			up = (b[0]-a[0]) * (c[1]-a[1]) - (b[1]-a[1]) * (c[0]-a[0])
			if up < 0: f = [f[0], f[2], f[1]]
			faces.append (f)
	return faces

def split (sol, bod):
	t = int (round (sol.time / step))
	if t == 3:
		old = bod.id
		(two, l1, l2) = RT_SPLIT (bod, on_plane (bod.mesh, 0, .5), 5, 6)
		print 'one', two is None, l2 is None, bod.id != old, len (l1), bod.label
	elif t == 6:
		(two, l1, l2) = RT_SPLIT (bod, on_plane (bod.mesh, .5, 1), 5, 6, 'low', 'high')
		print 'two', two.label, bod.label, len (l1), len (l2)
		print 'centers', '%.6f %.6f' % (bod.center [2], two.center [2])
		for (l, b) in [(l1, bod), (l2, two)]:
			worst = max ([fabs (b.mesh.node (k)[2] - b.mesh.node (k)[2]) for k in range (len (l))])
			print 'nodes', len (b.mesh.nodes_on_surface (5) or []), len (b.mesh.nodes_on_surface (6) or []), worst
	return 1

solfec = SOLFEC ('DYNAMIC', step, 'out/old/split-block')
if not VIEWER (): solfec.verbose = 'OFF'
bulk = BULK_MATERIAL (solfec, model = 'KIRCHHOFF', young = 1E6, poisson = .2, density = 1E3)
nodes, elements = [], []
for k in range (3):
	for j in range (3):
		for i in range (3): nodes += [i / 2., j / 2., k / 2.]
for k in range (2):
	for j in range (2):
		for i in range (2):
			c = [(k + c) * 9 + (j + b) * 3 + i + a for (a, b, c) in [(0,0,0), (1,0,0), (1,1,0), (0,1,0), (0,0,1), (1,0,1), (1,1,1), (0,1,1)]]
			for (p, q, r, s) in [(0,1,2,6), (0,2,3,6), (0,3,7,6), (0,7,4,6), (0,4,5,6), (0,5,1,6)]:
				elements += [4, c[p], c[q], c[r], c[s], 1]
bod = BODY (solfec, 'FINITE_ELEMENT', MESH (nodes, elements, 1), bulk, label = 'block')
bod.scheme = 'DEF_LIM'
GRAVITY (solfec, (0, 0, -10))
CALLBACK (solfec, step, (solfec, bod), split)
RUN (solfec, GAUSS_SEIDEL_SOLVER (1E-5, 100), 0.02)
print 'bodies', len (solfec.bodies)
