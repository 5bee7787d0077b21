"""Bodies per second of the broad phase, printed as JSON: full rebuild with the sorted list of overlapping pairs.

Loose packings (55 % of the volume) in shuffled order: equal spheres, unequal ones (radii 1 to 3, log-normal, a
factor of 100), equal ones on a floor, and boxes; milliseconds of a search for 1000 balls on a terrain of obstacles.
"""

from __future__ import annotations

import json
import time

import numpy as np
import words

from solfec import _kernels
from solfec.bodies.table import BodyTable
from solfec.contact import detection
from solfec.contact.geometry import Geometry, PrimitiveKind
from solfec.contact.workspace import workspace_of

REPETITIONS = 15
OBSTACLE, RIGID = 0, 1


def packing(random, half: np.ndarray) -> np.ndarray:
    """Boxes (6, n) of half widths (3, n) about jittered lattice points, in shuffled order."""
    n = half.shape[1]
    spacing = (8.0 * np.prod(half, axis=0).mean() * np.pi / 6 / 0.55) ** (1 / 3)
    side = int(np.ceil(n ** (1 / 3)))
    number = random.permutation(n)
    lattice = np.stack((number % side, number // side % side, number // side**2))
    centre = spacing * (lattice + random.uniform(-0.3, 0.3, (3, n)))
    return np.concatenate((centre - half, centre + half))


def cases(random, n: int) -> dict[str, np.ndarray]:
    """Make the boxes of every case."""
    equal = packing(random, np.full((3, n), 0.5))
    floor = np.array([[-1e3, -1e3, -2.0, 1e3, 1e3, -0.5]]).T
    radii = {
        "radii 1 to 3": random.uniform(0.25, 0.75, n),
        "radii log-normal": 0.5 * np.exp(0.5 * random.normal(size=n)),
        "radii 1 to 100": 0.05 * 10.0 ** random.uniform(0, 2, n),
    }
    return {
        "equal spheres": equal,
        "equal spheres on a floor": np.concatenate((floor, equal), axis=1),
        **{name: packing(random, np.tile(radius, (3, 1))) for name, radius in radii.items()},
        "boxes of edges 0.3 to 1": packing(random, random.uniform(0.15, 0.5, (3, n))),
    }


def terrain(random, tiles: int, balls: int) -> tuple[np.ndarray, np.ndarray]:
    """Boxes (6, n) of a square of tiles, which are one obstacle, and of balls on them; the body rows (n,) of both."""
    side = int(np.sqrt(tiles))
    number = np.arange(side**2)
    x, y = number % side, number // side
    z = random.uniform(-0.3, 0.3, side**2)
    low = np.stack((x - 0.1, y - 0.1, z))
    centre = np.concatenate((random.uniform(0, side, (2, balls)), random.uniform(0, 1, (1, balls))))
    boxes = np.concatenate((np.concatenate((low, low + 1.2)), np.concatenate((centre - 0.5, centre + 0.5))), axis=1)
    return boxes, np.concatenate((np.zeros(side**2, int), np.arange(1, balls + 1)))


def milliseconds_of_search(boxes: np.ndarray, body: np.ndarray, clock=time.perf_counter) -> dict:
    """Best times of a search with an obstacle whose boxes are sorted already, and of one that sorts them."""
    n, count = body.size, body.max() + 1
    bodies, geometry = BodyTable(), Geometry()
    bodies.append(count, id=np.arange(1, count + 1), kind=np.where(np.arange(count) > 0, RIGID, OBSTACLE))
    geometry.primitives.append(n, kind=int(PrimitiveKind.SPHERE), body=body, box=boxes)
    work = workspace_of(geometry, bodies)
    settings = detection.Settings()
    work.fat[:, :n] = boxes
    best = [np.inf, np.inf]
    for k in range(4 * REPETITIONS):
        if k % 2 == 0:
            work.still.forget()
        start = clock()
        work.still.refresh(geometry, bodies, 0.0, work)
        detection.search_pairs(geometry, bodies, settings, work)
        best[k % 2] = min(best[k % 2], clock() - start)
    anew, kept = (round(1e3 * seconds, 3) for seconds in best)
    return {"boxes of obstacles": int(np.sum(body == 0)), "bodies": int(count - 1), "pairs": work.pairs,
            "ms": kept, "ms with obstacles sorted anew": anew}  # fmt: skip


def bodies_per_second(boxes: np.ndarray, clock=time.perf_counter) -> dict:
    """Best of several repetitions, and the pairs found per body."""
    n = boxes.shape[1]
    bodies, geometry = BodyTable(), Geometry()
    bodies.append(n, id=np.arange(1, n + 1), kind=1)
    geometry.primitives.append(n, kind=int(PrimitiveKind.SPHERE), body=np.arange(n), box=boxes)
    work = workspace_of(geometry, bodies)
    settings = detection.Settings()
    work.still.refresh(geometry, bodies, 0.0, work)
    work.fat[:] = geometry.primitives.box
    best = np.inf
    for _ in range(REPETITIONS):
        start = clock()
        detection.search_pairs(geometry, bodies, settings, work)
        best = min(best, clock() - start)
    return {"bodies": n, "pairs_per_body": round(work.pairs / n, 2), "million_bodies_per_s": round(1e-6 * n / best, 2)}


def main(bodies: int = 100_000):
    """Print one row for each case and number of threads."""
    threads = _kernels.threads.get_threads()
    report = {}
    for count in sorted({1, threads}):
        _kernels.threads.set_threads(count)
        rows = {name: bodies_per_second(boxes) for name, boxes in cases(np.random.default_rng(1), bodies).items()}
        report[f"{count} thread" + "s" * (count > 1)] = rows
    report["1000 balls on a terrain"] = milliseconds_of_search(*terrain(np.random.default_rng(1), bodies, 1000))
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main(words.number(__doc__, "bodies", 100_000, "bodies in each case"))
