"""Modules as in Python 2: old names, removed members, siblings in packages."""

from __future__ import annotations

import builtins
import importlib
import importlib.util
import itertools
import sys
import types

from . import runtime, surroundings

RENAMED = {
    "ConfigParser": "configparser", "Queue": "queue", "SocketServer": "socketserver", "Tkinter": "tkinter",
    "tkSimpleDialog": "tkinter.simpledialog", "tkMessageBox": "tkinter.messagebox", "tkFileDialog": "tkinter.filedialog",
    "tkFont": "tkinter.font", "ttk": "tkinter.ttk", "Tix": "tkinter.tix", "StringIO": "io", "cStringIO": "io", "copy_reg": "copyreg",
    "__builtin__": "builtins", "urllib2": "urllib.request", "urlparse": "urllib.parse", "thread": "_thread",
    "dummy_thread": "_thread", "anydbm": "dbm", "repr": "reprlib", "HTMLParser": "html.parser",
    "httplib": "http.client", "cProfile": "cProfile", "UserDict": "collections", "UserList": "collections",
}  # fmt: skip
OWN = {"random": "random2", "pickle": "pickle2", "cPickle": "pickle2"}


class Patched(types.ModuleType):
    """A module with some members of its old version; all others are those of the real module."""

    def __init__(self, original, members: dict):
        super().__init__(original.__name__, original.__doc__)
        self.__dict__["__legacy_original__"] = original
        self.__dict__["__legacy_members__"] = members
        self.__dict__.update(members)
        for name in ("__path__", "__file__", "__spec__", "__loader__", "__package__", "__version__"):
            if hasattr(original, name):
                self.__dict__[name] = getattr(original, name)
        public = getattr(original, "__all__", None) or [name for name in vars(original) if not name.startswith("_")]
        self.__dict__["__all__"] = [*dict.fromkeys([*public, *members])]

    def __getattr__(self, name):
        return getattr(self.__dict__["__legacy_original__"], name)

    def __setattr__(self, name, value):
        if name in self.__dict__["__legacy_members__"]:
            self.__dict__[name] = value
        setattr(self.__dict__["__legacy_original__"], name, value)

    def __delattr__(self, name):
        self.__dict__.pop(name, None)
        delattr(self.__dict__["__legacy_original__"], name)

    def __dir__(self):
        return sorted({*dir(self.__dict__["__legacy_original__"]), *self.__dict__["__legacy_members__"]})


def _sys():
    return {
        "maxint": sys.maxsize, "exc_clear": lambda: None, "setdefaultencoding": lambda name: None,
        "getrefcount": sys.getrefcount, "setcheckinterval": lambda n: None,
    }  # fmt: skip


def _time():
    import time

    return {"clock": time.process_time}


def _math():
    import math

    return {"floor": lambda x: float(math.floor(x)) if math.isfinite(x) else x,
            "ceil": lambda x: float(math.ceil(x)) if math.isfinite(x) else x}  # fmt: skip


_STRING_METHODS = ("capitalize center count expandtabs find index ljust lower lstrip replace rfind rindex rjust rsplit rstrip split"
                   " strip swapcase upper").split()  # fmt: skip


def _string():
    import string

    return {
        **{name: getattr(str, name) for name in _STRING_METHODS}, "join": lambda words, sep=" ": sep.join(words),
        "joinfields": lambda words, sep=" ": sep.join(words), "splitfields": str.split, "atof": float, "atoi": int, "atol": int,
        "zfill": lambda s, n: runtime.text(s).zfill(n), "letters": string.ascii_letters, "lowercase": string.ascii_lowercase,
        "uppercase": string.ascii_uppercase, "translate": runtime.translate_text, "maketrans": _table_of_texts,
    }  # fmt: skip


def _table_of_texts(old: str, new: str) -> str:
    if len(old) != len(new):
        raise ValueError("maketrans arguments must have same length")
    return "".join(map(chr, range(256))).translate(str.maketrans(old, new))


def _itertools():
    return {"izip": builtins.zip, "imap": builtins.map, "ifilter": builtins.filter,
            "izip_longest": itertools.zip_longest, "ifilterfalse": itertools.filterfalse}  # fmt: skip


def _os():
    import os

    return {"getcwdu": os.getcwd, "errno": importlib.import_module("errno"), "path": old_module("os.path")}


def _os_path():
    import os

    def walk(top, function, argument):
        for folder, directories, files in os.walk(top):
            names = [*directories, *files]
            function(argument, folder, names)
            directories[:] = [name for name in directories if name in names]

    return {"walk": walk}


def _operator():
    import operator

    return {"div": runtime.divide, "idiv": lambda a, b: runtime.Divisor(b).__rtruediv__(a), "isCallable": callable,
            "sequenceIncludes": operator.contains, "isNumberType": lambda x: isinstance(x, (int, float, complex)),
            "isSequenceType": lambda x: hasattr(x, "__getitem__") and not isinstance(x, dict),
            "isMappingType": lambda x: hasattr(x, "__getitem__") and not isinstance(x, (str, list, tuple))}  # fmt: skip


def _types():
    import io

    return {
        "StringType": str, "UnicodeType": str, "StringTypes": (str,), "IntType": int, "LongType": int, "FloatType": float,
        "BooleanType": bool, "ListType": list, "TupleType": tuple, "DictType": dict, "DictionaryType": dict, "NoneType": type(None),
        "ComplexType": complex, "TypeType": type, "ObjectType": object, "FileType": io.IOBase, "ClassType": type,
        "InstanceType": object, "SliceType": slice, "XRangeType": range,
    }  # fmt: skip


def _collections():
    import collections.abc

    names = ("Callable Container Hashable ItemsView Iterable Iterator KeysView Mapping MappingView MutableMapping MutableSequence"
             " MutableSet Sequence Set Sized ValuesView").split()  # fmt: skip
    return {name: getattr(collections.abc, name) for name in names}


def _numpy():
    import numpy

    names = {"float": float, "int": int, "bool": bool, "object": object, "complex": complex, "str": str, "long": int}
    names |= {"unicode": str, "alltrue": numpy.all, "sometrue": numpy.any, "product": numpy.prod, "cumproduct": numpy.cumprod}
    names |= {"in1d": numpy.isin} | ({"trapz": numpy.trapezoid} if hasattr(numpy, "trapezoid") else {})
    names |= {"float_": numpy.float64, "complex_": numpy.complex128, "Inf": numpy.inf, "NaN": numpy.nan, "infty": numpy.inf}
    return {name: x for name, x in names.items() if name not in vars(numpy)}


class _Encoded:
    """A binary file that accepts text."""

    def __init__(self, file):
        self._file = file

    def write(self, line):
        return self._file.write(line.encode("utf-8", "surrogateescape"))


def _csv():
    import csv

    def text_of(file):
        for line in file:
            yield line.decode("utf-8", "surrogateescape") if isinstance(line, bytes) else line

    def writer(file, *arguments, **named):
        return csv.writer(_Encoded(file) if "b" in getattr(file, "mode", "") else file, *arguments, **named)

    return {"reader": lambda file, *a, **named: csv.reader(text_of(file), *a, **named), "writer": writer}


def _subprocess():
    """Make subprocess return the output of programs as text."""
    import subprocess

    class Popen(subprocess.Popen):
        def __init__(self, *arguments, **named):
            named.pop("universal_newlines", None)
            if not {"text", "encoding", "errors"} & named.keys():
                named |= {"encoding": "utf-8", "errors": "surrogateescape"}
            super().__init__(*arguments, **named)

    def check_output(*arguments, **named):
        process = Popen(*arguments, stdout=subprocess.PIPE, **named)
        output, _ = process.communicate()
        if process.returncode:
            raise subprocess.CalledProcessError(process.returncode, arguments[0] if arguments else named["args"], output)
        return output

    return {"Popen": Popen, "check_output": check_output}


def _commands() -> dict:
    import subprocess

    def getstatusoutput(command):
        status, output = subprocess.getstatusoutput(command)
        return (status << 8 if status > 0 else -status), output  # in the form of os.wait

    return {"getoutput": subprocess.getoutput, "getstatusoutput": getstatusoutput}


def _gzip():
    import gzip

    def open_text(path, mode="r", *arguments, **named):
        """Open as text, unless the mode has 'b'."""
        if "b" in mode:
            return gzip.open(path, mode, *arguments, **named)
        return gzip.open(path, mode.rstrip("tU") + "t", *arguments, **{"encoding": "utf-8", "errors": "surrogateescape", **named})

    return {"open": open_text}


def _stringio():
    import io

    class StringIO(io.StringIO):
        len = property(lambda self: len(self.getvalue()))

    return {"StringIO": StringIO}


def _exceptions():
    return {name: x for name, x in vars(builtins).items() if isinstance(x, type) and issubclass(x, BaseException)} | {
        "StandardError": Exception
    }


_PATCHES = {
    "os.path": _os_path, "subprocess": _subprocess, "gzip": _gzip, "sys": _sys, "time": _time, "math": _math, "string": _string, "itertools": _itertools, "os": _os, "operator": _operator, "types": _types,
    "collections": _collections, "numpy": _numpy, "csv": _csv, "StringIO": _stringio, "cStringIO": _stringio,
}  # fmt: skip
builtin_names: dict = {}  # filled by `names`
_patched: dict[str, types.ModuleType] = {}


def old_module(name: str) -> types.ModuleType | None:
    """Return the module that has this name in Python 2; None if today's is equivalent."""
    if name in _patched:
        return _patched[name]
    if name in OWN:
        module = importlib.import_module(f"{__package__}.{OWN[name]}")
    elif name == "sets":
        module = _made("sets", {"Set": set, "ImmutableSet": frozenset, "BaseSet": (set, frozenset)})
    elif name == "exceptions":
        module = _made("exceptions", _exceptions())
    elif name == "__builtin__":
        module = _made("__builtin__", builtin_names)
    elif name == "commands":
        module = _made("commands", _commands())
    elif name == "imp" and sys.version_info >= (3, 12):
        module = _made("imp", {"reload": importlib.reload, "load_source": _load_source})
    elif name in _PATCHES:
        module = Patched(importlib.import_module(RENAMED.get(name, name)), _PATCHES[name]())
    elif name in RENAMED:
        module = importlib.import_module(RENAMED[name])
    else:
        return None
    _patched[name] = module
    return module


def members_gone(name: str) -> list[str]:
    """Return members of Python 2's module that today's lacks and that no fixer of fissix replaces."""
    if name not in ("string", "time", "operator"):
        return []
    today = vars(importlib.import_module(name))
    return sorted(member for member in _PATCHES[name]() if member not in today)


def _made(name: str, members: dict) -> types.ModuleType:
    module = types.ModuleType(name)
    vars(module).update(members)
    return module


def _load_source(name, path, file=None):
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def import_module(name, globals=None, locals=None, fromlist=(), level=0):
    """Import for legacy modules, called by their `import` statements."""
    package = (globals or {}).get("__package__") if level <= 0 else None
    if package:
        first = name.partition(".")[0]
        if _is_module(f"{package}.{first}"):
            return builtins.__import__(name, globals, locals, fromlist or (), 1) if fromlist else _sibling(package, name)
    if level <= 0 and not is_users_own(name):
        module = old_module(name if fromlist else name.partition(".")[0])
        if module is not None:
            if "." in name and not fromlist:
                builtins.__import__(name)  # `import numpy.linalg` binds numpy
            return module
    return builtins.__import__(name, globals, locals, fromlist or (), max(level, 0))


def is_users_own(name: str) -> bool:
    """Whether a module with an old or patched name is the user's own file, which then takes precedence."""
    name = name.partition(".")[0]
    if name not in RENAMED and name not in OWN and name not in _PATCHES and name not in ("sets", "exceptions", "imp", "commands"):
        return False
    found = sys.modules.get(name)
    if found is not None:
        return surroundings.is_users_module(getattr(found, "__file__", None))
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return False
    return spec is not None and surroundings.is_users_module(spec.origin)


def _is_module(name: str) -> bool:
    if name in sys.modules:
        return True
    try:
        return importlib.util.find_spec(name) is not None
    except (ImportError, ValueError, AttributeError):
        return False


def _sibling(package: str, name: str):
    importlib.import_module(f"{package}.{name}")
    return sys.modules[f"{package}.{name.partition('.')[0]}"]
