"""Where what is drawn comes from."""

from __future__ import annotations

import numpy as np

from ..errors import SolfecError
from ..kinds import Energy
from ..results import ResultsReader
from ..results.export import first_domain


class Stored:
    """Results on disk, with a domain of their own.

    Attributes
    ----------
    domain : Domain
        At the frame `frame`, with current shapes.
    reader : ResultsReader
    """

    live = False

    def __init__(self, path: str):
        self.path, self.reader = path, ResultsReader(path)
        if not len(self.reader.times):
            raise SolfecError(f"{self.reader.file}: the results hold no frames")
        self.domain, self.frame = first_domain(self.reader), 0
        self._energies = None

    @property
    def times(self):
        """Times of the frames."""
        return self.reader.times

    @property
    def time(self) -> float:
        """Of the frame."""
        return float(self.times[self.frame])

    def seek(self, frame: int) -> None:
        """Go to a frame; those before the last one count from -1 back."""
        count = len(self.times)
        if not -count <= frame < count:
            raise SolfecError(f"there is no frame {frame}; the results hold {count}, from 0 to {count - 1}")
        self.frame = frame % count
        self.reader.load(self.domain, self.frame)
        self.domain.states.update_shapes()

    def seek_time(self, moment: float) -> None:
        """Go to the frame nearest to a time."""
        self.seek(self.reader.nearest(moment))

    def energies(self) -> dict[str, np.ndarray]:
        """Times and energies of all frames, by name."""
        if self._energies is None or len(self._energies["time"]) != len(self.times):
            table = self.reader.frames()
            names = ("time", *(energy.name.lower() for energy in Energy))
            self._energies = {name: np.ascontiguousarray(table[name], float) for name in names if name in table}
        return dict(self._energies)

    def refresh(self) -> bool:
        """Look for frames that another process has written; whether there are any."""
        before = len(self.times)
        return self.reader.refresh() != before

    def close(self) -> None:
        """Close the results."""
        self.reader.close()
