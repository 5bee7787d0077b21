"""BODY (manual, 4.2.9), BODY_CHARS and INITIAL_VELOCITY (manual, 4.6)."""

from __future__ import annotations

import numpy as np

from ..bodies.table import BodyKind, Scheme
from ..domain import DEFAULT_SCHEME
from ..simulation import Simulation
from . import checks, session
from .checks import BadType, BadValue, Members, command
from .materials import BULK_MATERIAL, bulk_material
from .model import simulation_of
from .shapes import MESH, consume, shapes_of
from .unbuilt import not_built

KINDS = ("RIGID", "PSEUDO_RIGID", "FINITE_ELEMENT", "OBSTACLE")
FORMS = ("TL", "BC", "BC-MODAL", "BC-RO")
SCHEMES = ("DEFAULT", *Scheme.__members__)
RIGID_SCHEMES = (Scheme.RIG_POS, Scheme.RIG_NEG, Scheme.RIG_IMP)


class BODY(Members):
    """A solid body (manual, 4.2.9); afterwards a handle that finds its body by (SOLFEC, id).

    Parameters
    ----------
    solfec : SOLFEC
    kind : str
        'RIGID', 'PSEUDO_RIGID' or 'OBSTACLE'; 'FINITE_ELEMENT' is not built yet.
    shape
        CONVEX, MESH or SPHERE object, or a list of them (emptied, once all arguments have been checked).
    material : BULK_MATERIAL or str
        Material or its label.
    label : str, optional
    form, mesh, base
        Of finite elements; ignored for other kinds.
    """

    __slots__ = ("_simulation", "_id")

    @command("BODY")
    def __init__(self, solfec, kind, shape, material, label=None, form=None, mesh=None, base=None):
        simulation = simulation_of(solfec)
        domain = simulation.domain
        kind = checks.choice(kind, "kind", KINDS)
        shapes = shapes_of(shape, "shape", once=True)
        material = bulk_material(domain, material, "material")
        label = None if label is None else checks.string(label, "label")
        if form is not None:
            checks.choice(form, "form", FORMS)
        if kind == "FINITE_ELEMENT":
            if mesh is None and not (len(shapes) == 1 and shape is shapes[0] and isinstance(shape, MESH)):
                raise BadType("'shape' of a finite element body must be a single MESH object, or a 'mesh' be given")
            raise not_built("BODY: kind 'FINITE_ELEMENT'")
        if label and label in simulation.labels and label in domain.body_labels.values():
            session.warn(f"BODY: label {label!r} is in use already; BYLABEL finds the first body that has it")
        contents = [shape._content for shape in shapes]
        identifier = domain.insert_body(BodyKind[kind], contents, material, label)
        consume(shapes, "BODY")
        if label:
            simulation.labels.add(label)
        self._simulation = simulation
        self._id = identifier

    @classmethod
    def _of(cls, simulation: Simulation, identifier: int) -> BODY:
        handle = object.__new__(cls)
        handle._simulation = simulation
        handle._id = identifier
        return handle

    def __eq__(self, other):
        return isinstance(other, BODY) and self._simulation is other._simulation and self._id == other._id

    def __hash__(self):
        return hash(("BODY", id(self._simulation), self._id))

    def __repr__(self):
        return f"BODY {self._id}"

    @property
    def _row(self) -> int:
        try:
            return self._simulation.domain.body_row(self._id)
        except KeyError:
            raise ValueError(f"body {self._id} does not exist (any more) at time {self._simulation.domain.time:g}") from None

    def _column(self, name: str) -> np.ndarray:
        return getattr(self._simulation.domain.bodies, name)[..., self._row]

    @property
    def _kind(self) -> BodyKind:
        return BodyKind(int(self._column("kind")))

    @property
    def id(self) -> int:
        """Identifier: 1, 2, ... in order of creation."""
        self._row  # noqa: B018  (a stale handle has no members)
        return self._id

    @property
    def kind(self) -> str:
        """Kind, as given."""
        return self._kind.name

    @property
    def label(self) -> str:
        """Label, '' when there is none."""
        self._row  # noqa: B018
        return self._simulation.domain.body_labels.get(self._id, "")

    @property
    def material(self) -> BULK_MATERIAL:
        """Bulk material."""
        domain = self._simulation.domain
        return BULK_MATERIAL._of(self._simulation, domain.bulk_materials[int(self._column("material"))])

    @property
    def mass(self) -> float:
        """Referential mass."""
        return float(self._column("mass"))

    @property
    def volume(self) -> float:
        """Referential volume."""
        return float(self._column("volume"))

    @property
    def center(self) -> tuple[float, ...]:
        """Referential mass centre."""
        return tuple(self._column("centre").tolist())

    @property
    def tensor(self) -> tuple[float, ...]:
        """Referential inertia tensor (rigid, obstacle) or Euler tensor, column by column."""
        return tuple(self._column("tensor").T.ravel().tolist())

    @property
    def conf(self) -> tuple[float, ...]:
        """Configuration: 12 numbers; rotation by columns (rigid) or gradient by rows (pseudo-rigid), centre."""
        self._row  # noqa: B018
        return tuple(self._simulation.domain.conf(self._id).tolist())

    @conf.setter
    def conf(self, value):
        values = checks.vector(value, "conf", len(self.conf))
        if self._kind != BodyKind.PSEUDO_RIGID:
            rotation = np.reshape(values[:9], (3, 3))
            if abs(rotation @ rotation.T - np.eye(3)).max() > 1e-6 or np.linalg.det(rotation) < 0.0:
                raise BadValue("the first 9 numbers of 'conf' must be the columns of a rotation matrix")
        elif not np.linalg.det(np.reshape(values[:9], (3, 3))) > 0.0:
            raise BadValue("the deformation gradient in 'conf' must have a positive determinant")
        self._simulation.domain.set_conf(self._id, values)

    @property
    def velo(self) -> tuple[float, ...]:
        """Velocity: 6 numbers (rigid: referential angular, linear of the centre) or 12 (pseudo-rigid)."""
        self._row  # noqa: B018
        return tuple(self._simulation.domain.velo(self._id).tolist())

    @velo.setter
    def velo(self, value):
        self._simulation.domain.set_velo(self._id, checks.vector(value, "velo", len(self.velo)))

    @property
    def scheme(self) -> str:
        """Time integration scheme in use."""
        return Scheme(int(self._column("scheme"))).name

    @scheme.setter
    def scheme(self, value):
        value, kind = checks.choice(value, "scheme", SCHEMES), self._kind
        scheme = DEFAULT_SCHEME[kind] if value == "DEFAULT" else Scheme[value]
        if (scheme in RIGID_SCHEMES) != (kind != BodyKind.PSEUDO_RIGID):
            raise BadValue(f"scheme {value!r} does not suit a body of kind {kind.name!r}")
        if scheme == Scheme.DEF_LIM:
            raise not_built("BODY: scheme 'DEF_LIM'")
        self._simulation.domain.bodies.scheme[self._row] = int(scheme)

    @property
    def damping(self) -> float:
        """Stiffness proportional damping of deformable bodies."""
        return float(self._column("damping"))

    @damping.setter
    def damping(self, value):
        self._simulation.domain.bodies.damping[self._row] = checks.nonnegative(value, "damping")

    @property
    def constraints(self) -> list:
        """Constraints attached to the body, newest first."""
        from .constraints import CONSTRAINT

        return [CONSTRAINT._of(self._simulation, int(constraint)) for constraint in self._constraint_ids()]

    @property
    def ncon(self) -> int:
        """Number of constraints attached to the body."""
        return len(self._constraint_ids())

    def _constraint_ids(self) -> np.ndarray:
        table, row = self._simulation.domain.constraints, self._row
        attached = (table.view("master") == row) | (table.view("slave") == row)
        return np.sort(table.view("id")[attached])[::-1]

    @property
    def selfcontact(self) -> str:
        """'OFF'; of finite element bodies only."""
        self._row  # noqa: B018
        return "OFF"

    @selfcontact.setter
    def selfcontact(self, value):
        checks.switch(value, "selfcontact")
        raise BadValue(f"self-contact is for finite element bodies, this one is {self.kind}")

    @property
    def fracturecheck(self) -> str:
        """'OFF'; of finite element bodies only."""
        self._row  # noqa: B018
        return "OFF"

    @fracturecheck.setter
    def fracturecheck(self, value):
        if checks.switch(value, "fracturecheck"):
            session.warn(f"BODY.fracturecheck is for finite element bodies; body {self._id} is {self.kind}")

    @property
    def disable_rotation(self) -> str:
        """'ON' holds the angular velocity of a rigid body at zero."""
        return checks.on_off(bool(self._column("rotation_disabled")))

    @disable_rotation.setter
    def disable_rotation(self, value):
        disabled = checks.switch(value, "disable_rotation")
        if self._kind == BodyKind.PSEUDO_RIGID:
            session.warn(f"BODY.disable_rotation is for rigid bodies; body {self._id} is {self.kind}")
            return
        self._simulation.domain.disable_rotation(self._id, disabled)

    @property
    def display_points(self) -> list:
        """Display points; none, since DISPLAY_POINT is not built yet."""
        self._row  # noqa: B018
        return []

    @property
    def mesh(self):
        """Not built yet."""
        raise not_built("BODY: member mesh")


def body_of(value, name: str) -> BODY:
    """A BODY argument that is alive."""
    checks.instance(value, name, BODY)
    try:
        value._row  # noqa: B018
    except ValueError as error:
        raise BadValue(f"'{name}': {error}") from None
    return value


def point_on(body: BODY, value, name: str) -> tuple[float, ...]:
    """A referential point that lies in or on a body's shape."""
    point = checks.vector(value, name)
    if not body._simulation.domain.contains(body._id, point):
        raise BadValue(f"'{name}' {point} lies outside of the shape of body {body._id} ({body.label or body.kind})")
    return point


@command("BODY_CHARS")
def BODY_CHARS(body, mass, volume, center, tensor):
    """Overwrite mass, volume, mass centre and inertia tensor (rigid) or Euler tensor of a body.

    Parameters
    ----------
    body : BODY
    mass, volume : float
        Positive.
    center : tuple of 3
        Referential mass centre.
    tensor : tuple of 9
        Symmetric, positive definite, column by column.
    """
    body = body_of(body, "body")
    mass = checks.positive(mass, "mass")
    volume = checks.positive(volume, "volume")
    center = checks.vector(center, "center")
    matrix = np.reshape(checks.vector(tensor, "tensor", 9), (3, 3)).T
    if abs(matrix - matrix.T).max() > 1e-8 * abs(matrix).max():
        raise BadValue("'tensor' must be symmetric")
    if not np.linalg.eigvalsh(matrix).min() > 0.0:
        raise BadValue("'tensor' must be positive definite")
    body._simulation.domain.set_characteristics(body._id, mass, volume, center, 0.5 * (matrix + matrix.T))


@command("INITIAL_VELOCITY")
def INITIAL_VELOCITY(body, linear, angular):
    """Give a body linear and angular velocity, in the sense of rigid motion, at time zero.

    Parameters
    ----------
    body : BODY
    linear, angular : tuple of 3
        Velocity of the mass centre and referential angular velocity.
    """
    body = body_of(body, "body")
    linear, angular = checks.vector(linear, "linear"), checks.vector(angular, "angular")
    body._simulation.domain.set_velocity(body._id, linear, angular)
