# The spring under the lower cube of two-cubes.py, in the language of the explicit engine.
material = MATERIAL (1.0, 1E6, 0.25)
MESH (nodes, [8, 0, 1, 2, 3, 4, 5, 6, 7, material], material, 1)
SPRING (0, (0.5, 0.5, 0), -1, (0.5, 0.5, -1), [-1, -k, 1, k], direction = (0, 0, 1))
GRAVITY (0., 0., -g)
