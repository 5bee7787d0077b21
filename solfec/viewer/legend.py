"""Legends, time and axes on pictures."""

from __future__ import annotations

import os

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from . import colours


def font(size: int):
    """Return the font DejaVu Sans, which has Greek letters and comes with matplotlib."""
    import matplotlib

    return ImageFont.truetype(os.path.join(matplotlib.get_data_path(), "fonts", "ttf", "DejaVuSans.ttf"), size)


def caption(presentation) -> str:
    """Return time, and the mode that a picture shows."""
    words = f"t = {presentation.source.time:.6g}"
    return words if presentation.shape is None else f"{words}, {presentation.shape.title}"


def listed(legend, lines: int) -> tuple[list[tuple[int, str]], str]:
    """Return the categories for which so many lines have room, and words about those that are left out."""
    if len(legend.words) <= lines:
        return legend.words, ""
    return legend.words[: lines - 1], f"and {len(legend.words) - lines + 1} more"


def left(legend, width: float, least: float, before: float, measure) -> float:
    """Return the x of a legend whose words end inside of a picture; it takes at most half of the width.

    Parameters
    ----------
    legend : Legend
    width : float
        Width of the picture.
    least : float
        Width of the legend, unless its words need more.
    before : float
        Width of what stands on the left of the words, and of a margin.
    measure : callable
        Width of a word.
    """
    words = [word for _, word in (legend.words if legend.range is None else colours.numbers(*legend.range, 9, legend.logarithmic))]
    return width - min(max(least, before + max(map(measure, words), default=0.0)), max(0.5 * width, least))


def annotate(picture: Image.Image, presentation, scale: float = 1.0) -> None:
    """Draw the legend, the time and the axes of a presentation on a picture."""
    draw = ImageDraw.Draw(picture)
    size = max(int(13 * scale), 7)
    text = font(size)
    ink = (0, 0, 0, 255)
    draw.text((size // 2, size // 2), caption(presentation), ink, font=text)
    overlay = presentation.overlay
    if overlay.texts:
        for place, word in zip(presentation.camera.project(np.array(overlay.places), *picture.size), overlay.texts):
            if np.isfinite(place).all():
                draw.text((place[0] + size // 3, place[1] - size // 2), word, ink, font=text)
    if presentation.legend is not None:
        _legend(draw, picture.size, presentation, text, size)
    _axes(draw, picture.size, presentation.camera, text, size)


def _legend(draw, extent: tuple[int, int], presentation, text, size: int) -> None:
    legend, (width, height) = presentation.legend, extent
    y, bar = 2 * size, int(1.5 * size)
    x = int(left(legend, width, 8 * size, 1.4 * bar + 0.5 * size, text.getlength))
    draw.text((x, y - int(1.4 * size)), legend.title, (0, 0, 0, 255), font=text)
    if legend.range is None:
        shown, more = listed(legend, max((height - 4 * size) // int(1.5 * size), 2))
        if more:
            draw.text((x, y + int(1.5 * len(shown) * size) - size // 8), more, (0, 0, 0, 255), font=text)
        for line, (number, word) in enumerate(shown):
            top = y + int(1.5 * line * size)
            colour = tuple(colours.palette()[number % colours.CATEGORIES].tolist())
            draw.rectangle((x, top, x + bar, top + size), fill=(*colour, 255), outline=(60, 60, 60, 255))
            draw.text((x + int(1.4 * bar), top - size // 8), word, (0, 0, 0, 255), font=text)
        return
    table = colours.colour_map(presentation.colour_map)
    tall = max(min(16 * size, height - 6 * size), 2)
    y += size // 2
    for k in range(tall):
        colour = table[int(round(255 * (1 - k / (tall - 1))))] if legend.range[1] > legend.range[0] else table[127]
        draw.line((x, y + k, x + bar, y + k), fill=(*map(int, colour), 255))
    draw.rectangle((x, y, x + bar, y + tall - 1), outline=(60, 60, 60, 255))
    count = max(min(9, tall // (2 * size) + 1), 2)
    for place, word in colours.numbers(*legend.range, count, legend.logarithmic):
        draw.text((x + int(1.3 * bar), y + (1 - place) * (tall - 1) - 0.6 * size), word, (0, 0, 0, 255), font=text)


def _axes(draw, extent: tuple[int, int], camera, text, size: int) -> None:
    """Draw the directions x, y and z in the lower right corner, farthest first."""
    centre, length = np.array([extent[0] - 3.5 * size, extent[1] - 3.5 * size]), 2.0 * size
    ends = camera.rotation.T  # rows: x, y, z in the screen's right, up, back
    inks = [(200, 30, 30, 255), (20, 140, 40, 255), (40, 60, 200, 255)]
    for k in np.argsort(ends[:, 2]).tolist():
        tip = centre + length * ends[k, :2] * (1, -1)
        draw.line((*centre, *tip), fill=inks[k], width=max(size // 6, 1))
        draw.text(tuple(centre + 1.45 * (tip - centre) - 0.5 * size), "xyz"[k], inks[k], font=text)
