# Projectile with air drag
#
# A point mass is thrown at an angle; air drag is proportional to the velocity.  The exact horizontal distance
# after 1.976 s is 86.138 inches.  An argument sets the number of steps:
#
#   solfec inp/projectile.py 1024

arguments = NON_SOLFEC_ARGV()
steps = int(arguments[0]) if arguments else 1024
duration = 1.976
mass = 0.45359237

solfec = SOLFEC('DYNAMIC', duration / steps, 'out/projectile')
bulk = BULK_MATERIAL(solfec)
GRAVITY(solfec, (0, 0, -9.81456))

stone = BODY(solfec, 'RIGID', SPHERE((0, 0, 0), 1, 1, 1), bulk, label='stone')
BODY_CHARS(stone, mass, 1.0, (0, 0, 0), (1, 0, 0, 0, 1, 0, 0, 0, 1))
INITIAL_VELOCITY(stone, (2.54, 0, 12.7), (0, 0, 0))


def drag(q, u, t, h):
    return (-mass * u[3], -mass * u[4], -mass * u[5], 0, 0, 0, 0, 0, 0)


FORCE(stone, 'SPATIAL', (0, 0, 0), (1, 0, 0), drag)
OUTPUT(solfec, duration / 100)
RUN(solfec, PENALTY_SOLVER(), duration)

if solfec.mode == 'WRITE' and not VIEWER():
    print('distance: %.3f inches' % (stone.conf[9] / 0.0254))
