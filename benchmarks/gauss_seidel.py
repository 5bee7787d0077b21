"""Nanoseconds per contact of a Gauss-Seidel sweep, and of assembly, printed as JSON.  Run: python benchmarks/gauss_seidel.py

The rows are those of balls on a cubic lattice that touch their neighbours: three contacts a ball and ten off-diagonal
blocks of W a row, about as many as in a settled packing.  Both forms of W are timed with the direct block solution:
warm (sweeps 51 to 150) and from zero (the first ten sweeps), in the order of keys and, on one and two threads, by colours.
"""

from __future__ import annotations

import json
import os
from time import perf_counter

os.environ.setdefault("OMP_NUM_THREADS", "2")

import numpy as np

from solfec import _kernels
from solfec.bodies.table import BodyKind, BodyTable
from solfec.constraints.table import ConstraintTable, SurfaceMaterialTable
from solfec.solvers.gauss_seidel import GaussSeidelSolver
from solfec.solvers.local_dynamics import LocalDynamics

REPETITIONS = 5


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


def time_form(tables, stored: bool, colouring: str = "OFF", threads: int = 1) -> dict:
    """Best times of one form, in the order of keys or by colours."""
    _kernels.threads.set_threads(threads)
    bodies, constraints, materials = tables
    local = LocalDynamics()
    times = {"assemble": [], "first_ten": [], "warm": []}
    for _ in range(REPETITIONS):
        start = perf_counter()
        local.assemble(constraints, bodies, materials, 1e-3, True, stored=stored, colouring=colouring)
        times["assemble"].append(perf_counter() - start)
        for name, sweeps in (("first_ten", 10), (None, 40), ("warm", 100)):
            solver = GaussSeidelSolver(1e-300, sweeps)
            solver.sweep(local, local.n, False)  # allocates the histories
            start = perf_counter()
            report = solver.sweep(local, 0, False)
            if name:
                times[name].append((perf_counter() - start) / sweeps)
    figures = {f"{name}_ns": round(1e9 * min(values) / local.n, 1) for name, values in times.items()}
    state = (np.abs(local.rows.R[:, : local.n]) > 0).any(0)
    return figures | {
        "contacts": local.n,
        "blocks_per_row": round(local.visits / local.n, 1),
        "closed": round(float(state.mean()), 2),
        "sliding": round(float((local.rows.block[13, : local.n] > 0)[state].mean()), 2),
        "change": report.error,
    }


def main() -> None:
    _kernels.threads.set_threads(1)
    results = []
    for side in (9, 19, 35):
        tables = lattice(side)
        for stored in (True, False):
            for colouring, threads in (("OFF", 1), ("ON", 1), ("ON", 2)):
                name = {"form": "stored" if stored else "velocity", "colouring": colouring, "threads": threads}
                results.append(name | time_form(tables, stored, colouring, threads))
    print(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
