"""A domain made of the real tables with made-up contents, for tests of files that need no physics."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np

from solfec.bodies.cracks import Cracks
from solfec.bodies.loads import Loads
from solfec.bodies.table import BodyKind, BodyTable, Energy
from solfec.constraints.table import ConstraintTable, SurfaceMaterialTable
from solfec.contact.detection import Settings
from solfec.contact.geometry import Geometry, ShapePrimitives
from solfec.fractures import Fractures
from solfec.joints import Joints
from solfec.lives import Lives
from solfec.motion_hooks import Hooks
from solfec.results import ResultsWriter, layout
from solfec.sleeping import Sleeping

KINDS = (BodyKind.OBSTACLE, BodyKind.RIGID, BodyKind.PSEUDO_RIGID)


@dataclass
class Material:
    model: str = "KIRCHHOFF"
    label: str = "stone"
    young: float = 1e9
    poisson: float = 0.25
    density: float = 2000.0
    tensile: float = 1e10
    fracene: float = 1e10


class StandIn:
    """The members of a domain that results read and set."""

    def __init__(self, count: int = 5, contacts: int = 4, kinds=KINDS, seed: int = 0):
        self.random = np.random.default_rng(seed)
        self.kinds = kinds
        self.bodies, self.geometry = BodyTable(), Geometry()
        self.constraints, self.surface_materials = ConstraintTable(), SurfaceMaterialTable()
        self.surface_labels = ["DEFAULT"]
        self.bulk_materials = [Material()]
        self.body_labels: dict[int, str] = {}
        self.body_meshes, self.cracks, self.lives = {}, Cracks(), Lives()
        self.fractures, self.hooks = Fractures(), Hooks()
        self.loads, self.settings, self.extents = Loads(self.bodies), Settings(), None
        self.epsilon, self.dynamic, self.step_kept, self.exact_supports = 1e-6, True, False, False
        self.joint_impacts, self.joint_correction, self.touched = True, False, False
        self.joints, self.sleeping = Joints(self), Sleeping(self)
        self.time, self.step, self.step_number = 0.0, 1e-3, 0
        self.clock_origin = (0.0, 0)
        self.report, self.sparsified, self.state_changes = None, 0, 0
        self.contact_energy = self.friction_energy = 0.0
        self.timings = dict.fromkeys(("TIMINT", "CONUPD", "CONDET", "LOCDYN", "CONSOL"), 0.25)
        self.next_body_id, self.deleted_bodies = 1, 0
        for _ in range(count):
            self.insert(label=f"b{self.next_body_id}" if self.next_body_id % 2 else None)
        self.contacts = contacts
        self.fill_constraints()

    def insert(self, label=None):
        """A body with one polyhedron or sphere."""
        identifier = self.next_body_id
        kind = self.kinds[identifier % len(self.kinds)]
        row = self.bodies.add(kind, id=identifier, mass=float(identifier), volume=1.0, centre=self.random.normal(size=3))
        first, count = self.geometry.add(row, tetrahedron() if identifier % 2 else ball())
        self.bodies.primitive_ptr[row], self.bodies.primitive_count[row] = first, count
        self.next_body_id += 1
        if label:
            self.body_labels[identifier] = label
        return identifier

    def delete(self, identifier):
        """Remove a body."""
        mask = self.bodies.view("id") == identifier
        renumbered = self.bodies.remove(mask)
        self.geometry.remove(mask, renumbered)
        count = self.bodies.view("primitive_count")
        self.bodies.view("primitive_ptr")[:] = np.cumsum(count) - count
        self.deleted_bodies += 1
        self.fill_constraints()

    def fill_constraints(self, user=2):
        """Other constraints than before, with random contents."""
        table = self.constraints
        table.keep(np.zeros(table.n, bool))
        total = user + self.contacts
        if self.bodies.n == 0:
            total = user = 0
        table.append(total)
        for name, (shape, dtype, _) in table.COLUMNS.items():
            if dtype == "f8":
                getattr(table, name)[..., :total] = self.random.normal(size=(*shape, total))
        table.id[:total] = table.new_ids(total)
        table.kind[:user], table.kind[user:total] = 1, 0
        table.master[:total] = self.random.integers(0, max(self.bodies.n, 1), total)
        table.slave[user:total] = (table.master[user:total] + 1) % max(self.bodies.n, 1)
        for side in ("master", "slave"):
            rows = getattr(table, side)[user:total]
            getattr(table, side + "_primitive")[user:total] = self.bodies.primitive_ptr[rows]
        table.surface[:, user:total] = self.random.integers(1, 3, (2, total - user))
        table.user_count = user

    def advance(self):
        """Advance to another random state, one step later."""
        self.step_number += 1
        self.time = self.step_number * self.step
        for table, name in (
            (self.bodies, "energy"), (self.bodies, "momentum"), (self.bodies.configurations, "conf"),
            (self.bodies.triples, "velo"),
        ):  # fmt: skip
            view = table.view(name)
            view[...] = self.random.normal(size=view.shape)
        self.fill_constraints()
        self.contact_energy, self.friction_energy = self.random.normal(size=2)
        self.report = SimpleNamespace(iterations=self.step_number, error=1e-5, merit=1e-7, residual=1e-9)

    def state(self):
        """Return everything that a frame must restore."""
        bodies, table = self.bodies, self.constraints
        state = {f"bodies.{n}": bodies.view(n).copy() for n in bodies.COLUMNS if n != "extents"}
        state["conf"], state["velo"] = bodies.configurations.view("conf").copy(), bodies.triples.view("velo").copy()
        state |= {f"constraints.{n}": table.view(n).copy() for n in table.COLUMNS if n not in (*USER, *layout.DERIVED)}
        state |= {f"user.{n}": getattr(table, n)[..., : table.user_count].copy() for n in USER}
        for name in ("vertices", "vertex_lists", "faces", "corners", "adjacency", "primitives"):
            part = getattr(self.geometry, name)
            state |= {f"{name}.{n}": part.view(n).copy() for n in part.COLUMNS if n not in ("current", "normal", "box")}
        for name in ("face", "adjacent"):  # where a primitive has none, the pointer means nothing
            empty = state[f"primitives.{name}_count"] == 0
            state[f"primitives.{name}_ptr"][empty] = 0
        scalars = "time step step_number contact_energy friction_energy next_body_id deleted_bodies".split()
        return state | {name: getattr(self, name) for name in scalars} | {"labels": dict(self.body_labels)}

    # what a domain offers to those who load a frame

    def energy(self):
        total = self.bodies.view("energy").sum(axis=1)
        total[Energy.CONTACT], total[Energy.FRICTION] = self.contact_energy, self.friction_energy
        return total

    def initialise(self):
        self.bodies.view("energy")[:] = -1.0  # as the real one does, with other numbers

    @property
    def states(self):
        return self

    def update_shapes(self):
        pass

    def set_time(self, time, step_number):
        self.time, self.step_number, self.clock_origin = time, step_number, (time, step_number)

    def set_step(self, step):
        self.step, self.clock_origin = step, (self.time, self.step_number)


USER = (*layout.USER_ONLY, "other_point", "length", "strength", "value", "series_rows", "direction", "update", "limits", "curve", "dashpot",
        "implicit")  # fmt: skip


def tetrahedron() -> ShapePrimitives:
    """Four faces, four vertices."""
    i4 = np.int32
    return ShapePrimitives(
        vertices=np.array([[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]], float),
        vertex_list=np.arange(4, dtype=i4), vertex_ptr=np.zeros(1, i4), vertex_count=np.full(1, 4, i4),
        corners=np.array([0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3], i4), face_corner_ptr=np.arange(0, 12, 3, dtype=i4),
        face_corner_count=np.full(4, 3, i4), face_surface=np.arange(1, 5, dtype=i4), kind=np.zeros(1, i4),
        volume_id=np.ones(1, i4), surface=np.zeros(1, i4), radius=np.zeros(1), face_ptr=np.zeros(1, i4),
        face_count=np.full(1, 4, i4), outer_count=np.full(1, 4, i4), adjacency=np.zeros(0, i4),
        adjacent_ptr=np.zeros(1, i4), adjacent_count=np.zeros(1, i4),
    )  # fmt: skip


def ball() -> ShapePrimitives:
    """Two adjacent spheres."""
    i4 = np.int32
    return ShapePrimitives(
        vertices=np.array([[0, 1], [0, 0], [0, 0]], float), vertex_list=np.arange(2, dtype=i4),
        vertex_ptr=np.arange(2, dtype=i4), vertex_count=np.ones(2, i4), corners=np.zeros(0, i4),
        face_corner_ptr=np.zeros(0, i4), face_corner_count=np.zeros(0, i4), face_surface=np.zeros(0, i4),
        kind=np.full(2, 2, i4), volume_id=np.ones(2, i4), surface=np.full(2, 7, i4), radius=np.array([1.0, 0.5]),
        face_ptr=np.zeros(2, i4), face_count=np.zeros(2, i4), outer_count=np.zeros(2, i4),
        adjacency=np.array([1, 0], i4), adjacent_ptr=np.arange(2, dtype=i4), adjacent_count=np.ones(2, i4),
    )  # fmt: skip


def write_frames(path, count: int) -> StandIn:
    """Write so many frames of a model that advances; return it."""
    domain = StandIn()
    with ResultsWriter.create(str(path)) as writer:
        for _ in range(count):
            writer.write_frame(domain)
            domain.advance()
    return domain
