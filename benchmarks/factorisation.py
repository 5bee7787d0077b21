"""Times sparse factorisations of the matrices of an implicit pipe of hexahedra, and of many small cubes.

    python benchmarks/factorisation.py

The figures behind the choices in bodies/factorisation.py, SHORT, and WORTH: how many solutions cost as much as a factorisation.
"""

from __future__ import annotations

import os
import sys
from time import perf_counter

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import machine
import numpy as np
from finite_elements import CUBE

from solfec.bodies import factorisation
from solfec.bodies.element_solver import ElementSolver
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
    """Of steel bodies of form 'TL'."""
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
    """The lower triangle of M + h**2/4 K."""
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


def main() -> int:
    print(machine.figures())
    one = solver()
    data = values(one, 1e-4)
    print(f"{one.size} unknowns, {len(data)} entries in the lower triangle")
    right = np.random.default_rng(0).uniform(-1, 1, (one.size, 30))
    for kind in (factorisation.Cholmod, factorisation.SuperLU):
        if kind is factorisation.Cholmod and not factorisation.cholmod_present():
            continue
        start = perf_counter()
        factor = kind(one.pattern)
        analysis = perf_counter() - start
        numeric = machine.best(lambda: factor.factorise(data), 3)
        single = machine.best(lambda: factor.solve(right[:, 0].copy()), 5)
        thirty = machine.best(lambda: factor.solve(right), 2)
        print(
            f"{kind.__name__}: analysis {1e3 * analysis:.0f} ms, factorisation {1e3 * numeric:.0f} ms, solution "
            f"{1e3 * single:.1f} ms, thirty right-hand sides {1e3 * thirty:.0f} ms; factorisation / solution {numeric / single:.0f}"
        )
    for cells in (1, 2, 3, 4):
        one = cubes(cells)
        compare(one, values(one, 1e-4), cells)
    return 0


def compare(one: ElementSolver, data: np.ndarray, cells: int) -> None:
    """Our own kernel beside the library."""
    library = factorisation.factorisation(one.pattern)
    columns = factorisation.found_columns(one.pattern, library)
    lengths = np.diff(columns.arrays[0]).astype(float)
    figures = []
    for factor in (library, factorisation.ShortCholesky(one.pattern, columns)):
        factor.vector[:] = 1.0
        figures += [1e3 * machine.best(lambda: factor.factorise(data), 9), 1e3 * machine.best(factor.solve_vector, 9)]
    print(
        f"25 cubes of {cells}^3 elements, columns of {(lengths**2).sum() / lengths.sum():.0f}: {type(library).__name__} factorisation "
        f"{figures[0]:.2f} ms, solution {figures[1]:.3f} ms; our own {figures[2]:.2f}, {figures[3]:.3f}"
    )


if __name__ == "__main__":
    sys.exit(main())
