"""Walls of bricks and arches of voussoirs (docs/language-objects.md, Assemblies)."""

from __future__ import annotations

import numpy as np

from .convex import Convex
from .solids import CORNERS, box, hexahedron


def wall(count: int, courses: int, brick: np.ndarray, corner: np.ndarray, bond: float, volume: int, surface: int) -> list[Convex]:
    """Bricks of a wall along x, course by course from below; every second course is shifted by the fraction `bond` of a brick.

    Shifted courses begin and end with cut bricks, so both ends of the wall are plane.
    """
    length, thickness, height = brick
    found = []
    for course in range(courses):
        ends = np.arange(count + 1.0)
        if course % 2 and bond:
            ends = np.concatenate(([0.0], ends[:-1] + bond, [count]))
        ends = corner[0] + length * ends
        for left, right in zip(ends, ends[1:]):
            size = np.array([right - left, thickness, height])
            middle = np.array([0.5 * (left + right), corner[1] + 0.5 * thickness, corner[2] + height * (course + 0.5)])
            found.append(box(middle, size, volume, [surface] * 6))
    return found


def arch(radius: float, thickness: float, width: float, count: int, angle: float, centre: np.ndarray, volume: int, surface: int) -> list[Convex]:
    """Voussoirs of a circular arch in the plane of x and z, from its left springing to the right one; `angle` in radians."""
    at = np.pi / 2 + angle / 2 - angle * np.arange(count + 1) / count  # angles of the joints from the axis x
    along, up = np.array([1.0, 0.0, 0.0]), np.array([0.0, 0.0, 1.0])
    joints = []
    for turn in at:
        direction = np.cos(turn) * along + np.sin(turn) * up
        joints.append([centre + (radius + 0.5 * thickness * r) * direction + np.array([0.0, -0.5 * width * y, 0.0]) for r, y in CORNERS])
    return [hexahedron(np.array([*left, *right]), volume, [surface] * 6) for left, right in zip(joints, joints[1:])]
