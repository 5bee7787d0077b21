"""Paths of the camera: places at times of the model, with smooth motion between them."""

from __future__ import annotations

import json

import numpy as np

from ..errors import SolfecError
from .states import read


def added(keys: list[tuple[float, dict]], time: float, camera) -> list[tuple[float, dict]]:
    """Return keys with one more, in the order of times; it replaces a key of the same time."""
    others = [key for key in keys if key[0] != time]
    return sorted([*others, (float(time), json.loads(camera.to_json()))], key=lambda key: key[0])


def text(camera, keys: list) -> str:
    """Return the text of a file: the keys, or without keys the camera's present place."""
    if not keys:
        return camera.to_json() + "\n"
    return json.dumps({"keys": [{"time": time, "camera": place} for time, place in keys]}, indent=1) + "\n"


def load(camera, path: str) -> list[tuple[float, dict]]:
    """Read keys from a file; if it holds a single place, put the camera there and return no keys.

    Raises
    ------
    SolfecError
        The file cannot be read, or is of another kind.
    """
    words = read(path)
    try:
        found = json.loads(words)
        if "keys" not in found:
            camera.from_json(words)
            return []
        keys = [(float(key["time"]), key["camera"]) for key in found["keys"]]
        if not keys or not np.isfinite([time for time, _ in keys]).all() or len({time for time, _ in keys}) != len(keys):
            raise ValueError("keys need finite times, each another one")
        before = camera.to_json()
        for _, place in keys:
            camera.from_json(json.dumps(place))
        camera.from_json(before)
    except (ValueError, KeyError, TypeError, SolfecError) as error:
        raise SolfecError(f"{path}: this is no place or path of a camera: {error}") from None
    return sorted(keys, key=lambda key: key[0])


def place(camera, keys: list[tuple[float, dict]], time: float) -> None:
    """Put the camera to its place on the path at a time; before the first and after the last key it rests."""
    times = [key[0] for key in keys]
    k = int(np.clip(np.searchsorted(times, time, side="right") - 1, 0, len(keys) - 1))
    last = min(k + 1, len(keys) - 1)
    share = 0.0 if last == k else float(np.clip((time - times[k]) / (times[last] - times[k]), 0.0, 1.0))
    share = share * share * (3.0 - 2.0 * share)  # smooth at keys
    one, other = keys[k][1], keys[last][1]
    camera.target = (1 - share) * np.array(one["target"]) + share * np.array(other["target"])
    camera.distance = float(one["distance"]) ** (1 - share) * float(other["distance"]) ** share
    camera.rotation = _between(np.array(one["rotation"]), np.array(other["rotation"]), share)
    camera.ortho = bool(one["ortho"])


def _between(one: np.ndarray, other: np.ndarray, share: float) -> np.ndarray:
    """Return the rotation on the shortest path between two."""
    from scipy.spatial.transform import Rotation, Slerp

    return Slerp([0.0, 1.0], Rotation.from_matrix(np.stack([one, other])))([share]).as_matrix()[0]
