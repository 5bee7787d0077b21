"""A picture of the histories of a run: python -m solfec.results.plot DIRECTORY."""

from __future__ import annotations

import os
import sys

import numpy as np

from ..errors import SolfecError
from .reader import ResultsReader

SURFACE, INK, MUTED, GRID = "#fcfcfb", "#0b0b0b", "#52514e", "#e1e0d9"
COLOURS = ("#2a78d6", "#eb6834", "#1baf7a", "#eda100", "#e87ba4")  # distinct for colour-blind readers, in this order
ENERGIES = ("kinetic", "internal", "external", "contact", "friction")
MANY = 4000  # frames that a picture can show; of more, evenly chosen ones are drawn


def plot(path: str) -> str:
    """Draw energies, contacts, iterations, time step and penetration of a run against time.

    Parameters
    ----------
    path : str
        Output directory or results file.

    Returns
    -------
    str
        Path of the picture, `histories.png` beside the results.

    Raises
    ------
    SolfecError
        When there are no readable results or no frames.
    """
    with ResultsReader(path) as reader:
        steps = reader.steps
        picture = os.path.join(os.path.dirname(reader.file), "histories.png")
        name = os.path.splitext(os.path.basename(reader.file))[0]
        if not len(steps):
            raise SolfecError(f"{reader.file}: the results hold no frames")
    figure = draw(steps[np.unique(np.linspace(0, len(steps) - 1, min(len(steps), MANY)).astype(int))], name)
    figure.savefig(picture, facecolor=SURFACE)
    return picture


def draw(steps: np.ndarray, name: str):
    """A matplotlib figure of five panels over one axis of time."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 10.0), dpi=150, layout="constrained", facecolor=SURFACE)
    FigureCanvasAgg(figure)
    panels = figure.subplots(5, 1, sharex=True, gridspec_kw={"height_ratios": (2.4, 1, 1, 1, 1)})
    last = steps[-1]
    figure.suptitle(
        f"{name}: {last['bodies']} bodies, {last['step_number']} steps, t = {last['time']:g}",
        x=0.02, ha="left", color=INK, fontsize=13, fontweight="bold",
    )  # fmt: skip
    time = steps["time"]
    shown = [k for k in range(len(ENERGIES)) if np.any(steps["energy"][:, k])] or [0]
    for k in shown:  # early curves are thin and on top, so that coinciding ones are all seen
        panels[0].plot(time, steps["energy"][:, k], color=COLOURS[k], lw=1.3 + 0.3 * k, label=ENERGIES[k], zorder=9 - k)
    panels[0].legend(ncols=5, loc="lower right", bbox_to_anchor=(1.0, 1.0), frameon=False, fontsize=9, labelcolor=MUTED,
                     handlelength=1.4, borderaxespad=0.2, columnspacing=1.4)  # fmt: skip
    for panel, values in zip(
        panels[1:], (steps["contacts"], steps["iterations"], steps["step"], np.maximum(-steps["minimum_gap"], 0.0))
    ):
        panel.plot(time, values, color=COLOURS[0], lw=1.4)
    for panel, title in zip(
        panels, ("energy", "contacts", "solver iterations", "time step", "largest penetration")
    ):
        finish(panel, title)
    for panel in panels[1:3]:
        panel.yaxis.get_major_locator().set_params(integer=True)
    figure.align_ylabels(panels)
    panels[-1].set_xlabel("time", color=MUTED, fontsize=9)
    return figure


def finish(panel, title: str) -> None:
    """Labels, a quiet grid, and a range that starts at zero where values do not change sign."""
    panel.set_ylabel(title, color=MUTED, fontsize=9)
    panel.set_facecolor(SURFACE)
    panel.grid(color=GRID, lw=0.6)
    panel.margins(x=0.01)
    panel.tick_params(colors=MUTED, labelsize=8.5, length=0)
    panel.ticklabel_format(axis="y", style="sci", scilimits=(-3, 4), useMathText=True)
    panel.yaxis.get_offset_text().set(color=MUTED, fontsize=8)
    for side, spine in panel.spines.items():
        spine.set_visible(side == "bottom")
        spine.set_color(GRID)
    low, high = panel.get_ylim()
    if low >= 0.0 or title != "energy":
        panel.set_ylim(bottom=0.0, top=high if high > 0.0 else 1.0)


def main(arguments: list[str]) -> int:
    """Command line: one picture per directory; its path on standard output."""
    if not arguments:
        print("usage: python -m solfec.results.plot DIRECTORY...", file=sys.stderr)
        return 2
    for path in arguments:
        try:
            print(plot(path))
        except SolfecError as error:
            print(error, file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
