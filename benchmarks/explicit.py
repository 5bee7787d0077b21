"""Speed of the explicit engine's whole steps, with the machine's bounds beside it; prints JSON.

    python benchmarks/explicit.py [--seconds 4]

Rows of springs say besides how many bytes a step moves between memory and the processor for a spring, and how many springs a second
the bandwidth of one thread allows then; a model that caches hold can be faster.  Threads are those of OMP_NUM_THREADS.
"""

from __future__ import annotations

import json
import os
from time import perf_counter

import machine
import numpy as np
import words

from solfec import _kernels
from solfec.parmec.engine import Intervals, Run
from solfec.parmec.kinds import LinkKind, ParticleKind, PauseKind
from solfec.parmec.model import Model
from solfec.parmec.pairs import search

LATTICES = (12, 12, 12), (60, 60, 56)  # one that caches hold, and 1E6 springs of 2E5 bodies
PACKINGS = 12, 40  # spheres along a side


def lattice(shape: tuple[int, int, int], seed: int = 1) -> Model:
    """Bodies on a cubic grid in scattered motion; springs join each with five others, off their mass centres."""
    model = Model()
    grid = np.stack(np.meshgrid(*map(np.arange, shape), indexing="ij"), axis=-1).reshape(-1, 3)
    n, random = len(grid), np.random.default_rng(seed)
    eye = np.broadcast_to(np.eye(3)[:, :, None], (3, 3, n))
    model.particles.append(n, mass=1.0, inertia=0.1 * eye, inverse_inertia=10.0 * eye, rotation=eye, reference=grid.T.astype(float),
                           position=grid.T.astype(float), velocity=0.01 * random.standard_normal((3, n)),
                           angular=0.01 * random.standard_normal((3, n)))  # fmt: skip
    curve, dashpot = model.add_curve([-1.0, 0.0, 1.0], [-100.0, 0.0, 50.0]), model.add_curve([-1.0, 1.0], [-0.1, 0.1])
    number = np.arange(n).reshape(shape)
    one, two = [], []
    for step in ((1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0), (0, 1, 1)):
        one.append(number[tuple(slice(0, size - s) for size, s in zip(shape, step))].ravel())
        two.append(number[tuple(slice(s, None) for s in step)].ravel())
    pairs = np.stack([np.concatenate(one), np.concatenate(two)])
    pairs = pairs[:, np.lexsort(pairs[::-1])]
    middle = 0.5 * (grid[pairs[0]] - grid[pairs[1]]).T
    arm = np.stack([-0.9 * middle, 0.9 * middle], axis=1)
    model.links.append(pairs.shape[1], kind=LinkKind.FOLLOWER, particle=pairs, arm=arm, rest=0.2 * np.linalg.norm(middle, axis=0),
                       curve=curve, dashpot=dashpot)  # fmt: skip
    return model


def packing(side: int) -> Model:
    """Spheres on a cubic grid, each pressed into its six neighbours, by springs too soft to part them."""
    model, n = Model(), side**3
    grid = np.stack(np.meshgrid(*3 * [np.arange(side)], indexing="ij"), axis=-1).reshape(-1, 3).T * 0.999
    eye = np.broadcast_to(np.eye(3)[:, :, None], (3, 3, n))
    model.particles.append(n, kind=ParticleKind.SPHERE, colour=1, radius=0.5, mass=1.0, inertia=0.1 * eye, inverse_inertia=10.0 * eye,
                           rotation=eye, reference=grid, position=grid, velocity=1e-4 * np.random.default_rng(2).standard_normal((3, n)))  # fmt: skip
    model.spheres.append(n, particle=np.arange(n))
    model.pairings.append(colour=np.zeros((2, 1), int), spring=1e-6, damper=0.1, friction=np.full((2, 1), 0.3), tangential=0.5)
    return model


def seconds_of_step(model: Model, seconds: float) -> float:
    """Shortest time of a step, over calls of the kernel of about a tenth of `seconds`."""
    run = Run(model, 1e9, 1e-4, Intervals(np.inf, np.inf))
    run.begin()
    run.advance(2)
    handles, samples, best, count, until = model.handles(), np.zeros((1, 1), order="F"), np.inf, 1, perf_counter() + seconds
    while perf_counter() < until:
        start = perf_counter()
        before = int(model.control.steps[0])
        _, reason, _ = _kernels.explicit_steps.run(handles, count, samples)
        made, spent = int(model.control.steps[0]) - before, perf_counter() - start
        if reason == PauseKind.SEARCH:
            search(model)
            continue
        best, count = min(best, spent / max(1, made)), max(1, int(0.1 * seconds / spent * made))
    return best


def bytes_of_step(model: Model) -> int:
    """Return the least number of bytes that a step of a spring model moves: those it reads, and twice those it writes (a line is read first)."""
    read = {"links": ("particle", "arm", "rest"), "batches": tuple(model.batches.COLUMNS), "ends": ("end",),
            "particles": ("point_map", "driven", "steered", "mass", "inertia", "inverse_inertia", "position", "rotation", "velocity", "angular",
                          "first_end", "ends", "first_contact", "contacts")}  # fmt: skip
    written = {"links": ("pull",), "particles": ("point_map", "position", "rotation", "velocity", "angular", "spin", "force", "torque")}
    known = {"particles": ("point_map", "position", "rotation", "velocity", "angular")}  # read before they are written
    return sum(weight * getattr(model, table).view(name).nbytes
               for weight, columns in ((1, read), (2, written), (-1, known)) for table, names in columns.items() for name in names)  # fmt: skip


def main() -> None:
    chosen = words.parser(__doc__)
    chosen.add_argument("--seconds", type=float, default=4.0, help="time of each row (default: 4)")
    seconds = chosen.parse_args().seconds
    threads, bandwidth = int(os.environ.get("OMP_NUM_THREADS", os.cpu_count())), machine.figures()["triad_GB_per_s"]
    print(json.dumps({"threads": threads, "triad_GB_per_s_of_one": bandwidth}), flush=True)
    for shape in LATTICES:
        model = lattice(shape)
        spent, moved, n = seconds_of_step(model, seconds), bytes_of_step(model), model.links.n
        table_bytes = sum(table.view(name).nbytes for table in model.tables for name in table.COLUMNS)
        print(json.dumps({
            "bodies": model.particles.n, "springs": n, "million_springs_per_s": 1e-6 * n / spent, "bytes_per_spring": moved / n,
            "bound_of_memory_million_per_s": 1e3 * bandwidth * n / moved, "bytes_per_body": table_bytes / model.particles.n,
        }), flush=True)  # fmt: skip
    for side in PACKINGS:
        model = packing(side)
        spent = seconds_of_step(model, seconds)
        touching = int(model.contacts.view("alive").sum())
        print(json.dumps({
            "spheres": model.particles.n, "contacts": touching, "million_contacts_per_s": 1e-6 * touching / spent,
        }), flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
