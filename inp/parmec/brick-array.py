# A row of bricks on keys with clearance, shaken by a sine dwell: the first and the last brick follow the frame.
import math

n, gap, k = 12, 0.001, 1E6
material = MATERIAL (1700, 1E10, 0.2)
frequency, acceleration = 3.0, 3.0

for i in range (n):
  x = 0.1 * i
  nodes = [x, 0, 0, x+0.1, 0, 0, x+0.1, 0.1, 0, x, 0.1, 0, x, 0, 0.1, x+0.1, 0, 0.1, x+0.1, 0.1, 0.1, x, 0.1, 0.1]
  MESH (nodes, [8, 0, 1, 2, 3, 4, 5, 6, 7, material], material, 1)
  RESTRAIN (i, [0, 1, 0, 0, 0, 1], [1, 0, 0, 0, 1, 0, 0, 0, 1])

# bricks push each other when the clearance is used up, in either direction
clearance = [-1, -k * (1 - gap), -gap, 0, gap, 0, 1, k * (1 - gap)]
for i in range (n - 1):
  a, b = 0.1 * i + 0.05, 0.1 * i + 0.15
  SPRING (i, (a, 0.05, 0.05), i + 1, (b, 0.05, 0.05), clearance, 0.1, (1, 0, 0))

def shake (t):
  return (acceleration / (2 * math.pi * frequency) * math.sin (2 * math.pi * frequency * t), 0, 0)

for i in (0, n - 1):
  PRESCRIBE (i, shake, lambda t: (0, 0, 0))

inner = [HISTORY ('DX', i) for i in range (n)]
strokes = [HISTORY ('STROKE', i) for i in range (n - 1)]
step = 0.2 * CRITICAL ()
DEM (1.0, step, (0.02, 0.001))
print ('step %.2E s; shaken by %.2f mm; bricks move by up to %.2f mm; clearances are exceeded by up to %.1f um'
       % (step, 1E3 * max (inner[0]), 1E3 * max (max (d) for d in inner), 1E6 * (max (max (s) for s in strokes) - gap)))
