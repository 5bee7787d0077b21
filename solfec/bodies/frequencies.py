"""The highest frequency of a finite element body, for its critical time step.

At rest it is the largest eigenvalue of M^-1 K, M the lumped mass, by Lanczos' method.  Under a strain E the tangent of the
St Venant-Kirchhoff material obeys, with F = R U, v = R w, and e the largest Frobenius norm of E,

    v.K v = integral of |sym(U grad w)|_C**2 + grad w.S grad w <= (omega_0 + 2 e sqrt(c gamma))**2 + s e gamma

for w.M w = 1: c = 3 lambda + 2 mu and s = sqrt(3) lambda + 2 mu bound the material, |U - I| <= 2 e, and gamma, the largest
eigenvalue of M^-1 L with the Laplacian L, is bounded by those of the elements.  So one number per body and step is enough.
This is cheap and never gives too high a step, but under large strains it gives a far too low one, above all in compression,
which softens the body.  If it would lower the step, `present_squares` iterates with the tangent itself.

Lanczos' method takes as long as dozens of steps.  Since omega_0**2 <= c gamma, and gamma is at most the largest sum of the moduli in a row of
M^-1 L, it is used only for bodies that this does not prove to be stable at the present step.

Enhanced strains only soften a body.  For the Neo-Hookean material the elements give a modulus m with v.K v <= m gamma.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from .. import _kernels
from ..element_types import used_slots
from ..tables import unique
from .element_assembly import LANES, ElementAssembly
from .materials import Law

_laplacian_rows = _kernels.element_tangents.laplacian_rows

DENSE_BELOW = 40  # unknowns
TOLERANCE = 1e-6  # relative residual of an eigenvector; the error of its eigenvalue is of second order in it
MOST, LOOK = 500, 10  # products for one eigenvalue, and number of products between tests
PRODUCTS = 8  # products with the tangent in the short iteration; in all tested meshes it finds at least 0.92 of the largest eigenvalue
AT_ONCE = 64  # blocks of elements whose Laplacians are made together: what they pass through takes three times the memory of all else about a mesh
SHORT = 1.1  # factor on its result: half of the stability limit leaves room for four times omega**2


def largest_frequency(mesh, lame: np.ndarray, density: np.ndarray, made: ElementAssembly | None = None) -> tuple[float, float]:
    """Return omega_0**2 and gamma [1/time**2, 1/mass length] of a FiniteElementMesh, and keep them with the mesh.

    Lame's constants are (ne, 2) and densities (ne,) numbers of its elements.  `made` are these elements, in one group, if there are some already: others would
    take half of the memory of a large model.
    """
    known, key = getattr(mesh, "_frequencies", None), (lame.tobytes(), density.tobytes())
    if known is not None and known[0] == key:
        return known[1]
    if made is None:
        table = np.where(used_slots(mesh.sizes), mesh.elements, 0)
        made = ElementAssembly(mesh.nodes.T, mesh.sizes, table, lame, np.full(len(mesh.sizes), Law.LINEAR), mesh.own_points)
    with linear(made):
        found = _frequency(made, density)
    mesh._frequencies = (key, found)
    return found


@contextmanager
def linear(assembly: ElementAssembly) -> Iterator[None]:
    """Give elements the stiffness at zero displacement meanwhile."""
    laws = [group.law for group in assembly.groups]
    try:
        for group in assembly.groups:
            group.law = int(Law.LINEAR)
        yield
    finally:
        for group, law in zip(assembly.groups, laws):
            group.law = law


def _frequency(assembly: ElementAssembly, density: np.ndarray) -> tuple[float, float]:
    """Return omega_0**2 and gamma of linear elements."""
    nodes = assembly.node_count
    mass, _ = assembly.lumped_mass(density)
    root = 1.0 / np.sqrt(mass)
    zero, result = np.zeros((3, nodes), order="F"), np.zeros((3, nodes), order="F")

    def apply(x):
        direction = np.asfortranarray(x.reshape(3, -1, order="F") * root)
        return (assembly.tangent_product(zero, direction, result) * root).ravel(order="F")

    size = 3 * nodes
    if size < DENSE_BELOW:
        square = np.linalg.eigvalsh(np.column_stack([apply(column) for column in np.eye(size)]))[-1]
    else:
        square = largest_eigenvalue(apply, _start(assembly.reference, np.array([0, nodes])).ravel(order="F"))
    return float(square), laplacian_bound(assembly, density)


def _start(places: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """Return irregular vectors (3, n) of nodes at `places` (3, n), which turn with their bodies, as do eigenvectors.

    Eigenvalues that a few steps of Lanczos' method find depend on where it starts: from numbers along the axes of space they, and with them the step of
    a run, would be others for a model that is turned, or mirrored.

    Parameters
    ----------
    ends : (number of bodies + 1,) array
        The nodes of body k are those from ``ends[k]`` to ``ends[k + 1]``.
    """
    counts, first = np.diff(ends), ends[:-1]
    owner = np.repeat(np.arange(len(counts)), counts)
    golden = np.array([[0.6180339887498949], [0.7548776662466927], [0.5698402909980532]])
    numbers = (golden * (np.arange(ends[-1]) - first[owner] + 1.0)) % 1.0 - 0.5
    from_centre = places - (np.add.reduceat(places, first, axis=1) / counts)[:, owner]
    moments = np.add.reduceat(from_centre[:, None] * numbers, first, axis=2)  # three vectors per body, as irregular as the numbers
    axes, sides = np.linalg.qr(np.moveaxis(moments, 2, 0))
    axes = np.where(np.einsum("bkk->bk", sides)[:, None] < 0.0, -axes, axes)  # so that the axes are unique, and turn with the vectors
    return np.einsum("nik,kn->in", axes[owner], numbers)


def largest_eigenvalue(apply, start: np.ndarray) -> float:
    """Largest eigenvalue of a symmetric operator, ``apply (vector)``, by Lanczos' method from a vector `start`.

    Its relative error is at most `TOLERANCE`, and far smaller unless the largest eigenvalues are nearly equal.  There are no
    restarts and no reorthogonalisation, which take longer than the products with large meshes (ARPACK: 5 s of 8 for 27 000 hexahedra): the
    copies of eigenvalues that round-off produces do not change the largest one.
    """
    size, before = len(start), np.zeros(len(start))
    vector = start / np.sqrt((start**2).sum())
    band, off, value = np.zeros((MOST, MOST)), 0.0, 0.0
    for k in range(min(size, MOST)):
        following = apply(vector) - off * before
        along = (following * vector).sum()
        following -= along * vector
        off = np.sqrt((following**2).sum())
        band[k, k] = along
        if k % LOOK == LOOK - 1 or k + 1 in (size, MOST) or off <= 1e-14 * along:
            values, vectors = np.linalg.eigh(band[: k + 1, : k + 1])
            value, residual = float(values[-1]), float(off * abs(vectors[-1, -1]))
            if residual <= TOLERANCE * value:
                return value
        if k + 1 < MOST:
            band[k, k + 1] = band[k + 1, k] = off
        before, vector = vector, following / off
    return value + residual


@np.errstate(over="ignore", invalid="ignore")
def present_squares(fe) -> np.ndarray:
    """Return omega**2 (count,) of all finite element bodies at the present displacements, by a few steps of Lanczos' method for all at once.

    Calls and bodies are independent of each other, so continued runs and other numbers of threads have the same bits.

    Parameters
    ----------
    fe : FiniteElements
    """
    first, root = fe.first[:-1], 1.0 / np.sqrt(fe.mass)
    owner = np.repeat(np.arange(fe.count), np.diff(fe.first))
    vector = _start(fe.assembly.reference + fe.displacement, fe.first)
    before = np.zeros_like(vector)
    vector /= _norms(vector, first)[owner]
    off, bands = np.zeros(fe.count), np.zeros((fe.count, PRODUCTS, PRODUCTS))
    product, direction = np.zeros_like(vector, order="F"), np.zeros_like(vector, order="F")
    for k in range(PRODUCTS):
        direction[:] = vector * root
        following = fe.assembly.tangent_product(fe.displacement, direction, product) * root
        along = np.add.reduceat((following * vector).sum(0), first)
        following -= along[owner] * vector + off[owner] * before
        off = _norms(following, first)
        bands[:, k, k] = along
        if k + 1 < PRODUCTS:
            bands[:, k, k + 1] = bands[:, k + 1, k] = off
        before, vector = vector, following / np.where(off > 0.0, off, 1.0)[owner]
    lost = ~np.isfinite(bands).all((1, 2))  # elements that have flown apart beyond the squares of numbers: the bound counts
    bands[lost] = 0.0
    return np.where(lost, np.inf, SHORT * np.linalg.eigvalsh(bands)[:, -1])


def _norms(vector: np.ndarray, first: np.ndarray) -> np.ndarray:
    """Return lengths of the parts of (3, n) that start at `first`."""
    return np.sqrt(np.add.reduceat((vector**2).sum(0), first))


def laplacian_bound(assembly: ElementAssembly, density: np.ndarray) -> float:
    """Return the largest eigenvalue of the elements' own M^-1 L, which bounds that of their assembly."""
    largest = 0.0
    for g in assembly.groups:
        some = (_laplacians(g, slice(first, first + AT_ONCE)) for first in range(0, g.blocks, AT_ONCE))
        mass, _ = g.lumps(assembly.reference, density[g.numbers])
        elements = unique(g.numbers)
        if len(elements) < g.count:  # elements around a shape have several rows
            laplacian = np.concatenate(list(some))[: g.count]
            laplacian, mass = (g.total(values, assembly.element_count)[elements] for values in (laplacian, mass))
            some = (laplacian,)
        at = 0
        for laplacian in some:
            root = 1.0 / np.sqrt(mass[at : at + len(laplacian)])
            scaled = laplacian[: len(root)] * root[:, :, None] * root[:, None, :]  # lanes left over repeat the last element
            largest = max(largest, float(np.linalg.eigvalsh(scaled)[:, -1].max()))
            at += len(laplacian)
    return largest


def _laplacians(group, blocks: slice) -> np.ndarray:
    """Return L (ne, size, size) of the elements in some blocks of a group."""
    gradient, weight = (group.from_lanes(values) for values in (group.shape_gradients(blocks), group.weight[..., blocks]))  # (ne, 3, size, points), (ne, points)
    return np.einsum("eiaq,eibq,eq->eab", gradient, gradient, weight, optimize=True)


def laplacian_row_bounds(assembly: ElementAssembly, mass: np.ndarray, element: int = 0, node: int = 0) -> np.ndarray:
    """Return sums (n,) of the moduli in the rows of M^-1 L of nodes, element by element; the largest one of a body bounds gamma.

    The nodes are those from number `node` on, of bodies whose elements are those from number `element` on; nodes without elements get zero.
    """
    total = np.zeros(assembly.node_count - node)
    for g in assembly.groups:
        lane = int(np.searchsorted(g.numbers, element))
        if lane == g.count:
            continue
        blocks = slice(lane // LANES, None)
        rows = np.zeros((LANES, g.size, g.blocks - blocks.start), order="F")
        _laplacian_rows(g.gradient[..., blocks], g.weight[..., blocks], rows)
        at, values = (np.moveaxis(array, -1, 0).ravel() for array in (g.node[..., blocks], rows))
        mine = at >= node  # lanes of the first block may belong to bodies before
        total += np.bincount(at[mine] - node, values[mine], len(total))
    return total / mass[node:]


def highest_element(assembly: ElementAssembly, density: np.ndarray) -> int:
    """Return the number of the element whose own M^-1 K at rest has the largest eigenvalue."""
    found = np.zeros(assembly.element_count)
    zero = np.zeros((3, assembly.node_count), order="F")
    for g, dense in zip(assembly.groups, assembly.element_stiffness(zero)):
        stiffness = g.total(g.from_lanes(dense), assembly.element_count)
        mass = g.total(g.lumps(assembly.reference, density[g.numbers])[0], assembly.element_count)
        which = unique(g.numbers)
        root = 1.0 / np.sqrt(np.repeat(mass[which], 3, axis=1))
        found[which] = np.linalg.eigvalsh(root[:, :, None] * stiffness[which] * root[:, None, :])[:, -1]
    return int(np.argmax(found))
