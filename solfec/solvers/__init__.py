"""Local dynamics of constraints and what solves it: block Gauss-Seidel, penalty, measures of merit."""
