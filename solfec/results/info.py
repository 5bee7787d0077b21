"""Contents of a results directory, for `solfec info DIRECTORY`."""

from __future__ import annotations

import os
from collections import Counter
from time import localtime, strftime

import numpy as np

from ..bodies.table import Energy
from ..errors import shown
from ..lives import Cause
from ..time_step import SHARED_CLOCKS
from . import layout
from .journal import journal_path
from .reader import ResultsReader


def describe(path: str) -> dict:
    """Return facts about results as types of JSON.

    Raises
    ------
    SolfecError
        When there are no readable results.
    """
    with ResultsReader(path) as reader, reader.undamaged("what it holds"):
        steps = reader.steps
        status = os.stat(reader.file)
        facts = {
            "file": reader.file,
            "megabytes": round(status.st_size / 1e6, 3),
            "written": strftime("%Y-%m-%d %H:%M:%S", localtime(status.st_mtime)),
            "version": reader.written_by,
            "kernels": reader.kernels,
            "analysis": "DYNAMIC" if reader.dynamic else "QUASI_STATIC",
            "unfinished": os.path.exists(journal_path(reader.file)),
            "arguments": reader.arguments,
            "frames": len(steps),
        }
        return facts if not len(steps) else facts | frames(reader)


def frames(reader) -> dict:
    """Return facts about the frames and the last state."""
    steps, last = reader.steps, reader.steps[-1]
    bodies, constraints = reader.bodies(), reader.constraints()
    materials = reader.materials
    labels = Counter(label for label in bodies["label"] if label)
    return {
        "time": [float(steps["time"][0]), float(last["time"])],
        "step": float(last["step"]),
        "steps": int(last["step_number"]),
        "runs": int(last["run"]),
        "solver": last["solver"].decode(),
        "bodies": dict(Counter(bodies["kind"].tolist())),
        "born": int(steps["born"].sum()),
        "deleted": int(steps["deleted"].sum()),
        "splits": dict(Counter(Cause(int(cause)).name for cause in fallen_apart(reader.events))),
        "fractures": len(reader.fractures()),
        "labels": list(labels),
        "constraints": dict(Counter(constraints["kind"].tolist())),
        "most contacts": int(steps["contacts"].max()),
        "deepest penetration": float(max(0.0, -np.nanmin(steps["minimum_gap"]))),
        "energy": {energy.name.lower(): float(last["energy"][energy]) for energy in Energy},
        "bulk materials": [material["label"] for material in materials["bulk"]],
        "surface materials": [material["label"] for material in materials["surface"]],
        "seconds": {phase: float(steps[phase].sum()) for phase in (*reader.phases, "PARBAL") if phase in reader.phases or steps[phase].any()},
        "sweeps": sweeps(steps),
    }


def sweeps(steps: np.ndarray) -> dict:
    """Return facts about sweeps by colours in the last frame, and the seconds that all of them took; {} without such sweeps."""
    last = steps[-1]
    if not last["colours"]:
        return {}
    rows = {name: int(last[name]) for name in layout.ROW_SETS}
    return {"colours": int(last["colours"]), "rows": rows if any(rows.values()) else {}, "seconds": {clock: float(steps[clock].sum()) for clock in SHARED_CLOCKS if clock != "PARBAL"}}


def text(facts: dict) -> str:
    """Format facts as lines of text."""
    lines = [shown(facts["file"])]

    def line(name: str, value) -> None:
        lines.append(f"  {name:<12} {value}")

    kernels = f", kernels {shown(facts['kernels'])}" if facts["kernels"] else ""
    line("written", f"{facts['written']} by solfec {shown(facts['version'])}{kernels}, {facts['megabytes']:g} MB")
    if facts["unfinished"]:
        line("", "a run is writing it, or was killed: solfec -c goes on from the last frame")
    if facts["arguments"]:
        line("arguments", shown(" ".join(map(str, facts["arguments"]))))
    if not facts["frames"]:
        line("frames", "none")
        return "\n".join(lines)
    first, last = facts["time"]
    line("frames", f"{facts['frames']}, time {first:g} to {last:g}")
    line("analysis", f"{facts['analysis']}, {facts['steps']} steps, the last one {facts['step']:g}" + (f", {shown(facts['solver'])}" if facts["solver"] else ""))
    line("bodies", _counts(facts["bodies"]) + _changes(facts))
    if facts["splits"]:
        count = sum(facts["splits"].values())
        line("", f"{count} {'body' if count == 1 else 'bodies'} fell apart ({', '.join(f'{n} {name}' for name, n in facts['splits'].items())})")
    if facts["fractures"]:
        line("", f"{facts['fractures']} states in which a body reached its fracture energy (BODY.fracturecheck)")
    if facts["labels"]:
        line("labels", _some(facts["labels"]))
    line("constraints", _counts(facts["constraints"]) + f"; at most {facts['most contacts']} contacts, {facts['deepest penetration']:.3g} deep")
    line("materials", f"bulk {_some(facts['bulk materials']) or 'none'}; surface {_some(facts['surface materials'])}")
    line("energy", ", ".join(f"{name} {value:.6g}" for name, value in facts["energy"].items()))
    total = sum(facts["seconds"].values())
    if total > 0.0:
        shares = ", ".join(f"{phase} {100 * seconds / total:.0f} %" for phase, seconds in facts["seconds"].items())
        line("run time", f"{total:.3g} s: {shares}")
    if facts["sweeps"]:
        colours, rows, spent = facts["sweeps"].values()
        listed = ", ".join(f"{count} {name} rows" for name, count in rows.items())
        kind = f"of processes: {listed}" if rows else "of constraints"
        line("sweeps", f"by {colours} colours {kind}; " + ", ".join(f"{clock} {seconds:.3g} s" for clock, seconds in spent.items() if seconds))
    return "\n".join(lines)


def fallen_apart(events: np.ndarray) -> list[int]:
    """Return the causes for which bodies fell apart."""
    return events["cause"][(events["born"] == 0) & np.isin(events["cause"], (Cause.CRACK, Cause.SPLIT))].tolist()


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in counts.items()) or "none"


def _changes(facts: dict) -> str:
    words = [f"{facts[word]} {word}" for word in ("born", "deleted") if facts[word]]
    return f" ({', '.join(words)} during the run)" if words else ""


def _some(labels: list[str]) -> str:
    """The first few of many labels."""
    return ", ".join(map(shown, labels[:12])) + (f" and {len(labels) - 12} more" if len(labels) > 12 else "")
