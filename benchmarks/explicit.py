"""Speed of the explicit engine's whole steps, with the machine's bounds beside it; prints JSON.

    python benchmarks/explicit.py [--seconds 4] [--wall]

Rows say besides how many bytes a step moves between memory and the processor for a spring or contact, and how many of them a second the
bandwidth of one thread, and its fastest arithmetic, allow; a model that caches hold can be faster than memory.  Speeds are those of a
thread, in processor seconds summed over all of them, which other work on the machine changes less than the wall clock's; with
OMP_WAIT_POLICY=passive waiting costs none.  Threads are those of OMP_NUM_THREADS.  With --wall speeds are those of all threads together by the
wall clock, whose quotient with two threads and with one is what two free cores gain on a machine that does nothing else.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from time import perf_counter, process_time

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
# Additions and multiplications that the formulas need: places and velocities of two points, axis, stroke, rate, two tables of two segments, force and torques;
# the motion of a particle; a contact
WORK_OF_SPRING, WORK_OF_PARTICLE, WORK_OF_CONTACT = 190, 420, 150


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


def seconds_of_step(model: Model, seconds: float, clock: Callable[[], float]) -> float:
    """Shortest time of a step by a clock, over calls of the kernel of about a tenth of `seconds`."""
    run = Run(model, 1e9, 1e-4, Intervals(np.inf, np.inf))
    run.begin()
    run.advance(2)
    handles, samples, best, count, until = model.handles(), np.zeros((1, 1), order="F"), np.inf, 1, perf_counter() + seconds
    while perf_counter() < until:
        start = clock()
        before = int(model.control.steps[0])
        _, reason, _ = _kernels.explicit_steps.run(handles, count, samples)
        made, spent = int(model.control.steps[0]) - before, clock() - start
        if reason == PauseKind.SEARCH:
            search(model)
            continue
        best, count = min(best, spent / max(1, made)), max(1, int(0.1 * seconds / spent * made))
    return best


PARTICLES_READ = ("driven", "steered", "mass", "inertia", "inverse_inertia", "position", "rotation", "velocity", "angular")
PARTICLES_WRITTEN = ("point_map", "position", "rotation", "velocity", "angular", "spin", "force", "torque")


def bytes_of_springs(model: Model) -> int:
    """Return the least number of bytes that a step of a spring model moves: those it reads, and twice those it writes (a line is read first)."""
    read = {"links": ("particle", "arm", "rest"), "batches": tuple(model.batches.COLUMNS), "ends": ("end",),
            "particles": (*PARTICLES_READ, "point_map", "first_end", "ends", "first_contact", "contacts")}  # fmt: skip
    written = {"links": ("pull",), "particles": PARTICLES_WRITTEN}
    known = {"particles": ("point_map", "position", "rotation", "velocity", "angular")}  # read before they are written
    return moved(model, read, written, known)


def bytes_of_contacts(model: Model) -> int:
    """Return the same for spheres: a step passes over them to see how far they moved, over contacts, and twice over particles."""
    read = {"spheres": ("particle", "searched"), "contacts": ("pair", "pairing", "alive", "slip"), "contact_ends": ("contact", "side"),
            "particles": (*3 * ("position",), *PARTICLES_READ, "radius", "mass", "velocity", "spin", "first_contact", "contacts", "force", "torque")}  # fmt: skip
    written = {"contacts": ("depth", "point", "normal", "slip", "normal_force", "tangential", "force"), "particles": (*PARTICLES_WRITTEN, "force", "torque")}
    return moved(model, read, written, {"contacts": ("slip",), "particles": ("position", "rotation", "velocity", "angular")})


def moved(model: Model, read: dict, written: dict, known: dict) -> int:
    """Return bytes of columns by table: read ones count once, written ones twice, less those that are read before."""
    return sum(weight * getattr(model, table).view(name).nbytes
               for weight, columns in ((1, read), (2, written), (-1, known)) for table, names in columns.items() for name in names)  # fmt: skip


def main() -> None:
    chosen = words.parser(__doc__)
    chosen.add_argument("--seconds", type=float, default=4.0, help="time of each row (default: 4)")
    chosen.add_argument("--wall", action="store_true", help="speeds of all threads together, by the wall clock")
    given = chosen.parse_args()
    seconds, clock, unit = given.seconds, *((perf_counter, "per_s") if given.wall else (process_time, "per_s_and_thread"))
    threads, machines = int(os.environ.get("OMP_NUM_THREADS", os.cpu_count())), machine.figures()
    bandwidth, arithmetic = machines["triad_GB_per_s"], machines["dgemm_GFLOP_per_s"]
    print(json.dumps({"threads": threads, "triad_GB_per_s_of_one": bandwidth, "dgemm_GFLOP_per_s_of_one": arithmetic}), flush=True)
    for shape in LATTICES:
        model = lattice(shape)
        spent, n, bodies = seconds_of_step(model, seconds, clock), model.links.n, model.particles.n
        table_bytes = sum(table.view(name).nbytes for table in model.tables for name in table.COLUMNS)
        print(json.dumps({
            "bodies": bodies, "springs": n, f"million_springs_{unit}": 1e-6 * n / spent,
            "bytes_per_spring": bytes_of_springs(model) / n, "bound_of_memory": 1e3 * bandwidth * n / bytes_of_springs(model),
            "bound_of_arithmetic": 1e3 * arithmetic / (WORK_OF_SPRING + WORK_OF_PARTICLE * bodies / n),
            "bytes_per_body": table_bytes / bodies,
        }), flush=True)  # fmt: skip
    for side in PACKINGS:
        model = packing(side)
        spent, bodies = seconds_of_step(model, seconds, clock), model.particles.n
        touching = int(model.contacts.view("alive").sum())
        print(json.dumps({
            "spheres": bodies, "contacts": touching, f"million_contacts_{unit}": 1e-6 * touching / spent,
            "bytes_per_contact": bytes_of_contacts(model) / touching, "bound_of_memory": 1e3 * bandwidth * touching / bytes_of_contacts(model),
            "bound_of_arithmetic": 1e3 * arithmetic / (WORK_OF_CONTACT + WORK_OF_PARTICLE * bodies / touching),
        }), flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
