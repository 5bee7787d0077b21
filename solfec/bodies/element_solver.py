"""Solutions with A = M + beta K of linearly implicit finite element bodies (docs/theory.md, Time integration).

Where bodies of form 'TL' have damping, K contains a share of the stress's own stiffness (`stress_share`).

All bodies of one form share one block-diagonal matrix, so a factorisation or a solution is one call for all of
them.  For form 'BC' K is the stiffness at rest in the bodies' frames, and the factor of A is kept while step, damping and
bodies stay (small bodies of this form are in `small_bodies`).  For form 'TL' K is the tangent of the present step, but A is not factorised in every step: a factor of an earlier
step, rotated with the bodies, preconditions conjugate gradients, which apply A element by element.  When the iterations
beyond those of the factor's first solution have cost as much as a factorisation, or W of the last step had so many right-hand sides that
it pays for a factor, the next step factorises, before its free velocity.  Counts decide this, never clocks; `Memory` is the state from
which a continued run gets the same bits.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .. import _kernels
from ..tables import Record, pointers_of
from .conjugate_gradients import ConjugateGradients, NoConvergence
from .factorisation import Cholesky, LowerPattern, NotPositiveDefinite, SuperLU, indefinite_blocks
from .table import BodyTable

LANES = 8
LEAST_PRODUCTS = 2  # of conjugate gradients with the factor of an earlier step

_assemble_matrix = _kernels.element_tangents.assemble_matrix
_take_nodes = _kernels.nodal_vectors.take_nodes
_take_rotations = _kernels.nodal_vectors.take_rotations
_collect = _kernels.nodal_vectors.collect
_add_unknowns = _kernels.nodal_vectors.add_unknowns


def stiffness_weight(damping: np.ndarray, step: float, dynamic: bool) -> np.ndarray:
    """Return beta (n,) of A = M + beta K: eta h/2 + h**2/4, or h**2 in quasi-statics, which have no damping."""
    if not dynamic:
        return np.full(len(damping), step**2)
    return 0.5 * damping * step + 0.25 * step**2


def stress_share(damping: np.ndarray, step: float, dynamic: bool) -> np.ndarray | None:
    """Return the share (n,) of the stress in K that gives it the weight h**2/4 in beta K, since damping acts on rates of strain; None: all of it."""
    if not dynamic or not damping.any():
        return None
    return step / (step + 2.0 * damping)


def step_key(bodies: BodyTable, rows: np.ndarray, step: float, dynamic: bool) -> tuple:
    """Key of everything besides displacements, masses and materials on which A depends."""
    return step, dynamic, bodies.damping[rows].tobytes()


@dataclass
class Memory:
    """State of a solver of form 'TL' on which the next step depends, besides the state of bodies.

    Attributes
    ----------
    displacement : ndarray (3, n)
        Displacements of the solver's nodes at which its factor was made.
    fewest : int
        Products with A in the first step after that; 0: there was none yet.
    spent : int
        Products beyond these since then, or the worth of a factorisation, which the next step makes.
    pivoted : bool
        Whether A once had no Cholesky factor, so that SuperLU is used since.
    """

    displacement: np.ndarray
    fewest: int = 0
    spent: int = 0
    pivoted: bool = False


class ElementSolver(Record):
    """Matrix A of the implicit finite element bodies of one form, and its solutions.

    Attributes
    ----------
    nodes : ndarray (n,)
        The bodies' nodes among those of all bodies.
    made : ndarray (3, n)
        Displacements at which the factor of form 'TL' was made.
    known, fresh : bool
        For form 'TL': whether there is a factor, and whether it belongs to A of the present step.
    factorisations : int
        Factorisations so far, by which others see that A has changed.
    products : int
        Products with A in this step, at most for one right-hand side.
    fewest, spent : int
        Products in the first step of the factor (0: there was none yet), and products beyond these since then.
    shares : list of ndarray (8, blocks) or None
        Of the stress in K, for each group of elements (`stress_share`).
    newton : energy_momentum.NewtonIterations or None
        Iterations of bodies that conserve energy, if there are any.
    supports : support_stiffness.SupportStiffness or None
        Supports in A, for quasi-statics and form 'TL'.
    unstable : list of int
        For quasi-statics: bodies, numbered within `rows`, whose A was the first that was not positive definite.
    """

    COLUMNS = {
        "rows": ((), "i4"),  # of bodies: rows of the body table, ascending
        "number": ((), "i4"),  # number among all finite element bodies
        "dof_first": ((), "i4"),  # start of the unknowns
        "beta": ((), "f8"),  # weight of K in A [time**2]
        "rotation": ((3, 3), "f8"),  # from the frame of the unknowns to space, at the last `refresh`
        "node": ((), "i4"),  # of nodes: number among those of all bodies
        "owner": ((), "i4"),  # number of the body in `rows`
        "mass": ((), "f8"),  # lumped
        "unknowns": ((3,), "f8"),  # right-hand sides
        "matrix_start": ((), "i4"),  # of the columns of A: start of their entries, and the number of all
        "matrix_row": ((), "i4"),  # of entries of the lower triangle of A: rows, ascending within a column
        "values": ((), "f8"),  # these entries
    }

    def __init__(self, fe, which: np.ndarray):
        super().__init__()
        self.fe, self.which = fe, which
        sizes = np.diff(fe.first)[which]
        self.nodes = fe.nodes_and_elements(which)[0]
        self.size = 3 * len(self.nodes)
        self.linear = bool(fe.linear[which[0]])
        everything = len(self.nodes) == len(fe.mass)
        self.assembly = fe.assembly if everything else fe.part(fe.assembly, which)
        self._seen = np.zeros((3, len(self.nodes)), order="F")
        self.replace(
            rows=fe.rows[which].astype(np.int32),
            number=which.astype(np.int32),
            dof_first=(3 * (np.cumsum(sizes) - sizes)).astype(np.int32),
            beta=np.zeros(len(which)),
            rotation=fe.rotation if len(which) == fe.count else np.zeros((3, 3, len(which)), order="F"),
            node=self.nodes.astype(np.int32),
            owner=np.repeat(np.arange(len(which), dtype=np.int32), sizes),
            mass=fe.mass[self.nodes],
            unknowns=np.zeros((3, len(self.nodes)), order="F"),
        )
        self.key = self.newton = self.supports = self.shares = None
        self.unstable: list[int] = []
        self.direct = False
        self.made = np.zeros((3, len(self.nodes)), order="F")
        self.known = self.fresh = False
        self.factorisations = self.products = self.fewest = self.spent = 0
        if not self.linear:
            starts = np.append(self.dof_first // 3, len(self.nodes)).astype(np.int32)
            places = fe.reference[:, self.nodes], fe.normal[:, self.nodes]
            self.gradients = ConjugateGradients(self.assembly, self.mass, starts, *places)
        self._lay_out()

    def _lay_out(self) -> None:
        """Compute the pattern of K: its blocks, of pairs of nodes, and for each the blocks of the elements' matrices that are its parts."""
        key, parts = self._node_pairs()
        order = np.argsort(key, kind="stable")
        key = key[order]
        start = np.flatnonzero(np.concatenate(([True], key[1:] != key[:-1])))  # of equal pairs
        column, row = np.divmod(key[start], len(self.nodes))
        begin = np.searchsorted(column, np.arange(len(self.nodes) + 1))
        indptr = pointers_of(3 * np.diff(begin)[:, None] - np.arange(3))  # below the diagonal the columns of a node get shorter
        indices = np.empty(indptr[-1], np.int32)
        within = 3 * (np.arange(len(column)) - begin[column])
        for i, j in np.ndindex(3, 3):
            has = slice(None) if i >= j else row > column
            indices[(indptr[3 * column + j] + within + i - j)[has]] = 3 * row[has] + i
        self.begin, self.first = begin.astype(np.int32), np.append(start, len(key)).astype(np.int32)
        self.parts = np.asfortranarray(parts[:, order].astype(np.int32))
        self.pattern = LowerPattern(self.size, indptr.astype(np.int32), indices, 3)
        self.factor = None

    def _node_pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """Return all pairs of nodes of one element, row not before column, and their blocks in the upper triangles of the elements' matrices.

        The first value (n,) ascends by columns and then by rows; the second (3, n) has what the kernel `assemble_matrix` calls parts.
        """
        keys, parts = [], []
        ends = np.cumsum([0, *(LANES * (3 * g.size) ** 2 * g.blocks for g in self.assembly.groups)])
        for g, start in zip(self.assembly.groups, ends):
            width = 3 * g.size
            nodes = g.from_lanes(g.node)
            element, a, b = np.nonzero(nodes[:, :, None] >= nodes[:, None, :])
            keys.append(nodes[element, b].astype(np.int64) * len(self.nodes) + nodes[element, a])
            base = start + element % LANES + LANES * width**2 * (element // LANES)
            steps = LANES * np.where(a < b, [[1], [width]], [[width], [1]])  # below the diagonal of the element's matrix: transposed
            parts.append((base + 3 * LANES * (np.minimum(a, b) + width * np.maximum(a, b)), *steps))
        return np.concatenate(keys), np.concatenate(parts, axis=1)

    # --- the matrix ----------------------------------------------------------------------------------------

    def refresh(self, bodies: BodyTable, step: float, dynamic: bool = True) -> None:
        """Prepare solutions of this step; `fe.displacement` must not change until the last of them."""
        fe = self.fe
        if self.rotation is not fe.rotation:
            _take_rotations(self.number, fe.rotation, self.rotation)
        self.settle(bodies, step, dynamic)
        if self.linear:
            return
        if self.supports:
            self.supports.make_room()
        now = self.present
        self.products = 0
        self.fresh = self.direct or not self.known or self.spent >= self.factor.WORTH
        if self.fresh:
            self._make_factor()
        else:
            self.gradients.follow(self.made, now)

    def settle(self, bodies: BodyTable, step: float, dynamic: bool) -> None:
        """Apply a step and damping: set beta and invalidate factors that depend on them."""
        key = step_key(bodies, self.rows, step, dynamic)
        changed = key != self.key
        if changed:
            self.beta[:] = stiffness_weight(bodies.damping[self.rows], step, dynamic)
            share = None if self.linear else stress_share(bodies.damping[self.rows], step, dynamic)
            self.shares = None if share is None else [np.asfortranarray(share[self.owner[g.node[:, 0]]]) for g in self.assembly.groups]
            self.key = key
        if self.linear:
            if changed:
                self._factorise(self.present)
            return
        self.make_room()
        if changed:
            self.memory = None
        # reactions of a quasi-static step cancel rigid motions that are far larger than the result: solutions from different
        # factors would let held points creep
        self.direct = not dynamic
        fe = self.fe
        if fe.recalled is not None:  # take the state of the solver of the run that is continued
            _, known, memory = fe.recalled
            fe.recalled = None
            if memory.pivoted:
                self.factor = SuperLU(self.pattern)
            if key == known and memory.displacement.shape[1] == len(self.nodes):
                self._factorise(memory.displacement)
                self.memory = memory

    @property
    def memory(self) -> Memory | None:
        """State for a continued run; None: the next step factorises."""
        return Memory(self.made.copy(order="F"), self.fewest, self.spent, isinstance(self.factor, SuperLU)) if self.known else None

    @memory.setter
    def memory(self, memory: Memory | None) -> None:
        self.known = memory is not None
        if memory is not None:
            self.made[:] = memory.displacement
            self.fewest, self.spent = memory.fewest, memory.spent
            self.gradients.forget_turn()

    @property
    def present(self) -> np.ndarray:
        """Return the displacements (3, n) of this step's A, always in the same memory."""
        if self.assembly is self.fe.assembly:
            return self.fe.displacement
        _take_nodes(self.node, self.fe.displacement, self._seen)
        return self._seen

    @property
    def displacement(self) -> np.ndarray:
        """Memory of the displacements of `present`."""
        return self.fe.displacement if self.assembly is self.fe.assembly else self._seen

    def make_room(self) -> None:
        """Allocate the arrays of a factor at its first use."""
        if self.factor is None:
            self.factor = Cholesky(self.pattern)
            pattern = self.pattern
            self.replace(matrix_start=pattern.indptr, matrix_row=pattern.indices, values=np.zeros(len(pattern.indices)))
            self.flat, self.dense = self.assembly.stiffness_room()

    def _factorise(self, displacement: np.ndarray) -> None:
        self.make_room()
        self.factorisations += 1
        self.assembly.element_stiffness(displacement, self.dense, False, self.shares)
        _assemble_matrix(self.owner, self.mass, self.beta, self.matrix_start, self.begin, self.first, self.parts, self.flat, self.values)
        if self.supports:
            self.supports.add()
        try:
            self.factor.factorise(self.values)
        except NotPositiveDefinite:
            self.resort_to_lu()

    def resort_to_lu(self) -> None:
        """Factorise a matrix that is not positive definite, as of a body about to buckle: with its supports, or by LU factors."""
        if self.supports and not self.supports.added and isinstance(self.factor, Cholesky):
            self.supports.add(always=True)
            if self.supports.added:
                try:
                    return self.factor.factorise(self.values)
                except NotPositiveDefinite:
                    pass
        self.factor = SuperLU(self.pattern)
        self.factor.factorise(self.values)
        if self.direct and not self.unstable:
            self.unstable = indefinite_blocks(self.pattern, self.values, [*self.dof_first.tolist(), self.size])

    def _make_factor(self) -> None:
        """Factorise A of the present step."""
        self.known = False  # until the factor is complete
        self._factorise(self.displacement)
        self.made[:] = self.displacement
        self.gradients.forget_turn()
        self.known = self.fresh = True
        self.fewest = self.spent = 0

    # --- solutions -----------------------------------------------------------------------------------------

    def solve(self, right: np.ndarray) -> np.ndarray:
        """Return A^-1 times columns (size, n) or a vector (size,), in the bodies' frames."""
        if self.linear:
            return self.factor.solve(right)
        if right.ndim == 1:
            return self._iterate(right)
        result = np.array(right, order="F")
        self.solve_slice(result, right.shape[1], right.shape[1])
        return result

    def solve_slice(self, columns: np.ndarray, used: int, most: int) -> None:
        """Replace the first `used` of columns (size, n) by A^-1 times them; they are a slice of `most` right-hand sides."""
        if not self.linear:
            if most * self.products > self.factor.WORTH:
                self.renew()
            if self.fresh and most * LEAST_PRODUCTS > self.factor.WORTH:
                self.spent = self.factor.WORTH  # W of the next step is likely to need a factor, too; its free velocity shall use it
        if self.linear or self.fresh:
            self.factor.solve_columns(columns, used)
            return
        for number in range(used):
            columns[:, number] = self._iterate(columns[:, number])

    def renew(self) -> None:
        """Factorise A of the present step, unless its factor exists."""
        if not self.fresh:
            self._make_factor()

    def _iterate(self, right: np.ndarray) -> np.ndarray:
        """Return A^-1 times a vector (size,), in memory that the next solution overwrites."""
        if self.fresh:
            return self.factor.solve(right)
        try:
            products = self.gradients.solve(self.factor, self.displacement, self.beta, right.reshape(3, -1, order="F"), self.shares)
        except NoConvergence:
            return self.solve_afresh(right)
        self.products = max(self.products, products)
        self.fewest = self.fewest or products
        self.spent += max(products - self.fewest, 0)
        return self.gradients.solution.ravel(order="F")

    def solve_afresh(self, right: np.ndarray) -> np.ndarray:
        """Return A^-1 times a vector (size,) for which iterations have failed."""
        self.renew()
        return self.factor.solve(right)

    def add_velocities(self, bodies: BodyTable, step: float, source: np.ndarray, by_row: bool) -> None:
        """Add h A^-1 f to velocities, for spatial forces f indexed by nodes of all bodies or by rows of velocity triples."""
        fe, velocities = self.fe, bodies.triples.velo
        nodes = fe.first, fe.velo_row
        bodywise = self.linear, self.number, self.rotation, *nodes
        nonzero = np.array([_collect(by_row, *bodywise, source, self.unknowns)], np.int32)
        if self.supports and not by_row:
            self.supports.pull(nonzero)
        if not nonzero[0]:
            return
        solution = self.solve(self.unknowns.ravel(order="F")).reshape(3, -1, order="F")
        _add_unknowns(step, *bodywise, solution, velocities)
