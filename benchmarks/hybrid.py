"""Times a block of cubes under both engines, inp/hybrid/cube-array.py in three dimensions, in processor seconds; prints JSON.

    python benchmarks/hybrid.py [--outer 8] [--inner 4] [--steps 100]

`outer` layers of cubes on springs surround inner**3 deformable ones; the layer that both engines share is implicit as well.  By default
20**3 cubes of which 6**3 are implicit.  The overhead is what a step of the run takes beyond the steps of both engines, over these.  The
explicit model goes on alone afterwards, so that its steps in both cases can be compared.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import tempfile
from pathlib import Path
from time import process_time

import numpy as np
import words

from solfec import cli
from solfec.coupling.boundary import Boundary
from solfec.domain import Domain
from solfec.parmec.engine import Intervals, Run
from solfec.simulation import Simulation

INPUTS = Path(__file__).resolve().parent.parent / "inp" / "hybrid"


class Clock:
    """Processor seconds in calls of a method since the object was made; calls within such calls count once."""

    def __init__(self, owner: type, *names: str):
        self.seconds, self.calls, self._inside = 0.0, 0, False
        for name in names:
            setattr(owner, name, self._around(getattr(owner, name)))

    def _around(self, method):
        def call(*arguments):
            if self._inside:
                return method(*arguments)
            self._inside, began = True, process_time()
            try:
                return method(*arguments)
            finally:
                self.seconds += process_time() - began
                self.calls, self._inside = self.calls + 1, False

        return call


def run(outer: int, inner: int, steps: int) -> dict:
    """Run the input in the present directory."""
    for path in INPUTS.glob("cube-array*.py"):
        shutil.copy(path, path.name)
    text = Path("cube-array.py").read_text().replace("hybrid.parmec_interval = (1E9, 0.01)\n", "").replace("OUTPUT (solfec, 0.01)", "OUTPUT (solfec, 1E9)")
    Path("cube-array.py").write_text(text.split("if solfec.mode")[0])
    explicit, implicit, within = Clock(Run, "begin", "advance"), Clock(Domain, "advance"), Clock(Boundary, "load", "count_step")
    marks, kept = [], []
    original = Simulation.steps

    def each_step(simulation, solver, duration, *rest):
        for time in original(simulation, solver, duration, *rest):
            marks.append((process_time(), explicit.seconds, implicit.seconds, within.seconds))
            kept[:] = [simulation.companion._model, simulation.domain]
            yield time

    Simulation.steps = each_step
    with contextlib.redirect_stdout(io.StringIO()):
        if status := cli.main(["-w", "-y", "--quiet", "cube-array.py", "3", str(outer), str(inner), str((steps + 0.5) * 5e-4)]):
            raise SystemExit(status)
    spent = np.diff(np.array(marks)[1:], axis=0)  # without what first steps prepare
    total, engine, whole, inside = spent.sum(axis=0) / len(spent)
    model, domain = kept
    step = float(model.control.step[0])
    substeps = round(domain.step / step)
    model.particles.driven[:] = 0
    model.control.leads[0] = 0
    model.unsettle()
    alone = Run(model, 1e9, step, Intervals(np.inf, np.inf))
    alone.begin()
    alone.advance(substeps)
    began = process_time()
    for _ in range(len(spent)):
        alone.begin()
        alone.advance(substeps)
    alone_seconds = (process_time() - began) / len(spent)
    count = 2 * outer + inner
    return {
        "cubes": count**3, "implicit": (inner + 2) ** 3, "springs": model.links.n, "explicit_steps_per_implicit_one": substeps, "steps": len(spent),
        "contacts": int(domain.constraints.n), "engine_ms_per_implicit_step": 1e3 * engine, "engine_alone_ms": 1e3 * alone_seconds,
        "implicit_ms_per_step": 1e3 * (whole - inside), "overhead_ms": 1e3 * (total - engine - whole + inside),
        "overhead_percent": 100 * (total - engine - whole + inside) / (engine + whole - inside),
    }  # fmt: skip


def main() -> None:
    chosen = words.parser(__doc__)
    chosen.add_argument("--outer", type=int, default=8, help="layers of cubes around the inner ones (default: 8)")
    chosen.add_argument("--inner", type=int, default=4, help="deformable cubes along a side (default: 4)")
    chosen.add_argument("--steps", type=int, default=100, help="implicit steps (default: 100)")
    given = chosen.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        print(json.dumps(run(given.outer, given.inner, given.steps)), flush=True)


if __name__ == "__main__":
    main()
