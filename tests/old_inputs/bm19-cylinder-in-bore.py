# a cylinder in a bore that is a little wider, pressed down by forces on its axis, with friction; in plane strain
from shapes import *
(R, clearance, depth) = (0.06, 1E-4, 0.1)
(young, poisson, load) = (2.1E11, 0.3, 93750.)

def sector (inner, outer):
  def place (i, j, k):
    (r, a) = (inner + (outer - inner) * i, 2 * pi * j)
    return (r * sin (a), depth * (k - 1), r * cos (a))
  return place

def create_simulation (step, stop, outstep):
  GEOMETRIC_EPSILON (1E-6)
  solfec = SOLFEC ('QUASI_STATIC', step, 'out/acceptance/bm19-' + str (step) + 's')
  bulk = BULK_MATERIAL (solfec, model = 'KIRCHHOFF', young = young, poisson = poisson, density = 7850)
  SURFACE_MATERIAL (solfec, model = 'SIGNORINI_COULOMB', friction = 0.4)
  bodies = []
  for (n, inner, outer) in (((7, 40, 1), 0., R - clearance), ((8, 40, 1), R, 0.15)):
    s = Shape ().block (n, sector (inner, outer), 1E-8)
    body = BODY (solfec, 'FINITE_ELEMENT', s.mesh (), bulk, label = 'bod%d' % len (bodies))
    for m in s.where (lambda p: True):
      p = s.point (m)
      if inner > 0 and sqrt (p [0] ** 2 + p [2] ** 2) > outer - 1E-9: FIX_POINT (body, p)
      else: fix (body, [p], Y)
    bodies.append (body)
  for y in (0., -depth):
    FORCE (bodies [0], 'SPATIAL', (0., y, 0.), (0., 0., 1.), -load)
  run (solfec, NEWTON_SOLVER (1E-8, delta = 5E-9, locdyn = 'OFF'), stop, outstep)
  return solfec

(step, stop, outstep) = (5E-5, 0.002, 0.0005)
solfec = write_and_read (create_simulation, step, stop, outstep)
if solfec:
  SEEK (solfec, stop)
  body = BYLABEL (solfec, 'BODY', 'bod0')
  print
  print 'constraints', solfec.ncon
  for y in (0., -depth):
    p = (0., y, -R + clearance)
    print_point ('bottom', body, p)
  print_mean (body)
  (up, normal) = (0., 0.)
  for con in solfec.constraints:
    if con.kind == 'CONTACT':
      (b, r) = (con.base, con.R)
      sign = 1
      if con.adjbod [0].label != 'bod0': sign = -1
      up += sign * (b [2] * r [0] + b [5] * r [1] + b [8] * r [2])
      normal += r [2]
  print 'carried', up, normal
