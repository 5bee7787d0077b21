"""Operators, print and str of Python 2: functions that translated inputs call.

They become built-in names of legacy modules, with two underscores on both sides, so a script
with variables named `str` or `sum` does not disturb them.
"""

from __future__ import annotations

import builtins
import codecs
import functools
import io
import operator
import sys
import weakref
from collections.abc import Iterator
from numbers import Integral

# --- division ----------------------------------------------------------------------------------------------


def divide(a, b):
    """Python 2's `a / b`: the floor when both are integers, else the quotient."""
    kind_a, kind_b = type(a), type(b)
    if kind_a is float or kind_b is float:
        return a / b
    if kind_a is int and kind_b is int:
        return a // b
    if _is_integer(a) and _is_integer(b):
        return a // b
    return _by_own_method(a, b, "__div__", "__rdiv__", operator.truediv)


def _is_integer(x) -> bool:
    """Whether x is an integer, a NumPy integer or an array of them."""
    if isinstance(x, Integral) and not hasattr(x, "__div__"):
        return True
    kind = getattr(getattr(x, "dtype", None), "kind", None)
    return kind in ("i", "u", "b") if isinstance(kind, str) else False


def _by_own_method(a, b, name, reflected, otherwise):
    method = getattr(type(a), name, None)
    if method is not None and (result := method(a, b)) is not NotImplemented:
        return result
    method = getattr(type(b), reflected, None)
    if method is not None and (result := method(b, a)) is not NotImplemented:
        return result
    return otherwise(a, b)


class Divisor:
    """Right side of `a /= b`, which evaluates the left side once and divides arrays in place."""

    __slots__ = ("value",)

    def __init__(self, value):
        self.value = value

    def __array_ufunc__(self, ufunc, method, a, *others, **named):
        return self.__rtruediv__(a)  # arrays delegate the operation to this class

    def __rtruediv__(self, a):
        b = self.value
        if _is_integer(a) and _is_integer(b):
            return operator.ifloordiv(a, b)
        method = getattr(type(a), "__idiv__", None)
        if method is not None and (result := method(a, b)) is not NotImplemented:
            return result
        return _by_own_method(a, b, "__div__", "__rdiv__", operator.itruediv)


divisor = Divisor  # the name that converted inputs use

# --- text --------------------------------------------------------------------------------------------------


class _Shown(float):
    """A float that shows 12 digits, for '%s' and str.format."""

    __slots__ = ()

    def __str__(self):
        return text_of_float(self)

    def __format__(self, specification):
        return float.__format__(self, specification) if specification else text_of_float(self)


def text_of_float(x: float) -> str:
    """Python 2's str of a float: 12 digits."""
    digits = f"{x:.12g}"
    if len(digits.lstrip("-")) == 12 and digits.lstrip("-").isdigit():  # with '.0' it would have 13
        mantissa, _, exponent = f"{x:.11e}".partition("e")
        return f"{mantissa.rstrip('0').rstrip('.')}e{exponent}"
    return digits if digits.lstrip("-")[0] in "in" or any(mark in digits for mark in ".e") else digits + ".0"


def text(x="") -> str:
    """Python 2's `str (x)`."""
    kind = type(x)
    if kind is builtins.str:
        return x
    if kind is float or (isinstance(x, float) and kind.__module__ == "numpy"):
        return text_of_float(x)
    if kind is complex:
        real = "" if x.real == 0 else f"{x.real:.12g}"
        imaginary = f"{x.imag:+.12g}" if real else f"{x.imag:.12g}"
        return f"({real}{imaginary}j)" if real else f"{imaginary}j"
    if kind in (set, frozenset):
        return f"{kind.__name__}({list(x)!r})"
    if isinstance(x, BaseException) and isinstance(x, KeyError) and len(x.args) == 1:
        return repr(x.args[0])
    if kind is type and x.__module__ == "builtins":
        return f"<type '{x.__name__}'>"
    if kind is bytes:
        return x.decode("utf-8", errors="surrogateescape")
    return builtins.str(x)


def text_call(function, *arguments, **named):
    """Call whatever is named `str`: the type, or an object of the user."""
    if function is builtins.str and not named and (len(arguments) <= 1 or isinstance(arguments[0], builtins.str)):
        return text(*arguments[:1])  # a text needs no decoding
    return function(*arguments, **named)


def percent(a, b):
    """Python 2's `a % b`: '%s' shows floats by 12 digits."""
    if isinstance(a, builtins.str) and ("s" in a):
        if type(b) is tuple:
            b = tuple([_shown(item) for item in b])
        elif isinstance(b, dict):
            b = {key: _shown(item) for key, item in b.items()} if type(b) is dict else b
        else:
            b = _shown(b)
    return a % b


def _shown(x):
    return _Shown(x) if isinstance(x, float) and (type(x) is float or type(x).__module__ == "numpy") else x


def format_text(pattern: str, *arguments, **named) -> str:
    """Python 2's str.format."""
    return pattern.format(*[_shown(x) for x in arguments], **{key: _shown(x) for key, x in named.items()})


# --- print -------------------------------------------------------------------------------------------------

_soft_space: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()  # files whose next printed item needs a blank


def print_statement(newline: bool, file, *items) -> None:
    """Python 2's print statement; a trailing comma (no newline) leaves a soft space to the next one."""
    if file is None:
        file = sys.stdout
    soft = _is_soft(file)
    for item in items:
        if soft:
            file.write(" ")
        shown = text(item)
        file.write(shown)
        soft = not (shown and shown[-1].isspace() and shown[-1] != " ")
    if newline:
        file.write("\n")
        soft = False
    _set_soft(file, soft)


def print_item(item) -> None:
    """Print one item of a print statement, before the next one is evaluated."""
    print_statement(False, None, item)


def _is_soft(file) -> bool:
    try:
        return _soft_space.get(file, False)
    except TypeError:
        return bool(getattr(file, "softspace", False))


def _set_soft(file, soft: bool) -> None:
    try:
        _soft_space[file] = soft
    except TypeError:
        try:
            file.softspace = soft
        except AttributeError:
            pass


def end_line() -> None:
    """End a line that print left open, as Python 2 does when the program ends."""
    if _is_soft(sys.stdout):
        _set_soft(sys.stdout, False)
        sys.stdout.write("\n")


def print_function(*items, **named) -> None:
    """The function that files with `from __future__ import print_function` call."""
    builtins.print(*[text(item) for item in items], **named)


# --- methods and members that went away --------------------------------------------------------------------


def _dictionary_method(x, name):
    if name == "has_key":
        return x.__contains__
    if name.startswith("iter"):
        method = getattr(x, name[4:])
        return lambda: iter(method())
    if name.startswith("view"):
        return getattr(x, name[4:])
    method = getattr(x, name)
    return lambda: list(method())


def method(x, name: str):
    """The bound method `name` of x as Python 2 has it."""
    if isinstance(x, dict) and name in _DICTIONARY:
        own = type(x).__dict__.get(name)
        if own is None or type(x).__module__ in _LIBRARY:
            return _dictionary_method(x, name)
        return getattr(x, name)
    if name == "next" and not hasattr(x, "next"):
        return x.__next__
    if name == "sort" and isinstance(x, list):
        return lambda cmp=None, key=None, reverse=False: _sort(x, cmp, key, reverse)
    if name == "format" and type(x) is builtins.str:
        return lambda *arguments, **named: format_text(x, *arguments, **named)
    if name in ("encode", "decode", "translate") and isinstance(x, builtins.str):
        return functools.partial(_TEXTS[name], x)
    if name == "xreadlines" and not hasattr(x, name):
        return x.__iter__
    if name == "write":
        _set_soft(x, False)
        if isinstance(x, (io.BufferedIOBase, io.RawIOBase)):
            return lambda data: x.write(data.encode("utf-8", "surrogateescape") if isinstance(data, str) else data)
    if name in ("has_key", "iterkeys", "itervalues", "iteritems") and not hasattr(x, name):
        return _dictionary_method(x, name)
    return getattr(x, name)


_DICTIONARY = {"has_key", "keys", "values", "items", "iterkeys", "itervalues", "iteritems", "viewkeys", "viewvalues", "viewitems"}
_LIBRARY = {"builtins", "collections"}
_RENAMED = {"func_name": "__name__", "func_code": "__code__", "func_defaults": "__defaults__", "func_globals": "__globals__",
            "func_doc": "__doc__", "func_dict": "__dict__", "im_func": "__func__", "im_self": "__self__"}  # fmt: skip


def member(x, name: str):
    """Member `name` of x, with those that Python 3 took away or renamed."""
    try:
        return getattr(x, name)
    except AttributeError:
        if name == "message" and isinstance(x, BaseException):
            return x.args[0] if len(x.args) == 1 else ""
        if name in _RENAMED:
            return getattr(x, _RENAMED[name])
        raise


# --- texts -------------------------------------------------------------------------------------------------

_NOT_TEXTS = {"hex", "base64", "bz2", "zlib", "uu", "quopri", "hex_codec", "base64_codec", "bz2_codec", "zlib_codec"}


def _encode(x: str, encoding="ascii", errors="strict") -> str:
    """Encode a text; in Python 2 text and bytes are one type, so only codecs from text to text have an effect."""
    if encoding.lower() in _NOT_TEXTS:
        return codecs.encode(x.encode("utf-8", "surrogateescape"), encoding).decode("latin-1")
    return codecs.encode(x, encoding) if encoding.lower() in ("rot13", "rot_13") else x


def _decode(x: str, encoding="ascii", errors="strict") -> str:
    if encoding.lower() in _NOT_TEXTS:
        return codecs.decode(x.encode("latin-1"), encoding).decode("utf-8", "surrogateescape")
    if encoding.lower() in ("string_escape", "string-escape", "unicode_escape", "unicode-escape"):
        return codecs.decode(x.encode("latin-1", "backslashreplace"), "unicode_escape")
    return codecs.decode(x, encoding) if encoding.lower() in ("rot13", "rot_13") else x


def translate_text(x: str, table=None, deletions="") -> str:
    """Python 2's `x.translate (table, deletions)`; the table is a text of 256 characters."""
    kept = "".join([character for character in x if character not in deletions]) if deletions else x
    return kept if table is None else kept.translate(table)


_TEXTS = {"encode": _encode, "decode": _decode, "translate": translate_text}

# --- order -------------------------------------------------------------------------------------------------


def compare(a, b) -> int:
    """Python 2's `cmp (a, b)`: objects of different types are ordered, too: None, numbers, then by names of types."""
    try:
        return (a > b) - (a < b)
    except TypeError as error:
        if error.__traceback__.tb_next is not None or _has_no_order(a) or _has_no_order(b):
            raise
        if type(a) is type(b) and isinstance(a, (list, tuple)):
            return next((c for c in map(compare, a, b) if c), (len(a) > len(b)) - (len(a) < len(b)))
        if isinstance(a, dict) and isinstance(b, dict):
            return compare(len(a), len(b)) or compare(*[ordered(d.items()) for d in (a, b)])
        first, second = _rank(a), _rank(b)
        if first == second:  # of one type that has no order
            first, second = (0, id(a)), (0, id(b))
        return (first > second) - (first < second)


def _rank(x) -> tuple:
    if x is None:
        return 0, ""
    return 1, "" if isinstance(x, (int, float)) else type(x).__name__


def _has_no_order(x) -> bool:
    """Whether Python 2 cannot compare x, either; arrays define comparisons themselves."""
    return isinstance(x, complex) or hasattr(x, "dtype")


def _comparison(plainly, by_order):
    def comparison(a, b):
        try:
            return plainly(a, b)
        except TypeError as error:
            if error.__traceback__.tb_next is not None:  # of the user's own method
                raise
            return by_order(compare(a, b), 0)

    return comparison


_by_order = functools.cmp_to_key(compare)


def ordered(sequence, cmp=None, key=None, reverse=False) -> list:
    """Python 2's sorted."""
    items = list(sequence)
    try:
        return builtins.sorted(items, key=sort_key(cmp, key), reverse=bool(reverse))
    except TypeError:
        if cmp is not None:
            raise
        return builtins.sorted(items, key=_by_order if key is None else lambda x: _by_order(key(x)), reverse=bool(reverse))


def _sort(x: list, cmp, key, reverse) -> None:
    x[:] = ordered(x, cmp, key, reverse)


def extreme(function):
    """Return Python 2's max or min, which accepts objects of different types."""

    def chosen(*arguments, **named):
        if len(arguments) == 1 and isinstance(arguments[0], Iterator):
            arguments = (list(arguments[0]),)
        try:
            return function(*arguments, **named)
        except TypeError:
            key = named.get("key")
            return function(*arguments, key=_by_order if key is None else lambda x: _by_order(key(x)))

    chosen.__name__ = function.__name__
    return chosen


def sort_key(cmp, key):
    """Key function of Python 2's arguments cmp and key."""
    if cmp is None:
        return key
    compared = functools.cmp_to_key(cmp)
    return compared if key is None else lambda x: compared(key(x))


def exception(kind, value=None, trace=None):
    """Return the exception that `raise kind, value, trace` raises."""
    if isinstance(kind, tuple) and kind:
        kind = kind[0]
    if isinstance(kind, type) and not isinstance(value, kind):
        kind = kind() if value is None else kind(*value) if isinstance(value, tuple) else kind(value)
    elif isinstance(kind, type):
        kind = value
    return kind.with_traceback(trace) if trace is not None else kind


HELPERS = {
    "__legacy_divide__": divide,
    "__legacy_divisor__": Divisor,
    "__legacy_percent__": percent,
    "__legacy_less__": _comparison(operator.lt, operator.lt),
    "__legacy_greater__": _comparison(operator.gt, operator.gt),
    "__legacy_at_most__": _comparison(operator.le, operator.le),
    "__legacy_at_least__": _comparison(operator.ge, operator.ge),
    "__legacy_text__": text_call,
    "__legacy_repr__": repr,
    "__legacy_print__": print_statement,
    "__legacy_item__": print_item,
    "__legacy_method__": method,
    "__legacy_member__": member,
    "__legacy_raise__": exception,
}
