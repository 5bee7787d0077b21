# Masonry arch: does it stand?
#
# A semicircular dry arch stands when it is thicker than 0.1075 of its radius (Milankovitch); one of 27 blocks, whose joints
# are not quite where it would like to open, when it is thicker than 0.10672 (limit analysis).  Arguments: thickness
# over radius, number of blocks, duration:
#
#   solfec inp/arch.py 0.1066 27 0.75

from math import cos, pi, sin

arguments = NON_SOLFEC_ARGV() or []
ratio = float(arguments[0]) if len(arguments) > 0 else 0.107
count = int(arguments[1]) if len(arguments) > 1 else 27
duration = float(arguments[2]) if len(arguments) > 2 else 0.75
radius, width = 10.0, 5.0

GEOMETRIC_EPSILON(1E-4)
solfec = SOLFEC('DYNAMIC', 1E-3, 'out/arch/%g' % ratio, contacts='MANIFOLD')
SURFACE_MATERIAL(solfec, friction=0.5)
bulk = BULK_MATERIAL(solfec, density=1.0)
GRAVITY(solfec, (0, 0, -9.81))


def wedge(start, end, surface):
    """The block between two angles."""
    inner, outer = radius * (1 - ratio / 2), radius * (1 + ratio / 2)
    nodes = []
    for angle in (start, end):
        for r, y in ((inner, -width / 2), (outer, -width / 2), (outer, width / 2), (inner, width / 2)):
            nodes += [-r * cos(angle), y, r * sin(angle)]
    return HEX(nodes, 1, 1, 1, surface, [surface] * 6)


opening = pi / count
for side, start in (('left', -opening), ('right', pi)):
    BODY(solfec, 'OBSTACLE', wedge(start, start + opening, 0), bulk, label=side + ' abutment')
for i in range(count):
    BODY(solfec, 'RIGID', wedge(i * opening, (i + 1) * opening, 1 + i % 4), bulk, label='block %d' % (i + 1))

OUTPUT(solfec, duration / 50)
RUN(solfec, AUTO_SOLVER(1E-6), duration)

if solfec.mode == 'WRITE' and not VIEWER():
    kinetic = ENERGY(solfec)[0]
    print('kinetic energy %.3e: the arch %s' % (kinetic, 'stands' if kinetic < 1E-8 else 'moves'))
