"""Where what is drawn comes from."""

from __future__ import annotations

import time

import numpy as np

from ..errors import SolfecError
from ..kinds import Energy
from ..results import ResultsReader
from ..simulation import Simulation
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
        self._steps, self._history, self._figures, self.finished = None, [], [], False
        self._collected: dict[str, tuple] = {}
        self.until = np.inf
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
                self._note()
                return
            self._steps = None

    def _note(self) -> None:
        """Keep what plots show of the step."""
        domain = self.domain
        report = domain.report
        self._history.append((domain.time, *domain.bodies.view("energy").sum(axis=1)))
        self._figures.append((domain.time, np.nan if report is None else report.iterations, int((domain.constraints.view("kind") == 0).sum())))
        for present, times, values in self._collected.values():
            times.append(domain.time)
            values.append(present(domain))

    def collected(self, title: str, present) -> tuple[np.ndarray, np.ndarray]:
        """Times and values (n,) of a function of the domain since it was first asked for."""
        if title not in self._collected:
            self._collected[title] = present, [self.domain.time], [present(self.domain)]
        _, times, values = self._collected[title]
        return np.array(times), np.array(values)

    def solver_figures(self) -> dict[str, np.ndarray]:
        """Times, iterations and numbers of contacts of the steps made here."""
        table = np.array(self._figures or [(self.domain.time, np.nan, 0.0)], float)
        return {name: np.ascontiguousarray(column) for name, column in zip(("time", "iterations", "contacts"), table.T)}

    def go_on(self, budget: float, moment: float = np.inf) -> None:
        """Steps for some seconds of wall time, at least one, and not beyond a time; then current shapes."""
        started = time.perf_counter()
        while not self.finished:
            self.step()
            if time.perf_counter() - started >= budget or self.domain.time >= min(moment, self.until) - 0.5 * self.domain.step:
                break
        self.domain.states.update_shapes()

    def came_from_outside(self) -> None:
        """Bring shapes up to date, which a script may have changed."""
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

    def touched(self) -> None:
        """Note that the user has moved a body by hand; later frames record it."""
        self.domain.touched = True

    def close(self) -> None:
        """End the run: the last state is written."""
        if self._steps is not None:
            self._steps.close()
            self._steps = None
        self._runs, self.finished = [], True


class Stored:
    """Results on disk.

    Parameters
    ----------
    path : str
        Output directory or results file.
    simulation : Simulation, optional
        Of an input, in READ mode: what scripts load is shown, and frames that are shown are what scripts find. Without it the
        results have a simulation of their own, and no input is executed.

    Attributes
    ----------
    domain : Domain
        The simulation's, at the frame `frame`, with current shapes.
    reader : ResultsReader
    """

    live = False

    def __init__(self, path: str, simulation: Simulation | None = None):
        self.path = path
        self.reader = ResultsReader(path) if simulation is None else simulation.reader
        if not len(self.reader.times):
            if simulation is None:
                self.reader.close()
            raise SolfecError(f"{self.reader.file}: the results hold no frames")
        self._own = simulation is None
        if simulation is None:
            epsilon = self.reader.read(lambda file: float(file["model"].attrs["epsilon"]))
            simulation = Simulation(float(self.reader.steps["step"][0]), path, "READ", epsilon, dynamic=self.reader.dynamic, quiet=True)
            simulation.open_with(self.reader)
        simulation.load_first()
        self.simulation, self.domain, self._energies = simulation, simulation.domain, None
        self.domain.states.update_shapes()

    @property
    def frame(self) -> int:
        """Number of the frame that the domain is at."""
        return self.simulation.frame or 0

    def came_from_outside(self) -> None:
        """Bring shapes up to date, since a script may have loaded another frame."""
        self.domain.states.update_shapes()

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
        if self._own:
            self.reader.load(self.domain, frame % count)
            self.simulation.frame = frame % count
        else:
            self.simulation.load(frame % count)
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

    def solver_figures(self) -> dict[str, np.ndarray]:
        """Times, iterations and numbers of contacts of all frames."""
        steps = self.reader.steps
        return {name: np.ascontiguousarray(steps[name], float) for name in ("time", "iterations", "contacts")}

    def refresh(self) -> bool:
        """Look for frames that another process has written; whether there are others. A new run that has fewer shows its last one."""
        before = len(self.times)
        count = self.reader.refresh()
        if 0 < count <= self.frame:
            self.seek(-1)
        return count != before

    def close(self) -> None:
        """Close the results, unless they are an input's."""
        if self._own:
            self.simulation.end()
