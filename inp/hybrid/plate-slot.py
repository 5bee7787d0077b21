# A rigid plate on two damped springs of the explicit engine inside the slot of a shaken U: implicit contacts on both sides (hs4 of the
# report on the hybrid solver).
#
#   solfec plate-slot.py [leeway] [duration] [step]
#
# The smaller the leeway, the stiffer the springs' engine may be driven: stiffness and explicit step are scaled with it.
import math, os

words = NON_SOLFEC_ARGV () or []
leeway, duration, step = [float (word) for word in words + ['1', '1.0', '5E-4'][len (words):]]
frequency, acceleration, gap, density = 3.0, 5.0, 0.001, 1000.0

solfec = SOLFEC ('DYNAMIC', step, 'out/plate-slot')
SURFACE_MATERIAL (solfec, model = 'SIGNORINI_COULOMB', friction = 0.1, restitution = 0)
bulk = BULK_MATERIAL (solfec, model = 'KIRCHHOFF', young = 1E8, poisson = 0.25, density = density)

def box (x, y, z, a, b, c):
  return [x, y, z, x+a, y, z, x+a, y+b, z, x, y+b, z, x, y, z+c, x+a, y, z+c, x+a, y+b, z+c, x, y+b, z+c]

# two walls along x, with the plate between them, and a floor that joins them: the U is shaken along y
thick, deep, wide = 0.02, 0.1, 0.4
plate_nodes = box (0, -0.5 * thick, 0, wide, thick, deep)
plate = BODY (solfec, 'RIGID', HEX (plate_nodes, 1, 1, 1, 1, [1]*6), bulk)
walls = []
for y in (-0.5 * thick - gap - thick, 0.5 * thick + gap):
  wall = BODY (solfec, 'FINITE_ELEMENT', HEX (box (0, y, 0, wide, thick, deep), 6, 1, 2, 1, [1]*6), bulk)
  wall.scheme, wall.damping = 'DEF_LIM', 1E-5
  walls.append (wall)

# a push along y at the ends of the walls' lower edges, the same for both
push = TIME_SERIES ([c for i in range (int (duration / 1E-3) + 100) for c in
  (1E-3 * i, acceleration / (2 * math.pi * frequency) * math.sin (2 * math.pi * frequency * 1E-3 * i))])
for wall, y in zip (walls, (-0.5 * thick - gap - thick, 0.5 * thick + gap)):
  for x in (0, wide):
    for q in (y, y + thick):
      SET_VELOCITY (wall, (x, q, 0), (0, 1, 0), push)
      FIX_DIRECTION (wall, (x, q, 0), (0, 0, 1))
    FIX_DIRECTION (wall, (x, y, 0), (1, 0, 0))
FIX_DIRECTION (plate, (0, 0, 0), (0, 0, 1))
FIX_DIRECTION (plate, (wide, 0, 0), (0, 0, 1))
FIX_DIRECTION (plate, (0, 0, 0), (1, 0, 0))

here = os.path.dirname (os.path.abspath (__file__))
hybrid = HYBRID_SOLVER (os.path.join (here, 'plate-slot-springs.py'), min (0.005 * leeway, step / 2), {0: plate.id}, NEWTON_SOLVER ())
hybrid.parmec_interval = (1E9, 0.002)
hybrid.parmec_prefix = os.path.abspath ('out/plate-slot-springs')   # files of the explicit engine, beside those of solfec
OUTPUT (solfec, 0.002)
RUN (solfec, hybrid, duration)

if solfec.mode == 'WRITE' and not VIEWER():
  print ('stiffness %.3g; plate moves by up to %.2f mm, the U by %.2f mm; work on the plate %.3E J, of which the coupling made %.1E'
         % (stiffness, 1E3 * max (map (abs, moved)), 1E3 * 2 * acceleration / (2 * math.pi * frequency)**2, hybrid.exchange['work'], hybrid.exchange['gain']))
