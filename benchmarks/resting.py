"""Piles of spheres and a wall at rest: time of whole steps, residual and penetration with each solver, printed as JSON.

    python benchmarks/resting.py [--write] [--threads N] [--steps N] [model ...]

Models are brought to rest once (which takes minutes), less a few spheres that roll on, and kept in benchmarks/results, after
every stage of it, so that what was broken off goes on from there.  From rest each solver makes some steps, to the residual of 1E-6, and is then timed: processor time on one thread, else time
that passes; phases are medians of time that passes.  The wall stands from the start, but its reactions take many steps to
settle, so it is timed over fewer steps.  --write keeps the table in benchmarks/tables.

Targets, one core: 1000 spheres 10 ms a step, 10000 spheres 150 ms.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from time import perf_counter, process_time

for library in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(library, "1")

import machine
import models
import numpy as np

from solfec import _kernels
from solfec.contact import detection
from solfec.domain import PHASES, Domain
from solfec.solvers.auto import AcceleratedGaussSeidel, AutoSolver
from solfec.solvers.gauss_seidel import GaussSeidelSolver
from solfec.solvers.newton import NewtonSolver

HERE = Path(__file__).parent
RESIDUAL = 1e-6
AT_REST = tuple((200, 300, 0.9, 1e-3) for _ in range(4))  # damped, so that what creeps arrives without a blow
FALL = ((800, 30, 0.998, 2e-3), (300, 60, 0.98, 1e-3), *AT_REST)  # steps at most, sweeps, what is left of velocities, time step
STILL, ROLLING = 1e-5, 3e-5  # m/s
FEW = 0.01  # part of the bodies that may be taken away at once: more would bring down what lies on them
MODELS = {  # name: (model, what brings it to rest, target in ms, part of the steps that are asked for)
    "1000 spheres": (lambda: models.spheres(1000), FALL, 10.0, 1.0),
    "10000 spheres": (lambda: models.spheres(10000, side=25), FALL, 150.0, 1.0),
    "wall of 100x100 blocks": (models.wall, ((20, 300, 0.998, 1e-3),), None, 0.05),
}
SOLVERS = {  # each to a residual of 1E-6 at rest: Newton stops by merit, Gauss-Seidel with the option islands by residual
    "GAUSS_SEIDEL": lambda: sweeps_by_islands(RESIDUAL, 1000),
    "NEWTON": lambda: NewtonSolver(4e-13, 200),
    "AUTO": lambda: AutoSolver(RESIDUAL),
}


class Warm:
    """A solver that starts from given reactions: rows of the constraint table, in its order."""

    def __init__(self, solver, reactions: np.ndarray):
        self.solver, self.reactions = solver, reactions
        self.colouring = getattr(solver, "colouring", "OFF")
        self.stored_form = getattr(solver, "stored_form", None)

    def solve(self, local):
        """Solve from the reactions given."""
        local.rows.R[:, : local.n] = self.reactions[:, local.rows.order[: local.n]]
        return self.solver.solve(local)


def keep(model: Domain, removed: list[int], path: Path) -> None:
    """Write what a model needs to go on from here: its configuration, velocities, and reactions by pairs and places, in space."""
    bodies, constraints = model.bodies, model.constraints
    path.parent.mkdir(exist_ok=True)
    np.savez_compressed(
        path, removed=removed, conf=bodies.configurations.view("conf"), velo=bodies.triples.view("velo"), pair=pairs(model),
        point=constraints.view("point"), R=np.einsum("ijn,jn->in", constraints.view("base"), constraints.view("R")),
    )  # fmt: skip


def pairs(model: Domain) -> np.ndarray:
    """One number for the bodies of every constraint."""
    constraints = model.constraints
    return constraints.view("master").astype(np.int64) * model.bodies.n + constraints.view("slave")


def restore(build, path: Path) -> Domain:
    """The model as `keep` left it."""
    from scipy.spatial import cKDTree

    stored = np.load(path)
    model = build()
    for identifier in stored["removed"].tolist():
        model.delete_body(identifier)
    model.bodies.configurations.view("conf")[...] = stored["conf"]
    model.bodies.triples.view("velo")[...] = stored["velo"]
    model._inertia_changed = True
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
    """Sweeps that leave next to no residual."""
    solver = GaussSeidelSolver(1e-9, sweeps)
    solver.colouring = "OFF"
    return solver


def settle(build, stages, path: Path) -> None:
    """Let a model fall and damp it until it is at rest, reactions and all, but for what rolls on; keep it."""
    start, removed, first = perf_counter(), [], 0
    model = build()
    parts = [path.with_suffix(f".stage{stage}.npz") for stage in range(len(stages))]
    for stage, part in enumerate(parts):
        if part.exists():
            first = stage + 1
    if first:
        removed = np.load(parts[first - 1])["removed"].tolist()
        model = restore(build, parts[first - 1])
    for stage, (steps, sweeps, remainder, length) in enumerate(stages[first:], first):
        model.set_step(length)
        solver, still = accurate(sweeps), 0
        for step in range(steps):
            model.advance(solver)
            if step % 50 == 0:
                report(model, step, start)
            still = still + 1 if model.report.residual < 0.5 * RESIDUAL and speed(model).max() < STILL else 0
            if still == 20:
                break
            model.bodies.triples.view("velo")[...] *= remainder
        if stages is FALL and 1 < stage < len(stages) - 1:
            removed += take_away(model)
        keep(model, removed, parts[stage])
        if still == 20:
            break
    keep(model, removed, path)


def speed(model: Domain) -> np.ndarray:
    """Largest component of the velocity of every body's centre, obstacles first of all."""
    return np.abs(model.bodies.triples.view("velo")[:, 1::2]).max(axis=0)


def take_away(model: Domain) -> list[int]:
    """Remove the bodies that still roll (nothing slows a lone sphere down); their identifiers."""
    rolling = model.bodies.view("id")[speed(model) > ROLLING].tolist()
    if len(rolling) > FEW * model.bodies.n:
        return []
    for identifier in rolling:
        model.delete_body(identifier)
    print(f"  {len(rolling)} bodies taken away that still move", flush=True)
    return rolling


def report(model: Domain, step: int, start: float) -> None:
    """Say how far it is."""
    print(
        f"  step {step}: {model.constraints.n} contacts, {model.report.iterations} sweeps, residual "
        f"{model.report.residual:.1e}, fastest {speed(model).max():.1e} m/s, {perf_counter() - start:.0f} s", flush=True,
    )  # fmt: skip


def time_steps(model: Domain, solver, before: int, steps: int, clock) -> dict:
    """One row of the table."""
    for _ in range(before):
        model.advance(solver)
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
        "steps": steps, "least_ms": min(times), "median_ms": float(np.median(times)),
        **{f"ms_{phase}": float(np.median(column)) for phase, column in zip(PHASES, zip(*phases), strict=True)},
        "iterations": float(np.mean(iterations)), "most_iterations": max(iterations), "residual": max(residuals),
        "penetration": float(-model.constraints.view("gap").min(initial=0.0)),
    }  # fmt: skip


def main() -> None:
    """Print the table, a line for each model and solver."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--before", type=int, default=20, help="steps that a solver makes before it is timed")
    parser.add_argument("--steps", type=int, default=100, help="steps timed")
    parser.add_argument("--solver", action="append", choices=list(SOLVERS))
    parser.add_argument("--write", action="store_true")
    parser.add_argument("model", nargs="*", help="parts of names of models")
    options = parser.parse_args()
    _kernels.threads.set_threads(options.threads)
    clock = process_time if options.threads == 1 else perf_counter  # time of one core, whatever else it does
    rows = []
    for name, (build, stages, target, part) in MODELS.items():
        if options.model and not any(part in name for part in options.model):
            continue
        path = HERE / "results" / f"resting {name}.npz".replace(" ", "-")
        if not path.exists():
            print(f"{name}: coming to rest", flush=True)
            settle(build, stages, path)
        for solver in options.solver or SOLVERS:
            model = restore(build, path)
            before, steps = round(part * options.before), max(1, round(part * options.steps))
            figures = time_steps(model, SOLVERS[solver](), before, steps, clock)
            size = {"model": name, "bodies": model.bodies.n, "contacts": model.constraints.n, "solver": solver}
            rows.append(size | figures | ({"target_ms": target} if target else {}))
            print(json.dumps(rows[-1]), flush=True)
    if options.write:
        (HERE / "tables").mkdir(exist_ok=True)
        table = {"machine": machine.figures(), "threads": options.threads, "rows": rows}
        (HERE / "tables" / "resting.json").write_text(json.dumps(table, indent=1) + "\n")


if __name__ == "__main__":
    main()
