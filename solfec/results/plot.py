"""Pictures of the histories of a run: `solfec plot DIRECTORY [ITEM...]`, or python -m solfec.results.plot DIRECTORY."""

from __future__ import annotations

import os
import re
import sys

import numpy as np

from .. import installed
from ..bodies.table import Energy
from ..directories import make_directory_of
from ..errors import SolfecError
from ..time_step import CLOCKS
from . import history
from .reader import ResultsReader

SURFACE, INK, MUTED, GRID = "#fcfcfb", "#0b0b0b", "#52514e", "#e1e0d9"
COLOURS = ("#2a78d6", "#eb6834", "#1baf7a", "#eda100", "#e87ba4", "#6b4fbb")  # distinct for colour-blind readers, in this order
ENERGIES = ("kinetic", "internal", "external", "contact", "friction", "dissipated")
ITEM = re.compile(  # OBJECT:VECTOR:PAIR:ENTITY, all but the last may be missing
    r"^(?:(?P<object>.*?):)?(?:(?P<vector>[-+.\deE]+(?:,[-+.\deE]+){2}|-):)?(?:(?P<pair>\d+,\d+|-):)?(?P<entity>[A-Z]+)$"
)
UNITS = {  # entities that share a panel, and its title
    **dict.fromkeys(("CX", "CY", "CZ"), "coordinate"), **dict.fromkeys(("DX", "DY", "DZ"), "displacement"),
    **dict.fromkeys(("VX", "VY", "VZ", "U", "CU"), "velocity"), **dict.fromkeys(history.STRESS_ENTITIES, "stress"),
    **dict.fromkeys(Energy.__members__, "energy"), "GAP": "gap", "R": "reaction", "CR": "reaction",
    **dict.fromkeys(CLOCKS, "seconds"),
}  # fmt: skip
MANY = 4000  # frames that a picture shows; of more frames an even selection is drawn


def plot(path: str, picture: str | None = None) -> str:
    """Draw energies, contacts, iterations, time step and penetration of a run against time.

    Parameters
    ----------
    path : str
        Output directory or results file.
    picture : str, optional
        File to write; `histories.png` beside the results when omitted.

    Returns
    -------
    str
        Path of the picture.

    Raises
    ------
    SolfecError
        When there are no readable results or no frames.
    """
    with ResultsReader(path) as reader:
        steps = reader.steps
        picture = picture or os.path.join(os.path.dirname(reader.file), "histories.png")
        name = os.path.splitext(os.path.basename(reader.file))[0]
        if not len(steps):
            raise SolfecError(f"{reader.file}: the results hold no frames")
    figure = draw(steps[np.unique(np.linspace(0, len(steps) - 1, min(len(steps), MANY)).astype(int))], name)
    return save(figure, picture)


def save(figure, picture: str) -> str:
    """Write a figure; SolfecError when that fails."""
    try:
        make_directory_of(picture)
        figure.savefig(picture, facecolor=SURFACE)
    except OSError as error:
        raise SolfecError(f"{picture}: cannot be written: {error.strerror or error}") from error
    return picture


def draw(steps: np.ndarray, name: str):
    """A matplotlib figure of five panels over one axis of time."""
    canvas, figures = installed.load("matplotlib.backends.backend_agg"), installed.load("matplotlib.figure")

    figure = figures.Figure(figsize=(8.0, 10.0), dpi=150, layout="constrained", facecolor=SURFACE)
    canvas.FigureCanvasAgg(figure)
    panels = figure.subplots(5, 1, sharex=True, gridspec_kw={"height_ratios": (2.4, 1, 1, 1, 1)})
    last = steps[-1]
    figure.suptitle(
        f"{name}: {last['bodies']} bodies, {last['step_number']} steps, t = {last['time']:g}",
        x=0.02, ha="left", color=INK, fontsize=13, fontweight="bold",
    )  # fmt: skip
    time = steps["time"]
    shown = [k for k in range(len(ENERGIES)) if np.any(steps["energy"][:, k])] or [0]
    for k in shown:  # early curves are thin and on top, so that curves that coincide all show
        panels[0].plot(time, steps["energy"][:, k], color=COLOURS[k], lw=1.3 + 0.3 * k, label=ENERGIES[k], zorder=9 - k)
    panels[0].legend(ncols=6, loc="lower right", bbox_to_anchor=(1.0, 1.0), frameon=False, fontsize=9, labelcolor=MUTED,
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


def parse_item(text: str):
    """Parse one word of a command line as an item of HISTORY.

    ENTITY, OBJECT:ENTITY, OBJECT:X,Y,Z:ENTITY or OBJECT:X,Y,Z:SURFACE,SURFACE:ENTITY; an object is a label or the number of a body, and
    `*` or nothing the whole model; `-` stands for no direction and for any surfaces.

    Raises
    ------
    ValueError
        A word that is none of these.
    """
    found = ITEM.match(text)
    if found is None:
        raise ValueError(f"{text!r} is no item; write ENTITY, OBJECT:ENTITY, OBJECT:X,Y,Z:ENTITY or OBJECT:X,Y,Z:SURFACE,SURFACE:ENTITY")
    word, vector, pair, entity = found.group("object", "vector", "pair", "entity")
    thing = None if word in (None, "", "*") else int(word) if word.isdigit() else word
    if entity in history.POINT_ENTITIES + history.STRESS_ENTITIES and (vector in (None, "-") or thing is None):
        raise ValueError(f"{text!r}: {entity} needs a body and a point: OBJECT:X,Y,Z:{entity}")
    if vector is None and pair is None:
        return entity if thing is None and entity in history.NAMES else (thing, entity)
    vector = None if vector in (None, "-") else tuple(map(float, vector.split(",")))
    if vector is not None and not any(vector) and entity not in history.POINT_ENTITIES + history.STRESS_ENTITIES:
        raise ValueError(f"{text!r}: {entity} needs a direction, and 0,0,0 is none (-: the normal)")
    if pair is None and entity in history.POINT_ENTITIES + history.STRESS_ENTITIES:
        return thing, vector, entity
    return thing, vector, None if pair in (None, "-") else tuple(map(int, pair.split(","))), entity


def plot_items(path: str, words: list[str], picture: str | None = None, start=None, end=None, skip: int = 1) -> str:
    """Draw histories against time, those of one kind in one panel.

    Parameters
    ----------
    path : str
        Output directory or results file.
    words : list of str
        Items as `parse_item` reads them.
    picture : str, optional
        File to write, whose ending selects the format (.png, .svg, .pdf); `histories.png` beside the results when omitted.
    start, end, skip
        Interval of time, and every how many frames.

    Returns
    -------
    str
        Path of the picture.

    Raises
    ------
    SolfecError, ValueError
        No readable results; unknown items; unknown file endings.
    """
    with ResultsReader(path) as reader:
        items = [parse_item(word) for word in words]
        known = {*reader.labels.values(), *reader.table("model/shapes")["body"].tolist()}
        for word, item in zip(words, items):
            if isinstance(item, tuple) and item[0] is not None and item[0] not in known:
                raise ValueError(f"{word}: there is no body {item[0]} in the results")
        times, *values = reader.history(items, start, end, skip)
        picture = picture or os.path.join(os.path.dirname(reader.file), "histories.png")
        name = os.path.splitext(os.path.basename(reader.file))[0]
    figure = draw_items(times, dict(zip(words, values)), [UNITS.get(_entity(item), _entity(item)) for item in items], name)
    return save(figure, picture)


def _entity(item) -> str:
    return item if isinstance(item, str) else item[-1]


def draw_items(times: np.ndarray, curves: dict[str, np.ndarray], titles: list[str], name: str):
    """A matplotlib figure with a panel for each title; `titles` gives the panel of every curve."""
    canvas, figures = installed.load("matplotlib.backends.backend_agg"), installed.load("matplotlib.figure")

    panels = list(dict.fromkeys(titles))
    figure = figures.Figure(figsize=(8.0, 1.2 + 2.6 * len(panels)), dpi=150, layout="constrained", facecolor=SURFACE)
    canvas.FigureCanvasAgg(figure)
    axes = figure.subplots(len(panels), 1, sharex=True, squeeze=False)[:, 0]
    figure.suptitle(name, x=0.02, ha="left", color=INK, fontsize=13, fontweight="bold")
    for axis, title in zip(axes, panels):
        shown = [word for word, of in zip(curves, titles) if of == title]
        for k, word in enumerate(shown):
            axis.plot(times, curves[word], color=COLOURS[k % len(COLOURS)], ls=("-", "--", ":")[k // len(COLOURS) % 3], lw=1.4, label=word.replace("$", r"\$"))
        axis.legend(ncols=4, loc="lower right", bbox_to_anchor=(1.0, 1.0), frameon=False, fontsize=8.5, labelcolor=MUTED,
                    handlelength=1.4, borderaxespad=0.2, columnspacing=1.4)  # fmt: skip
        finish(axis, title, from_zero=False)
    figure.align_ylabels(axes)
    axes[-1].set_xlabel("time", color=MUTED, fontsize=9)
    return figure


def finish(panel, title: str, from_zero: bool = True) -> None:
    """Finish a panel: labels, a light grid, and a range that starts at zero where values do not change sign."""
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
    if from_zero and (low >= 0.0 or title != "energy"):
        panel.set_ylim(bottom=0.0, top=high if high > 0.0 else 1.0)


def main(arguments: list[str]) -> int:
    """Run the command line: draw one picture per directory and print its path."""
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
