"""Bars that are pulled until they crack, whose new faces are bonded: in steps 10 and 16 a crack has opened, and its contacts are still to come."""
solfec = SOLFEC('DYNAMIC', 5E-5, 'out/model', contacts='MANIFOLD')
SURFACE_MATERIAL(solfec, friction=0.3)
soft = BULK_MATERIAL(solfec, young=1E8, poisson=0.2, density=1000.0)
corners = [0, 0, 0, 1, 0, 0, 1, .1, 0, 0, .1, 0, 0, 0, .1, 1, 0, .1, 1, .1, .1, 0, .1, .1]
STRENGTHS = (1.5E3, 1E3, 5.8E3, 4E3)
for k, strength in enumerate(STRENGTHS):
    kind = ('PSEUDO_RIGID', 'FINITE_ELEMENT')[k % 2]
    shape = HULL(corners, 1, 1) if k % 2 == 0 else HEX(corners, 6, 2, 2, 1, [1] * 6)
    bar = BODY(solfec, kind, TRANSLATE(shape, (0, k, 0)), soft, label='bar %d' % k)
    pull = TIME_SERIES([0, 0, 5E-4, 4E2, 1, 4E2])
    FORCE(bar, 'SPATIAL', (1, k + .05, .05), (1, 0, 0), pull)
    FORCE(bar, 'SPATIAL', (0, k + .05, .05), (-1, 0, 0), pull)
    SIMPLIFIED_CRACK(bar, ((0.5, 0.9)[k % 2], 0, 0), (1, 0, 0), (2, 3), 'TENSILE', ft=strength, Gf=2.0)
RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-6, 1000), int(NON_SOLFEC_ARGV()[0]) * 5E-5)
