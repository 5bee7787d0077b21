# Peeling: two bonded arms are torn apart (double cantilever beam, mode I) or slide on one another (end-notched flexure, mode II)
#
# Supports move slowly, in quasi-statics; the load is compared with the closed forms of beam theory.  Arguments: DCB or ENF, size of the
# elements in mm, number of steps, solver (NEWTON, AUTO or GAUSS_SEIDEL, which cannot follow).  docs/fragmentation.md, Beams that peel:
#
#   solfec inp/tutorial/peeling.py DCB
#   solfec inp/tutorial/peeling.py ENF

from math import sqrt

arguments = NON_SOLFEC_ARGV() or ()
test = arguments[0] if arguments else 'DCB'
size = 1E-3 * float(arguments[1]) if len(arguments) > 1 else 2.5E-3
steps = int(arguments[2]) if len(arguments) > 2 else 80
solver = arguments[3] if len(arguments) > 3 else 'NEWTON'

young, width, height = 1E10, 0.01, 0.01         # of an arm; Poisson's ratio is zero
energy = 50.0                                   # in either mode
if test == 'DCB':
    length, crack, strength = 0.15, 0.06, 6E5
    fast, travel = 0.5E-3, 2.0E-3               # a quarter of the steps reaches the first opening, all reach the second
else:
    length, crack, strength = 0.4, 0.17, 2.5E6
    half = length / 2                           # of the span
    fast, travel = 1.6E-3, 2.32E-3
CRACK, BOND = 2, 3                              # surfaces of the arms that face each other
step = 0.1

solfec = SOLFEC('QUASI_STATIC', step, 'out/tutorial/peeling-%s' % test, contacts='MANIFOLD')
CONTACT_OPTIONS(solfec, patch='OFF')            # one bond for each pair of faces
CONTACT_EXCLUDE_SURFACES(solfec, CRACK, CRACK)
CONTACT_EXCLUDE_SURFACES(solfec, CRACK, BOND)
SURFACE_MATERIAL(solfec)
# whole bonds that slide are slightly elastic: in the middles of faces they share nodes, and forces of rigid ones change their sign from face to face
spring = 1E3 * strength**2 / (2 * energy) if test == 'ENF' else 0
SURFACE_MATERIAL(solfec, BOND, BOND, model='COHESIVE', ft=strength, Gf=energy, spring=spring)
bulk = BULK_MATERIAL(solfec, model='KIRCHHOFF', young=young, poisson=0.0, density=1E3)


# elements are small where the crack grows, and longer elsewhere
ends = [0, crack - height, length if test == 'DCB' else half + height, length]
places = [0.0]
for k, low in enumerate(ends[:-1]):
    count = int(round((ends[k + 1] - low) / (size if k == 1 else 2 * size if test == 'DCB' else 4 * size)))
    places += [low + (ends[k + 1] - low) * (i + 1) / count for i in range(count)]


def arm(low, inner):
    """A mesh of an arm from z = low; its lowest (0) or highest (1) faces are those that face the other arm."""
    nx, nz = len(places) - 1, max(2, int(round(height / size)))
    node = lambda i, j, k: (i * 2 + j) * (nz + 1) + k
    nodes, elements, surfaces = [], [], [1]
    for x in places:
        for y in (0, width):
            for k in range(nz + 1):
                nodes += [x, y, low + height * k / nz]
    for i in range(nx):
        for k in range(nz):
            for layer in (k, k + 1):
                elements += ([8] if layer == k else []) + [node(i, 0, layer), node(i + 1, 0, layer), node(i + 1, 1, layer), node(i, 1, layer)]
            elements.append(1)
        k, middle = inner * nz, (places[i] + places[i + 1]) / 2
        surface = BOND if middle > crack else CRACK
        surfaces += [4, node(i, 0, k), node(i + 1, 0, k), node(i + 1, 1, k), node(i, 1, k), surface]
    body = BODY(solfec, 'FINITE_ELEMENT', MESH(nodes, elements, surfaces), bulk, form='TL')
    body.scheme, body.enhanced = 'DEF_LIM', 'ON'
    return body


upper, lower = arm(0, 0), arm(-height, 1)
first = steps // 4
slow = (travel - fast) / (steps - first)
loads, way = [], [0, 0, first * step, fast, steps * step, travel]


def driven(part):
    return TIME_SERIES([value if k % 2 == 0 else part * value for k, value in enumerate(way)])



if test == 'DCB':
    for body, z, sign in ((upper, height / 2, 1), (lower, -height / 2, -1)):
        for y in (0, width):
            pulled = SET_DISPLACEMENT(body, (0, y, z), (0, 0, 1), driven(sign * 0.5))
            loads += [pulled] if body is upper else []
            FIX_POINT(body, (length, y, z))
            FIX_DIRECTION(body, (length, y, 2 * z), (1, 0, 0))
            FIX_DIRECTION(body, (0, y, z), (0, 1, 0))
else:
    for y in (0, width):
        loads.append(SET_DISPLACEMENT(upper, (half, y, height / 2), (0, 0, 1), driven(-1.0)))
        # the left support holds the ends of both arms, which lie on one another there; the right one holds the middle of the whole beam
        FIX_DIRECTION(lower, (0, y, -height / 2), (0, 0, 1))
        FIX_DIRECTION(upper, (0, y, height / 2), (0, 0, 1))
        for body in (upper, lower):
            FIX_DIRECTION(body, (length, y, 0), (1, 0, 0))
            FIX_DIRECTION(body, (length, y, 0), (0, 0, 1))
            FIX_DIRECTION(body, (0, y, 0), (0, 1, 0))
            FIX_DIRECTION(body, (length, y, 0), (0, 1, 0))

bending = young * width * height**3 / 12        # stiffness of one arm
# arms turn at the tip of the crack, which makes it longer: when it opens by 0.6728 heights, with the shear of the arms (W. B. Fichter 1983);
# when it slides by 0.42 * 0.605 heights if G = E/2 (Wang and Williams 1992)
opened, slid = 0.6728 * height, 0.42 * 0.605 * height


def elastic(opening):
    """Load of arms whose crack does not grow."""
    if test == 'DCB':
        return opening / (2 * (crack + opened)**3 / (3 * bending))
    shear = young / 2 * 5 / 6 * width * height  # of an arm; it adds half / (4 shear) to the deflection of the whole beam
    return opening / ((2 * half**3 + 3 * (crack + slid)**3) / (96 * bending) + half / (4 * shear))


def growing(opening):
    """Load while the crack grows: that length of the crack at which G(P, a) = energy and C(a) P = opening."""
    if test == 'DCB':                           # G = P^2 a^2/(B EI),  C = 2 a^3/(3 EI)
        return sqrt(2 * (energy * width * bending)**1.5 / (3 * bending * opening))
    low, high = 0.0, 10 * half                  # G = 9 P^2 a^2/(16 E B^2 h^3),  C = (2 L^3 + 3 a^3)/(8 E B h^3)
    load = lambda a: 4 * width / (3 * a) * sqrt(energy * young * height**3)
    for _ in range(60):
        a = (low + high) / 2
        low, high = (a, high) if load(a) * (2 * half**3 + 3 * a**3) / (96 * bending) < opening else (low, a)
    return load(a)


def note():
    count = int(round(solfec.time / step))
    opening = fast / first * min(count, first) + slow * max(count - first, 0)
    load = abs(sum(c.R[2] for c in loads))
    theory = min(elastic(opening), growing(opening))
    print('%s %.3f mm: load %.3f N, theory %.3f N' % (test, 1E3 * opening, load, theory))
    return 1


if solfec.mode == 'WRITE':
    CALLBACK(solfec, step, (), note)
solfec.verbose = 'OFF'
solvers = {'NEWTON': NEWTON_SOLVER(1E-10, gsflag='OFF'), 'AUTO': AUTO_SOLVER(1E-6), 'GAUSS_SEIDEL': GAUSS_SEIDEL_SOLVER(1E-6, 1000)}
RUN(solfec, solvers[solver], steps * step)
