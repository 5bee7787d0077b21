"""Where what is drawn comes from."""

from __future__ import annotations

import time

import numpy as np

from ..errors import SolfecError
from ..kinds import Energy
from ..results import ResultsReader
from ..results.export import first_domain
from ..solvers.penalty import PenaltySolver

FREE_RUN = 1e6  # steps of a model that the input does not run


class Live:
    """A model that runs under the viewer, by the same steps as in a batch run: frames, callbacks and STOP are seen to between them.

    Parameters
    ----------
    simulation : Simulation
        In WRITE mode.
    runs : list of tuple
        Constraint solver and duration of each RUN of the input; they follow one another.
    """

    live, frame, reader = True, 0, None

    def __init__(self, simulation, runs: list[tuple]):
        self.simulation, self.domain, self.path = simulation, simulation.domain, simulation.outpath or "in memory"
        self._runs = list(runs) or [(PenaltySolver(), FREE_RUN * simulation.domain.step)]
        self._steps, self._history, self.finished = None, [], False
        self.domain.states.update_shapes()

    @property
    def times(self) -> np.ndarray:
        """The present time alone."""
        return np.array([self.domain.time])

    @property
    def time(self) -> float:
        """The present time."""
        return self.domain.time

    def step(self) -> None:
        """One step; at the end of the last RUN `finished` is True."""
        while not self.finished:
            if self._steps is None:
                if not self._runs:
                    self.finished = True
                    return
                self._steps = self.simulation.steps(*self._runs.pop(0))
            if next(self._steps, None) is not None:
                self._history.append((self.domain.time, *self.domain.bodies.view("energy").sum(axis=1)))
                return
            self._steps = None

    def go_on(self, budget: float) -> None:
        """Steps for some seconds of wall time, at least one; then current shapes."""
        started = time.perf_counter()
        while not self.finished:
            self.step()
            if time.perf_counter() - started >= budget:
                break
        self.domain.states.update_shapes()

    def seek(self, frame: int) -> None:
        """Refused: the run has no frames here."""
        raise SolfecError(f"a model that runs shows the present only; its frames are seen by: solfec view {self.path}")

    def seek_time(self, moment: float) -> None:
        """Refused, too."""
        self.seek(0)

    def refresh(self) -> bool:
        """No other process writes."""
        return False

    def energies(self) -> dict[str, np.ndarray]:
        """Times and energies of the steps made here, by name."""
        names = ("time", *(energy.name.lower() for energy in Energy))
        table = np.array(self._history or [(self.domain.time, *np.zeros(len(Energy)))])
        return {name: np.ascontiguousarray(column) for name, column in zip(names, table.T)}

    def close(self) -> None:
        """End the run: the last state is written."""
        if self._steps is not None:
            self._steps.close()
            self._steps = None
        self._runs, self.finished = [], True


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
        return self.domain.time

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
        """Look for frames that another process has written; whether there are others. A new run that has fewer shows its last one."""
        before = len(self.times)
        count = self.reader.refresh()
        if 0 < count <= self.frame:
            self.seek(-1)
        return count != before

    def close(self) -> None:
        """Close the results."""
        self.reader.close()
