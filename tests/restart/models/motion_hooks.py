"""Functions before and after the motion of steps: velocities and loads that follow from time, on bodies of every kind in contact."""
import math

solfec = SOLFEC('DYNAMIC', 1E-3, 'out/model')
bulk = BULK_MATERIAL(solfec, young=1E7, poisson=0.25, density=10.0)
SURFACE_MATERIAL(solfec, friction=0.3)
GRAVITY(solfec, (0, 0, -9.81))
cube = [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1]
BODY(solfec, 'OBSTACLE', HULL([c * 20 - 10 if k % 3 < 2 else c - 1 for k, c in enumerate(cube)], 1, 1), bulk)
BODY(solfec, 'RIGID', HULL(cube, 1, 1), bulk)
BODY(solfec, 'PSEUDO_RIGID', TRANSLATE(HULL(cube, 1, 1), (2, 0, 0)), bulk)
BODY(solfec, 'FINITE_ELEMENT', TRANSLATE(HEX(cube, 2, 2, 2, 1, [1] * 6), (4, 0, 0)), bulk)


def before(bodies, time, step):
    bodies.force[1:, 0] = 20 * math.sin(1000 * time)
    bodies.torque[1] = (0, 0, math.cos(700 * time))
    if round(time / step) % 5 == 3:
        bodies.velocity[1:, 1] += 0.1 * math.sin(300 * time)
        bodies.angular_velocity[1, 2] = 0.2


def after(bodies, time, step):
    if round(time / step) % 7 == 2:
        INITIAL_VELOCITY(solfec.bodies[-2], tuple(bodies.velocity[1] * 0.5), (0, 0, 0.1))


solfec.before_motion(before)
solfec.after_motion(after)
solfec.add_forces(lambda bodies, time, step: -0.1 * bodies.mass[:, None] * bodies.velocity)
RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-6, 1000), int(NON_SOLFEC_ARGV()[0]) * 1E-3)
