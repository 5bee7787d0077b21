# Dominoes: a ring of them falls, and every stone leans on the next
#
# A push knocks over the first stone of three quarters of a ring. Fallen stones lie parallel: stones of the thickness d at the pitch p lean
# at the angle asin (d/p) above the ground. Arguments: number of stones, duration:
#
#   solfec inp/gallery/dominoes.py 60 3.5

from math import asin, atan2, cos, degrees, hypot, radians, sin

arguments = NON_SOLFEC_ARGV() or []
count = int(arguments[0]) if len(arguments) > 0 else 60
duration = float(arguments[1]) if len(arguments) > 1 else 3.5
thick, width, height = 0.01, 0.04, 0.08
pitch = 0.03

solfec = SOLFEC('DYNAMIC', 1E-3, 'out/gallery/dominoes-%d' % count, contacts='MANIFOLD')
SURFACE_MATERIAL(solfec, friction=0.9)
SURFACE_MATERIAL(solfec, 1, 1, friction=0.2)   # between dominoes
wood = BULK_MATERIAL(solfec, density=700.0)
GRAVITY(solfec, (0, 0, -9.81))

place, angle, row = (0.0, 0.0), 0.0, []
for _ in range(count):
    row.append((place, angle))
    angle += radians(4.5)
    place = place[0] + pitch * cos(angle), place[1] + pitch * sin(angle)
middle = [sum(p[axis] for p, _ in row) / count for axis in (0, 1)]
BODY(solfec, 'OBSTACLE', PLANE((*middle, 0), (0, 0, 1), max(1.2, 0.6 * pitch * count), thickness=0.02), wood, label='ground')
stones = []
for (x, y), turn in row:
    shape = ROTATE(BOX((0, 0, height / 2), (thick, width, height), surfid=1), (0, 0, 0), (0, 0, 1), degrees(turn))
    stones.append(BODY(solfec, 'RIGID', TRANSLATE(shape, (x, y, 0)), wood))
INITIAL_VELOCITY(stones[0], (2.5 * height, 0, 0), (0, 5.0, 0))   # it turns about its foot

OUTPUT(solfec, duration / 70)
RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-4, 300), duration)

if solfec.mode == 'WRITE' and not VIEWER():
    # conf: the rotation by columns; its third column is the stone's long edge
    leans = sorted(degrees(atan2(stone.conf[8], hypot(*stone.conf[6:8]))) for stone in stones)
    print('%d of %d stones fell; middle lean %.1f degrees, asin (d/p) = %.1f' % (
        sum(lean < 60 for lean in leans), count, leans[count // 2], degrees(asin(thick / pitch))))
