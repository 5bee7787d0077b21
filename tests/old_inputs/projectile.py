# point mass thrown at an angle, air drag proportional to velocity
mass = 0.45359237
stop = 1.976
n = 1 << 10

def drag (q, u, t, h):
	f = map (lambda v: -mass * v, u [3:6])
	return tuple (f) + 6 * (0L,)

solfec = SOLFEC ('DYNAMIC', stop / n, 'out/old/projectile')
solfec.verbose = '%\n'
bulk = BULK_MATERIAL (solfec)
GRAVITY (solfec, (0, 0, -9.81456))
bod = BODY (solfec, 'RIGID', SPHERE ((0, 0, 0), 1, 1, 1), bulk, 'stone')
BODY_CHARS (bod, mass, 1.0, (0, 0, 0), [1, 0, 0, 0, 1, 0, 0, 0, 1])
INITIAL_VELOCITY (bod, (2.54, 0, 12.7), (0, 0, 0))
FORCE (bod, 'SPATIAL', (0, 0, 0), (1, 0, 0), drag)
RUN (solfec, PENALTY_SOLVER (), stop)

if solfec.mode == 'WRITE':
	print 'inches', bod.conf [9] / 0.0254
	print 'centre', ' '.join (map (repr, bod.conf [9:12]))
	print 'velocity', ' '.join (map (repr, bod.velo [3:6]))
	en = ENERGY (solfec)
	print 'kinetic', repr (en [0])
