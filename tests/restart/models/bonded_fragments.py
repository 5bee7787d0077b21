"""Columns bonded to a ceiling that crack as they hang: contacts of each go to its upper fragment, with reactions and bonds that have yielded."""
solfec = SOLFEC('DYNAMIC', 1E-3, 'out/model', contacts='MANIFOLD')
SURFACE_MATERIAL(solfec, friction=0.3)
SURFACE_MATERIAL(solfec, 7, 8, model='COHESIVE', ft=5E4, Gf=100, friction=0.6, spring=2E8)
soft = BULK_MATERIAL(solfec, young=1E7, poisson=0.2, density=1000.0)
corners = [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1]
BODY(solfec, 'OBSTACLE', TRANSLATE(SCALE(HULL(corners, 1, 7), (9, 3, 1)), (-1, -1, 2)), soft)
for k, kind in enumerate(('RIGID', 'PSEUDO_RIGID', 'FINITE_ELEMENT')):
    shape = HULL(corners, 1, 8) if k == 0 else HEX(corners, 2, 2, 4, 1, [8] * 6)
    bar = BODY(solfec, kind, TRANSLATE(SCALE(shape, (1, 1, 2)), (2 * k, 0, 0)), soft)
    average = {'average': 2E-3} if k == 0 else {}
    SIMPLIFIED_CRACK(bar, (2 * k, 0, 0.9), (0, 0.2, 1), (2, 3), 'TENSILE', ft=(6E3, 8E3, 1E4)[k], **average)
GRAVITY(solfec, (0, 0, -10))
RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-8, 1000), int(NON_SOLFEC_ARGV()[0]) * 1E-3)
