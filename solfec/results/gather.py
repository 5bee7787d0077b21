"""Reading chosen rows of many frames at once."""

from __future__ import annotations

import numpy as np

from . import layout

BLOCK = 1 << 26  # bytes of one read
GAP = 1 << 16  # unused bytes that cost less than another read


class Places:
    """Places of bodies in frames: arrays (frames, bodies), -1 where a body is absent."""

    def __init__(self, reader, steps: np.ndarray, bodies: list[int]):
        # an empty list begins where the next one does
        lists, which = np.unique(np.stack([steps["list_first"], steps["bodies"]], axis=1), axis=0, return_inverse=True)
        which = which.reshape(-1)
        shape = (len(lists), len(bodies))
        found = {name: np.full(shape, -1, np.int64) for name in ("place", "definition", "conf_first", "velo_first")}
        for k, (first, length) in enumerate(lists):
            listed = rows(reader, "frames/body_lists", int(first), int(first + length))
            sorter = np.argsort(listed["id"], kind="stable")
            place = np.searchsorted(listed["id"], bodies, sorter=sorter)
            place = sorter[np.minimum(place, max(length - 1, 0))] if length else np.zeros(len(bodies), int)
            present = (listed["id"][place] == bodies) if length else np.zeros(len(bodies), bool)
            found["place"][k, present] = place[present]
            for name in ("definition", "conf_first", "velo_first"):
                found[name][k, present] = listed[name][place[present]]
        self.present = found["place"][which] >= 0
        self.definition = found["definition"][which]
        self._first = {
            "bodies": (found["place"][which], steps["bodies_first"]),
            "configurations": (found["conf_first"][which], steps["conf_first"]),
            "velocities": (found["velo_first"][which], steps["velo_first"]),
        }

    def rows(self, table: str, count: int = 1, limit: np.ndarray | None = None) -> np.ndarray:
        """Row numbers (frames, bodies, count); those past a body's `limit` are -1."""
        within, first = self._first[table]
        numbers = (within + first[:, None])[..., None] + np.arange(count)
        absent = ~self.present[..., None]
        if limit is not None:
            absent = absent | (np.arange(count) >= limit[..., None])
        return np.where(absent, -1, numbers)

    def of_nodes(self, table: str, body: int, nodes: np.ndarray) -> np.ndarray:
        """Row numbers (frames, nodes) of nodes of one body; -1 where it is absent."""
        within, first = self._first[table]
        numbers = (within[:, body] + first)[:, None] + nodes
        return np.where(self.present[:, body, None], numbers, -1)


def rows(reader, name: str, first: int, last: int) -> np.ndarray:
    """Rows of a dataset."""
    return reader.read(lambda file: file[name][first:last])


def runs(low: np.ndarray, high: np.ndarray, itemsize: int):
    """Yield ranges of frames [a, b) whose rows low..high are read in one call."""
    if not len(low):
        return
    apart = np.flatnonzero((low[1:] - high[:-1]) * itemsize > GAP) + 1
    for a, b in zip(np.concatenate([[0], apart]), np.concatenate([apart, [len(low)]])):
        while a < b:
            fitting = int(np.searchsorted(high[a:b], low[a] + BLOCK // itemsize, side="right"))
            end = a + max(1, fitting)
            yield int(a), int(min(end, b))
            a = end


def gather(reader, name: str, numbers: np.ndarray) -> np.ndarray:
    """Read rows of a dataset by number; `numbers` (frames, ...) grow with the frames, and -1 gives zeros."""
    dtype = layout.DATASETS[name][0]
    flat = numbers.reshape(len(numbers), -1)
    result = np.zeros((*flat.shape, *dtype.shape), dtype.base)
    present = flat >= 0
    frames = np.flatnonzero(present.any(axis=1))
    flat, present = flat[frames], present[frames]
    low = np.where(present, flat, np.iinfo(np.int64).max).min(axis=1, initial=np.iinfo(np.int64).max)
    high = np.where(present, flat, -1).max(axis=1, initial=-1) + 1
    for a, b in runs(low, high, dtype.itemsize):
        data = rows(reader, name, int(low[a]), int(high[b - 1]))
        picked = data[np.where(present[a:b], flat[a:b] - low[a], 0)]
        picked[~present[a:b]] = np.zeros((), dtype.base)
        result[frames[a:b]] = picked
    return result.reshape(*numbers.shape, *dtype.shape)
