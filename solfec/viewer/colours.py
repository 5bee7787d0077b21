"""Colour maps and palettes as tables of bytes, and numbers of legends."""

from __future__ import annotations

import colorsys

import numpy as np

from ..errors import SolfecError

MAPS = ("viridis", "cividis", "terrain", "diverging", "classic")
SIGNED = ("diverging",)  # maps whose middle is zero
# Places from 0 to 1 and CIELAB's a and b there; lightness goes along straight lines, so that equal differences of values look equal
# (Crameri, Shephard and Heron, The misuse of colour in science communication, 2020).
TERRAIN = (12.0, 87.0), ((0.0, 16, -34), (0.22, -3, -25), (0.42, -18, 6), (0.6, -2, 42), (0.76, 20, 38), (0.9, 22, 14), (1.0, 16, -4))
COLD = (16.0, 95.0), ((0.0, 16, -38), (0.3, -1, -36), (0.65, -9, -22), (1.0, 0, 0))
WARM = (16.0, 95.0), ((0.0, 28, 16), (0.3, 36, 32), (0.65, 18, 24), (1.0, 0, 0))
OKABE_ITO = ((230, 159, 0), (86, 180, 233), (0, 158, 115), (240, 228, 66), (0, 114, 178), (213, 94, 0), (204, 121, 167), (120, 120, 120))
CATEGORIES = 32
SAME = 1e-6  # relative difference of values that have one colour
TO_XYZ = np.array([(0.4124564, 0.3575761, 0.1804375), (0.2126729, 0.7151522, 0.0721750), (0.0193339, 0.1191920, 0.9503041)])  # of linear sRGB


def colour_map(name: str) -> np.ndarray:
    """Return 256 colours (256, 3) uint8 of a map.

    viridis, cividis and terrain (dark blue, green, ochre, pale pink) get lighter evenly, and diverging does to both sides of its pale
    middle, which is for zero; classic is Solfec-1.0's hue from blue to red.
    """
    if name not in MAPS:
        raise SolfecError(f"colour map {name!r} is not known; there are {', '.join(MAPS)}")
    if name == "classic":
        table = [colorsys.hsv_to_rgb((1 - k / 255) * 2 / 3, 1, 1) for k in range(256)]
    elif name == "terrain":
        table = rgb_of_lab(_path(*TERRAIN, 256))
    elif name == "diverging":
        table = rgb_of_lab(np.concatenate([_path(*COLD, 128), _path(*WARM, 128)[::-1]]))
    else:
        import matplotlib

        table = matplotlib.colormaps[name](np.arange(256))[:, :3]
    return np.round(255 * np.clip(table, 0.0, 1.0)).astype(np.uint8)


def _path(lightness: tuple[float, float], knots: tuple, count: int) -> np.ndarray:
    """Return colours (count, 3) in CIELAB: lightness along a line, the other two through knots without overshoot."""
    from scipy.interpolate import PchipInterpolator

    place, *others = np.array(knots, float).T
    t = np.linspace(0.0, 1.0, count)
    return np.stack([np.interp(t, (0.0, 1.0), lightness), *(PchipInterpolator(place, other)(t) for other in others)], 1)


def rgb_of_lab(lab: np.ndarray) -> np.ndarray:
    """Return colours (n, 3) of sRGB, from 0 to 1 where the screen can show them, of CIELAB colours (n, 3) under white D65 (IEC 61966-2-1)."""
    lightness, a, b = np.asarray(lab, float).T
    f = (lightness + 16.0) / 116.0
    root = np.stack([f + a / 500.0, f, f - b / 200.0], 1)
    share = np.where(root > 6 / 29, root**3, 3 * (6 / 29) ** 2 * (root - 4 / 29))
    linear = (share * (0.95047, 1.0, 1.08883)) @ np.linalg.inv(TO_XYZ).T
    return np.where(linear > 0.0031308, 1.055 * np.maximum(linear, 0.0) ** (1 / 2.4) - 0.055, 12.92 * linear)


def palette() -> np.ndarray:
    """Return colours (32, 3) uint8 of discrete kinds: eight that are distinct for people with colour blindness, then lighter and darker ones."""
    base = np.array(OKABE_ITO, float)
    shades = [base, 0.5 * base + 127.5, 0.6 * base, 0.25 * base + 191.25]
    return np.round(np.concatenate(shades)).astype(np.uint8)


def finite_range(values: np.ndarray) -> tuple[float, float]:
    """Return the least and the greatest finite value; (0, 0) if there is none. Values that single precision hardly tells apart are one value."""
    good = values[np.isfinite(values)]
    if not good.size:
        return 0.0, 0.0
    low, high = float(good.min()), float(good.max())
    return (low, high) if high - low > SAME * max(abs(low), abs(high)) else (high, high)


def numbers(low: float, high: float, count: int = 9, logarithmic: bool = False) -> list[tuple[float, str]]:
    """Return places between 0 and 1 and texts of a legend's numbers, in scientific notation; `logarithmic`: of powers of ten.

    Two decimals, or as many as tell neighbours apart.
    """
    if low == high:
        return [(0.5, f"{10.0**low if logarithmic else low:.2e}")]
    places = np.linspace(0.0, 1.0, count)
    values = (1.0 - places) * low + places * high
    values[np.abs(values) < 1e-12 * max(abs(low), abs(high))] = 0.0  # the rounding of a zero
    if logarithmic:
        values = 10.0**values
    for decimals in range(2, 16):
        texts = [f"{value:.{decimals}e}" for value in values.tolist()]
        if len(set(texts)) == count:
            break
    return list(zip(places.tolist(), texts))
