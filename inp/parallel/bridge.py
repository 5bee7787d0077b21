# A masonry bridge that is backfilled: an arch of voussoirs between abutments, spandrel walls on both of its sides, and random
# stones that fall between these
#
# The stones are convex, with 8 to 64 vertices, and do not touch at the beginning.  Arguments: rigid bodies in all, voussoirs
# from one abutment to the other, duration:
#
#   solfec inp/parallel/bridge.py 500 9 0.5
#   mpiexec -n 4 solfec inp/parallel/bridge.py            (10 030 bodies, for 3 s)

import math
import random

given = NON_SOLFEC_ARGV() or ()
bodies, count = (int(given[k]) if len(given) > k else default for k, default in enumerate((10030, 27)))
duration = float(given[2]) if len(given) > 2 else 3.0

INNER, OUTER, HALF = 6.0, 6.5, math.radians(50)  # radii of the arch [m], and half of its angle
WIDTH, WALL, TOP = 4.0, 0.5, 7.5  # of the bridge, of a spandrel wall, and height of the walls over the centre of the arch [m]
COURSES = max(2, count // 4)  # of a spandrel wall where it is highest
ROWS = max(2, count // 4)  # of voussoirs across the bridge
BETWEEN = 0.01  # stones [m]

bridge = SOLFEC("DYNAMIC", 1e-3, "out/parallel/bridge", contacts="MANIFOLD")
masonry = BULK_MATERIAL(bridge, model="KIRCHHOFF", young=15e9, poisson=0.3, density=1800)
SURFACE_MATERIAL(bridge, model="SIGNORINI_COULOMB", friction=0.5)
GRAVITY(bridge, (0, 0, -9.81))
IMBALANCE_TOLERANCE(bridge, 1.3)
random.seed(1)


def prism(outline, low, high):
    """A convex prism by its outline in x and z, and its ends in y."""
    return HULL([(x, y, z) for y in (low, high) for x, z in outline], 1, 1)


def radial(angle, radius):
    """A point of the arch by its angle from the crown."""
    return radius * math.sin(angle), radius * math.cos(angle)


# --- arch and abutments: vertical joints are staggered from ring to ring ---
angles = [HALF * (2 * k / count - 1) for k in range(count + 1)]
for k in range(count):
    outline = [radial(angles[k], INNER), radial(angles[k], OUTER), radial(angles[k + 1], OUTER), radial(angles[k + 1], INNER)]
    cuts = [WIDTH * (j / ROWS - 0.5) for j in range(ROWS + 1)]
    if k % 2:
        cuts = [cuts[0], *(0.5 * (one + two) for one, two in zip(cuts, cuts[1:])), cuts[-1]]
    for low, high in zip(cuts, cuts[1:]):
        BODY(bridge, "RIGID", prism(outline, low, high), masonry)

inside, outside = radial(HALF, INNER), radial(HALF, OUTER)
below = [inside, outside, (outside[0] + 1, outside[1]), (outside[0] + 1, inside[1] - 1), (inside[0], inside[1] - 1)]
above = [outside, (outside[0] + 1, outside[1]), (outside[0] + 1, TOP), (outside[0], TOP)]
for name, side in (("left", -1), ("right", 1)):
    halves = [prism([(side * x, z) for x, z in part], -WIDTH / 2 - 0.5, WIDTH / 2 + 0.5) for part in (below, above)]
    BODY(bridge, "OBSTACLE", halves, masonry, label=name + " abutment")

# --- spandrel walls: a stone with a sloping bed on each voussoir, then courses, two voussoirs long, that overlap ---
course = (TOP - outside[1]) / COURSES
levels = [outside[1] + course * k for k in range(COURSES)] + [TOP]
edges = [radial(angle, OUTER) for angle in angles]
beds = []  # course on which the wall over each voussoir is level
for (x0, z0), (x1, z1) in zip(edges, edges[1:]):
    beds.append(next(k for k, level in enumerate(levels) if level >= max(z0, z1) + 0.4 * course))
for low in (-WIDTH / 2, WIDTH / 2 - WALL):
    for bed, (x0, z0), (x1, z1) in zip(beds, edges, edges[1:]):
        BODY(bridge, "RIGID", prism([(x0, z0), (x0, levels[bed]), (x1, levels[bed]), (x1, z1)], low, low + WALL), masonry)
    for k in range(COURSES):
        start = 0
        while start < count:
            end = min(start + (1 if start == 0 and k % 2 else 2), count)
            level = [j for j in range(start, end) if beds[j] <= k]
            if level:
                x0, x1 = edges[level[0]][0], edges[level[-1] + 1][0]
                BODY(bridge, "RIGID", prism([(x0, levels[k]), (x0, levels[k + 1]), (x1, levels[k + 1]), (x1, levels[k])], low, low + WALL), masonry)
            start = end
skeleton = len(bridge.bodies) - 2

# --- stones, in layers that follow the arch ---
stones = max(bodies - skeleton, 0)
long, wide = 2 * outside[0], WIDTH - 2 * WALL
segment = OUTER**2 * (HALF - math.sin(HALF) * math.cos(HALF))
room = (long * (TOP - outside[1]) - segment) * wide
size = (room / max(stones, 1)) ** (1 / 3)  # of a stone's cell, so that all of them fill the bridge
along, across = (max(1, int(length / size)) for length in (long, wide))


def stone(place):
    """The hull of random points on an ellipsoid."""
    axes = [0.5 * (size - BETWEEN) * random.uniform(0.7, 1) for _ in range(3)]
    points = []
    for _ in range(random.randint(8, 64)):
        direction = [random.gauss(0, 1) for _ in range(3)]
        length = math.sqrt(sum(x * x for x in direction))
        points.append(tuple(p + a * x / length for p, a, x in zip(place, axes, direction)))
    return BODY(bridge, "RIGID", HULL(points, 2, 2), masonry)


for number in range(stones):
    layer, cell = divmod(number, along * across)
    x, y = (side * ((place + 0.5) / parts - 0.5) for side, place, parts in zip((long, wide), divmod(cell, across), (along, across)))
    edge = max(abs(x) - 0.5 * long / along, 0.0)  # the highest point of the arch under the cell
    stone((x, y, math.sqrt(OUTER**2 - edge**2) + size * (layer + 0.5)))

if RANK() == 0:
    print(f"{skeleton} blocks and {stones} stones of {size:.2f} m in {NCPU()} processes")

solver = GAUSS_SEIDEL_SOLVER(1e-4, 200)
solver.reverse = "ON"
solver.colouring = "ON"  # one process takes the same bits as many
OUTPUT(bridge, duration / 30)
RUN(bridge, solver, duration)
