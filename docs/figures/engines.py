"""Draws engines.png: examples of the explicit engine and of both engines together.

Run in the project's directory: python docs/figures/engines.py
"""

import contextlib
import io
import os
import shutil
import tempfile
from pathlib import Path

import numpy as np
from matplotlib import figure

from solfec import cli, parmec_command, results
from solfec.parmec import model
from solfec.results.plot import COLOURS, SURFACE, finish

HERE = Path(__file__).resolve().parent
INPUTS = HERE.parent.parent / "inp"


def explicit(name, more, *words):
    """Histories of an example of the explicit engine, to which lines are added before DEM."""
    text = (INPUTS / "parmec" / name).read_text().replace("DEM (", more + "\nDEM (", 1).replace("seconds = " + more + "\n", more + "\nseconds = ", 1)
    Path("in.py").write_text(text)
    before = model.begin(None)
    kept = []
    begun, model.begin = model.begin, lambda new: kept.append(model.current()) or begun(new)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            assert parmec_command.main(["in.py", *words]) == 0
    finally:
        model.begin = begun
        begun(before)
    return [np.array(values) for values in kept[-1].histories]


def draw():
    """Three panels."""
    canvas = figure.Figure(figsize=(11, 3.6), layout="constrained", facecolor=SURFACE)
    one, two, three = canvas.subplots(1, 3)
    histories = explicit("impact-tower.py", "places = [HISTORY ('PZ', i) for i in range (n + 1)]")
    t, places = histories[0], histories[4:]
    for place in places:
        one.plot(t, place, lw=0.9, color=COLOURS[1] if place is places[-1] else COLOURS[0])
    finish(one, "height of spheres", from_zero=False)
    one.set_xlabel("time")
    histories = explicit("core-slice.py", "clock = HISTORY ('TIME')")
    frame, rows, t = histories[0], histories[1:22], histories[-1]
    for row in rows[::4]:
        two.plot(t, 1e3 * row, lw=0.9, color=COLOURS[0])
    two.plot(t, 1e3 * frame, lw=1.6, color=COLOURS[1])
    finish(two, "walls and bricks of the middle row, mm", from_zero=False)
    two.set_xlabel("time")
    for path in (INPUTS / "hybrid").glob("cube-array*.py"):
        shutil.copy(path, path.name)
    with contextlib.redirect_stdout(io.StringIO()):
        assert cli.main(["-w", "-y", "--quiet", "cube-array.py", "1", "5", "3", "1.0"]) == 0
    run = results.open("out/cube-array-1d")
    bodies = range(1, 6)
    t, *places = run.history([(k, (0.101 * (3 + k) + 0.05, 0.05, 0.05), "DX") for k in bodies])
    for k, place in zip(bodies, places):
        three.plot(t, 1e3 * np.array(place), lw=1.2, color=COLOURS[1] if k in (1, 5) else COLOURS[0])
    finish(three, "implicit cubes of a row, mm", from_zero=False)
    three.set_xlabel("time")
    canvas.savefig(HERE / "engines.png", dpi=100, facecolor=SURFACE)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        draw()
