# A block of 1 m that slides on a plane: the explicit engine pushes its corners away from it, the implicit one has contacts.
a, k, friction, speed, g = 1.0, 1E6, 0.3, 1.0, 10.0
nodes = [0, 0, 0, a, 0, 0, a, a, 0, 0, a, 0, 0, 0, a, a, 0, a, a, a, a, 0, a, a]
block = MESH (nodes, [8, 0, 1, 2, 3, 4, 5, 6, 7, MATERIAL (1000, 1E9, 0.3)], 0, 1)
for p in [(0, 0, 0), (a, 0, 0), (a, a, 0), (0, a, 0)]:
  SPRING (block, p, -1, [(0, 0, 0), (0, 0, 1)], [-1, k, 0, 0, 1, 0], 1.0, friction = friction)
VELOCITY (block, (speed, 0, 0))
GRAVITY (0., 0., -g)
