"""WRITE, READ and AUTO mode, runs in memory, and who may write to an output directory (docs/running.md, Write and read mode)."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from solfec import results

MODEL = """
import sys
from solfec import *

def drop(v, *output, duration=0.1, **mode):
    solfec = SOLFEC('DYNAMIC', 1e-2, *output, **mode)
    solfec.verbose = 'OFF'
    ball = BODY(solfec, 'RIGID', SPHERE((0, 0, 0), 0.1, 1, 1), BULK_MATERIAL(solfec))
    INITIAL_VELOCITY(ball, (v, 0, 0), (0, 0, 0))
    RUN(solfec, PENALTY_SOLVER(), duration)
    return solfec, ball

def far(v, *output, **mode):
    solfec, ball = drop(v, *output, **mode)
    return solfec.mode, round(ball.conf[9], 9)
"""


@pytest.fixture
def python(tmp_path):
    """`python(text, *words)` runs a plain Python program that begins with MODEL in tmp_path; returns the finished process."""

    def python(text: str, *words: str, status: int = 0):
        (tmp_path / "program.py").write_text(MODEL + textwrap.dedent(text))
        environment = dict(os.environ, OMP_NUM_THREADS="1")
        done = subprocess.run(
            [sys.executable, "program.py", *words], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120
        )
        assert done.returncode == status, done.stdout + done.stderr
        return done

    return python


def last_place(directory: Path) -> float:
    """x of the only body in the last frame."""
    with results.open(directory) as run:
        return round(float(run.frame(-1).configurations[3, 0]), 9)


def files(directory: Path) -> list[str]:
    return sorted(str(path.relative_to(directory)) for path in directory.rglob("*") if path.is_file())


# --- plain Python ------------------------------------------------------------------------------------------

LOOP = "for k in range(1, 11): print(*far(k, 'out/loop'))"
EXPECTED = "".join(f"WRITE {k / 10}\n" for k in range(1, 11))


def test_a_loop_over_cases_computes_each_with_one_path(python, tmp_path):
    done = python(LOOP)
    assert done.stdout == EXPECTED and done.stderr == ""
    assert (last_place(tmp_path / "out/loop"), last_place(tmp_path / "out/loop.old")) == (1.0, 0.9)
    assert files(tmp_path / "out") == ["loop.old/loop.old.h5", "loop.old/loop.old.py", "loop/STATE", "loop/loop.h5", "loop/loop.py"]


def test_a_loop_without_output_writes_no_files(python, tmp_path):
    done = python(LOOP.replace(", 'out/loop'", ""))
    assert done.stdout == EXPECTED and done.stderr == ""
    assert files(tmp_path) == ["program.py"]


def test_a_program_that_is_run_again_computes_again(python, tmp_path):
    for v, old in ((1, None), (2, 0.1), (3, 0.2)):
        assert python(f"print(*far({v}, 'out/day'))").stdout == f"WRITE {v / 10}\n"
        assert last_place(tmp_path / "out/day") == v / 10
        assert old is None or last_place(tmp_path / "out/day.old") == old
    assert "far(2" in (tmp_path / "out/day.old/day.old.py").read_text()


def test_old_results_stay_until_the_first_new_frame(python, tmp_path):
    python("drop(1, 'out/day')")
    python("solfec = SOLFEC('DYNAMIC', 1e-2, 'out/day')\nBODY(solfec, 'RIGID', 5, 6)", status=1)
    assert last_place(tmp_path / "out/day") == 0.1 and not (tmp_path / "out/day.old").exists()


def test_old_results_are_results_for_every_reader(python, tmp_path):
    python("drop(1, 'out/day')\ndrop(2, 'out/day')")
    read = "solfec, ball = drop(5, 'out/day.old', mode='READ')\nSEEK(solfec, 1)\nprint(round(ball.conf[9], 9))"
    done = python(read)
    assert done.stdout == "0.1\n"
    assert done.stderr == "RUN: results exist, nothing computed; frame 0 of 11 in out/day.old\n"


def test_auto_reads_where_there_are_results_and_says_once_that_nothing_was_computed(python):
    text = """
    solfec, ball = drop(1, 'out/auto', mode='AUTO')
    print(solfec.mode)
    RUN(solfec, PENALTY_SOLVER(), 0.1)
    """
    assert python(text).stdout == "WRITE\n"
    done = python(text)
    assert done.stdout == "READ\n"
    assert done.stderr == "RUN: results exist, nothing computed; frame 0 of 21 in out/auto (mode = 'WRITE' computes again)\n"


@pytest.mark.parametrize(
    "arguments, said",
    [
        ("'out/none', mode='READ'", "'mode' is 'READ', and there are no results in out/none"),
        ("mode='READ'", "'mode' is 'READ', and there is no 'output' to read from"),
        ("'out/none', mode='read'", "'mode' must be one of 'WRITE', 'READ', 'AUTO', not 'read'"),
        ("''", "'output' must not be empty"),
        ("3", "'output' must be a string, not int"),
    ],
)
def test_what_cannot_be_a_mode_or_an_output_is_refused(python, tmp_path, arguments, said):
    assert f"SOLFEC: {said}" in python(f"SOLFEC('DYNAMIC', 1e-2, {arguments})", status=1).stderr
    assert files(tmp_path) == ["program.py"]


def test_output_may_be_a_path_object(python, tmp_path):
    assert python("from pathlib import Path\nprint(drop(1, Path('out') / 'path')[0].outpath)").stdout == "out/path\n"
    assert last_place(tmp_path / "out/path") == 0.1


def test_an_earlier_object_of_the_process_gives_way(python):
    text = """
    models = []
    for v in (1, 2):
        solfec = SOLFEC('DYNAMIC', 1e-2, 'out/same')
        solfec.verbose = 'OFF'
        models.append(solfec)
    RUN(models[1], PENALTY_SOLVER(), 0.1)
    try:
        RUN(models[0], PENALTY_SOLVER(), 0.1)
    except RuntimeError as error:
        print(error)
    """
    assert "out/same belongs to a SOLFEC object that was made later with the same output path" in python(text).stdout


def test_a_running_object_does_not_give_way(python):
    text = """
    solfec = SOLFEC('DYNAMIC', 1e-2, 'out/same')
    solfec.verbose = 'OFF'
    def again():
        try:
            SOLFEC('DYNAMIC', 1e-2, 'out/same')
        except RuntimeError as error:
            print(error)
            return 0
    CALLBACK(solfec, 1e-2, (), again)
    RUN(solfec, PENALTY_SOLVER(), 0.1)
    print(solfec.time)
    """
    said, time = python(text).stdout.splitlines()
    assert "is being written by the SOLFEC object that is running" in said and float(time) == 0.01


# --- several processes -------------------------------------------------------------------------------------


@pytest.mark.parametrize("ran", [False, True])
def test_two_live_processes_on_one_path_get_an_error_at_once(python, tmp_path, ran):
    first = "solfec = SOLFEC('DYNAMIC', 1e-2, 'out/both')\n"
    first += "solfec.verbose = 'OFF'\nRUN(solfec, PENALTY_SOLVER(), 0.1)\n" if ran else ""
    first += "print('ready', flush=True)\nsys.stdin.readline()\n" + "RUN(solfec, PENALTY_SOLVER(), 0.1)\nprint(solfec.time)"
    (tmp_path / "first.py").write_text(MODEL + first)
    other = subprocess.Popen(
        [sys.executable, "first.py"], cwd=tmp_path, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert other.stdout.readline() == "ready\n"
    refused = python("SOLFEC('DYNAMIC', 1e-2, 'out/both')", status=1)
    assert "out/both: another run is writing these results, in another process" in refused.stderr
    assert python("print(*far(3))").stdout == "WRITE 0.3\n"
    out, _ = other.communicate("go on\n", timeout=60)
    assert float(out.splitlines()[-1]) == pytest.approx(0.2 if ran else 0.1)
    assert python("print(*far(2, 'out/both'))").stdout == "WRITE 0.2\n"


@pytest.mark.parametrize("start", ["fork", "spawn"])
@pytest.mark.parametrize("output", ["", ", f'out/pool{v}'", ", f'out/w{os.getpid()}'"])
def test_a_pool_computes_right_numbers(python, tmp_path, start, output):
    text = f"""
    import multiprocessing, os

    def case(v):
        return far(v{output})

    if __name__ == '__main__':
        far(0{output.replace("v}", "0}")})
        with multiprocessing.get_context('{start}').Pool(2) as pool:
            for item in pool.map(case, range(1, 7), chunksize=1): print(*item)
    """
    done = python(text)
    assert done.stdout == "".join(f"WRITE {k / 10}\n" for k in range(1, 7)) and done.stderr == ""


def test_a_forked_child_is_refused_the_directory_of_its_parent_and_leaves_it_whole(python, tmp_path):
    text = """
    import os
    solfec, ball = drop(1, 'out/parent')
    if os.fork() == 0:
        try:
            SOLFEC('DYNAMIC', 1e-2, 'out/parent')
        except RuntimeError as error:
            print('another run is writing' in str(error), flush=True)
        os._exit(0)
    os.wait()
    RUN(solfec, PENALTY_SOLVER(), 0.1)
    print(round(ball.conf[9], 9))
    """
    assert python(text).stdout == "True\n0.2\n"
    assert last_place(tmp_path / "out/parent") == 0.2


def test_a_child_that_outlives_its_parent_does_not_keep_its_directory(python):
    text = """
    import os, time
    solfec = SOLFEC('DYNAMIC', 1e-2, 'out/parent')
    if os.fork() == 0:
        os.close(1), os.close(2)
        time.sleep(30)
        os._exit(0)
    os._exit(0)
    """
    python(text)
    assert python("print(*far(2, 'out/parent'))").stdout == "WRITE 0.2\n"


# --- notebooks and tests -----------------------------------------------------------------------------------


@pytest.mark.parametrize("output", ["", ", 'out/cell'"])
def test_a_notebook_run_twice_cell_by_cell_gives_the_same_numbers(python, output):
    """Cells are executed in one namespace, as IPython does, under names of their own."""
    text = f"""
    cells = [
        "solfec = SOLFEC('DYNAMIC', 1e-2{output}); solfec.verbose = 'OFF'",
        "ball = BODY(solfec, 'RIGID', SPHERE((0, 0, 0), 0.1, 1, 1), BULK_MATERIAL(solfec))",
        "INITIAL_VELOCITY(ball, (1, 0, 0), (0, 0, 0))",
        "RUN(solfec, PENALTY_SOLVER(), 0.1)",
        "print(solfec.mode, round(ball.conf[9], 9))",
    ]
    names = {{'__name__': '__main__'}}
    exec('from solfec import *', names)
    for number in range(2):
        for k, cell in enumerate(cells):
            exec(compile(cell, f'<ipython-input-{{k}}>', 'exec'), names)
    """
    done = python(text)
    assert done.stdout == "WRITE 0.1\n" * 2 and done.stderr == ""


@pytest.mark.parametrize("output, times", [("", 2), (", 'out/test'", 2), (", tmp_path / 'test'", 1)])
def test_a_test_suite_of_ones_own_needs_no_word_about_paths(tmp_path, output, times):
    tests = f"""
    import pytest

    @pytest.mark.parametrize('v', [1, 2, 3])
    def test_far(v, tmp_path):
        mode, x = far(v{output})
        assert mode == 'WRITE' and x == pytest.approx(v / 10)
    """
    (tmp_path / "test_own.py").write_text(MODEL + textwrap.dedent(tests))
    for _ in range(times):
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "0", "test_own.py"],
            cwd=tmp_path, capture_output=True, text=True, timeout=120,
        )  # fmt: skip
        assert done.returncode == 0 and "3 passed" in done.stdout, done.stdout


# --- in memory ---------------------------------------------------------------------------------------------

IN_MEMORY = """
solfec, ball = drop(1)
taken = []
OUTPUT(solfec, 0.02, 'ON')
CALLBACK(solfec, 0.05, (), lambda: taken.append(round(solfec.time, 9)))
RUN(solfec, PENALTY_SOLVER(), 0.1)
print(taken, solfec.outpath, solfec.mode, solfec, round(ball.conf[9], 9))
SEEK(solfec, 0.0), FORWARD(solfec, 1)
print(round(DURATION(solfec), 9), TIMING(solfec, 'TIMINT') >= 0, ENERGY(solfec).kinetic > 0)
solfec.cleanup = 'ON'
try:
    HISTORY(solfec, 'STEP', 0, 1)
except ValueError as error:
    print(error)
"""


def test_a_run_in_memory_does_all_but_keep_frames(python, tmp_path):
    done = python(IN_MEMORY)
    first, second, third = done.stdout.splitlines()
    assert first == "[0.11, 0.15, 0.2] None WRITE SOLFEC('DYNAMIC', 0.01)  # WRITE, time 0.2, 1 body 0.2"
    assert second == "0.2 True True"
    assert third.startswith("HISTORY: the run stays in memory (output = None) and keeps no frames")
    assert done.stderr == "" and files(tmp_path) == ["program.py"]


def test_a_run_in_memory_has_the_bits_of_one_that_is_written(python):
    done = python("for output in ((), ('out/file',)): print([x.hex() for x in drop(1.1, *output)[1].conf])")
    one, other = done.stdout.splitlines()
    assert one == other


# --- under the command -------------------------------------------------------------------------------------

DROP = """
solfec = SOLFEC('DYNAMIC', 1E-2{arguments})
solfec.verbose = 'OFF'
ball = BODY(solfec, 'RIGID', SPHERE((0, 0, 0), 0.1, 1, 1), BULK_MATERIAL(solfec))
INITIAL_VELOCITY(ball, ({v}, 0, 0), (0, 0, 0))
RUN(solfec, PENALTY_SOLVER(), 0.1)
print(solfec.mode, round(ball.conf[9], 9))
"""


def test_the_command_keeps_its_habits_and_says_so(run, tmp_path):
    text = DROP.format(arguments=", 'out/habit'", v=1)
    assert run(text).out == "WRITE 0.1\n"
    read = run(text)
    assert read.out == "READ 0.0\n"
    assert read.err == "RUN: results exist, nothing computed; frame 0 of 11 in out/habit (the switch -w computes again)\n"
    assert run(text, "--quiet", "PATH").err == ""
    assert run(text, "-w", "-y", "PATH").out == "WRITE 0.1\n"
    assert not (tmp_path / "out/habit.old").exists()
    both = run(text + text, "-w", "-y", "PATH")
    assert both.out == "WRITE 0.1\nREAD 0.0\n" and "mode = 'WRITE' computes again" in both.err


def test_an_input_may_ask_for_writing_under_the_command(run, tmp_path):
    for v in (1, 2):
        assert run(DROP.format(arguments=", 'out/asked', 'WRITE'", v=v)).out == f"WRITE {v / 10}\n"
    assert (last_place(tmp_path / "out/asked"), last_place(tmp_path / "out/asked.old")) == (0.2, 0.1)
    longer = DROP.format(arguments=", 'out/asked', 'WRITE'", v=2).replace("0.1)\nprint", "0.2)\nprint")
    assert run(longer, "-c", "PATH").out == "WRITE 0.4\n"
    assert last_place(tmp_path / "out/asked.old") == 0.1


def test_an_input_may_run_in_memory_under_the_command(run, tmp_path):
    for switches in ((), ("-c", "PATH"), ("-w", "-y", "PATH"), ("-s", "sub", "PATH")):
        assert run(DROP.format(arguments="", v=1), *switches).out == "WRITE 0.1\n"
    assert files(tmp_path) == ["input.py"]
