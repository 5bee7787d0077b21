"""Several processes: as threads of one process, and as those of MPI that `mpiexec` starts."""

import copy
import os
import pickle
import subprocess
import sys
import threading
from pathlib import Path

import h5py
import numpy as np
import pytest

from solfec.parallel.communicator import Traffic
from solfec.time_step import CLOCKS

ROOT = Path(__file__).parent.parent.parent
MPIEXEC = Path(sys.executable).parent / "mpiexec"
BOX = """
corners = [(0,0,0), (1,0,0), (1,1,0), (0,1,0), (0,0,1), (1,0,1), (1,1,1), (0,1,1)]
def box (low, size, surface = 1):
  return HULL ([tuple (low[k] + size[k] * c[k] for k in range (3)) for c in corners], surface, surface)
"""  # for inputs


def sweeps(maxiter: int) -> str:
    """Lines of an input of one `solfec`: bodies go to other processes early, and sweeps are by colours."""
    return f"""
IMBALANCE_TOLERANCE (solfec, 1.1, 1.0, 3)
solver = GAUSS_SEIDEL_SOLVER (1E-4, {maxiter})
solver.colouring = 'ON'
OUTPUT (solfec, 0.01)
"""


class Together:
    """What threads of one process share to tell one another something."""

    def __init__(self, size):
        self.size, self.barrier, self.slots = size, threading.Barrier(size, timeout=60), [None] * size

    def all_of(self, rank, value):
        self.slots[rank] = value
        self.barrier.wait()
        found = list(self.slots)
        self.barrier.wait()
        return found


class Thread:
    """One of them, as a Communicator."""

    def __init__(self, together, rank):
        self.together, self.rank, self.size = together, rank, together.size
        self.traffic = Traffic()

    def exchange(self, outgoing, incoming):
        self.traffic.count(outgoing)
        found = self.together.all_of(self.rank, {rank: array.copy() for rank, array in outgoing.items()})
        for rank, array in incoming.items():
            array[...] = found[rank][self.rank]

    def lasting(self, messages):
        return None

    def gathered(self, thing):
        return [copy.deepcopy(one) for one in self.together.all_of(self.rank, thing)]

    def collected(self, thing):
        found = self.gathered(thing)
        return found if self.rank == 0 else None

    def dealt(self, things):
        return [given[self.rank] for given in self.together.all_of(self.rank, [pickle.loads(pickle.dumps(thing)) for thing in things])]

    def largest(self, values):
        return np.max(self.together.all_of(self.rank, values.copy()), axis=0)

    def total(self, values):
        return np.sum(self.together.all_of(self.rank, values.copy()), axis=0)

    def largest_and_total(self, values, numbers):
        return self.largest(values), self.total(numbers)


def spmd(size, program):
    """Results of `program(world)` in so many threads."""
    together, results, errors = Together(size), [None] * size, []

    def one(rank):
        try:
            results[rank] = program(Thread(together, rank))
        except BaseException as error:
            errors.append(error)
            together.barrier.abort()

    threads = [threading.Thread(target=one, args=(rank,)) for rank in range(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise next((error for error in errors if not isinstance(error, threading.BrokenBarrierError)), errors[0])
    return results


def needs_mpi():
    """Skip the test, aloud, where MPI is missing."""
    pytest.importorskip("mpi4py", reason="mpi4py is not installed: pip install 'solfec[mpi]'")
    if not MPIEXEC.exists():
        pytest.skip(f"there is no {MPIEXEC}: pip install 'solfec[mpi]'")


def start(count, directory, script, *switches, arguments=()):
    """Start `solfec` in so many processes; return the running launcher."""
    environment = dict(os.environ, OMP_NUM_THREADS="1", OMP_WAIT_POLICY="passive", MPIR_CVAR_POLLS_BEFORE_YIELD="1")
    (directory / "input.py").write_text(script)
    command = [MPIEXEC, "-n", count, sys.executable, "-m", "solfec.cli", "--quiet", *switches, "input.py", *arguments]
    return subprocess.Popen([*map(str, command)], cwd=directory, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def run(count, directory, script, *switches, status=0, arguments=()):
    """Run `solfec` in so many processes; return what they print and their messages."""
    process = start(count, directory, script, *switches, arguments=arguments)
    try:
        said, errors = process.communicate(timeout=120)
    finally:
        process.kill()
    assert (process.returncode == 0) == (status == 0), (process.returncode, said, errors)
    return said, errors


def frames_of(directory):
    """All data of results, but the wall times in them, by name."""
    (file,) = directory.rglob("*.h5")
    found = {}

    def look(name, dataset):
        if isinstance(dataset, h5py.Dataset):
            values = dataset[...]
            for field in values.dtype.names or ():
                if field not in CLOCKS:
                    found[f"{name}/{field}"] = values[field].tobytes()
            if not values.dtype.names:
                found[name] = values.tobytes()

    with h5py.File(file) as opened:
        opened.visititems(look)
    return found


def differences(one, two):
    """Names of the data in which two results differ."""
    return [name for name in sorted(one.keys() | two.keys()) if one.get(name) != two.get(name)]
