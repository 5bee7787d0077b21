"""MED files with a mesh at several steps, which meshio cannot read: a copy of the file with one step."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile

import h5py


@contextlib.contextmanager
def one_step(path: str, step: int | None):
    """Yield the path of a file with one step: the file itself, or a copy that exists until the context ends.

    Parameters
    ----------
    path : str
        A MED file.
    step : int or None
        Number of the step from 0, or from the end when negative; None: the file has one step.

    Raises
    ------
    ValueError
        Several steps and no `step`, a number out of range.
    """
    names = _steps(path)
    if len(names) < 2 and step in (None, 0, -1):
        yield path
        return
    if step is None:
        raise ValueError(f"it holds the mesh at {len(names)} steps; choose one by 'step', 0 to {len(names) - 1} (-1: the last)")
    if not -len(names) <= step < len(names):
        raise ValueError(f"it has no step {step}; there are {len(names)}, from 0 on")
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, "one.med")
        shutil.copyfile(path, copy)
        with h5py.File(copy, "a") as file:
            (mesh,) = file["ENS_MAA"].values()
            for name in names:
                if name != names[step]:
                    del mesh[name]
        yield copy


def _steps(path: str) -> list[str]:
    """Return names of a mesh's steps, in their order; none for files without steps or with several meshes."""
    with h5py.File(path, "r") as file:
        meshes = list(file["ENS_MAA"].values()) if "ENS_MAA" in file else []
        return sorted(meshes[0]) if len(meshes) == 1 and "NOE" not in meshes[0] else []
