"""HYBRID_SOLVER in several processes: the bits of one, of both models."""

import pytest
from processes import differences, frames_of, needs_mpi, run

SPRINGS = """
MATERIAL (1E3, 1E6, 0.3)
cubes = []
for k in range (6):
  x, y, z = 1.5 * k, 0, 0
  cubes += [MESH ([x,y,z, x+1,y,z, x+1,y+1,z, x,y+1,z, x,y,z+1, x+1,y,z+1, x+1,y+1,z+1, x,y+1,z+1], [8, 0,1,2,3,4,5,6,7, 0], 0, 1)]
ball = SPHERE ((9.5, .5, .5), .3, 0, 1)
for k in range (6):
  if k < 5: SPRING (cubes[k], (1.5*k + 1, .5, .6), cubes[k+1], (1.5*k + 1.5, .5, .6), [-1, -4E4, 1, 4E4], [-1, -1E2, 1, 1E2])
  SPRING (cubes[k], (1.5*k + .5, .5, 1), -1, (1.5*k + .5, .5, 3), [-1, -1E5, 1, 1E5])
SPRING (cubes[5], (8.5, .5, .5), ball, (9.3, .5, .5), [-1, -1E4, 1, 1E4])
GRAVITY (0., lambda t: .1 * t, -10.)
heights = HISTORY ('PZ', cubes[2])
"""
MODEL = """
solfec = SOLFEC ('DYNAMIC', 2E-3, 'out')
SURFACE_MATERIAL (solfec, friction = 0.4)
bulk = BULK_MATERIAL (solfec, density = 1E3)
corners = [(0,0,0), (1,0,0), (1,1,0), (0,1,0), (0,0,1), (1,0,1), (1,1,1), (0,1,1)]
def cube (x, y, z):
  nodes = [c for corner in corners for c in (x + corner[0], y + corner[1], z + corner[2])]
  return BODY (solfec, 'RIGID', HEX (nodes, 1, 1, 1, 1, [1]*6), bulk)
shared = [cube (1.5*k, 0, 0) for k in range (6)]
free = [cube (1.5*k + .3, .2, 1.01) for k in range (6)]
BODY (solfec, 'OBSTACLE', HULL ([(-1,-1,-1), (20,-1,-1), (20,2,-1), (-1,2,-1), (-1,-1,-.01), (20,-1,-.01), (20,2,-.01), (-1,2,-.01)], 1, 1), bulk)
BALL (shared[0], free[0], (.5, .5, 1))
FORCE (free[1], 'SPATIAL', (0, 0, 0), (0, 0, 0), lambda q, u, t, h: [5E3 * t] + 8 * [0])
GRAVITY (solfec, (0, 0, -10))
solver = GAUSS_SEIDEL_SOLVER (1E-6, 200)
solver.colouring = 'ON'
hybrid = HYBRID_SOLVER ('springs.py', 5E-4, {k: body.id for k, body in enumerate (shared)}, solver{switches})
hybrid.parmec_interval = (0.02, 0.004)
def change (solfec):
  if abs (solfec.time - .02) < 1E-9:
    INITIAL_VELOCITY (shared[3], (0, .5, 0), (0, 0, 1))
    DELETE (solfec, {gone})
  if abs (solfec.time - .03) < 1E-9: cube (3, .3, 3)
  return 1
CALLBACK (solfec, .01, solfec, change)
IMBALANCE_TOLERANCE (solfec, 1.05, 1.0, 3)
OUTPUT (solfec, .01)
RUN (solfec, hybrid, float (NON_SOLFEC_ARGV ()[0]))
if RANK () == 0: print (sum (heights), hybrid.exchange)
"""
DRAG = "solfec.add_forces (lambda bodies, time, step: -2.0 * bodies.mass[:, None] * bodies.velocity)\n"  # asks for the whole model in the midst of steps
SWITCHES = ", resynchronise = 'ON', average_forces = 'ON'"
pytestmark = pytest.mark.usefixtures("mpi")


@pytest.fixture
def mpi():
    needs_mpi()


def model(switches="", gone="free[4]", before=""):
    """The input, with lines before its CALLBACK."""
    return MODEL.replace("{switches}", switches).replace("{gone}", gone).replace("CALLBACK", before + "CALLBACK")


def found(directory, counts, duration="0.06", switches="", before=""):
    """Run in so many processes, with a stop after each number; return the frames, and what the input printed last."""
    directory.mkdir()
    (directory / "springs.py").write_text(SPRINGS)
    for k, count in enumerate(counts):
        end = float(duration) * (k + 1) / len(counts)
        said, _ = run(count, directory, model(switches, before=before), "-c", arguments=[end])
    return frames_of(directory / "out"), said.splitlines()[0]


@pytest.mark.parametrize("switches, before", [("", ""), pytest.param(SWITCHES, DRAG, marks=pytest.mark.slow)])
def test_both_models_have_the_bits_of_one_process(tmp_path, switches, before):
    """Bodies change their processes on the way, callbacks delete and add some and change a shared one, and a joint holds a shared one."""
    alone = found(tmp_path / "alone", [1], switches=switches, before=before)
    assert any(name.startswith("explicit/") for name in alone[0])
    for count in (2, 3):
        several = found(tmp_path / str(count), [count], switches=switches, before=before)
        assert differences(several[0], alone[0]) == [] and several[1] == alone[1]


def test_a_run_goes_on_in_other_numbers_of_processes(tmp_path):
    alone, continued = found(tmp_path / "alone", [1, 1]), found(tmp_path / "continued", [3, 2])
    assert differences(continued[0], alone[0]) == []


def test_one_process_writes_the_files_of_the_explicit_engine(tmp_path):
    for name, count in (("alone", 1), ("several", 2)):
        found(tmp_path / name, [count], "0.03")
    alone, several = ({file.name: file.stat().st_size for file in (tmp_path / name).glob("springs0*")} for name in ("alone", "several"))
    assert alone == several and len(alone) > 2


def test_a_shared_body_that_is_deleted_ends_all_processes_with_the_message_of_one(tmp_path):
    (tmp_path / "springs.py").write_text(SPRINGS)
    _, errors = run(2, tmp_path, model(gone="shared[4]"), status=1, arguments=["0.06"])
    assert "body 5, which particle 4 is, does not exist any more" in errors and "Traceback" not in errors


def test_processes_with_different_explicit_models_are_told_so(tmp_path):
    (tmp_path / "springs.py").write_text(SPRINGS + "if RANK (): VELOCITY (ball, (0, 0, 1E-9))\n")
    _, errors = run(2, tmp_path, model(), status=1, arguments=["0.06"])
    assert "different models: they differ in the explicit model" in errors


def test_models_that_no_process_has_whole_are_refused(tmp_path):
    (tmp_path / "springs.py").write_text(SPRINGS)
    _, errors = run(2, tmp_path, model().replace("SURFACE_MAT", "solfec.spread = 'ON'\nSURFACE_MAT"), status=1, arguments=["0.06"])
    assert "HYBRID_SOLVER needs all bodies in all processes at first; set SOLFEC.spread to 'OFF'" in errors
