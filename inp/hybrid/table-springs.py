# The table of table.py and its springs, in the language of the explicit engine. It knows the names of that input.
material = MATERIAL(density, 1E9, 0.25)
MESH(nodes, [8, 0, 1, 2, 3, 4, 5, 6, 7, material], material, 1)    # particle 0
for x in (0, 1):
    for y in (0, 1):
        SPRING(0, (x, y, 0.5), -1, (x, y, 0), [-1, -stiffness, 1, stiffness], [-1, -damper, 1, damper], (0, 0, 1))
for axis in (1, 0, 0), (0, 1, 0):                                  # guides
    SPRING(0, (0.5, 0.5, 0.55), -1, (0.5, 0.5, 0.55), [-1, -1E6, 1, 1E6], [-1, -2E4, 1, 2E4], axis)
GRAVITY(0.0, 0.0, -9.81)
