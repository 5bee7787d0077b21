"""Draws every command that makes or changes shapes into docs/figures/shapes.png: python docs/figures/shapes.py."""

from __future__ import annotations

import tempfile
import warnings
from io import BytesIO
from pathlib import Path

import meshio
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from mpl_toolkits.mplot3d.art3d import Poly3DCollection
from PIL import Image

from solfec import (
    BEND,
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
    SPHERE,
    SPLIT,
    TETRAHEDRALIZE,
    TRANSLATE,
)  # fmt: skip
from solfec.results.plot import COLOURS, INK, SURFACE
from solfec.shapes.ellipsoid import Ellipsoid
from solfec.shapes.mesh import Mesh
from solfec.shapes.sphere import Sphere

HERE = Path(__file__).resolve().parent
CUBE = [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1]
LIGHT = np.array([0.4, -0.7, 0.6])


def polygons(shape) -> list[np.ndarray]:
    """Corners of the faces that a shape object shows, as the viewer will draw them; an array is one face."""
    if isinstance(shape, np.ndarray):
        return [shape]
    content = shape._content
    if isinstance(content, Mesh):
        topology = content.topology
        rows = np.flatnonzero(topology.boundary).tolist()
        return [content.nodes[topology.face_nodes[row, : topology.face_size[row]]] for row in rows]
    if isinstance(content, (Sphere, Ellipsoid)):
        radii = content.radii if isinstance(content, Ellipsoid) else np.full(3, content.radius)
        turn = content.rotation if isinstance(content, Ellipsoid) else np.eye(3)
        u, v = np.meshgrid(np.linspace(0, 2 * np.pi, 25), np.linspace(0, np.pi, 13))
        grid = np.stack((np.cos(u) * np.sin(v), np.sin(u) * np.sin(v), np.cos(v)), -1) * radii @ turn.T + content.centre
        return [grid[[i, i + 1, i + 1, i], [j, j, j + 1, j + 1]] for i in range(12) for j in range(24)]
    return [p.vertices[list(face)] for p in content.polyhedra for face in p.faces]


def draw(panel, title: str, groups: list) -> None:
    """One panel: groups of shapes, each in its colour, all at one scale."""
    every, colours = [], []
    for number, group in enumerate(groups):
        faces = [face for shape in (group if isinstance(group, list) else [group]) for face in polygons(shape)]
        base = np.array([int(COLOURS[number % len(COLOURS)][i : i + 2], 16) / 255 for i in (1, 3, 5)])
        for face in faces:
            normal = np.cross(face[1] - face[0], face[2] - face[0]) + np.cross(face[2] - face[0], face[-1] - face[0])
            lit = 0.75 + 0.25 * (normal @ LIGHT) / max(np.linalg.norm(normal) * np.linalg.norm(LIGHT), 1e-30)
            colours.append(1.0 - (1.0 - base) * 0.8 if lit > 0.95 else base * lit)
        every += faces
    # limits are set below; matplotlib would take them from padding of faces with fewer corners, too
    panel.add_collection3d(Poly3DCollection(every, facecolors=colours, edgecolors=INK, linewidths=0.2), autolim=False)
    points = np.concatenate(every)
    lower, upper = points.min(0), points.max(0)
    half = 0.5 * np.maximum(upper - lower, 0.4 * (upper - lower).max())
    middle = 0.5 * (lower + upper)
    for axis, m, h in zip("xyz", middle, half):
        getattr(panel, f"set_{axis}lim")(m - h, m + h)
    panel.set_box_aspect(half, zoom=1.0)
    panel.set_axis_off()
    panel.patch.set_alpha(0.0)
    panel.view_init(22, -58)
    panel.set_title(title, fontsize=7, color=INK, fontweight="bold", y=1.0)


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
    """A mesh from a file, its outer faces coloured by the groups of the file."""
    nodes, elements, _ = PIPE((0, 0, 0), (0, 0, 1), 0.4, 0.4, 6, 24, 2, 1, [1] * 4).get_data()
    nodes, elements = np.array(nodes).reshape(-1, 3), np.array(elements).reshape(-1, 10)[:, 1:9]
    middle = nodes[elements].mean(1)
    part = np.where(middle[:, 2] > 0.5, np.where(middle[:, 0] > 0, 3, 2), 1)
    meshio.Mesh(nodes, [("hexahedron", elements)], cell_data={"part": [part]}).write(f"{directory}/mesh.vtu")
    content = MESH_READ(f"{directory}/mesh.vtu")._content
    topology, groups = content.topology, {}
    for row in np.flatnonzero(topology.boundary).tolist():
        groups.setdefault(int(content.volume_ids[topology.face_element[row]]), []).append(content.nodes[topology.face_nodes[row]])
    return [groups[number] for number in sorted(groups)]


def read_surface(directory: str) -> list:
    """A ring from a surface file, cut into convex parts."""
    u, v = np.meshgrid(np.linspace(0, 2 * np.pi, 24, endpoint=False), np.linspace(0, 2 * np.pi, 10, endpoint=False), indexing="ij")
    points = np.stack((np.cos(u) * (1 + 0.35 * np.cos(v)), np.sin(u) * (1 + 0.35 * np.cos(v)), 0.35 * np.sin(v)), -1)
    numbers = np.arange(u.size).reshape(u.shape)
    a, b, c, d = numbers, np.roll(numbers, -1, 0), np.roll(numbers, (-1, -1), (0, 1)), np.roll(numbers, -1, 1)
    faces = np.concatenate((np.stack((a, b, c), -1), np.stack((a, c, d), -1))).reshape(-1, 3)
    lines = [f"v {x} {y} {z}" for x, y, z in points.reshape(-1, 3)] + [f"f {i} {j} {k}" for i, j, k in faces + 1]
    Path(f"{directory}/ring.obj").write_text("\n".join(lines) + "\n")
    parts = CONVEX_READ(f"{directory}/ring.obj", decompose="ON")._content.polyhedra
    return [[p.vertices[list(face)] for face in p.faces] for p in parts]


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
        groups[low] += [polyhedron.vertices[list(face)] - [0, 0, 0.3 * low] for face in polyhedron.faces]
    return groups


def weighed() -> list:
    """A bent bar and, as a ball, its mass centre outside of it."""
    bar_shape = BEND(bar(3.0, 30), (0, 0, 1.1), (0, -1, 0), 120)
    return [bar_shape, SPHERE(MASS_CENTER(bar_shape), 0.12, 1, 1)]


def points_of(mesh: MESH) -> list:
    """Integration points of a mesh as small balls."""
    return [HULL((np.array(p) + 0.03 * np.array([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]])).ravel(), 1, 1)
            for p in mesh.surface_integration_points()]  # fmt: skip


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
    """The faces between elements that lie on a plane."""
    return [np.array([mesh.node(n) for n in face]) for face in mesh.inter_element_faces_on_plane((1 / 3, 0, 0), (1, 0, 0))]


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
        every = panels(directory)
    figure = Figure(figsize=(9.6, 7.4), dpi=100, facecolor=SURFACE)
    FigureCanvasAgg(figure)
    for number, (title, groups) in enumerate(every):
        draw(figure.add_subplot(4, 6, number + 1, projection="3d"), title, groups)
    figure.subplots_adjust(0.0, 0.0, 1.0, 0.96, 0.0, 0.06)
    memory = BytesIO()
    figure.savefig(memory)
    Image.open(memory).convert("RGB").quantize(48).save(HERE / "shapes.png", optimize=True)


if __name__ == "__main__":
    main()
