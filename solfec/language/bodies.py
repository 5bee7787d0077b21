"""BODY and CONSTRAINT, in one module because each has members of the other type (docs/language-objects.md, BODY; docs/language-objects.md, CONSTRAINT)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..bodies.reduced_base import ReducedBase
from ..bodies.table import REDUCED_FORMS, BodyKind, Form, Scheme
from ..constraints.table import ConstraintKind
from ..fragments import inherited_points
from ..insertion import default_scheme
from ..lives import Cause, Event
from . import checks, session
from .checks import BadType, BadValue, command, put
from .handles import Handle, simulation_of
from .hints import Base, Member, Numbers, Switch, T
from .materials import BULK_MATERIAL, bulk_material
from .shapes import CONVEX, MESH, Shape, consume, reported, shapes_of, unwrapped

if TYPE_CHECKING:
    from .model import SOLFEC

KINDS = ("RIGID", "PSEUDO_RIGID", "FINITE_ELEMENT", "OBSTACLE")
FORMS = ("TL", "BC", "BC-MODAL", "BC-RO")
SCHEMES = ("DEFAULT", *Scheme.__members__)
RIGID_SCHEMES = (Scheme.RIG_POS, Scheme.RIG_NEG, Scheme.RIG_IMP)


class BODY(Handle):
    """A solid body (docs/language-objects.md, BODY); later a handle of the body (SOLFEC, id).

    Parameters
    ----------
    solfec : SOLFEC
    kind : str
        'RIGID', 'PSEUDO_RIGID', 'FINITE_ELEMENT' or 'OBSTACLE'.
    shape
        Shape object, or a list of them (emptied after all arguments have been checked).
    material : BULK_MATERIAL or str
        Material or its label.
    label : str, optional
    form : str, optional
        For finite elements: 'TL' (default), 'BC', or 'BC-MODAL' and 'BC-RO' with a `base`.
    mesh : MESH, optional
        For finite elements: a mesh around a shape of CONVEX objects, which moves with it; ignored for other kinds.
    base : tuple or str
        For 'BC-MODAL' and 'BC-RO': (eigenvalues, concatenated vectors), or the label of a registered base.
    """

    __slots__ = ()
    _names = "body"
    _SHOWN = "id label kind form scheme material mass volume center conf velo ncon"

    @command("BODY")
    def __init__(
        self,
        solfec: SOLFEC,
        kind: Literal["RIGID", "PSEUDO_RIGID", "FINITE_ELEMENT", "OBSTACLE"],
        shape: Shape | Sequence[Shape],
        material: BULK_MATERIAL | str,
        label: str | None = None,
        form: Literal["TL", "BC", "BC-MODAL", "BC-RO"] | None = None,
        mesh: MESH | None = None,
        base: Base | str | None = None,
    ) -> None:
        simulation = simulation_of(solfec)
        domain = simulation.domain
        kind = checks.choice(kind, "kind", KINDS)
        shapes = shapes_of(shape, "shape", once=True)
        material = bulk_material(domain, material, "material")
        label = None if label is None else checks.string(label, "label")
        if form is not None:
            checks.choice(form, "form", FORMS)
        if mesh is not None:
            checks.instance(mesh, "mesh", MESH)
        if kind == "FINITE_ELEMENT":
            if mesh is None and not (len(shapes) == 1 and shape is shapes[0] and isinstance(shape, MESH)):
                raise BadType("'shape' of a finite element body must be a single MESH object, or a 'mesh' be given")
            if mesh is not None:
                if not all(isinstance(item, CONVEX) for item in shapes):
                    raise BadType("'shape' inside a 'mesh' must be made of CONVEX objects only")
                mesh = shapes_of(mesh, "mesh")[0]
        elif form not in (None, "TL"):
            session.warn(f"BODY: 'form' is for finite element bodies; {form!r} means nothing to one of kind {kind!r}")
        formulation = Form[(form or "TL").replace("-", "_")] if kind == "FINITE_ELEMENT" else Form.NONE
        if formulation in REDUCED_FORMS:
            base = base_of(base, "base", simulation, form)
        elif base is not None:
            if not (isinstance(base, str) or checks.is_sequence(base)):
                raise BadType(f"'base' must be a label or a pair of lists, not {checks.kind_of(base)}")
            session.warn("BODY: 'base' is for the forms 'BC-MODAL' and 'BC-RO'; this one is ignored")
            base = None
        if label and label in simulation.labels and label in domain.body_labels.values():
            session.warn(f"BODY: label {label!r} is in use already; BYLABEL finds the first body that has it")
        contents = [shape._content for shape in shapes]
        within = mesh._content if kind == "FINITE_ELEMENT" and mesh is not None else None
        with reported():
            identifier = domain.insert_body(BodyKind[kind], contents, material, label, formulation, within, base)
        consume(shapes, "BODY")
        if label:
            simulation.labels.add(label)
        if domain.step_number:
            domain.lives.note(Event(identifier, True, Cause.USER, 0, domain.time, domain.step_number))
        self._become(simulation, identifier)

    def __repr__(self):
        if not self._exists():
            return f"BODY {self._id} (gone)"
        label = f" {self.label!r}" if self.label else ""
        return f"BODY {self._id}{label} ({self.kind})"

    def __eq__(self, other):
        if not isinstance(other, BODY):
            return NotImplemented
        return self._simulation is other._simulation and self._origin == other._origin

    def __hash__(self):  # does not change when the handle goes over to another body (BODY_SWITCH, RT_SPLIT): it may be a key of a dict
        return hash(("BODY", id(self._simulation), self._origin))

    @property
    def _origin(self) -> int:
        return self._simulation.domain.lives.origin(self._id) if self._simulation.mode == "WRITE" else self._id

    def _exists(self) -> bool:
        try:
            self._row  # noqa: B018
        except ValueError:
            return False
        return True

    @property
    def _row(self) -> int:
        try:
            return self._simulation.domain.body_row(self._id)
        except KeyError:
            heir = self._simulation.domain.lives.successor(self._id) if self._simulation.mode == "WRITE" else None
            if heir is not None:  # also in a continued run, whose input has made the original body
                self._id = heir
                return self._row
            if self._simulation.domain.spread and 0 < self._id < self._simulation.domain.next_body_id:
                raise ValueError(f"body {self._id} is not in this process, or does not exist any more; ask HERE (solfec, body) before its members") from None
            became = ", ".join(map(str, self._simulation.domain.lives.fragments.get(self._id, ())))
            fate = f"; it became {became} (BODY.fragments)" if became else ""
            raise ValueError(f"body {self._id} does not exist (any more) at time {self._simulation.domain.time:g}{fate}") from None

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
    def fragments(self) -> list[BODY]:
        """Fragments of the body, also after its deletion; empty if it did not fall apart. Fragments may have fallen apart, too."""
        return [BODY._of(self._simulation, child) for child in self._simulation.domain.lives.fragments.get(self._id, ())]

    @property
    def kind(self) -> str:
        """Kind, as given."""
        return self._kind.name

    @property
    def form(self) -> str:
        """Formulation of a finite element body, '' for other kinds."""
        form = Form(int(self._column("form")))
        return "" if form == Form.NONE else form.label

    @property
    def label(self) -> str:
        """Label, '' when there is none."""
        self._row  # noqa: B018
        return self._simulation.domain.body_labels.get(self._id, "")

    @property
    def material(self) -> BULK_MATERIAL:
        """Bulk material."""
        return BULK_MATERIAL._of(self._simulation, int(self._column("material")))

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
        """Configuration: rotation by columns (rigid) or gradient by rows (pseudo-rigid) and centre, or nodal displacements.

        For 'BC-MODAL' and 'BC-RO': reduced coordinates, then the body's rotation by columns.
        """
        self._row  # noqa: B018
        return tuple(self._simulation.domain.states.conf(self._id).tolist())

    @conf.setter
    def conf(self, value: Numbers) -> None:
        values = checks.vector(value, "conf", len(self.conf))
        if self._column("mode_count"):
            _check_rotation(values[-9:], "last")
        elif self._kind == BodyKind.FINITE_ELEMENT:
            pass
        elif self._kind != BodyKind.PSEUDO_RIGID:
            _check_rotation(values[:9], "first")
        elif not np.linalg.det(np.reshape(values[:9], (3, 3))) > 0.0:
            raise BadValue("the deformation gradient in 'conf' must have a positive determinant")
        self._simulation.domain.states.set_conf(self._id, values)

    @property
    def velo(self) -> tuple[float, ...]:
        """Velocity: 6 numbers (rigid: referential angular, linear of the centre), 12 (pseudo-rigid), 3 a node, or one a vector
        of the base ('BC-MODAL' and 'BC-RO').
        """
        self._row  # noqa: B018
        return tuple(self._simulation.domain.states.velo(self._id).tolist())

    @velo.setter
    def velo(self, value: Numbers) -> None:
        self._simulation.domain.states.set_velo(self._id, checks.vector(value, "velo", len(self.velo)))

    @property
    def scheme(self) -> str:
        """Time integration scheme in use."""
        return Scheme(int(self._column("scheme"))).name

    @scheme.setter
    def scheme(self, value: str) -> None:
        value, kind = checks.choice(value, "scheme", SCHEMES), self._kind
        domain = self._simulation.domain
        form = Form(int(self._column("form")))
        scheme = default_scheme(kind, form, domain.dynamic) if value == "DEFAULT" else Scheme[value]
        if (scheme in RIGID_SCHEMES) == (kind in (BodyKind.PSEUDO_RIGID, BodyKind.FINITE_ELEMENT)):
            raise BadValue(f"scheme {value!r} does not suit a body of kind {kind.name!r}")
        if form in REDUCED_FORMS and scheme != Scheme.DEF_LIM:
            raise BadValue(f"scheme {value!r} does not suit a body of form {form.label!r}, which always has 'DEF_LIM'")
        if domain.dynamic:
            domain.bodies.scheme[self._row] = int(scheme)
        elif int(scheme) != domain.bodies.scheme[self._row]:
            session.warn(f"BODY.scheme: a quasi-static analysis has one way to move bodies; {value!r} is ignored")

    @property
    def damping(self) -> float:
        """Stiffness proportional damping of deformable bodies."""
        return float(self._column("damping"))

    @damping.setter
    def damping(self, value: float) -> None:
        damping = checks.nonnegative(value, "damping")
        if damping and self._kind in (BodyKind.OBSTACLE, BodyKind.RIGID):
            session.warn(f"BODY.damping is for deformable bodies; one of kind {self.kind} is not damped")
        self._simulation.domain.bodies.damping[self._row] = damping

    @property
    def enhanced(self) -> str:
        """'ON' gives hexahedra of a finite element body enhanced strains, so that they do not lock."""
        return checks.on_off(bool(self._column("enhanced")))

    @enhanced.setter
    def enhanced(self, value: Switch) -> None:
        self._option("enhanced", checks.switch(value, "enhanced"), (Form.TL, Form.BC, Form.BC_RO))

    @property
    def conserving(self) -> str:
        """'ON' lets scheme DEF_LIM of a finite element body of form 'TL' conserve energy and momentum, by iteration."""
        return checks.on_off(bool(self._column("conserving")))

    @conserving.setter
    def conserving(self, value: Switch) -> None:
        self._option("conserving", checks.switch(value, "conserving"), (Form.TL,))

    def _option(self, name: str, on: bool, forms: tuple) -> None:
        if on and (self._kind != BodyKind.FINITE_ELEMENT or self._column("form") not in forms):
            allowed = " or ".join(repr(form.label) for form in forms)
            raise BadValue(f"'{name}' is for finite element bodies of form {allowed}; body {self._id} is not one")
        if on and self.material.model != "KIRCHHOFF":
            raise BadValue(f"'{name}' needs material model 'KIRCHHOFF'; body {self._id} has {self.material.model!r}")
        domain = self._simulation.domain
        getattr(domain.bodies, name)[self._row] = int(on)
        domain.state_changes += 1

    @property
    def constraints(self) -> list[CONSTRAINT]:
        """Constraints attached to the body, newest first."""
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
        """'ON' detects contacts within a deformable body, between primitives that are not adjacent."""
        return "ON" if self._simulation.domain.bodies.selfcontact[self._row] else "OFF"

    @selfcontact.setter
    def selfcontact(self, value: Switch) -> None:
        on = checks.switch(value, "selfcontact")
        if self.kind in ("OBSTACLE", "RIGID"):
            raise BadValue(f"self-contact is for deformable bodies, this one is {self.kind}")
        self._simulation.domain.bodies.selfcontact[self._row] = int(on)

    @property
    def fracturecheck(self) -> str:
        """'ON' records states in which the internal energy of a finite element body reaches its fracture energy."""
        return checks.on_off(bool(self._column("fracture_check")))

    @fracturecheck.setter
    def fracturecheck(self, value: Switch) -> None:
        on = checks.switch(value, "fracturecheck")
        if self._kind == BodyKind.FINITE_ELEMENT:
            self._simulation.domain.bodies.fracture_check[self._row] = int(on)
        elif on:
            session.warn(f"BODY.fracturecheck is for finite element bodies; body {self._id} is {self.kind}")

    @property
    def disable_rotation(self) -> str:
        """'ON' holds the angular velocity of a rigid body at zero."""
        return checks.on_off(bool(self._column("rotation_disabled")))

    @disable_rotation.setter
    def disable_rotation(self, value: Switch) -> None:
        disabled = checks.switch(value, "disable_rotation")
        if self._kind in (BodyKind.PSEUDO_RIGID, BodyKind.FINITE_ELEMENT):
            session.warn(f"BODY.disable_rotation is for rigid bodies; body {self._id} is {self.kind}")
            return
        self._simulation.domain.states.disable_rotation(self._id, disabled)

    @property
    def display_points(self) -> list[tuple[str, tuple[float, ...]]]:
        """Labels and present places of the points that DISPLAY_POINT attached, in their order."""
        self._row  # noqa: B018
        domain = self._simulation.domain
        return [
            (label, tuple((np.asarray(point) + domain.points.displacement(self._id, point)).tolist()))
            for label, point in inherited_points(domain, self._id, self._simulation.display_points)
        ]

    @property
    def mesh(self) -> MESH | list[MESH] | None:
        """Copies of meshes in the referential placement: the computational MESH of finite elements.

        For other bodies the MESH, or list of MESH, in their shape, or None."""
        self._row  # noqa: B018
        meshes = unwrapped([mesh.copy() for mesh in self._simulation.domain.meshes_of(self._id)])
        for mesh in meshes if isinstance(meshes, list) else [] if meshes is None else [meshes]:
            put(mesh, "_places", partial(self._node_places, self._id))
        return meshes

    def _node_places(self, identifier: int, nodes: np.ndarray) -> np.ndarray:
        """Present places (n, 3) of the nodes (n, 3) of a mesh that was taken when the body had an identifier."""
        self._row  # noqa: B018
        if self._id != identifier:
            raise ValueError(f"body {identifier} has become body {self._id} since its mesh was taken; take BODY.mesh again")
        return self._simulation.domain.points.nodes(identifier, nodes)


def _check_rotation(values, where: str) -> None:
    rotation = np.reshape(values, (3, 3))
    if abs(rotation @ rotation.T - np.eye(3)).max() > 1e-6 or np.linalg.det(rotation) < 0.0:
        raise BadValue(f"the {where} 9 numbers of 'conf' must be the columns of a rotation matrix")


def base_of(value, name: str, simulation, form: str | None = None) -> ReducedBase:
    """Convert a base argument: the label of a registered base, or (values, concatenated vectors)."""
    if value is None:
        raise BadValue(f"form {form!r} needs a '{name}': (values, vectors), or the label of a registered base")
    if isinstance(value, str):
        if value not in simulation.bases:
            known = ", ".join(map(repr, simulation.bases)) or "none"
            raise BadValue(f"'{name}': no base is registered as {value!r} (registered: {known})")
        return simulation.bases[value]
    if not checks.is_sequence(value) or len(value) != 2 or not all(map(checks.is_sequence, value)):
        raise BadType(f"'{name}' must be a tuple (values, vectors) or the label of a registered base, not {checks.kind_of(value)}")
    values, vectors = checks.numbers(value[0], f"{name}[0]", minimum=1), checks.numbers(value[1], f"{name}[1]", minimum=1)
    if len(vectors) % (3 * len(values)):
        raise BadValue(
            f"'{name}[1]' holds {len(vectors)} numbers, which do not make {len(values)} vectors (one for each of '{name}[0]') "
            "with 3 numbers a node"
        )
    return ReducedBase(values, vectors.reshape(len(values), -1))


def body_of(value, name: str) -> BODY:
    """A BODY argument that is alive."""
    checks.instance(value, name, BODY)
    try:
        value._row  # noqa: B018
    except ValueError as error:
        raise BadValue(f"'{name}': {error}") from None
    return value


def _member(doc: str) -> Callable[[Callable[..., T]], Member[T | None]]:
    """Decorate a read-only member that is None after the constraint's deletion; the function gets the table and the row."""

    def decorate(function: Callable[..., T]) -> Member[T | None]:
        def get(self):
            table = self._simulation.domain.constraints
            row = table.row_of(self._id)
            return None if row < 0 else function(self, table, row)

        return Member(get, doc=doc)

    return decorate


def _local(name: str, doc: str) -> Member[tuple[float, ...] | None]:
    return _member(doc)(lambda self, table, row: tuple(getattr(table, name)[:, row].tolist()))


def _scalar(name: str, doc: str) -> Member[float | None]:
    return _member(doc)(lambda self, table, row: float(getattr(table, name)[row]))


class CONSTRAINT(Handle):
    """A constraint of the user or a contact; a handle (SOLFEC, id) that other commands return.

    All members are read-only, and None if the constraint no longer exists.
    """

    __slots__ = ()
    _names = "constraint"
    _SHOWN = "kind adjbod point R U gap merit residual"

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        raise BadType("CONSTRAINT objects come from commands such as FIX_POINT and from SOLFEC.constraints")

    def __repr__(self):
        if not self._exists():
            return f"CONSTRAINT {self._id} (gone)"
        bodies = self.adjbod if isinstance(self.adjbod, tuple) else (self.adjbod,)
        return f"CONSTRAINT {self._id} ({self.kind}) of {' and '.join(map(repr, bodies))}"

    def _exists(self) -> bool:
        return self.kind is not None

    R = _local("R", "Reaction (T1, T2, N) in the local base: force averaged over the last step.")
    U = _local("U", "Relative velocity (T1, T2, N) at the end of the step.")
    V = _local("V", "Relative velocity (T1, T2, N) at the start of the step.")
    moment = _local("moment", "Moment (T1, T2, N) of rolling and spinning friction of a contact on its master in the local base, averaged over the last step.")
    gap = _scalar("gap", "Gap of a contact, negative when penetrating; of a link its elongation; stroke of a spring; else 0.")
    area = _scalar("area", "Area of a contact, else 0.")
    damage = _scalar("damage", "Damage of the bond of a 'COHESIVE' contact: 0 whole, 1 gone; else 0.")
    merit = _scalar("merit", "Contribution to the constraints satisfaction merit function.")
    residual = _scalar("residual", "What is missing for its law to hold, as a velocity.")

    @_member(f"Kind: {', '.join(repr(kind.name) for kind in ConstraintKind)}.")
    def kind(self, table, row) -> str:
        return ConstraintKind(int(table.kind[row])).name

    @_member("Local base: first tangent, second tangent, normal, three spatial components each.")
    def base(self, table, row) -> tuple[float, ...]:
        return tuple(table.base[:, :, row].T.ravel().tolist())

    @_member("Current spatial point; both points, 6 numbers, of a 'RIGLNK'.")
    def point(self, table, row) -> tuple[float, ...]:
        point = table.point[:, row].tolist()
        if ConstraintKind(int(table.kind[row])).keeps_length:
            point += table.other_point[:, row].tolist()
        return tuple(point)

    @_member("The two adjacent bodies (master, slave), or the one BODY.")
    def adjbod(self, table, row) -> BODY | tuple[BODY, BODY]:
        identifiers = self._simulation.domain.bodies.id
        master = BODY._of(self._simulation, int(identifiers[table.master[row]]))
        if table.slave[row] < 0:
            return master
        return master, BODY._of(self._simulation, int(identifiers[table.slave[row]]))

    @_member("Label of the surface material of a contact, else None.")
    def matlab(self, table, row) -> str | None:
        if table.kind[row] != ConstraintKind.CONTACT:
            return None
        return self._simulation.domain.surface_labels[int(table.material[row])]

    @_member("Surface identifiers of a contact in the order of `adjbod`, else None.")
    def spair(self, table, row) -> tuple[int, int] | None:
        if table.kind[row] != ConstraintKind.CONTACT:
            return None
        slave, master = table.surface[:, row].tolist()
        return master, slave
