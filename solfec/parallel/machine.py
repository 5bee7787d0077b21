"""Prices of a machine by which steps of several processes are predicted (docs/parallel.md, Plans); `benchmarks/scaling.py` measures them."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, fields
from math import isfinite

from ..errors import SolfecError

FILE = "processes.json"


@dataclass
class Machine:
    """Prices of a machine.

    Attributes
    ----------
    visit : float
        Seconds of a colour in a sweep, beside its rows.
    step : float
        Seconds of a step, beside its bodies and constraints.
    message, byte, reduction : float
        Seconds of a message to a neighbour in a sweep, of one byte in it, and of the sums of two processes behind a sweep.
    base : float
        Bytes of a process without a model.
    growth : float
        Bytes of memory per byte of the tables of a model.
    source : str
        Where these prices come from.
    """

    visit: float = 1e-7
    step: float = 1.5e-3
    message: float = 1e-6
    byte: float = 2e-10
    reduction: float = 1e-6
    base: float = 7.1e7
    growth: float = 1.7
    source: str = "defaults, not measured on this machine: python benchmarks/scaling.py measures it"

    @classmethod
    def of_file(cls, path: str) -> Machine:
        """Read prices from a file of `benchmarks/scaling.py`.

        Raises
        ------
        SolfecError
            The file cannot be read, or holds something else.
        """
        names = {one.name for one in fields(cls)} - {"source"}
        try:
            with open(path, encoding="utf-8") as file:
                found = json.load(file)
        except (OSError, ValueError) as error:
            raise SolfecError(f"{path}: cannot be read as prices of a machine: {getattr(error, 'strerror', None) or error}") from None
        if not isinstance(found, dict) or found.keys() != names or not all(_is_price(value) for value in found.values()):
            raise SolfecError(f"{path}: holds no prices of a machine, which are numbers {', '.join(sorted(names))}; python benchmarks/scaling.py writes them")
        return cls(**found, source=path)

    @classmethod
    def here(cls) -> Machine:
        """Return the prices that were measured for this user's machine, or defaults."""
        path = place()
        return cls.of_file(path) if os.path.exists(path) else cls()

    def write(self, path: str) -> None:
        """Write the prices to a file."""
        prices = asdict(self)
        del prices["source"]
        os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            json.dump(prices, file, indent=1)


def place() -> str:
    """Return the file of this user's prices."""
    settings = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    return os.path.join(settings, "solfec", FILE)


def _is_price(value) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and isfinite(value) and value >= 0.0
