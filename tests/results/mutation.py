"""Results files with damage of every sort, read and continued in processes of their own: ``python mutation.py SEED COUNT`` in an empty directory.

Prints one line per finding - a signal, a hang, an error that is Python's own - and ends with status 1 when there are any.
"""

from __future__ import annotations

import os
import random
import re
import resource
import shutil
import signal
import sys
from pathlib import Path

import h5py
import numpy as np

from solfec import _kernels, cli
from solfec.results import journal

MODEL = """
solfec = SOLFEC('DYNAMIC', 1E-3, 'out/m')
solfec.verbose = 'OFF'
SURFACE_MATERIAL(solfec, friction=0.3)
soft = BULK_MATERIAL(solfec, density=1000.0, young=1E6)
GRAVITY(solfec, (0, TIME_SERIES([0, 0, 1, 1]), -9.81))
corners = [-1, -1, -1, 1, -1, -1, 1, 1, -1, -1, 1, -1, -1, -1, 1, 1, -1, 1, 1, 1, 1, -1, 1, 1]
nodes = [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1]
BODY(solfec, 'OBSTACLE', TRANSLATE(SCALE(HULL(corners, 1, 1), (2, 2, 1)), (0, 0, -1)), soft)
balls = [BODY(solfec, 'RIGID', SPHERE((0.3 * k, 0, 0.1), 0.1, 1, 1), soft, label='ball %d' % k) for k in range(3)]

def cube(x, y):
    return TRANSLATE(SCALE(HEX(nodes, 1, 1, 1, 1, [1] * 6), (0.2, 0.2, 0.2)), (x, y, 0))

elements = BODY(solfec, 'FINITE_ELEMENT', cube(-0.5, 0.5), soft)
elements.scheme = 'DEF_LIM'
PRESSURE(elements, 1, 100.0)
FORCE(balls[1], 'SPATIAL', balls[1].center, (1, 0, 0), TIME_SERIES([0, 0, 1, 9]))
PUT_SPRING(balls[0], (0, 0, 0.1), balls[1], (0.3, 0, 0.1), [-1, 100, 1, -100], (-0.5, 0.5))
FIX_POINT(balls[2], (0.6, 0, 0.1))

def change():
    k = round(solfec.time * 1000)
    BODY(solfec, 'RIGID', SPHERE((0.1 * k, -0.5, 0.1), 0.1, 1, 1), soft, label='born at %d' % k)
    pseudo = BODY(solfec, 'PSEUDO_RIGID', TRANSLATE(SCALE(HULL(corners, 1, 1), (0.1, 0.1, 0.1)), (0.1 * k, 0.9, 0.1)), soft)
    BODY(solfec, 'FINITE_ELEMENT', cube(-1.5 + 0.1 * k, -1), soft).scheme = 'DEF_LIM'
    if k > 4:
        DELETE(solfec, [body for body in solfec.bodies if body.label.startswith('born')][-1])

CALLBACK(solfec, 3E-3, (), change)
RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-5, 100), float(NON_SOLFEC_ARGV()[0]))
if solfec.mode == 'READ':
    for k in range(12):
        FORWARD(solfec, 1)
    HISTORY(solfec, [(solfec, 'KINETIC'), (elements, (-0.5, 0.5, 0), 'CZ'), 'STEP'], 0, 1)
    print([body.conf for body in solfec.bodies], [constraint.R for constraint in solfec.constraints])
"""
PATIENCE = 120
FILE = "out/m/m.h5"
RAW = re.compile(r"(\w*(Error|Exception|Interrupt)): ")
ODD = [0, 1, -1, 7, -7, 2**31 - 1, -(2**31), 10**6, 2**40, 2**62, -(2**62)]
ODD_REALS = [float("nan"), float("inf"), -float("inf"), 0.0, -1.0, 1e308, -1e308, 5e-324, 1e15]


def datasets(file) -> list[str]:
    found: list[str] = []
    file.visititems(lambda name, item: found.append(name) if isinstance(item, h5py.Dataset) else None)
    return found


def change_number(chance: random.Random) -> str:
    """Change one number of one dataset, or of all its rows."""
    with h5py.File(FILE, "r+") as file:
        name = chance.choice([name for name in datasets(file) if file[name].size])
        rows = file[name][...]
        field = chance.choice(rows.dtype.names) if rows.dtype.names else None
        column = rows if field is None else rows[field]
        where = tuple(chance.randrange(size) for size in column.shape)
        where = where if chance.random() < 0.8 else ...
        if column.dtype.kind == "f":
            value = chance.choice(ODD_REALS)
        elif column.dtype.kind == "S":
            value = bytes(chance.randrange(256) for _ in range(9))
        else:
            info = np.iinfo(column.dtype)
            value = min(max(chance.choice(ODD), info.min), info.max)
        column[where] = value
        file[name][...] = rows
    return f"{name} {field} {where} = {value}"


def change_form(chance: random.Random) -> str:
    """Remove, shorten, lengthen or retype a dataset or an attribute, or replace it by a group."""
    with h5py.File(FILE, "r+") as file:
        name = chance.choice(datasets(file))
        how = chance.choice(["delete", "shorten", "empty", "lengthen", "group", "numbers", "attribute", "transposed"])
        if how == "attribute":
            place = chance.choice(["/", "model"])
            key = chance.choice(list(file[place].attrs))
            value = chance.choice([None, -1, "text", float("nan"), [1, 2]])
            del file[place].attrs[key]
            if value is not None:
                file[place].attrs[key] = value
            return f"attribute {key} = {value}"
        rows = file[name][...]
        if how in ("shorten", "empty", "lengthen") and file[name].maxshape[0] is None:
            file[name].resize({"shorten": max(len(rows) - 1, 0), "empty": 0, "lengthen": len(rows) + 3}[how], axis=0)
        else:
            del file[name]
            if how == "group":
                file.create_group(name)
            elif how == "numbers":
                file[name] = np.arange(len(rows), dtype=float)
            elif how == "transposed":
                file[name] = rows.reshape(1, *rows.shape)
    return f"{how} {name}"


def change_text(chance: random.Random) -> str:
    """Change one byte of the settings, labels, arguments or input."""
    with h5py.File(FILE, "r+") as file:
        name = "model/" + chance.choice(["texts", "texts", "texts", "label_texts", "arguments"])
        at, value = chance.randrange(len(file[name])), chance.choice(b'0123456789"[]{},:-.e \x1b\xff')
        file[name][at] = value
    return f"{name} [{at}] = {value}"


def change_bytes(chance: random.Random) -> str:
    """Change bits, blocks or the length of the file, or add a journal beside it."""
    data = bytearray(Path(FILE).read_bytes())
    how = chance.choice(["bits", "bits", "cut", "zeros", "garbage", "swap", "journal"])
    at = chance.randrange(len(data) if chance.random() < 0.5 else 4096)
    size = chance.choice([1, 8, 64, 512, 4096])
    if how == "journal":
        Path(FILE + ".journal").write_bytes(journal.MAGIC * chance.randrange(2) + bytes(chance.randrange(256) for _ in range(chance.randrange(60))))
        return how
    if how == "bits":
        for _ in range(chance.choice([1, 1, 4, 32])):
            data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    elif how == "cut":
        del data[at:]
    elif how == "swap":
        other = chance.randrange(len(data))
        data[at : at + size], data[other : other + size] = data[other : other + size], data[at : at + size]
    else:
        data[at : at + size] = bytes(size) if how == "zeros" else chance.randbytes(size)
    Path(FILE).write_bytes(data)
    return f"{how} {at} {size}"


def look(words: list[str]) -> int:
    """Run the command line in a process of its own; its status, -signal, or 99 where it hangs."""
    child = os.fork()
    if child == 0:
        try:
            resource.setrlimit(resource.RLIMIT_AS, (8 << 30, 8 << 30))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            said = os.open("said", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(said, 1)
            os.dup2(said, 2)
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.alarm(PATIENCE)
            status = cli.main(words)
            sys.stdout.flush()
        except BaseException as error:
            print(f"{type(error).__name__}: {error}", file=sys.stderr)
            status = 1
        os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def main(seed: int, count: int) -> int:
    """Damage many copies; return 1 if there are findings."""
    _kernels.threads.set_threads(1)  # forked processes have no other threads
    chance = random.Random(seed)
    Path("model.py").write_text(MODEL)
    assert look(["--quiet", "model.py", "0.01"]) == 0, Path("said").read_text()
    shutil.copytree("out", "whole")
    findings = refused = 0
    for number in range(count):
        shutil.rmtree("out")
        shutil.copytree("whole", "out")
        change = chance.choice([change_number, change_number, change_form, change_text, change_bytes])
        try:
            what = change(chance)
        except (OSError, RuntimeError, KeyError, ValueError, TypeError) as error:  # this damage does not go
            what = f"{change.__name__}: {error}"
        shutil.copytree("out", "damaged")
        bad = 0
        for words in (["info", "out/m"], ["info", "--json", "out/m"], ["--quiet", "model.py", "0.01"], ["--quiet", "-c", "model.py", "0.014"]):
            status, said = look(words), Path("said").read_text(errors="replace")
            bad += status == 1
            raw = RAW.search(said.split("\n")[0]) if status else None
            if status not in (0, 1) or raw or "Traceback" in said or "\x1b" in said:
                findings += 1
                print(f"{seed}/{number}: {what}: {' '.join(words)}: status {status}: {said[:300]!r}", flush=True)
            shutil.rmtree("out")
            shutil.copytree("damaged", "out")
        refused += bad > 0
        shutil.rmtree("damaged")
    print(f"{count} damaged files, {refused} refused, {findings} findings", file=sys.stderr)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]), int(sys.argv[2])))
