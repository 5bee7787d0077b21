# Ball impact: three runs in one file, read back and plotted
#
# A ball hits a fixed plate; the contact is a linear spring with three different dashpots.  Manual, chapter 6.2.
# The first command runs the models, the same command again reads the results and plots kinetic energies:
#
#   solfec inp/tutorial/ball-impact.py
#   solfec inp/tutorial/ball-impact.py

arguments = NON_SOLFEC_ARGV()
duration = float(arguments[0]) if arguments else 2.0


def ball_impact(dashpot, number):
    solfec = SOLFEC('DYNAMIC', 1E-3, 'out/tutorial/ball-impact-%d' % number, contacts='MANIFOLD')
    steel = BULK_MATERIAL(solfec, young=15E9, poisson=0.3, density=2E3)
    SURFACE_MATERIAL(solfec, model='SPRING_DASHPOT', friction=0.0, spring=1E9, dashpot=dashpot)
    GRAVITY(solfec, (0, 0, -10))

    slab = [c for z in (-1, 0) for y in (-1, 1) for x in (-1, 1) for c in (x, y, z)]
    BODY(solfec, 'OBSTACLE', HULL(slab, 1, 1), steel)
    ball = BODY(solfec, 'RIGID', SPHERE((0, 0, 1), 1, 1, 1), steel)
    INITIAL_VELOCITY(ball, (0, 0, -5), (0, 0, 0))

    RUN(solfec, PENALTY_SOLVER(), duration)
    return solfec


dashpots = (0.0, 1E6, 1E7)
models = [ball_impact(dashpot, number) for number, dashpot in enumerate(dashpots, 1)]

if not VIEWER() and all(model.mode == 'READ' for model in models):
    import matplotlib

    matplotlib.use('Agg')
    import matplotlib.pyplot as plt

    for model, dashpot in zip(models, dashpots):
        times, kinetic = HISTORY(model, (model, 'KINETIC'), 0, duration)
        plt.plot(times, kinetic, lw=2, label='dashpot %g' % dashpot)
    plt.xlabel('time [s]')
    plt.ylabel('kinetic energy [J]')
    plt.xlim(0, duration)
    plt.ylim(-10000, 110000)
    plt.legend(loc='upper right')
    plt.savefig('out/tutorial/ball-impact.png', dpi=150)
    print('figure: out/tutorial/ball-impact.png')
