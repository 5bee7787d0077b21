"""The models that the benchmarks time, built straight on the domain, without the input language."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from solfec.bodies.materials import BulkMaterial
from solfec.bodies.table import BodyKind, Form, Scheme
from solfec.contact.manifold import choose
from solfec.domain import Domain
from solfec.shapes import hex_mesh, hull, sphere

GRAVITY = (0.0, 0.0, -9.81)
ROOT = Path(__file__).parents[1]


def box(lower, upper):
    """A convex box."""
    (x0, y0, z0), (x1, y1, z1) = lower, upper
    return hull.hull([(x, y, z) for z in (z0, z1) for y in (y0, y1) for x in (x0, x1)], 1, 1)


def domain(friction: float, step: float = 1e-3, manifold: bool = False) -> tuple[Domain, BulkMaterial]:
    """An empty model under gravity with one material (density 1000); `manifold`: its contacts are 'MANIFOLD'."""
    model = Domain(step)
    if manifold:
        choose(model)
    model.surface_materials.friction[0] = friction
    model.loads.set_gravity(GRAVITY)
    return model, BulkMaterial(density=1000.0)


def cubes(columns: int, rows: int, layers: int, spacing: float, gap: float, friction: float, manifold: bool = False) -> Domain:
    """columns x rows stacks of unit cubes on one obstacle, `gap` apart vertically, `spacing` horizontally."""
    model, material = domain(friction, manifold=manifold)
    length, width = columns * spacing + 1, rows * spacing + 1
    model.insert_body(BodyKind.OBSTACLE, [box((-1, -1, -1), (length, width, 0))], material)
    unit = box((0, 0, 0), (1, 1, 1))
    for k in range(layers):
        for j in range(rows):
            for i in range(columns):
                cube = unit.copy()
                cube.translate(np.array([i * spacing, j * spacing, gap + k * (1 + gap)]))
                model.insert_body(BodyKind.RIGID, [cube], material)
    return model


def stacks(columns: int = 10, rows: int = 10, layers: int = 10, manifold: bool = False) -> Domain:
    """Stacks of ten unit cubes with initial gaps of 5 mm, apart from one another."""
    return cubes(columns, rows, layers, spacing=2.0, gap=0.005, friction=0.5, manifold=manifold)


def block(side: int = 10, manifold: bool = False) -> Domain:
    """side^3 unit cubes, face to face, on an obstacle."""
    return cubes(side, side, side, spacing=1.0, gap=0.0, friction=0.5, manifold=manifold)


def hit_wall() -> Domain:
    """A wall of 28 bricks, four points to a joint, and a ball at 5 m/s that touches it in the middle."""
    model, material = domain(0.5, manifold=True)
    model.insert_body(BodyKind.OBSTACLE, [box((-4, -5, -1), (6, 5, 0))], material)
    for layer, column in np.ndindex(7, 4):
        x, z = 0.5 * column + 0.25 * (layer % 2), 0.2 * layer
        model.insert_body(BodyKind.RIGID, [box((x, 0, z), (x + 0.5, 0.25, z + 0.2))], material)
    ball = model.insert_body(BodyKind.RIGID, [sphere.Sphere(np.array([1.0, -0.3, 0.9]), 0.3, 1, 1)], material)
    model.states.set_velocity(ball, (0.0, 5.0, 0.0), (0.0, 0.0, 0.0))
    return model


def wall(columns: int = 100, rows: int = 100) -> Domain:
    """A wall one block thick: rows of blocks of 2 x 1 x 1, each on halves of two below; four points a joint."""
    model, material = domain(0.5)
    model.settings.patch = True
    model.insert_body(BodyKind.OBSTACLE, [box((-2, -1, -1), (2 * columns + 3, 2, 0))], material)
    brick, gap = box((0, 0, 0), (2, 1, 1)), 0.001
    for row in range(rows):
        for column in range(columns):
            block = brick.copy()
            block.translate(np.array([column * (2 + gap) + row % 2, 0, row]))
            model.insert_body(BodyKind.RIGID, [block], material)
    return model


def crowd(count: int = 300) -> Domain:
    """Spheres in one place: every one touches every other, and sparsification leaves one contact in every step."""
    model, material = domain(0.3)
    for _ in range(count):
        model.insert_body(BodyKind.RIGID, [sphere.Sphere((0.0, 0.0, 0.0), 0.5, 1, 1)], material)
    return model


def soft_cubes(side: int = 10, cells: int = 3, implicit: bool = False, manifold: bool = False) -> Domain:
    """Cubes of finite elements on one obstacle; form TL, explicit, their faces warp; or BC, implicit."""
    model, _ = domain(0.5, 1e-4, manifold)
    material = BulkMaterial(density=1000.0, young=1e6, poisson=0.3)
    model.insert_body(BodyKind.OBSTACLE, [box((-1, -1, -1), (2 * side, 2 * side, 0))], material)
    for i in range(side):
        for j in range(side):
            corners = np.array([(x, y, z) for z in (0, 1) for x, y in ((0, 0), (1, 0), (1, 1), (0, 1))], float)
            mesh = hex_mesh.hex_mesh((corners + [2 * i, 2 * j, 0]).ravel(), cells, cells, cells, 1, [1] * 6)
            body = model.insert_body(BodyKind.FINITE_ELEMENT, [mesh], material, form=Form.BC if implicit else Form.TL)
            if implicit:
                model.bodies.scheme[model.body_row(body)] = Scheme.DEF_LIM
    return model


def spheres(count: int, seed: int = 1, side: int | None = None) -> Domain:
    """Spheres of unequal radii above the floor of an open box, `side` x `side` of them in a layer (about count/2 cubed)."""
    model, material = domain(0.3)
    cell, radius = 0.11, 0.05
    side = side or max(3, round((count / 2.0) ** (1 / 3)))
    length, height = side * cell, (count // side**2 + 2) * cell
    walls = [
        box((-0.1, -0.1, -0.1), (length + 0.1, length + 0.1, 0.0)),
        box((-0.1, -0.1, 0.0), (0.0, length + 0.1, height)),
        box((length, -0.1, 0.0), (length + 0.1, length + 0.1, height)),
        box((0.0, -0.1, 0.0), (length, 0.0, height)),
        box((0.0, length, 0.0), (length, length + 0.1, height)),
    ]
    model.insert_body(BodyKind.OBSTACLE, walls, material)
    random = np.random.default_rng(seed)
    for number in range(count):
        layer, rest = divmod(number, side * side)
        row, column = divmod(rest, side)
        centre = (np.array([column, row, layer]) + 0.5) * cell + random.uniform(-0.004, 0.004, 3)
        shape = sphere.Sphere(centre, radius * random.uniform(0.8, 1.0), 2, 2)
        model.insert_body(BodyKind.RIGID, [shape], material)
    return model


def tutorial() -> Domain:
    """The manual's first tutorial: a rigid base of four bricks, a pseudo-rigid block with a slanted top, a ball."""
    model = Domain(1e-3)
    material = BulkMaterial(young=15e9, poisson=0.3, density=2e3)
    model.surface_materials.friction[0] = 0.5
    model.loads.set_gravity((0.0, 0.0, -10.0))
    model.insert_body(BodyKind.OBSTACLE, [box((-5, -5, -1), (5, 5, 0))], material)
    bricks = [box((x, y, 0), (x + 2, y + 2, 2)) for x in (-2, 0) for y in (-2, 0)]
    model.insert_body(BodyKind.RIGID, bricks, material)
    nodes = [-1, -1, 2, 1, -1, 2, 1, 1, 2, -1, 1, 2, -1, -1, 4, 1, -1, 4, 1, 1, 3, -1, 1, 3]
    model.insert_body(BodyKind.PSEUDO_RIGID, [hex_mesh.hex_mesh(nodes, 2, 3, 2, 3, [3] * 6, dy=[1, 1, 2])], material)
    ball = model.insert_body(BodyKind.RIGID, [sphere.Sphere((0, 0, 5), 1.0, 1, 1)], material)
    model.states.set_velocity(ball, (0.0, 0.0, -10.0), (0.0, 0.0, 0.0))
    return model


def hanging_links(count: int = 1000, rate: float = 0.5) -> Domain:
    """A chain of bars of 10 cm on hinges, which hangs and swings; drift of joints is corrected."""
    model, material = domain(0.0)
    last = None
    for k in range(count):
        body = model.insert_body(BodyKind.RIGID, [box((-0.01, -0.01, -0.1 * (k + 1)), (0.01, 0.01, -0.1 * k))], material)
        model.joints.mechanism("HINGE", body, last, (0.0, 0.0, -0.1 * k), (0.0, 1.0, 0.0))
        model.states.set_velocity(body, (rate * 0.1 * (k + 0.5), 0.0, 0.0), (0.0, -rate, 0.0))
        last = body
    model.settings.exclude_surfaces(1, 1)
    model.joint_correction = True
    return model


def breaker() -> Domain:
    """The breaker of inp/mechanisms, 29 bodies, before its latch is released."""
    import solfec

    made = []

    def create(analysis, step, path, **words):
        made.append(solfec.SOLFEC(analysis, step, None, **words))
        return made[0]

    names = {name: getattr(solfec, name) for name in solfec.__all__}
    names |= {"SOLFEC": create, "RUN": lambda *_: None, "NON_SOLFEC_ARGV": lambda: None}
    exec((ROOT / "inp" / "mechanisms" / "breaker.py").read_text(), names)
    return made[0]._domain
