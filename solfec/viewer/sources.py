"""Sources of pictures: running models and stored results."""

from __future__ import annotations

import time

import numpy as np

from ..errors import SolfecError
from ..kinds import Energy
from ..language.solvers import CoSolver
from ..results import ResultsReader
from ..simulation import Simulation
from ..solvers.penalty import PenaltySolver

FREE_RUN = 1e6  # number of steps of a model that the input does not run


def _places(domain) -> tuple[np.ndarray, np.ndarray]:
    """Return identifiers (n,) and boxes (6, n) of all bodies."""
    return domain.bodies.view("id").copy(), domain.bodies.view("extents").copy()


class Live:
    """A model that runs in the viewer, by the same steps as a batch run, with output, callbacks and STOP between them.

    Parameters
    ----------
    simulation : Simulation
        In WRITE mode.
    runs : list of tuple
        Constraint solver or CoSolver, and duration of each RUN of the input, in their order.
    """

    live, frame, reader = True, 0, None

    def __init__(self, simulation, runs: list[tuple]):
        self.simulation, self.domain, self.path = simulation, simulation.domain, simulation.outpath or "in memory"
        self._runs = list(runs) or [(PenaltySolver(), FREE_RUN * simulation.domain.step)]
        self._steps, self._history, self._figures, self.finished = None, [], [], False
        self._collected: dict[str, tuple] = {}
        self.until = np.inf
        self.domain.states.update_shapes()
        self.began = _places(self.domain)

    @property
    def writes(self) -> bool:
        """Whether a run has begun, has not ended, and writes results."""
        return self._steps is not None and not self.finished and self.simulation.outpath is not None

    @property
    def times(self) -> np.ndarray:
        """Array of the present time."""
        return np.array([self.domain.time])

    @property
    def time(self) -> float:
        """The present time."""
        return self.domain.time

    def step(self) -> None:
        """Make one step; at the end of the last RUN set `finished`."""
        while not self.finished:
            if self._steps is None:
                if not self._runs:
                    self.finished = True
                    return
                solver, duration = self._runs.pop(0)
                runs = isinstance(solver, CoSolver)  # which steps another program beside the simulation
                self._steps = solver.steps(self.simulation, duration) if runs else self.simulation.steps(solver, duration)
            if next(self._steps, None) is not None:
                self._note()
                return
            self._steps = None

    def _note(self) -> None:
        """Store the step's values for plots."""
        domain = self.domain
        report = domain.report
        self._history.append((domain.time, *domain.bodies.view("energy").sum(axis=1)))
        self._figures.append((domain.time, np.nan if report is None else report.iterations, int((domain.constraints.view("kind") == 0).sum())))
        for present, times, values in self._collected.values():
            times.append(domain.time)
            values.append(present(domain))

    def collected(self, title: str, present) -> tuple[np.ndarray, np.ndarray]:
        """Return times and values (n,) of a function of the domain since the first call for it."""
        if title not in self._collected:
            self._collected[title] = present, [self.domain.time], [present(self.domain)]
        _, times, values = self._collected[title]
        return np.array(times), np.array(values)

    def solver_figures(self) -> dict[str, np.ndarray]:
        """Return times, iterations and numbers of contacts of the steps made here."""
        table = np.array(self._figures or [(self.domain.time, np.nan, 0.0)], float)
        return {name: np.ascontiguousarray(column) for name, column in zip(("time", "iterations", "contacts"), table.T)}

    def go_on(self, budget: float, moment: float = np.inf) -> None:
        """Make steps for some seconds of wall time, at least one, and not beyond a time; then update shapes."""
        started = time.perf_counter()
        while not self.finished:
            self.step()
            if time.perf_counter() - started >= budget or self.domain.time >= min(moment, self.until) - 0.5 * self.domain.step:
                break
        self.domain.states.update_shapes()

    def came_from_outside(self) -> None:
        """Update shapes, which a script may have changed."""
        self.domain.states.update_shapes()

    def seek(self, frame: int) -> None:
        """Raise an error, since the run has no frames here."""
        raise SolfecError(f"a model that runs shows the present only; its frames are seen by: solfec view {self.path}")

    def seek_time(self, moment: float) -> None:
        """Raise an error, since the run has no frames here."""
        self.seek(0)

    def refresh(self) -> bool:
        """Return False, since no other process writes frames."""
        return False

    def energies(self) -> dict[str, np.ndarray]:
        """Return times and energies of the steps made here, by name."""
        names = ("time", *(energy.name.lower() for energy in Energy))
        table = np.array(self._history or [(self.domain.time, *np.zeros(len(Energy)))])
        return {name: np.ascontiguousarray(column) for name, column in zip(names, table.T)}

    def touched(self) -> None:
        """Note that the user has moved a body by hand; later frames record it."""
        self.domain.touched = True

    def close(self) -> None:
        """End the run and write the last state."""
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
        Simulation of an input, in READ mode, which scripts share: the viewer shows frames that they load, and they get frames that the
        viewer shows. Without it the results have a separate simulation, and no input is executed.

    Attributes
    ----------
    domain : Domain
        Domain of the simulation, at the frame `frame`, with current shapes.
    reader : ResultsReader
    began : tuple of 2 ndarray
        Identifiers (n,) and boxes (6, n) of the bodies of the first frame.
    """

    live = writes = False

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
        self.began = _places(self.domain)

    @property
    def frame(self) -> int:
        """Number of the domain's frame."""
        return self.simulation.frame or 0

    def came_from_outside(self) -> None:
        """Update shapes, since a script may have loaded another frame."""
        self.domain.states.update_shapes()

    @property
    def times(self):
        """Times of the frames."""
        return self.reader.times

    @property
    def time(self) -> float:
        """Time of the frame."""
        return self.domain.time

    def seek(self, frame: int) -> None:
        """Go to a frame; negative numbers count from the last one, -1."""
        count = len(self.times)
        if not -count <= frame < count:
            raise SolfecError(f"there is no frame {frame}; the results hold {count}, from 0 to {count - 1}")
        if self._own:
            self.reader.load(self.domain, frame % count)
            self.simulation.frame = frame % count
        else:
            self.simulation.load(frame % count)

    def seek_time(self, moment: float) -> None:
        """Go to the frame nearest to a time."""
        self.seek(self.reader.nearest(moment))

    def energies(self) -> dict[str, np.ndarray]:
        """Return times and energies of all frames, by name."""
        if self._energies is None or len(self._energies["time"]) != len(self.times):
            table = self.reader.frames()
            names = ("time", *(energy.name.lower() for energy in Energy))
            self._energies = {name: np.ascontiguousarray(table[name], float) for name in names if name in table}
        return dict(self._energies)

    def solver_figures(self) -> dict[str, np.ndarray]:
        """Return times, iterations and numbers of contacts of all frames."""
        steps = self.reader.steps
        return {name: np.ascontiguousarray(steps[name], float) for name in ("time", "iterations", "contacts")}

    def refresh(self) -> bool:
        """Look for frames that another process has written; return whether frames have changed. If a new run has fewer, go to its last one."""
        before = len(self.times)
        count = self.reader.refresh()
        if 0 < count <= self.frame:
            self.seek(-1)
        return count != before

    def close(self) -> None:
        """Close the results, unless they belong to an input."""
        if self._own:
            self.simulation.end()
