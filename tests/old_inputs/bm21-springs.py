# a chain of eight masses on springs, the first driven by an accelerogram
from shapes import *
(J, mass, stiffness) = ((1, 0, 0, 0, 1, 0, 0, 0, 1), 10, 1E3)
data = []
for k in range (740): data += [(k + 1) * 0.2 / 37, sin (3.1416 * k / 18.)]
drive = TIME_SERIES (data)
P = [(0.5 * k, 0., 0.) for k in range (8)]

def create_simulation (step, stop, outstep):
  GEOMETRIC_EPSILON (1E-6)
  solfec = SOLFEC ('DYNAMIC', step, 'out/acceptance/bm21-' + str (step) + 's')
  material = BULK_MATERIAL (solfec)
  body = []
  for (k, p) in enumerate (P):
    b = BODY (solfec, 'RIGID', SPHERE (p, 0.1, 0, 0), material, label = 'sph%d' % (k + 1));
    BODY_CHARS (b, mass, 1, p, J);
    body.append (b)
  def law (stroke, velocity):
    return -stiffness * stroke
  for k in range (7):
    CONTACT_EXCLUDE_BODIES (body [k], body [k+1])
    PUT_SPRING (body [k], P [k], body [k+1], P [k+1], law, (-2, 2))
  SET_ACCELERATION (body [0], P [0], (1., 0., 0), drive)
  for (b, p) in zip (body, P): fix (b, [p], Y, Z)
  run (solfec, GAUSS_SEIDEL_SOLVER (1E-6, 200, 1E-6), stop, outstep)
  return solfec

(step, stop, outstep) = (1E-5, 1.0, 0.1)
solfec = write_and_read (create_simulation, step, stop, outstep)
if solfec:
  for k in range (8):
    b = BYLABEL (solfec, 'BODY', 'sph%d' % (k + 1))
    his = HISTORY (solfec, [(b, P [k], 'DX'), (b, P [k], 'VX')], 0, stop)
    print
    print k + 1, 'DX', ' '.join (map (repr, his [1]))
    print k + 1, 'VX', ' '.join (map (repr, his [2]))
