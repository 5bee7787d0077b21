"""Joints that start with a velocity: at the beginning, put on moving bodies by a callback, and after velocities were set; with correction of places."""
solfec = SOLFEC('DYNAMIC', 1E-3, 'out/model')
bulk = BULK_MATERIAL(solfec, density=1000.0)
GRAVITY(solfec, (0, 0, -9.81))
balls = []
solfec.joint_correction = 'ON'
for k in range(6):
    ball = BODY(solfec, 'RIGID', SPHERE((k, 0, 0), 0.1, 1, 1), bulk, label='ball %d' % k)
    INITIAL_VELOCITY(ball, (1.0 + k, 0.5 * k, 0), (0.1 * k, 1, 2))
    balls.append(ball)
FIX_POINT(balls[0], (0.05, 0, 0))
PUT_RIGID_LINK(balls[1], balls[2], (1, 0, 0), (2, 0, 0))

def grab():
    n = round(solfec.time * 1000)
    ball = BYLABEL(solfec, 'BODY', 'ball %d' % (3 + n // 5 % 3))
    if n in (5, 10):
        PUT_RIGID_LINK(ball, None, ball.center, (ball.center[0], 0, 1))
    if n == 15:
        FIX_DIRECTION(ball, ball.center, (0, 1, 1))
    if n == 20:
        INITIAL_VELOCITY(BYLABEL(solfec, 'BODY', 'ball 0'), (0, 3, 0), (1, 0, 0))

CALLBACK(solfec, 5E-3, (), grab)
RUN(solfec, AUTO_SOLVER(1E-9), int(NON_SOLFEC_ARGV()[0]) * 1E-3)
