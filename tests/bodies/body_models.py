"""Small body tables for the tests of this folder."""

import numpy as np

from solfec.bodies import motion
from solfec.bodies.loads import Loads
from solfec.bodies.materials import BulkMaterial
from solfec.bodies.table import BodyKind, BodyTable, Scheme

RIGID_SCHEMES = (Scheme.RIG_POS, Scheme.RIG_NEG, Scheme.RIG_IMP)


def skew(w):
    """The matrix of w x."""
    return np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])


class SteppedBodies:
    """Bodies with their loads and a clock, stepped without constraints."""

    def __init__(self):
        self.bodies = BodyTable()
        self.loads = Loads(self.bodies)
        self.time = 0.0

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


class Model(SteppedBodies):
    """Rigid and pseudo-rigid bodies."""

    def rigid(self, inertia=(1.0, 2.0, 3.0), mass=1.0, scheme=Scheme.RIG_NEG, angular=(0, 0, 0), linear=(0, 0, 0), **more):
        inertia = np.diag(inertia) if np.ndim(inertia) == 1 else np.asarray(inertia)
        kind = more.pop("kind", BodyKind.RIGID)
        more.setdefault("id", self.bodies.n + 1)
        row = self.bodies.add(kind, scheme=scheme, mass=mass, tensor=inertia, **more)
        velo = self.velo(row)
        velo[:, 0], velo[:, 1] = angular, linear
        return row

    def cube(self, material=None, damping=0.0, edges=(1.0, 1.0, 1.0), **more):
        """A pseudo-rigid block of the given edges."""
        material = material or BulkMaterial()
        edges = np.asarray(edges)
        volume = edges.prod()
        mass = material.density * volume
        columns = dict(mass=mass, volume=volume, lame=material.lame, damping=damping, tensor=np.diag(mass * edges**2 / 12))
        return self.bodies.add(
            BodyKind.PSEUDO_RIGID, **{"id": self.bodies.n + 1, "scheme": Scheme.DEF_EXP, **columns, **more}
        )

    def gradient(self, row=0):
        """Rotation or deformation gradient as a matrix."""
        conf = self.conf(row)[:, :3]
        return conf.T if self.bodies.kind[row] == BodyKind.PSEUDO_RIGID else conf

    def spatial_momentum(self, row=0):
        return self.gradient(row) @ self.bodies.tensor[:, :, row] @ self.velo(row)[:, 0]
