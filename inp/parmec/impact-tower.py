# A tower of spheres on a floor, onto which a heavy one falls: contact springs with dashpots, and what the floor gives back.
import math

n, radius, k, g = 10, 0.05, 1E6, 9.81
stone = MATERIAL (2000, 1E9, 0.2)
iron = MATERIAL (16000, 1E11, 0.3)
for i in range (n):
  SPHERE ((0, 0, radius * (2 * i + 1)), radius, stone, 1)
drop = SPHERE ((0, 0, radius * (2 * n + 1) + 0.2), radius, iron, 1)
OBSTACLE ([(-1, -1, 0, 2, -1, 0, -1, 2, 0)], [2])
GRANULAR (1, 1, k, 0.2, 0.3)
GRANULAR (1, 2, k, 0.2, 0.3)
GRAVITY (0., 0., -g)

t, z, v = HISTORY ('TIME'), HISTORY ('PZ', drop), HISTORY ('VZ', drop)
floor = HISTORY ('PZ', 0)
step = 2E-5
DEM (4.0, step, (0.02, 1E-3))

m = 4.0 / 3 * math.pi * radius**3 * 2000
total = n * m + 8 * m
# when all has come to rest, every contact carries what is above it
rest = radius * (2 * n + 1) - sum ((total - i * m) * g / k for i in range (n + 1))
hit = [t[i] for i in range (1, len (v)) if v[i] > v[i-1]][0]
print ('touches after %.4f s, of the closed form %.4f s; comes to rest at %.6f m, of the sums of weights %.6f m; floor is pressed by %.2f um at most'
       % (hit, math.sqrt (2 * 0.2 / g), z[-1], rest, 1E6 * (radius - min (floor))))
