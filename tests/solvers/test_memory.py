"""Peak memory of steps, measured in separate processes."""

import re
import subprocess
import sys

import pytest

import solfec as sf

MB = "print('MB', resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)"

DOMINOES = """
import resource, warnings
import solfec as sf
warnings.simplefilter("ignore")
s = sf.SOLFEC("DYNAMIC", 1e-3, OUT)
s.verbose = "OFF"
sf.SURFACE_MATERIAL(s, friction=0.3)
sf.GRAVITY(s, (0, 0, -9.81))
bulk = sf.BULK_MATERIAL(s, young=1e7, poisson=0.3, density=1000)
box = lambda a, b, c, d, e, f: [a, b, c, d, b, c, d, e, c, a, e, c, a, b, f, d, b, f, d, e, f, a, e, f]
sf.BODY(s, "OBSTACLE", sf.HULL(box(-5, -5, -0.5, 5, 5, 0), 1, 1), bulk)
for k in range(COUNT):
    x = 0.12 * k
    body = sf.BODY(s, "FINITE_ELEMENT", sf.HEX(box(x, 0, 0, x + 0.1, 0.3, 1), 3, 4, 10, 1, [1] * 6), bulk, form="BC")
    body.scheme = "DEF_LIM"
USER
sf.RUN(s, sf.GAUSS_SEIDEL_SOLVER(1e-14, 1), 2e-3)
"""

FACES = """
import resource, warnings
import solfec as sf
warnings.simplefilter("ignore")
s = sf.SOLFEC("DYNAMIC", 1e-3, OUT)
s.verbose = "OFF"
sf.OUTPUT(s, 1e9)
sf.SURFACE_MATERIAL(s, friction=0.3)
bulk = sf.BULK_MATERIAL(s)
sf.GRAVITY(s, (0, 0, -9.81))
cube = [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1]
sf.BODY(s, "OBSTACLE", sf.TRANSLATE(sf.HEX(cube, N, N, 1, 1, [1] * 6), (0, 0, -1)), bulk)
sf.BODY(s, "RIGID", sf.TRANSLATE(sf.SCALE(sf.HEX(cube, N, N, 1, 2, [2] * 6), (1, 1, 0.1)), (0.003, 0.004, 0)), bulk)
solver = sf.AUTO_SOLVER(1e-6, 200)
sf.RUN(s, solver, s.step)
assert solver.error == "OK", solver.error
print("contacts", s.ncon)
"""


def peak(tmp_path, name: str, text: str, **words) -> int:
    """Megabytes that a model needs at most."""
    for word, value in {"OUT": repr(str(tmp_path / name)), **words}.items():
        text = re.sub(rf"\b{word}\b", str(value), text)
    process = subprocess.run([sys.executable, "-c", text + MB], capture_output=True, text=True, timeout=600)
    assert process.returncode == 0, process.stderr
    return int(process.stdout.split()[-1])


@pytest.mark.slow
def test_an_unsolved_step_with_one_constraint_of_the_user_costs_no_square_of_all_unknowns(tmp_path):
    """Its diagnosis took 36 000 squared numbers: 800 MB at ten dominoes of 220 nodes."""
    without = peak(tmp_path, "without", DOMINOES, COUNT=10, USER="")
    one = peak(tmp_path, "one", DOMINOES, COUNT=10, USER="sf.FIX_POINT(body, (x, 0, 0))")
    assert one < without + 10


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_memory_of_many_contacts_on_one_pair_is_linear(tmp_path):
    """280, 1160 and 3025 contacts: 72, 167 and 738 MB when W was held in blocks."""
    least, most = peak(tmp_path, "few", FACES, N=28), peak(tmp_path, "many", FACES, N=56)
    assert most < least + 150


def test_contacts_of_one_pair_that_are_too_many_for_blocks_carry_the_weight(tmp_path):
    """3025 contacts, swept in the velocity form: accuracy is that of other steps."""
    name = str(tmp_path / "out")
    s = sf.SOLFEC("DYNAMIC", 1e-3, name)
    s.verbose = "OFF"
    sf.SURFACE_MATERIAL(s, friction=0.3)
    bulk = sf.BULK_MATERIAL(s, density=1000)
    sf.GRAVITY(s, (1.0, 0, -9.81))
    cube = [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1]
    sf.BODY(s, "OBSTACLE", sf.TRANSLATE(sf.HEX(cube, 28, 28, 1, 1, [1] * 6), (0, 0, -1)), bulk)
    body = sf.BODY(s, "RIGID", sf.TRANSLATE(sf.SCALE(sf.HEX(cube, 28, 28, 1, 2, [2] * 6), (1, 1, 0.1)), (0.003, 0.004, 0)), bulk)
    solver = sf.AUTO_SOLVER(1e-9)
    sf.RUN(s, solver, s.step)
    assert solver.error == "OK" and solver.methods == {"GAUSS_SEIDEL": 1} and s.ncon > 3000
    assert sum(c.R[2] for c in body.constraints) == pytest.approx(9.81 * body.mass, rel=1e-6)
    assert max(map(abs, body.velo)) < 1e-7
