"""FMUs: a model as an FMU that fmpy validates and runs as Solfec does, and an FMU whose outputs load a body."""

from __future__ import annotations

import numpy as np
import pytest

from solfec import AUTO_SOLVER, BODY, BULK_MATERIAL, GRAVITY, RUN, SOLFEC, SPHERE, subcommands
from solfec.coupling.fmu import FmuForce, export_fmu

fmpy = pytest.importorskip("fmpy", reason="it runs FMUs: pip install 'solfec[fmi]'")
pytest.importorskip("pythonfmu", reason="it makes FMUs: pip install 'solfec[fmi]'")

INPUT = """
solfec = SOLFEC ('DYNAMIC', 1E-3, 'out/box')
solfec.verbose = 'OFF'
SURFACE_MATERIAL (solfec, friction = 0.3)
bulk = BULK_MATERIAL (solfec, density = 1000)
GRAVITY (solfec, (0, 0, -10))
cube = [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1]
ground = BODY (solfec, 'OBSTACLE', TRANSLATE (SCALE (HULL (cube, 1, 1), (9, 9, 1)), (-4, -4, -1)), bulk, label = 'ground')
box = BODY (solfec, 'RIGID', HULL (cube, 1, 1), bulk, label = 'box')
SET_VELOCITY (ground, (0, 0, -0.5), (1, 0, 0), 0.0)
{more}
RUN (solfec, AUTO_SOLVER (1E-12), 0.1)
{end}
"""
PUSHED = """
def push (bodies, time, step):
  force = bodies.velocity * 0
  force[1] = (4000 if time > 0.05 else 2000, 100, 0)
  return force, force * 0 + (0, 0, 50)
solfec.add_forces (push)
"""


@pytest.fixture(scope="module")
def fmu(tmp_path_factory):
    folder = tmp_path_factory.mktemp("fmu")
    (folder / "box.py").write_text(INPUT.format(more="", end=""))
    return export_fmu(str(folder / "box.py"), str(folder / "box"))


def test_an_exported_model_passes_the_validator_and_reproduces_its_run(fmu, solfec, tmp_path):
    from fmpy.validation import validate_fmu

    assert validate_fmu(fmu) == []
    times = np.arange(101) * 1e-3
    signal = np.array(
        [(t, 4000 if t > 0.0495 else 2000, 100, 50) for t in times],
        dtype=[("time", float), ("box.force_x", float), ("box.force_y", float), ("box.torque_z", float)],
    )
    found = fmpy.simulate_fmu(
        fmu, stop_time=0.1, step_size=1e-3, output_interval=1e-3, input=signal, fmi_call_logger=None,
        output=[f"box.{name}_{axis}" for name in ("place", "velocity", "reaction") for axis in "xyz"],
    )  # fmt: skip
    end = "print ([float (x).hex () for x in (*box.conf[9:], *box.velo[3:])])"
    (tmp_path / "pushed.py").write_text(INPUT.format(more=PUSHED, end=end))
    printed = solfec(tmp_path / "pushed.py").stdout.strip().splitlines()[-1]
    own = [float.fromhex(word.strip("' ")) for word in printed.strip("[]").split(",")]
    last = np.array(found[-1].tolist())[1:]
    assert last[:6] == pytest.approx(own, abs=1e-9)
    assert own[0] == pytest.approx(0.50125, abs=2e-4)  # it slides from 0.05 s on
    rate = np.diff(found["box.velocity_z"][-2:])[0] / 1e-3
    assert last[8] == pytest.approx(1000 * (rate + 10), abs=0.1)  # Newton's law for the last step


def test_prescribed_motions_are_inputs(fmu, solfec, tmp_path):
    (name,) = [variable.name for variable in fmpy.read_model_description(fmu).modelVariables if variable.name.startswith("constraint_")]
    signal = np.array([(t, 0.2) for t in np.arange(101) * 1e-3], dtype=[("time", float), (name, float)])
    found = fmpy.simulate_fmu(
        fmu, stop_time=0.1, step_size=1e-3, output_interval=1e-3, input=signal, fmi_call_logger=None,
        output=["box.place_x", "box.velocity_x", "ground.place_x", "box.reaction_x"],
    )  # fmt: skip
    text = INPUT.format(more="", end="print ([float (x).hex () for x in (box.conf[9], box.velo[3], ground.conf[9])])")
    assert "(1, 0, 0), 0.0)" in text
    (tmp_path / "driven.py").write_text(text.replace("(1, 0, 0), 0.0)", "(1, 0, 0), 0.2)"))
    printed = solfec(tmp_path / "driven.py").stdout.strip().splitlines()[-1]
    own = [float.fromhex(word.strip("' ")) for word in printed.strip("[]").split(",")]
    assert [found[name][-1] for name in ("box.place_x", "box.velocity_x", "ground.place_x")] == pytest.approx(own, abs=1e-9)
    assert own[1] == pytest.approx(0.2, abs=0.01) and own[2] == pytest.approx(0.52, abs=1e-3)  # the table carries the box along
    assert np.mean(found["box.reaction_x"][1:50]) == pytest.approx(0.3 * 1000 * 10, rel=0.03)  # friction; the box rocks a little on two points


SPRING = '''
from pythonfmu import Fmi2Causality, Fmi2Slave, Real

class Spring(Fmi2Slave):
    def __init__(self, **keywords):
        super().__init__(**keywords)
        self.x, self.f = 0.0, 0.0
        self.register_variable(Real("x", causality=Fmi2Causality.input))
        self.register_variable(Real("f", causality=Fmi2Causality.output))

    def do_step(self, current_time, step_size):
        self.f = -400.0 * self.x
        return True
'''


def test_an_fmu_loads_a_body(tmp_path):
    """A spring of 400 N/m and a ball of 1 kg: x = 0.1 cos (20 t)."""
    from pythonfmu.builder import FmuBuilder

    (tmp_path / "spring.py").write_text(SPRING)
    path = str(FmuBuilder.build_FMU(tmp_path / "spring.py", dest=tmp_path))
    solfec = SOLFEC("DYNAMIC", 1e-3)
    solfec.verbose = "OFF"
    radius = (3 / (4 * np.pi)) ** (1 / 3) / 10
    ball = BODY(solfec, "RIGID", SPHERE((0.1, 0, 0), radius, 1, 1), BULK_MATERIAL(solfec, density=1000))
    GRAVITY(solfec, (0, 0, 0))
    force = FmuForce(ball, path, {"x": "place_x"}, {"f": "force_x"})
    RUN(solfec, AUTO_SOLVER(), 0.2)
    force.close()
    assert ball.conf[9] == pytest.approx(0.1 * np.cos(4.0), abs=0.005)
    with pytest.raises(RuntimeError, match="has no variable 'y'; it has x, f"):
        FmuForce(ball, path, {"y": "place_x"}, {})
    with pytest.raises(RuntimeError, match="must name one of force_x"):
        FmuForce(ball, path, {}, {"f": "power"})
    broken = tmp_path / "broken.fmu"
    broken.write_text("no archive")
    with pytest.raises(RuntimeError, match="broken.fmu' cannot be read as an FMU: File is not a zip file"):
        FmuForce(ball, str(broken), {}, {})
    table = BODY(solfec, "OBSTACLE", SPHERE((9, 0, 0), 0.1, 1, 1), BULK_MATERIAL(solfec))
    with pytest.raises(RuntimeError, match="is an obstacle and takes no loads"):
        FmuForce(table, path, {"x": "place_x"}, {"f": "force_x"})


def test_a_missing_package_is_named(tmp_path, monkeypatch):
    def absent(name):
        raise ImportError(name)

    monkeypatch.setattr("solfec.coupling.fmu.installed.load", absent)
    (tmp_path / "a.py").write_text("")
    with pytest.raises(RuntimeError, match=r"FMUs need the package pythonfmu, which is not installed; run: python -m pip install 'solfec\[fmi\]'"):
        export_fmu(str(tmp_path / "a.py"), str(tmp_path / "a"))


def test_the_command_writes_an_fmu_or_says_why_not(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "box.py").write_text(INPUT.format(more="", end=""))
    assert subcommands.run("fmu", ["box.py"]) == 0 and capsys.readouterr().out.strip() == str(tmp_path / "box.fmu")
    assert fmpy.read_model_description(str(tmp_path / "box.fmu")).modelName == "Model_box"
    for words, why in (["bow.py"], "there is no 'bow.py'"), (["box.py", "away/box"], "there is no such directory"), (["box.py", "./.fmu"], "must not be empty"):
        assert subcommands.run("fmu", words) == 1
        said = capsys.readouterr().err
        assert said.startswith("solfec fmu: ") and why in said and len(said.splitlines()) == 1
