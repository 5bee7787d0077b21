"""What programs of kernels leave of a solution, of which a report is made when somebody asks for it."""

from __future__ import annotations

from ..kernel_programs import Call, Numbers
from .report import SolverReport

STATUS = ("OK", "DIVERGED", "DIAGONAL_DIVERGED", "DIAGONAL_FAILED")
SOLVERS = ("GAUSS_SEIDEL", "PENALTY", "NEWTON")


class Solution(Numbers):
    """The last solution of a model in memory of kernels, by the `solver` of that number; `unread` 1: no report has been made of it."""

    def __init__(self):
        whole = dict.fromkeys(("iterations", "status", "fallbacks", "failed", "solver", "unread"), "i4")
        super().__init__(**whole, **dict.fromkeys(("error", "g", "total"), "f8"))

    def report(self) -> SolverReport:
        """It as a report."""
        iterations, status, fallbacks, failed, solver, _, error, g, total = self.get()
        return SolverReport(iterations, error, g, total, STATUS[status], fallbacks, SOLVERS[solver], failed)


def note_call(model, latest: Numbers, silent, always, notes: Numbers, suspicious: float) -> Call:
    """The call that lets a model and its solver know of a solution, and says whether Python has to look at it.

    Parameters
    ----------
    model
        Has `solution` and `clock`.
    latest : Numbers
        `iterations` and `status` of the solver.
    silent, always : ndarray of int32 (1,)
        Not 0: nobody has to be told of failures; of every solution somebody has.
    notes : Numbers
        Has `notable`, which says so.
    suspicious : float
        Residual above which a solution counts as failed.
    """
    solution = model.solution
    return Call(
        "solution_notes.note_solution", solution["status"], solution["total"], solution["iterations"], suspicious, silent, always,
        solution["unread"], model.clock["unsolved"], latest["iterations"], latest["status"], results=notes,
    )  # fmt: skip


def set_solver(model, name: str) -> None:
    """Solutions will be those of this solver; the last one is read before it is forgotten which one's it was."""
    solution, number = model.solution, SOLVERS.index(name)
    if solution["solver"][0] != number:
        _ = model.report
        solution["solver"][0] = number
