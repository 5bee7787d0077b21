"""Exceptions for failures that kernels report about bodies."""

from __future__ import annotations

from ..errors import NotBuiltYet, SolfecError
from .reduced_base import BadBase
from .table import BodyKind, BodyTable, Scheme, body_name
from .turned_over import worst_corner

TABLE_UNKNOWN = 100  # as in fortran/tables/table_registry.f90


class named:
    """Puts the name of a body that is being made in front of error messages.

    Parameters
    ----------
    identifier : int
    label : str or None
    """

    def __init__(self, identifier: int, label: str | None):
        self._words = identifier, label

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind, error, trace) -> None:
        if isinstance(error, BadBase):
            raise BadBase(f"'base' of {body_name(*self._words)}: {error}") from None
        if isinstance(error, SolfecError):
            raise SolfecError(f"BODY: {body_name(*self._words)}: {error}") from None
        if isinstance(error, ValueError):
            raise ValueError(f"{body_name(*self._words)}: {error}") from None


def raise_failure(bodies: BodyTable, failure: int, row: int) -> None:
    """Turn a kernel's failure into an exception that names the body."""
    if failure == TABLE_UNKNOWN:
        raise RuntimeError("a kernel got the handle of a table whose columns are elsewhere by now; please report this")
    body = bodies.name(int(bodies.id[row]))
    kind = int(bodies.kind[row])
    name = BodyKind(kind).name if kind in BodyKind._value2member_map_ else str(kind)
    if failure == 1:
        raise SolfecError(f"{body}: mass is {bodies.mass[row]:g}; it must be positive and finite")
    if failure == 2:
        raise SolfecError(f"{body}: the inertia or Euler tensor is not positive definite; check its volume or BODY_CHARS")
    if failure == 3:
        scheme = Scheme(int(bodies.scheme[row])).name
        raise NotBuiltYet(f"{body}: scheme {scheme} of {name} bodies is not built yet or does not exist")
    if failure == 4:
        raise NotBuiltYet(f"{body}: bodies of kind {name} are not built yet")
    text = f"{bodies.name(int(bodies.id[row]), name)}: {_REASONS[failure]}"
    if kind == BodyKind.FINITE_ELEMENT and failure in SHAPES and (corner := worst_corner(bodies, row)):
        text += f" ({corner})"
    raise SolfecError(text)


SHAPES = (5, 8)  # failures that strongly distorted elements cause


_REASONS = {
    5: "the deformation gradient has no positive determinant: the body is turned inside out; "
    "use a smaller step, smaller loads or a stiffer material",
    6: "RIG_IMP found no angular velocity: the body turns too far in one step; use a smaller step or scheme 'RIG_NEG'",
    7: "the rotation matrix has no positive determinant; check the configuration that was assigned",
    8: "position or velocity is not finite any more; check loads, time step and assigned state",
    9: "the velocity, or a constraint reaction is not finite; check loads, surface materials and the solver",
    10: "the stiffness has no positive eigenvalue, so there is no critical time step; "
    "give the bulk material a positive Young's modulus",
    13: "scheme DEF_LIM: the matrix is singular; use a smaller step or a stiffer material",
}
