"""Loops that joints make of bodies: what is held twice, or may be."""

from __future__ import annotations

import numpy as np


def in_loops(sides: np.ndarray, joint: np.ndarray, count: int) -> np.ndarray:
    """Return which rows (n,) of joints belong to loops or connect them; space and obstacles, -1, close loops.

    Bodies with a single joint are taken away again and again: equilibrium gives the reactions of this joint.
    """
    kept = np.ones(joint.size, bool)
    of_joint = np.unique(joint, return_index=True)[1]  # a row of every joint
    while of_joint.size:
        ends = sides[:, of_joint]
        degree = np.bincount(ends[ends >= 0], minlength=count + 1)  # the last one: space
        lone = ((ends >= 0) & (degree[ends] == 1)).any(axis=0)
        if not lone.any():
            break
        kept &= ~np.isin(joint, joint[of_joint[lone]])
        of_joint = of_joint[~lone]
    return kept
