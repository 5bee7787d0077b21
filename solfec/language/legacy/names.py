"""Built-in names of Python 2, which replace those of Python 3 in legacy modules."""

from __future__ import annotations

import builtins
import ctypes
import functools
import importlib
import io
import sys

from . import modules, runtime, surroundings

cmp = runtime.compare


def coerce(a, b) -> tuple:
    """Convert two numbers to one type."""
    for kind in (int, float, complex):
        narrower = (int, float, complex)[: (int, float, complex).index(kind) + 1]
        if isinstance(a, narrower) and isinstance(b, narrower):
            return (a, b) if kind is int else (kind(a), kind(b))
    raise TypeError("number coercion failed")


def octal(x) -> str:
    """Python 2's oct."""
    digits = f"{x.__index__():o}"
    return digits if x == 0 else f"-0{digits[1:]}" if x < 0 else f"0{digits}"


def list_range(*arguments) -> list:
    return list(builtins.range(*arguments))


def list_zip(*sequences) -> list:
    return list(builtins.zip(*sequences))


def list_map(function, *sequences) -> list:
    """Python 2's map: short sequences are padded with None, and the function may be None."""
    if function is builtins.str and len(sequences) == 1:
        return [runtime.text(x) for x in sequences[0]]
    if len(sequences) == 1:
        return list(sequences[0]) if function is None else [function(x) for x in sequences[0]]
    from itertools import zip_longest

    rows = zip_longest(*sequences)
    return list(rows) if function is None else [function(*row) for row in rows]


def list_filter(function, sequence):
    """Python 2's filter: it returns a string for a string, a tuple for a tuple."""
    kept = [x for x in sequence if (x if function is None else function(x))]
    if type(sequence) is builtins.str:
        return "".join(kept)
    return tuple(kept) if type(sequence) is tuple else kept


def round_away(x, digits=0):
    """Python 2's round: halves away from zero, always a float."""
    from decimal import ROUND_HALF_UP, Decimal

    try:
        number = float(x)
    except (TypeError, ValueError):
        return builtins.round(x, digits)
    if number != number or number in (float("inf"), float("-inf")) or abs(digits) > 300:
        return number
    return float(Decimal(number).quantize(Decimal(1).scaleb(-digits), rounding=ROUND_HALF_UP)) if abs(number) < 1e15 else number


def open_file(path, mode="r", buffering=-1, **named):
    """Python 2's open: texts keep bytes that are not UTF-8; mode U is the default way of reading."""
    mode = mode.replace("U", "") or "r"
    mode = mode if mode[0] in "rwax" else "r" + mode
    if "b" in mode:
        return builtins.open(path, mode, -1 if buffering == 1 else buffering, **named)
    if not named:
        named = {"encoding": "utf-8", "errors": "surrogateescape"}
    return builtins.open(path, mode, 1 if buffering == 0 else buffering, **named)


class _FileKind(type):
    def __instancecheck__(cls, x):
        return isinstance(x, io.IOBase)

    def __call__(cls, *arguments, **named):
        return open_file(*arguments, **named)


class file(metaclass=_FileKind):
    """The type of files; calling it opens one."""


def raw_input(prompt="") -> str:
    return builtins.input(prompt)


def evaluated_input(prompt=""):
    frame = sys._getframe(1)
    return evaluate(builtins.input(prompt), frame.f_globals, frame.f_locals)


def apply(function, arguments=(), named=None):
    return function(*arguments, **(named or {}))


def reload(module):
    original = getattr(module, "__legacy_original__", module)
    return module if original is sys else importlib.reload(original)


# --- code that is made at run time -------------------------------------------------------------------------


def _spaces(frame, space, local):
    """Return the namespaces of a piece of code: the caller's by default."""
    if space is None:
        return frame.f_globals, frame.f_locals
    return space, space if local is None else local


def _with_builtins(space: dict) -> dict:
    space.setdefault("__builtins__", BUILTINS)
    return space


def execfile(path, globals=None, locals=None) -> None:
    """Run a file in the caller's namespace, read as Python 2, as Python 2's execfile does."""
    frame = sys._getframe(1)
    space, local = _spaces(frame, globals, locals)
    _run(surroundings.code_of_file(path), frame, space, local)


def execute(code, globals=None, locals=None) -> None:
    """The exec statement: a text, a code object or an open file."""
    frame = sys._getframe(1)
    if isinstance(code, tuple) and globals is None and len(code) in (2, 3):
        code, globals, locals = (*code, None)[:3]
    space, local = _spaces(frame, globals, locals)
    if hasattr(code, "read"):
        name, code = getattr(code, "name", "<file>"), code.read()
        code = surroundings.code_of_text(code, name if isinstance(name, str) else "<file>")
    elif isinstance(code, (str, bytes)):
        code = surroundings.code_of_text(code, "<string>")
    _run(code, frame, space, local)


def _run(code, frame, space, local) -> None:
    if local is frame.f_locals and local is not frame.f_globals and space is frame.f_globals:
        _run_in_function(code, frame, space, dict(local))
    else:
        builtins.exec(code, _with_builtins(space), local)


def _run_in_function(code, frame, space, local) -> None:
    """Run code in a function, and make the names that it binds visible there."""
    builtins.exec(code, space, local)
    known = {*frame.f_code.co_varnames, *frame.f_code.co_cellvars, *frame.f_code.co_freevars}
    for name, bound in local.items():
        if name in known:
            frame.f_locals[name] = bound
            ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(frame), ctypes.c_int(0))
        elif name in frame.f_code.co_names:
            space[name] = bound


def evaluate(code, globals=None, locals=None):
    """Python 2's eval."""
    frame = sys._getframe(1)
    space, local = _spaces(frame, globals, locals)
    if isinstance(code, (str, bytes)):
        code = surroundings.code_of_text(code, "<string>", "eval")
    return builtins.eval(code, _with_builtins(space), local)


def compile_text(source, filename, mode="exec", flags=0, dont_inherit=False, **named):
    if isinstance(source, (str, bytes)) and mode in ("exec", "eval", "single") and not flags:
        return surroundings.code_of_text(source, filename, mode)
    return builtins.compile(source, filename, mode, flags, dont_inherit, **named)


def import_all(name: str) -> None:
    """Run `from name import *` of a function: names become global."""
    space = sys._getframe(1).f_globals
    module = modules.import_module(name, space, None, ("*",), 0)
    for key in getattr(module, "__all__", None) or [key for key in vars(module) if not key.startswith("_")]:
        space.setdefault(key, getattr(module, key))


# --- classes -----------------------------------------------------------------------------------------------


def build_class(function, name, *bases, **named):
    """Make a class whose special methods of Python 2 get their names of Python 3."""
    made = builtins.__build_class__(function, name, *bases, **named)
    space = made.__dict__
    kind = space.get("__metaclass__")
    if isinstance(kind, type) and not isinstance(made, kind):
        slots = space.get("__slots__", ())
        own = {"__dict__", "__weakref__", *([slots] if isinstance(slots, str) else slots)}
        contents = {key: x for key, x in space.items() if key not in own}
        made = kind(name, made.__bases__, contents)
        space = made.__dict__
    _rename(made, space)
    return made


def _rename(made, space) -> None:
    for old, new in (("__nonzero__", "__bool__"), ("next", "__next__"), ("__unicode__", "__str__")):
        if old in space and new not in space and callable(space[old]):
            setattr(made, new, space[old])
    for old, new in (("__div__", "__truediv__"), ("__rdiv__", "__rtruediv__")):
        if old in space and new not in space:
            setattr(made, new, _division(space[old]))
    for old, new in (("__getslice__", "__getitem__"), ("__setslice__", "__setitem__"), ("__delslice__", "__delitem__")):
        if old in space:
            setattr(made, new, _sliced(space[old], getattr(made, new, None)))
    if "__cmp__" in space:
        for name, test in _COMPARISONS.items():
            if name not in space:
                setattr(made, name, _comparison(test))
    if ("__eq__" in space or "__cmp__" in space) and space.get("__hash__") is None:
        made.__hash__ = object.__hash__  # Python 2 kept it


def _sliced(method, of_items):
    """Return item access that passes plain slices to Python 2's slice method."""

    def access(self, index, *values):
        if not isinstance(index, slice) or index.step is not None:
            if of_items is None:
                raise TypeError(f"{type(self).__name__} has slices only")
            return of_items(self, index, *values)
        first, end = index.start or 0, sys.maxsize if index.stop is None else index.stop
        first, end = [i + len(self) if i < 0 else i for i in (first, end)]
        return method(self, first, end, *values)

    return access


def _division(method):
    def divide(self, other):
        return NotImplemented if isinstance(other, runtime.Divisor) else method(self, other)

    return divide


_COMPARISONS = {
    "__eq__": lambda c: c == 0, "__ne__": lambda c: c != 0, "__lt__": lambda c: c < 0,
    "__le__": lambda c: c <= 0, "__gt__": lambda c: c > 0, "__ge__": lambda c: c >= 0,
}  # fmt: skip


def _comparison(test):
    return lambda self, other: test(self.__cmp__(other))


# --- the table ---------------------------------------------------------------------------------------------


def _table() -> dict:
    table = {name: getattr(builtins, name) for name in dir(builtins)}
    table.update(runtime.HELPERS)
    table.update(
        __legacy_exec__=execute, __legacy_import_all__=import_all, __import__=modules.import_module, __build_class__=build_class,
        cmp=cmp, range=list_range, xrange=builtins.range, zip=list_zip, map=list_map, filter=list_filter, round=round_away,
        sorted=runtime.ordered, max=runtime.extreme(max), min=runtime.extreme(min), coerce=coerce, oct=octal,
        open=open_file, file=file, raw_input=raw_input, input=evaluated_input, apply=apply, reload=reload,
        execfile=execfile, eval=evaluate, compile=compile_text, reduce=functools.reduce, long=int, unicode=str, basestring=str,
        unichr=chr, intern=sys.intern, buffer=memoryview, StandardError=Exception, print=runtime.print_function,
        __name__="__builtin__",
    )  # fmt: skip
    return table


BUILTINS = _table()
modules.builtin_names.update({name: x for name, x in BUILTINS.items() if not name.startswith("__")})
