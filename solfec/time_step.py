"""The phases of a time step in their order: Algorithm 1 of the parallel contact dynamics paper.

Phases that are kernels alone are run as programs, `kernel_programs`; what a model has besides stands between them in Python.
Which of them it needs is found out once, and again when it changes.
"""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from math import inf
from time import perf_counter

import numpy as np

from .bodies import element_phases, motion, quasi_static
from .bodies.finite_elements import within_step
from .constraints import user
from .constraints.element_points import ContactPlaces
from .contact.phase import Detection
from .kernel_programs import CONDET, CONSOL, CONUPD, LOCDYN, PHASES, TIMINT, Preparation, Program, PythonPhase, arrange
from .solvers import supports
from .solvers.gauss_seidel import GaussSeidelSolver, Sweeps
from .tables import Table


class Timings(MutableMapping):
    """Seconds spent in phases, in memory to which programs add theirs."""

    def __init__(self):
        self.seconds = np.zeros(len(PHASES))

    def __getitem__(self, phase: str) -> float:
        try:
            return float(self.seconds[PHASES.index(phase)])
        except ValueError:
            raise KeyError(phase) from None

    def __setitem__(self, phase: str, seconds: float) -> None:
        self.seconds[PHASES.index(phase)] = seconds

    def __delitem__(self, phase: str) -> None:
        raise TypeError("phases of a step are always the same")

    def __iter__(self) -> Iterator[str]:
        return iter(PHASES)

    def __len__(self) -> int:
        return len(PHASES)


class TimeStep:
    """One step of a model, from its state at `time` to velocities and configurations at the end of the step.

    Parameters
    ----------
    model : Domain
        Has the state tables, `loads`, `settings`, `local_dynamics`, and clock and step.
    """

    def __init__(self, model):
        self.model = model
        self.timings = Timings()
        self.places = ContactPlaces(model)
        self._key = self._solver = self.detection = None
        self._parts, self._reallocations = [], -1

    def advance(self, solver) -> None:
        """Run all phases; constraint reactions come from `solver`."""
        if Table.reallocations != self._reallocations or solver is not self._solver:
            self._arrange(solver)
        for part in self._parts:
            if type(part) is Program:
                if not part.run():
                    self._go_on(solver)
                    break
            else:
                self._run(part)

    def _arrange(self, solver) -> None:
        """Find out which parts a step has; where that has changed, put them together."""
        model = self.model
        bodies, settings, users = model.bodies, model.settings, model.constraints.user_count
        elements = within_step(bodies)
        implicit = elements.implicit is None or bool(elements.implicit.solvers)  # or not yet known
        plain = isinstance(solver, GaussSeidelSolver) and solver.is_one_kernel and not model.constraints.has_functions()
        held = bool(users) and model.exact_supports and not model.dynamic
        plain = plain and not held
        key = (
            solver, plain, implicit, elements, users > 0, model.dynamic, model.loads.on_bodies, bodies.embedded > 0,
            settings.symmetric, settings.depth < inf, plain and solver.failure,
            held,
        )  # fmt: skip
        if key != self._key:
            self._parts, self._key = self._arranged(*key[:4]), key
        self._solver, self._reallocations = solver, Table.reallocations

    def _run(self, part: PythonPhase) -> None:
        started = perf_counter()
        part.function()
        self.timings.seconds[part.phase] += perf_counter() - started

    def _go_on(self, solver) -> None:
        """The step has begun as if all bodies were explicit, and some turned out not to be."""
        _, plain, _, elements, *_ = self._key
        motion.predict_implicit(self.model.bodies, self.model.step, self._parts[0].phases[0].implicit_bodies)
        for part in self._arranged(solver, plain, True, elements)[1:]:
            if type(part) is Program:
                part.run()
            else:
                self._run(part)
        self._key = self._solver = None

    def _arranged(self, solver, plain: bool, implicit: bool, elements) -> list[Program | PythonPhase]:
        """The parts of a step."""
        model = self.model
        local = model.local_dynamics
        explicit = model.dynamic and not implicit
        joined = motion if not elements.count else element_phases if element_phases.suits(elements) else None
        self.detection = Detection(model, self.places if elements.count else None, self._swallowed)
        phases = [
            joined.Prediction(model) if explicit and joined and not model.loads.on_bodies else PythonPhase(TIMINT, self._predict),
            *([PythonPhase(CONUPD, self._update)] if model.constraints.user_count else []),
            *([PythonPhase(TIMINT, self._place_vertices)] if model.bodies.embedded else []),
            self.detection,
            *([PythonPhase(CONDET, self.detection.sparsify)] if model.settings.symmetric else []),
            *([self.places] if elements.count else []),
            *([PythonPhase(LOCDYN, lambda: self._assemble(solver))] if implicit else self._assembly(solver)),
            Sweeps(solver, local, self._receive) if plain else PythonPhase(CONSOL, lambda: self._solve(solver)),
            local.reactions,
            joined.Correction(model) if explicit and joined else PythonPhase(TIMINT, self._correct),
        ]
        return arrange(phases, self.timings.seconds)

    # --- phases --------------------------------------------------------------------------------------------

    def _predict(self) -> None:
        """q(t+h/2) = q(t) + h/2 u(t);  u* = u(t) + h A^-1 f(t+h/2)."""
        model = self.model
        (motion if model.dynamic else quasi_static).predict(model.bodies, model.loads, model.time, model.step)

    def _update(self) -> None:
        """The user's constraints."""
        model = self.model
        user.update(model.constraints, model.bodies, model.time + model.step, model.step)

    def _place_vertices(self) -> None:
        """Shapes inside of meshes."""
        within_step(self.model.bodies).place_vertices(self.model.bodies, self.model.geometry)

    def _swallowed(self) -> None:
        """New contacts have normals that are guesses."""
        self.model.swallowed.after_detection(self.model.geometry, self.model.bodies, self.model.time)

    def _assembly(self, solver) -> list:
        """V = H u(t), B = H u*, W = h H A^-1 H^T, in the form and order that the solver asks for."""
        once = isinstance(solver, GaussSeidelSolver) and not self.model.constraints.functions  # whose settings are noted
        return [Preparation(lambda: self._local(solver, "prepare"), once), self.model.local_dynamics.assembly]

    def _assemble(self, solver) -> None:
        """The same where A^-1 couples velocities that have no factor of their own."""
        self._local(solver, "assemble")

    def _local(self, solver, what: str) -> None:
        model = self.model
        getattr(model.local_dynamics, what)(
            model.constraints, model.bodies, model.surface_materials, model.step, model.dynamic,
            getattr(solver, "stored_form", None), getattr(solver, "colouring", "OFF"),
        )  # fmt: skip

    def _solve(self, solver) -> None:
        """R such that C(B + W R, R) = 0."""
        report, model = solver.solve(self.model.local_dynamics), self.model
        if model.exact_supports and not model.dynamic and model.constraints.user_count:
            supports.hold(model.local_dynamics, report)
        self._receive(report)

    def _receive(self, report) -> None:
        """A report, or what one can be made of."""
        self.model.report = report

    def _correct(self) -> None:
        """u(t+h) = u* + h A^-1 H^T R;  q(t+h) = q(t+h/2) + h/2 u(t+h)."""
        (motion if self.model.dynamic else quasi_static).correct(self.model.bodies, self.model.step)
