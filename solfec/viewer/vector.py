"""PDF and EPS files: the scene as a picture; legend, time, axes and words as vectors."""

from __future__ import annotations

import io
import os

import numpy as np

from ..errors import SolfecError
from . import colours
from .legend import caption, font, left, listed
from .pictures import picture

DOTS = 150.0  # pixels per inch
INKS = ((0.78, 0.12, 0.12), (0.08, 0.55, 0.16), (0.16, 0.24, 0.78))


def save(presentation, width: int, height: int, path: str, annotated: bool = True) -> None:
    """Write a PDF or EPS file.

    Parameters
    ----------
    presentation : Presentation
    width, height : int
        Pixels of the scene.
    path : str
        Ends in .pdf or .eps.
    annotated : bool
        With legend, time and axes.

    Raises
    ------
    SolfecError
        The file cannot be written.
    """
    from matplotlib import rc_context
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width / DOTS, height / DOTS), dpi=DOTS)
    FigureCanvasAgg(figure)
    panel = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    panel.set_axis_off()
    panel.imshow(np.asarray(picture(presentation, width, height, annotated=False)), extent=(0, width, height, 0), interpolation="none")
    panel.set_xlim(0, width)
    panel.set_ylim(height, 0)
    if annotated:
        _annotate(panel, presentation, width, height)
    made = io.BytesIO()  # a full disk while the library writes would confuse it
    with rc_context({"pdf.fonttype": 42, "ps.fonttype": 42}):
        figure.savefig(made, format=os.path.splitext(path)[1][1:].lower())
    try:
        with open(path, "wb") as file:
            file.write(made.getvalue())
    except OSError as error:
        raise SolfecError(f"{path}: cannot be written: {error.strerror or error}") from None


def _annotate(panel, presentation, width: int, height: int) -> None:
    size = max(min(width, height) / 512, 0.5) * 13.0  # of letters, in pixels
    text = {"fontsize": size * 72.0 / DOTS, "va": "center"}
    panel.text(0.5 * size, size, caption(presentation), **text)
    centre, length = np.array([width - 3.5 * size, height - 3.5 * size]), 2.0 * size
    axes = presentation.camera.rotation.T
    for k in np.argsort(axes[:, 2]).tolist():
        tip = centre + length * axes[k, :2] * (1, -1)
        panel.plot(*np.stack([centre, tip], 1), color=INKS[k], lw=1.0, solid_capstyle="round")
        panel.text(*(centre + 1.45 * (tip - centre)), "xyz"[k], color=INKS[k], ha="center", **text)
    for place, word in zip(presentation.camera.project(np.array(presentation.overlay.places).reshape(-1, 3), width, height), presentation.overlay.texts):
        if np.isfinite(place).all():
            panel.text(place[0], place[1], word, **text)
    if presentation.legend is not None:
        _legend(panel, presentation, width, height, size, text)


def _legend(panel, presentation, width: int, height: int, size: float, text: dict) -> None:
    from matplotlib.patches import Rectangle

    legend, y, bar = presentation.legend, 2.5 * size, 1.5 * size
    x = left(legend, width, 8 * size, 1.4 * bar + 0.5 * size, font(max(round(size), 1)).getlength)
    panel.text(x, y - size, legend.title, **text)
    if legend.range is None:
        shown, more = listed(legend, max(int((height - 4 * size) / (1.5 * size)), 2))
        panel.text(x, y + (1.5 * len(shown) + 0.5) * size, more, **text)
        for line, (number, word) in enumerate(shown):
            top = y + 1.5 * line * size
            panel.add_patch(Rectangle((x, top), bar, size, facecolor=colours.palette()[number % colours.CATEGORIES] / 255.0, edgecolor="0.25", lw=0.5))
            panel.text(x + 1.4 * bar, top + 0.5 * size, word, **text)
        return
    tall, table = max(min(16 * size, height - 6 * size), 2.0), colours.colour_map(presentation.colour_map) / 255.0
    table = table if legend.range[1] > legend.range[0] else table[127:128]
    step = tall / len(table)
    for k, colour in enumerate(table):
        panel.add_patch(Rectangle((x, y + tall - (k + 1) * step), bar, step, facecolor=colour, edgecolor=colour, lw=0.2))
    panel.add_patch(Rectangle((x, y), bar, tall, fill=False, edgecolor="0.25", lw=0.5))
    for place, word in colours.numbers(*legend.range, 9, legend.logarithmic):
        panel.text(x + 1.3 * bar, y + (1 - place) * tall, word, **text)
