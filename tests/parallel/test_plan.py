"""What `solfec plan` predicts of several processes: counts are those of a run, and times follow from prices."""

import json
import subprocess
import sys

import numpy as np
import pytest
from courses import NOTHING
from processes import ROOT, spmd

sys.path.insert(0, str(ROOT / "benchmarks"))

import models  # noqa: E402

from solfec.divided import Divided  # noqa: E402
from solfec.parallel.colours import hashes  # noqa: E402
from solfec.parallel.machine import Machine  # noqa: E402
from solfec.parallel.partition import Balance  # noqa: E402
from solfec.parallel.prediction import Measured, divided, forecast, shares  # noqa: E402
from solfec.parallel.statistics import COUNTS  # noqa: E402
from solfec.solvers.gauss_seidel import GaussSeidelSolver  # noqa: E402

pytestmark = pytest.mark.usefixtures("fresh_session")
SCENES = {"block": lambda: models.block(3, manifold=True), "soft": lambda: models.soft_cubes(2, 1)}


@pytest.mark.parametrize("scattered", [False, True])
@pytest.mark.parametrize(("scene", "size"), [("block", 2), ("block", 5), ("soft", 3)])
def test_messages_of_a_step_are_those_of_the_formula(scene, size, scattered):
    copies = [SCENES[scene]() for _ in range(size)]

    def program(world):
        solver = GaussSeidelSolver(1e-3, 7)
        solver.notify = lambda text: None
        run = Divided(copies[world.rank], world, solver, Balance(updatefreq=1000), NOTHING)
        if scattered:
            run._tree.leaf_of = lambda centres, ids: hashes(ids, ids) % size
            run.divide()
        for _ in range(3):
            run.advance()
        held = run.part.owned.sum(), len(run.part.moving) - np.count_nonzero(~run.part.moving), run._solver.held.size
        statistics, sweeps, reach = run.statistics, run.model.report.iterations, run.part.reach
        run.end()
        return held, statistics, sweeps, reach

    results = spmd(size, program)
    _, statistics, sweeps, reach = results[0]
    owner = copies[0].bodies.view("owner").copy()
    copies[0].bodies.view("owner")[:] = 0
    counted = shares(copies[0], owner, reach, size)
    assert [counted.bodies.tolist(), counted.held.tolist(), counted.rows.tolist()] == np.array([held for held, *_ in results]).T.tolist()
    messages, sent = counted.of_step(sweeps)
    for name, expected in {"MESSAGES": messages, "BYTES SENT": sent}.items():
        found = [getattr(statistics, which)[COUNTS.index(name)] for which in ("total", "least", "most")]
        assert found == [expected.sum(), expected.min(), expected.max()], name


def test_a_forecast_adds_what_prices_say():
    model = models.block(3)
    for _ in range(2):
        model.advance(GaussSeidelSolver(1e-3, 20))
    reach, measured = 0.5, Measured(0.2, 0.1, 10, 10**6, 10**5)
    alone = shares(model, np.zeros(model.bodies.n, np.int32), reach, 1)
    free = Machine(0, 0, 0, 0, 0, 0, 1)
    assert forecast(alone, measured, alone, free).seconds == pytest.approx(0.2)
    two = shares(model, divided(model, reach, 2, Balance()), reach, 2)
    share = two.rows.max() / alone.rows[0], two.held.max() / alone.held[0]
    assert 0.5 < share[0] < 1.0 and 0.5 < share[1] <= 1.0
    assert forecast(two, measured, alone, free).seconds == pytest.approx(0.1 * sum(share))
    dear = Machine(1.0, 1.0, 0, 0, 0, 0, 1)  # a machine whose prices are above what was measured here
    assert forecast(alone, measured, alone, dear).seconds == pytest.approx(0.2)
    priced = forecast(two, measured, alone, Machine(0, 0, 1e-3, 0, 1e-2, 5, 1))
    assert priced.messaging == pytest.approx(1e-3 * two.of_step(10)[0].max() + 1e-2 * 10)
    assert priced.memory == pytest.approx(5 + 10**6 * (1 + share[1]) + 3e5)
    measured.spread = True  # no process has the whole model
    assert forecast(two, measured, alone, free).memory == pytest.approx(10**6 * share[1])


INPUT = """
solfec = SOLFEC ('DYNAMIC', 1E-3, 'out/few')
bulk = BULK_MATERIAL (solfec, density = 1E3)
BODY (solfec, 'OBSTACLE', BOX ((-1, -1, -1), (9, 9, 1)), bulk)
for i in range (4):
  for j in range (4): BODY (solfec, 'RIGID', BOX ((i, j, 0), (1, 1, 1)), bulk)
GRAVITY (solfec, (0, 0, -10))
RUN (solfec, SOLVER 1)
"""


def plan(directory, *words, solver="GAUSS_SEIDEL_SOLVER (1E-4, 100),"):
    (directory / "input.py").write_text(INPUT.replace("SOLVER", solver))
    command = [sys.executable, "-m", "solfec.cli", "plan", *words, "input.py"]
    environment = {"XDG_CONFIG_HOME": str(directory), "OMP_NUM_THREADS": "1"}
    return subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True, timeout=60)


def test_the_command_prints_plans_and_writes_nothing(tmp_path):
    shown = plan(tmp_path, "-n", "1,3,64", "--steps", "2")
    assert shown.returncode == 0, shown.stderr
    assert "16 moving bodies" in shown.stdout and "defaults, not measured on this machine" in shown.stdout
    assert "several processes do not pay for such a model" in shown.stdout
    rows = [line.split() for line in shown.stdout.splitlines() if line.split()[:1] in (["1"], ["3"], ["64"])]
    assert len(rows) == 3 and [row[5] for row in rows] == ["16", "6", "1"]
    assert not (tmp_path / "out").exists()
    Machine(message=1.0).write(str(tmp_path / "solfec/processes.json"))
    found = plan(tmp_path, "-n", "2", "--json", solver="")
    assert found.returncode == 0, found.stderr
    facts = json.loads(found.stdout)
    assert facts["prices"].endswith("processes.json") and "AUTO_SOLVER" in facts["notes"][0]
    assert facts["plans"][0]["milliseconds of messages"] > 1e3 * facts["plans"][0]["messages"]


def test_what_has_no_plan_is_told(tmp_path):
    (tmp_path / "input.py").write_text(INPUT.replace("DYNAMIC", "QUASI_STATIC").replace("SOLVER", "AUTO_SOLVER (),"))
    command = [sys.executable, "-m", "solfec.cli", "plan", "input.py"]
    shown = subprocess.run(command, cwd=tmp_path, env={"OMP_NUM_THREADS": "1"}, capture_output=True, text=True, timeout=60)
    assert shown.returncode == 1 and "no plan is built for them" in shown.stderr


def test_no_more_steps_are_made_than_run_makes_and_inputs_without_run_are_told(tmp_path):
    assert "sweeps a step after 3 steps" in plan(tmp_path, "-n", "1", solver="GAUSS_SEIDEL_SOLVER (1E-4, 100), 0.003) #").stdout
    alone = json.loads(plan(tmp_path, "-n", "1", "--json", solver="GAUSS_SEIDEL_SOLVER (1E-4, 100), 0.002) #").stdout)["plans"][0]
    assert alone["speed-up"] == pytest.approx(1.0)
    (tmp_path / "empty.py").write_text("solfec = SOLFEC ('DYNAMIC', 1E-3, 'out/none')")
    command = [sys.executable, "-m", "solfec.cli", "plan", "empty.py"]
    shown = subprocess.run(command, cwd=tmp_path, env={"OMP_NUM_THREADS": "1"}, capture_output=True, text=True, timeout=60)
    assert (shown.returncode, shown.stdout) == (1, "") and "empty.py comes to its end without RUN" in shown.stderr


def test_prices_and_numbers_that_are_none_are_refused(tmp_path):
    (tmp_path / "prices.json").write_text('{"visit": -1}')
    assert "holds no prices of a machine, which are numbers base, byte" in plan(tmp_path, "--machine", "prices.json").stderr
    assert "'2,0' must be numbers of processes from 1 to 16384, such as 1,8,64" in plan(tmp_path, "-n", "2,0").stderr
    assert "--machine nothing.json: cannot be read as prices of a machine: No such file" in plan(tmp_path, "--machine", "nothing.json").stderr
    assert "--steps must be 1 or more, not 0" in plan(tmp_path, "--steps", "0").stderr
