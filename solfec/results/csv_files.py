"""Results as CSV files, for spreadsheets and pandas: a table of frames, of bodies and of constraints."""

from __future__ import annotations

import csv
import os

import numpy as np

from .reader import ResultsReader


def write(path: str, reader: ResultsReader, numbers: list[int], subset: set[int] | None) -> list[str]:
    """Write frames.csv, bodies.csv and constraints.csv into the directory `path`; return their paths.

    Tables of bodies and constraints begin with the time, and have the rows of all frames one after another.
    """
    os.makedirs(path, exist_ok=True)
    frames = {name: column[numbers] for name, column in reader.frames().items()}
    written = [os.path.join(path, f"{name}.csv") for name in ("frames", "bodies", "constraints")]
    _write(written[0], [frames])
    shown = None if subset is None else np.array(sorted(subset))
    _write(written[1], (_timed(reader, number, _chosen(reader.bodies(number), shown, "id")) for number in numbers))
    _write(written[2], (_timed(reader, number, _chosen(reader.constraints(number), shown, "body1", "body2")) for number in numbers))
    return written


def _timed(reader: ResultsReader, number: int, columns: dict) -> dict:
    count = len(next(iter(columns.values())))
    return {"time": np.full(count, reader.times[number])} | columns


def _chosen(columns: dict, shown: np.ndarray | None, *names: str) -> dict:
    """Rows of which one of some columns names a body that is shown."""
    if shown is None:
        return columns
    kept = np.any([np.isin(columns[name], shown) for name in names], axis=0)
    return {name: column[kept] for name, column in columns.items()}


def _write(path: str, tables) -> None:
    """Write tables with the same columns below one another; numbers have all their digits."""
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        for number, columns in enumerate(tables):
            if not number:
                writer.writerow(columns)
            writer.writerows(zip(*(column.tolist() for column in columns.values())))
