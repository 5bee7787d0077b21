"""BODY.fracturecheck and FRACTURE_EXPORT_YAFFEMS: when states are recorded, and what other codes get of them."""

import h5py
import numpy as np
import pytest

from solfec import cli, results

INPUT = """
solfec = SOLFEC('DYNAMIC', 1E-4, 'out/run')
solfec.verbose = 'OFF'
soft = BULK_MATERIAL(solfec, young=1E6, poisson=0.0, density=1E3, fracene=FRACENE)
hard = BULK_MATERIAL(solfec, 'KIRCHHOFF', 'hard', young=1E6, poisson=0.0, density=1E3, fracene=2 * FRACENE)
nodes = [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 2, 1, 0, 2, 1, 1, 2, 0, 1, 2]
def block(x):
    return TRANSLATE(HEX(nodes, 2, 2, 2, 1, [1, 2, 3, 4, 5, 6]), (x, 0, 0))
bar = BODY(solfec, 'FINITE_ELEMENT', block(0), soft, label='bar')
mixed = BODY(solfec, 'FINITE_ELEMENT', block(5), soft, label='mixed')
quiet = BODY(solfec, 'FINITE_ELEMENT', block(9), soft, label='quiet')
APPLY_BULKMAT(solfec, mixed, 1, hard)
bar.fracturecheck = mixed.fracturecheck = 'ON'
for k, body in enumerate((bar, mixed, quiet)):
    for x in (0, 1):
        for y in (0, 1):
            FIX_POINT(body, (x + (0, 5, 9)[k], y, 0))
            SET_VELOCITY(body, (x + (0, 5, 9)[k], y, 2), (0, 0, 1), 10.0)
OUTPUT(solfec, 5E-4)
RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-8, 500), 3E-3)
"""


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)

    def call(more="", fracene=50.0, switches=()):
        (tmp_path / "input.py").write_text(INPUT.replace("FRACENE", repr(fracene)) + more)
        capsys.readouterr()
        assert cli.main([*switches, "input.py"]) == 0, capsys.readouterr().err
        return capsys.readouterr().out

    return call


def test_states_are_recorded_from_when_the_energy_reaches_fracene_times_the_volume(run):
    run("""
print(bar.fracturecheck, quiet.fracturecheck)
""")
    with results.open("out/run") as file:
        records = file.fractures()
        steps = file.steps
        energies = file.history([("bar", "INTERNAL"), ("mixed", "INTERNAL")])
    assert {one.body for one in records} == {1, 2}
    for body, volume_energy, energy in ((1, 2 * 50.0, energies[1]), (2, 2 * 100.0, energies[2])):
        own = [one.step for one in records if one.body == body]
        at = dict(zip(steps["step_number"].tolist(), energy.tolist()))
        assert own == list(range(own[0], own[0] + len(own)))  # in every step from the first on, for energy grows
        assert all((value >= volume_energy) == (step in own) for step, value in at.items())
        assert min(own) > 5


def test_records_hold_displacements_and_reactions(run):
    run()
    with results.open("out/run") as file:
        last = [one for one in file.fractures(1) if one.step == file.steps["step_number"][-1]][0]
        frame = file.frame(-1)
        assert (last.displacement == frame.configurations[:27]).all()
        assert len(last.radius) == 8 and (last.radius == 0.0).all()
        assert sorted(map(tuple, last.point.tolist())) == sorted((x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 2))
        forces = last.reaction[np.argsort(last.point[:, 2], kind="stable")]
        assert (forces[:4, 2] < 0).all() and (forces[4:, 2] > 0).all()  # pulled at both ends


def test_nothing_is_recorded_below_and_by_default(run):
    run(fracene=1e9)
    with results.open("out/run") as file:
        assert file.fractures() == []


def test_records_are_the_same_after_a_continued_run(run, tmp_path):
    run()
    with results.open("out/run") as file:
        whole = file.fractures()
    (tmp_path / "part.py").write_text(INPUT.replace("FRACENE", "50.0").replace("out/run", "out/part").replace("3E-3)", "17E-4)"))
    assert cli.main(["part.py"]) == 0
    (tmp_path / "part.py").write_text(INPUT.replace("FRACENE", "50.0").replace("out/run", "out/part"))
    assert cli.main(["-c", "part.py"]) == 0
    with results.open("out/part") as file:
        parted = file.fractures()
    assert len(whole) == len(parted) > 5
    for one, other in zip(whole, parted):
        assert (one.body, one.step) == (other.body, other.step) and (one.displacement == other.displacement).all() and (one.reaction == other.reaction).all()


def test_info_counts_them(run, capsys):
    run()
    cli.main(["info", "out/run"])
    assert "states in which a body reached its fracture energy" in capsys.readouterr().out


def test_export_writes_every_state_on_tetrahedra(run):
    pyvista = pytest.importorskip("pyvista")
    pytest.importorskip("tetgen")
    assert run("print(FRACTURE_EXPORT_YAFFEMS(bar, 'states'))") == "0\n"  # WRITE mode
    text = run("print(FRACTURE_EXPORT_YAFFEMS(bar, 'deep/states', volume=0.05), FRACTURE_EXPORT_YAFFEMS(quiet, 'none'))")
    with results.open("out/run") as file:
        records = file.fractures(1)
    assert text == f"{len(records)} 0\n"
    grid = pyvista.read("deep/states.vtk")
    sizes = grid.compute_cell_sizes()["Volume"]
    assert sizes.sum() == pytest.approx(2.0) and sizes.max() <= 0.05 * (1 + 1e-9)
    for k, one in enumerate(records):
        moved = grid.point_data[f"displacement_{k}"]
        top = np.isclose(grid.points[:, 2], 2.0)
        assert moved[top][:, 2].max() == pytest.approx(one.displacement[:, 2].max(), rel=1e-6)
        assert grid.point_data[f"force_{k}"].sum(0) == pytest.approx(one.reaction.sum(0), abs=1e-9 * np.abs(one.reaction).max())
        assert np.count_nonzero(grid.point_data[f"force_{k}"].any(1)) == 8


def test_bad_arguments(run, capsys):
    for more, match in (("quality=1.0", "'quality' must be greater than 1"), ("volume=0", "'volume' must be positive")):
        with open("input.py", "w") as file:
            file.write(INPUT.replace("FRACENE", "50.0").replace("RUN(", "#") + f"\nFRACTURE_EXPORT_YAFFEMS(bar, 'x', {more})\n")
        assert cli.main(["input.py"]) == 1
        assert match in capsys.readouterr().err


def test_damaged_records_are_refused(run):
    run()
    with h5py.File("out/run/run.h5", "r+") as file:
        rows = file["frames/fractures"][...]
        rows["nodes_first"] = 2**40
        file["frames/fractures"][...] = rows
    from solfec.errors import SolfecError

    with results.open("out/run") as file, pytest.raises(SolfecError, match="frames/fractures"):
        file.fractures()
