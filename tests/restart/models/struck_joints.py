"""Links and ball joints through which impacts pass, one pair of balls in every step."""
solfec = SOLFEC('DYNAMIC', 1E-3, 'out/model')
stone = BULK_MATERIAL(solfec, density=1000.0)
BODY(solfec, 'OBSTACLE', HULL([c for z in (-1, 0) for y in (-1, 6) for x in (-1, 14) for c in (x, y, z)], 1, 1), stone)
for k in range(13):
    for side in (0, 3):
        height = 0.2 + 0.02 * k
        one = BODY(solfec, 'RIGID', SPHERE((k, side, height), 0.2, 1, 1), stone)
        two = BODY(solfec, 'PSEUDO_RIGID' if k % 3 else 'RIGID', SPHERE((k, side + 1, height + 0.5), 0.2, 1, 1), stone)
        if side:
            BALL(one, two, (k, side + 0.5, height + 0.25))
        else:
            PUT_RIGID_LINK(one, two, (k, side, height), (k, side + 1, height + 0.5))
        for body in (one, two):
            INITIAL_VELOCITY(body, (0, 0, -10), (0, 0, 0))
RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-8, 500), int(NON_SOLFEC_ARGV()[0]) * 1E-3)
