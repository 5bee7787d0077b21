"""Free vibration of finite element bodies: K x = lambda M x with the lumped mass M (docs/modes.md, Natural modes)."""

from __future__ import annotations

import numpy as np

from ..element_types import BY_SIZE, used_slots
from ..errors import SolfecError
from ..tables import unique
from .element_assembly import ElementAssembly
from .finite_elements import compiled
from .materials import Law
from .reduced_base import BadBase, ReducedBase, check_mass, check_modes, check_orthonormal, mismatch, orthonormal, rigid_fields
from .table import BodyTable, Form

DENSE_UNKNOWNS = 1500  # smaller problems are solved by a dense solver
ATTEMPTS = 3


def matrices(bodies: BodyTable, row: int):
    """Return the lumped mass (3n,) of the unknowns and stiffness, a scipy.sparse.csc_matrix (3n, 3n), of the body `row`.

    The stiffness is the tangent at the present displacement for form 'TL', that at rest for the others.
    """
    from scipy.sparse import coo_matrix  # slow to import

    fe = compiled(bodies)
    k = fe.number(row)
    assembly, displacement = fe.body_assembly(bodies, k)
    rows, columns, values = [], [], []
    for group, dense in zip(assembly.groups, assembly.element_stiffness(displacement)):
        nodes = group.from_lanes(group.node)
        dofs = (3 * nodes[:, :, None] + np.arange(3)).reshape(len(nodes), -1)
        rows.append(np.broadcast_to(dofs[:, :, None], (*dofs.shape, dofs.shape[1])).ravel())
        columns.append(np.broadcast_to(dofs[:, None, :], (*dofs.shape, dofs.shape[1])).ravel())
        values.append(group.from_lanes(dense).ravel())
    mass = np.repeat(fe.mass[fe.first[k] : fe.first[k + 1]], 3)
    entries = np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))
    stiffness = coo_matrix(entries, (len(mass), len(mass))).tocsc()
    return mass, (0.5 * (stiffness + stiffness.T)).tocsc()


def check_base(base: ReducedBase, mesh, material, form: Form, uniform: bool = True) -> None:
    """Raise BadBase, with the reason, unless a base suits a body that is being made.

    Parameters
    ----------
    mesh : FiniteElementMesh
    material : BulkMaterial
    form : Form
        'BC-MODAL' or 'BC-RO'.
    uniform : bool
        False: elements may still get other materials, so mass and eigenvalues of modes can only be checked later.
    """
    given, needed = base.vectors.shape[1], 3 * mesh.node_count
    if given != needed:
        raise BadBase(f"its vectors hold {given} numbers; the mesh has {mesh.node_count} nodes, which makes {needed}")
    if form == Form.BC_RO:
        check_orthonormal(base)
        return
    if not uniform:
        return
    count = len(mesh.sizes)
    table = np.where(used_slots(mesh.sizes), mesh.elements, 0)
    columns = np.tile(material.lame, (count, 1)), np.full(count, Law.LINEAR), mesh.own_points
    found = []
    for enhanced in (False, True):  # modes of enhanced hexahedra are valid, too
        if found and not any(BY_SIZE[size].takes_enhancement for size in unique(mesh.sizes).tolist()):
            break
        assembly = ElementAssembly(mesh.nodes.T, mesh.sizes, table, *columns, np.full(count, enhanced))
        if not found:
            mass = np.repeat(assembly.lumped_mass(np.full(count, material.density))[0], 3)
            check_mass(base, mass)
            check_modes(base, mass, mesh.nodes)
        found.append(mismatch(base, _quotients(assembly, base.vectors)))
        if not found[-1]:
            return
    raise BadBase(found[0])


def _quotients(assembly: ElementAssembly, vectors: np.ndarray) -> np.ndarray:
    """Return v.K v (k,) of vectors (k, 3n), at rest."""
    zero, force = (np.zeros((3, assembly.node_count), order="F") for _ in range(2))
    return np.array([
        v @ assembly.tangent_product(zero, np.asfortranarray(v.reshape(-1, 3).T), force).T.ravel() for v in vectors
    ])  # fmt: skip


def fingerprint(mass: np.ndarray, stiffness) -> np.ndarray:
    """Return M v and K v for a fixed v, (2, 3n): equal fingerprints mean equal matrices, up to rounding."""
    probe = np.random.default_rng(0).uniform(-1.0, 1.0, len(mass))
    return np.stack([mass * probe, stiffness @ probe])


def same_fingerprint(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether two fingerprints agree to rounding."""
    return one.shape == other.shape and bool(
        (np.abs(one - other).max(axis=1) <= 1e-9 * np.abs(one).max(axis=1)).all()
    )


def lowest_modes(
    mass: np.ndarray, stiffness, count: int, nodes: np.ndarray, tolerance: float = 1e-11, iterations: int = 100
) -> tuple[np.ndarray, np.ndarray]:
    """Return the `count` lowest eigenvalues (count,) and their modes (count, 3n), orthonormal in the norm of M.

    Rigid motions of the nodes (n, 3) that leave the body without forces come first, exactly: translations, then rotations
    about the mass centre.  The rest is found by Lanczos' method on the shifted inverse (dense below `DENSE_UNKNOWNS`
    unknowns), and the number of negative pivots shows whether a mode was missed.

    Raises
    ------
    SolfecError
        No convergence within the given number of restarts.
    """
    from scipy.sparse import diags

    root = np.sqrt(mass)
    scaled = (diags(1.0 / root) @ stiffness @ diags(1.0 / root)).tocsc()
    centre = (mass[::3, None] * nodes).sum(0) / mass[::3].sum()
    rigid = _without_force(scaled, orthonormal(rigid_fields(nodes, centre), mass) * root)[:count]
    wanted = count - len(rigid)
    values, modes = np.zeros(0), np.zeros((0, len(mass)))
    if wanted:
        if len(mass) <= DENSE_UNKNOWNS or count > len(mass) // 4:
            values, modes = _dense(scaled, rigid, wanted)
        else:
            values, modes = _sparse(scaled, rigid, wanted, tolerance, iterations)
    largest = np.abs(modes).argmax(1)
    modes = modes * np.sign(modes[np.arange(len(modes)), largest])[:, None]
    order = np.argsort(np.concatenate([np.zeros(len(rigid)), values]), kind="stable")
    return np.concatenate([np.zeros(len(rigid)), values])[order], (np.concatenate([rigid, modes]) / root)[order]


def _without_force(scaled, fields: np.ndarray) -> np.ndarray:
    """Return those of orthonormal fields (r, m) that the matrix maps to zero."""
    size = abs(scaled).sum(0).max()
    return fields[np.linalg.norm(scaled @ fields.T, axis=0) <= 1e-10 * size]


def _dense(scaled, rigid: np.ndarray, wanted: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the lowest modes besides the rigid ones, which are shifted to the upper end of the spectrum."""
    from scipy.linalg import eigh

    matrix = scaled.toarray() + (4.0 * abs(scaled).sum(0).max()) * (rigid.T @ rigid)
    values, modes = eigh(matrix, subset_by_index=(0, wanted - 1))
    return values, modes.T


def _sparse(scaled, rigid: np.ndarray, wanted: int, tolerance: float, iterations: int) -> tuple[np.ndarray, np.ndarray]:
    from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

    size = scaled.shape[0]
    shift = -1e-8 * scaled.diagonal().mean()
    factor = _factor(scaled, shift)
    while _negative_pivots(factor):  # a loaded body's tangent may be indefinite
        shift *= 100.0
        factor = _factor(scaled, shift)

    def project(x):
        return x - rigid.T @ (rigid @ x)

    operator = LinearOperator((size, size), lambda x: project(factor.solve(project(x.ravel()))), dtype=float)
    room = max(2 * wanted + 1, 20)
    for attempt in range(ATTEMPTS):
        start = project(np.random.default_rng(attempt).uniform(-1.0, 1.0, size))
        try:
            _, found = eigsh(
                operator, wanted, which="LA", v0=start, ncv=min(size - 1, room << attempt), maxiter=iterations, tol=tolerance
            )
        except ArpackError as error:
            raise SolfecError(
                f"the eigenvalue solver did not converge within {iterations} restarts; allow more by 'maxiter'"
            ) from error
        basis = np.linalg.qr(project(found))[0]
        values, turn = np.linalg.eigh(basis.T @ (scaled @ basis))
        below = values[-1] - 1e-6 * abs(values[-1])
        if _negative_pivots(_factor(scaled, below)) == (values < below).sum() + len(rigid) * (below > 0.0):
            return values, (basis @ turn).T
    raise SolfecError("the eigenvalue solver missed modes; ask for a few more of them by 'num'")


def _factor(scaled, shift: float):
    from scipy.sparse import identity
    from scipy.sparse.linalg import splu

    matrix = (scaled - shift * identity(scaled.shape[0], format="csc")).tocsc()
    return splu(matrix, "MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})


def _negative_pivots(factor) -> int:
    """Return the number of negative eigenvalues of a factorised symmetric matrix (Sylvester's law)."""
    return int((factor.U.diagonal() < 0.0).sum())
