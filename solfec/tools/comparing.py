"""`solfec compare`: differences of two results, or of two files that LOCDYN_DUMP wrote (docs/running.md, Compare)."""

from __future__ import annotations

import argparse
import os

import numpy as np

from ..bodies.table import Energy
from ..errors import SolfecError
from ..results import layout
from ..results.reader import ResultsReader
from ..solvers import dump

HELP = """\
Compares two results frame by frame: bodies, energies, contacts and reactions at the times that both hold. With two files that LOCDYN_DUMP wrote it
compares these. Status: 0 if nothing differs by more than the tolerance, else 1; 2 if they cannot be compared.
"""
SAME_TIME = 1e-9  # relative to the last time


def command(words: list[str]) -> int:
    """Run `solfec compare`; return the exit status."""
    made = argparse.ArgumentParser(prog="solfec compare", description=HELP)
    made.add_argument("first", help="output directory or results file, or a file of LOCDYN_DUMP")
    made.add_argument("second")
    made.add_argument("--tolerance", type=float, default=0.0, metavar="R", help="of results: differences up to R times the largest number of their kind count as none (default: 0)")
    options = made.parse_args(words)
    if not 0.0 <= options.tolerance < float("inf"):
        made.error("--tolerance needs a number that is not negative")
    are_results = [_is_results(path) for path in (options.first, options.second)]
    if not any(are_results):
        return dump.compare_command([options.first, options.second])
    with ResultsReader(options.first) as first, ResultsReader(options.second) as second:
        text, differ = compare(first, second, options.tolerance)
    print(text)
    return int(differ)


def _is_results(path: str) -> bool:
    return os.path.isfile(layout.results_file(path)) or os.path.isdir(path) or path.endswith(".h5")


def compare(first: ResultsReader, second: ResultsReader, tolerance: float) -> tuple[str, bool]:
    """Return a table of largest differences, and whether anything differs by more than the tolerance.

    Raises
    ------
    SolfecError
        There is no time that both hold, or no body.
    """
    pairs = common_frames(first.times, second.times)
    if not len(pairs):
        raise SolfecError(f"{first.file} and {second.file} have no time in common")
    notes = [] if len(pairs) == len(first.times) == len(second.times) else [
        f"{len(pairs)} common times out of {len(first.times)} and {len(second.times)} frames"
    ]  # fmt: skip
    worst: dict[str, tuple[float, float, float, str]] = {}  # difference, size, time, where
    for one, two in pairs.tolist():
        for name, difference, size, where in _of_frame(first, second, one, two, notes):
            known = worst.get(name, (-1.0, 0.0, 0.0, ""))
            size = max(size, known[1])
            worst[name] = (difference, size, float(first.times[one]), where) if difference > known[0] else (known[0], size, *known[2:])
    differ = bool(notes) or any(not found[0] <= tolerance * found[1] for found in worst.values())
    lines = [f"{first.file} and {second.file}: {len(pairs)} frames, time {first.times[pairs[0, 0]]:g} to {first.times[pairs[-1, 0]]:g}"]
    lines += [f"  {note}" for note in dict.fromkeys(notes)]
    lines.append(f"  {'largest difference of':<24}{'':>12}{'of largest':>12}")
    for name, (difference, size, time, where) in worst.items():
        place = f"  at time {time:g}{', ' + where if where else ''}" if difference else ""
        lines.append(f"  {name:<24}{difference:>12.3g}{size:>12.3g}{place}")
    lines.append("  " + ("they differ" if differ else "no difference" + (f" above {tolerance:g} of the largest" if tolerance else "")))
    return "\n".join(lines), differ


def common_frames(one: np.ndarray, two: np.ndarray) -> np.ndarray:
    """Numbers (n, 2) of frames of equal times, those of ends of restarted runs once."""
    if not len(one) or not len(two):
        return np.zeros((0, 2), int)
    slack = SAME_TIME * max(abs(float(one[-1])), abs(float(two[-1])), 1e-300)
    nearest = np.clip(np.searchsorted(two, one), 1, max(len(two) - 1, 1)) if len(two) > 1 else np.zeros(len(one), int)
    if len(two) > 1:
        nearest -= (one - two[nearest - 1]) < (two[nearest] - one)
    same = np.abs(two[nearest] - one) <= slack
    return np.stack((np.flatnonzero(same), nearest[same]), 1)


def _of_frame(first: ResultsReader, second: ResultsReader, one: int, two: int, notes: list[str]):
    """Yield name, largest difference, size and place of every quantity of a frame."""
    left, right = first.bodies(one), second.bodies(two)
    both, a, b = np.intersect1d(left["id"], right["id"], return_indices=True)
    if not len(both):
        raise SolfecError(f"{first.file} and {second.file} have no body in common")
    if len(both) < max(len(left["id"]), len(right["id"])):
        notes.append(f"bodies that only one of them has: {len(left['id']) + len(right['id']) - 2 * len(both)}")
    for name, columns in (("place of bodies", ("x", "y", "z")), ("velocity of bodies", ("vx", "vy", "vz"))):
        x, y = (np.stack([table[column][rows] for column in columns], 1) for table, rows in ((left, a), (right, b)))
        distance = np.sqrt(((x - y) ** 2).sum(1))
        k = int(np.argmax(distance))
        size = np.sqrt((x**2).sum(1).max()) if name.startswith("velocity") else np.sqrt((np.ptp(x, axis=0) ** 2).sum())
        label = left["label"][a[k]]
        yield name, float(distance[k]), float(size), f"body {both[k]}" + (f" ({label})" if label else "")
    energies = first.steps["energy"][one], second.steps["energy"][two]
    for energy in Energy:
        x, y = (float(values[energy]) for values in energies)
        if x or y:
            yield f"{energy.name.lower()} energy", abs(x - y), float(np.abs(energies[0]).max()), ""
    counts = int(first.steps["contacts"][one]), int(second.steps["contacts"][two])
    yield "number of contacts", float(abs(counts[0] - counts[1])), float(counts[0]), ""
    totals = []
    for reader, number in ((first, one), (second, two)):
        table = reader.contacts(number)
        totals.append(np.sqrt(sum(table[name] ** 2 for name in ("rx", "ry", "rz"))).sum() if len(table["id"]) else 0.0)
    yield "sum of |R| of contacts", float(abs(totals[0] - totals[1])), float(totals[0]), ""
