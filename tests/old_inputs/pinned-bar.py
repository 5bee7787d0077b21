# slender bar hung on a fixed axis, released 30 degrees off the vertical
step = 1E-3
stop = 1 / 2.

def below (bod, swing):
	swing [0] += 1
	if bod.conf [9] <= 0: return 0
	return 1

solfec = SOLFEC ('DYNAMIC', step, 'out/old/pinned-bar')
if not VIEWER (): solfec.verbose = 'OFF'
bulk = BULK_MATERIAL (solfec, model = 'KIRCHHOFF', young = 200E9, poisson = 0.3, density = 1)
GRAVITY (solfec, (0, 0, -9.8))

w = 0.1 / 2
nodes = [-w, -w, 0,  w, -w, 0,  w, w, 0,  -w, w, 0,
         -w, -w, 1,  w, -w, 1,  w, w, 1,  -w, w, 1]
msh = HEX (nodes, 1, 1, 1, 1, [1, 1, 1, 1, 1, 1])
ROTATE (msh, (0, 0, 3 / 4.), (0, 1, 0), -30)
bod = BODY (solfec, 'RIGID', msh, bulk)
for y in (-w, w): FIX_POINT (bod, (0, y, 0.75))

swing = [0]
CALLBACK (solfec, step, (bod, swing), below)
gs = GAUSS_SEIDEL_SOLVER (1E-3, 1000)
RUN (solfec, gs, stop)

if solfec.mode == 'WRITE':
	print 'steps', swing [0]
	print 'omega', `bod.velo [1]`
	err = abs (bod.velo [1] - 2.121) / 2.121
	if err < 0.01: print 'PASSED'
	else: print 'FAILED', '(%g)' % err
