# Hourglass: the sand runs at an even rate, however much of it is left
#
# Balls leave a funnel through a hole at a rate that depends on the hole, not on the height of the filling (Beverloo), unlike water.
# Arguments: number of balls, duration:
#
#   solfec inp/gallery/hourglass.py 800 4

from math import cos, pi, sin

arguments = NON_SOLFEC_ARGV() or []
count = int(arguments[0]) if len(arguments) > 0 else 800
duration = float(arguments[1]) if len(arguments) > 1 else 4.0
radius, hole, top, slope = 0.01, 0.04, 0.16, 1.2   # of balls; hole and upper edge of the funnel; its height over its width
high = slope * (top - hole)

solfec = SOLFEC('DYNAMIC', 2E-3, 'out/gallery/hourglass-%d' % count, contacts='MANIFOLD')
SURFACE_MATERIAL(solfec, friction=0.3)
sand = BULK_MATERIAL(solfec, density=2500.0)
GRAVITY(solfec, (0, 0, -9.81))


def shell(z, low, up, step, sides=24, thick=0.02):
    """Convex panels round the axis, whose inner faces lead from the radius `low` at z to `up` at z + step."""
    def at(number, r, height):
        return r * sin(2 * pi * number / sides), -r * cos(2 * pi * number / sides), height
    panels = [HULL([c for n in (k, k + 1) for r, height in ((low, z), (low + thick, z), (up, z + step), (up + thick, z + step))
                    for c in at(n, r, height)], 0, 0) for k in range(-sides // 4, 3 * sides // 4)]
    return panels[:sides // 2], panels[sides // 2:]


fill = 6.5 * count * radius ** 3 / top ** 2   # height of the balls above the funnel
front, back = [sum(parts, []) for parts in zip(
    shell(0, hole, top, high), shell(high, top, top, max(fill, 0.1)), shell(-0.55, 1.4 * top, 1.4 * top, 0.25))]
BODY(solfec, 'OBSTACLE', front, sand, label='front')   # a body of its own: the viewer may hide it
back += [CYLINDER((0, 0, -0.57), (0, 0, 0.02), 1.4 * top + 0.02)]
BODY(solfec, 'OBSTACLE', back, sand, label='back')
edge = 0.69 * top
shapes = PACKING(count, (-edge, -edge, 0.5 * high), (edge, edge, high + 1.6 * fill), (0.8 * radius, radius))
balls = [BODY(solfec, 'RIGID', shape, sand) for shape in shapes]
plug = BODY(solfec, 'OBSTACLE', CYLINDER((0, 0, -0.03), (0, 0, 0.03), 1.2 * hole), sand, label='plug')
plugs, passed = [plug], []


def watch():
    if solfec.time > 0.2 * duration and plugs:
        DELETE(solfec, plugs.pop())
    passed.append((solfec.time, sum(ball.conf[11] < 0 for ball in balls)))


CALLBACK(solfec, duration / 100, (), watch)
OUTPUT(solfec, duration / 100)
RUN(solfec, AUTO_SOLVER(1E-2), duration)

if solfec.mode == 'WRITE' and not VIEWER():
    def when(share):
        return next((t for t, n in passed if n >= share * count), duration)
    quarters = [count * 0.25 / (when(b) - when(a)) for a, b in ((0.1, 0.35), (0.35, 0.6), (0.6, 0.85))]
    print('%d of %d balls have passed; %.0f, %.0f, %.0f balls a second in three parts of the time' % (passed[-1][1], count, *quarters))
