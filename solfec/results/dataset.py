"""Histories of all bodies as an xarray.Dataset (docs/results-format.md, Frames as xarray)."""

from __future__ import annotations

import numpy as np

from .. import installed
from ..errors import SolfecError


def dataset(reader, every: int = 1):
    """Return a dataset of a run, with the tables of frames and bodies.

    Variables of frames have the dimension time; those of bodies, whose names begin with body_, have time and body, and are NaN while a body
    does not exist.  Labels, kinds and masses of bodies are coordinates.
    """
    try:
        xarray = installed.load("xarray")
    except ImportError:
        raise SolfecError("datasets need the package xarray: pip install 'solfec[data]'") from None
    if not hasattr(every, "__index__"):
        raise TypeError(f"'every' must be a whole number of frames, not {every!r}")
    if every < 1:
        raise ValueError(f"'every' must be at least 1, it is {every}")
    numbers = np.arange(0, len(reader.steps), every)
    tables = [reader.bodies(int(number)) for number in numbers]
    bodies = np.unique(np.concatenate([table["id"] for table in tables])) if tables else np.zeros(0, int)
    fixed = {name: np.full(len(bodies), "" if name != "mass" else np.nan, object if name != "mass" else float) for name in ("label", "kind", "mass")}
    moving = [name for name in tables[0] if tables[0][name].dtype.kind == "f" and name not in ("mass", "volume")] if tables else []
    values = {name: np.full((len(numbers), len(bodies)), np.nan) for name in moving}
    for k, table in enumerate(tables):
        columns = np.searchsorted(bodies, table["id"])
        for name, array in values.items():
            array[k, columns] = table[name]
        for name, array in fixed.items():
            array[columns] = table[name]
    frames = reader.frames()
    times = frames.pop("time")[numbers]
    variables = {name: ("time", column[numbers].astype(str) if name == "solver" else column[numbers]) for name, column in frames.items()}
    variables |= {f"body_{name}": (("time", "body"), array) for name, array in values.items()}
    coordinates = {"time": times, "body": bodies} | {
        name: ("body", array if name == "mass" else array.astype(str)) for name, array in fixed.items()
    }
    return xarray.Dataset(variables, coordinates)
