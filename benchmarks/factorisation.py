"""Times sparse factorisations of the matrices of an implicit pipe of hexahedra, and of many cubes.

    python benchmarks/factorisation.py

The figures behind the choices in bodies/factorisation.py, and WORTH: how many solutions cost as much as a factorisation.
"""

from __future__ import annotations

import os
import sys
from time import perf_counter

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import machine
import numpy as np
import words
from finite_elements import CUBE

from solfec.bodies import factorisation
from solfec.bodies.element_solver import ElementSolver
from solfec.bodies.factorisation import Cholesky, LowerPattern, SuperLU
from solfec.bodies.finite_elements import FiniteElementMesh, FiniteElements
from solfec.bodies.materials import BulkMaterial
from solfec.bodies.table import BodyKind, BodyTable, Form
from solfec.shapes.characteristics import characteristics
from solfec.shapes.hex_mesh import hex_mesh
from solfec.shapes.pipe import pipe


def solver() -> ElementSolver:
    """The solver of one pipe of 36 x 36 x 4 hexahedra."""
    return solver_of([pipe((0, 0, 0), (0, 0, 4.0), 1.0, 0.1, 36, 36, 4, 1, [1, 2, 3, 4])])


def cubes(cells: int, count: int = 25) -> ElementSolver:
    """The solver of cubes of cells**3 hexahedra."""
    return solver_of([hex_mesh(CUBE.ravel(), cells, cells, cells, 1, [1] * 6) for _ in range(count)])


def solver_of(meshes: list) -> ElementSolver:
    """Make the solver of steel bodies of form 'TL' on a mesh."""
    bodies = BodyTable()
    lame = BulkMaterial(young=200e9, poisson=0.26).lame
    for number, mesh in enumerate(meshes):
        volume, _, _ = characteristics([mesh])
        bodies.add(
            BodyKind.FINITE_ELEMENT, mesh=FiniteElementMesh.of(mesh), id=number + 1, form=int(Form.TL), mass=7800.0 * volume,
            volume=volume, lame=lame,
        )  # fmt: skip
    return ElementSolver(FiniteElements(bodies), np.arange(len(meshes)))


def values(one: ElementSolver, step: float) -> np.ndarray:
    """Return the lower triangle of M + h**2/4 K."""
    one.beta[:] = 0.25 * step**2
    kept: list[np.ndarray] = []

    class Keep:
        def factorise(self, data):
            kept.append(data)

    one.make_room()
    one.factor = Keep()
    start = perf_counter()
    one._factorise(np.zeros((3, one.size // 3), order="F"))
    print(f"assembly: {1e3 * (perf_counter() - start):.0f} ms")
    return kept[0]


class Cholmod:
    """CHOLMOD's own factors, through cvxopt."""

    def __init__(self, pattern: LowerPattern):
        from cvxopt import cholmod, matrix, spmatrix

        self.library, self.matrix = cholmod, matrix
        self.lower = spmatrix(1.0, pattern.indices.tolist(), pattern.columns.tolist(), (pattern.size, pattern.size))
        self.factor = cholmod.symbolic(self.lower)

    def factorise(self, data: np.ndarray) -> None:
        """Factorise the matrix whose lower triangle holds `data`."""
        self.lower.V = self.matrix(data)
        self.library.numeric(self.lower, self.factor)

    def solve(self, right: np.ndarray) -> np.ndarray:
        """A^-1 times a vector or columns."""
        solution = self.matrix(right)
        self.library.solve(self.factor, solution)
        return np.array(solution)


def main() -> int:
    words.none(__doc__)
    print(machine.figures())
    kinds = [Cholesky, *([Cholmod] if factorisation.cholmod_present() else [])]
    compare("pipe", solver(), [*kinds, SuperLU])
    for cells in (1, 2, 3, 4, 6):
        compare(f"25 cubes of {cells}^3 elements", cubes(cells), kinds)
    return 0


def compare(name: str, one: ElementSolver, kinds: list[type]) -> None:
    """Print the times of factorisations and solutions."""
    data = values(one, 1e-4)
    print(f"{name}: {one.size} unknowns, {len(data)} entries in the lower triangle")
    right = np.asfortranarray(np.random.default_rng(0).uniform(-1, 1, (one.size, 30)))
    for kind in kinds:
        start = perf_counter()
        factor = kind(one.pattern)
        analysis = perf_counter() - start
        numeric = machine.best(lambda: factor.factorise(data), 3)
        single = machine.best(lambda: factor.solve(right[:, 0]), 5)
        thirty = machine.best(lambda: factor.solve(right), 2)
        print(
            f"  {kind.__name__}: analysis {1e3 * analysis:.0f} ms, factorisation {1e3 * numeric:.2f} ms, solution "
            f"{1e3 * single:.3f} ms, thirty right-hand sides {1e3 * thirty:.2f} ms; factorisation / solution {numeric / single:.0f}"
        )


if __name__ == "__main__":
    sys.exit(main())
