"""What is read back is what was computed, to the last bit."""

import pytest

INPUT = """
solfec = SOLFEC('DYNAMIC', 1E-3, 'out/read-back')
solfec.verbose = 'OFF'
SURFACE_MATERIAL(solfec, friction=0.4, restitution=0.2)
bulk = BULK_MATERIAL(solfec, young=1E8, density=1000.0)
GRAVITY(solfec, (0, 0, -9.81))

def box(x, y, z, a, b, c):
    return HULL([w for k in (z, z + c) for j in (y, y + b) for i in (x, x + a) for w in (i, j, k)], 1, 1)

BODY(solfec, 'OBSTACLE', box(-5, -5, -1, 10, 10, 1), bulk, label='floor')
bodies = [BODY(solfec, 'RIGID', box(0, 0, 0.01, 1, 1, 1), bulk, label='lower')]
bodies += [BODY(solfec, 'PSEUDO_RIGID', box(0.2, 0.1, 1.02, 0.8, 1, 0.5), bulk)]
bodies += [BODY(solfec, 'RIGID', SPHERE((0.5, 0.5, 2.1), 0.4, 1, 1), bulk, label='ball')]
bodies += [BODY(solfec, 'RIGID', SPHERE((3, 0, 2), 0.2, 1, 1), bulk, label='swing')]
PUT_RIGID_LINK(bodies[3], None, (3, 0, 2), (2, 0, 2))
bodies[2].scheme = 'RIG_IMP'
INITIAL_VELOCITY(bodies[2], (0.1, 0, -1), (1, 2, 3))
OUTPUT(solfec, 0.01)
RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-5, 200), 0.2)
SEEK(solfec, 0.2)

for body in bodies:
    print([value.hex() for value in body.conf + body.velo])
    print([value.hex() for value in ENERGY(body)])
    print([value.hex() for value in DISPLACEMENT(body, body.center) + VELOCITY(body, body.center)])
for constraint in solfec.constraints:
    print(constraint.kind, [value.hex() for value in constraint.R + constraint.U + constraint.V + constraint.point])
    print([value.hex() for value in constraint.base], constraint.gap.hex(), constraint.area.hex(), constraint.spair)
print([value.hex() for value in ENERGY(solfec)], solfec.time.hex(), solfec.step.hex(), solfec.ncon, solfec.nbod)
"""


@pytest.mark.parametrize("threads", [1, 2])
def test_read_mode_shows_the_bits_that_write_mode_showed(solfec, threads):
    path = solfec.directory / "read-back.py"
    path.write_text(INPUT)
    written = solfec(path, threads=threads)
    read = solfec(path, threads=threads)
    assert "CONTACT" in written.stdout and "RIGLNK" in written.stdout
    assert read.stdout == written.stdout


LIFTED = """
solfec = SOLFEC('DYNAMIC', 1E-3, 'out/lifted')
solfec.verbose = 'OFF'
SURFACE_MATERIAL(solfec, model='%s', spring=1E6, dashpot=-1, cohesion=10.0, friction=%g)
bulk = BULK_MATERIAL(solfec, density=1.0)
floor = [c for z in (-1, 0) for y in (-1, 1) for x in (-1, 1) for c in (x, y, z)]
BODY(solfec, 'OBSTACLE', HULL(floor, 1, 1), bulk)
cube = [c for z in (0, 1) for y in (-0.5, 0.5) for x in (-0.5, 0.5) for c in (x, y, z)]
body = BODY(solfec, 'RIGID', HULL(cube, 1, 1), bulk)
FORCE(body, 'SPATIAL', (0, 0, 0.5), (0, 0, 1), TIME_SERIES([0, 0, 0.1, 20]))
RUN(solfec, %s, 0.04)
print('held at', body.conf[11])
RUN(solfec, %s, 0.3)
print('lifted to', body.conf[11], solfec.ncon)
"""


@pytest.mark.parametrize("model", ["SIGNORINI_COULOMB", "SPRING_DASHPOT"])
@pytest.mark.parametrize("friction", [0.0, 0.5])
@pytest.mark.parametrize("solver", ["GAUSS_SEIDEL_SOLVER(1E-6, 1000)", "PENALTY_SOLVER()"])
def test_a_glued_block_holds_up_to_its_cohesion_and_then_comes_off_for_good(solfec, model, friction, solver):
    path = solfec.directory / "lifted.py"
    path.write_text(LIFTED % (model, friction, solver, solver))
    held, lifted = solfec(path).stdout.splitlines()
    assert float(held.split()[-1]) == pytest.approx(0.5, abs=1e-3)
    assert float(lifted.split()[2]) > 0.8 and int(lifted.split()[3]) == 0
