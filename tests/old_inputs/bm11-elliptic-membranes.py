# four quarters of an elliptic membrane in one body, coarse and fine, of hexahedra and of wedges, pulled by forces at the outer edge
from shapes import *
other = int ((NON_SOLFEC_ARGV () or ['0']) [0])
RINGS = [[(0, 1), (1.165, 0.8128), (1.783, 0.453), (2, 0)], [(0, 1.583), (1.369, 1.304), (2.13, 0.7485), (2.417, 0)],
         [(0, 2.75), (1.783, 2.299), (2.833, 1.348), (3.25, 0)]]

def on_ellipse (p, q, a, b):
  # of the ray through the middle of a chord
  (x, y) = (0.5 * (p [0] + q [0]), 0.5 * (p [1] + q [1]))
  l = sqrt ((x / a) ** 2 + (y / b) ** 2)
  return (x / l, y / l)

def middle (p, q): return (0.5 * (p [0] + q [0]), 0.5 * (p [1] + q [1]))

def fine ():
  rings = []
  for (n, ring) in enumerate (RINGS):
    out = []
    for (m, p) in enumerate (ring):
      if m:
        if n == 0: out.append (on_ellipse (ring [m-1], p, 2., 1.))
        elif n == 2: out.append (on_ellipse (ring [m-1], p, 3.25, 2.75))
        else: out.append (middle (ring [m-1], p))
      out.append (p)
    rings.append (out)
  return [rings [0], map (middle, rings [0], rings [1]), rings [1], map (middle, rings [1], rings [2]), rings [2]]

def quarter (rings, x0, y0, wedges):
  s = Shape ()
  (n, m) = (len (rings) - 1, len (rings [0]) - 1)
  def place (i, j, k):
    (x, y) = rings [int (round (j * n))] [int (round (i * m))]
    return (x0 + x, y0 + y, 0.1 * k - 0.05)
  s.block ((m, n, 2), place)
  if wedges: s.wedges (other)
  return s

coarse = ((225500, 891500), (701000, 1416500), (1149500, 733500), (674000, 208500))
finer = ((55500.03, 456650), (225500.1, 891500), (372499.9, 721350), (475499.9, 525000), (591100, 391500), (674000, 208500), (355900, 55500.03))

def create_simulation (step, stop, outstep):
  GEOMETRIC_EPSILON (1E-8)
  solfec = SOLFEC ('QUASI_STATIC', step, 'out/acceptance/bm11-%d-' % other + str (step) + 's')
  all = Shape ()
  pulls = []
  for (rings, x0, y0, wedges, forces) in ((RINGS, 6, 0, 1, coarse), (fine (), 6, 5, 1, finer), (RINGS, 0, 0, 0, coarse), (fine (), 0, 5, 0, finer)):
    s = quarter (rings, x0, y0, wedges)
    start = len (all.nodes) / 3
    all.nodes += s.nodes
    all.elements += [[start + n for n in e] for e in s.elements]
    for ((x, y), f) in zip (rings [-1], forces):
      pulls.append (((x0 + x, y0 + y, 0), f))
  mesh = all.mesh ()
  bulk = BULK_MATERIAL (solfec, model = 'KIRCHHOFF', young = 2.1E+11, poisson = 0.3, density = 7.82E+03)
  body = BODY (solfec, 'FINITE_ELEMENT', mesh, bulk)
  for n in range (len (all.nodes) / 3):
    p = all.point (n)
    if near (p [0], 0) or near (p [0], 6): fix (body, [p], X, Z)
    if near (p [1], 0) or near (p [1], 5): fix (body, [p], Y, Z)
  for (p, f) in pulls:
    FORCE (body, 'SPATIAL', p, (1., 0., 0.), f [0])
    FORCE (body, 'SPATIAL', p, (0., 1., 0.), f [1])
  run (solfec, NEWTON_SOLVER (1E-12, 4096, delta = 1E-9, locdyn = 'OFF'), stop, outstep)
  return solfec

body = first_body (create_simulation, 1E-3, 0.1, 0.01)
if body:
  print 'nodes', body.mesh.nnod
  for (name, p, reference, tolerance) in (('coarse hexahedra', (2, 0, 0), (2.06E+07, 7.44E+07, 2.85E+07), (0.082, 0.075, 0.076)),
      ('fine hexahedra', (2, 5, 0), (2.03E+07, 9.17E+07, 3.36E+07), (0.058, 0.019, 0.024)),
      ('coarse wedges', (8, 0, 0), (1.32E+07, 5.71E+07, 2.11E+07), (0.0036, 0.00018, 0.00035)),
      ('fine wedges', (8, 5, 0), (1.37E+07, 7.63E+07, 2.70E+07), (0.00016, 0.0011, 0.0055))):
    stress = STRESS (body, p)
    for c in range (3): check (name + ' S' + 'XYZ' [c], stress [c], reference [c], tolerance [c])
