"""The phases of a time step in their order: Algorithm 1 of the parallel contact dynamics paper.

Phases that are kernels alone are run as programs, `kernel_programs`; what a model has besides stands between them in Python.
Which of them it needs is found out once, and again when it changes.
"""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from math import inf

import numpy as np

from .bodies import element_phases, implicit_phases, motion, quasi_static, static_phases
from .bodies.finite_elements import compiled, within_step
from .bodies.implicit import present_implicit
from .bodies.lost import Lost
from .bodies.step_limit import WithinLimit
from .bodies.support_stiffness import Release, SupportStiffness
from .clock import Advance
from .constraints import element_points, user
from .constraints.element_points import ContactPlaces
from .contact.phase import Detection
from .kernel_programs import (
    CONDET,
    CONSOL,
    CONUPD,
    PHASES,
    TIMINT,
    Preparation,
    Program,
    PythonPhase,
    arrange,
)
from .solvers import supports
from .tables import Table, note_reallocation


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
        self._key = self.solver = self.detection = self.overload = self.lost = None
        self._parts, self.reallocations, self._arranged_at = [], -1, -1  # of arrays, as `tables` counts them; -1: look anew
        self.ends_constraints = False  # whether the last step overloaded constraints, or lost bodies
        self._often_too_long = False  # whether it is longer than a bound of the critical one, so that a closer look has to follow

    def run(self) -> None:
        """All phases of a step that has been arranged."""
        for part in self._parts:
            if not part.run():
                self._go_on(type(part.gave_up) is WithinLimit)
                break

    def arrange(self, solver) -> None:
        """Find out which parts a step has, unless nothing has changed.  Reactions come from `solver`."""
        if not self.model.dynamic:
            compiled(self.model.bodies)  # dynamics see changed materials when they look for the critical step
        if self._arranged_at != Table.reallocations or self.solver is not solver:
            self._arrange(solver)
        self.reallocations = -1 if self._looks else Table.reallocations

    def _arrange(self, solver) -> None:
        """Find out which parts a step has; where that has changed, put them together."""
        model = self.model
        bodies, settings, users = model.bodies, model.settings, model.constraints.user_count
        elements = within_step(bodies)
        implicit = present_implicit(bodies, elements)
        self._support(implicit)
        for one in implicit.elements:
            if one.linear:  # what a factor looks like decides which phases there are
                one.refresh(bodies, model.step, model.dynamic)
        plain = solver.is_one_kernel and not model.constraints.has_functions()
        held = bool(users) and model.exact_supports and not model.dynamic
        plain = plain and not held
        key = (
            solver, plain, implicit, elements, users > 0, model.dynamic, model.loads.on_bodies, bool(model.loads.callbacks),
            model.loads.series.n > 0, model.constraints.series.n > 0, bodies.embedded > 0, settings.symmetric,
            settings.depth < inf, plain and solver.failure, held, model.extents is None,
            element_points.carries_directions(model.constraints, bodies),
            [*model.local_dynamics.choose_phases(model.constraints, bodies)],
        )  # fmt: skip
        limited = model.dynamic and model.deformable
        within = limited and not (model.step_kept or self._often_too_long or (elements.count and elements.mixed))
        key = (*key, within)
        if key != self._key:
            self._parts, self._key = self._arranged(*key[:4], within), key
        # whether something comes before every step: some do not find out by themselves that they are too long
        self._looks = (limited and not within) or (elements.count and not model.dynamic)
        self.solver, self._arranged_at = solver, Table.reallocations

    def _support(self, implicit) -> None:
        """Supports may be part of the matrices of quasi-static bodies of form 'TL'."""
        model = self.model
        wanted = not model.dynamic and model.constraints.user_count > 0
        for solver in implicit.elements:
            if solver.linear or bool(solver.supports) == wanted:
                continue
            solver.supports = SupportStiffness(solver, model) if wanted else None
            note_reallocation()

    def _go_on(self, limit: bool) -> None:
        """The step is too long, or has begun with another idea of which bodies are implicit, and how they are."""
        model, solver = self.model, self.solver
        if limit:
            step = model.step
            model.limit_step()
            self._often_too_long = model.step == step
        else:
            implicit = present_implicit(model.bodies, within_step(model.bodies))
            self._support(implicit)
            count = len(implicit.solvers)
            if model.dynamic:
                motion.predict_implicit(model.bodies, model.step, count)
            else:
                quasi_static.predict_implicit(model.bodies, model.loads.gravity, model.step, count)
        self._arrange(solver)
        _, plain, implicit, elements, *_ = self._key
        parts = self._arranged(solver, plain, implicit, elements, False, predicted=not limit)
        self._key, self._arranged_at, self.reallocations = None, -1, -1
        for part in parts:
            if not part.run():
                self._go_on(False)
                break

    def _arranged(
        self, solver, plain: bool, implicit, elements, limited: bool, predicted: bool = False
    ) -> list[Program | PythonPhase]:
        """The parts of a step, which begins with a look at what limits it, or goes on when velocities have been predicted."""
        model = self.model
        local, users = model.local_dynamics, model.constraints.user_count
        self.detection = Detection(model, self.places if elements.count else None, self._swallowed)
        self.overload = user.Overload(model.constraints, self._notice_end) if users else None
        self.lost = Lost(model, self._notice_end) if model.extents is not None else None
        prediction, correction = self._motion(implicit, elements, predicted)
        if limited:
            prediction = [WithinLimit(model), *prediction]
        phases = [
            *prediction,
            *([self._user_constraints()] if users else []),
            *([element_phases.EmbeddedVertices(model)] if model.bodies.embedded else []),
            self.detection,
            *([PythonPhase(CONDET, self.detection.sparsify)] if model.settings.symmetric else []),
            *([self.places] if elements.count else []),
            *self._assembly(solver),
            solver.phase(model) if plain else PythonPhase(CONSOL, lambda: self._solve(solver)),
            local.reactions,
            *(Release(solver.supports) for solver in implicit.elements if solver.supports),
            *([self.overload] if users else []),
            *([self.lost] if self.lost else []),
            *correction,
            Advance(model, self.detection.removed_count, local.reactions.works),
        ]
        return arrange(phases, self.timings.seconds)

    def _motion(self, implicit, elements, predicted: bool) -> tuple[list, list]:
        """What brings bodies to mid-step, unless that is done, and to its end."""
        model = self.model
        if predicted or model.loads.callbacks or not implicit_phases.suits(implicit):
            return [] if predicted else [PythonPhase(TIMINT, self._predict)], [PythonPhase(TIMINT, self._correct)]
        solutions, reacting = implicit_phases.prediction(model, implicit), implicit_phases.solutions(model, implicit, True)
        if not model.dynamic:
            nodes = [static_phases.ElementCorrection(model)] if elements.count else []
            return [static_phases.Prediction(model), *solutions], [static_phases.RigidCorrection(model), *reacting, *nodes]
        joined = element_phases if elements.count else motion
        if not implicit.solvers:
            return [joined.Prediction(model, False)], [joined.Correction(model)]
        return [joined.Prediction(model, True), *solutions], [*reacting, joined.Correction(model)]

    def _user_constraints(self):
        """The phase that brings them up to date."""
        model = self.model
        carried = element_points.carries_directions(model.constraints, model.bodies)
        return PythonPhase(CONUPD, self._update) if carried else user.Update(model)

    # --- phases --------------------------------------------------------------------------------------------

    def _predict(self) -> None:
        """q(t+h/2) = q(t) + h/2 u(t);  u* = u(t) + h A^-1 f(t+h/2)."""
        model = self.model
        (motion if model.dynamic else quasi_static).predict(model.bodies, model.loads, model.time, model.step)

    def _update(self) -> None:
        """The user's constraints."""
        model = self.model
        user.update(model.constraints, model.bodies, model.time + model.step, model.step)

    def _notice_end(self) -> None:
        """Constraints are overloaded, or bodies lost."""
        self.ends_constraints = True

    def _swallowed(self) -> None:
        """New contacts have normals that are guesses."""
        self.model.swallowed.after_detection(self.model.geometry, self.model.bodies, self.model.time)

    def _assembly(self, solver) -> list:
        """V = H u(t), B = H u*, W = h H A^-1 H^T, in the form and order that the solver asks for."""
        model = self.model
        local = model.local_dynamics

        def prepare() -> None:
            local.epsilon = model.epsilon
            local.prepare(
                model.constraints, model.bodies, model.surface_materials, model.step, model.dynamic,
                solver.stored_form, solver.colouring,
            )  # fmt: skip

        once = solver.settings_noted and not model.constraints.has_functions()
        return [Preparation(prepare, once), *local.assembly]

    def _solve(self, solver) -> None:
        """R such that C(B + W R, R) = 0."""
        report, model = solver.solve(self.model.local_dynamics), self.model
        if model.exact_supports and not model.dynamic and model.constraints.user_count:
            model.supports_left.note(supports.hold(model.local_dynamics, report), model.time)
        model.report = report

    def _correct(self) -> None:
        """u(t+h) = u* + h A^-1 H^T R;  q(t+h) = q(t+h/2) + h/2 u(t+h)."""
        (motion if self.model.dynamic else quasi_static).correct(self.model.bodies, self.model.step)
