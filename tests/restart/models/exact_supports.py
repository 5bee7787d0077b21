"""Quasi-static beams under growing loads, whose supports are met to round-off, and move in one case at a velocity that changes."""
solfec = SOLFEC('QUASI_STATIC', 1E-2, 'out/model')
solfec.exact_supports = 'ON'
soft = BULK_MATERIAL(solfec, young=1E6, poisson=0.3, density=1000.0)
nodes = [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1]
for form in ('TL', 'BC'):
    beam = BODY(solfec, 'FINITE_ELEMENT', TRANSLATE(SCALE(HEX(nodes, 4, 1, 1, 1, [1] * 6), (4, 1, 1)), (0, 9 * len(form + 'x' * (form == 'TL')), 0)), soft, form=form)
    y = beam.center[1]
    for a in (-0.5, 0.5):
        for z in (0, 1):
            FIX_POINT(beam, (0, y + a, z))
    FORCE(beam, 'SPATIAL', (4, y, 0.5), (0, 0, -1), TIME_SERIES([0, 0, 1, 1E4]))
    if form == 'TL':
        SET_VELOCITY(beam, (4, y - 0.5, 0), (0, 0.6, 0.8), TIME_SERIES([0, 0.01, 1, 0.2]))
RUN(solfec, NEWTON_SOLVER(1E-4, 100), int(NON_SOLFEC_ARGV()[0]) * 1E-2)
