"""The user's functions of time: assignment to rows of tables, and calls in a step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ..errors import SolfecError

if TYPE_CHECKING:
    from .model import Model


class Moved:
    """Functions that give three numbers to rows of a table.

    A function that was given together with a list of n particles may return an array (n, 3); `place` is a row's place in it.
    """

    def __init__(self):
        self._entries: dict[int, tuple[Callable, int, int]] = {}  # row -> function, place, length of the list (0: a single particle)
        self._groups: list[tuple[Callable, int, np.ndarray, np.ndarray]] | None = None

    def __bool__(self):
        return bool(self._entries)

    def set(self, row: int, function: Callable | None, place: int = 0, count: int = 0) -> None:
        """Assign a function to a row; None: no function."""
        self._groups = None
        self._entries.pop(row, None)
        if function is not None:
            self._entries[row] = function, place, count

    def groups(self) -> list[tuple[Callable, int, np.ndarray, np.ndarray]]:
        """Return functions, lengths of their lists, and rows with their places in them; computed again when functions have changed."""
        if self._groups is None:
            found: dict[tuple[int, int], tuple[Callable, list, list]] = {}
            for row, (function, place, count) in self._entries.items():
                _, rows, places = found.setdefault((id(function), count), (function, [], []))
                rows.append(row)
                places.append(place)
            self._groups = [(function, key[1], np.array(rows), np.array(places)) for key, (function, rows, places) in found.items()]
        return self._groups


@dataclass
class Callbacks:
    """The user's functions of time; each returns three numbers, functions of gravity one."""

    gravity: list[Callable | None] = field(default_factory=lambda: [None, None, None])
    linear_damping: Callable | None = None
    angular_damping: Callable | None = None
    linear_drives: Moved = field(default_factory=Moved)  # rows of DriveTable
    angular_drives: Moved = field(default_factory=Moved)
    linear_obstacles: Moved = field(default_factory=Moved)  # rows of ObstacleTable
    angular_obstacles: Moved = field(default_factory=Moved)

    def any(self) -> bool:
        """Whether a step needs Python."""
        single = (*self.gravity, self.linear_damping, self.angular_damping)
        many = self.linear_drives, self.angular_drives, self.linear_obstacles, self.angular_obstacles
        return any(x is not None for x in single) or any(many)


def call_back(model: Model) -> None:
    """Write values of the user's functions at the present time into the tables; a function of many rows is called once."""
    functions, time, control = model.callbacks, model.time, model.control
    for i, function in enumerate(functions.gravity):
        if function is not None:
            control.gravity[i, 0] = numbers(function, time, (1,), "GRAVITY")[0]
    if functions.linear_damping is not None:
        control.linear_damping[:, 0] = numbers(functions.linear_damping, time, (3,), "DAMPING")
    if functions.angular_damping is not None:
        control.angular_damping[:, 0] = numbers(functions.angular_damping, time, (3,), "DAMPING")
    known: dict[tuple[int, int], np.ndarray] = {}  # present values, by function and length of its list
    for column, moved, command in (
        (model.drives.linear, functions.linear_drives, "PRESCRIBE"),
        (model.drives.angular, functions.angular_drives, "PRESCRIBE"),
        (model.obstacles.linear, functions.linear_obstacles, "OBSTACLE"),
        (model.obstacles.angular, functions.angular_obstacles, "OBSTACLE"),
    ):
        for function, count, rows, places in moved.groups():
            value = known.get((id(function), count))
            if value is None:
                value = known[id(function), count] = numbers(function, time, (3, 3 * count) if count else (3,), command)
            column[:, rows] = value[:, None] if value.size == 3 else value.reshape(-1, 3)[places].T


def numbers(function: Callable, time: float, counts: tuple[int, ...], what: str) -> np.ndarray:
    """Return the numbers from a user's function; their count must be one of `counts`."""
    value = function(time)
    try:
        values = np.array(value, float).ravel()
    except (TypeError, ValueError):
        values = np.zeros(0)
    if values.size not in counts:
        wanted = "a number" if counts == (1,) else "three numbers"
        if len(counts) > 1:
            wanted += f", or three for each of its {counts[1] // 3} particles"
        shown = repr(value)
        raise SolfecError(f"{what}: the function of time must return {wanted}, not {shown if len(shown) < 80 else f'{values.size} numbers'}")
    return values
