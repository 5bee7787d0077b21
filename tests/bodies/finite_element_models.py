"""Bars and cubes of finite elements for the tests of this folder."""

import numpy as np

from solfec.bodies import motion
from solfec.bodies.finite_elements import FiniteElementMesh
from solfec.bodies.loads import Loads
from solfec.bodies.table import BodyKind, BodyTable, Form, Scheme
from solfec.shapes.characteristics import characteristics
from solfec.shapes.mesh import Mesh


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


class ElementModel:
    """Finite element bodies with loads, stepped without constraints."""

    def __init__(self):
        self.bodies = BodyTable()
        self.loads = Loads(self.bodies)
        self.time = 0.0

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

    def initialise(self):
        motion.initialise_inertia(self.bodies)
        return self

    def run(self, step, steps, after=None):
        start = self.time
        for k in range(steps):
            motion.predict(self.bodies, self.loads, start + k * step, step)
            motion.correct(self.bodies, step)
            if after is not None:
                after(k + 1)
        self.time = start + steps * step

    def conf(self, row=0):
        return self.bodies.configurations.conf[:, self.bodies.conf_slice(row)]

    def velo(self, row=0):
        return self.bodies.triples.velo[:, self.bodies.velo_slice(row)]

    def energy(self, which, row=0):
        return self.bodies.energy[which, row]
