# A square array of masses on springs between fixed edges, hung from its middle mass: standing waves of a membrane of beads.
import math

n, pitch, mass, k = 9, 0.1, 0.5, 2E3   # beads per side; springs act across the array, as a stretched membrane does
number = {}
for j in range (n):
  for i in range (n):
    number[i, j] = ANALYTICAL (mass = mass, position = (pitch * i, pitch * j, 0))
    RESTRAIN (number[i, j], [1, 0, 0, 0, 1, 0], [1, 0, 0, 0, 1, 0, 0, 0, 1])

def join (one, two, p, q):
  SPRING (one, p, two, q, [-1, -k, 1, k], direction = (0, 0, 1))

for j in range (n):
  for i in range (n):
    here = (pitch * i, pitch * j, 0)
    for a, b in ((1, 0), (0, 1)):
      there = (pitch * (i + a), pitch * (j + b), 0)
      join (number[i, j], number.get ((i + a, j + b), -1), here, there)
      if i * a + j * b == 0: join (number[i, j], -1, here, (pitch * (i - a), pitch * (j - b), 0))

# the first mode: velocities as its shape
w = 2 * math.sqrt (2 * k / mass) * math.sin (math.pi / (2 * (n + 1)))
for (i, j), p in number.items ():
  VELOCITY (p, (0, 0, math.sin (math.pi * (i + 1) / (n + 1)) * math.sin (math.pi * (j + 1) / (n + 1))))

middle = n // 2
t, z = HISTORY ('TIME'), HISTORY ('PZ', number[middle, middle])
step = 0.1 * CRITICAL ()
DEM (3.0, step, (0.02, step))
crossings = [t[i] - z[i] * (t[i] - t[i-1]) / (z[i] - z[i-1]) for i in range (1, len (z)) if z[i-1] > 0 >= z[i]]
period = (crossings[-1] - crossings[0]) / (len (crossings) - 1)
print ('step %.6f s; period %.6f s, of the closed form %.6f s; amplitude %.6f m, %.6f m' % (step, period, 2 * math.pi / w, max (z), 1 / w))
