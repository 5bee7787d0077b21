"""Checks of arguments that several commands of the explicit engine share."""

from __future__ import annotations

import numpy as np

from ..language import checks
from ..language.checks import BadType, BadValue
from .model import Model


def row(value, name: str, count: int, what: str) -> int:
    """Check the number of an existing thing."""
    number = checks.integer(value, name)
    if not 0 <= number < count:
        known = f"numbers 0 to {count - 1} exist" if count else "there is none yet"
        raise BadValue(f"'{name}' must be the number of a {what}, not {number}; {known}")
    return number


def particle(model: Model, value, name: str) -> int:
    """Check the number of a particle."""
    return row(value, name, model.particles.n, "particle")


def particle_or_ground(model: Model, value, name: str) -> int:
    """Check the number of a particle, or -1 for the ground."""
    return -1 if checks.integer(value, name) == -1 else particle(model, value, name)


def two_particles(model: Model, part1, part2) -> tuple[int, int]:
    """Check the numbers of two different particles that something connects; the second may be -1, the ground."""
    particles = particle(model, part1, "part1"), particle_or_ground(model, part2, "part2")
    if particles[0] == particles[1]:
        raise BadValue(f"'part1' and 'part2' are the same particle {particles[0]}")
    return particles


def material(model: Model, value, name: str = "material") -> int:
    """Check the number of a material."""
    return row(value, name, len(model.materials), "MATERIAL")


def series(model: Model, value, name: str) -> int:
    """Check the number of a time series; return its curve."""
    return model.series[row(value, name, len(model.series), "TSERIES")]


def colour(value, name: str) -> int:
    """Check a colour: a positive integer."""
    return checks.integer(value, name, minimum=1)


def unit(value, name: str) -> np.ndarray:
    """Check a direction; return it with length 1."""
    vector = np.array(checks.direction(value, name))
    return vector / np.linalg.norm(vector)


def table(value, name: str, least: int = 2) -> tuple[np.ndarray, np.ndarray]:
    """Check a table ``[x0, y0, x1, y1, ...]`` with strictly increasing places; return places and values."""
    pairs = checks.numbers(value, name, multiple=2, minimum=least).reshape(-1, 2)
    falling = np.flatnonzero(np.diff(pairs[:, 0]) <= 0.0)
    if falling.size:
        i = int(falling[0])
        raise BadValue(f"'{name}': the first numbers of its pairs must increase strictly; {pairs[i, 0]:g} is followed by {pairs[i + 1, 0]:g}")
    return pairs[:, 0], pairs[:, 1]


def three_series_or_function(model: Model, value, name: str):
    """Check numbers of three time series, or a function of time; return curves or the function."""
    if callable(value):
        return None, value
    if not checks.is_sequence(value) or len(value) != 3:
        raise BadType(f"'{name}' must be a function of time or a tuple of three TSERIES numbers")
    return [series(model, item, f"{name}[{i}]") for i, item in enumerate(value)], None


def rotated(model: Model, number: int, vector) -> np.ndarray:
    """Return the present direction of a particle's referential vector."""
    return model.particles.rotation[:, :, number] @ np.asarray(vector)
