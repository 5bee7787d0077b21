# A slice of a core: square bricks on keys with clearance, between walls that follow a sine dwell.
#
#   parmec core-slice.py [bricks per side] [duration]
import math

words = [word for word in ARGV ()]
n = int (words[0]) if words else 21
duration = float (words[1]) if len (words) > 1 else 1.0
pitch, side, high, k, gap = 0.46, 0.45, 0.8, 5E6, 0.002
frequency, acceleration = 3.0, 3.0
graphite = MATERIAL (1700, 1E10, 0.2)

def brick (i, j, colour):
  x, y = pitch * i - 0.5 * side, pitch * j - 0.5 * side
  nodes = [x, y, 0, x+side, y, 0, x+side, y+side, 0, x, y+side, 0, x, y, high, x+side, y, high, x+side, y+side, high, x, y+side, high]
  return MESH (nodes, [8, 0, 1, 2, 3, 4, 5, 6, 7, graphite], graphite, colour)

number = {}
for j in range (n):
  for i in range (n):
    number[i, j] = brick (i, j, 1)
    RESTRAIN (number[i, j], [0, 0, 1], [1, 0, 0, 0, 1, 0])   # bricks slide and turn on their support

# keys: two springs on each face push bricks apart when the clearance is used up, and hold them sideways beyond another one
across = [-1 - gap, -k, -gap, 0, 1, 0]
sideways = [-1 - gap, -k, -gap, 0, gap, 0, 1 + gap, k]
def key (one, two, i, j, a, b):
  for s in (-0.25, 0.25):
    p = (pitch * i + 0.5 * side * a + s * side * b, pitch * j + 0.5 * side * b + s * side * a, 0.5 * high)
    q = (p[0] + (pitch - side) * a, p[1] + (pitch - side) * b, 0.5 * high)
    SPRING (one, p, two, q, across, 0.1, (a, b, 0))
  p = (pitch * i + 0.5 * side * a, pitch * j + 0.5 * side * b, 0.5 * high)
  q = (p[0] + (pitch - side) * a, p[1] + (pitch - side) * b, 0.5 * high)
  SPRING (one, p, two, q, sideways, 0.1, (b, a, 0))

walls = {}
for a, b, i, j in ((1, 0, -1, 0), (1, 0, n, 0), (0, 1, 0, -1), (0, 1, 0, n)):
  walls[i, j] = ANALYTICAL (mass = 1E6, inertia = [1E6, 1E6, 1E6, 0, 0, 0], position = (pitch * i, pitch * j, 0.5 * high))

for j in range (n):
  key (walls[-1, 0], number[0, j], -1, j, 1, 0)
  key (number[n-1, j], walls[n, 0], n - 1, j, 1, 0)
  for i in range (n - 1): key (number[i, j], number[i+1, j], i, j, 1, 0)
for i in range (n):
  key (walls[0, -1], number[i, 0], i, -1, 0, 1)
  key (number[i, n-1], walls[0, n], i, n - 1, 0, 1)
  for j in range (n - 1): key (number[i, j], number[i, j+1], i, j, 0, 1)

def shake (t):
  return (acceleration / (2 * math.pi * frequency) * math.sin (2 * math.pi * frequency * t), 0, 0)
for wall in walls.values (): PRESCRIBE (wall, shake, lambda t: (0, 0, 0))

frame = HISTORY ('DX', walls[-1, 0])
rows = [HISTORY ('DX', number[i, n // 2]) for i in range (n)]
squeeze = HISTORY ('STROKE', list (range (0, 3 * n, 3)))
step = 0.2 * CRITICAL ()
OUTPUT (['NUMBER', 'DISPL', 'LINVEL'], mode = ['MESH', 'RB'])
seconds = DEM (duration, step, (0.05, 0.005))
apart = max (abs (b - a) for one, two in zip (rows, rows[1:]) for a, b in zip (one, two))
print ('%d bricks, %d steps of %.2E s; the frame moves by up to %.2f mm, bricks by %.2f mm; neighbours come %.3f mm nearer or apart, %d um beyond the clearance'
       % (n * n, math.ceil (duration / step), step, 1E3 * max (map (abs, frame)), 1E3 * max (max (map (abs, row)) for row in rows), 1E3 * apart, 1E6 * (apart - gap)))
