"""Joints of mechanisms between bodies and beside space, among rigid and pseudo-rigid bodies."""
solfec = SOLFEC('DYNAMIC', 1E-3, 'out/model')
stone = BULK_MATERIAL(solfec, density=1000.0)
GRAVITY(solfec, (0.5, 1, -9.81))
kinds = ['RIGID', 'PSEUDO_RIGID', 'RIGID', 'RIGID', 'PSEUDO_RIGID', 'RIGID', 'RIGID']
balls = [BODY(solfec, kind, SPHERE((k, 0, 0), 0.2, 1, 1), stone) for k, kind in enumerate(kinds)]
HINGE(balls[0], None, (-0.5, 0, 0), (0, 1, 0))
BALL(balls[0], balls[1], (0.5, 0, 0))
UNIVERSAL(balls[1], balls[2], (1.5, 0, 0), (0, 1, 0), (0, 0, 1))
SLIDER(balls[2], balls[3], (2.5, 0, 0), (1, 0, 0))
CYLINDRICAL(balls[3], balls[4], (3.5, 0, 0), (1, 0, 1))
WELD(balls[4], balls[5], (4.5, 0, 0))
HINGE(balls[5], balls[6], (5.5, 0, 0), (1, 2, 3))
wheel = BODY(solfec, 'OBSTACLE', SPHERE((0, 5, 0), 0.2, 1, 1), stone)
SET_ROTATION(wheel, (0, 5, 0), (0, 0, 1), TIME_SERIES([0, 0, 0.02, 5, 1, 0]))
arms = [BODY(solfec, 'RIGID', SPHERE((k, 5, 0), 0.2, 1, 1), stone) for k in range(1, 6)]
motor = HINGE(arms[0], wheel, (0.5, 5, 0), (0, 0, 1), limits=(-0.002, 0.01), restitution=0.5, friction=0.1, label='driven')
MOTOR(HINGE(arms[1], arms[0], (1.5, 5, 0), (0, 1, 0), spring=100.0, damper=2.0, rest=0.01), 'POSITION', lambda t: 0.1 * t, limit=50.0)
MOTOR(SLIDER(arms[2], arms[1], (2.5, 5, 0), (1, 0, 0), friction=2.0), 'RATE', 0.3, limit=30.0)
MOTOR(CYLINDRICAL(arms[3], arms[2], (3.5, 5, 0), (1, 0, 0)), 'EFFORT', lambda q, rate, t: -5 * q - rate + t, coordinate='ANGLE')
ROPE(arms[4], arms[3], (5, 5, 0), (4, 5, 0), length=1.001, restitution=0.2)
INITIAL_VELOCITY(balls[6], (0.1, 0, 0), (0, 1, 2))
RUN(solfec, AUTO_SOLVER(1E-8), int(NON_SOLFEC_ARGV()[0]) * 1E-3)
