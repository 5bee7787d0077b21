"""Creation of missing directories for files that are written."""

from __future__ import annotations

import errno
import os

from .errors import SolfecError


def make_directory(path: str) -> None:
    """Make a directory and its parents unless it exists; NotADirectoryError if a file is in its place."""
    try:
        os.makedirs(path, exist_ok=True)
    except FileExistsError:
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), path) from None


def make_directory_of(file: str) -> None:
    """Make the directory of a file that is to be written."""
    if directory := os.path.dirname(file):
        make_directory(directory)


def check_place(path: str) -> None:
    """Raise SolfecError when an output directory does not exist and cannot be made, or cannot be written to."""
    existing = path
    while not os.path.lexists(existing) and os.path.dirname(existing) != existing:
        existing = os.path.dirname(existing)
    if not os.path.isdir(existing):
        raise SolfecError(f"{path}: cannot hold results, since {existing} is not a directory")
    if not os.access(existing, os.W_OK | os.X_OK):
        raise SolfecError(f"{path}: cannot hold results, since {existing} is not writable")
