"""Python functions of the user behind springs and motors."""

from __future__ import annotations

from collections.abc import Callable

from ..errors import SolfecError
from .table import ConstraintTable

LARGEST = 1e150  # value beyond which numbers are out of range


def checked_function(constraints: ConstraintTable, identifier: int, where: str, what: str, names: tuple[str, ...]) -> Callable[..., float]:
    """Return the function of a constraint with checks: it returns finite numbers, or raises an error that names the constraint.

    Exceptions of the function itself pass through with a note.

    Parameters
    ----------
    where : str
        The function's name in messages.
    what : str
        What the input of a continued run must put again: 'springs', 'motors'.
    names : tuple of str
        Names of arguments in messages; a function of fewer arguments has the last ones.
    """
    if identifier not in constraints.functions:
        raise SolfecError(f"the {where} is unknown: a continued run needs the input to put its {what} again")
    function = constraints.functions[identifier]

    def call(*arguments: float) -> float:
        try:
            returned = function(*arguments)
        except Exception as error:
            error.add_note(f"in the {where}, called with {said(arguments)}")
            raise
        try:
            value = float(returned)
        except (TypeError, ValueError):
            raise SolfecError(f"the {where} must return a number, not {returned!r}") from None
        if not abs(value) < LARGEST:
            raise SolfecError(f"the {where} returned {value:g} at {said(arguments)}")
        return value

    def said(arguments: tuple[float, ...]) -> str:
        return ", ".join(f"{name} {argument:g}" for name, argument in zip(names[-len(arguments) :], arguments))

    return call
