"""A bar that is squeezed until its matrix has no Cholesky factor, and let go again, while another one turns."""
solfec = SOLFEC('DYNAMIC', 0.05, 'out/model')
soft = BULK_MATERIAL(solfec, young=1E6, poisson=0.2, density=1000.0)
nodes = [0, 0, 0, 3, 0, 0, 3, 0.2, 0, 0, 0.2, 0, 0, 0, 0.2, 3, 0, 0.2, 3, 0.2, 0.2, 0, 0.2, 0.2]
for y in (0, 5):
    bar = BODY(solfec, 'FINITE_ELEMENT', TRANSLATE(HEX(nodes, 3, 1, 1, 1, [1] * 6), (0, y, 0)), soft, form='TL')
    bar.scheme = 'DEF_LIM'
    if y == 0:
        push = TIME_SERIES([0, 6E3, 0.2, 6E3, 0.201, 0, 9, 0])
        FORCE(bar, 'SPATIAL', (0, 0.1, 0.1), (1, 0, 0), push)
        FORCE(bar, 'SPATIAL', (3, 0.1, 0.1), (-1, 0, 0), push)
INITIAL_VELOCITY(bar, (0, 0.1, 1), (0.1, 0, 1))
RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-6, 500), int(NON_SOLFEC_ARGV()[0]) * 0.05)
