"""MODAL_ANALYSIS, bases of reduced bodies and exported matrices (docs/modes.md, Modes and reduced bodies)."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np

from ..bodies import modal, reduced_base
from ..bodies.reduced_base import ReducedBase
from ..bodies.table import BodyKind
from ..errors import SolfecError
from ..results import modal_file
from . import checks, session
from .bodies import BODY, base_of, body_of
from .checks import BadType, BadValue, command
from .handles import simulation_of
from .hints import Base, Numbers, Switch
from .model import SOLFEC
from .written import writes, writing


@command("MODAL_ANALYSIS")
def MODAL_ANALYSIS(
    body: BODY | None = None, num: int | None = None, path: str | None = None, abstol: float = 1e-11, maxiter: int = 100, verbose: Switch = "OFF"
) -> tuple[list[float], list[float]]:
    """Lowest natural frequencies and modes of a finite element body, kept in a file.

    Parameters
    ----------
    body : BODY
        Finite element body; left out, results are read from `path`.
    num : int
        Number of modes, rigid ones included; by default that of the file at `path`.
    path : str
        File, to which '.h5' is appended.  Existing results of this body with `num` modes are used.
    abstol : float
        Relative tolerance of the eigenvalue solver.
    maxiter : int
        Largest number of its restarts.
    verbose : str
        'ON' prints the results.

    Returns
    -------
    tuple
        Eigenvalues omega**2 [radian**2/time**2], and concatenated eigenvectors, orthonormal in the mass norm.
    """
    path = None if path is None else checks.path(path, "path")
    abstol, maxiter = checks.positive(abstol, "abstol"), checks.integer(maxiter, "maxiter", minimum=1)
    verbose = checks.switch(verbose, "verbose")
    if body is None:
        if path is None:
            raise BadType("'body' and 'num' are needed, or a 'path' to read from")
        return _read(path, None if num is None else checks.integer(num, "num", minimum=1))
    body = _element_body(body)
    if num is None and (path is None or not os.path.isfile(path + ".h5")):
        raise BadType("'num' is needed, the number of modes" + ("" if path is None else f"; there is no file '{path}.h5' that tells it"))
    num = _count(path) if num is None else checks.integer(num, "num", minimum=1)
    bodies, row = body._simulation.domain.bodies, body._row
    mass, stiffness = modal.matrices(bodies, row)
    if num > len(mass):
        raise BadValue(f"'num' is {num}, but the body has {len(mass)} degrees of freedom only")
    base = _kept(path, num, mass, stiffness)
    if base is None:
        base = _computed(body, num, mass, stiffness, abstol, maxiter)
        if path is not None:
            _write(path, base, modal.fingerprint(mass, stiffness))
    if verbose:
        _print(base, mass, stiffness)
    return base.values.tolist(), base.vectors.ravel().tolist()


def _element_body(body) -> BODY:
    body = body_of(body, "body")
    if body._kind != BodyKind.FINITE_ELEMENT:
        raise BadValue(f"'body' {body.id} is of kind {body.kind}; only finite element bodies have nodes and matrices")
    return body


def _count(path: str) -> int:
    """Number of modes in a file."""
    try:
        return modal_file.read(path + ".h5")[0].mode_count
    except SolfecError as error:
        raise BadValue(f"'path': {error}") from None


def _read(path: str, num: int | None) -> tuple[list, list]:
    if not os.path.isfile(path + ".h5"):
        raise BadValue(f"'path': there is no file '{path}.h5' to read from; give 'body' and 'num' to make it")
    try:
        base, _ = modal_file.read(path + ".h5")
    except SolfecError as error:
        raise BadValue(f"'path': {error}") from None
    if num not in (None, base.mode_count):
        raise BadValue(f"'num' is {num}, but '{path}.h5' holds {base.mode_count} modes")
    return base.values.tolist(), base.vectors.ravel().tolist()


def _kept(path: str | None, num: int, mass, stiffness) -> ReducedBase | None:
    """Return the modes in the file, if their number and their matrices match."""
    if path is None or not os.path.isfile(path + ".h5"):
        return None
    try:
        base, fingerprint = modal_file.read(path + ".h5")
    except SolfecError as error:
        raise BadValue(f"'path': {error}; remove it to have it made again") from None
    if base.mode_count != num:
        return None
    if not modal.same_fingerprint(modal.fingerprint(mass, stiffness), fingerprint):
        session.warn(f"MODAL_ANALYSIS: '{path}.h5' is of another mesh, material or displacement; the modes are computed again")
        return None
    return base


def _computed(body: BODY, num: int, mass, stiffness, abstol: float, maxiter: int) -> ReducedBase:
    domain, row = body._simulation.domain, body._row
    nodes = domain.bodies.meshes[body._id].nodes
    if body.form == "TL":
        nodes = nodes + domain.bodies.configurations.conf[:, domain.bodies.conf_slice(row)].T
    try:
        values, vectors = modal.lowest_modes(mass, stiffness, num, nodes, abstol, maxiter)
    except SolfecError as error:
        raise BadValue(f"{domain.bodies.name(body.id)}: {error}") from None
    return ReducedBase(values, vectors)


def _write(path: str, base: ReducedBase, fingerprint: np.ndarray) -> None:
    if session.current().checked is not None:
        return
    with writing(path + ".h5"):
        modal_file.write(path + ".h5", base, fingerprint)


def _print(base: ReducedBase, mass, stiffness) -> None:
    force, inertia = stiffness @ base.vectors.T, mass[:, None] * base.vectors.T * base.values
    residual = np.linalg.norm(force - inertia, axis=0) / abs(stiffness).sum(0).max()
    print("mode      eigenvalue       frequency    residual")
    for number, (value, rest) in enumerate(zip(base.values, residual)):
        print(f"{number + 1:4d} {value:15.8g} {np.sqrt(max(value, 0.0)) / (2 * np.pi):15.8g} {rest:11.1e}")


@command("REGISTER_BASE")
def REGISTER_BASE(solfec: SOLFEC, base: Base, label: str) -> None:
    """Register a base, so that bodies created with its label share it.

    Parameters
    ----------
    solfec : SOLFEC
    base : tuple
        (eigenvalues, concatenated vectors).
    label : str
        A label not in use.
    """
    simulation = simulation_of(solfec)
    label = checks.string(label, "label")
    if label in simulation.bases:
        raise BadValue(f"'label': a base is registered as {label!r} already")
    if isinstance(base, str):
        raise BadType("'base' must be a tuple (values, vectors), not a label")
    simulation.bases[label] = base_of(base, "base", simulation)


@command("RIGID_DISPLACEMENTS")
def RIGID_DISPLACEMENTS(body: BODY) -> list[list[float]]:
    """Six rigid displacements of unit length: translations along and rotations about axes through the mass centre.

    Parameters
    ----------
    body : BODY
        Finite element body.

    Returns
    -------
    list of 6 lists
        Three translations and three rotations, 3 numbers per node.
    """
    body = _element_body(body)
    bodies = body._simulation.domain.bodies
    return reduced_base.rigid_displacements(bodies.meshes[body._id].nodes, bodies.centre[:, body._row]).tolist()


@command("COROTATED_DISPLACEMENTS")
def COROTATED_DISPLACEMENTS(
    solfec: SOLFEC, subset: str | int | BODY | Sequence, sampling: Sequence[float] | float | None = None
) -> list[list[float]]:
    """Take snapshots of nodal displacements without the rotations of bodies: R^T x - X.

    Parameters
    ----------
    solfec : SOLFEC
    subset
        Finite element bodies with equal numbers of nodes: a BODY, an identifier, a POSIX basic regular expression for labels,
        a box (xlow, ylow, zlow, xhigh, yhigh, zhigh) that bodies overlap at present, or a list of any of these.
    sampling : list or float, optional
        Instants, or the interval between snapshots; by default that of frames.

    Returns
    -------
    list
        Empty; RUN, or FORWARD with its flag, fills it with a list of 3 numbers per node for every body and instant.
    """
    simulation = simulation_of(solfec)
    identifiers = _subset(subset, simulation)
    if sampling is not None and checks.is_sequence(sampling):
        sampling = checks.numbers(sampling, "sampling", minimum=1).tolist()
    elif sampling is not None:
        sampling = checks.positive(sampling, "sampling")
    return simulation.sample(identifiers, sampling)


def _subset(subset, simulation) -> list[int]:
    """Return identifiers of the bodies of a `subset` argument, in its order, each once."""
    domain = simulation.domain
    simulation.load_first()
    mixed = isinstance(subset, list)
    found: dict[int, None] = {}
    for k, item in enumerate(subset if mixed else [subset]):
        name = f"subset[{k}]" if mixed else "subset"
        chosen = _chosen(item, name, simulation)
        if not chosen:
            raise BadValue(f"'{name}' selects no body: {item!r}")
        found.update(dict.fromkeys(chosen))
    if not found:
        raise BadValue("'subset' must not be empty")
    bodies = domain.bodies
    rows = [domain.body_row(identifier) for identifier in found]
    for identifier, row in zip(found, rows):
        if bodies.kind[row] != BodyKind.FINITE_ELEMENT:
            raise BadValue(f"'subset': body {identifier} is of kind {BodyKind(int(bodies.kind[row])).name}, not FINITE_ELEMENT")
        if bodies.node_count[row] != bodies.node_count[rows[0]]:
            raise BadValue(
                f"'subset': body {identifier} has {bodies.node_count[row]} nodes, body {next(iter(found))} has "
                f"{bodies.node_count[rows[0]]}; they must have equally many"
            )
    return list(found)


def _chosen(item, name: str, simulation) -> list[int]:
    """Return bodies of one item of a `subset`."""
    domain = simulation.domain
    if isinstance(item, BODY):
        if item._simulation is not simulation:
            raise BadValue(f"'{name}' belongs to another SOLFEC object")
        return [body_of(item, name).id]
    if isinstance(item, str):
        wanted = checks.pattern(item, name)
        return sorted(body for body, label in domain.body_labels.items() if wanted.search(label))
    if checks.is_sequence(item):
        box = np.array(checks.vector(item, name, 6))
        domain.states.update_shapes()
        extents = domain.bodies.view("extents")
        overlapping = (extents[:3] <= box[3:, None]).all(0) & (extents[3:] >= box[:3, None]).all(0)
        elements = domain.bodies.view("kind") == BodyKind.FINITE_ELEMENT
        return domain.bodies.view("id")[overlapping & elements].tolist()
    identifier = checks.integer(item, name)
    try:
        domain.body_row(identifier)
    except KeyError:
        raise BadValue(f"'{name}': there is no body {identifier}") from None
    return [identifier]


@command("BODY_MM_EXPORT")
@writes
def BODY_MM_EXPORT(body: BODY, pathM: str, pathK: str, spdM: Switch = "ON", spdK: Switch = "ON") -> None:
    """Write the matrices of a finite element body in the Matrix Market format.

    Parameters
    ----------
    body : BODY
        Finite element body.
    pathM, pathK : str
        Files of the lumped mass and the stiffness; the latter is the tangent at present for the form 'TL', else that at rest.
    spdM, spdK : str
        'ON': the lower triangle, declared symmetric; 'OFF': all entries.
    """
    body = _element_body(body)
    paths = checks.path(pathM, "pathM"), checks.path(pathK, "pathK")
    halves = checks.switch(spdM, "spdM"), checks.switch(spdK, "spdK")
    mass, stiffness = modal.matrices(body._simulation.domain.bodies, body._row)
    for name, path, half, matrix in zip(("pathM", "pathK"), paths, halves, (mass, stiffness)):
        with writing(path, name):
            modal_file.write_matrix_market(path, matrix, half)


@command("POD_BASE")
def POD_BASE(body: BODY, snapshots: Sequence[Numbers], num: int | None = None, tolerance: float = 1e-8) -> tuple[list[float], list[float]]:
    """Compute a base for the form 'BC-RO' by proper orthogonal decomposition of displacements.  Not in Solfec-1.0.

    Parameters
    ----------
    body : BODY
        Finite element body.
    snapshots : list of lists
        Displacements of its nodes, e.g. from COROTATED_DISPLACEMENTS; rigid displacements are not needed.
    num : int
        Number of vectors, including the six rigid ones, which come first.
    tolerance : float
        Without `num`: part of the snapshots' sum of squares, without rigid displacements, that may be lost.

    Returns
    -------
    tuple
        Squared singular values (zeros for rigid displacements), and concatenated orthonormal vectors.
    """
    body = _element_body(body)
    bodies = body._simulation.domain.bodies
    nodes = bodies.meshes[body._id].nodes
    rows = [checks.numbers(item, f"snapshots[{i}]") for i, item in enumerate(checks.sequence(snapshots, "snapshots"))]
    if not rows:
        raise BadValue("'snapshots' must hold at least one displacement")
    for i, row in enumerate(rows):
        if len(row) != nodes.size:
            raise BadValue(f"'snapshots[{i}]' must hold 3 numbers for each of the body's {len(nodes)} nodes, it holds {len(row)}")
    num = None if num is None else checks.integer(num, "num", minimum=6)
    tolerance = checks.between(tolerance, "tolerance", 0.0, 1.0)
    rigid = reduced_base.rigid_displacements(nodes, bodies.centre[:, body._row])
    try:
        base = reduced_base.decompose(rigid, np.array(rows), num, tolerance)
    except SolfecError as error:
        raise BadValue(str(error)) from None
    return base.values.tolist(), base.vectors.ravel().tolist()
