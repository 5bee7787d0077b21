# A press: hinges, sliders, limits, friction and a motor that slips
#
# A crank drives a ram against a pad on a spring, once with a motor that is too weak and once with one that is strong enough.
# Manual, chapter 6.3.  The first command runs the models, the same command again reads the results, prints and plots:
#
#   solfec inp/tutorial/press.py
#   solfec inp/tutorial/press.py

from math import pi, cos, sin

arguments = NON_SOLFEC_ARGV()
duration = float(arguments[0]) if arguments else 1.2

crank, rod = 0.05, 0.2                           # lengths between hinges
play = 0.08                                      # way of the ram to the pad; the stroke is 2 * crank
spring, preload, friction = 1E5, 500.0, 50.0     # of the pad; of the ram's guide
torques = (30.0, 60.0)                           # largest ones of the motors


def plate(corners, low, high, surface):
    return HULL([c for z in (low, high) for x, y in corners for c in (x, y, z)], 1, surface)


def block(x0, x1, half, surface):
    return plate([(x, y) for x in (x0, x1) for y in (-half, half)], -half, half, surface)


def press(torque, number):
    solfec = SOLFEC('DYNAMIC', 1E-3, 'out/tutorial/press-%d' % number, contacts='MANIFOLD')
    steel = BULK_MATERIAL(solfec, density=7800)
    SURFACE_MATERIAL(solfec, friction=0.2)
    CONTACT_EXCLUDE_SURFACES(solfec, 1, 1)       # the ram and the pad, of surface 2, touch; the other parts pass each other
    CONTACT_EXCLUDE_SURFACES(solfec, 1, 2)

    # the crank stands at the far point: the ram moves along x
    wheel = plate([(0.08 * cos(2 * pi * k / 48), 0.08 * sin(2 * pi * k / 48)) for k in range(48)], -0.035, -0.015, 1)
    wheel = BODY(solfec, 'RIGID', [wheel, plate([(-crank + x, y) for x in (-.01, .01) for y in (-.01, .01)], -0.015, 0.015, 1)], steel, label='crank')
    link = BODY(solfec, 'RIGID', plate([(x, y) for x in (-crank, rod - crank) for y in (-.012, .012)], -0.01, 0.01, 1), steel, label='rod')
    wrist = rod - crank
    ram = BODY(solfec, 'RIGID', block(wrist, wrist + 0.12, 0.03, 2), steel, label='ram')
    face = wrist + 0.12 + play
    pad = BODY(solfec, 'RIGID', block(face, face + 0.02, 0.04, 2), steel, label='pad')

    shaft = HINGE(wheel, None, (0, 0, 0), (0, 0, 1), label='shaft')
    HINGE(link, wheel, (-crank, 0, 0), (0, 0, 1))
    HINGE(link, ram, (wrist, 0, 0), (0, 0, 1))
    SLIDER(ram, None, (wrist, 0, 0), (1, 0, 0), friction=friction, label='guide')
    SLIDER(pad, None, (face, 0, 0), (1, 0, 0), limits=(0, 0.03), spring=spring, rest=-preload / spring, label='bed')
    MOTOR(shaft, 'RATE', 2 * pi, limit=torque)

    OUTPUT(solfec, 0.005)
    RUN(solfec, AUTO_SOLVER(), duration)
    return solfec


models = [press(torque, number) for number, torque in enumerate(torques, 1)]

if not VIEWER() and all(model.mode == 'READ' for model in models):
    import matplotlib

    matplotlib.use('Agg')
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(3, 1, sharex=True, layout='constrained')
    items = [('shaft', 'ANGLE'), ('shaft', 'TORQUE'), ('bed', 'TRAVEL')]
    for model, torque in zip(models, torques):
        times, angle, motor, travel = HISTORY(model, items, 0, duration)
        for panel, values in zip(panels, (angle, motor, [1E3 * q for q in travel])):
            panel.plot(times, values, label='motor of %g Nm' % torque)
        far = max(range(len(travel)), key=lambda k: travel[k])
        torques_under_way = [value for time, value in zip(times, motor) if time > 0.2]
        print('motor of %g Nm: pad moved %.2f mm at %.1f degrees; largest torque under way %.1f Nm' % (
            torque, 1E3 * travel[far], angle[far] * 180 / pi, max(torques_under_way)))
        print('  at the end: %.1f degrees, pad moved %.2f mm, spring %.0f N, motor %.1f Nm' % (
            angle[-1] * 180 / pi, 1E3 * travel[-1], preload + spring * travel[-1], motor[-1]))
    for panel, name in zip(panels, ('angle [rad]', 'torque [Nm]', 'travel of the pad [mm]')):
        panel.set_ylabel(name)
    panels[2].set_xlabel('time [s]')
    panels[0].legend()
    plt.savefig('out/tutorial/press.png', dpi=150)
    print('figure: out/tutorial/press.png')
