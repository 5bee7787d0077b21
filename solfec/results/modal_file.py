"""Natural modes in HDF5, matrices in the Matrix Market format (docs/language-objects.md, MODAL_ANALYSIS; docs/language-objects.md, BODY_MM_EXPORT)."""

from __future__ import annotations

import os
from contextlib import suppress

import h5py
import numpy as np

from ..bodies.reduced_base import ReducedBase
from ..errors import SolfecError
from ..hdf5_files import new_file

FORMAT = "solfec modes"


def write(file: str, base: ReducedBase, fingerprint: np.ndarray) -> None:
    """Store modes and the fingerprint of their matrices; an old file is replaced once the new one is complete."""
    unfinished = f"{file}.{os.getpid()}.new"  # several processes of an input write the same modes at the same time
    try:
        with suppress(FileNotFoundError):
            os.unlink(unfinished)
        with new_file(unfinished) as (target, _):
            target.attrs["format"] = FORMAT
            target["values"] = base.values
            target["values"].attrs["description"] = "eigenvalues omega**2 [1/T^2]"
            target["vectors"] = base.vectors
            target["vectors"].attrs["description"] = "mode after mode, x, y, z of node after node; v.M v = 1"
            target["fingerprint"] = fingerprint
            target["fingerprint"].attrs["description"] = "M x and K x for a fixed x: tells other matrices from these"
        os.replace(unfinished, file)
    finally:
        if os.path.exists(unfinished):
            os.unlink(unfinished)


def read(file: str) -> tuple[ReducedBase, np.ndarray]:
    """Modes and the fingerprint of their matrices.

    Raises
    ------
    SolfecError
        A file that holds something else.
    """
    try:
        with h5py.File(file, "r") as source:
            if source.attrs.get("format") != FORMAT:
                raise SolfecError(f"'{file}' is not a file of MODAL_ANALYSIS")
            base = ReducedBase(source["values"][...], source["vectors"][...])
            return base, source["fingerprint"][...]
    except (OSError, KeyError) as error:
        raise SolfecError(f"'{file}' is damaged or not a file of MODAL_ANALYSIS ({error})") from error


def write_matrix_market(file: str, matrix, half: bool) -> None:
    """Write a sparse matrix, or a diagonal (m,), in coordinates, column by column with 15 digits.

    Parameters
    ----------
    half : bool
        The lower triangle of a symmetric matrix.
    """
    from scipy.io import mmwrite  # slow to import
    from scipy.sparse import coo_matrix, diags

    stored = diags(matrix) if isinstance(matrix, np.ndarray) else matrix
    with open(file, "wb") as target:
        mmwrite(target, coo_matrix(stored.tocsc()), precision=15, symmetry="symmetric" if half else "general")
