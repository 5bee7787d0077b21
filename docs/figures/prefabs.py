"""Draws solids and assemblies into docs/figures/prefabs.png: python docs/figures/prefabs.py."""

from __future__ import annotations

import numpy as np
from make import HERE, rgb, sheet, shown
from PIL import Image

from solfec import ARCH, BODY, BOX, BULK_MATERIAL, CAPSULE, CYLINDER, PACKING, PLANE, SOLFEC, SPHERE, TERRAIN, VORONOI, WALL
from solfec.results.plot import COLOURS


def picture(shapes: list, look: str = "-58,22") -> Image.Image:
    """One panel: every shape is a body, in one of a few colours."""
    model = SOLFEC("DYNAMIC", 1.0)
    model.verbose = "OFF"
    bulk, colours = BULK_MATERIAL(model), {}
    for number, shape in enumerate(shapes):
        colours[BODY(model, "OBSTACLE", shape, bulk).id] = rgb(COLOURS[number % len(COLOURS)])
    return shown(model, "perspective/ortho", f"look {look}", "fit", size=(230, 190), colours=colours)


def hills() -> np.ndarray:
    """Heights of some hills."""
    x, y = np.meshgrid(np.linspace(-2, 2, 24), np.linspace(-2, 2, 24), indexing="ij")
    return 0.6 * np.exp(-((x - 0.6) ** 2) - y**2) + 0.35 * np.cos(2 * x) * np.sin(1.5 * y)


def panels() -> list:
    """Titles and pictures."""
    cells = VORONOI(BOX((0, 0, 0), (1, 1, 1)), 12, relax=3)
    return [
        ("BOX, with and without divisions", picture([BOX((0, 0, 0), (2, 1, 0.6)), BOX((0, 1.4, 0), (2, 1, 0.6), divisions=(6, 3, 2))])),
        ("CYLINDER", picture([CYLINDER((0, 0, 0), (0.4, 0, 1), 0.4)])),
        ("CAPSULE", picture([CAPSULE((0, 0, 0), (0.4, 0, 1), 0.4)])),
        ("PLANE, and a ball on it", picture([PLANE((0, 0, 0), (0.2, 0, 1), 3), SPHERE((0.08, 0, 0.4), 0.4, 0, 0)])),
        ("TERRAIN", picture([TERRAIN(hills(), 0.17, depth=0.3)], "-50,35")),
        ("WALL", picture(WALL(5, 7, (0.5, 0.25, 0.2)))),
        ("ARCH", picture(ARCH(2, 0.5, 1.2, 11))),
        ("PACKING of balls", picture(PACKING(220, (0, 0, 0), (1, 1, 1), (0.04, 0.09)))),
        ("PACKING of a stone", picture(PACKING(150, (0, 0, 0), (1, 1, 1), (0.08, 0.1), shape=cells[0]))),
    ]


if __name__ == "__main__":
    sheet(panels(), 3, HERE / "prefabs.png", 96)
