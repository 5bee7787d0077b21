"""Draws the pictures of tutorials on pages of their own, wall.png and column.png: python docs/figures/walks.py [directory for the runs]."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
from make import HERE, rgb, run, sheet, shown

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


def main(directory: Path) -> None:
    """Draw both."""
    wall(directory)
    column(directory)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
    else:
        with tempfile.TemporaryDirectory() as temporary:
            main(Path(temporary))
