"""Coordinates as users give them, flat or in threes."""

from __future__ import annotations

import numpy as np


def points_of(values, name: str) -> np.ndarray:
    """Copy coordinates into an array (n, 3); ValueError unless there are at least 4 finite points."""
    points = np.array(values, float)
    if points.size % 3:
        raise ValueError(f"'{name}' must hold three numbers per point")
    points = points.reshape(-1, 3)
    if len(points) < 4:
        raise ValueError(f"'{name}' must hold at least 4 {name}, not {len(points)}")
    if not np.isfinite(points).all():
        raise ValueError(f"'{name}' must be finite numbers")
    return points
