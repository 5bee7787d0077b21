"""Draws the contact points of the arch, all, sparsified and those of MANIFOLD, into docs/figures/contacts.png: python docs/figures/contacts.py."""

from __future__ import annotations

import tempfile
from math import cos, pi, sin

import numpy as np
from make import HERE, save, shown
from matplotlib.figure import Figure
from PIL import Image

from solfec import AUTO_SOLVER, BODY, BULK_MATERIAL, CONTACT_SPARSIFY, GEOMETRIC_EPSILON, GRAVITY, HEX, RUN, SOLFEC, SURFACE_MATERIAL
from solfec.language import session
from solfec.results.plot import COLOURS, INK, MUTED

RADIUS, RATIO, WIDTH, COUNT = 10.0, 0.16, 3.0, 9


def corners(start: float, end: float) -> list[float]:
    """The eight corners of the block between two angles."""
    inner, outer, nodes = RADIUS * (1 - RATIO / 2), RADIUS * (1 + RATIO / 2), []
    for angle in (start, end):
        for r, y in ((inner, -WIDTH / 2), (outer, -WIDTH / 2), (outer, WIDTH / 2), (inner, WIDTH / 2)):
            nodes += [-r * cos(angle), y, r * sin(angle)]
    return nodes


def contacts(directory: str, threshold: float | None) -> tuple[Image.Image, np.ndarray]:
    """A picture of the arch after its first step, and its contact points (n, 3); without threshold those of MANIFOLD, of blocks of one cell."""
    GEOMETRIC_EPSILON(1e-4)
    plain = threshold is None
    solfec = SOLFEC("DYNAMIC", 1e-3, f"{directory}/{threshold}", contacts="MANIFOLD" if plain else "CLASSIC")
    solfec.verbose = "OFF"
    SURFACE_MATERIAL(solfec, friction=0.5)
    if not plain:
        CONTACT_SPARSIFY(solfec, threshold, 0, 0 if threshold == 0 else 1e-4)
    cells = {"i": 1, "j": 1} if plain else {"i": 3, "j": 2, "dx": [0.05, 1.9, 0.05]}
    bulk = BULK_MATERIAL(solfec, density=0.97)
    GRAVITY(solfec, (0, 0, -9.81))
    opening = pi / COUNT
    for number in range(-1, COUNT + 1):
        nodes = corners(number * opening, (number + 1) * opening)
        kind = "OBSTACLE" if number in (-1, COUNT) else "RIGID"
        BODY(solfec, kind, HEX(nodes, k=1, volid=1, surfids=[1] * 6, **cells), bulk)
    RUN(solfec, AUTO_SOLVER(), 1e-3)
    points = [constraint.point for constraint in solfec.constraints if constraint.kind == "CONTACT"]
    GEOMETRIC_EPSILON(1e-6)
    picture = shown(solfec, "perspective/ortho", "look -64,24", "fit", "wireframe all", "result constraints", *["smaller arrows"] * 3, size=(960, 560))
    return picture, np.array(points)


def draw_joint(panel, points: np.ndarray, cells: bool) -> None:
    """One joint, seen along its normal: cells, if there are any, and contact points."""
    angle = pi / COUNT * 4
    radial, along = np.array([-cos(angle), 0.0, sin(angle)]), np.array([sin(angle), 0.0, cos(angle)])
    here = points[(np.abs(points @ along) < 0.01) & (points @ radial > 0.0)]
    inner, outer = RADIUS * (1 - RATIO / 2), RADIUS * (1 + RATIO / 2)
    for part in (0.0, 0.025, 0.975, 1.0) if cells else (0.0, 1.0):
        panel.plot([-WIDTH / 2, WIDTH / 2], [inner + part * (outer - inner)] * 2, color=INK, lw=0.6)
    for y in (-WIDTH / 2, 0.0, WIDTH / 2) if cells else (-WIDTH / 2, WIDTH / 2):
        panel.plot([y, y], [inner, outer], color=INK, lw=0.6)
    panel.scatter(here[:, 1], here @ radial, s=16, color=COLOURS[1], linewidths=0, zorder=10)
    panel.set_aspect("equal")
    panel.set_axis_off()
    panel.set_title(f"one joint: {len(here)}", fontsize=8, color=MUTED, y=-0.18)


def main() -> None:
    """Draw the arch for three thresholds, and with MANIFOLD."""
    figure = Figure(figsize=(9.6, 8.2), dpi=100, facecolor="white")
    panels = (0, "all"), (0.005, "threshold 0.005"), (0.05, "threshold 0.05"), (None, "MANIFOLD, one cell")
    with tempfile.TemporaryDirectory() as directory:
        for number, (threshold, title) in enumerate(panels):
            picture, points = contacts(directory, threshold)
            left, bottom, cells = number % 2 / 2, 0.5 - 0.5 * (number // 2), threshold is not None
            panel = figure.add_axes((left, bottom + 0.15, 1 / 2, 0.32))
            panel.imshow(picture)
            panel.set_axis_off()
            panel.set_title(f"{title}: {len(points)} contact points", fontsize=9, color=INK, fontweight="bold")
            draw_joint(figure.add_axes((left + 0.03, bottom + 0.03, 1 / 2 - 0.06, 0.15)), points, cells)
        session.current().close()
    save(figure, HERE / "contacts.png", 64)


if __name__ == "__main__":
    main()
