"""Draws the pictures of tutorials on pages of their own, wall.png, column.png and table.png: python docs/figures/walks.py [directory for the runs]."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from make import COLOURS, HERE, INK, SURFACE, finish, in_directory, rgb, run, save, sheet, shown
from matplotlib.figure import Figure

SIZE = 380, 300
BRICKS = "#b5654a", "#a3563d", "#c47a5f", "#96503a"
BALLS = "#c9a66b", "#b08a50", "#d9c08f", "#9c7b4a", "#e3d2ad"


def wall(directory: Path) -> None:
    """Draw the wall before the quake, when its last brick is highest, and at the end."""
    data = run(directory, "tutorial/wall.py", "tutorial/wall-0.4", 0.4)
    top = data.table("model/bodies")[-1]
    times, height = data.history([(int(top["id"]), tuple(top["centre"].tolist()), "CZ")])
    bodies = [body for body in range(2, 46)]
    colours = {body: rgb(BRICKS[body % 4]) for body in bodies} | {1: (0.8, 0.8, 0.78)}
    panels = []
    for title, time in (("before", 0.0), ("rocking", times[int(np.argmax(height))]), ("at the end", times[-1])):
        words = ("look -18,8", "hide ground", "fit", "show all")
        panels.append((f"{title}, t = {time:.2f} s", shown(directory / "out/tutorial/wall-0.4", *words, size=SIZE, colours=colours, time=time)))
    sheet(panels, 3, HERE / "wall.png", 96)


def column(directory: Path) -> None:
    """Draw the column before the gate opens, while it runs out, and at the end, without the wall in front."""
    run(directory, "tutorial/column.py", "tutorial/column-400")
    colours = {body: rgb(BALLS[body % 5]) for body in range(6, 406)} | {body: (0.85, 0.85, 0.83) for body in range(1, 6)}
    panels = []
    for title, time in (("before", 0.48), ("running out", 0.8), ("at the end", 2.0)):
        words = ("look -65,16", "hide ground", "hide side", "hide back", "fit", "show all", "hide side")
        panels.append((f"{title}, t = {time:.2f} s", shown(directory / "out/tutorial/column-400", *words, size=SIZE, colours=colours, time=time)))
    sheet(panels, 3, HERE / "column.png", 96)


def table(directory: Path) -> None:
    """Draw the tower on its springs before it sinks and when it is lowest, and the height of the table beside the closed form."""
    data = run(directory, "hybrid/table.py", "table")
    times, height = data.history([("table", (0.5, 0.5, 0.55), "CZ")])
    colours = {1: (0.55, 0.6, 0.66)} | {body: rgb(BRICKS[body % 4]) for body in (2, 3, 4)}
    figure = Figure(figsize=(8.0, 2.7), dpi=110, layout="constrained", facecolor=SURFACE)
    left, middle, right = figure.subplots(1, 3, width_ratios=[1, 1, 1.6])
    for panel, time in ((left, 0.0), (middle, times[int(np.argmin(height))])):
        picture = shown(directory / "out/table", "look -60,12", "seek to 0", "fit", size=(300, 320), colours=colours, time=time)
        panel.imshow(picture if time == 0 else shown(directory / "out/table", "look -60,12", "fit", f"seek to {time}", size=(300, 320), colours=colours))
        panel.set_title(f"t = {time:.2f} s", fontsize=9, color=INK)
        panel.set_axis_off()
    mass, stiffness, damper = 200.0 + 144.0, 2e4, 1.6e3
    rate, decay = np.sqrt(stiffness / mass), damper / (2 * mass)
    turning = np.sqrt(rate**2 - decay**2)
    closed = 9.81 * mass / stiffness * (1 - np.exp(-decay * times) * (np.cos(turning * times) + decay / turning * np.sin(turning * times)))
    right.plot(times, height, color=COLOURS[0], lw=2, label="run")
    right.plot(times, 0.55 - closed, color=INK, lw=1, ls="--", label="mass on a spring")
    finish(right, "Height of the table", "z [m]", legend=True, loc="upper right")
    save(figure, HERE / "table.png", 96, facecolor=SURFACE)


def main(directory: Path) -> None:
    """Draw all three."""
    table(directory)
    wall(directory)
    column(directory)


if __name__ == "__main__":
    in_directory(main)
