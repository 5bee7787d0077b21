"""Results of runs in which bodies fall apart: events, histories, reading, exports."""

import h5py
import pytest

from solfec import cli, results

INPUT = """
solfec = SOLFEC('DYNAMIC', 1E-4, 'out/run')
solfec.verbose = 'OFF'
soft = BULK_MATERIAL(solfec, young=1E6, poisson=0.25, density=1E3)
nodes = [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1]
bar = BODY(solfec, 'FINITE_ELEMENT', HEX(nodes, 2, 2, 4, 1, [1, 2, 3, 4, 5, 6]), soft, label='bar')
hull = BODY(solfec, 'PSEUDO_RIGID', TRANSLATE(HULL(nodes, 1, 1), (3, 0, 0)), soft, label='hull')
other = BODY(solfec, 'RIGID', TRANSLATE(HEX(nodes, 2, 2, 2, 1, [1] * 6), (6, 0, 0)), soft, label='rigid')
hull.velo = (0, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 1)
bar.velo = [v for n in range(bar.mesh.nnod) for v in (0, 0, 6 * bar.mesh.node(n)[2])]
SIMPLIFIED_CRACK(bar, (0.5, 0.5, 0.4), (0.1, 0, 1), (7, 8), 'TENSILE', ft=8E3)
SIMPLIFIED_CRACK(hull, (3.5, 0.5, 0.5), (0, 0, 1), (7, 8), 'TENSILE', ft=5E3)
DISPLAY_POINT(bar, (0.5, 0.5, 1), 'top')

def split():
    if round(solfec.time / 1E-4) == 5:
        RT_SPLIT(other, other.mesh.inter_element_faces_on_plane((6, 0, 0.5), (0, 0, 1)), 7, 8, 'low', 'high')
    if round(solfec.time / 1E-4) == 30:
        DELETE(solfec, other)
        BODY(solfec, 'RIGID', SPHERE((9, 9, 9), 1, 1, 1), soft, label='late')

CALLBACK(solfec, 1E-4, (), split)
RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-6, 100), 4E-3)
"""


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """`run(more)` runs the input, or reads its results, with more lines behind it; returns what it prints."""
    monkeypatch.chdir(tmp_path)

    def call(more="", *switches):
        (tmp_path / "input.py").write_text(INPUT + more)
        capsys.readouterr()
        assert cli.main([*switches, "input.py"]) == 0, capsys.readouterr().err
        return capsys.readouterr().out

    call()
    return call


def test_events_have_parents_causes_and_times(run):
    with results.open("out/run") as file:
        events, steps = file.events, file.steps
    births = {int(e["body"]): int(e["parent"]) for e in events if e["born"]}
    assert births == {4: 2, 5: 2, 6: 3, 7: 3, 8: 1, 9: 1, 10: 0}
    deaths = {int(e["body"]): int(e["cause"]) for e in events if not e["born"]}
    assert deaths == {1: 1, 2: 1, 3: 2, 6: 0}
    with results.open("out/run") as file:
        for k, step in enumerate(steps["step_number"]):  # the frames tell the same; callbacks come after the frame of their step
            alive = {1, 2, 3}
            for e in events[(events["step"] < step) | (events["step"] == step) & (events["cause"] == 1)]:
                alive = alive | {int(e["body"])} if e["born"] else alive - {int(e["body"])}
            assert set(file.frame(k).listed["id"].tolist()) == alive, k


def test_histories_are_nan_outside_of_lives(run):
    text = run("""
import math
end = DURATION(solfec)[1]
first = lambda values: next((k for k, v in enumerate(values) if not math.isnan(v)), None)
times, whole, lower, upper, energy = HISTORY(solfec, [(bar, (0.5, 0.5, 0.1), 'CZ'), ('bar/1', (0.5, 0.5, 0.1), 'CZ'), ('bar/2', (0.5, 0.5, 0.9), 'VZ'), (solfec, 'KINETIC')], 0, end)
k = first(lower)
print(k, first(upper), sum(map(math.isnan, whole[:k])), all(map(math.isnan, whole[k:])), sum(map(math.isnan, energy)))
print(abs(lower[k] - 2 * whole[k - 1] + whole[k - 2]) < 1E-5)
""")
    (born, upper, before, gone, energies), smooth = text.splitlines()[0].split(), text.splitlines()[1]
    assert born == upper and 0 < int(born) < 40 and (before, gone, energies, smooth) == ("0", "True", "0", "True")


def test_reading_goes_to_and_fro_across_splits(run):
    text = run("""
def tell():
    print(sorted(b.label for b in solfec.bodies), [b.label for b in bar.fragments], sum(len(b.display_points) for b in solfec.bodies))
tell()
FORWARD(solfec, 100)
tell()
print(bar.fragments[0].mesh.nnod, bar.fragments[1].mesh.nodes_on_surface(8) is not None, bar.fragments[1].mesh.nodes_on_surface(7), bar.fragments[1].display_points[0][0])
BACKWARD(solfec, 100)
tell()
SEEK(solfec, 4E-3)
tell()
""")
    lines = text.splitlines()
    start = "['bar', 'hull', 'rigid'] [] 1"
    end = "['bar/1', 'bar/2', 'high', 'hull/1', 'hull/2', 'late'] ['bar/1', 'bar/2'] 1"
    assert [lines[0], lines[1], lines[3], lines[4]] == [start, end, start, end]
    assert lines[2].split()[1:] == ["True", "None", "top"] or lines[2].endswith("True [] top")


def test_info_counts_splits(run, capsys):
    assert cli.main(["info", "out/run"]) == 0
    assert "3 bodies fell apart (2 CRACK, 1 SPLIT)" in capsys.readouterr().out


def test_older_results_without_events_can_be_read(run):
    with h5py.File("out/run/run.h5", "r+") as file:
        del file["frames/events"]
    assert "['bar/1'" in run("FORWARD(solfec, 100)\nprint(sorted(b.label for b in solfec.bodies))")


def test_damaged_events_are_refused(run):
    with h5py.File("out/run/run.h5", "r+") as file:
        events = file["frames/events"][...]
        events["cause"] = 99
        file["frames/events"][...] = events
    (path := open("input.py", "a")).write("\nFORWARD(solfec, 1)\n")
    path.close()
    assert cli.main(["input.py"]) != 0


@pytest.mark.parametrize("command", ["VTK_EXPORT", "XDMF_EXPORT"])
def test_exports_have_each_frames_own_bodies(run, command):
    pyvista = pytest.importorskip("pyvista")
    run(f"{command}(solfec, (0, 1), 'exported')")
    with results.open("out/run") as file:
        solid = [set(file.frame(k).listed["id"].tolist()) - {10} for k in range(len(file.times))]
    found = []
    if command == "VTK_EXPORT":
        from vtkmodules.vtkIOHDF import vtkHDFReader

        reader = vtkHDFReader()
        reader.SetFileName("exported.vtkhdf")
        reader.UpdateInformation()
        for k in range(len(solid)):
            reader.SetStep(k)
            reader.Update()
            blocks = pyvista.wrap(reader.GetOutputDataObject(0))
            grid = next(blocks[i] for i in range(blocks.n_blocks) if blocks.get_block_name(i) == "bodies")
            found.append(grid)
    else:
        reader = pyvista.XdmfReader("exported/exported_grids.xmf")
        for time in reader.time_values:
            reader.set_active_time_value(time)
            found.append(reader.read().combine())
    assert [set(grid.cell_data["BID"].tolist()) for grid in found] == solid
    assert [grid.n_cells for grid in found][0] < [grid.n_cells for grid in found][-1]


def test_a_run_killed_in_the_step_of_a_split_goes_on_with_the_same_bits(run, tmp_path):
    """Whatever the last frame is: before, at and after each split."""
    with results.open("out/run") as file:
        whole = [file.frame(k) for k in range(len(file.times))]
        stops = sorted({int(e["step"]) + more for e in file.events for more in (-1, 0, 1)} - {-1, 0})
    for stop in stops:
        with h5py.File("out/run/run.h5") as file:
            assert len(file["frames/steps"]) == len(whole)
        text = INPUT.replace("'out/run'", f"'out/part{stop}'").replace("4E-3)", f"{stop} * 1E-4)")
        (tmp_path / "part.py").write_text(text)
        assert cli.main(["part.py"]) == 0
        (tmp_path / "part.py").write_text(INPUT.replace("'out/run'", f"'out/part{stop}'"))
        assert cli.main(["-c", "part.py"]) == 0
        with results.open(f"out/part{stop}") as file:
            assert len(file.times) == len(whole)
            for k, frame in enumerate(whole):
                other = file.frame(k)
                for name in ("configurations", "velocities", "bodies", "constraints"):
                    assert getattr(frame, name).tobytes() == getattr(other, name).tobytes(), (stop, k, name)
            assert len(file.events) == 11
