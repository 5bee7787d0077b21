"""Times bodies on one thread, each figure beside its target.  Run: python benchmarks/finite_elements.py [--quick] [case ...].

Targets hold for a machine of 24 GB/s (triad) and 53 GFLOP/s (dgemm) on one core; both are printed, since targets scale
with them.  Every figure is the best of several repetitions.
"""

from __future__ import annotations

import os
import sys
from time import perf_counter

os.environ.setdefault("OMP_NUM_THREADS", "1")
for library in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(library, "1")

import machine
import models
import numpy as np
import words

from solfec import _kernels
from solfec.bodies import background_mesh, factorisation, modal, motion
from solfec.bodies.element_assembly import ElementAssembly
from solfec.bodies.finite_elements import FiniteElementMesh
from solfec.bodies.loads import Loads
from solfec.bodies.materials import BulkMaterial
from solfec.bodies.reduced_base import ReducedBase
from solfec.bodies.table import BodyKind, BodyTable, Form, Scheme
from solfec.domain import Domain
from solfec.shapes import hex_mesh
from solfec.shapes.characteristics import characteristics
from solfec.shapes.mesh_to_convex import mesh_to_convex
from solfec.shapes.pipe import pipe
from solfec.solvers.auto import AutoSolver
from solfec.solvers.gauss_seidel import GaussSeidelSolver
from solfec.time_step import PHASES

CUBE = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]], float)


def grid(side: int) -> tuple[np.ndarray, np.ndarray]:
    """Nodes (n, 3) and elements (side**3, 8) of a cube of unit hexahedra."""
    i, j, k = np.meshgrid(*3 * [np.arange(side + 1)], indexing="ij")
    nodes = np.stack([i, j, k], -1).reshape(-1, 3).astype(float)
    number = np.arange(len(nodes)).reshape(3 * [side + 1])
    a, b = slice(None, -1), slice(1, None)
    corners = [(a, a, a), (b, a, a), (b, b, a), (a, b, a), (a, a, b), (b, a, b), (b, b, b), (a, b, b)]
    return nodes, np.stack([number[c].ravel() for c in corners], 1)


def internal_force(side: int, repeat: int) -> float:
    """Millions of hexahedra per second, forces of elements and their sums at nodes."""
    nodes, elements = grid(side)
    count = len(elements)
    assembly = ElementAssembly(nodes.T, np.full(count, 8), elements, np.ones((count, 2)), np.zeros(count, bool))
    displacement = np.asfortranarray(0.01 * np.random.default_rng(0).random((3, len(nodes))))
    result = np.zeros_like(displacement, order="F")
    return 1e-6 * count / machine.best(lambda: assembly.internal_force(displacement, result), repeat)


def pipe_step(form: Form, repeat: int) -> float:
    """Milliseconds per step of a steel pipe of 36 x 36 x 4 hexahedra, scheme DEF_LIM, that bends and turns."""
    mesh = pipe((0, 0, 0), (0, 0, 4.0), 1.0, 0.1, 36, 36, 4, 1, [1, 2, 3, 4])
    volume, centre, euler = characteristics([mesh])
    material = BulkMaterial(young=200e9, poisson=0.26, density=7800.0)
    bodies = BodyTable()
    row = bodies.add(
        BodyKind.FINITE_ELEMENT, mesh=FiniteElementMesh.of(mesh), id=1, form=int(form), scheme=Scheme.DEF_LIM,
        mass=7800.0 * volume, volume=volume, centre=centre, tensor=7800.0 * np.asarray(euler), lame=material.lame,
    )  # fmt: skip
    loads = Loads(bodies)
    loads.set_gravity(models.GRAVITY)
    arm = mesh.nodes - centre
    velocity = bodies.triples.velo[:, bodies.velo_slice(row)]
    velocity[:] = np.cross((1.0, 0.5, 0.0), arm).T
    velocity[0] += np.sin(mesh.nodes[:, 2]) * mesh.nodes[:, 0]
    motion.initialise_inertia(bodies)
    step, number = 1e-4, 0

    def advance():
        nonlocal number
        motion.predict(bodies, loads, number * step, step)
        motion.correct(bodies, step)
        number += 1

    advance()
    return 1e3 * machine.best(advance, repeat)


SOFT = BulkMaterial(young=1e8, poisson=0.25, density=1000.0)


def modes_of_cube(cells: int, count: int) -> ReducedBase:
    """The lowest modes of a unit cube of hexahedra."""
    model, _ = models.domain(0.5)
    mesh = hex_mesh.hex_mesh(CUBE.tolist(), cells, cells, cells, 1, [1] * 6)
    body = model.insert_body(BodyKind.FINITE_ELEMENT, [mesh], SOFT, form=Form.BC)
    mass, stiffness = modal.matrices(model.bodies, model.body_row(body))
    return ReducedBase(*modal.lowest_modes(mass, stiffness, count, mesh.nodes))


def cubes(stacks: int = 5, layers: int = 5, cells: int = 2, base: ReducedBase | None = None) -> Domain:
    """stacks x stacks stacks of deformable unit cubes, form BC (or BC-MODAL) and scheme DEF_LIM, on an obstacle."""
    model, material = models.domain(0.5)
    form = Form.BC if base is None else Form.BC_MODAL
    length = 2 * stacks
    model.insert_body(BodyKind.OBSTACLE, [models.box((-1, -1, -1), (length, length, 0))], material)
    for k in range(layers):
        for j in range(stacks):
            for i in range(stacks):
                corners = (CUBE + (2 * i, 2 * j, k)).tolist()
                mesh = hex_mesh.hex_mesh(corners, cells, cells, cells, 1, [1] * 6)
                body = model.insert_body(BodyKind.FINITE_ELEMENT, [mesh], SOFT, form=form, base=base)
                model.bodies.scheme[model.body_row(body)] = Scheme.DEF_LIM
    return model


def cubes_step(build, repeat: int, steps: int = 16) -> str:
    """Milliseconds per step, its phases, contacts and sweeps, while every face carries four contacts."""
    solver = GaussSeidelSolver(1e-3, 100)
    best, text = np.inf, ""
    for _ in range(repeat):
        model = build()
        model.advance(solver)
        for _ in range(steps):
            model.timings.update(dict.fromkeys(PHASES, 0.0))
            start = perf_counter()
            model.advance(solver)
            taken = 1e3 * (perf_counter() - start)
            if taken < best:
                split = " ".join(f"{phase} {1e3 * model.timings[phase]:.2f}" for phase in PHASES)
                best, text = taken, f"{model.constraints.n} contacts, {model.report.iterations} sweeps ({split})"
    return f"{best:.2f} ms/step, {text}"


def modal_analysis(cells: int, count: int, repeat: int) -> float:
    """Seconds for the lowest modes of a cube of hexahedra."""
    model, _ = models.domain(0.5)
    mesh = hex_mesh.hex_mesh(CUBE.tolist(), cells, cells, cells, 1, [1] * 6)
    body = model.insert_body(BodyKind.FINITE_ELEMENT, [mesh], SOFT, form=Form.BC)
    mass, stiffness = modal.matrices(model.bodies, model.body_row(body))
    return machine.best(lambda: modal.lowest_modes(mass, stiffness, count, mesh.nodes), repeat)


def background_mesh_set_up(repeat: int) -> str:
    """Seconds to put a pipe of 960 convexes into 12 x 12 x 6 hexahedra, and how many of these it fills in part."""
    shape = mesh_to_convex(pipe((1, 1, 0.0), (0, 0, 1.0), 0.5, 0.4, 10, 48, 2, 1, [1, 2, 3, 4]))
    mesh = hex_mesh.hex_mesh((CUBE * (2, 2, 1)).tolist(), 12, 12, 6, 1, [1] * 6)
    vertices = np.concatenate([polyhedron.vertices for polyhedron in shape.polyhedra])
    seconds = machine.best(lambda: background_mesh.fit([shape], mesh, vertices), repeat)
    fitted, background = background_mesh.fit([shape], mesh, vertices)
    cut = len(np.unique(background.point_element))
    return f"{seconds:.2f} s, {cut} of {fitted.topology.element_count} elements in part"


def quasi_static_step(repeat: int) -> float:
    """Milliseconds per quasi-static step of a beam of 64 x 4 x 4 hexahedra under its weight, held at 25 points."""
    domain = Domain(0.1, dynamic=False)
    mesh = hex_mesh.hex_mesh((CUBE * (8, 1, 1)).tolist(), 64, 4, 4, 1, [1] * 6)
    body = domain.insert_body(BodyKind.FINITE_ELEMENT, [mesh], SOFT, form=Form.TL)
    domain.loads.set_gravity((0.0, 0.0, -1e-3))
    for y in np.linspace(0, 1, 5):
        for z in np.linspace(0, 1, 5):
            domain.joints.fix_point(body, (0.0, y, z))
    solver = AutoSolver()
    domain.advance(solver)
    return 1e3 * machine.best(lambda: domain.advance(solver), repeat)


def strained_step(side: int, cells: int, repeat: int) -> str:
    """Cost of the critical step of side x side explicit blocks of cells**3 hexahedra, in parts of a free step of theirs."""
    domain = Domain(1e-4)
    for j in range(side):
        for i in range(side):
            corners = (CUBE + (2 * i, 2 * j, 0)).tolist()
            domain.insert_body(BodyKind.FINITE_ELEMENT, [hex_mesh.hex_mesh(corners, cells, cells, cells, 1, [1] * 6)], SOFT, form=Form.TL)
    domain.initialise()
    bodies = domain.bodies
    for row in range(bodies.n):
        conf, nodes = bodies.configurations.conf[:, bodies.conf_slice(row)], bodies.meshes[int(bodies.id[row])].nodes
        conf[:] = -0.2 * (nodes - nodes.mean(0)).T
    rest = bodies.configurations.conf.copy()

    def advance():
        bodies.configurations.conf[:] = rest
        motion.predict(bodies, domain.loads, 0.0, 1e-6)
        motion.correct(bodies, 1e-6)

    step, bound, tangent = (
        machine.best(work, repeat)
        for work in (advance, lambda: motion.critical_step(bodies), lambda: motion.refined_critical_step(bodies, True))
    )
    shares = f"of a step {bound / step:.3f} the bound, {tangent / step:.1f} the tangent"
    return f"{1e3 * step:.2f} ms/step; {shares}: {tangent / step / 16:.2f} every sixteenth step, {tangent / step / 2:.1f} every second"


def rigid_step(count: int, repeat: int) -> float:
    """Million rigid bodies per second, spinning freely under gravity."""
    bodies = BodyTable()
    bodies.append(count)
    bodies.triples.append(2 * count)
    bodies.configurations.append(4 * count)
    bodies.view("kind")[:] = BodyKind.RIGID
    bodies.view("scheme")[:] = Scheme.RIG_NEG
    bodies.view("id")[:] = np.arange(1, count + 1)
    bodies.view("mass")[:] = bodies.view("volume")[:] = 1.0
    bodies.view("tensor")[:] = np.diag((1.0, 2.0, 3.0))[:, :, None]
    bodies.view("conf_ptr")[:], bodies.view("velo_ptr")[:] = 4 * np.arange(count), 2 * np.arange(count)
    bodies.configurations.view("conf")[:] = np.tile(np.eye(3, 4), count)
    bodies.triples.view("velo")[:] = np.random.default_rng(0).uniform(-1, 1, (3, 2 * count))
    loads = Loads(bodies)
    loads.set_gravity(models.GRAVITY)
    motion.initialise_inertia(bodies)

    def advance():
        motion.predict(bodies, loads, 0.0, 1e-3)
        motion.correct(bodies, 1e-3)

    return 1e-6 * count / machine.best(advance, repeat)


def cases(quick: bool) -> dict:
    """Text to print by name."""
    often, few = (5, 3) if quick else (20, 10)
    return {
        "internal force": lambda: "\n".join(
            f"hexahedra, St Venant-Kirchhoff, internal force, {side**3:6d} elements: "
            f"{internal_force(side, often):5.1f} million/s (target: over 5)" for side in (8, 20, 40)
        ),
        "pipe TL": lambda: f"pipe of 36x36x4 hexahedra, TL, DEF_LIM: {pipe_step(Form.TL, few):.0f} ms/step (target: under 150)",
        "pipe BC": lambda: f"pipe of 36x36x4 hexahedra, BC, DEF_LIM: {pipe_step(Form.BC, few):.1f} ms/step (target: under 15)",
        "cubes": lambda: f"125 cubes of 2x2x2 elements, BC, DEF_LIM: {cubes_step(cubes, few)} (target: under 7)",
        "many bodies": lambda: f"1024 such cubes side by side: {cubes_step(lambda: cubes(32, 1), 1)}",
        "reduced": lambda: f"the 125 cubes in 12 modes each: {cubes_step(lambda: cubes(base=modes_of_cube(2, 12)), few)}",
        "many reduced": lambda: f"1024 of them side by side: {cubes_step(lambda: cubes(32, 1, base=modes_of_cube(2, 12)), 1)}",
        "modal analysis": lambda: f"30 modes of a cube of 12x12x12 elements: {modal_analysis(12, 30, few):.2f} s",
        "background mesh": lambda: f"a pipe of 960 convexes in 12x12x6 hexahedra: {background_mesh_set_up(min(few, 3))}",
        "quasi-static": lambda: f"beam of 64x4x4 hexahedra, TL, quasi-static: {quasi_static_step(few):.0f} ms/step",
        "strained": lambda: "\n".join(
            f"critical step of {side * side} strained blocks of {cells}x{cells}x{cells} hexahedra, TL, DEF_EXP: {strained_step(side, cells, often)}"
            for side, cells in ((1, 20), (16, 3))
        ),
        "rigid": lambda: f"1E6 free rigid bodies: {rigid_step(10**6, few):.1f} million bodies/s (target: over 10)",
    }  # fmt: skip


def main() -> int:
    parser = words.parser(__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer repetitions")
    parser.add_argument("case", nargs="*", help="parts of names of cases")
    options = parser.parse_args()
    texts = cases(options.quick)
    names = words.chosen(parser, options.case, texts)
    _kernels.threads.set_threads(1)
    print(machine.figures(), "order of CHOLMOD" if factorisation.cholmod_present() else "order of SuperLU")
    for name in names:
        print(texts[name](), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
