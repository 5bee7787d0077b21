"""Draws docs/figures/breaker.png, a breaker that opens: python docs/figures/mechanisms.py [directory for the runs]."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from make import HERE, finish, in_directory, note, read, rgb, save, shown
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from solfec import HISTORY
from solfec.results.plot import COLOURS, INK, SURFACE

GREY, STEEL = (0.86, 0.86, 0.84), (0.55, 0.6, 0.66)
PARTS = {"base": GREY, "arm": rgb(COLOURS[1]), "fixed": rgb(COLOURS[3]), "latch": rgb(COLOURS[0]), "cam": rgb(COLOURS[2]), "buffer": (0.35, 0.35, 0.38)}


def main(directory: Path) -> None:
    """Draw the breaker closed, parted and open, and its motion."""
    solfec = read(directory, "mechanisms/breaker.py", "mechanisms/breaker")["solfec"]
    figure = Figure(figsize=(8.0, 6.0), dpi=110, layout="constrained", facecolor=SURFACE)
    FigureCanvasAgg(figure)
    above, below = figure.subfigures(2, 1, height_ratios=[1, 1.05])
    colours = {body.id: next((c for word, c in PARTS.items() if body.label.startswith(word)), STEEL) for body in solfec.bodies}
    for panel, (time, title) in zip(above.subplots(1, 3), ((0.0, "closed"), (0.0136, "contacts part, 13.6 ms"), (0.0232, "open, 23.2 ms"))):
        panel.imshow(shown(directory / "out/mechanisms/breaker", "perspective/ortho", "look -68,52", "fit", f"seek to {time}", "zoom in", size=(460, 440), colours=colours))
        panel.set_title(title, fontsize=9, color=INK)
        panel.set_axis_off()
    labels = [("shaft", "ANGLE"), ("latch", "ANGLE"), ("cam", "ANGLE"), ("fixed 2", "TRAVEL"), ("buffer 2", "TRAVEL")]
    times, shaft, latch, cam, fixed, buffer = (np.array(values) for values in HISTORY(solfec, labels, 0, 1))
    left, right = below.subplots(1, 2)
    for colour, name, values in zip(COLOURS, ("shaft and arms", "latch", "cam"), (shaft, latch, cam)):
        left.plot(1e3 * times, np.degrees(values), color=colour, lw=1.8, label=name)
    for colour, name, values in zip(COLOURS[3:], ("fixed contact", "buffer"), (fixed, buffer)):
        right.plot(1e3 * times, 1e3 * values, color=colour, lw=1.8, label=name)
    finish(left, "Angles since closed", "degrees", legend=True, loc="lower right")
    finish(right, "Travel of the middle pole's parts", "mm", legend=True, loc="upper right")
    note(right, "contacts part", (13.6, -8.0), (22.0, -5.0))
    for panel in (left, right):
        panel.set_xlabel("time [ms]")
    save(figure, HERE / "breaker.png", 64, facecolor=SURFACE)


if __name__ == "__main__":
    in_directory(main)
