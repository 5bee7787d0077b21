# Stacks of ten cubes, a hundred of them, far enough from one another
#
# Arguments: stacks along a side, contacts (CLASSIC or MANIFOLD), height of a cube (0.05: towers of thin bricks), duration:
#
#   solfec inp/speed/stacks.py 10 MANIFOLD 1.0 0.2

given = NON_SOLFEC_ARGV() or ()
side = int(given[0]) if len(given) > 0 else 10
contacts = given[1] if len(given) > 1 else 'CLASSIC'
thick, duration = (float(given[k]) if len(given) > k else default for k, default in ((2, 1.0), (3, 0.2)))
LAYERS, GAP = 10, 0.005  # m, initially between cubes

stacks = SOLFEC('DYNAMIC', 1E-3, 'out/speed/stacks-%d-%s-%g' % (side, contacts, thick), contacts=contacts)
SURFACE_MATERIAL(stacks, model='SIGNORINI_COULOMB', friction=0.5)
stone = BULK_MATERIAL(stacks, density=1000)
GRAVITY(stacks, (0, 0, -9.81))

BODY(stacks, 'OBSTACLE', BOX((side, side, -0.5), (2 * side + 4, 2 * side + 4, 1)), stone, label='ground')
bricks = []
for k in range(LAYERS):
    for j in range(side):
        for i in range(side):
            place = (2 * i + 1, 2 * j + 1, GAP + thick / 2 + k * (thick + GAP))
            bricks.append(BODY(stacks, 'RIGID', BOX(place, (1, 1, thick), surfid=2), stone))

OUTPUT(stacks, duration)
RUN(stacks, AUTO_SOLVER(1E-6) if contacts == 'MANIFOLD' else GAUSS_SEIDEL_SOLVER(1E-4, 1000), duration)

if stacks.mode == 'WRITE' and not VIEWER():
    lowest = min(brick.conf[11] for brick in bricks)
    print('%d bodies, %d constraints, kinetic energy %.3e J; the lowest bricks lie %.1e m in the ground' % (
        stacks.nbod, stacks.ncon, ENERGY(stacks)[0], thick / 2 - lowest))
