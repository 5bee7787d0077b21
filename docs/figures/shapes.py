"""Draws every command that makes or changes shapes into docs/figures/shapes.png: python docs/figures/shapes.py."""

from __future__ import annotations

import tempfile
import warnings
from pathlib import Path

import meshio
import numpy as np
from make import HERE, rgb, sheet, shown
from PIL import Image

from solfec import (
    BEND,
    BODY,
    BULK_MATERIAL,
    CONVEX,
    CONVEX_READ,
    COPY,
    ELLIP,
    ELLIP_MESH,
    HEX,
    HULL,
    MASS_CENTER,
    MESH,
    MESH2CONVEX,
    MESH_READ,
    MESH_SPLIT,
    OVERLAPPING,
    PIPE,
    ROTATE,
    ROUGH_HEX,
    SCALE,
    SOLFEC,
    SPHERE,
    SPLIT,
    TETRAHEDRALIZE,
    TRANSLATE,
)  # fmt: skip
from solfec.results.plot import COLOURS

CUBE = [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1]


def picture(groups: list) -> Image.Image:
    """One panel: groups of shapes, each in its colour, as bodies that the viewer shows."""
    model = SOLFEC("DYNAMIC", 1.0)
    model.verbose = "OFF"
    bulk, colours = BULK_MATERIAL(model), {}
    for number, group in enumerate(groups):
        for shape in group if isinstance(group, list) else [group]:
            body = BODY(model, "OBSTACLE", shape, bulk)
            colours[body.id] = rgb(COLOURS[number % len(COLOURS)])
    return shown(model, "perspective/ortho", "look -58,22", "fit", size=(160, 150), colours=colours)


def hull(points) -> CONVEX:
    """The convex hull of points (n, 3)."""
    return HULL(np.ravel(points).tolist(), 1, 1)


def bar(length=2.0, i=20) -> MESH:
    """A bar along x."""
    box = [0, 0, 0, length, 0, 0, length, 0.3, 0, 0, 0.3, 0, 0, 0, 0.2, length, 0, 0.2, length, 0.3, 0.2, 0, 0.3, 0.2]
    return HEX(box, i, 2, 2, 1, [1] * 6)


def moved(shape, *vector):
    """A shape, moved out of the way of the others in its panel."""
    return TRANSLATE(shape, vector)


def pull_apart(parts: tuple, gap: float) -> list:
    """Lower and upper parts of a split with a gap between them."""
    lower, upper = ([part] if not isinstance(part, list) else part for part in parts)
    return [lower, [moved(part, 0, 0, gap) for part in upper]]


def stones() -> list:
    """Random points and their hull."""
    points = np.random.default_rng(3).normal(size=(40, 3)) * [1.0, 0.7, 0.6]
    return [HULL(points.ravel(), 1, 1)]


def elements() -> list:
    """The four kinds of elements, standing apart."""
    tetrahedron = [0, 0, 0, 1, 0, 0, 0.4, 0.9, 0, 0.4, 0.3, 0.9]
    pyramid = [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0.5, 0.5, 0.9]
    wedge = [0, 0, 0, 1, 0, 0, 0.5, 0.9, 0, 0, 0, 0.8, 1, 0, 0.8, 0.5, 0.9, 0.8]
    nodes = [tetrahedron, pyramid, wedge, CUBE]
    return [
        moved(MESH(n, [len(n) // 3, *range(len(n) // 3), 1], 1), 1.5 * (k % 2), 1.5 * (k // 2), 0)
        for k, n in enumerate(nodes)
    ]


def wall_and_balls(invert) -> list:
    """A wall, and the balls that touch it or do not."""
    wall = HEX(CUBE, 4, 4, 4, 1, [1] * 6)
    balls = [SPHERE((x, 0.3 + 0.4 * (k % 2), 1.05 + 0.35 * (k % 2)), 0.2, 1, 1) for k, x in enumerate((0.1, 0.4, 0.7, 1.0))]
    found = OVERLAPPING(wall, balls, invert)
    return [wall, found if isinstance(found, list) else [found]]


def opened() -> list:
    """A block cut half-way along its faces, the cut opened by moving the doubled nodes."""
    block = HEX(CUBE, 4, 4, 4, 1, [1] * 6)
    faces = [f for f in block.inter_element_faces_on_plane((0, 0, 0.5), (0, 0, 1)) if max(block.node(n)[0] for n in f) < 0.6]
    (part,) = MESH_SPLIT(block, faceset=faces, surfid1=7, surfid2=8)
    for upper, sign in ((7, 1.0), (8, -1.0)):
        for n in part.nodes_on_surface(upper):
            x, y, z = part.node(n)
            part.node(n, z=z - sign * 0.2 * (0.5 - x) if x < 0.5 else z)
    return [part]


def read_mesh(directory: str) -> list:
    """A mesh from a file, its coloured by the groups of the file."""
    nodes, elements, _ = PIPE((0, 0, 0), (0, 0, 1), 0.4, 0.4, 6, 24, 2, 1, [1] * 4).get_data()
    nodes, elements = np.array(nodes).reshape(-1, 3), np.array(elements).reshape(-1, 10)[:, 1:9]
    middle = nodes[elements].mean(1)
    part = np.where(middle[:, 2] > 0.5, np.where(middle[:, 0] > 0, 3, 2), 1)
    meshio.Mesh(nodes, [("hexahedron", elements)], cell_data={"part": [part]}).write(f"{directory}/mesh.vtu")
    nodes, elements, _ = MESH_READ(f"{directory}/mesh.vtu").get_data()
    nodes, elements = np.array(nodes).reshape(-1, 3), np.array(elements).reshape(-1, 10)
    groups = []
    for number in np.unique(elements[:, 9]):
        own = elements[elements[:, 9] == number]
        used, renumbered = np.unique(own[:, 1:9], return_inverse=True)
        own[:, 1:9] = renumbered.reshape(-1, 8)
        groups.append(MESH(nodes[used].ravel().tolist(), own.ravel().tolist(), 1))
    return groups


def read_surface(directory: str) -> list:
    """A ring from a surface file, cut into convex parts."""
    u, v = np.meshgrid(np.linspace(0, 2 * np.pi, 24, endpoint=False), np.linspace(0, 2 * np.pi, 10, endpoint=False), indexing="ij")
    points = np.stack((np.cos(u) * (1 + 0.35 * np.cos(v)), np.sin(u) * (1 + 0.35 * np.cos(v)), 0.35 * np.sin(v)), -1)
    numbers = np.arange(u.size).reshape(u.shape)
    a, b, c, d = numbers, np.roll(numbers, -1, 0), np.roll(numbers, (-1, -1), (0, 1)), np.roll(numbers, -1, 1)
    faces = np.concatenate((np.stack((a, b, c), -1), np.stack((a, c, d), -1))).reshape(-1, 3)
    lines = [f"v {x} {y} {z}" for x, y, z in points.reshape(-1, 3)] + [f"f {i} {j} {k}" for i, j, k in faces + 1]
    Path(f"{directory}/ring.obj").write_text("\n".join(lines) + "\n")
    return [hull(part.vertices) for part in CONVEX_READ(f"{directory}/ring.obj", decompose="ON")._content.polyhedra]


def cut_leg() -> list:
    """A table of which the plane cuts the leg that holds the point; the others stay."""
    table = HULL([0, 0, 1, 2, 0, 1, 2, 1, 1, 0, 1, 1, 0, 0, 1.2, 2, 0, 1.2, 2, 1, 1.2, 0, 1, 1.2], 1, 1)
    for x in (0, 1.7):
        for y in (0, 0.7):
            leg = [x, y, 0, x + 0.3, y, 0, x + 0.3, y + 0.3, 0, x, y + 0.3, 0]
            table = HULL(leg + [c + (k % 3 == 2) for k, c in enumerate(leg)], 1, 1, table)
    whole, _ = SPLIT(table, (0.15, 0.15, 0.5), (0, 0, 1), topoadj="ON")  # cut, and still one shape
    groups = [[], []]
    for polyhedron in whole._content.polyhedra:
        low = int(polyhedron.vertices[:, 2].max() < 0.6)
        groups[low].append(hull(polyhedron.vertices - [0, 0, 0.3 * low]))
    return groups


def weighed() -> list:
    """A bent bar and, as a ball, its mass centre outside of it."""
    bar_shape = BEND(bar(3.0, 30), (0, 0, 1.1), (0, -1, 0), 120)
    return [bar_shape, SPHERE(MASS_CENTER(bar_shape), 0.12, 1, 1)]


def points_of(mesh: MESH) -> list:
    """Integration points of a mesh as small balls."""
    return [SPHERE(tuple(point), 0.03, 1, 1) for point in mesh.surface_integration_points()]


def panels(directory: str) -> list:
    """Titles and shapes of all panels."""
    cube = [4, 0, 3, 2, 1, 1, 4, 0, 1, 5, 4, 1, 4, 1, 2, 6, 5, 1, 4, 2, 3, 7, 6, 1, 4, 0, 4, 7, 3, 1, 4, 4, 5, 6, 7, 1]
    roof = [0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1, 0.5, 0.2, 1.5, 0.5, 0.8, 1.5]
    bent = BEND(bar(3.0, 30), (0, 0, 1.1), (0, -1, 0), 120)
    brick = HEX(CUBE, 3, 3, 3, 1, [1] * 6, dx=[1, 2, 4], dz=[3, 1, 3])
    stone = stones()[0]
    block = lambda: HEX(CUBE, 3, 3, 3, 1, [1] * 6)  # noqa: E731
    box = ROUGH_HEX(stone, 4, 3, 3)
    across = np.array(box.node(1)) - box.node(0)
    far = 0 if across @ (0.5, -0.8, 0.4) > 0.0 else 1  # from the point of view
    rough = SPLIT(box, box.node(2), across)[far]
    tetrahedra = TETRAHEDRALIZE(PIPE((0, 0, 0), (0, 0, 1), 0.4, 0.3, 1, 12, 1, 1, [1] * 4), f"{directory}/pipe.h5", 0.004, 1.5)
    return [
        ("CONVEX, a collection", [HULL(roof, 1, 1, CONVEX(CUBE, cube, 1))]),
        ("HULL", [stone]),
        ("MESH: 4, 5, 6, 8 nodes", elements()),
        ("HEX with dx, dz", [brick]),
        ("ROUGH_HEX, half of it", [rough, COPY(stone)]),
        ("PIPE", [PIPE((0, 0, 0), (0.6, 0, 1), 0.4, 0.25, 6, 20, 2, 1, [1] * 4)]),
        ("TETRAHEDRALIZE", [tetrahedra]),
        ("ELLIP_MESH", [ELLIP_MESH((0, 0, 0), (1, 0.6, 0.5), 0.02, 1, 1)]),
        ("SPHERE", [SPHERE((0, 0, 0), 1, 1, 1)]),
        ("ELLIP, ROTATE", [ROTATE(ELLIP((0, 0, 0), (1, 0.6, 0.3), 1, 1), (0, 0, 0), (0, 1, 0), 35)]),
        ("COPY, SCALE, TRANSLATE", [bar(), SCALE(moved(COPY(bar()), 0, 1, 0), (0.5, 1, 3))]),
        ("BEND", [bent]),
        ("MESH2CONVEX, shrunk", [[shrunk(MESH2CONVEX(block()))]]),
        ("SPLIT of a HULL", pull_apart(SPLIT(COPY(stone), (0, 0, 0.1), (0.2, 0.1, 1)), 0.8)),
        ("SPLIT of a MESH", pull_apart(SPLIT(block(), (0.5, 0.5, 0.5), (0.3, 0.2, 1)), 0.3)),
        ("MESH_SPLIT, opened", opened()),
        ("SPLIT, topoadj = 'ON'", cut_leg()),
        ("MASS_CENTER", weighed()),
        ("integration points", [block(), points_of(block())]),
        ("MESH_READ, by group", read_mesh(directory)),
        ("CONVEX_READ, in parts", read_surface(directory)),
        ("inter-element faces", [section(block())]),
        ("OVERLAPPING", wall_and_balls(None)),
        ("OVERLAPPING 'NOT'", wall_and_balls("NOT")),
    ]


def section(mesh: MESH) -> list:
    """The faces between elements that lie on a plane, as thin plates."""
    faces = [np.array([mesh.node(n) for n in face]) for face in mesh.inter_element_faces_on_plane((1 / 3, 0, 0), (1, 0, 0))]
    return [hull(np.concatenate([face, face + [0.005, 0, 0]])) for face in faces]


def shrunk(convexes: CONVEX) -> CONVEX:
    """Every convex of a collection made smaller about its middle."""
    for polyhedron in convexes._content.polyhedra:
        middle = polyhedron.vertices.mean(0)
        polyhedron.vertices = middle + 0.75 * (polyhedron.vertices - middle)
    return convexes


def main() -> None:
    """Draw the gallery."""
    with tempfile.TemporaryDirectory() as directory, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sheet([(title, picture(groups)) for title, groups in panels(directory)], 6, HERE / "shapes.png", 96)


if __name__ == "__main__":
    main()
