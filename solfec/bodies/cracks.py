"""Planes along which bodies may crack, and the tension across them (docs/language-running.md, SIMPLIFIED_CRACK).

A crack opens when the tension n . sigma n exceeds its strength somewhere in its section: sigma is the Cauchy stress, n the normal of
the plane carried along by the body, F^-T N over its length.  Sections are computed once; all cracks are evaluated together.

The stress of a rigid body is the mean of a step (module rigid_stress), and the tension an average over the time that its crack states.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..shapes.plane_cut import Refined, section
from .finite_elements import compiled, deformation_gradients, weigh
from .materials import Law
from .point_values import cauchy_stress, enhancement
from .rigid_stress import mean_stresses
from .table import BodyKind, BodyTable


@dataclass(frozen=True)
class Crack:
    """A plane along which a body may crack.

    Attributes
    ----------
    point, normal : tuple of 3 float
        Referential; the normal has unit length.
    surfaces : tuple of 2 int
        Surface identifiers of the new faces whose normals are along the crack's normal and opposite to it.
    connected : bool
        Whether only the part of the section connected with the point opens (docs/language-running.md, SIMPLIFIED_CRACK).
    strength : float
        Tensile strength [pressure].
    energy : float
        Fracture energy [energy / area].
    average : float, optional
        For rigid bodies: time T over which the tension is averaged, with weights exp (-age/T); 0: the mean of the last step.
    """

    point: tuple[float, float, float]
    normal: tuple[float, float, float]
    surfaces: tuple[int, int]
    connected: bool = False
    strength: float = 0.0
    energy: float = 0.0
    average: float | None = None

    @classmethod
    def of(cls, data: dict) -> Crack:
        """Make a crack from the dictionary of `asdict`, read from JSON; ValueError for invalid data."""
        crack = cls(**{name: tuple(value) if isinstance(value, list) else value for name, value in data.items()})
        numbers = np.array([*crack.point, *crack.normal, crack.strength, crack.energy, crack.average or 0.0], float)
        if numbers.shape != (9,) or not np.isfinite(numbers).all() or len(crack.surfaces) != 2:
            raise ValueError("a crack has a point, a normal, two surfaces, a strength and an energy")
        return crack


@dataclass(frozen=True)
class Faces:
    """New faces of a crack with a fracture energy: fragments, their surface identifiers there, row of the surface material of bonds."""

    bodies: tuple[int, ...]
    surfaces: tuple[int, int]
    material: int

    @classmethod
    def of(cls, data: dict) -> Faces:
        """From what `asdict` says, as JSON keeps it."""
        return cls(tuple(map(int, data["bodies"])), tuple(map(int, data["surfaces"])), int(data["material"]))


@dataclass
class Section:
    """Points of a body at which the tension across a crack is evaluated: elements (n,) and natural coordinates (3, n)."""

    elements: np.ndarray
    natural: np.ndarray


def section_of(bodies: BodyTable, row: int, whole: Refined, crack: Crack, epsilon: float) -> Section:
    """Return the section of a crack: the middles of the triangles in which its plane cuts the elements of a mesh.

    Where the plane is between two elements, both have points.
    """
    points, elements = section(whole, np.array(crack.point) if crack.connected else None, epsilon)
    rows = np.full(len(points), row)
    return Section(elements, weigh(compiled(bodies), bodies, rows, elements, np.asfortranarray(points.T))[0])


class RigidTensions:
    """Average tensions across the cracks of rigid bodies.

    Parameters
    ----------
    pairs : list of (int, int, Crack)
        Body, the number of the crack among those of the body, and the crack.
    rows : ndarray (n,)
        Rows of these bodies.
    known : dict
        Averages so far, by body and number of the crack; those that it lacks begin at 0.
    """

    def __init__(self, pairs: list, rows: np.ndarray, known: dict):
        self.pairs = pairs
        self.tension = np.array([known.get((body, number), 0.0) for body, number, _ in pairs])
        self.strength = np.array([crack.strength for *_, crack in pairs])
        self._rows, self._place = np.unique(rows, return_inverse=True)
        self._normals = np.array([crack.normal for *_, crack in pairs]).reshape(-1, 3)
        self._times = np.array([crack.average for *_, crack in pairs])

    def average(self, model) -> None:
        """Take the stresses of a step into account, in which reactions act."""
        stress = mean_stresses(model.bodies, model.constraints, model.loads, self._rows, model.step, model.dynamic)[self._place]
        tension = np.einsum("ni,nij,nj->n", self._normals, stress, self._normals)
        lasting = np.where(self._times > 0.0, self._times, 1.0)
        weight = np.where(self._times > 0.0, -np.expm1(-model.step / lasting), 1.0)
        self.tension += weight * (tension - self.tension)

    def known(self) -> dict[tuple[int, int], float]:
        """Return averages by body and number of the crack."""
        return {(body, number): value for (body, number, _), value in zip(self.pairs, self.tension.tolist())}

    def exceeded(self) -> list[tuple[int, int]]:
        """Return bodies, and numbers of those of their cracks whose strength is exceeded."""
        return [self.pairs[k][:2] for k in np.flatnonzero(self.tension > self.strength).tolist()]


class Cracks:
    """The closed cracks of all bodies, in the order of their creation.

    In a part of a model, tensions are those of the bodies that this process moves.

    Attributes
    ----------
    of_body : dict
        Lists of Crack by body identifier; bodies without any have no entry.
    faces : list of Faces
        Of cracks that opened after the last step; their contacts are bonded in the next one.
    version : int
        Increases when a crack is added or removed.
    """

    def __init__(self):
        self.of_body: dict[int, list[Crack]] = {}
        self.faces: list[Faces] = []
        self.version = 0
        self._sections: dict[tuple[int, Crack], Section] = {}
        self._tables: tuple | None = None
        self._rigid: tuple | None = None  # version and edits of bodies, and their RigidTensions
        self._known: dict[tuple[int, int], float] = {}  # averages that RigidTensions begin with

    def __deepcopy__(self, memo: dict):
        copied = memo[id(self)] = type(self)()
        copied.set({body: list(cracks) for body, cracks in self.of_body.items()})
        copied.faces = list(self.faces)
        copied.tensions = self.tensions
        copied.keep_sections(self)
        return copied

    def keep_sections(self, other: Cracks) -> None:
        """Take over sections that the cracks of another model have, of the same bodies; they do not change while a body exists."""
        self._sections = dict(other._sections)

    @property
    def tensions(self) -> dict[tuple[int, int], float]:
        """Average tensions of rigid bodies, by body and number of the crack among those of the body, ascending."""
        known = self._known if self._rigid is None else self._rigid[1].known()
        return {key: known[key] for key in sorted(known) if key[0] in self.of_body}

    @tensions.setter
    def tensions(self, known: dict[tuple[int, int], float]) -> None:
        self._rigid, self._tables, self._known = None, None, dict(known)

    def average(self, model) -> None:
        """Take into account what acts on rigid bodies in a step; to be called within it, when reactions act."""
        rigid = self._rigid_tensions(model.bodies)
        if rigid.pairs:
            rigid.average(model)

    def _rigid_tensions(self, bodies: BodyTable) -> RigidTensions:
        state = self.version, bodies.edits
        if self._rigid is None or self._rigid[0] != state:
            pairs = [pair for pair in self._moved_here(bodies) if pair[2].average is not None]
            rows = np.searchsorted(bodies.view("id"), [body for body, *_ in pairs])
            self._rigid = state, RigidTensions(pairs, rows, self.tensions)
        return self._rigid[1]

    def _moved_here(self, bodies: BodyTable) -> list[tuple[int, int, Crack]]:
        """Return the cracks of the bodies that this process moves, with bodies and numbers, ascending."""
        here = set(bodies.view("id")[bodies.moved_here].tolist())
        return [(body, number, crack) for body in sorted(here & self.of_body.keys()) for number, crack in enumerate(self.of_body[body])]

    def set(self, of_body: dict[int, list[Crack]]) -> None:
        """Replace all cracks."""
        self.of_body = {body: cracks for body, cracks in of_body.items() if cracks}
        self.version += 1

    def add(self, identifier: int, crack: Crack) -> None:
        """Give a body a crack."""
        self.of_body.setdefault(identifier, []).append(crack)
        self.version += 1

    def note(self, faces: Faces) -> None:
        """Keep faces until the next step."""
        self.faces.append(faces)
        self.version += 1

    def take_faces(self) -> list[Faces]:
        """Return the faces kept, and forget them."""
        taken, self.faces = self.faces, []
        self.version += 1
        return taken

    def forget(self, identifiers) -> None:
        """Forget the cracks of bodies that no longer exist."""
        for identifier in identifiers:
            if self.of_body.pop(int(identifier), None) is not None:
                self.version += 1

    def open(self, bodies: BodyTable, section_of) -> list[tuple[int, int]]:
        """Return bodies, ascending, with the number of the newest crack of each whose strength is exceeded.

        ``section_of(identifier, crack)`` makes the Section of a finite element body.
        """
        if not self.of_body:
            return []
        exceeded = self._rigid_tensions(bodies).exceeded() + self._open_deformable(bodies, section_of)
        return sorted(dict(exceeded).items())  # later ones replace earlier ones

    def _open_deformable(self, bodies: BodyTable, section_of) -> list[tuple[int, int]]:
        """Return deformable bodies, and numbers of those of their cracks whose strength is exceeded."""
        listed, gradient, piola, starts = self._gather(bodies, section_of)
        if not listed:
            return []
        normals = np.array([crack.normal for *_, crack in listed])
        carried = np.linalg.solve(gradient.transpose(0, 2, 1), np.repeat(normals, np.diff(starts), axis=0)[..., None])[..., 0]
        carried /= np.linalg.norm(carried, axis=1, keepdims=True)
        tension = np.einsum("ni,nij,nj->n", carried, piola, carried)
        worst = np.maximum.reduceat(tension, starts[:-1])
        exceeded = worst > np.array([crack.strength for *_, crack in listed])
        return [listed[k][:2] for k in np.flatnonzero(exceeded).tolist()]

    def _gather(self, bodies: BodyTable, section_of) -> tuple:
        """Return bodies, numbers and cracks, gradients and Cauchy stresses (n, 3, 3) at their points, and the start of each crack's points."""
        state = self.version, bodies.edits
        if self._tables is None or self._tables[0] != state:
            self._tables = state, *self._list(bodies, section_of)
        _, listed, rows, elements, natural, starts = self._tables
        gradient, stress = np.empty((2, len(rows), 3, 3))
        soft = elements < 0  # pseudo-rigid bodies
        first = bodies.conf_ptr[rows[soft]]
        gradient[soft] = np.stack([bodies.configurations.conf[:, first + k].T for k in range(3)], axis=1)
        stress[soft] = cauchy_stress(gradient[soft], bodies.lame[:, rows[soft]].T)
        if not soft.all():
            meshed = ~soft
            rows, elements, natural = rows[meshed], elements[meshed], natural[:, meshed]
            gradient[meshed] = deformation_gradients(bodies, rows, elements, natural).transpose(2, 0, 1)
            lame = compiled(bodies).element_lame[bodies.element_ptr[rows] + elements]
            extra = _enhancements(bodies, rows, elements, natural, lame)
            stress[meshed] = cauchy_stress(gradient[meshed], lame, bodies.law[rows], extra)
        return listed, gradient, stress, starts

    def _list(self, bodies: BodyTable, section_of) -> tuple:
        """List cracks in the order of bodies, and columns for the points of their sections."""
        listed = [pair for pair in self._moved_here(bodies) if pair[2].average is None]
        rows, elements, natural = [np.zeros(0, int)], [np.zeros(0, int)], [np.zeros((3, 0))]
        sections = {}
        for body, _, crack in listed:
            row = int(np.searchsorted(bodies.view("id"), body))
            if bodies.kind[row] == BodyKind.FINITE_ELEMENT:
                found = self._sections.get((body, crack)) or section_of(body, crack)
                sections[body, crack] = found
            else:
                found = Section(np.array([-1]), np.zeros((3, 1)))
            rows.append(np.full(len(found.elements), row))
            elements.append(found.elements)
            natural.append(found.natural)
        self._sections = sections
        starts = np.cumsum([len(part) for part in rows])
        return listed, np.concatenate(rows), np.concatenate(elements), np.concatenate(natural, axis=1), starts


def _enhancements(bodies: BodyTable, rows, elements, natural, lame) -> np.ndarray | float:
    """Return enhanced strains (n, 3, 3) at points of elements, or 0 if no body has enhanced elements."""
    enhanced = np.flatnonzero((bodies.enhanced[rows] == 1) & (bodies.law[rows] == Law.KIRCHHOFF))
    if not enhanced.size:
        return 0.0
    extra = np.zeros((len(rows), 3, 3))
    for k in enhanced.tolist():  # one small problem per point (BODY.enhanced is rare)
        row = int(rows[k])
        mesh = bodies.meshes[int(bodies.id[row])]
        moved = bodies.configurations.conf[:, bodies.conf_slice(row)][:, mesh.elements[elements[k]]].T
        extra[k] = enhancement(mesh, True, elements[k], natural[:, k], moved, lame[k])
    return extra
