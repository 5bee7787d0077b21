"""Results of the explicit engine for `solfec info` and `solfec plot`."""

from __future__ import annotations

import json
import os
import re
from contextlib import suppress
from time import localtime, strftime

import numpy as np

from ..errors import shown
from ..results import layout, plot
from ..results.frame_file import reading
from ..results.journal import journal_path
from .histories import OF_JOINTS, OF_PARTICLES, OF_SPRINGS, OF_TORSIONS, quantity_of
from .kinds import QuantityKind
from .run_file import FORMAT, StoredRun

ITEM = re.compile(r"^(\d+):(.+)$")
COLUMNS = {  # columns of frames, by quantity
    QuantityKind.POSITION: "position", QuantityKind.DISPLACEMENT: "position", QuantityKind.VELOCITY: "velocity", QuantityKind.SPIN: "spin",
    QuantityKind.FORCE: "force", QuantityKind.TORQUE: "torque", QuantityKind.LINK_LENGTH: "length", QuantityKind.LINK_STROKE: "stroke",
    QuantityKind.LINK_TOTAL: "total", QuantityKind.LINK_ELASTIC: "elastic", QuantityKind.LINK_FRICTION: "friction",
    QuantityKind.LINK_STATUS: "status", QuantityKind.TORSION_ANGLE: "angle", QuantityKind.TORSION_TOTAL: "total",
    QuantityKind.TORSION_ELASTIC: "elastic", QuantityKind.REACTION: "reaction",
}  # fmt: skip
SCALARS = {"KINETIC": "kinetic", "STEP": "step", "CONTACTS": "touching"}  # of the whole model
TITLES = {"P": "position", "D": "displacement", "V": "velocity", "O": "angular velocity", "F": "force", "T": "torque"}


def is_own(path: str) -> bool:
    """Whether a file holds results of the explicit engine."""
    with suppress(OSError, RuntimeError, KeyError, ValueError):
        if os.path.isfile(path):
            with reading(path) as file:
                return layout.said(file, "format") == FORMAT
    return False


def describe(path: str) -> dict:
    """Return a summary of stored results, in types of JSON."""
    run = StoredRun(path)
    steps, status = run.steps, os.stat(path)
    last = steps[-1]
    return {
        "file": path,
        "engine": "explicit",
        "megabytes": round(status.st_size / 1e6, 3),
        "written": strftime("%Y-%m-%d %H:%M:%S", localtime(status.st_mtime)),
        "version": run.read(lambda frames: layout.said(frames.group, "solfec_version")),
        "unfinished": os.path.exists(journal_path(path)) or not last["finished"],
        "arguments": json.loads(run.text("arguments")),
        "frames": len(steps),
        "time": [float(steps["time"][0]), float(last["time"])],
        "step": float(last["step"]),
        "steps": int(last["steps"]),
        "runs": run.last_run,
        "particles": int(last["particles"]),
        "springs": int(last["links"]),
        "torsion springs": int(last["torsions"]),
        "joints": int(last["joints"]),
        "most contacts": int(steps["touching"].max()),
        "histories": int(last["probes"]),
        "kinetic": float(last["kinetic"]),
        "seconds": float(steps["seconds"].sum()),
    }


def text(facts: dict) -> str:
    """Return facts as lines of text."""
    rows = [
        ("written", f"{facts['written']} by the explicit engine of solfec {shown(facts['version'])}, {facts['megabytes']:g} MB"),
        ("", "a run is writing it, or was ended early: parmec -c goes on from the last frame" if facts["unfinished"] else ""),
        ("arguments", shown(" ".join(map(str, facts["arguments"])))),
        ("frames", f"{facts['frames']}, time {facts['time'][0]:g} to {facts['time'][1]:g}"),
        ("steps", f"{facts['steps']} in {facts['runs']} calls of DEM, the next one {facts['step']:g}"),
        ("model", f"{facts['particles']} particles, {facts['springs']} springs, {facts['torsion springs']} torsion springs, {facts['joints']} joints"),
        ("contacts", f"at most {facts['most contacts']} in a frame"),
        ("histories", f"{facts['histories']}"),
        ("kinetic", f"{facts['kinetic']:.6g}"),
        ("run time", f"{facts['seconds']:.3g} s"),
    ]
    return "\n".join([shown(facts["file"])] + [f"  {name:<12} {value}" for name, value in rows if value])


def history(path: str, words: list[str]) -> tuple[np.ndarray, ...]:
    """Return times of frames and values of items: NUMBER:ENTITY with the names of HISTORY, KINETIC, STEP or CONTACTS.

    Raises
    ------
    ValueError
        An unknown item, or a number that the results do not have.
    SolfecError
        There are no readable results.
    """
    run = StoredRun(path)
    return run.steps["label"], *(values_of(run, word) for word in words)


def values_of(run: StoredRun, word: str) -> np.ndarray:
    """Return the values of an item in all frames."""
    if word in SCALARS:
        return run.steps[SCALARS[word]].astype(float)
    found = ITEM.match(word)
    if found is None:
        raise ValueError(f"{word!r} is no item; write NUMBER:ENTITY, as 0:PZ, or one of {', '.join(SCALARS)}")
    number, name = int(found[1]), found[2]
    quantity, component = quantity_of(name)
    if quantity not in COLUMNS:
        raise ValueError(f"{word}: frames do not hold {name}")
    table = next(t for names, t in ((OF_PARTICLES, "particles"), (OF_SPRINGS, "links"), (OF_TORSIONS, "torsions"), (OF_JOINTS, "joints")) if name in names)
    if number >= run.steps[table][-1]:
        raise ValueError(f"{word}: the results have {run.steps[table][-1]} {table}, and no number {number}")

    def take(frames) -> np.ndarray:
        rows = run.steps[f"{table}_first"] + number
        column = np.array([frames.group[f"frames/{table}/{COLUMNS[quantity]}"][row] for row in rows.tolist()], float)
        if quantity == QuantityKind.DISPLACEMENT:
            column -= frames.fixed("particles/reference", run.steps[-1])[number]
        if column.ndim == 1:
            return column
        return np.linalg.norm(column, axis=1) if component == 3 else column[:, component]

    return run.read(take)


def picture(path: str, words: list[str], file: str | None = None, start: float | None = None, end: float | None = None, skip: int = 1) -> str:
    """Draw items against time, by default the kinetic energy, contacts and steps; return the path of the picture."""
    words = words or list(SCALARS)
    times, *values = history(path, words)
    shown_rows = np.flatnonzero((times >= (times[0] if start is None else start)) & (times <= (times[-1] if end is None else end)))[::skip]
    if not shown_rows.size:
        raise ValueError(f"there are no frames from {start} to {end}")
    titles = [title_of(word) for word in words]
    curves = {word: column[shown_rows] for word, column in zip(words, values)}
    name = os.path.basename(path).removesuffix(".h5")
    return plot.save(plot.draw_items(times[shown_rows], curves, titles, name), file or os.path.splitext(path)[0] + ".png")


def title_of(word: str) -> str:
    """Return the title of the panel of an item."""
    name = word.split(":")[-1]
    if word in SCALARS:
        return word.lower()
    quantity, _ = quantity_of(name)
    return TITLES[name.strip("|")[0]] if quantity <= QuantityKind.TORQUE else quantity.name.lower().replace("_", " ")

