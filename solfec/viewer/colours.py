"""Colour maps and palettes as tables of bytes, and numbers of legends."""

from __future__ import annotations

import colorsys

import numpy as np

from ..errors import SolfecError

MAPS = ("viridis", "cividis", "diverging", "classic")
SIGNED = ("diverging",)  # maps whose middle is zero
OUTSIDE = (153, 153, 153)  # colour of values beyond the range
OKABE_ITO = ((230, 159, 0), (86, 180, 233), (0, 158, 115), (240, 228, 66), (0, 114, 178), (213, 94, 0), (204, 121, 167), (120, 120, 120))
CATEGORIES = 32


def colour_map(name: str) -> np.ndarray:
    """Return 256 colours (256, 3) uint8 of a map: viridis, cividis, diverging (signed values) or classic (Solfec-1.0's hue, blue to red)."""
    if name not in MAPS:
        raise SolfecError(f"colour map {name!r} is not known; there are {', '.join(MAPS)}")
    if name == "classic":
        table = [colorsys.hsv_to_rgb((1 - k / 255) * 2 / 3, 1, 1) for k in range(256)]
    else:
        import matplotlib

        table = matplotlib.colormaps["RdBu_r" if name == "diverging" else name](np.arange(256))[:, :3]
    return np.round(255 * np.asarray(table)).astype(np.uint8)


def palette() -> np.ndarray:
    """Return colours (32, 3) uint8 of discrete kinds: eight that are distinct for people with colour blindness, then lighter and darker ones."""
    base = np.array(OKABE_ITO, float)
    shades = [base, 0.5 * base + 127.5, 0.6 * base, 0.25 * base + 191.25]
    return np.round(np.concatenate(shades)).astype(np.uint8)


def finite_range(values: np.ndarray) -> tuple[float, float]:
    """Return the least and the greatest finite value; (0, 0) if there is none."""
    good = values[np.isfinite(values)]
    return (float(good.min()), float(good.max())) if good.size else (0.0, 0.0)


def numbers(low: float, high: float, count: int = 9, logarithmic: bool = False) -> list[tuple[float, str]]:
    """Return places between 0 and 1 and texts of a legend's numbers, in scientific notation with two decimals; `logarithmic`: of powers of ten."""

    def word(value: float) -> str:
        return f"{10.0**value if logarithmic else value:.2e}"

    if low == high:
        return [(0.5, word(low))]
    return [(t, word(low + t * (high - low))) for t in np.linspace(0.0, 1.0, count)]
