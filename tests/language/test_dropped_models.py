"""SOLFEC objects without references give back memory and files; others may use results when RUN ends; what forked processes may do."""

import gc
import os
import shutil
import signal
import subprocess
import sys
import time
import warnings
import weakref
from concurrent.futures import ThreadPoolExecutor

import pytest
from forks import fork
from unit_cube import CUBE

import solfec as s
from solfec import _kernels, results
from solfec.errors import SolfecError
from solfec.language import session
from solfec.results import frame_file, journal
from solfec.results import open_files as kept


@pytest.fixture(autouse=True)
def own_session(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = session.begin(session.Session(quiet=True))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
    session.current().close()
    session.begin(before)


def model(path):
    """A ball and a soft cube above the ground."""
    solfec = s.SOLFEC("DYNAMIC", 1e-3, path)
    material = s.BULK_MATERIAL(solfec, young=1e6, density=1e3)
    s.GRAVITY(solfec, (0, 0, -10))
    s.BODY(solfec, "OBSTACLE", s.TRANSLATE(s.HULL(CUBE, 1, 1), (0, 0, -1)), material)
    s.BODY(solfec, "RIGID", s.SPHERE((0.7, 0.7, 0.1), 0.1, 1, 1), material)
    mesh = s.TRANSLATE(s.SCALE(s.HEX(CUBE, 1, 1, 1, 1, [1] * 6), (0.2, 0.2, 0.2)), (0.1, 0.1, 0))
    s.BODY(solfec, "FINITE_ELEMENT", mesh, material).scheme = "DEF_LIM"
    return solfec


def run(solfec, steps=2):
    s.RUN(solfec, s.GAUSS_SEIDEL_SOLVER(1e-4, 100), steps * 1e-3)
    return solfec


def open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


def resident() -> float:
    """Megabytes in memory."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE") / 1e6


def make_and_drop(count: int) -> tuple[list[float], list[int]]:
    """Memory and open files after every tenth part of so many models, every other one also read back."""
    memory, files = [], []
    for number in range(count):
        solfec = run(model(f"out/{number % 5}"))
        if number % 2:
            again = s.SOLFEC("DYNAMIC", 1e-3, f"out/{number % 5}", mode="READ")
            assert again.mode == "READ"
            s.SEEK(again, 1)
            assert s.DURATION(again) == (0, pytest.approx(2e-3))
            del again
        del solfec
        shutil.rmtree(f"out/{number % 5}")
        if number % (count // 10) == 0:
            memory.append(resident())
            files.append(open_files())
    return memory, files


def check_growth(count: int) -> None:
    make_and_drop(20)
    memory, files = make_and_drop(count)
    assert max(files) <= min(files) + 2
    assert max(memory[5:]) < max(memory[:5]) + 8.0  # a model takes two megabytes


def test_models_that_are_made_and_dropped_take_no_more_memory_or_files():
    check_growth(60)


@pytest.mark.slow
@pytest.mark.timeout(3000)
def test_two_thousand_models_that_are_made_and_dropped_take_no_more_memory_or_files():
    check_growth(2000)


def test_a_dropped_model_is_gone_and_its_results_are_complete():
    solfec = run(model("out/m"))
    held = weakref.ref(solfec._simulation)
    body = solfec.bodies[0]
    del solfec
    assert held() is not None and body.velo  # a body holds its model
    del body
    gc.collect()
    assert held() is None and not session.current().simulations
    assert sorted(os.listdir("out/m")) == ["STATE", "m.h5"]


READ = """
import h5py, sys
from solfec import results
with h5py.File("out/m/m.h5", "r+") as file:  # the mode that HDF5's own locks refuse first
    print(len(file["frames/steps"]))
with results.open("out/m") as reader:
    print(len(reader.times))
"""


def test_when_run_has_ended_other_processes_read_and_lock_results_and_another_run_goes_on_with_them():
    solfec = model("out/m")
    for runs in range(1, 4):
        run(solfec)
        assert sorted(os.listdir("out/m")) == ["STATE", "m.h5"]
        frames = str(1 + 2 * runs)
        assert subprocess.run([sys.executable, "-c", READ], capture_output=True, text=True, check=True).stdout.split() == [frames, frames]
        told = subprocess.run([sys.executable, "-m", "solfec.cli", "info", "out/m"], capture_output=True, text=True, check=True).stdout
        assert f"frames       {frames}," in told
    whole = model("out/whole")
    run(whole, 6)
    with results.open("out/m") as one, results.open("out/whole") as other:
        assert one.frame(-1).velocities.tobytes() == other.frame(-1).velocities.tobytes()


def test_few_results_stay_open_however_many_models_run_in_turn():
    models, least = [model(f"out/{k}") for k in range(20)], open_files()
    for _ in range(2):
        for solfec in models:
            run(solfec)
    assert open_files() <= least + kept.MOST
    assert all(len(results.open(f"out/{k}").times) == 5 for k in range(20))
    del models, solfec
    gc.collect()
    assert open_files() <= least - 20  # a claim on each directory has gone, too


def test_models_that_run_in_threads_share_the_few_open_files():
    models = [model(f"out/{k}") for k in range(2 * kept.MOST)]

    def go_on(own):
        for _ in range(10):
            for solfec in own:
                run(solfec, 1)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(go_on, (models[k::4] for k in range(4))))
    frames = [results.open(f"out/{k}").frame(-1) for k in range(len(models))]
    assert all(len(results.open(f"out/{k}").times) == 11 for k in range(len(models)))
    assert len({frame.velocities.tobytes() for frame in frames}) == 1


def test_run_for_every_step_opens_results_once(monkeypatch):
    opened = []
    usual = journal.JournalledFile.__init__
    monkeypatch.setattr(journal.JournalledFile, "__init__", lambda self, *a, **k: (opened.append(a), usual(self, *a, **k))[1])
    solfec = model("out/m")
    for _ in range(5):
        run(solfec, 1)
    assert len(opened) == 1


def test_a_run_that_fails_closes_its_results():
    solfec, files = model("out/m"), open_files()
    s.CALLBACK(solfec, 1e-3, (), lambda: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        run(solfec)
    assert open_files() == files
    assert len(results.open("out/m").times) == 2


def test_what_a_dropped_model_has_written_is_read_by_the_next_one_not_overwritten():
    run(model("out/m"))
    session.current().resume = True  # which would continue results of an earlier process
    assert s.SOLFEC("DYNAMIC", 1e-3, "out/m", mode="AUTO").mode == "READ"


def test_results_that_somebody_else_has_changed_between_runs_are_left_alone():
    solfec = run(model("out/m"))
    run(model("out/other"), 5)
    shutil.copy("out/other/other.h5", "out/m/m.h5")
    before = open("out/m/m.h5", "rb").read()
    with pytest.raises(SolfecError, match="out/m/m.h5: the frame at time 0.003 cannot be written: somebody else has changed or replaced"):
        run(solfec)
    assert open("out/m/m.h5", "rb").read() == before
    assert sorted(os.listdir("out/m")) == ["STATE", "m.h5"]


def test_results_that_somebody_else_has_written_as_many_bytes_to_between_runs_are_left_alone():
    solfec = run(model("out/m"))
    run(model("out/other"))
    before = open("out/other/other.h5", "rb").read()
    assert len(before) == os.path.getsize("out/m/m.h5")
    time.sleep(0.02)  # clocks of file systems tick that slowly
    with open("out/m/m.h5", "r+b") as file:
        file.write(before)
    with pytest.raises(SolfecError, match="the frame at time 0.003 cannot be written: somebody else has changed or replaced"):
        run(solfec)
    assert open("out/m/m.h5", "rb").read() == before


def test_results_that_somebody_has_touched_between_runs_are_gone_on_with():
    solfec = run(model("out/m"))
    time.sleep(0.02)
    os.utime("out/m/m.h5")
    run(solfec)
    assert len(results.open("out/m").times) == 5


# --- in the midst of a run ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "deed, said",
    [
        (lambda: os.truncate("out/m/m.h5", 1000), "somebody else cut them from"),
        (lambda: os.truncate("out/m/m.h5", os.path.getsize("out/m/m.h5") - 1), "somebody else cut them from"),
        (lambda: os.unlink("out/m/m.h5"), "the results were removed or replaced meanwhile"),
        (lambda: os.replace("other.h5", "out/m/m.h5"), "the results were removed or replaced meanwhile"),
        (lambda: (os.rename("out/m/m.h5", "kept.h5"), os.rename("other.h5", "out/m/m.h5")), "somebody else put another file in their place"),
    ],
)
def test_results_that_are_cut_or_replaced_in_mid_run_end_it(deed, said):
    run(model("out/other"))
    os.rename("out/other/other.h5", "other.h5")
    solfec = model("out/m")
    s.CALLBACK(solfec, 1e-3, (), lambda: deed() if round(solfec.time * 1e3) == 5 else None)
    with pytest.raises(SolfecError, match=f"m.h5: the frame at time 0.006 cannot be written: {said}") as failed:
        run(solfec, 10)
    assert "intact" not in str(failed.value)
    if os.path.exists("kept.h5"):
        assert len(results.open("kept.h5").times) == 6


def test_results_whose_directory_is_renamed_in_mid_run_are_written_on():
    solfec = model("out/m")
    s.CALLBACK(solfec, 1e-3, (), lambda: os.rename("out/m", "out/n") if round(solfec.time * 1e3) == 5 else None)
    run(solfec, 10)
    assert len(results.open("out/n/m.h5").times) == 11


# --- forked processes --------------------------------------------------------------------------------------


def forked(action) -> int:
    """Status of a process that is forked, does something and leaves as usual."""

    def act() -> int:
        try:
            signal.alarm(60)
            action()
            session.current().close()
            gc.collect()
            return 0
        except SolfecError as error:
            return 3 if "forked from" in str(error) else 4

    return os.waitstatus_to_exitcode(os.waitpid(fork(act, 2), 0)[1])


def test_a_forked_process_leaves_the_results_and_the_journal_of_its_parent_alone():
    _kernels.threads.set_threads(1)  # forked processes have no other threads
    solfec, seen = model("out/m"), []

    def files():
        return [open("out/m/m.h5" + ending, "rb").read() for ending in ("", ".journal")]

    def fork():
        if round(solfec.time * 1e3) == 5:
            before = files()
            seen.append(forked(lambda: None))
            assert files() == before
            for patience in (frame_file.LONGEST_WAIT, 0.0):  # frames in records, and those that datasets take at once
                seen.append(forked(lambda patience=patience: (setattr(frame_file, "LONGEST_WAIT", patience), solfec._simulation._write())))
                assert [len(one) for one in files()] == [len(one) for one in before] and files() == before
            seen.append(forked(lambda: run(model("out/child"), 3)))

    s.CALLBACK(solfec, 1e-3, (), fork)
    run(solfec, 10)
    assert seen == [0, 3, 3, 0]
    assert len(results.open("out/m").times) == 11 and sorted(os.listdir("out/m")) == ["STATE", "m.h5"]
    assert len(results.open("out/child").times) == 4


def test_a_forked_process_may_go_on_with_a_model_between_runs_and_its_parent_then_may_not():
    _kernels.threads.set_threads(1)
    solfec = run(model("out/m"))
    assert forked(lambda: None) == 0 and forked(lambda: run(solfec)) == 0
    assert len(results.open("out/m").times) == 5
    with pytest.raises(SolfecError, match="somebody else has changed or replaced"):
        run(solfec)
    assert len(results.open("out/m").times) == 5


def test_an_input_whose_callback_forks_goes_on(tmp_path):
    (tmp_path / "input.py").write_text("""
import os, sys
solfec = SOLFEC('DYNAMIC', 1E-3, 'm')
BODY(solfec, 'RIGID', SPHERE((0, 0, 0), 1, 1, 1), BULK_MATERIAL(solfec))
def fork():
    if round(solfec.time * 1E3) == 10:
        child = os.fork()
        if child == 0:
            sys.exit(0)
        os.waitpid(child, 0)
        assert os.path.exists('m/m.h5.journal')
CALLBACK(solfec, 1E-3, (), fork)
RUN(solfec, PENALTY_SOLVER(), 0.02)
""")
    done = subprocess.run([sys.executable, "-m", "solfec.cli", "input.py"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert len(results.open(tmp_path / "m").times) == 21
