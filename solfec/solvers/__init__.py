"""Local dynamics of constraints, and its solvers."""
