# Three basic geometric objects: convexes, a mesh and a sphere
#
# A rigid base of four convex bricks carries a pseudo-rigid block with a slanted top; a ball is thrown at it.
# Manual, chapter 6.1.  An argument sets the duration:
#
#   solfec inp/tutorial/three-basic-geometric-objects.py 0.2

arguments = NON_SOLFEC_ARGV()
duration = float(arguments[0]) if arguments else 1.0

solfec = SOLFEC('DYNAMIC', 1E-3, 'out/tutorial/three-basic-geometric-objects', contacts='MANIFOLD')
SURFACE_MATERIAL(solfec, model='SIGNORINI_COULOMB', friction=0.5, restitution=0.0)
stone = BULK_MATERIAL(solfec, model='KIRCHHOFF', young=15E9, poisson=0.3, density=2E3)
GRAVITY(solfec, (0, 0, -10))

# the floor: a slab 10 x 10 x 1 that never moves
slab = [c for z in (-1, 0) for y in (-5, 5) for x in (-5, 5) for c in (x, y, z)]
BODY(solfec, 'OBSTACLE', HULL(slab, 1, 1), stone, label='floor')

# the base: four bricks 2 x 2 x 2, one rigid body
side = 2
corners = [0, 0, 0, side, 0, 0, side, side, 0, 0, side, 0,
           0, 0, side, side, 0, side, side, side, side, 0, side, side]
faces = [4, 0, 3, 2, 1, 2, 4, 4, 5, 6, 7, 2, 4, 0, 1, 5, 4, 2,
         4, 1, 2, 6, 5, 2, 4, 2, 3, 7, 6, 2, 4, 3, 0, 4, 7, 2]
brick = CONVEX(corners, faces, 2)
base = [TRANSLATE(COPY(brick), (x, y, 0)) for x in (-side, 0) for y in (-side, 0)]
BODY(solfec, 'RIGID', base, stone, label='base')

# the block: a mesh of hexahedra, narrower cells in front, lying on the base
block = HEX([-1, -1, 0, 1, -1, 0, 1, 1, 0, -1, 1, 0,
             -1, -1, 2, 1, -1, 2, 1, 1, 1, -1, 1, 1], 2, 3, 2, 3, [3] * 6, dy=[1, 1, 2])
TRANSLATE(block, (0, 0, side))
BODY(solfec, 'PSEUDO_RIGID', block, stone, label='block')

# the ball
ball = BODY(solfec, 'RIGID', SPHERE((0, 0, 5), 1, 1, 1), stone, label='ball')
INITIAL_VELOCITY(ball, (0, 0, -10), (0, 0, 0))

OUTPUT(solfec, 0.005)
RUN(solfec, AUTO_SOLVER(1E-6), duration)

if solfec.mode == 'READ':
    SEEK(solfec, DURATION(solfec)[1])
print('kinetic energy:', ENERGY(solfec)[0])
