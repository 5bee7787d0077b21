"""Warnings about quasi-static bodies that are unstable in the equilibrium that a run approaches."""

from __future__ import annotations

from .table import BodyTable


def told(bodies: BodyTable) -> str:
    """Return a warning about bodies of form 'TL' whose matrix A, including supports, was not positive definite, or ''."""
    implicit = getattr(bodies.finite_elements, "implicit", None)
    rows = [int(solver.rows[k]) for solver in (implicit.elements if implicit else []) for k in solver.unstable]
    if not rows:
        return ""
    names = ", ".join(bodies.name(int(bodies.id[row])) for row in rows)
    return (
        f"{names}: the tangent matrix, supports included, is not positive definite: the body buckles, or nothing but contacts holds it; "
        "what a quasi-static run finds beyond is no stable equilibrium; fix it at more points, or take smaller loads or a smaller step"
    )
