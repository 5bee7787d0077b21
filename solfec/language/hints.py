"""Types of arguments and members, as signatures of commands show them to editors and type checkers.

Commands check their arguments themselves and accept more types, such as numpy's integers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Generic, Literal, TypeAlias, TypeVar, overload

import numpy as np

Vector: TypeAlias = Sequence[float] | np.ndarray  # a point, direction or the like: 3 numbers
Numbers: TypeAlias = Sequence[float] | np.ndarray  # a flat list
Integers: TypeAlias = Sequence[int] | np.ndarray  # a flat list
Switch: TypeAlias = Literal["ON", "OFF"]
Base: TypeAlias = tuple[Sequence[float], Sequence[float]]  # eigenvalues, and concatenated vectors

T = TypeVar("T")


class Member(property, Generic[T]):
    """A property made by a function, with a type for type checkers."""

    if TYPE_CHECKING:

        @overload
        def __get__(self, instance: None, owner: type | None = None) -> Member[T]: ...

        @overload
        def __get__(self, instance: object, owner: type | None = None) -> T: ...

        def __get__(self, instance: object, owner: type | None = None): ...

        def __set__(self, instance: object, value: T) -> None: ...
