"""Draws how errors of time integration fall with the step into docs/figures/convergence.png: python docs/figures/convergence.py."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from solfec.bodies.materials import BulkMaterial
from solfec.bodies.table import BodyKind, Form, Scheme
from solfec.domain import Domain
from solfec.results.plot import COLOURS, INK, SURFACE
from solfec.shapes.hex_mesh import hex_mesh
from solfec.solvers.gauss_seidel import GaussSeidelSolver

CORNERS = [0, 0, 0, 1, 0, 0, 1, 0.2, 0, 0, 0.2, 0, 0, 0, 0.2, 1, 0, 0.2, 1, 0.2, 0.2, 0, 0.2, 0.2]
DURATION, STEPS = 0.02, (40, 80, 160, 320)
ELEMENTS = BodyKind.FINITE_ELEMENT
CASES = {  # label: kind, form, scheme, conserving
    "TL, DEF_EXP": (ELEMENTS, Form.TL, Scheme.DEF_EXP, 0),
    "TL, DEF_LIM": (ELEMENTS, Form.TL, Scheme.DEF_LIM, 0),
    "TL, DEF_LIM, conserving": (ELEMENTS, Form.TL, Scheme.DEF_LIM, 1),
    "BC, DEF_EXP": (ELEMENTS, Form.BC, Scheme.DEF_EXP, 0),
    "BC, DEF_LIM": (ELEMENTS, Form.BC, Scheme.DEF_LIM, 0),
    "rigid, RIG_POS": (BodyKind.RIGID, Form.NONE, Scheme.RIG_POS, 0),
    "rigid, RIG_NEG": (BodyKind.RIGID, Form.NONE, Scheme.RIG_NEG, 0),
    "rigid, RIG_IMP": (BodyKind.RIGID, Form.NONE, Scheme.RIG_IMP, 0),
    "pseudo-rigid, DEF_EXP": (BodyKind.PSEUDO_RIGID, Form.NONE, Scheme.DEF_EXP, 0),
    "pseudo-rigid, DEF_LIM": (BodyKind.PSEUDO_RIGID, Form.NONE, Scheme.DEF_LIM, 0),
}


def bar_end(kind: BodyKind, form: Form, scheme: Scheme, conserving: int, steps: int) -> np.ndarray:
    """Where a corner of a soft bar is that turns, stretches and bends for 20 ms, as far as its kind can."""
    domain = Domain(DURATION / steps)
    material = BulkMaterial(young=1e6, poisson=0.3, density=1000.0)
    body = domain.insert_body(kind, [hex_mesh(CORNERS, 4, 1, 1, 1, [1] * 6)], material, form=form)
    row = domain.body_row(body)
    domain.bodies.scheme[row], domain.bodies.conserving[row] = scheme, conserving
    spin = np.array((30.0, 10.0, 5.0) if kind == BodyKind.RIGID else (0.0, 10.0, 5.0))
    domain.states.set_velocity(body, (0.0, 0.0, 0.0), spin)
    if kind == ELEMENTS:
        nodes = domain.bodies.meshes[body].nodes
        velocity = np.cross(spin, nodes - nodes.mean(0))
        velocity[:, 0] += 4.0 * nodes[:, 0]
        domain.states.set_velo(body, velocity.ravel())
    elif kind == BodyKind.PSEUDO_RIGID:
        velocity = domain.states.velo(body)
        velocity[0] += 4.0  # of the gradient along the bar
        domain.states.set_velo(body, velocity)
    for _ in range(steps):
        domain.advance(GaussSeidelSolver(1e-9, 10))
    return domain.points.displacement(body, (1.0, 0.2, 0.2))


def errors(kind: BodyKind, form: Form, scheme: Scheme, conserving: int, counts: tuple = STEPS) -> np.ndarray:
    """Differences of the places for numbers of steps from what they and one more halving of the step lead to."""
    ends = [bar_end(kind, form, scheme, conserving, steps) for steps in (*counts, 2 * counts[-1])]
    limit = ends[-1] + (ends[-1] - ends[-2]) / 3
    return np.array([np.linalg.norm(end - limit) for end in ends[:-1]])


def main() -> None:
    from make import HERE, save  # tests read this module from elsewhere

    figure = Figure(figsize=(9.6, 4.4), facecolor=SURFACE)
    steps = DURATION / np.array(STEPS)
    panels = figure.subplots(1, 2, sharex=True)
    panels[0].set_ylabel("error of place after 20 ms [mm]")
    for axes, elements, height in zip(panels, (True, False), (0.04, 0.1)):
        axes.set_facecolor(SURFACE)
        cases = [(label, case) for label, case in CASES.items() if (case[0] == ELEMENTS) == elements]
        for (label, case), colour, marker in zip(cases, COLOURS, "osD^v"):
            axes.loglog(steps * 1e3, errors(*case) * 1e3, marker=marker, color=colour, label=label, markersize=5, linewidth=1.2)
        guide = steps[[0, -1]]
        axes.loglog(guide * 1e3, height * (guide / guide[0]) ** 2, color=INK, linewidth=0.8, linestyle=":", label="second order")
        axes.set_xticks(steps * 1e3, [f"{1e3 * step:g}" for step in steps])
        axes.set_xticks([], minor=True)
        axes.set_xlabel("step [ms]")
        axes.set_title("finite elements" if elements else "rigid and pseudo-rigid", fontsize=10, color=INK)
        axes.set_ylim(top=axes.get_ylim()[1] * (3 if elements else 60))  # room for the legend
        axes.legend(frameon=False, fontsize=8, loc="upper left")
        axes.spines[["top", "right"]].set_visible(False)
    save(figure, HERE / "convergence.png", 64, dpi=110, bbox_inches="tight", facecolor=SURFACE)


if __name__ == "__main__":
    main()
