"""Inputs that tests of the language share; what they have in common stands before the lines of a test."""

FALL = """
    solfec = SOLFEC('DYNAMIC', 1E-3, 'out/fall')
    solfec.verbose = 'OFF'
    bulk = BULK_MATERIAL(solfec, density=1E3)
    body = BODY(solfec, 'RIGID', SPHERE((0, 0, 0), 1, 1, 1), bulk, label='ball')
    GRAVITY(solfec, (0, 0, -10))
    gs = GAUSS_SEIDEL_SOLVER(1E-4, 100)
"""
RUN10 = "    OUTPUT(solfec, 2E-3)\n    RUN(solfec, gs, 0.01)\n"
CUBES = """
solfec = SOLFEC('DYNAMIC', 1E-3, 'out/stack')
solfec.verbose = 'OFF'
SURFACE_MATERIAL(solfec, friction=0.5, spring=1E6)
bulk = BULK_MATERIAL(solfec)
GRAVITY(solfec, (0, 0, -10))
cube = [-1, -1, 0, 1, -1, 0, 1, 1, 0, -1, 1, 0, -1, -1, 2, 1, -1, 2, 1, 1, 2, -1, 1, 2]
BODY(solfec, 'OBSTACLE', TRANSLATE(HULL(cube, 1, 1), (0, 0, -1.9999)), bulk)
bodies = [BODY(solfec, 'RIGID', TRANSLATE(HULL(cube, 1, 1), (0, 0, 1.9999 * k)), bulk) for k in range({count})]
"""
