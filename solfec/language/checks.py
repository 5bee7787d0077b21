"""Checks of the arguments of commands and of the values given to members.

Every check takes the value and the argument's name.  It returns the value in the form that the rest of the program
uses, or raises `BadType` or `BadValue`; the command adds its own name to the message.
"""

from __future__ import annotations

import functools
import html
import inspect
import math
import operator
import os
import re
import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar, cast

import numpy as np

from ..patterns import compiled
from ..suggestions import did_you_mean

F = TypeVar("F", bound=Callable)
put = object.__setattr__  # sets members that begin with "_" as Members does, in a quarter of the time
INTEGER_LIMIT = 2**31 - 1  # counts and identifiers are 32-bit integers
READERS = frozenset(  # commands that another thread may call while a model runs; RUN has its own check
    "RUN ENERGY DISPLACEMENT VELOCITY STRESS TIMING DURATION HISTORY BYLABEL MASS_CENTER CONVEX MESH SPHERE ELLIP HULL".split()
)
PLAIN = frozenset((float, int, np.float64))  # types that are numbers without further checks
TOO_LITTLE = "the memory does not suffice"
SURFACE_LIMIT = 2**31 - 2  # identifiers are 32-bit integers; the largest one is the wildcard of look-ups


class BadArgument(Exception):
    """A rejected argument; `command` is known once the error has passed through the command's wrapper."""

    command = ""

    def __str__(self) -> str:
        text = super().__str__()
        return f"{self.command}: {text}" if self.command else text


class BadType(BadArgument, TypeError):
    """An argument of the wrong type."""


class BadValue(BadArgument, ValueError):
    """An argument of the right type and of a wrong size or value."""


class BadMemberValue(BadValue, TypeError):
    """A member set to a value out of range; scripts may expect either of the two classic types."""


def command(name: str, **spellings: str) -> Callable[[F], F]:
    """Decorate a command: bind its arguments, put its name into errors, accept other spellings of keywords.

    Parameters
    ----------
    name
        Name of the command as the user knows it.
    **spellings
        Other spelling of a keyword -> the keyword, for the misspelt names that old inputs use.
    """

    def decorate(function: F) -> F:
        signature = inspect.signature(function)
        names = tuple(signature.parameters)
        required = frozenset(key for key, x in signature.parameters.items() if x.default is x.empty)
        defaults = {key: x.default for key, x in signature.parameters.items() if x.default not in (x.empty, None)}
        changes = name not in READERS

        @functools.wraps(function)
        def call(*arguments, **keywords):
            try:
                given = {}  # by names; commands that have nothing to fill in take arguments in order as they are, in half the time
                if keywords or not len(required) <= len(arguments) <= len(names):
                    arguments, given = (), _by_name(signature, required, arguments, _respelt(keywords, spellings))
                elif defaults:
                    arguments, given = (), dict(zip(names, arguments))
                for argument, default in defaults.items():  # None stands for an argument that is left out
                    if given.get(argument, default) is None:
                        given[argument] = default
                if changes:
                    for argument in arguments or given.values():
                        if isinstance(argument, Members):
                            argument._refuse_if_elsewhere(name)
                return function(*arguments, **given)
            except BadArgument as error:
                error.command = error.command or name
                raise
            except MemoryError as error:
                if TOO_LITTLE in str(error):  # a command that a function of the user has called within this one
                    raise
                raise MemoryError(f"{name}: {TOO_LITTLE}: {str(error) or 'ask for less'}").with_traceback(error.__traceback__) from None

        return cast(F, call)

    return decorate


def _respelt(keywords: dict, spellings: dict[str, str]) -> dict:
    """Return keywords in their own spelling; BadType for an argument that is given in both."""
    for other in spellings.keys() & keywords.keys():
        if spellings[other] in keywords:
            raise BadType(f"'{spellings[other]}' and its other spelling '{other}' are both given")
        keywords[spellings[other]] = keywords.pop(other)
    return keywords


def _by_name(signature: inspect.Signature, required: frozenset[str], arguments: tuple, keywords: dict) -> dict:
    """Return arguments by their names, as `signature.bind` does, which takes ten times as long."""
    parameters = signature.parameters
    given = dict(zip(parameters, arguments))
    if len(arguments) <= len(parameters) and given.keys().isdisjoint(keywords):
        given.update(keywords)
        if required <= given.keys() <= parameters.keys():
            return given
    try:
        return signature.bind(*arguments, **keywords).arguments
    except TypeError as error:
        unknown = next((key for key in keywords if key not in parameters), None)
        raise BadType(str(error) + ("" if unknown is None else did_you_mean(unknown, parameters.keys() - given.keys()))) from None


def kind_of(value) -> str:
    """Describe the kind of a value for messages."""
    return "None" if value is None else type(value).__name__


# --- numbers -----------------------------------------------------------------------------------------------


def number(value, name: str, *, infinite: bool = False) -> float:
    """Check a finite number (or an infinite one where it has a meaning)."""
    if type(value) is float and math.isfinite(value):
        return value
    if isinstance(value, (str, bytes)) or is_sequence(value) or not hasattr(type(value), "__float__"):
        raise BadType(f"'{name}' must be a number, not {kind_of(value)}")
    try:
        result = float(value)
    except (TypeError, ValueError):
        raise BadType(f"'{name}' must be a number, not {kind_of(value)}") from None
    except OverflowError:
        raise BadValue(f"'{name}' is too large") from None
    if math.isnan(result) or (math.isinf(result) and not infinite):
        raise BadValue(f"'{name}' must be a finite number, not {result}")
    return result


def positive(value, name: str, *, infinite: bool = False) -> float:
    """Check a number above zero."""
    result = number(value, name, infinite=infinite)
    if not result > 0.0:
        raise BadValue(f"'{name}' must be positive, not {result:g}")
    return result


def nonnegative(value, name: str, *, infinite: bool = False) -> float:
    """Check a number that is zero or above."""
    result = number(value, name, infinite=infinite)
    if result < 0.0:
        raise BadValue(f"'{name}' must not be negative, it is {result:g}")
    return result


def between(value, name: str, low: float, high: float) -> float:
    """Check a number in [low, high]."""
    result = number(value, name)
    if not low <= result <= high:
        raise BadValue(f"'{name}' must lie in [{low:g}, {high:g}], it is {result:g}")
    return result


def integer(value, name: str, minimum: int | None = None) -> int:
    """Check an integer; floating-point numbers are errors even if their value is whole."""
    result = _index(value, name)
    if minimum is not None and result < minimum:
        raise BadValue(f"'{name}' must be at least {minimum}, it is {result}")
    if abs(result) > INTEGER_LIMIT:
        raise BadValue(f"'{name}' must not be larger than {INTEGER_LIMIT}")
    return result


def _index(value, name: str) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise BadType(f"'{name}' must be an integer, not {kind_of(value)}") from None


def identifier(value, name: str) -> int:
    """Check a surface or volume identifier."""
    result = _index(value, name)
    if abs(result) > SURFACE_LIMIT:
        raise BadValue(f"'{name}' must lie in [{-SURFACE_LIMIT}, {SURFACE_LIMIT}], it is {result}")
    return result


# --- strings -----------------------------------------------------------------------------------------------


def string(value, name: str) -> str:
    """Check a string."""
    if not isinstance(value, str):
        raise BadType(f"'{name}' must be a string, not {kind_of(value)}")
    if "\0" in value:
        raise BadValue(f"'{name}' must not hold null characters")
    return str(value)


def pattern(value, name: str) -> re.Pattern:
    """Check and compile a POSIX basic regular expression."""
    text = string(value, name)
    try:
        return compiled(text)
    except ValueError as error:
        raise BadValue(f"'{name}': {error}") from None


def path(value, name: str) -> str:
    """Check the path of a file or directory: a string or a pathlib.Path."""
    if not isinstance(value, str) and hasattr(type(value), "__fspath__"):
        value = os.fspath(value)
    result = string(value, name)
    if not result:
        raise BadValue(f"'{name}' must not be empty")
    try:
        os.fsencode(result)
    except UnicodeEncodeError:
        raise BadValue(f"'{name}': names of files cannot have {result!r} here, where their encoding is {sys.getfilesystemencoding()}; set PYTHONUTF8=1") from None
    return result


def choice(value, name: str, options: Sequence[str]) -> str:
    """Check that a value is one of a few strings."""
    result = string(value, name)
    if result not in options:
        raise BadValue(f"'{name}' must be one of {', '.join(map(repr, options))}, not {result!r}{did_you_mean(result, options)}")
    return result


def switch(value, name: str) -> bool:
    """Convert 'ON' or 'OFF' to a flag."""
    return choice(value, name, ("ON", "OFF")) == "ON"


def on_off(value: bool) -> str:
    """Convert a flag to 'ON' or 'OFF'."""
    return "ON" if value else "OFF"


def function(value, name: str) -> Callable:
    """Check a callable that is no object of the language; calling a TIME_SERIES returns its values."""
    if not callable(value) or isinstance(value, Members):
        raise BadType(f"'{name}' must be callable, not {kind_of(value)}")
    return value


# --- sequences ---------------------------------------------------------------------------------------------


def is_sequence(value) -> bool:
    """Whether a value is a list, tuple, numpy array or the like, and not a string."""
    kind = type(value)
    if kind is list or kind is tuple:
        return True
    if isinstance(value, np.ndarray):
        return value.ndim > 0
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def sequence(value, name: str) -> list:
    """Return the items of any sequence."""
    if not is_sequence(value):
        raise BadType(f"'{name}' must be a list or tuple, not {kind_of(value)}")
    return list(value)


def _array(value, name: str, kinds: str, wanted: str) -> np.ndarray:
    if not is_sequence(value):
        raise BadType(f"'{name}' must be a list of {wanted}, not {kind_of(value)}")
    try:
        array = np.asarray(value)
    except ValueError:
        raise BadType(f"'{name}' must be a flat list of {wanted}") from None
    nothing_in_lists = array.size == 0 and array.ndim > 1 and not isinstance(value, np.ndarray)
    if array.ndim > 2 or nothing_in_lists or (array.size and array.dtype.kind not in kinds):
        item = next((i for i, x in enumerate(value) if not isinstance(x, (int, float, np.number))), None)
        where = "" if item is None else f"; item {item} is {kind_of(value[item])}"
        raise BadType(f"'{name}' must be a flat list of {wanted}{where}")
    return array.ravel()


def numbers(value, name: str, *, multiple: int = 1, minimum: int = 0) -> np.ndarray:
    """Check a flat list of finite numbers, (n,), with `multiple` numbers per item and at least `minimum` items."""
    array = _array(value, name, "fiub", "numbers").astype(float)
    if array.size % multiple or array.size < multiple * minimum:
        per_item = f"{multiple} times a number of " if multiple > 1 else ""
        raise BadValue(f"'{name}' must hold {per_item}items, at least {multiple * minimum}; it holds {array.size}")
    if not np.isfinite(array).all():
        item = int(np.flatnonzero(~np.isfinite(array))[0])
        raise BadValue(f"'{name}' must hold finite numbers; item {item} is {array[item]}")
    return array


def integers(value, name: str) -> list[int]:
    """Check a flat list of integers."""
    return [int(item) for item in _array(value, name, "iub", "integers")]


def vector(value, name: str, size: int = 3) -> tuple[float, ...]:
    """Check a tuple (or any sequence) of `size` finite numbers."""
    if not is_sequence(value):
        raise BadType(f"'{name}' must be a tuple of {size} numbers, not {kind_of(value)}")
    if len(value) != size:
        raise BadValue(f"'{name}' must hold {size} numbers, it holds {len(value)}")
    if PLAIN.issuperset(map(type, value)):
        try:
            result = tuple(map(float, value))
            if all(map(math.isfinite, result)):
                return result
        except OverflowError:  # as below, in words
            pass
    return tuple(number(item, f"{name}[{i}]") for i, item in enumerate(value))


def direction(value, name: str) -> tuple[float, ...]:
    """Check a vector with a direction: not zero, and with a length whose square is finite."""
    result = vector(value, name)
    if not any(result):
        raise BadValue(f"'{name}' must not be zero")
    square = sum(x * x for x in result)
    if not sys.float_info.min <= square <= sys.float_info.max:
        raise BadValue(f"'{name}' must have a length nearer to 1 than {math.hypot(*result):g}")
    return result


def instance(value, name: str, kind: type, what: str | None = None):
    """Check an object of one of the language's own types."""
    if not isinstance(value, kind):
        raise BadType(f"'{name}' must be a {what or kind.__name__} object, not {kind_of(value)}")
    return value


# --- members -----------------------------------------------------------------------------------------------

MOST_SHOWN = 12  # numbers of a list that a table shows


def html_table(title: str, facts: dict) -> str:
    """Table of names and values as HTML, with a title."""
    rows = "".join(f"<tr><th style='text-align: left'>{name}</th><td style='text-align: left'>{html.escape(in_words(value))}</td></tr>" for name, value in facts.items())
    return f"<table><caption style='text-align: left'>{html.escape(title)}</caption>{rows}</table>"


def in_words(value) -> str:
    """Return a value with six digits, and long lists cut short."""
    if isinstance(value, float):
        return f"{value:.6g}"
    if isinstance(value, (tuple, list)):
        more = f", ... ({len(value)} in all)" if len(value) > MOST_SHOWN else ""
        return ", ".join(map(in_words, value[:MOST_SHOWN])) + more
    return str(value)



class Members:
    """Base of the user's objects: members are properties, and setting anything else is an error.

    Attributes
    ----------
    _SHOWN : str
        Members that notebooks show in a table.
    """

    __slots__ = ()
    _SHOWN = ""

    def _repr_html_(self) -> str:
        """Table of members for notebooks."""
        facts = {name: getattr(self, name) for name in self._SHOWN.split()} if self._exists() else {}
        return html_table(repr(self), facts)

    def _exists(self) -> bool:
        """Whether the object has members at present."""
        return True

    def _refuse_if_elsewhere(self, what: str) -> None:
        """Raise an error if another thread runs the model of this object; objects without a model never raise."""

    if not TYPE_CHECKING:  # a type checker would accept any attribute

        def __setattr__(self, name, value):
            if name.startswith("_"):
                object.__setattr__(self, name, value)
                return
            where = f"{type(self).__name__}.{name}"
            member = getattr(type(self), name, None)
            if member is None:
                known = [key for key in dir(type(self)) if not key.startswith("_")]
                raise AttributeError(f"{type(self).__name__} has no member '{name}'{did_you_mean(name, known)}")
            if getattr(member, "fset", None) is None:
                raise ValueError(f"{where} is read-only")
            self._refuse_if_elsewhere(where)
            try:
                member.fset(self, value)
            except BadMemberValue as error:
                error.command = error.command or where
                raise
            except BadValue as error:
                renamed = BadMemberValue(*error.args)
                renamed.command = where
                raise renamed from None
            except BadType as error:
                error.command = error.command or where
                raise
