"""Draws how errors of finite elements fall with the size of elements into docs/figures/mesh-convergence.png: python docs/figures/mesh_convergence.py.

The bodies, loads and closed forms are those of the acceptance tests.
"""

from __future__ import annotations

import sys

import numpy as np
from make import HERE, save
from matplotlib.figure import Figure

from solfec.results.plot import COLOURS, INK, SURFACE

sys.path.insert(0, str(HERE.parents[1] / "tests" / "acceptance"))

from elastic import Body, grid, octant  # noqa: E402
from test_elasticity import POISSON, YOUNG, deflected_beam, ring_under_pressure  # noqa: E402

COUNTS = (2, 4, 8, 16)


def ring(n: int) -> float:
    """Radial displacement of a ring under internal pressure, the largest difference from Lamé's, n elements through the wall."""
    body, q, radius = ring_under_pressure(n, n)
    exact = 6e7 / YOUNG / 3 * (0.7 * radius + 1.3 * 0.04 / radius)
    return np.abs((q * body.nodes)[:, :2].sum(1) / radius / exact - 1).max()


def sphere(n: int) -> float:
    """Error of a hollow sphere under pressure."""
    body = Body(octant(1.0, 2.0, n, n), YOUNG, POISSON)
    radius = np.linalg.norm(body.nodes, axis=1)
    q = body.equilibrium(body.pressure(1e8, np.abs(radius - 1) < 1e-9), np.abs(body.nodes) < 1e-9)
    exact = 1e8 / YOUNG / 7 * (0.4 * radius + 1.3 * 8 / (2 * radius**2))
    return np.abs((q * body.nodes).sum(1) / radius / exact - 1).max()


def bar(n: int) -> float:
    """First longitudinal frequency of a free bar of 2 n elements with lumped masses: a chain, (2 c / l) sin(pi l / 2 L)."""
    body = Body(grid((2 * n, 1, 1), lambda p: p * (1.0, 0.05, 0.05)), YOUNG, 0.0, 7800.0)
    mass = np.repeat(body.mass, 3)
    along = np.cos(np.pi * np.repeat(body.nodes[:, 0], 3)) * np.tile([1.0, 0.0, 0.0], len(body.nodes))
    square = along @ (body.stiffness() @ along) / (along @ (mass * along))  # of its mode, which is exact in the nodes
    return abs(np.sqrt(square * 7800.0 / YOUNG) / np.pi - 1)


CASES = {  # label: error of n elements, numbers of elements
    "ring under pressure (Lamé)": (ring, COUNTS),
    "hollow sphere under pressure (Lamé)": (sphere, COUNTS[:3]),
    "cantilever (Timoshenko), plain": (lambda n: abs(deflected_beam((10 * n, n, n), False) - 1), COUNTS[:3]),
    "frequency of a bar": (bar, COUNTS),
}


def main() -> None:
    figure = Figure(figsize=(6.4, 4.2), facecolor=SURFACE)
    axes = figure.add_subplot(facecolor=SURFACE)
    for (label, (error, counts)), colour, marker in zip(CASES.items(), COLOURS, "osD^"):
        size = 1 / np.array(counts)
        axes.loglog(size, [error(n) for n in counts], marker=marker, color=colour, label=label, markersize=5, linewidth=1.2)
    guide = np.array([1 / COUNTS[0], 1 / COUNTS[-1]])
    axes.loglog(guide, 0.6 * (guide / guide[0]) ** 2, color=INK, linewidth=0.8, linestyle=":", label="second order")
    axes.set_xticks([1 / n for n in COUNTS], [f"1/{n}" for n in COUNTS])
    axes.set_xticks([], minor=True)
    axes.set_xlabel("size of elements over thickness (bar: over half of its length)")
    axes.set_ylabel("relative error")
    axes.set_ylim(top=20)  # room for the legend
    axes.legend(frameon=False, fontsize=8, loc="upper left")
    axes.spines[["top", "right"]].set_visible(False)
    save(figure, HERE / "mesh-convergence.png", 64, dpi=110, bbox_inches="tight", facecolor=SURFACE)


if __name__ == "__main__":
    main()
