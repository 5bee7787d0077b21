"""Small models of bodies with contacts, as the tests of contact detection need them."""

from __future__ import annotations

import gzip
import itertools
import json
from pathlib import Path

import numpy as np
from hypothesis import strategies as st

from solfec.bodies.finite_elements import FiniteElementMesh
from solfec.bodies.table import BodyKind, BodyTable
from solfec.constraints.element_points import refer_contacts
from solfec.constraints.table import ConstraintTable, SurfaceMaterialTable
from solfec.contact import detection
from solfec.contact.current_faces import current_faces
from solfec.contact.geometry import Geometry
from solfec.contact.phase import Detection
from solfec.shapes import primitives
from solfec.shapes.characteristics import characteristics
from solfec.shapes.convex import Convex
from solfec.shapes.ellipsoid import Ellipsoid
from solfec.shapes.hex_mesh import hex_mesh
from solfec.shapes.mesh import Mesh
from solfec.shapes.rest_adjacency import adjoin_overlapping
from solfec.shapes.sphere import Sphere

DATA = Path(__file__).parent.parent / "data" / "contact"
#: Draws of a seed and of the limits of sparsification.
LIMITS = {
    "seed": st.integers(0, 2**32 - 1),
    "threshold": st.sampled_from((0.0, 0.01, 0.3, 1.0)),
    "min_area": st.sampled_from((0.0, 0.1)),
    "min_distance": st.sampled_from((0.0, 1e-6, 0.05, 0.4)),
}
BOX_FACES = ((0, 3, 2, 1), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (0, 4, 7, 3), (4, 5, 6, 7))


def box_corners(lower, upper) -> np.ndarray:
    """Corners (8, 3) of a box, in the order of a hexahedron's nodes."""
    x, y, z = zip(lower, upper)
    return np.array([(x[a], y[b], z[c]) for c in (0, 1) for a, b in ((0, 0), (1, 0), (1, 1), (0, 1))], float)


def box(lower, upper, surface=0) -> Convex:
    """A box as a CONVEX."""
    faces = list(itertools.chain.from_iterable((4, *face, surface) for face in BOX_FACES))
    return Convex.from_records(box_corners(lower, upper).ravel(), faces)


def mesh_box(lower, upper, cells=(1, 1, 1), surfaces=(0,) * 6, **ratios) -> Mesh:
    """A box as a HEX mesh."""
    return hex_mesh(box_corners(lower, upper).ravel().tolist(), *cells, 0, list(surfaces), **ratios)


class Model:
    """The state tables of a model and the detection half of its time steps."""

    dynamic, step = True, 1e-3

    def __init__(self, epsilon=1e-6, **settings):
        self.epsilon = epsilon
        self.bodies = BodyTable()
        self.geometry = Geometry()
        self.constraints = ConstraintTable()
        self.materials = self.surface_materials = SurfaceMaterialTable()
        self.settings = detection.Settings(**{"min_distance": epsilon, **settings})
        self.time, self.step_number = 0.0, 0
        self.detection = Detection(self)

    def add(self, *shapes, kind=BodyKind.RIGID, identifier=None, centre=None) -> int:
        """Insert a body; return its row."""
        shapes = list(shapes)
        if centre is None:
            centre = characteristics(shapes)[1]
        identifier = identifier or self.bodies.n + 1
        mesh = FiniteElementMesh.of(shapes[0]) if kind == BodyKind.FINITE_ELEMENT else None
        unit = dict(mass=1.0, volume=1.0, lame=(1.0, 1.0))  # finite elements need them
        row = self.bodies.add(kind, mesh, id=identifier, centre=centre, **unit)
        whole = mesh is not None
        compiled = primitives.compile(shapes, self.epsilon, whole)
        if kind == BodyKind.PSEUDO_RIGID:
            adjoin_overlapping(compiled, self.epsilon)
        first, count = self.geometry.add(row, compiled, whole)
        self.bodies.primitive_ptr[row] = first
        self.bodies.primitive_count[row] = count
        if mesh is not None:
            nodes, elements, _ = primitives.mesh_columns(shapes[0], whole)
            self.geometry.vertices.view("node")[-len(nodes) :] = nodes
            self.geometry.primitives.element[first : first + count] = elements
        return row

    def conf(self, row: int) -> np.ndarray:
        """Configuration triples (3, 4) of a body, or (3, nodes) of a finite element one."""
        return self.bodies.configurations.conf[:, self.bodies.conf_slice(row)]

    def move(self, row: int, vector) -> None:
        """Translate a body."""
        self.conf(row)[:, 3] += vector

    def detect(self) -> int:
        """Geometry, known contacts, new contacts; return the number of sparsified ones."""
        removed = self.detection.run()
        self.step_number += 1
        self.time += 1e-3
        return removed

    def refer(self) -> None:
        """Referential points of contacts on finite element bodies."""
        refer_contacts(self)

    def pairs(self) -> list[tuple[int, int]]:
        """(slave, master) body rows of all contacts."""
        table = self.constraints
        first = table.user_count
        return list(zip(table.view("slave")[first:].tolist(), table.view("master")[first:].tolist()))

    def key(self, row: int) -> tuple[tuple[int, int], tuple[int, int]]:
        """((body id, primitive number) of the slave, the same of the master)."""
        p = self.geometry.primitives
        sides = (self.constraints.slave_primitive[row], self.constraints.master_primitive[row])
        return tuple((int(self.bodies.id[p.body[side]]), int(p.number[side])) for side in sides)


def load(name: str) -> dict:
    """A reference model."""
    return json.loads(gzip.decompress((DATA / f"{name}.json.gz").read_bytes()))


def shape_from(data: dict):
    """A shape object from its reference description."""
    if data["kind"] == "sphere":
        return Sphere(data["centre"], data["radius"], 0, data["surface"])
    if data["kind"] == "ellipsoid":
        shape = Ellipsoid(data["centre"], data["radii"], 0, data["surface"])
        shape.rotation = np.array(data["rotation"])
        return shape
    if data["kind"] == "convex":
        records = [(len(f), *f, s) for f, s in zip(data["faces"], data["surfaces"])]
        return Convex.from_records(np.ravel(data["vertices"]), list(itertools.chain.from_iterable(records)))
    elements = itertools.chain.from_iterable((len(e), *e, 0) for e in data["elements"])
    surfaces = itertools.chain.from_iterable((len(f), *f, s) for f, s in data["faces"])
    return Mesh.from_records(np.ravel(data["nodes"]), list(elements), [0, *surfaces])


def reference_model(data: dict) -> Model:
    """The tables of a reference model at the configuration of its contacts."""
    model = Model(
        data["epsilon"], threshold=data["threshold"], min_area=data["min_area"], min_distance=data["min_distance"]
    )
    for body in data["bodies"]:
        shapes = [shape_from(shape) for shape in body["shapes"]]
        row = model.add(*shapes, kind=BodyKind[body["kind"]], identifier=body["id"], centre=body["centre"])
        model.conf(row)[:] = np.reshape(body["conf"], (-1, 3)).T
    return model


def tabulated(contacts, kind, adjacent, base=None):
    """Tables of constraints and shapes for contacts (slave, master, primitives of both, point, area) and primitives of some kinds."""
    geometry, constraints = Geometry(), ConstraintTable()
    counts = np.array([len(a) for a in adjacent], np.int32)
    listed = np.array(sum(adjacent, []), np.int32)
    geometry.adjacency.append(listed.size, primitive=listed)
    geometry.primitives.append(len(kind), kind=kind, adjacent_ptr=(np.cumsum(counts) - counts).astype(np.int32), adjacent_count=counts)
    geometry.version += 1
    slave, master, slave_primitive, master_primitive = (np.array([c[i] for c in contacts], np.int32) for i in range(4))
    constraints.append(
        len(contacts), slave=slave, master=master, slave_primitive=slave_primitive, master_primitive=master_primitive,
        point=np.array([c[4] for c in contacts]).T, area=np.array([c[5] for c in contacts]),
        base=np.eye(3)[:, :, None] if base is None else base,
    )  # fmt: skip
    return current_faces(geometry), geometry, constraints
