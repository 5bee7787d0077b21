"""Files that commands write: their directories are made, and failures are reported."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import TypeVar, cast

from ..directories import make_directory_of
from ..parallel import communicator
from . import session
from .checks import BadValue

F = TypeVar("F", bound=Callable)


def writes(command: F) -> F:
    """Decorate a command that only writes files: `solfec check` and all processes but the first skip it."""

    @wraps(command)
    def call(*arguments, **keywords):
        skipped = session.current().checked is not None or communicator.world().rank > 0
        return None if skipped else command(*arguments, **keywords)

    return cast(F, call)


@contextmanager
def writing(path: str, name: str = "path") -> Iterator[str]:
    """Make the directory of a file and yield its path; an OSError becomes an error about the argument `name`.

    Raises
    ------
    BadValue
        When the directory or the file cannot be written.
    """
    try:
        make_directory_of(path)
        yield path
    except OSError as error:
        raise BadValue(f"'{name}': '{path}' cannot be written: {error.strerror or error}") from None
