"""FCLIB files: contact problems of a single step in the community's HDF5 format (Acary, Bremond, Huber 2014).

Components in files are in the order (normal, tangent 1, tangent 2), here (tangent 1, tangent 2, normal).  Reactions and
velocities have the same signs.  FCLIB's reactions are impulses, so W of a file is W/h of a step.  Joints are the equality
constraints of the local form (M3DFC of FCLIB's report RT-444), u = W r + V l + q and 0 = V^T r + R l + s; here each equation
is a row that acts along its normal.
"""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np

from ..errors import SolfecError
from ..hdf5_files import new_file
from ..kinds import Cone
from .auto import contact_problem
from .contact_problem import ContactProblem, from_matrix
from .local_dynamics import LocalDynamics
from .reduced_rows import CONE_OF_KIND, UNKNOWN, ReducedRows

FROM_FILE = np.array([1, 2, 0])  # places of (T1, T2, N) in a file's order
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
            matrix, q, joints = _local(group) if form == "fclib_local" else _condensed(group)
            friction = group["vectors/mu"][()]
    except OSError as error:
        raise SolfecError(f"{path}: cannot be read as HDF5 ({error})") from error
    except KeyError as error:
        raise SolfecError(f"{path}: an incomplete FCLIB problem ({error.args[0]})") from error
    n = len(friction)
    order = (3 * np.arange(n)[:, None] + FROM_FILE).ravel()
    if matrix.shape != (3 * n, 3 * n) or q.size != 3 * n:
        raise SolfecError(f"{path}: {n} contacts need W of {3 * n} rows and columns, not {matrix.shape}")
    matrix, q = matrix[order][:, order], q[order]
    if joints is None:
        return from_matrix(matrix, q, friction, path.name)
    return _with_joints(matrix, q, friction, joints, order, path)


def _local(group):
    """Return W, q, and V, R and s of equality constraints, or None if there are none."""
    joints = (_matrix(group["V"]), _matrix(group["R"]), group["vectors/s"][()]) if "R" in group else None
    return _matrix(group["W"]), group["vectors/q"][()], joints


def _with_joints(matrix, q, friction, joints, order, path: Path) -> ContactProblem:
    """Make a problem of contacts followed by one row per equation, which acts along the normal of its row."""
    from scipy.sparse import block_array, coo_array

    coupling, own, s = joints
    n, count = len(friction), s.size
    if own.shape != (count, count) or coupling.shape != (3 * n, count):
        raise SolfecError(f"{path}: {n} contacts and {count} equations need V of {3 * n} times {count} entries, not {coupling.shape}")
    normal = coo_array((np.ones(count), (3 * np.arange(count) + 2, np.arange(count))), shape=(3 * count, count)).tocsr()
    along = 3 * np.arange(count)[:, None] + [0, 1]
    rest = coo_array(
        (np.repeat(own.diagonal(), 2), (along.ravel(), along.ravel())), shape=(3 * count, 3 * count)
    )  # these rows have no tangential reactions, but their blocks must not be singular
    coupling = coupling[order] @ normal.T
    full = block_array([[matrix, coupling], [coupling.T, normal @ own @ normal.T + rest.tocsr()]], format="csr")
    kind = np.concatenate([np.full(n, Cone.CONTACT), np.full(count, Cone.NORMAL)]).astype(np.int32)
    return from_matrix(full, np.concatenate([q, normal @ s]), np.append(friction, np.zeros(count)), path.name, kind)


def _condensed(group):
    """Return W = H^T M^-1 H and q = w + H^T M^-1 f of a global problem, and V, R and s of its equality constraints 0 = G^T v + b."""
    from scipy.sparse import csr_array
    from scipy.sparse.linalg import splu

    mass, h = _matrix(group["M"]).tocsc(), _matrix(group["H"]).tocsc()
    try:
        factors = splu(mass)
    except RuntimeError as error:
        raise SolfecError(f"{group.file.filename}: the mass matrix is singular") from error
    # M is block-diagonal, one block per body, so entries between contacts of different bodies are exactly zero
    moved, free = factors.solve(h.toarray()), factors.solve(group["vectors/f"][()])
    matrix, q = csr_array(h.T @ moved), group["vectors/w"][()] + h.T @ free
    if "G" not in group:
        return matrix, q, None
    g = _matrix(group["G"]).tocsc()
    own = csr_array(g.T @ factors.solve(g.toarray()))
    return matrix, q, (csr_array((g.T @ moved).T), own, group["vectors/b"][()] + g.T @ free)


def _matrix(group):
    """Read a sparse matrix, stored as triplets (nz >= 0), compressed columns (-1) or compressed rows (-2)."""
    from scipy.sparse import coo_array, csc_array, csr_array

    rows, columns, nz = (int(np.ravel(group[name])[0]) for name in ("m", "n", "nz"))
    p, i, x = group["p"][()], group["i"][()], group["x"][()]
    shape = rows, columns
    if nz == -1:
        return csc_array((x[: p[columns]], i[: p[columns]], p[: columns + 1]), shape=shape).tocsr()
    if nz == -2:
        return csr_array((x[: p[rows]], i[: p[rows]], p[: rows + 1]), shape=shape)
    return coo_array((x[:nz], (i[:nz], p[:nz])), shape=shape).tocsr()


def write(path, problem: ContactProblem, title: str = "solfec", description: str = "", solution=None) -> None:
    """Write a problem in the local form, matrices by compressed rows (blocks with all their entries).

    Parameters
    ----------
    problem : ContactProblem
        Rows of kind FIXED and NORMAL become equality constraints, those of kind NONE are left out.
    solution : tuple of 2, optional
        Reactions and velocities (3, n) to store as the solution.
    """
    contacts, equations = _places(problem)
    matrix = problem.matrix().tocsr()
    q = problem.q.T.ravel()
    with new_file(path) as (file, _):
        group = file.create_group("fclib_local")
        group["spacedim"] = np.array([3], "i4")
        _write_matrix(group, "W", matrix[contacts][:, contacts])
        group["vectors/q"] = q[contacts]
        group["vectors/mu"] = problem.friction[problem.kind == Cone.CONTACT]
        if equations.size:
            _write_matrix(group, "V", matrix[contacts][:, equations])
            _write_matrix(group, "R", matrix[equations][:, equations])
            group["vectors/s"] = q[equations]
        for name, text in (("title", title), ("description", description), ("math_info", "")):
            group[f"info/{name}"] = np.bytes_(text.encode())
        if solution is not None:
            r, u = (np.asarray(values).T.ravel() for values in solution)
            file["solution/r"], file["solution/u"] = r[contacts], u[contacts]
            if equations.size:
                file["solution/l"] = r[equations]


def _places(problem: ContactProblem) -> tuple[np.ndarray, np.ndarray]:
    """Return the components of contacts in the order of a file, and those that joints hold."""
    rows = 3 * np.arange(problem.n)[:, None]
    contacts = (rows + TO_FILE)[problem.kind == Cone.CONTACT].ravel()
    held = np.zeros((problem.n, 3), bool)
    held[problem.kind == Cone.FIXED] = True
    held[problem.kind == Cone.NORMAL, 2] = True
    return contacts, np.flatnonzero(held)


def _write_matrix(group, name: str, matrix) -> None:
    """Write a sparse matrix by compressed rows."""
    matrix.sort_indices()
    stored = group.create_group(name)
    sizes = {"m": matrix.shape[0], "n": matrix.shape[1], "nz": -2, "nzmax": matrix.nnz}
    for key, value in sizes.items():
        stored[key] = np.array([value], "i4")
    stored["p"], stored["i"] = matrix.indptr.astype("i4"), matrix.indices.astype("i4")
    stored["x"] = matrix.data.astype("f8")


def write_step(path, local: LocalDynamics, title: str = "solfec") -> None:
    """Write the local dynamics of a step with its reactions, in FCLIB's units: reactions are impulses, W velocity per impulse.

    Links are linearised at the velocities of the step.

    Raises
    ------
    SolfecError
        The step has no contacts, or constraints whose laws are no cones (springs, SPRING_DASHPOT contacts, bonds), which FCLIB cannot express.
    """
    rows, n = local.rows, local.n
    kind = CONE_OF_KIND[rows.kind[:n]]
    if (kind == UNKNOWN).any():
        stranger = local.name(int(np.argmax(kind == UNKNOWN)))
        raise SolfecError(f"{path}: FCLIB has no place for {stranger}, whose law is no cone")
    if not (kind == Cone.CONTACT).any():
        raise SolfecError(f"{path}: the step has no contacts, so that there is no problem to write")
    problem = contact_problem(local, Path(path).name)
    reactions = rows.R[:, :n].copy()
    reactions[2] += ReducedRows(local).cohesion[:n]
    velocities = (problem.matrix() @ reactions.T.ravel()).reshape(n, 3).T + problem.q
    problem.off_diagonal /= local.step
    problem.diagonal /= local.step
    write(path, problem, title, f"local dynamics of one step of {local.step:g}", (local.step * reactions, velocities))
