"""What inputs of the viewer's tests share: materials, gravity and a floor for boxes."""

FLOOR = """
b = BULK_MATERIAL(s, 'KIRCHHOFF', young=1E7, poisson=0.3, density=1000.0, label='stone')
SURFACE_MATERIAL(s, model='SIGNORINI_COULOMB', friction=0.4)
GRAVITY(s, (0, 0, -10))
def box(a, b, *k):
    return HULL([c for z in (a[2], b[2]) for y in (a[1], b[1]) for x in (a[0], b[0]) for c in (x, y, z)], *k)
BODY(s, 'OBSTACLE', box((-4, -4, -.5), (4, 4, 0), 1, 1), b, label='floor')
"""
