"""Draws convergence with the step, and a shape inside a mesh, into docs/figures/bodies.png: python docs/figures/bodies.py."""

from __future__ import annotations

import tempfile
from math import cos, pi

import numpy as np
from make import HERE, rgb, save, shown
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter

from solfec import AUTO_SOLVER, BODY, BULK_MATERIAL, FIX_POINT, FORCE, GAUSS_SEIDEL_SOLVER, HEX, MESH2CONVEX, OUTPUT, PIPE, RUN, SCALE, SOLFEC
from solfec.language import session
from solfec.results.plot import COLOURS, GRID, INK, MUTED

CUBE = [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1]
CASES = (("TL", "DEF_EXP", "o"), ("TL", "DEF_LIM", "s"), ("BC", "DEF_EXP", "^"), ("BC", "DEF_LIM", "D"))
STEPS = (32, 64, 128, 256)
DURATION = 0.025


def elongation(directory: str, form: str, scheme: str, steps: int) -> float:
    """Of a free bar released from its first longitudinal mode, after 0.025 s."""
    solfec = SOLFEC("DYNAMIC", DURATION / steps, f"{directory}/{form}{scheme}{steps}")
    solfec.verbose = "OFF"
    OUTPUT(solfec, DURATION)
    bulk = BULK_MATERIAL(solfec, young=1e6, poisson=0.0, density=1000)
    bar = BODY(solfec, "FINITE_ELEMENT", SCALE(HEX(CUBE, 1, 1, 10, 1, [1] * 6), (0.1, 0.1, 1)), bulk, form=form)
    bar.scheme = scheme
    heights = [bar.mesh.node(n)[2] for n in range(bar.mesh.nnod)]
    bar.conf = [number for z in heights for number in (0.0, 0.0, -0.01 * cos(pi * z))]
    RUN(solfec, GAUSS_SEIDEL_SOLVER(1e-6, 10), DURATION)
    moved = np.reshape(bar.conf, (-1, 3))[:, 2]
    return moved[np.isclose(heights, 1)].mean() - moved[np.isclose(heights, 0)].mean()


def draw_convergence(panel, directory: str) -> None:
    """Errors of elongations over steps."""
    for k, (form, scheme, marker) in enumerate(CASES):
        exact = elongation(directory, form, scheme, 1024)
        errors = [abs(elongation(directory, form, scheme, n) / exact - 1) for n in STEPS]
        panel.loglog([DURATION / n for n in STEPS], errors, marker, ls="-", color=COLOURS[k], ms=4, lw=1.2, mfc="none" if k > 1 else None,
                     label=f"'{form}', '{scheme}'")  # fmt: skip
    h = np.array([DURATION / STEPS[0], DURATION / STEPS[-1]])
    panel.loglog(h, 0.4 * errors[0] * (h / h[0]) ** 2, color=MUTED, lw=0.8, ls="--", label="slope 2")
    panel.legend(frameon=False, fontsize=7, labelcolor=MUTED)
    panel.grid(color=GRID, lw=0.6)
    panel.set_xlabel("step h", fontsize=8, color=MUTED)
    panel.set_title("relative error of a bar's elongation", fontsize=9, color=INK, fontweight="bold")
    panel.tick_params(labelsize=7, colors=MUTED, which="both")
    panel.xaxis.set_minor_formatter(NullFormatter())
    for spine in panel.spines.values():
        spine.set_color(GRID)


def draw_shape(panel, directory: str) -> None:
    """A pipe inside 3 x 3 x 2 hexahedra, held at one side and pushed at the other."""
    solfec = SOLFEC("QUASI_STATIC", 0.1, f"{directory}/pipe")
    solfec.verbose = "OFF"
    bulk = BULK_MATERIAL(solfec, young=1e6, poisson=0.3, density=1000)
    mesh = SCALE(HEX(CUBE, 3, 3, 2, 1, [1] * 6), (2, 2, 1))
    body = BODY(solfec, "FINITE_ELEMENT", MESH2CONVEX(PIPE((1, 1, 0), (0, 0, 1), 0.45, 0.5, 2, 32, 2, 1, [1] * 4)), bulk, form="BC",
                mesh=mesh)  # fmt: skip
    for z in (0.0, 0.5, 1.0):
        FIX_POINT(body, (0.05 + 1e-9, 1, z))
        FORCE(body, "SPATIAL", (1.95 - 1e-9, 1, z), (0, 0, -1), 1.5e3)
    RUN(solfec, AUTO_SOLVER(1e-8), 8.0)
    picture = shown(solfec, "perspective/ortho", "look -62,28", "toggle rough mesh 1", "fit", *["zoom out"] * 2, size=(900, 720), colours={1: rgb(COLOURS[0])})
    panel.imshow(picture)
    panel.set_axis_off()
    panel.set_title("a pipe of convexes bends with 18 hexahedra", fontsize=9, color=INK, fontweight="bold", y=1.0)


def main() -> None:
    """Both panels side by side."""
    figure = Figure(figsize=(9.0, 3.8), dpi=100, facecolor="white")
    with tempfile.TemporaryDirectory() as directory:
        draw_convergence(figure.add_axes((0.08, 0.14, 0.38, 0.74), facecolor="white"), directory)
        draw_shape(figure.add_axes((0.5, 0.0, 0.5, 0.92)), directory)
        session.current().close()
    save(figure, HERE / "bodies.png", 128)


if __name__ == "__main__":
    main()
