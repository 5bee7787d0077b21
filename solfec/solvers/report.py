"""Report of a constraint solver about a step."""

from __future__ import annotations

from dataclasses import dataclass, field

STATUS = ("OK", "DIVERGED", "DIAGONAL_DIVERGED", "DIAGONAL_FAILED")  # by the numbers that kernels return


@dataclass(slots=True)
class SolverReport:
    """Outcome of one solution.

    Attributes
    ----------
    iterations : int
        Iterations made (sweeps of Gauss-Seidel).
    error : float
        Relative change of the reactions in the last iteration.
    merit : float
        Solfec-1.0's merit function g at the solution.
    residual : float
        Norm of the rows' residuals, in velocity units, over the norm of the free velocity.
    status : str
        'OK', 'DIVERGED', 'DIAGONAL_DIVERGED' or 'DIAGONAL_FAILED'.
    fallbacks : int
        Number of block solutions in which the chosen block solver failed and another one was used.
    solver : str
        Name of the solver: 'GAUSS_SEIDEL', 'NEWTON', 'PENALTY', 'AUTO' or 'SICONOS'.
    failed_row : int
        Row that was not solved in the last iteration, or -1.
    cause : str
        Why there was no solution, if the solver knows.
    colours : int
        Of sweeps by colours: their number, of constraints or (variants of sweeps) of processes.
    sets : tuple of int
        Of sweeps by colours of processes: numbers of top, middle, bottom and inner rows of all processes (docs/parallel.md).
    worst : str
        Of a step that was not solved: the name of the row with the largest error, if several processes have made their parts anew since.
    contradiction : str or None
        And of constraints that contradict one another, '' if none do.
    """

    iterations: int
    error: float
    merit: float
    residual: float
    status: str
    fallbacks: int = 0
    solver: str = "GAUSS_SEIDEL"
    failed_row: int = -1
    cause: str = ""
    colours: int = 0
    sets: tuple[int, ...] = (0, 0, 0, 0)
    worst: str = field(default="", repr=False, compare=False)
    contradiction: str | None = field(default=None, repr=False, compare=False)
