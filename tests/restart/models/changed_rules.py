"""Callbacks exclude bodies and surfaces that touch, add a material for surfaces that touch, and switch self-contact off and on."""
solfec = SOLFEC('DYNAMIC', 1E-3, 'out/model', contacts='MANIFOLD')
SURFACE_MATERIAL(solfec, friction=0.6)
soft = BULK_MATERIAL(solfec, 'KIRCHHOFF', young=1E6, poisson=0.3, density=1000.0)
GRAVITY(solfec, (3, 0, -9.81))
cube = [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1]
floor = BODY(solfec, 'OBSTACLE', TRANSLATE(SCALE(HULL(cube, 1, 1), (20, 9, 1)), (-4, -4, -1)), soft)
blocks = [BODY(solfec, 'RIGID', TRANSLATE(HULL(cube, 1, surface), (2 * surface, 0, 0)), soft) for surface in (2, 3, 4)]
sponge = BODY(solfec, 'FINITE_ELEMENT', TRANSLATE(HEX(cube, 2, 2, 2, 1, [5] * 6), (-2, 0, 0)), soft, form='BC')
sponge.scheme = 'DEF_LIM'

def change():
    n = round(solfec.time * 1000)
    if n == 5:
        SURFACE_MATERIAL(solfec, 1, 2, friction=0.1)
        sponge.selfcontact = 'ON'
    if n == 15:
        CONTACT_EXCLUDE_SURFACES(solfec, 3, 1)
        sponge.selfcontact = 'OFF'
    if n == 30:
        CONTACT_EXCLUDE_BODIES(blocks[2], floor)
        SURFACE_MATERIAL(solfec, 5, friction=0.0)

CALLBACK(solfec, 5E-3, (), change)
RUN(solfec, AUTO_SOLVER(), int(NON_SOLFEC_ARGV()[0]) * 1E-3)
