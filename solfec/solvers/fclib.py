"""FCLIB files: contact problems of a single step in the community's HDF5 format (Acary, Bremond, Huber 2014).

Files keep rows in the order (normal, tangent 1, tangent 2); here it is (tangent 1, tangent 2, normal).  Reactions and
velocities have the same signs; FCLIB's reactions are impulses, so W of a file is W/h of a step.
"""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np

from ..errors import SolfecError
from .auto import contact_problem
from .contact_problem import Cone, ContactProblem, from_matrix
from .local_dynamics import LocalDynamics

FROM_FILE = np.array([1, 2, 0])  # rows (T1, T2, N) of a contact in a file's order
TO_FILE = np.array([2, 0, 1])


def read(path) -> ContactProblem:
    """Read a problem of either form, local (W, q, mu) or global (M, H, f, w, mu; condensed).

    Raises
    ------
    SolfecError
        The file holds no FCLIB problem with three components per contact.
    """
    path = Path(path)
    try:
        with h5py.File(path, "r") as file:
            form = next((name for name in ("fclib_local", "fclib_global") if name in file), None)
            if form is None:
                raise SolfecError(f"{path}: no FCLIB problem (there is neither fclib_local nor fclib_global)")
            group = file[form]
            if int(np.ravel(group["spacedim"])[0]) != 3:
                raise SolfecError(f"{path}: only problems in three dimensions are read")
            if "G" in group or "R" in group:
                raise SolfecError(f"{path}: equality constraints of FCLIB problems are not read")
            matrix, q = _local(group) if form == "fclib_local" else _condensed(group)
            friction = group["vectors/mu"][()]
    except OSError as error:
        raise SolfecError(f"{path}: cannot be read as HDF5 ({error})") from error
    except KeyError as error:
        raise SolfecError(f"{path}: an incomplete FCLIB problem ({error.args[0]})") from error
    n = len(friction)
    order = (3 * np.arange(n)[:, None] + FROM_FILE).ravel()
    if matrix.shape != (3 * n, 3 * n) or q.size != 3 * n:
        raise SolfecError(f"{path}: {n} contacts need W of {3 * n} rows and columns, not {matrix.shape}")
    return from_matrix(matrix[order][:, order], q[order], friction, path.name)


def _local(group):
    return _matrix(group["W"]), group["vectors/q"][()]


def _condensed(group):
    """W = H^T M^-1 H and q = w + H^T M^-1 f of a global problem."""
    from scipy.sparse import csr_array
    from scipy.sparse.linalg import splu

    mass, h = _matrix(group["M"]).tocsc(), _matrix(group["H"]).tocsc()
    try:
        factors = splu(mass)
    except RuntimeError as error:
        raise SolfecError(f"{group.file.filename}: the mass matrix is singular") from error
    # M is block-diagonal, one block per body, so that entries between contacts of different bodies are exactly zero
    matrix = csr_array(h.T @ factors.solve(h.toarray()))
    return matrix, group["vectors/w"][()] + h.T @ factors.solve(group["vectors/f"][()])


def _matrix(group):
    """Sparse matrix stored as triplets (nz >= 0), compressed columns (-1) or compressed rows (-2)."""
    from scipy.sparse import coo_array, csc_array, csr_array

    rows, columns, nz = (int(np.ravel(group[name])[0]) for name in ("m", "n", "nz"))
    p, i, x = group["p"][()], group["i"][()], group["x"][()]
    shape = rows, columns
    if nz == -1:
        return csc_array((x[: p[columns]], i[: p[columns]], p[: columns + 1]), shape=shape).tocsr()
    if nz == -2:
        return csr_array((x[: p[rows]], i[: p[rows]], p[: rows + 1]), shape=shape)
    return coo_array((x[:nz], (i[:nz], p[:nz])), shape=shape).tocsr()


def write(path, problem: ContactProblem, title: str = "solfec", description: str = "") -> None:
    """Write a problem in the local form, W by compressed rows (blocks with all their entries), without solution.

    Raises
    ------
    SolfecError
        The problem has rows that are no contacts: the local form has no place for them.
    """
    if (problem.kind != Cone.CONTACT).any():
        raise SolfecError(f"{path}: FCLIB's local form holds contacts only; the problem has other constraints")
    n = problem.n
    order = (3 * np.arange(n)[:, None] + TO_FILE).ravel()
    matrix = problem.matrix().tocsr()[order][:, order]
    matrix.sort_indices()
    with h5py.File(path, "w") as file:
        group = file.create_group("fclib_local")
        group["spacedim"] = np.array([3], "i4")
        stored = group.create_group("W")
        for name, value in (("m", 3 * n), ("n", 3 * n), ("nz", -2), ("nzmax", matrix.nnz)):
            stored[name] = np.array([value], "i4")
        stored["p"], stored["i"] = matrix.indptr.astype("i4"), matrix.indices.astype("i4")
        stored["x"] = matrix.data.astype("f8")
        group["vectors/q"] = problem.q.T.ravel()[order]
        group["vectors/mu"] = problem.friction
        for name, text in (("title", title), ("description", description), ("math_info", "")):
            group[f"info/{name}"] = np.bytes_(text.encode())


def write_step(path, local: LocalDynamics, title: str = "solfec") -> None:
    """Write the local dynamics of a step; as FCLIB asks, W is in velocity per impulse and reactions are impulses."""
    problem = contact_problem(local, Path(path).name)
    problem.off_diagonal /= local.step
    problem.diagonal /= local.step
    write(path, problem, title, f"local dynamics of one step of {local.step:g}")
