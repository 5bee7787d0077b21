"""Bars and cubes of finite elements for the tests of this folder."""

from pathlib import Path

import numpy as np
import pytest
from body_models import SteppedBodies

from solfec.bodies.finite_elements import FiniteElementMesh
from solfec.bodies.table import BodyKind, Energy, Form, Scheme
from solfec.shapes.characteristics import characteristics
from solfec.shapes.mesh import Mesh

DATA = Path(__file__).parent.parent / "data" / "bodies"


def block(counts, low=(0, 0, 0), high=(1, 1, 1)):
    """A Mesh of counts[0] x counts[1] x counts[2] hexahedra, nodes x first."""
    axes = [np.linspace(low[i], high[i], counts[i] + 1) for i in range(3)]
    z, y, x = np.meshgrid(*reversed(axes), indexing="ij")
    nodes = np.stack([x.ravel(), y.ravel(), z.ravel()], 1)
    nx, ny = counts[0] + 1, counts[1] + 1

    def n(i, j, k):
        return i + nx * (j + ny * k)

    elements = []
    for k in range(counts[2]):
        for j in range(counts[1]):
            for i in range(counts[0]):
                base = [n(i, j, k), n(i + 1, j, k), n(i + 1, j + 1, k), n(i, j + 1, k)]
                elements += [8, *base, *(b + nx * ny for b in base), 0]
    return Mesh.from_records(nodes.ravel(), elements)


def lame_of(young, poisson):
    return young * poisson / ((1 + poisson) * (1 - 2 * poisson)), young / (2 * (1 + poisson))


class ElementModel(SteppedBodies):
    """Finite element bodies."""

    def add(self, mesh, young=1e9, poisson=0.25, density=1e3, form=Form.TL, scheme=Scheme.DEF_EXP, damping=0.0, lame=None, base=None):
        volume, centre, euler = characteristics([mesh])
        return self.bodies.add(
            BodyKind.FINITE_ELEMENT, mesh=FiniteElementMesh.of(mesh), base=base, id=self.bodies.n + 1, form=int(form), scheme=scheme,
            mass=density * volume, volume=volume, centre=centre, tensor=density * np.asarray(euler), damping=damping,
            lame=lame or lame_of(young, poisson),
        )  # fmt: skip

    def spin(self, row, linear, angular):
        arm = self.bodies.meshes[int(self.bodies.id[row])].nodes - self.bodies.centre[:, row]
        self.velo(row)[:] = (np.asarray(linear) + np.cross(angular, arm)).T


def follow_reference(model, case):
    """Run a bar of 30 nodes and compare its states with Solfec-1.0's at all stored times."""
    with np.load(DATA / "finite_element_bar.npz") as data:
        time, conf, velo, energy = (data[f"case{case['index']:02d}_{name}"] for name in ("time", "conf", "velo", "energy"))
    frame = {round(t / case["step"]): k for k, t in enumerate(time) if t > 0}
    seen = []

    def compare(step):
        if step in frame:
            k = frame[step]
            seen.append(k)
            assert np.abs(model.conf()[:, :30].T.ravel() - conf[k]).max() < 1e-9 * np.abs(conf).max()
            assert np.abs(model.velo()[:, :30].T.ravel() - velo[k]).max() < 1e-9 * np.abs(velo).max()
            kinetic, external, _, _, internal = energy[k]
            ours = model.bodies.energy[[Energy.KINETIC, Energy.EXTERNAL, Energy.INTERNAL], 0]
            assert ours == pytest.approx([kinetic, external, internal], abs=1e-9 * np.abs(energy).max())

    model.run(case["step"], case["steps"], compare)
    assert len(seen) == len(frame)
