"""Colour maps: even steps of lightness, and steps that people with colour blindness see as well."""

from __future__ import annotations

import numpy as np
import pytest

from solfec.viewer import colours

# Linear RGB as it is seen without one kind of cones: Machado, Oliveira and Fernandes, IEEE Transactions on Visualization and
# Computer Graphics 15 (2009) 1291-1298, severity 1.
SEEN = {
    "all cones": np.eye(3),
    "protanopia": np.array([(0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)]),
    "deuteranopia": np.array([(0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881)]),
    "tritanopia": np.array([(1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900)]),
}


def lab(table: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """CIELAB (n, 3) of colours (n, 3) uint8."""
    share = table / 255.0
    linear = np.where(share > 0.04045, ((share + 0.055) / 1.055) ** 2.4, share / 12.92) @ seen.T
    xyz = np.clip(linear, 0.0, 1.0) @ colours.TO_XYZ.T / (0.95047, 1.0, 1.08883)
    f = np.where(xyz > (6 / 29) ** 3, np.cbrt(xyz), xyz / (3 * (6 / 29) ** 2) + 4 / 29)
    return np.stack([116 * f[:, 1] - 16, 500 * (f[:, 0] - f[:, 1]), 200 * (f[:, 1] - f[:, 2])], 1)


def test_lab_colours_are_those_of_the_screen():
    """Of sRGB's white, red and blue."""
    table = np.array([(255, 255, 255), (255, 0, 0), (0, 0, 255)])
    found = lab(table, np.eye(3))
    assert found == pytest.approx(np.array([(100, 0, 0), (53.24, 80.09, 67.20), (32.30, 79.19, -107.86)]), abs=0.05)
    assert colours.rgb_of_lab(found) == pytest.approx(table / 255.0, abs=1e-4)


def test_lightness_grows_evenly():
    light = lab(colours.colour_map("terrain"), np.eye(3))[:, 0]
    assert light == pytest.approx(np.linspace(12, 87, 256), abs=0.6)
    light = lab(colours.colour_map("diverging"), np.eye(3))[:, 0]
    assert light[:128] == pytest.approx(np.linspace(16, 95, 128), abs=0.6) and light[128:] == pytest.approx(light[127::-1], abs=0.6)


@pytest.mark.parametrize("eyes", SEEN)
@pytest.mark.parametrize("name, parts", [("viridis", 1), ("cividis", 1), ("terrain", 1), ("diverging", 2)])
def test_maps_get_lighter_for_all_eyes(name, parts, eyes):
    table = lab(colours.colour_map(name), SEEN[eyes])
    for part in np.split(table, parts):
        light = part[:, 0] if part[0, 0] < part[-1, 0] else part[::-1, 0]
        assert (np.diff(light[::8]) > 0.8).all()


@pytest.mark.parametrize("eyes", SEEN)
def test_both_sides_of_the_diverging_map_are_told_apart(eyes):
    table = lab(colours.colour_map("diverging"), SEEN[eyes])
    apart = np.linalg.norm(table[:128] - table[:127:-1], axis=1)
    assert (apart[:96] > 15).all()


@pytest.mark.parametrize("eyes", ["protanopia", "deuteranopia"])
def test_the_old_hue_shows_far_values_alike(eyes):
    """Why it is not the default: lightness goes up and down."""
    light = lab(colours.colour_map("classic"), SEEN[eyes])[:, 0]
    assert (np.diff(light[::8]) < -1.0).any() and (np.diff(light[::8]) > 1.0).any()


@pytest.mark.parametrize("eyes", SEEN)
def test_the_first_kinds_are_told_apart(eyes):
    table = lab(colours.palette()[:8], SEEN[eyes])
    apart = np.linalg.norm(table[:, None] - table[None], axis=2) + 1e3 * np.eye(8)
    assert apart.min() > 8
