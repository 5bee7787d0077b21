"""Piles of spheres and a wall at rest: time of whole steps, residual and penetration with each solver, printed as JSON.

    python benchmarks/resting.py [--write] [--threads N] [--steps N] [model ...]

Models are brought to rest once (which takes minutes) and kept in benchmarks/results, after every stage of it, so that what was
broken off goes on from there; --settle makes one stage more.  From rest each solver makes some steps, to the residual of 1E-6,
and is then timed: processor time on one thread, else time that passes; phases are medians of time that passes.  "first" is a step
from rest with all reactions unknown (zero), as the first one of a run; "fastest" the largest velocity of a body after all steps.
The wall stands from the start, and its first step is that of the run; solvers that do not converge there get few steps.  --write
keeps rows in benchmarks/tables, in the place of older ones of the same model and solver.

Targets, one core: 1000 spheres 10 ms a step, 10000 spheres 150 ms.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from time import perf_counter, process_time

for library in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(library, "1")

import machine
import models
import numpy as np
import words

from solfec import _kernels
from solfec.contact import detection
from solfec.domain import Domain
from solfec.solvers.auto import AcceleratedGaussSeidel, AutoSolver
from solfec.solvers.gauss_seidel import GaussSeidelSolver
from solfec.solvers.newton import NewtonSolver
from solfec.time_step import PHASES

HERE = Path(__file__).parent
RESIDUAL = 1e-6
RADIUS = 0.045  # m, mean of the spheres
# In a drag of 0.98 a step all but a few spheres come to rest; these roll on for minutes over others that they touch in two or three
# points.  From there on spheres move freely for as long as they gain kinetic energy, and are stopped when they lose any.
KINETIC = None
FALL = ((800, 30, 0.998, 2e-3), (300, 60, 0.98, 1e-3), (600, 60, 0.98, 1e-3), (3000, 60, KINETIC, 2e-3))
STILL = 1e-7  # m/s
# name: (model, what brings it to rest, target in ms, part of the steps that are asked for); to rest in stages: (steps at most,
# sweeps, what is left of velocities, time step)
MODELS = {
    "1000 spheres": (lambda: models.spheres(1000), FALL, 10.0, 1.0),
    "10000 spheres": (lambda: models.spheres(10000, side=25), FALL, 150.0, 1.0),
    "wall of 100x100 blocks": (models.wall, None, None, 0.1),
}
SOLVERS = {  # each to a residual of 1E-6 at rest: Newton stops by merit, Gauss-Seidel with the option islands by residual
    "GAUSS_SEIDEL": lambda: sweeps_by_islands(RESIDUAL, 1000),
    "NEWTON": lambda: NewtonSolver(3e-13, 200),
    "AUTO": lambda: AutoSolver(RESIDUAL),
}


class Warm:
    """A solver that starts from given reactions: rows of the constraint table, in its order."""

    def __init__(self, solver, reactions: np.ndarray):
        self.solver, self.reactions = solver, reactions
        self.colouring = getattr(solver, "colouring", "OFF")
        self.stored_form = getattr(solver, "stored_form", None)

    def solve(self, local):
        """Solve from the given reactions."""
        local.rows.R[:, : local.n] = self.reactions[:, local.rows.order[: local.n]]
        return self.solver.solve(local)


def keep(model: Domain, path: Path) -> None:
    """Write the state from which a model continues: configurations, velocities, and reactions in space by pairs and places."""
    bodies, constraints = model.bodies, model.constraints
    path.parent.mkdir(exist_ok=True)
    np.savez_compressed(
        path, conf=bodies.configurations.view("conf"), velo=bodies.triples.view("velo"), pair=pairs(model),
        point=constraints.view("point"), R=np.einsum("ijn,jn->in", constraints.view("base"), constraints.view("R")),
    )  # fmt: skip


def pairs(model: Domain) -> np.ndarray:
    """Return one number per constraint that identifies its two bodies."""
    constraints = model.constraints
    return constraints.view("master").astype(np.int64) * model.bodies.n + constraints.view("slave")


def restore(build, path: Path) -> Domain:
    """Restore a model that `keep` has written."""
    from scipy.spatial import cKDTree

    stored = np.load(path)
    model = build()
    model.bodies.configurations.view("conf")[...] = stored["conf"]
    model.bodies.triples.view("velo")[...] = stored["velo"]
    model.state_changes += 1  # so that inertia and energies follow
    detection.update_geometry(model.geometry, model.bodies, model.epsilon)
    tree, pair, reactions = cKDTree(stored["point"].T), stored["pair"], stored["R"]

    class Start(Warm):
        def solve(self, local):
            constraints = model.constraints
            distance, near = tree.query(constraints.view("point").T)
            same = (pair[near] == pairs(model)) & (distance < 1e-3)
            in_space = np.where(same, reactions[:, near], 0.0)
            self.reactions = np.einsum("ijn,in->jn", constraints.view("base"), in_space)
            return super().solve(local)

    model.advance(Start(accurate(), None))
    return model


def sweeps_by_islands(epsilon: float, maxiter: int) -> AcceleratedGaussSeidel:
    """Plain sweeps of every island until its residual is small."""
    solver = AcceleratedGaussSeidel(epsilon, maxiter)
    solver.islands = True
    return solver


def accurate(sweeps: int = 1000) -> GaussSeidelSolver:
    """Solver with an almost vanishing residual."""
    solver = GaussSeidelSolver(1e-9, sweeps)
    solver.colouring = "OFF"
    return solver


def settle(build, stages, path: Path, only_one: bool) -> None:
    """Let a model fall and damp it until bodies and reactions are at rest; keep it after every stage."""
    parts = [path.with_suffix(f".stage{stage}.npz") for stage in range(len(stages))]
    first = sum(part.exists() for part in parts)
    model, start = restore(build, parts[first - 1]) if first else build(), perf_counter()
    for stage, (steps, sweeps, remainder, length) in enumerate(stages[first:], first):
        model.set_step(length)
        solver, still, energy = accurate(sweeps), 0, np.inf
        for step in range(steps):
            model.advance(solver)
            if step % 50 == 0:
                report(model, step, start)
            still = still + 1 if model.report.residual < 0.5 * RESIDUAL and speed(model).max() < STILL else 0
            if still == 20:
                break
            if remainder is KINETIC:
                energy = stop_what_slows_down(model, energy)
            else:
                model.bodies.triples.view("velo")[...] *= remainder
        keep(model, parts[stage])
        if only_one and stage + 1 < len(stages):
            return
    keep(model, path)


def stop_what_slows_down(model: Domain, before) -> np.ndarray:
    """Take all velocity from spheres with less kinetic energy than `before`, a little from the others; return what is left, per mass."""
    velo = model.bodies.triples.view("velo")
    squares = (velo**2).sum(axis=0)
    energy = squares[1::2] + 0.4 * RADIUS**2 * squares[::2]
    remainder = np.where(energy <= before, 0.0, 0.999)
    velo *= np.repeat(remainder, 2)
    return energy * remainder**2


def speed(model: Domain) -> np.ndarray:
    """Largest component of the velocity of every body's centre, obstacles first of all."""
    return np.abs(model.bodies.triples.view("velo")[:, 1::2]).max(axis=0)


def report(model: Domain, step: int, start: float) -> None:
    """Print the progress."""
    print(
        f"  step {step}: {model.constraints.n} contacts, {model.report.iterations} sweeps, residual "
        f"{model.report.residual:.1e}, fastest {speed(model).max():.1e} m/s, {perf_counter() - start:.0f} s", flush=True,
    )  # fmt: skip


def time_first_step(model: Domain, solver, clock) -> dict:
    """Cost of a step that starts from zero reactions."""
    model.constraints.view("R")[...] = 0.0
    start = clock()
    model.advance(solver)
    cost = 1e3 * (clock() - start)
    return {"first_ms": cost, "first_iterations": model.report.iterations, "first_residual": model.report.residual}


def time_steps(model: Domain, solver, before: int, steps: int, clock) -> dict:
    """One row of the table."""
    start = clock()
    for _ in range(before):
        model.advance(solver)
    approach = (clock() - start) / max(before, 1)
    times, phases, iterations, residuals = [], [], [], []
    for _ in range(steps):
        model.timings.update(dict.fromkeys(PHASES, 0.0))
        start = clock()
        model.advance(solver)
        times.append(1e3 * (clock() - start))
        phases.append([1e3 * model.timings[phase] for phase in PHASES])
        iterations.append(model.report.iterations)
        residuals.append(model.report.residual)
    return {
        "steps": steps, "least_ms": min(times), "median_ms": float(np.median(times)), "most_ms": max(times),
        **{f"ms_{phase}": float(np.median(column)) for phase, column in zip(PHASES, zip(*phases), strict=True)},
        "iterations": float(np.mean(iterations)), "most_iterations": max(iterations), "residual": max(residuals),
        "mean_ms_of_steps_before": 1e3 * approach, "penetration": float(-model.constraints.view("gap").min(initial=0.0)),
        "fastest": float(speed(model).max()),
    }  # fmt: skip


def main() -> None:
    """Print the table, a line for each model and solver."""
    parser = words.parser(__doc__)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--before", type=int, default=20, help="steps that a solver makes before it is timed")
    parser.add_argument("--steps", type=int, default=100, help="steps timed")
    parser.add_argument("--settle", action="store_true", help="only bring models to rest, one stage more of each")
    parser.add_argument("--solver", action="append", choices=list(SOLVERS))
    parser.add_argument("--write", action="store_true")
    parser.add_argument("model", nargs="*", help="parts of names of models")
    options = parser.parse_args()
    _kernels.threads.set_threads(options.threads)
    clock = process_time if options.threads == 1 else perf_counter  # time of one core, whatever else it does
    rows = []
    for name in words.chosen(parser, options.model, MODELS):
        build, stages, target, part = MODELS[name]
        path = HERE / "results" / f"resting {name}.npz".replace(" ", "-")
        if stages and not path.exists():
            print(f"{name}: coming to rest", flush=True)
            settle(build, stages, path, options.settle)
        if options.settle:
            continue
        for solver in options.solver or SOLVERS:
            model, method = restore(build, path) if stages else build(), SOLVERS[solver]()
            first = time_first_step(model, method, clock)
            if stages:  # a first step that was not solved leaves spheres rolling
                model, method = restore(build, path), SOLVERS[solver]()
            before, steps = round(part * options.before), max(1, round(part * options.steps))
            figures = first | time_steps(model, method, before, steps, clock)
            size = {"model": name, "bodies": model.bodies.n, "contacts": model.constraints.n, "solver": solver}
            rows.append(size | figures | ({"target_ms": target} if target else {}))
            print(json.dumps(rows[-1]), flush=True)
    if options.write:
        write(rows, options.threads)


def write(rows: list[dict], threads: int) -> None:
    """Write rows into the stored table, and keep those of other models and solvers."""
    path = HERE / "tables" / "resting.json"
    path.parent.mkdir(exist_ok=True)
    before = json.loads(path.read_text())["rows"] if path.exists() else []
    table = {(row["model"], row["solver"]): row for row in before + rows}
    kept = [table[key] for key in sorted(table, key=lambda key: (list(MODELS).index(key[0]), list(SOLVERS).index(key[1])))]
    path.write_text(json.dumps({"machine": machine.figures(), "threads": threads, "rows": kept}, indent=1) + "\n")


if __name__ == "__main__":
    main()
