"""Small scenes of particles (constraints act through mass centres) with their own time step."""

from __future__ import annotations

import numpy as np

from solfec.bodies.table import BodyKind, BodyTable
from solfec.constraints import user
from solfec.constraints.table import ConstraintKind, ConstraintTable, SurfaceMaterialTable
from solfec.solvers.local_dynamics import LocalDynamics

UP = np.array([0.0, 0.0, 1.0])


def base_of(normal, epsilon=1e-6) -> np.ndarray:
    """Columns t1, t2, n of the base of a unit normal (docs/theory.md, Local frames)."""
    normal = np.asarray(normal, float)
    first = np.cross([1.0, 0.0, 0.0], normal)
    if np.linalg.norm(first) < epsilon:
        first = np.cross([0.0, 1.0, 0.0], normal)
    first /= np.linalg.norm(first)
    return np.stack([first, np.cross(first, normal), normal], axis=1)


class Scene:
    """Bodies, constraints and the predict - solve - correct cycle of translations."""

    def __init__(self, step: float, gravity=(0.0, 0.0, 0.0)):
        self.step = step
        self.gravity = np.asarray(gravity, float)
        self.bodies = BodyTable()
        self.constraints = ConstraintTable()
        self.materials = SurfaceMaterialTable()
        self.local = LocalDynamics()
        self.report = None

    def body(self, mass=1.0, centre=(0, 0, 0), velocity=(0, 0, 0), inertia=1.0, kind=BodyKind.RIGID) -> int:
        """Add a body with inertia times the identity; return its row."""
        row = self.bodies.add(kind, mass=mass, centre=np.asarray(centre, float), tensor=inertia * np.eye(3))
        triples = self.bodies.triples
        triples.inverse_inertia[..., 2 * row] = np.eye(3) / inertia
        triples.inverse_inertia[..., 2 * row + 1] = np.eye(3) / mass
        triples.velo[:, 2 * row + 1] = velocity
        return row

    def obstacle(self, **values) -> int:
        """Add an obstacle."""
        return self.body(kind=BodyKind.OBSTACLE, **values)

    def material(self, **values) -> int:
        """Add a surface material."""
        return self.materials.append(**values)

    def contact(
        self, master, slave, point=None, normal=UP, material=0, birth=0, gap=-1e-9, area=1.0, cohesion=0.0
    ) -> int:
        """Add a contact at a point given in the reference configuration (the master's centre by default)."""
        point = self.bodies.centre[:, master] if point is None else np.asarray(point, float)
        return self.constraints.append(
            id=self.constraints.n + 1, master=master, slave=slave, master_point=point[:, None],
            slave_point=point[:, None], point=point[:, None], base=base_of(normal)[..., None], material=material,
            birth=birth, gap=gap, area=area, cohesion=cohesion,
        )  # fmt: skip

    def fix(self, kind, master, slave=-1, master_point=None, slave_point=None, normal=UP, **columns) -> int:
        """Add one of the user's constraints (all of them before the first contact)."""
        points = {"master_point": master_point, "slave_point": slave_point}
        row = self.constraints.append(
            id=self.constraints.n + 1, kind=int(ConstraintKind[kind]), master=master, slave=slave,
            base=base_of(normal)[..., None], direction=np.asarray(normal, float)[:, None], update=1,
        )  # fmt: skip
        for (name, point), body in zip(points.items(), (master, slave), strict=True):
            if point is None and body >= 0:
                point = self.bodies.centre[:, body]
            if point is not None:
                getattr(self.constraints, name)[:, row] = point
        for name, value in columns.items():
            getattr(self.constraints, name)[..., row] = value
        self.constraints.user_count += 1
        return row

    def predict(self) -> None:
        """First half of the step: centres to mid step, u* = u + h g."""
        triples = self.bodies.triples
        moving = self.bodies.view("kind") != BodyKind.OBSTACLE
        self.bodies.configurations.conf[:, 3 : self.bodies.configurations.n : 4] += (
            0.5 * self.step * self.linear
        )
        triples.velo_prev[:] = triples.velo
        self.linear[:] += self.step * self.gravity[:, None] * moving

    def assemble(self, dynamic=True, stored=None) -> LocalDynamics:
        """Update the user's constraints and assemble."""
        user.update(self.constraints, self.bodies, 0.0, self.step)
        self.local.assemble(self.constraints, self.bodies, self.materials, self.step, dynamic, stored=stored)
        return self.local

    def correct(self) -> tuple[float, float]:
        """Second half of the step; the work of contacts."""
        work = self.local.apply_reactions()
        triples, n = self.bodies.triples, self.bodies.triples.n
        triples.velo[:, :n] += self.step * np.einsum(
            "ijk,jk->ik", triples.inverse_inertia[..., :n], triples.reaction[:, :n]
        )
        self.bodies.configurations.conf[:, 3 : self.bodies.configurations.n : 4] += (
            0.5 * self.step * self.linear
        )
        return work

    def advance(self, solver, stored=None) -> tuple[float, float]:
        """One time step."""
        self.predict()
        self.assemble(stored=stored)
        self.report = solver.solve(self.local)
        return self.correct()

    @property
    def linear(self) -> np.ndarray:
        """Velocities of mass centres, (3, bodies), a view."""
        return self.bodies.triples.velo[:, 1 : self.bodies.triples.n : 2]

    @property
    def centres(self) -> np.ndarray:
        """Mass centres, (3, bodies), a view."""
        return self.bodies.configurations.conf[:, 3 : self.bodies.configurations.n : 4]

    def reaction(self, row: int) -> np.ndarray:
        """R of a constraint."""
        return self.constraints.R[:, row]


def wall(side: int, step=1e-3, friction=0.3, gravity=9.81) -> Scene:
    """side x side x side balls on a cubic lattice touching each other, standing on an obstacle."""
    scene = Scene(step, (0.0, 0.0, -gravity))
    scene.materials.friction[0] = friction
    floor = scene.obstacle(centre=(0, 0, -1))
    row = {}
    for i, j, k in np.ndindex(side, side, side):
        row[i, j, k] = scene.body(centre=(i, j, k), inertia=0.1)
    for (i, j, k), master in row.items():
        if k == 0:
            scene.contact(master, floor, (i, j, -0.5))
        for axis in range(3):
            below = tuple(np.subtract((i, j, k), np.eye(3, dtype=int)[axis]))
            if below in row:
                scene.contact(
                    master, row[below], np.subtract((i, j, k), 0.5 * np.eye(3)[axis]), np.eye(3)[axis]
                )
    return scene
