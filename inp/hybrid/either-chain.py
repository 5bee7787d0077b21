# A chain of five rods that falls from the horizontal, held at one end.
import math
length, mass, count = 0.5, 2.0, 5
J = mass * length**2 / 12
for i in range (count):
  ANALYTICAL ([1E-3*J, J, J, 0, 0, 0], mass, position = (length * (i + .5), 0, 0))
BALL_JOINT (0, (0, 0, 0))
for i in range (1, count): BALL_JOINT (i - 1, (length * i, 0, 0), i)
GRAVITY (0., 0., -9.81)
