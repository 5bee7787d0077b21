"""Draws the lowest modes of a free bar into docs/figures/modes.png: python docs/figures/modes.py."""

from __future__ import annotations

import tempfile
from io import BytesIO
from pathlib import Path

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from mpl_toolkits.mplot3d.art3d import Poly3DCollection
from PIL import Image

from solfec import BODY, BULK_MATERIAL, HEX, MODAL_ANALYSIS, SOLFEC
from solfec.language import session
from solfec.results.plot import COLOURS, INK, SURFACE

HERE = Path(__file__).resolve().parent
CORNERS = [0, 0, 0, 1, 0, 0, 1, 0.1, 0, 0, 0.1, 0, 0, 0, 0.05, 1, 0, 0.05, 1, 0.1, 0.05, 0, 0.1, 0.05]
SHOWN = ((6, "up and down"), (7, "sideways"), (8, "up and down"), (9, "torsion"), (10, "sideways"), (11, "up and down"))


def analyse(directory: str):
    """Nodes, outer faces and modes of the bar of docs/modes.md."""
    solfec = SOLFEC("DYNAMIC", 1e-3, directory)
    steel = BULK_MATERIAL(solfec, young=2e11, poisson=0.3, density=7800)
    mesh = HEX(CORNERS, 16, 2, 2, 1, [1] * 6)
    topology = mesh._content.topology
    nodes, faces = mesh._content.nodes.copy(), topology.face_nodes[topology.boundary]
    bar = BODY(solfec, "FINITE_ELEMENT", mesh, steel, form="BC")
    values, vectors = MODAL_ANALYSIS(bar, 12)
    return nodes, faces, np.array(values), np.reshape(vectors, (12, -1, 3))


def draw(panel, nodes: np.ndarray, faces: np.ndarray, shape: np.ndarray) -> None:
    """The bar at rest, pale, and deformed, coloured by displacement."""
    size = np.linalg.norm(shape, axis=1)
    moved = nodes + 0.12 * shape / size.max()
    depth = size[faces].mean(1) / size.max()
    panel.add_collection3d(Poly3DCollection(nodes[faces], facecolor="none", edgecolor=INK, lw=0.15, alpha=0.25))
    colours = [(*np.array(SURFACE_RGB) * (1 - d) + np.array(COLOUR_RGB) * d, 1.0) for d in depth]
    panel.add_collection3d(Poly3DCollection(moved[faces], facecolor=colours, edgecolor=INK, lw=0.25))
    panel.set(xlim=(-0.05, 1.15), ylim=(-0.2, 0.3), zlim=(-0.2, 0.25))
    panel.set_box_aspect((1, 0.5, 0.45), zoom=1.15)
    panel.view_init(22, -65)
    panel.set_axis_off()


def rgb(colour: str) -> tuple[float, ...]:
    """A colour '#rrggbb' as three numbers."""
    return tuple(int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5))


SURFACE_RGB, COLOUR_RGB = rgb(SURFACE), rgb(COLOURS[0])


def main() -> None:
    """Draw all panels."""
    before = session.begin(session.Session())
    with tempfile.TemporaryDirectory() as directory:
        nodes, faces, values, modes = analyse(directory + "/bar")
    session.begin(before)
    figure = Figure(figsize=(8.0, 4.0), dpi=110, facecolor=SURFACE)
    FigureCanvasAgg(figure)
    for place, (number, name) in enumerate(SHOWN):
        panel = figure.add_axes(((place % 3) / 3, 0.5 - 0.5 * (place // 3), 1 / 3, 0.46), projection="3d", facecolor=SURFACE)
        draw(panel, nodes, faces, modes[number])
        text = f"{np.sqrt(values[number]) / (2 * np.pi):.0f} Hz, {name}"
        figure.text((place % 3) / 3 + 0.02, 0.93 - 0.5 * (place // 3), text, fontsize=9, color=INK, fontweight="bold")
    picture = BytesIO()
    figure.savefig(picture, format="png")
    Image.open(picture).convert("RGB").quantize(128).save(HERE / "modes.png", optimize=True)


if __name__ == "__main__":
    main()
