# A row of bricks with clearances of 1 mm between keys; both ends follow a sine dwell.
import math
count, mass, side, gap, k, eta = 12, 1.0, 0.1, 1E-3, 1E5, 20.0
dwell = [c for i in range (3001) for c in (1E-3*i, 0.05 * math.sin (2*math.pi*2*1E-3*i))]
shake, still = TSERIES (dwell), TSERIES (0.)
for i in range (count):
  ANALYTICAL ([1E-3, 1E-3, 1E-3, 0, 0, 0], mass, position = (i * (side + gap), 0, 0))
  RESTRAIN (i, [0, 1, 0, 0, 0, 1], [1, 0, 0, 0, 1, 0, 0, 0, 1])
for i in range (count - 1):
  x = i * (side + gap)
  SPRING (i, (x + .5*side, 0, 0), i + 1, (x + .5*side + gap, 0, 0), [-1 - gap, -k, -gap, 0, 1, 0], [-1, -eta, 1, eta], (1, 0, 0))
for i in (0, count - 1): PRESCRIBE (i, (shake, still, still))
