# two masses joined by a spring, the first driven by an accelerogram
P1 = (0., 0., 0.)
P2 = (1., 0., 0.)
J = (1, 0, 0, 0, 1, 0, 0, 0, 1)
stiffness = 1E3

def record (period, points):
  import math
  data = []
  for k in range (points):
    data += [(k + 1) * period / 37, math.sin (3.1416 * k / 18.)]
  return TIME_SERIES (data)

def create_simulation (step, stop, outstep, hz):
  GEOMETRIC_EPSILON (1E-6)
  solfec = SOLFEC ('DYNAMIC', step, 'out/acceptance/bm20-' + str (step) + 's_' + str (hz) + 'HZ')
  ball = BULK_MATERIAL (solfec, model = 'KIRCHHOFF', young = 1., poisson = 0.5, density = 1.)
  material = BULK_MATERIAL (solfec)
  one = BODY (solfec, 'RIGID', SPHERE (P1, 0.01, 0, 0), material, label = 'sph1');
  two = BODY (solfec, 'RIGID', SPHERE (P2, 0.01, 0, 0), material);
  BODY_CHARS (one, 100, 1, P1, J);
  BODY_CHARS (two, 100, 1, P2, J);
  def law (stroke, velocity):
    return -stiffness * stroke
  CONTACT_EXCLUDE_BODIES (one, two)
  PUT_SPRING (one, P1, two, P2, law, (-1, 1))
  SET_ACCELERATION (one, P1, (1., 0., 0), drive [hz])
  for d in ((0., 1., 0.), (0., 0., 1.)):
    FIX_DIRECTION (one, P1, d)
    FIX_DIRECTION (two, P2, d)
  OUTPUT (solfec, outstep)
  if not VIEWER() and solfec.mode == 'WRITE':
    solfec.verbose = '%'
  RUN (solfec, GAUSS_SEIDEL_SOLVER (1E-6, 200, 1E-6), stop)
  return (solfec, P1)

drive = {5: record (0.2, 740), 20: record (0.05, 740), 100: record (0.01, 740)}
(step, stop, outstep) = (1E-5, 1.0, 0.1)
for hz in (5, 20, 100):
  print ' %d:' % hz,
  create_simulation (step, stop, outstep, hz)
  print '\b\b\b',
if not VIEWER():
  for hz in (5, 20, 100):
    (solfec, point) = create_simulation (step, stop, outstep, hz)
    if solfec.mode != 'READ':
      print 'READ ERROR'
      import sys
      sys.exit (1)
    body = BYLABEL (solfec, 'BODY', 'sph1')
    his = HISTORY (solfec, [(body, point, 'DX'), (body, point, 'VX')], 0, stop)
    print
    print hz, 'DX', ' '.join (map (repr, his [1]))
    print hz, 'VX', ' '.join (map (repr, his [2]))
