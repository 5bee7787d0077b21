"""Time of the detection half of a step when all, one in a hundred, or none of the bodies of a scene move.

Usage: python benchmarks/settled_scene.py [boxes per side]
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

import numpy as np
import words

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "contact"))

from detection_models import Model, box  # noqa: E402

from solfec.bodies.table import BodyKind  # noqa: E402

STEPS = 12


def stacks(side: int) -> Model:
    """side x side stacks of ten cubes on a floor."""
    model = Model()
    model.add(box((-1, -1, -1), (1.5 * side, 1.5 * side, 0)), kind=BodyKind.OBSTACLE)
    for x in range(side):
        for y in range(side):
            for z in range(10):
                model.add(box((1.2 * x, 1.2 * y, z), (1.2 * x + 1, 1.2 * y + 1, z + 1)))
    return model


def milliseconds(model: Model, share: float, clock=time.perf_counter) -> float:
    """Best time of a step in which this share of the bodies moves by a little."""
    random = np.random.default_rng(1)
    bodies, best = model.bodies, np.inf
    for _ in range(STEPS):
        rows = 1 + random.choice(bodies.n - 1, int(share * (bodies.n - 1)), replace=False)
        for row in rows:
            model.move(row, 1e-7 * random.normal(size=3))
        start = clock()
        model.detect()
        best = min(best, clock() - start)
    return round(1e3 * best, 3)


def main(side: int = 20):
    """Print milliseconds per step."""
    model = stacks(side)
    model.detect()
    report = {f"{100 * share:g} % move": milliseconds(model, share) for share in (1.0, 0.01, 0.0)}
    print(json.dumps({"bodies": model.bodies.n, "contacts": model.constraints.n, **report}, indent=1))


if __name__ == "__main__":
    main(words.number(__doc__, "side", 20, "stacks along a side"))
