# heavy symmetrical top about a fixed point; arguments: step
from math import sin, cos
step = float (NON_SOLFEC_ARGV () [0])

def torque (q, u, t, h): return (0, 0, 0, -20 * q [7], 20 * q [6], 0, 0, 0, 0)

def hamiltonian (bod):
	w = bod.velo [0:3]
	return 20 * bod.conf [8] + (5 * w [0]**2 + 5 * w [1]**2 + w [2]**2) / 2

def record (bod, h):
	h += [hamiltonian (bod)]
	return 1

for scheme in ['RIG_POS', 'RIG_NEG', 'RIG_IMP']:
	solfec = SOLFEC ('DYNAMIC', step, 'out/old/top/' + scheme)
	solfec.verbose = 'OFF'
	bulk = BULK_MATERIAL (solfec)
	bod = BODY (solfec, 'RIGID', SPHERE ((0, 0, 0), 1, 1, 1), bulk)
	BODY_CHARS (bod, 1, 1, (0, 0, 0), [5, 0, 0, 0, 5, 0, 0, 0, 1])
	bod.scheme = scheme
	c, s = cos (0.05), sin (0.05)
	bod.conf = (1, 0, 0, 0, c, s, 0, -s, c, 0, 0, 0)
	INITIAL_VELOCITY (bod, (0, 0, 0), (0, 0, 50))
	FORCE (bod, 'SPATIAL', (0, 0, 0), (1, 0, 0), torque)
	OUTPUT (solfec, 1)
	h = []
	CALLBACK (solfec, 0.05, (bod, h), record)
	RUN (solfec, NEWTON_SOLVER (), 10)
	print scheme, '%.11f %.11f' % (h [0], h [-1])
