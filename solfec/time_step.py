"""A time step, one call per phase: Algorithm 1 of Koziara and Bićanić (docs/theory.md, References)."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

from . import crack_bonds
from .bodies import motion, quasi_static
from .bodies.finite_elements import within_step
from .bodies.implicit import present_implicit
from .bodies.support_stiffness import SupportStiffness
from .constraints import element_points, user
from .constraints.driven_motion import DrivenMotion
from .constraints.elsewhere import NOWHERE, Elsewhere
from .contact.phase import Detection
from .solvers import contradictory_rows, exact_supports

PHASES = ("TIMINT", "CONUPD", "CONDET", "LOCDYN", "CONSOL")  # of a time step; names of Solfec-1.0
#: Clocks of several processes: division of bodies; of sweeps, which are a part of CONSOL, preparation, computation, messages, and those of middle rows.
SHARED_CLOCKS = ("PARBAL", "GSINIT", "GSRUN", "GSCOM", "GSMCOM")
CLOCKS = PHASES + SHARED_CLOCKS


class Timings(dict):
    """Seconds that clocks show."""

    def __init__(self):
        super().__init__(dict.fromkeys(CLOCKS, 0.0))
        self._last = 0.0

    def start(self) -> None:
        """Begin a phase now."""
        self._last = perf_counter()

    def end(self, phase: str) -> None:
        """End the phase, and begin the next one."""
        now = perf_counter()
        self[phase] += now - self._last
        self._last = now


class TimeStep:
    """Steps of one model, from its state at `time` to velocities and configurations at the end of the step.

    `run` makes a whole one.  Who calls the phases one by one, with something else between them, calls `timings.start` before each.

    Parameters
    ----------
    model : Domain
        Has the state tables, `loads`, `settings`, `local_dynamics`, `time` and `step`.
    """

    def __init__(self, model):
        self.model = model
        self.timings = Timings()
        self.driven = DrivenMotion()
        self.detection = Detection(model, self._hold_cohesive, self._note_swallowed)

    def run(self, solver, elsewhere: Elsewhere = NOWHERE) -> tuple[float, float]:
        """Make one step with reactions of `solver`; return the work of normal and of tangential contact reactions."""
        self.timings.start()
        self.predict(elsewhere)
        self.detect()
        self.assemble(solver.stored_form, solver.colouring, elsewhere)
        self.solve(solver, elsewhere)
        return self.correct(None if elsewhere.has_nothing else solver.share, elsewhere)

    def predict(self, elsewhere: Elsewhere = NOWHERE) -> None:
        """Move bodies by half a step, compute free velocities u*, and what the user's constraints prescribe."""
        model, spent = self.model, self.timings
        if not model.dynamic:
            self._choose_supports()
        self._integration.predict(model.bodies, model.loads, model.time, model.step)
        elsewhere.end_prediction()
        spent.end("TIMINT")
        if elsewhere.matters(model.constraints.user_count > 0):
            user.update(model.constraints, model.bodies, model.time + model.step, model.step, elsewhere)
            if not model.dynamic:
                user.prescribe_means(model.constraints, model.time, model.step)
        self.driven.forget()
        if model.settings.manifold and model.dynamic and elsewhere.matters(model.constraints.user_count > 0):
            self.driven.find(model.constraints, model.bodies, model.step, elsewhere)
        spent.end("CONUPD")

    def detect(self) -> None:
        """Move shapes with the bodies, update known contacts and find new ones."""
        model, spent, detection = self.model, self.timings, self.detection
        if model.bodies.embedded:
            within_step(model.bodies).place_vertices(model.bodies, model.geometry)
        with self.driven.ahead(model.bodies):
            detection.move_shapes()
        spent.end("TIMINT")
        detection.follow_contacts()
        spent.end("CONUPD")
        detection.find_contacts()
        if model.cracks.faces:
            crack_bonds.bond(model)
        if model.bodies.finite_elements.count:
            element_points.refer_contacts(model)
        if model.sleeping.on:
            model.sleeping.within_step()
        spent.end("CONDET")

    def assemble(self, stored_form: bool | int | None, colouring: str, elsewhere: Elsewhere = NOWHERE) -> None:
        """Assemble W, B and the laws of all rows in `local_dynamics`, in the form and order of a solver (ConstraintSolver)."""
        model, local = self.model, self.model.local_dynamics
        local.epsilon, local.driven = model.epsilon, self.driven
        model.limits.find(model, elsewhere)
        with model.loops.closed(model, elsewhere):
            model.fit_joints(elsewhere)
            local.assemble(model.constraints, model.bodies, model.surface_materials, model.step, model.dynamic, stored_form, colouring, elsewhere)
        self.timings.end("LOCDYN")

    def solve(self, solver, elsewhere: Elsewhere = NOWHERE) -> None:
        """Solve C(B + W R, R) = 0 for the reactions R, and keep the solver's report."""
        self.model.report = self._solve(solver, elsewhere.has_nothing)
        self.timings.end("CONSOL")

    def correct(self, share: Callable | None = None, elsewhere: Elsewhere = NOWHERE) -> tuple[float, float]:
        """Apply reactions, compute velocities at the end of the step and move bodies through its second half; return works as `run` does.

        `share` gives redundant joints of a part their shares; None: the model has all joints.
        """
        model = self.model
        works = model.local_dynamics.apply_reactions()
        if share is not None:
            share(model.local_dynamics)
        elif model.constraints.user_count:
            model.shares.share(model.local_dynamics)
        elsewhere.begin_motion(model.bodies)
        if not model.dynamic:
            self._release_supports()
        if model.cracks.of_body:
            model.cracks.average(model)
        self._integration.correct(model.bodies, model.step)
        self.timings.end("TIMINT")
        return works

    @property
    def _integration(self):
        """Module that moves the bodies."""
        return motion if self.model.dynamic else quasi_static

    def _hold_cohesive(self) -> None:
        """Move cohesive contacts with their places in finite elements."""
        if within_step(self.model.bodies).count:
            element_points.refer_contacts(self.model, only_held=True)

    def _note_swallowed(self) -> None:
        """Record new contacts with degenerate normals."""
        model = self.model
        model.swallowed.after_detection(model.geometry, model.bodies, model.time)

    def _solve(self, solver, alone: bool):
        """Solve C(B + W R, R) = 0 for R; return the solver's report.  `alone`: no other process has rows."""
        model = self.model
        report = contradictory_rows.solve(solver, model.local_dynamics) if alone else solver.solve(model.local_dynamics)
        if model.exact_supports and not (model.dynamic or solver.holds_supports) and model.constraints.user_count:
            model.supports_left.note(exact_supports.hold(model.local_dynamics, report), model.time)
        return report

    # --- supports in the matrices of quasi-static bodies of form 'TL' ----------------------------------------

    def _choose_supports(self) -> None:
        """Add supports to matrices, if there are any, before matrices are made."""
        model = self.model
        for solver in present_implicit(model.bodies, within_step(model.bodies)).elements:
            if not solver.linear and bool(solver.supports) != (model.constraints.user_count > 0):
                solver.supports = SupportStiffness(solver, model) if model.constraints.user_count else None

    def _release_supports(self) -> None:
        """Correct the reactions of supports by their spring forces."""
        model = self.model
        for solver in present_implicit(model.bodies, within_step(model.bodies)).elements:
            if solver.supports:
                solver.supports.release()
