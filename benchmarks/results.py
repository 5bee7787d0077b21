"""Times results files.  Run: python benchmarks/results.py

Frames after every step of 10 cubes and of 1000 spheres (milliseconds per frame, the mean over a run and its end, and per step); a
frame of 10 000 rigid bodies with 40 000 contacts (milliseconds of wall and of processor time, the least of many frames), the
file's size over that of the raw numbers, without and with compression; and HISTORY of 100 quantities over 10 000 frames.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from time import perf_counter, process_time

os.environ.setdefault("OMP_NUM_THREADS", "1")

import machine
import models
import words

from solfec.results import ResultsReader, ResultsWriter, layout
from solfec.solvers.gauss_seidel import GaussSeidelSolver

TABLES = {"bodies": "frames/bodies", "configurations": "frames/configurations", "velocities": "frames/velocities",
          "constraints": "frames/constraints", "user_constraints": "frames/user_constraints"}  # fmt: skip


def heap(side: int, layers: int):
    """Cubes on cubes, four contacts a pair, at rest: about four contacts a body."""
    model = models.cubes(side, side, layers, spacing=1.001, gap=0.0, friction=0.5)
    model.settings.patch = True
    model.settings.threshold = 0.0
    model.advance(GaussSeidelSolver(1e-2, 5))
    return model


def frame(path: str, model, compression: bool = False, frames: int = 20) -> dict:
    """Write frames; milliseconds, and size over the raw numbers."""
    with ResultsWriter.create(path) as writer:
        writer.compression = compression
        writer.write_frame(model)
        first = os.path.getsize(writer.file)
        wall, processor = [], []
        for _ in range(frames):
            model.advance(GaussSeidelSolver(1e-2, 5))
            start = perf_counter(), process_time()
            writer.write_frame(model)
            wall.append(perf_counter() - start[0])
            processor.append(process_time() - start[1])
        size = (os.path.getsize(writer.file) - first) / frames
    with ResultsReader(path) as reader:
        stored = reader.frame(-1)
        raw = sum(layout.DATASETS[name][0].itemsize * len(getattr(stored, part)) for part, name in TABLES.items())
    return {"ms": 1e3 * min(wall), "ms_processor": 1e3 * min(processor), "MB": size / 1e6, "size_over_raw": size / raw}


def every_step(path: str, model, frames: int) -> str:
    """Milliseconds of a frame and of a step, where every step is followed by a frame."""
    solver, run = GaussSeidelSolver(1e-3, 20), []
    steps = writes = 0.0
    with ResultsWriter.create(path) as writer:
        writer.write_frame(model)
        for _ in range(frames):
            start = perf_counter()
            model.advance(solver)
            middle = perf_counter()
            writer.write_frame(model)
            run.append(perf_counter() - middle)
            steps += middle - start
            writes += run[-1]
        start = perf_counter()
        writer.rest()
        writes += perf_counter() - start
    run.sort()
    return f"frame {1e3 * writes / frames:.3f} ms (median {1e3 * run[frames // 2]:.3f}), step {1e3 * steps / frames:.3f} ms"


def histories(path: str, frames: int = 10000) -> float:
    """Seconds of 100 histories of ten bodies."""
    model = heap(2, 3)
    with ResultsWriter.create(path) as writer:
        for _ in range(frames):
            model.time += model.step
            writer.write_frame(model)
    items = [(2 + k % 10, (0.1 * k, 0, 0), "CDV"[k % 3] + "XYZ"[k % 2]) for k in range(60)]
    items += [(2 + k % 10, "KINETIC") for k in range(20)] + [(2 + k % 10, (0, 0, 1), None, "R") for k in range(20)]
    with ResultsReader(path) as reader:
        return machine.best(lambda: reader.history(items), 3)


def main() -> int:
    words.none(__doc__)
    print(json.dumps(machine.figures()))
    with tempfile.TemporaryDirectory() as directory:
        for name, model, count in (("10 cubes", models.cubes(2, 5, 1, 1.1, 0.0, 0.5), 4000), ("1000 spheres", models.spheres(1000), 400)):
            print(f"{name}, a frame every step: {every_step(os.path.join(directory, name), model, count)}", flush=True)
        model = heap(32, 10)
        print(f"{model.bodies.n} bodies, {model.constraints.n} contacts")
        for compression in (False, True):
            row = frame(os.path.join(directory, f"compressed-{compression}"), model, compression, 4 if compression else 20)
            print("compression " + ("ON:  " if compression else "OFF: ") + ", ".join(f"{name} {value:.3g}" for name, value in row.items()))
        print(f"HISTORY of 100 quantities over 10 000 frames: {histories(os.path.join(directory, 'long')):.2f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
