# A rod of length 1 that swings on a ball joint: small oscillations take 2 pi sqrt (2/3 / g).
import math

length, mass, g = 1.0, 2.0, 9.81
inertia = mass * length**2 / 12
tilt = 0.02  # rad from the vertical

centre = (0.5 * length * math.sin (tilt), 0, -0.5 * length * math.cos (tilt))
turn = [math.cos (tilt), 0, math.sin (tilt), 0, 1, 0, -math.sin (tilt), 0, math.cos (tilt)]
ANALYTICAL ([inertia, inertia, 1E-3 * inertia, 0, 0, 0], mass, turn, centre)
# points are given before bodies turn: the end that is at the origin now is above the mass centre of the upright rod
BALL_JOINT (0, (centre[0], 0, centre[2] + 0.5 * length))
GRAVITY (0., 0., -g)

t = HISTORY ('TIME')
x = HISTORY ('PX')
OUTPUT (mode = ['RB', 'JT'])
DEM (10.0, 0.001, (0.1, 0.001))

crossings = [t[i] for i in range (1, len (x)) if x[i-1] > 0 >= x[i]]
period = (crossings[-1] - crossings[0]) / (len (crossings) - 1)
print ('period: %.4f s' % period)
