# lists for MESH: nodes, elements and faces, of blocks of elements that a function puts in place
from solfec import *
from math import sin, cos, pi, sqrt

FACES = {8: ((0,3,2,1), (4,5,6,7), (0,1,5,4), (1,2,6,5), (2,3,7,6), (3,0,4,7)),
         6: ((0,2,1), (3,4,5), (0,1,4,3), (1,2,5,4), (2,0,3,5))}

class Shape:
  def __init__ (self):
    self.nodes = [] # coordinates, three by three
    self.elements = [] # lists of node numbers
    self.numbers = {}

  def node (self, p, tolerance = 1E-6):
    # number of the node at p; one for all that coincide
    key = tuple ([int (round (x / tolerance)) for x in p])
    if not self.numbers.has_key (key):
      self.numbers [key] = len (self.nodes) / 3
      self.nodes += [float (x) for x in p]
    return self.numbers [key]

  def block (self, n, place, tolerance = 1E-6):
    # n [0] x n [1] x n [2] hexahedra, of which those that collapse along an edge become wedges
    at = {}
    for i in range (n [0] + 1):
      for j in range (n [1] + 1):
        for k in range (n [2] + 1):
          at [i,j,k] = self.node (place (i / float (n [0]), j / float (n [1]), k / float (n [2])), tolerance)
    for k in range (n [2]):
      for j in range (n [1]):
        for i in range (n [0]):
          e = [at [i,j,k], at [i+1,j,k], at [i+1,j+1,k], at [i,j+1,k],
               at [i,j,k+1], at [i+1,j,k+1], at [i+1,j+1,k+1], at [i,j+1,k+1]]
          if e [0] == e [3]: e = [e [0], e [1], e [2], e [4], e [5], e [6]]
          self.elements.append (e)
    return self

  def thicken (self, t):
    # quadrilaterals, the elements so far, become hexahedra: t thick at right angles to the faces about a node, in the mean
    (normal, count) = ({}, {})
    for e in self.elements:
      p = [self.point (n) for n in e]
      (a, b) = ([p [2][i] - p [0][i] for i in range (3)], [p [3][i] - p [1][i] for i in range (3)])
      n = (a [1] * b [2] - a [2] * b [1], a [2] * b [0] - a [0] * b [2], a [0] * b [1] - a [1] * b [0])
      l = sqrt (sum ([x * x for x in n]))
      for m in e:
        normal [m] = [x + y / l for (x, y) in zip (normal.get (m, (0, 0, 0)), n)]
        count [m] = count.get (m, 0) + 1
    size = len (self.nodes) / 3
    for m in range (size):
      n = normal [m]
      f = t * count [m] / sum ([x * x for x in n])
      self.nodes += [x + f * y for (x, y) in zip (self.point (m), n)]
    self.elements = [e + [n + size for n in e] for e in self.elements]
    return self

  def sheet (self, n, place):
    # quadrilaterals that thicken () makes hexahedra
    at = {}
    for i in range (n [0] + 1):
      for j in range (n [1] + 1): at [i,j] = self.node (place (i / float (n [0]), j / float (n [1])))
    for i in range (n [0]):
      for j in range (n [1]): self.elements.append ([at [i,j], at [i+1,j], at [i+1,j+1], at [i,j+1]])
    return self

  def wedges (self, other = 0):
    # every hexahedron becomes two wedges, the common face at right angles to its base; other: across the other diagonal
    out = []
    for e in self.elements:
      if len (e) == 6: out.append (e)
      elif other:
        out.append ([e [0], e [1], e [3], e [4], e [5], e [7]])
        out.append ([e [1], e [2], e [3], e [5], e [6], e [7]])
      else:
        out.append ([e [0], e [1], e [2], e [4], e [5], e [6]])
        out.append ([e [0], e [2], e [3], e [4], e [6], e [7]])
    self.elements = out
    return self

  def tetrahedra (self):
    # every hexahedron becomes six tetrahedra about its diagonal 0-6, so that neighbours fit
    out = []
    for e in self.elements:
      for (a, b) in ((1, 2), (2, 3), (3, 7), (7, 4), (4, 5), (5, 1)):
        out.append ([e [0], e [a], e [b], e [6]])
    self.elements = out
    return self

  def point (self, n):
    return tuple (self.nodes [3*n:3*n+3])

  def find (self, p):
    # number of the node nearest to p
    best = None
    for n in range (len (self.nodes) / 3):
      q = self.nodes [3*n:3*n+3]
      d = sum ([(a - b) ** 2 for (a, b) in zip (p, q)])
      if best is None or d < best [0]: best = (d, n)
    return best [1]

  def where (self, test):
    return [n for n in range (len (self.nodes) / 3) if test (self.point (n))]

  def sides (self, *sets):
    # faces of the boundary all of whose nodes fulfil a test: (identifier, test); what else there is has 0
    count = {}
    for e in self.elements:
      if len (e) == 4: faces = ((0,1,2), (0,1,3), (1,2,3), (0,2,3))
      else: faces = FACES [len (e)]
      for f in faces:
        g = [e [i] for i in f]
        count.setdefault (tuple (sorted (g)), []).append (g)
    out = [0]
    for (identifier, test) in sets:
      inside = set (self.where (test))
      for key in sorted (count.keys ()):
        if len (count [key]) == 1 and inside.issuperset (key):
          g = count [key][0]
          out += [len (g)] + g + [identifier]
    return out

  def mesh (self, *sets):
    elements = []
    for (n, e) in enumerate (self.elements): elements += [len (e)] + e + [n + 1]
    return MESH (self.nodes, elements, self.sides (*sets))

def near (a, b, eps = 1E-6): return abs (a - b) < eps

def fix (body, points, *directions):
  for p in points:
    for d in directions: FIX_DIRECTION (body, p, d)

X = (1., 0., 0.)
Y = (0., 1., 0.)
Z = (0., 0., 1.)

def check (name, value, reference, tolerance):
  # one line per figure; tolerances are relative, and absolute where the reference is zero
  div = abs (reference)
  if div == 0: div = 1.0
  error = abs (value - reference) / div
  word = ('FAILED', 'passed') [error <= tolerance]
  print name, repr (value), repr (reference), '%.3g' % error, tolerance, word
  return error <= tolerance

def graded (n, first, length):
  # n + 1 places from 0 to length, growing from a first step
  (low, high) = (1. + 1E-9, 3.)
  for i in range (100):
    q = 0.5 * (low + high)
    if first * (q ** n - 1) / (q - 1) < length: low = q
    else: high = q
  return [length * (q ** i - 1) / (q ** n - 1) for i in range (n + 1)]

def at (places, t): return places [int (round (t * (len (places) - 1)))]

def run (solfec, solver, stop, outstep):
  # writes results, with progress as a percentage
  OUTPUT (solfec, outstep)
  if not VIEWER() and solfec.mode == 'WRITE':
    solfec.verbose = '%'
  RUN (solfec, solver, stop)

def write_and_read (create, *arguments):
  # what create returns when it is called again, and reads what the first call has written; the viewer shows the first
  made = create (*arguments)
  if VIEWER(): return None
  made = create (*arguments)
  solfec = made
  if type (made) == tuple: solfec = made [0]
  if solfec.mode != 'READ':
    print 'READ ERROR'
    import sys
    sys.exit (1)
  return made

def first_body (create, step, stop, outstep):
  # the first body at the end of what has been written, after a line about it; and what else create returns
  read = write_and_read (create, step, stop, outstep)
  if not read: return None
  if type (read) != tuple: read = (read,)
  SEEK (read [0], stop)
  body = read [0].bodies [0]
  print
  print 'volume', repr (body.volume), 'constraints', read [0].ncon
  if len (read) == 1: return body
  return (body,) + read [1:]

def print_mean (body):
  # of the displacements of nodes
  q = body.conf
  print 'mean', sum (q [0::3]) * 3 / len (q), sum (q [1::3]) * 3 / len (q), sum (q [2::3]) * 3 / len (q)

def print_point (name, body, p):
  # displacement and normal stresses
  print name, ' '.join (map (repr, DISPLACEMENT (body, p) + STRESS (body, p) [0:3]))
