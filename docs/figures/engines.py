"""Draws engines.png: every example of the explicit engine and of both engines together.

Run in the project's directory: python docs/figures/engines.py
"""

import contextlib
import io
import os
import shutil
import tempfile
from pathlib import Path

import h5py
import numpy as np
from make import rgb, save, shown
from matplotlib import collections, figure

from solfec import cli, parmec_command, results
from solfec.parmec import model
from solfec.results.plot import COLOURS, SURFACE, finish

HERE = Path(__file__).resolve().parent
INPUTS = HERE.parent.parent / "inp"
BLUE, ORANGE, GREEN = COLOURS[:3]


def quietly(command, *words):
    """Run a command line."""
    with contextlib.redirect_stdout(io.StringIO()):
        if command.main(list(words)):
            raise SystemExit(f"{' '.join(words)} failed")


def explicit(name, more, *words):
    """Return histories of an example of the explicit engine, to which lines are added before DEM; its files are called `in`."""
    text = (INPUTS / name).read_text().replace("seconds = DEM", "DEM").replace("\nDEM (", f"\n{more}\nDEM (", 1)
    Path("in.py").write_text(text)
    before = model.begin(None)
    kept = []
    begun, model.begin = model.begin, lambda new: kept.append(model.current()) or begun(new)
    try:
        quietly(parmec_command, "in.py", *words)
    finally:
        model.begin = begun
        begun(before)
    return [np.array(values) for values in kept[-1].histories]


def hybrid(name, *words, **changes):
    """Run an example of both engines."""
    for path in (INPUTS / "hybrid").glob(f"{name}*.py"):
        shutil.copy(path, path.name)
    text = Path(f"{name}.py").read_text()
    for old, new in changes.items():
        text = text.replace(old, new)
    Path(f"{name}.py").write_text(text)
    quietly(cli, "-w", "-y", "--quiet", f"{name}.py", *words)


def lines(panel, title, t, *curves, bold=(), label="time, s"):
    """Draw curves over time, those of the numbers `bold` in another colour."""
    for number, values in enumerate(curves):
        special = number in [index % len(curves) for index in bold]
        panel.plot(t, values, lw=1.5 if special else 0.9, color=ORANGE if special else BLUE, zorder=3 if special else 2)
    finish(panel, title, from_zero=False)
    panel.set_xlabel(label)


def plan(panel, title, parts):
    """Draw polygons (n, 4, 2) in one colour each, or in colours of numbers."""
    for corners, colour in parts:
        made = collections.PolyCollection(corners, edgecolor="white", linewidth=0.4)
        if isinstance(colour, str):
            made.set_facecolor(colour)
        else:
            made.set_array(colour)
            made.set_cmap("viridis")
        panel.add_collection(made)
    panel.autoscale()
    panel.set_aspect("equal")
    panel.set_axis_off()
    panel.set_title(title, fontsize=9)


def tops(path, frame):
    """Return upper faces of boxes in a frame of a file of triangles (n, 4, 2), and the size of their displacements."""
    with h5py.File(path) as file:
        group = file[str(frame)]
        corners, moved = group["GEOM"][:].reshape(-1, 3, 3), group["DISPL"][:].reshape(-1, 3, 3)
    upper = (corners[:, :, 2] > corners[:, :, 2].max() - 1e-6).all(axis=1)
    corners, moved = corners[upper], moved[upper]  # triangles a b c, a c d
    return np.stack([corners[::2, 0], corners[::2, 1], corners[::2, 2], corners[1::2, 2]], axis=1)[:, :, :2], np.linalg.norm(moved[::2, 0], axis=1)


def draw_explicit(panels):
    """Examples of the explicit engine."""
    t, x = explicit("parmec/pendulum.py", "")[:2]
    lines(panels["pendulum"], "pendulum: x of the centre, mm", t, 1e3 * x)
    t, z = explicit("parmec/spring-array.py", "DEM (0.02, step, (0.01, step))")[:2]
    with h5py.File("in0rb.h5") as file:
        highest = max(file, key=lambda frame: np.abs(file[frame]["DISPL"][:, 2]).max())
        places = file[highest]["GEOM"][:]
    panels["beads"].plot_trisurf(*places.T, cmap="viridis", linewidth=0.3, edgecolor="white")
    panels["beads"].set_title("array of beads in its first mode", fontsize=9)
    panels["beads"].tick_params(labelsize=6)
    histories = explicit("parmec/impact-tower.py", "places = [HISTORY ('PZ', i) for i in range (n + 1)]")
    lines(panels["tower"], "tower: height of spheres, m", histories[0], *histories[4:], bold=[-1])
    histories = explicit("parmec/brick-array.py", "clock = HISTORY ('TIME')")
    lines(panels["bricks"], "row of bricks: displacement, mm", histories[-1], *(1e3 * values for values in histories[:12]), bold=[0, 11])
    histories = explicit("parmec/core-slice.py", "clock = HISTORY ('TIME')")
    lines(panels["core"], "core: walls, bricks of the middle row, mm", histories[-1], 1e3 * histories[0], *(1e3 * row for row in histories[1:22:4]), bold=[0])
    corners, moved = tops("in0.h5", 12)
    plan(panels["core plan"], "core after 0.6 s: size of displacement", [(corners, moved)])


def draw_hybrid(panels):
    """Examples of both engines together."""
    hybrid("two-cubes", **{"RUN (": "OUTPUT (solfec, 2E-3)\nRUN ("})
    t, lower, upper = results.open("out/two-cubes").history([(1, (0.5, 0.5, 0.5), "DZ"), (2, (0.5, 0.5, 1.6), "DZ")])
    lines(panels["hs0"], "two cubes: lower one, and upper one less the gap, m", t, lower, np.array(upper) + 0.1, bold=[1])
    hybrid("cube-array", "1", "5", "3", "1.0")
    t, *places = results.open("out/cube-array-1d").history([(k, (0.101 * (3 + k) + 0.05, 0.05, 0.05), "DX") for k in range(1, 6)])
    lines(panels["hs1"], "row of cubes: implicit ones, mm", t, *(1e3 * np.array(place) for place in places), bold=[0, -1])
    hybrid("cube-array", "2", "2", "2", "0.4", **{"(1E9, 0.01)": "(0.05, 0.01)"})
    with results.open("out/cube-array-2d") as run:
        cells = [(i, j) for j in range(1, 5) for i in range(1, 5)]
        middles = [(0.101 * i + 0.05, 0.101 * j + 0.05, 0.05) for i, j in cells]
        found = run.history([(k + 1, middle, entity) for k, middle in enumerate(middles) for entity in ("CX", "CY")])
        last = np.array([values[-1] for values in found[1:]]).reshape(-1, 2)
    with h5py.File("out/cube-array-springs0.h5") as file:
        frame = max(map(int, file))
    square = 0.05 * np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)])
    inner = [all(1 < index < 4 for index in cell) for cell in cells]
    boxes = last[:, None, :] + square
    plan(panels["hs2"], "sheet: explicit, shared, implicit cubes after 0.4 s",
         [(tops("out/cube-array-springs0.h5", frame)[0], BLUE), (boxes[np.invert(inner)], ORANGE), (boxes[inner], GREEN)])  # fmt: skip
    hybrid("cube-array", "3", "2", "2", "0.3")
    cells = [(i, j, k) for k in range(4) for j in range(4) for i in range(4)]
    kinds = {n + 1: rgb(GREEN if all(0 < index < 3 for index in cell) else ORANGE) for n, cell in enumerate(cells)}
    panels["hs3"].imshow(shown("out/cube-array-3d", "seek to 0.3", "Euler cut -y", size=(420, 330), colours=kinds))
    panels["hs3"].set_axis_off()
    panels["hs3"].set_title("block: cut through the implicit cubes", fontsize=9)
    hybrid("plate-slot", "1", "1.0")
    t, plate, wall = results.open("out/plate-slot").history([(1, (0.2, 0, 0.1), "DY"), (2, (0.2, -0.021, 0.0), "DY")])
    lines(panels["hs4"], "plate in a slot: plate, and wall, mm", t, 1e3 * np.array(plate), 1e3 * np.array(wall), bold=[1])
    hybrid("either", "chain", **{"RUN (": "OUTPUT (solfec, 0.02)\nRUN ("})
    t, x, z = results.open("out/either-chain").history([(5, (2.25, 0, 0), "CX"), (5, (2.25, 0, 0), "CZ")])
    own = explicit("hybrid/either-explicit.py", "", "chain")
    panels["either"].plot(own[0], own[2], color=BLUE, lw=1.2)
    panels["either"].plot(x, z, "o", color=ORANGE, ms=2.5)
    finish(panels["either"], "chain: last rod, in either engine, m", from_zero=False)
    panels["either"].set_xlabel("x, m")


def main():
    """Twelve panels."""
    canvas = figure.Figure(figsize=(14.4, 9.6), layout="constrained", facecolor=SURFACE)
    names = ("pendulum", "beads", "tower", "bricks", "core", "core plan", "hs0", "hs1", "hs2", "hs3", "hs4", "either")
    panels = {name: canvas.add_subplot(3, 4, k + 1, **({"projection": "3d"} if name == "beads" else {})) for k, name in enumerate(names)}
    draw_explicit(panels)
    draw_hybrid(panels)
    save(canvas, HERE / "engines.png", 250, dpi=80, facecolor=SURFACE)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        main()
