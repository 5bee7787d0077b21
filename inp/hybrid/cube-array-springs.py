# The outer cubes of cube-array.py, in the language of the explicit engine; it knows the names of that input.
material = MATERIAL (density, 1E6, 0.25)
for cell in cells:
  if cell in number: MESH (corners (cell), [8, 0, 1, 2, 3, 4, 5, 6, 7, material], material, 1)

# a spring and a dashpot push cubes apart whose gap is used up
for cell in cells:
  for axis in range (dimension):
    near = tuple (cell[a] + (a == axis) for a in range (3))
    if cell in number and near in number:
      middle = [pitch * cell[a] + 0.5 * side for a in range (3)]
      one = [middle[a] + 0.5 * side * (a == axis) for a in range (3)]
      two = [middle[a] + (0.5 * side + gap) * (a == axis) for a in range (3)]
      along = [float (a == axis) for a in range (3)]
      SPRING (number[cell], one, number[near], two, [-1 - gap, -k, -gap, 0, 1, 0], [-1, -eta, 1, eta], along)

def shake (t):
  return (acceleration / (2 * math.pi * frequency) * math.sin (2 * math.pi * frequency * t), 0, 0)

def still (t):
  return (0, 0, 0)

# the functions are called once a step, however many cubes they move
for cell in number:
  if depth (cell) == 0: PRESCRIBE (number[cell], shake, still)
  if number[cell] not in parmec2solfec: RESTRAIN (number[cell], None, [1, 0, 0, 0, 1, 0, 0, 0, 1])

middle = count // 2 if dimension > 1 else 0
shaken = HISTORY ('DX', number[(0, middle, middle if dimension > 2 else 0)])
moved = [HISTORY ('DX', number[cell]) for cell in sorted (number) if cell[1] == (count // 2 if dimension > 1 else 0) and cell[2] == (count // 2 if dimension > 2 else 0)]
