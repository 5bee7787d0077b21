"""The penalty solver: contacts as springs and dashpots (Solfec-1.0's `pes`)."""

from __future__ import annotations

import math

import numpy as np

from .. import _kernels
from ..errors import SolfecError
from ..kernel_programs import CONSOL, Call, Numbers, Phase
from ..tables import Noted
from . import merit, parameters
from .constraint_solver import ConstraintSolver
from .gauss_seidel import GaussSeidelSolver, sweep_call
from .local_dynamics import LocalDynamics, velocity_columns
from .report import SolverReport
from .solution import set_solver

VARIANTS = ("IMPLICIT", "EXPLICIT")


class PenaltySolver(ConstraintSolver):
    """Contact forces from gaps and velocities, without iteration; other constraints afterwards by Gauss-Seidel.

    Parameters
    ----------
    variant : str
        'IMPLICIT': the normal force follows the mean gap and the mean velocity of the step; 'EXPLICIT': the gap at
        mid step, where contacts are detected, and the velocity at its start.
    """

    SETTINGS = ("variant",)  # kept with results
    variant = Noted()
    settings_noted = is_one_kernel = True

    def __init__(self, variant: str = "IMPLICIT"):
        parameters.one_of(VARIANTS, variant=variant)
        self.variant = variant
        self._velocities = np.zeros((3, 0), order="F")
        self.bilateral = GaussSeidelSolver(1e-4, 1000, diagepsilon=1e-9, diagmaxiter=100)

    def phase(self, model) -> Penalty:
        """The solution as a phase of the steps of a model."""
        return Penalty(self, model)

    def solve(self, local: LocalDynamics) -> SolverReport:
        """Solve for the reactions of assembled local dynamics; R and U are left in `local.rows`.

        Contacts do not feel the reactions that the other constraints get in the same step.

        Raises
        ------
        SolfecError
            A contact's tangential block is singular.
        """
        rows, users = local.rows, local.n - local.contacts
        contacts, failed = _kernels.penalty.penalty_contacts(
            local.n, users, self.variant == "IMPLICIT", rows.law, rows.diagonal, rows.B, rows.V, local.step,
            rows.R, rows.U, rows.lost,
        )  # fmt: skip
        if failed >= 0:
            _refuse(local, failed)
        report = SolverReport(1, 0.0, 0.0, math.nan, "OK", solver="PENALTY")
        if users:
            contact_velocities = rows.U[:, :contacts].copy()  # each from its own reaction alone, as its force was
            report = self.bilateral.sweep(local, contacts, False)
            rows.U[:, :contacts] = contact_velocities
            report.solver, report.merit = "PENALTY", 0.0
        report.residual = self._residual(local)
        return report

    def _residual(self, local: LocalDynamics) -> float:
        """How far the reactions are from the laws that other solvers solve, with U = B + W R of all reactions."""
        rows = local.rows
        if self._velocities.shape[1] != rows.capacity:
            self._velocities = np.zeros((3, rows.capacity), order="F")
        _, residual = merit.evaluate(local, local.velocities(self._velocities))
        rows.merit[: local.n] = 0.0
        return residual


def _refuse(local: LocalDynamics, row: int) -> None:
    raise SolfecError(f"PENALTY_SOLVER: {local.describe(row)}")


class Penalty(Phase):
    """A solution by penalty without Python.

    Parameters
    ----------
    solver : PenaltySolver
    model
        Has `local_dynamics`, `solution`, `clock` and `report`.
    """

    phase = CONSOL

    def __init__(self, solver: PenaltySolver, model):
        self.solver, self.model, self.local = solver, model, model.local_dynamics
        self._given = Numbers(users="i4", triples="i4", implicit="i4", step="f8", half_step="f8")
        self._found, self._merit = Numbers(contacts="i4", failed="i4"), Numbers(g="f8")
        self._kept = self._velocities = np.zeros((3, 0), order="F")

    def settle(self) -> None:
        local = self.local
        set_solver(self.model, "PENALTY")
        self.solver.bilateral.make_room()
        implicit = self.solver.variant == "IMPLICIT"
        self._given.set(local.constraints.user_count, local.bodies.triples.n, implicit, local.step, local.half_step)

    def calls(self) -> list[Call]:
        local, given, solution = self.local, self._given, self.model.solution
        rows, left, stored = local.rows, local.constraints.counts["left"], local.assembly[-1].results["stored"]
        if self._velocities.shape[1] != rows.capacity:  # rows may be enlarged in the midst of a step
            self._kept, self._velocities = (np.zeros((3, rows.capacity), order="F") for _ in range(2))
        contacts = Call(
            "penalty.penalty_contacts", left, given["users"], given["implicit"], rows.law, rows.diagonal, rows.B, rows.V,
            given["step"], rows.R, rows.U, rows.lost, results=self._found, wanted={"failed": -1},
        )  # fmt: skip
        velocities = Call(
            "newton.relative_velocities", left, stored, *velocity_columns(local), given["triples"], local.triples.momentum,
            rows.R, rows.B, self._velocities,
        )  # fmt: skip
        residual = Call(
            "merit.evaluate", left, rows.kind, rows.driving, rows.block, rows.law, rows.diagonal, rows.B, rows.R, self._velocities,
            given["half_step"], rows.merit, rows.residual, results=(solution, self._merit),
        )  # fmt: skip
        named = "iterations", "error", "g", "status", "fallbacks", "failed", "unread"
        note = Call(
            "solution_notes.note_penalty", left, given["users"], rows.merit, *(solution[name] for name in named),
            self.model.clock["unsolved"],
        )
        return [contacts, *self._bilateral_calls(), velocities, residual, note]

    def _bilateral_calls(self) -> list[Call]:
        """Gauss-Seidel of the user's constraints; velocities of contacts stay, each from its own reaction alone."""
        if not self.local.constraints.user_count:
            return []
        local, rows, contacts = self.local, self.local.rows, self._found["contacts"]
        return [
            Call("solution_notes.copy_columns", contacts, rows.U, self._kept),
            sweep_call(self.solver.bilateral, local, contacts, self._given, self.model.solution),
            Call("solution_notes.copy_columns", contacts, self._kept, rows.U),
        ]

    def stopped(self, call: int) -> int:
        _refuse(self.local, self._found["failed"].item())
