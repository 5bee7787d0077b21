"""Reading and writing pickles for Python 2 scripts: old files hold bytes, and files may be open as text."""

from __future__ import annotations

import pickle
from pickle import *  # noqa: F403 (the rest of the module is the same)
from pickle import HIGHEST_PROTOCOL, PickleError, PicklingError, UnpicklingError  # noqa: F401

PROTOCOL = 2  # the last one that Python 2 reads


def _binary(file):
    """The bytes below a file that is open as text."""
    if hasattr(file, "encoding") and hasattr(file, "buffer"):
        file.flush()
        return file.buffer
    return file


def load(file, **named):
    """Read one object; texts that Python 2 wrote are Latin-1."""
    return pickle.load(_binary(file), **{"encoding": "latin1", **named})


def loads(data, **named):
    """Make an object of a pickle."""
    octets = data.encode("latin1") if isinstance(data, str) else data
    return pickle.loads(octets, **{"encoding": "latin1", **named})


def dump(obj, file, protocol=PROTOCOL):
    """Write one object, in a form that Python 2 reads."""
    pickle.dump(obj, _binary(file), _protocol(protocol))


def dumps(obj, protocol=PROTOCOL):
    """The pickle of an object."""
    return pickle.dumps(obj, _protocol(protocol))


def _protocol(protocol):
    return PROTOCOL if protocol is None or protocol < 0 else min(protocol, PROTOCOL)


class Unpickler(pickle.Unpickler):
    """Reads objects one after another."""

    def __init__(self, file, **named):
        super().__init__(_binary(file), **{"encoding": "latin1", **named})


class Pickler(pickle.Pickler):
    """Writes objects one after another."""

    def __init__(self, file, protocol=PROTOCOL):
        super().__init__(_binary(file), _protocol(protocol))
