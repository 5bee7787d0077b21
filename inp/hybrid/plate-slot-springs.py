# The springs of the plate of plate-slot.py, in the language of the explicit engine: critically damped, and as stiff as its step allows.
material = MATERIAL (density, 1E8, 0.25)
MESH (plate_nodes, [8, 0, 1, 2, 3, 4, 5, 6, 7, material], material, 1)
corners = [(0, 0, 0), (wide, 0, 0)]
mass = EQM (0, corners[0], direction = (0, 1, 0))
stiffness = 1E-2 * mass / (0.005 * leeway)**2
for place in corners:
  far = (place[0], -1, 0)
  SPRING (0, place, -1, far, [-1, -stiffness, 1, stiffness], 1.0, (0, 1, 0))
moved = HISTORY ('DY')
