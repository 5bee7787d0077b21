"""Costs of a step in Python, outside of kernels and of the library of sparse factors.

    python benchmarks/python_costs.py [--solver gauss-seidel|penalty|newton|auto] [--run] [case ...]

Prints for every case microseconds per step: the least median of ten steps in a row, and the median of all steps of two
seconds; and how often a step leaves Python.  With --run whole RUNs are measured: what the loop does between steps, too.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

os.environ.setdefault("OMP_NUM_THREADS", "1")
for library in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(library, "1")

import finite_elements
import models
import numpy as np
import overhead
import springs
import words
from finite_elements import CUBE, SOFT

from solfec.bodies.table import BodyKind, Form, Scheme
from solfec.domain import Domain
from solfec.shapes import hex_mesh, sphere
from solfec.simulation import Simulation
from solfec.solvers.auto import AutoSolver
from solfec.solvers.gauss_seidel import GaussSeidelSolver
from solfec.solvers.newton import NewtonSolver
from solfec.solvers.penalty import PenaltySolver
from solfec.time_series import TimeSeries

SECONDS = 2.0
RAMP = TimeSeries([0, 1e3], [0, 1.0])


def elements(
    form: Form, scheme: Scheme, side: int = 5, cells: int = 2, step: float = 1e-4, damping: float = 0.0, **options
) -> Domain:
    """side x side unit cubes of finite elements on an obstacle; `options` are columns of the body table."""
    model, _ = models.domain(0.5, step)
    model.insert_body(BodyKind.OBSTACLE, [models.box((-1, -1, -1), (2 * side, 2 * side, 0))], SOFT)
    for i, j in np.ndindex(side, side):
        mesh = hex_mesh.hex_mesh((CUBE + (2 * i, 2 * j, 0)).tolist(), cells, cells, cells, 1, [1] * 6)
        row = model.body_row(model.insert_body(BodyKind.FINITE_ELEMENT, [mesh], SOFT, form=form))
        model.bodies.scheme[row], model.bodies.damping[row] = scheme, damping
        for name, value in options.items():
            getattr(model.bodies, name)[row] = value
    return model


def pseudo_rigid(scheme: Scheme, side: int = 5) -> Domain:
    """side x side pseudo-rigid cubes on an obstacle."""
    model, _ = models.domain(0.5, 1e-4)
    model.insert_body(BodyKind.OBSTACLE, [models.box((-1, -1, -1), (2 * side, 2 * side, 0))], SOFT)
    for i, j in np.ndindex(side, side):
        body = model.insert_body(BodyKind.PSEUDO_RIGID, [models.box((2 * i, 2 * j, 0), (2 * i + 1, 2 * j + 1, 1))], SOFT)
        model.bodies.scheme[model.body_row(body)] = scheme
    return model


def chains(count: int = 20, length: int = 10) -> Domain:
    """Chains of spheres that hang from fixed points by rigid links; the last sphere of all is pulled along."""
    model, material = models.domain(0.0)
    for i, k in np.ndindex(count, length):
        centre = (1.0 * i, 0.3 * k, 0.0)
        body = model.insert_body(BodyKind.RIGID, [sphere.Sphere(centre, 0.1, 1, 1)], material)
        if k:
            model.joints.rigid_link(last, body, place, centre)  # noqa: F821
        else:
            model.joints.fix_point(body, centre)
        last, place = body, centre
    model.joints.prescribe_velocity(last, place, (1, 0, 0), TimeSeries([0, 1e3], [0, 1e3]))
    return model


def linkage(count: int = 10) -> Domain:
    """A chain of bars on hinges, which swings; drift is corrected after every step."""
    model, material = models.domain(0.0)
    last = None
    for k in range(count):
        body = model.insert_body(BodyKind.RIGID, [models.box((0.2 * k, -0.01, -0.01), (0.2 * (k + 1), 0.01, 0.01))], material)
        model.joints.mechanism("HINGE", body, last, (0.2 * k, 0.0, 0.0), (0.0, 1.0, 0.0))
        last = body
    model.settings.exclude_surfaces(1, 1)
    model.joint_correction = True
    return model


def held_elements() -> Domain:
    """Implicit cubes of finite elements, of which fixed points and prescribed velocities hold some."""
    model = elements(Form.BC, Scheme.DEF_LIM, step=1e-3)
    for k in range(2, 12):
        corner = (2.0 * ((k - 2) // 5), 2.0 * ((k - 2) % 5), 0.0)
        if k % 2:
            model.joints.fix_point(k, corner)
        else:
            model.joints.prescribe_velocity(k, corner, (0, 0, 1), RAMP)
    return model


def loaded() -> Domain:
    """100 spheres, most of them pulled up by forces, half of these by forces that follow time."""
    model = models.spheres(100)
    for k in range(2, 60):
        model.loads.add_force(model.body_row(k), "SPATIAL", (0, 0, 0), (0, 0, 1), RAMP if k % 2 else 1e-3)
    return model


def pressed() -> Domain:
    """Explicit cubes of finite elements under forces."""
    model = elements(Form.TL, Scheme.DEF_EXP)
    for k in range(2, 20):
        corner = (2 * ((k - 2) // 5), 2 * ((k - 2) % 5), 1)
        model.loads.add_force(model.body_row(k), "CONVECTED", corner, (0, 0, -1.0), 10.0)
    return model


def patches() -> Domain:
    """A block of 6^3 cubes whose faces share four contacts."""
    model = models.block(6)
    model.settings.patch = True
    return model


def slow(build: Callable[[Domain], None]) -> Domain:
    """A quasi-static model."""
    model = Domain(1e-2, dynamic=False)
    model.surface_materials.friction[0] = 0.5
    model.insert_body(BodyKind.OBSTACLE, [models.box((-1, -1, -1), (20, 20, 0))], SOFT)
    build(model)
    model.loads.set_gravity((0.0, 0.0, -1e-3))
    return model


def rest_rigid(model: Domain) -> None:
    """Ten rigid cubes."""
    for i in range(10):
        model.insert_body(BodyKind.RIGID, [models.box((1.5 * i, 0, 0), (1.5 * i + 1, 1, 1))], SOFT)


def rest_soft(model: Domain) -> None:
    """Pseudo-rigid cubes, and cubes of finite elements."""
    for i in range(5):
        model.insert_body(BodyKind.PSEUDO_RIGID, [models.box((1.5 * i, 3, 0), (1.5 * i + 1, 4, 1))], SOFT)
        mesh = hex_mesh.hex_mesh((CUBE + (1.5 * i, 6, 0)).tolist(), 2, 2, 2, 1, [1] * 6)
        model.insert_body(BodyKind.FINITE_ELEMENT, [mesh], SOFT, form=Form.BC)


CASES: dict[str, tuple[Callable[[], Domain], float, int]] = {  # name: (model, Gauss-Seidel epsilon, steps before)
    "10 spheres": (lambda: models.spheres(10), 1e-4, 20),
    "10 000 spheres": (lambda: models.spheres(10000), 1e-4, 20),
    "stacks of cubes": (models.stacks, 1e-4, 20),
    "block of 10^3 cubes": (models.block, 1e-3, 20),
    "patches": (patches, 1e-3, 20),
    "chains": (chains, 1e-4, 5),
    "10 hinged bars": (linkage, 1e-4, 5),
    "springs": (lambda: springs.net(15, 1e4, False), 1e-4, 5),
    "forces": (loaded, 1e-4, 20),
    "pseudo-rigid": (lambda: pseudo_rigid(Scheme.DEF_EXP), 1e-4, 20),
    "pseudo-rigid implicit": (lambda: pseudo_rigid(Scheme.DEF_LIM), 1e-4, 20),
    "25 TL": (lambda: elements(Form.TL, Scheme.DEF_EXP), 1e-4, 20),
    "25 TL damped": (lambda: elements(Form.TL, Scheme.DEF_EXP, damping=1e-6), 1e-4, 20),
    "25 TL under forces": (pressed, 1e-4, 20),
    "25 TL enhanced": (lambda: elements(Form.TL, Scheme.DEF_EXP, enhanced=1), 1e-4, 20),
    "25 BC": (lambda: elements(Form.BC, Scheme.DEF_EXP), 1e-4, 20),
    "100 TL of 3^3 elements": (models.soft_cubes, 1e-4, 20),
    "25 BC implicit": (lambda: elements(Form.BC, Scheme.DEF_LIM, step=1e-3), 1e-4, 5),
    "25 BC implicit damped": (lambda: elements(Form.BC, Scheme.DEF_LIM, step=1e-3, damping=1e-4), 1e-4, 5),
    "25 BC implicit held": (held_elements, 1e-4, 5),
    "225 BC implicit": (lambda: elements(Form.BC, Scheme.DEF_LIM, 15, step=1e-3), 1e-4, 5),
    "9 BC implicit of 6^3 elements": (lambda: elements(Form.BC, Scheme.DEF_LIM, 3, 6, step=1e-3), 1e-4, 5),
    "25 TL implicit": (lambda: elements(Form.TL, Scheme.DEF_LIM, step=1e-3), 1e-4, 5),
    "16 in bases": (lambda: finite_elements.cubes(4, 1, base=finite_elements.modes_of_cube(2, 12)), 1e-4, 5),
    "quasi-static": (lambda: slow(rest_rigid), 1e-4, 5),
    "quasi-static deformable": (lambda: slow(rest_soft), 1e-4, 5),
}


SOLVERS: dict[str, Callable] = {  # from the epsilon of a case
    "gauss-seidel": lambda epsilon: GaussSeidelSolver(epsilon, 100),
    "penalty": lambda epsilon: PenaltySolver(),
    "newton": lambda epsilon: NewtonSolver(1e-6, 100),
    "auto": lambda epsilon: AutoSolver(1e-6),
}


def costs(name: str, seconds: float = SECONDS, solver: str = "gauss-seidel") -> tuple[float, float, int, Domain]:
    """Return seconds per step of a case (the least median of ten steps in a row, and that of all), calls per step, and the model."""
    build, epsilon, before = CASES[name]
    model, solving = build(), SOLVERS[solver](epsilon)
    for _ in range(before):
        model.advance(solving)
    spent, calls = [], 0
    end = perf_counter() + seconds
    with overhead.measured() as compiled:
        while perf_counter() < end or len(spent) < 10:
            compiled.seconds, compiled.calls = 0.0, 0
            start = perf_counter()
            model.advance(solving)
            spent.append(perf_counter() - start - compiled.seconds)
            calls = compiled.calls
    return *_summary(spent), calls, model


def costs_of_run(name: str, seconds: float = SECONDS, solver: str = "gauss-seidel") -> tuple[float, float, int, Domain]:
    """Costs of the steps of a RUN without frames in between."""
    build, epsilon, before = CASES[name]
    model, starts, kernels = build(), [], []
    advance = model.advance
    with tempfile.TemporaryDirectory() as folder, overhead.measured() as compiled:

        def step(solving):
            starts.append(perf_counter())
            kernels.append(compiled.seconds)
            advance(solving)
            if starts[-1] - starts[0] > seconds and len(starts) > before + 11:
                (Path(simulation.outpath) / "STOP").touch()

        simulation = Simulation(model.step, str(Path(folder) / "model"), "WRITE", quiet=True)
        simulation.notify = lambda text: None  # some steps of these models are not solved, and that is not what this is about
        simulation.domain, model.advance = model, step
        simulation.output(1e9)
        simulation.run(SOLVERS[solver](epsilon), 1e9 * model.step)
        simulation.close()
    spent = (np.diff(starts) - np.diff(kernels))[before:]
    return *_summary(spent), 1, model


def _summary(spent) -> tuple[float, float]:
    least = min(float(np.median(spent[k : k + 10])) for k in range(0, len(spent) - 9))
    return least, float(np.median(spent))


def main() -> None:
    parser = words.parser(__doc__)
    parser.add_argument("--solver", choices=SOLVERS, default="gauss-seidel")
    parser.add_argument("--run", action="store_true")
    parser.add_argument("cases", nargs="*")
    given = parser.parse_args()
    for name in given.cases:
        if name not in CASES:
            parser.error(f"no case {name!r}; there are {', '.join(CASES)}")
    for name in given.cases or list(CASES):
        measure = costs_of_run if given.run else costs
        least, median, calls, model = measure(name, solver=given.solver)
        print(f"{name:32s} {1e6 * least:6.0f} {1e6 * median:6.0f} us, {calls:3d} calls, {model.constraints.n} constraints", flush=True)


if __name__ == "__main__":
    main()
