"""Callbacks that make and delete bodies of every scheme among implicit finite elements, whose factors serve many steps, and bodies that leave."""
solfec = SOLFEC('DYNAMIC', 1E-3, 'out/model')
SURFACE_MATERIAL(solfec, friction=0.3)
soft = BULK_MATERIAL(solfec, density=1000.0, young=1E6)
GRAVITY(solfec, (0, 0, -9.81))
EXTENTS(solfec, (-4, -4, -4, 4, 4, 4))
corners = [-1, -1, -1, 1, -1, -1, 1, 1, -1, -1, 1, -1, -1, -1, 1, 1, -1, 1, 1, 1, 1, -1, 1, 1]
nodes = [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1]
BODY(solfec, 'OBSTACLE', TRANSLATE(SCALE(HULL(corners, 1, 1), (2, 2, 1)), (0, 0, -1)), soft)
for x in (-1.5, 1.5):
    block = BODY(solfec, 'FINITE_ELEMENT', TRANSLATE(SCALE(HEX(nodes, 2, 2, 2, 1, [1] * 6), (0.4, 0.4, 0.4)), (x, 0, 0.001)), soft)
    block.scheme = 'DEF_LIM'
    INITIAL_VELOCITY(block, (0, 0, -1), (1, 0, 2))
leaver = BODY(solfec, 'RIGID', SPHERE((3.7, 0, 1), 0.1, 1, 1), soft)
INITIAL_VELOCITY(leaver, (25, 0, 0), (0, 0, 0))

heavier, lighter = TIME_SERIES([0, -1, 1, -3]), TIME_SERIES([0, 1, 1, 4])

def change():
    k = round(solfec.time * 1000)
    young = [body for body in solfec.bodies if body.label]
    what = k % 7
    GRAVITY(solfec, (0, heavier if k % 4 else lighter, -9 - k % 3))
    x, y = 0.3 * (k * 17 % 11 - 5), 0.3 * (k * 29 % 11 - 5)
    if what == 0:
        new = BODY(solfec, 'RIGID', SPHERE((x, y, 0.5), 0.1, 1, 1), soft, label='%d' % k)
    elif what in (1, 4):
        new = BODY(solfec, 'PSEUDO_RIGID', TRANSLATE(SCALE(HULL(corners, 1, 1), (0.1, 0.1, 0.1)), (x, y, 0.5)), soft, label='%d' % k)
        new.scheme = 'DEF_LIM' if what == 1 else 'DEF_EXP'
    elif what in (2, 5):
        shape = TRANSLATE(SCALE(HEX(nodes, 2, 1, 1, 1, [1] * 6), (0.2, 0.2, 0.2)), (x, y, 0.5))
        new = BODY(solfec, 'FINITE_ELEMENT', shape, soft, form='TL' if what == 2 else 'BC', label='%d' % k)
        new.scheme = 'DEF_LIM'
    elif what == 3:
        block.scheme = 'DEF_EXP' if block.scheme == 'DEF_LIM' else 'DEF_LIM'
        return
    else:
        if k % 2:
            block.damping = 1E-4 * (k % 5)
        if young:
            DELETE(solfec, young[k % len(young)])
        return
    INITIAL_VELOCITY(new, (3 * x, 3 * y, -3), (0, 0, 0))

CALLBACK(solfec, 2E-3, (), change)
RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-5, 100), int(NON_SOLFEC_ARGV()[0]) * 1E-3)
