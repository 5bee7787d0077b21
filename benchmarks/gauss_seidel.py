"""Nanoseconds per contact of a Gauss-Seidel sweep, and of assembly, printed as JSON.

    python benchmarks/gauss_seidel.py [side ...]

The rows are those of balls on a cubic lattice that touch their neighbours: three contacts a ball and, with the diagonal
one, eleven blocks of W a row inside, about as many as in a settled packing.  Both forms of W are timed with the direct block
solution: warm (after 50 sweeps) and from zero (the first ten), in the order of keys and, on one and two threads, by colours.
A figure is the difference of the least times of many calls of one and of more sweeps, the forms in turn, so that what
else the machine does, and what a call costs beside its sweeps, stays out of it.  Two threads need a machine of their own.

Targets, warm, one thread: stored W 60 ns at 2000 contacts (side 9), 75 at 20000 (19), 95 out of cache (35); velocity form 55.
From zero 100.  Two threads by colours: 1.85 times one thread in the same order, 1.7 times the order of keys at 20000.
"""

from __future__ import annotations

import json
import os
from time import perf_counter, thread_time

os.environ.setdefault("OMP_NUM_THREADS", "2")

import numpy as np
import words

from solfec import _kernels
from solfec.bodies.table import BodyKind, BodyTable
from solfec.constraints.table import ConstraintTable, SurfaceMaterialTable
from solfec.solvers.gauss_seidel import GaussSeidelSolver
from solfec.solvers.local_dynamics import LocalDynamics

CALLS = 200
CALL_CONTACTS = 40000  # visits of a call, which is to be shorter than what the system lets others interrupt
FORMS = [(stored, *how) for stored in (True, False) for how in (("OFF", 1), ("ON", 1), ("ON", 2))]
TARGETS = {9: 60.0, 19: 75.0, 35: 95.0}
VELOCITY_TARGET = 55.0


def lattice(side: int, friction: float = 0.3):
    """Balls of unit diameter and mass on a cubic lattice, thrown about at random while gravity and a side wind press them."""
    random = np.random.default_rng(1)
    count = side**3
    bodies, materials, constraints = BodyTable(), SurfaceMaterialTable(), ConstraintTable()
    place = np.stack(np.meshgrid(*[np.arange(side)] * 3, indexing="ij")).reshape(3, count).astype(float)
    for k in range(count):
        bodies.add(BodyKind.RIGID, mass=1.0, centre=place[:, k], tensor=0.1 * np.eye(3))
    triples = bodies.triples
    triples.inverse_inertia[..., 0 : triples.n : 2] = 10.0 * np.eye(3)[..., None]
    triples.inverse_inertia[..., 1 : triples.n : 2] = np.eye(3)[..., None]
    triples.velo[:, : triples.n] = 0.05 * random.standard_normal((3, triples.n))
    triples.velo[2, 1 : triples.n : 2] -= 0.1 * (place[2] + 1) / side
    materials.friction[0] = friction
    index = np.arange(count).reshape(side, side, side)
    for axis in range(3):
        low = index.take(range(side - 1), axis).ravel()
        high = index.take(range(1, side), axis).ravel()
        middle = 0.5 * (place[:, low] + place[:, high])
        normal = np.eye(3)[axis]
        first = np.cross(np.eye(3)[0 if axis else 1], normal)
        base = np.stack([first, np.cross(first, normal), normal], axis=1)
        constraints.append(
            low.size,
            master=high,
            slave=low,
            master_point=middle,
            slave_point=middle,
            point=middle,
            base=base[..., None],
        )
    # in the order of the pair of bodies, as detection sorts contacts born in one step
    order = np.lexsort((constraints.view("master"), constraints.view("slave")))
    for name in ("master", "slave", "master_point", "slave_point", "point", "base"):
        column = constraints.view(name)
        column[:] = column[..., order]
    return bodies, constraints, materials


class Case:
    """Rows in one form and order, swept until they are warm."""

    def __init__(self, tables, stored: bool, colouring: str, threads: int):
        self.tables, self.stored, self.colouring, self.threads = tables, stored, colouring, threads
        self.least = dict.fromkeys(("assemble", "first", "first_more", "few", "more"), np.inf)
        self.clock = thread_time if threads == 1 else perf_counter  # of one thread its own time, whatever else runs
        self.local = LocalDynamics()
        self.assemble()
        self.zero = self.local.rows.block.copy(order="F")
        self.sweep(50)
        self.warm = self.local.rows.R.copy(order="F")
        self.sliding = self.local.rows.block[13, : self.local.n] > 0
        self.more = 2 + CALL_CONTACTS // self.local.n

    def assemble(self) -> None:
        """Time the assembly of rows and of W."""
        _kernels.threads.set_threads(self.threads)
        bodies, constraints, materials = self.tables
        start = self.clock()
        self.local.assemble(constraints, bodies, materials, 1e-3, True, stored=self.stored, colouring=self.colouring)
        self.note("assemble", self.clock() - start)

    def sweep(self, sweeps: int) -> float:
        """Seconds of one call."""
        _kernels.threads.set_threads(self.threads)
        solver = GaussSeidelSolver(1e-300, sweeps)
        solver._errors = solver._merits = np.zeros(sweeps)
        start = self.clock()
        solver.sweep(self.local)
        return self.clock() - start

    def note(self, name, seconds: float) -> None:
        """Keep the least time."""
        self.least[name] = min(self.least[name], seconds)

    def time_warm(self) -> None:
        """Time one call of few sweeps and one of more."""
        for name, sweeps in (("few", 1), ("more", self.more)):
            self.note(name, self.sweep(sweeps))

    def time_first(self) -> None:
        """Time calls that start from zero reactions, of one sweep and of eleven."""
        for name, sweeps in (("first", 1), ("first_more", 11)):
            self.local.rows.R[...] = 0.0
            self.local.rows.block[...] = self.zero
            self.note(name, self.sweep(sweeps))

    def figures(self) -> dict:
        """One line of the table."""
        local, least = self.local, self.least
        state = (np.abs(self.warm[:, : local.n]) > 0).any(0)
        each = 1e9 / local.n
        return {
            "form": "stored" if self.stored else "velocity", "colouring": self.colouring, "threads": self.threads,
            "contacts": local.n, "blocks_per_row": round(1 + local.visits / local.n, 1),
            "warm_ns": round(each * (least["more"] - least["few"]) / (self.more - 1), 1),
            "first_ten_ns": round(each * (least["first_more"] - least["first"]) / 10, 1),
            "assemble_ns": round(each * least["assemble"], 1),
            "closed": round(float(state.mean()), 2), "sliding": round(float(self.sliding[state].mean()), 2),
        }  # fmt: skip


def time_side(side: int) -> list[dict]:
    """Lines of one size, with their targets."""
    tables = lattice(side)
    cases = [Case(tables, *form) for form in FORMS]
    calls = max(20, round(CALLS * min(1.0, 20000 / cases[0].local.n)))
    for _ in range(calls):
        for case in cases:
            case.time_warm()
    for _ in range(max(4, calls // 4)):
        for case in cases:
            case.time_first()
    for case in cases:
        for _ in range(3):
            case.assemble()
    rows = [case.figures() for case in cases]
    for first in (0, 3):
        keys, one, two = rows[first : first + 3]
        keys["target_ns"] = TARGETS.get(side) if keys["form"] == "stored" else VELOCITY_TARGET
        two["times_one_thread"] = round(one["warm_ns"] / two["warm_ns"], 2)
        two["times_order_of_keys"] = round(keys["warm_ns"] / two["warm_ns"], 2)
        same = np.array_equal(cases[first + 1].warm, cases[first + 2].warm)
        two["bits_of_one_thread"] = same
    return rows


def main() -> None:
    parser = words.parser(__doc__)
    parser.add_argument("side", nargs="*", type=words.positive, help=f"cubes along a side (default: {', '.join(map(str, TARGETS))})")
    for side in parser.parse_args().side or TARGETS:
        for row in time_side(side):
            print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
