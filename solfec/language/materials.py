"""SURFACE_MATERIAL and BULK_MATERIAL (docs/language-objects.md, SURFACE_MATERIAL; docs/language-objects.md, BULK_MATERIAL)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..bodies.materials import MODELS, BulkMaterial
from ..bodies.table import BodyKind
from ..constraints.table import ANY_SURFACE, SurfaceModel
from ..contact.manifold import WITHIN_MARGIN
from ..kinds import SurfaceModelName
from . import checks, session
from .checks import BadType, BadValue, command
from .fields import FIELD, field_labels
from .handles import Handle, simulation_of
from .hints import Member, T
from .legacy import surroundings
from .unbuilt import not_built

if TYPE_CHECKING:
    from .model import SOLFEC

SURFACE_MODELS = tuple(model.name for model in SurfaceModel)


def _poisson(value, name: str, incompressible: bool = False) -> float:
    """Check Poisson's ratio; old inputs may give one half to rigid bodies, for which it has no effect."""
    result = checks.nonnegative(value, name)
    if result == 0.5 and incompressible:
        session.warn(f"BULK_MATERIAL: '{name}' of 0.5 is that of an incompressible material, of which only rigid bodies and obstacles can be made")
    elif not result < 0.5:
        raise BadValue(f"'{name}' must be below 0.5, it is {result:g}")
    return result


def _bulk_member(name: str, check: Callable[[Any, str], float], doc: str) -> Member[float]:
    """Make a member for a number of a bulk material."""

    def get(self) -> float:
        return getattr(self._material, name)

    def put(self, value):
        setattr(self._material, name, check(value, name))
        self._refresh()

    return Member(get, put, doc=doc)


class BULK_MATERIAL(Handle):
    """Material of a volume (docs/language-objects.md, BULK_MATERIAL).

    Parameters
    ----------
    solfec : SOLFEC
    model : str
        'KIRCHHOFF' (default): Saint Venant-Kirchhoff elasticity; 'NEO_HOOKEAN': compressible Neo-Hookean, for large strains of
        finite elements.
    label : str
        Default 'BULK_MATERIAL_i'.  Re-using a label overwrites the data of that material.
    young, poisson, density : float
        Young's modulus >= 0, Poisson's ratio in [0, 0.5), mass density >= 0.  Old inputs may give rigid bodies a ratio of 0.5.
    tensile : float, optional
        Tensile strength >= 0 (default: infinity); without effect, since SIMPLIFIED_CRACK has a strength of its own.
    fracene : float, optional
        Fracture energy per volume >= 0 (default: infinity), with which BODY.fracturecheck compares.
    fields : list of FIELD or str, optional
        Fields that the model depends on; 'KIRCHHOFF' depends on none.
    """

    __slots__ = ()
    _SHOWN = "label model young poisson density"

    @command("BULK_MATERIAL")
    def __init__(
        self,
        solfec: SOLFEC,
        model: Literal["KIRCHHOFF", "NEO_HOOKEAN", "TSANG_MARSDEN"] | None = None,
        label: str | None = None,
        young: float = 1e9,
        poisson: float = 0.25,
        density: float = 1e3,
        tensile: float | None = None,
        fields: Sequence[FIELD | str] | None = None,
        fracene: float | None = None,
    ) -> None:
        simulation = simulation_of(solfec)
        domain = simulation.domain
        model = "KIRCHHOFF" if model is None else checks.string(model, "model")
        labels = () if fields is None else field_labels(simulation, fields, "fields")
        if model == "TSANG_MARSDEN":
            if len(labels) != 4:
                raise BadValue(f"model 'TSANG_MARSDEN' depends on 4 'fields', not {len(labels)}")
            raise not_built("BULK_MATERIAL: model 'TSANG_MARSDEN'")
        checks.choice(model, "model", MODELS)
        label = f"BULK_MATERIAL_{len(domain.bulk_materials)}" if label is None else checks.string(label, "label")
        data = {
            "young": checks.nonnegative(young, "young"),
            "poisson": _poisson(poisson, "poisson", incompressible=surroundings.in_python2()),
            "density": checks.nonnegative(density, "density"),
            "tensile": np.inf if tensile is None else checks.nonnegative(tensile, "tensile", infinite=True),
            "fracene": np.inf if fracene is None else checks.nonnegative(fracene, "fracene", infinite=True),
            "fields": labels,
        }
        if labels:
            session.warn(f"BULK_MATERIAL: model {model!r} depends on no fields; those given change nothing")
        material = bulk_by_label(domain, label)
        if data["poisson"] == 0.5 and material is not None and self._is_of_deformables(domain, material):
            raise BadValue("'poisson' must be below 0.5, since deformable bodies are made of this material")
        if material is None:
            material = BulkMaterial(model=model, label=label, **data)
        self._simulation = simulation
        self._id = domain.bulk_materials.row_of(material)
        for name, value in data.items():
            setattr(material, name, value)
        self._set_model(model)

    @staticmethod
    def _is_of_deformables(domain, material: BulkMaterial) -> bool:
        """Whether deformable bodies, or their elements, have a material."""
        bodies = domain.bodies
        kinds = bodies.view("kind")[bodies.view("material") == domain.bulk_materials.row_of(material)]
        return bool(np.isin(kinds, (BodyKind.PSEUDO_RIGID, BodyKind.FINITE_ELEMENT)).any()) or any(
            known is material for mesh in bodies.meshes.values() for known in mesh.materials
        )

    @property
    def _material(self) -> BulkMaterial:
        return self._simulation.domain.bulk_materials[self._id]

    def _refresh(self):
        """Update the elastic constants of bodies of this material."""
        bodies = self._simulation.domain.bodies
        rows = bodies.view("material") == self._id
        bodies.view("lame")[:, rows] = np.reshape(self._material.lame, (2, 1))
        bodies.view("law")[rows] = int(self._material.law)

    def __repr__(self):
        return f"BULK_MATERIAL(label={self.label!r}, young={self.young:g}, poisson={self.poisson:g}, density={self.density:g})"

    @property
    def label(self) -> str:
        """Label."""
        return self._material.label

    @property
    def model(self) -> str:
        """Name of the model."""
        return self._material.model

    @model.setter
    def model(self, value: str) -> None:
        self._set_model(checks.choice(value, "model", MODELS))

    def _set_model(self, model: str) -> None:
        bodies = self._simulation.domain.bodies
        mine = bodies.view("material") == self._id
        if model != "KIRCHHOFF":
            if (mine & (bodies.view("kind") == BodyKind.PSEUDO_RIGID)).any():
                raise BadValue(f"'model' {model!r} is not for pseudo-rigid bodies, and one has the material {self.label!r}")
            special = mine & ((bodies.view("enhanced") == 1) | (bodies.view("conserving") == 1))
            if special.any():
                number = int(bodies.id[np.argmax(special)])
                raise BadValue(f"'model' {model!r} does not go with members 'enhanced' and 'conserving' of body {number}")
        for number, mesh in bodies.meshes.items():
            if model != self.model and any(material is self._material for material in mesh.materials):
                raise BadValue(f"'model' of {self.label!r} has to stay: elements of body {number} have it by APPLY_BULKMAT")
        self._material.model = model
        self._refresh()

    young = _bulk_member("young", checks.nonnegative, "Young's modulus.")
    poisson = _bulk_member("poisson", _poisson, "Poisson's ratio.")
    density = _bulk_member("density", checks.nonnegative, "Mass density; bodies keep the mass they were created with.")


def bulk_by_label(domain, label: str) -> BulkMaterial | None:
    """Return the bulk material with a label, or None."""
    return next((material for material in domain.bulk_materials if material.label == label), None)


def bulk_material(domain, value, name: str) -> BulkMaterial:
    """Convert a material argument: an object of this domain, or its label."""
    if isinstance(value, BULK_MATERIAL):
        if value._simulation.domain is not domain:
            raise BadValue(f"'{name}' {value.label!r} belongs to another SOLFEC object")
        return value._material
    if isinstance(value, str):
        material = bulk_by_label(domain, value)
        if material is None:
            known = ", ".join(repr(material.label) for material in domain.bulk_materials) or "none"
            raise BadType(f"'{name}': there is no bulk material labelled {value!r} (known labels: {known})")
        return material
    raise BadType(f"'{name}' must be a BULK_MATERIAL object or its label, not {checks.kind_of(value)}")


def _reach(value, name: str) -> float:
    return 0.0 if value is None or (isinstance(value, str) and value == "OFF") else checks.positive(value, name)


def _distance(simulation, value) -> float:
    """Convert a surface material's `gap_aware` to its value in the table."""
    if value is None and simulation.domain.settings.manifold:
        return WITHIN_MARGIN
    return _reach(value, "gap_aware")


def _surface_member(name: str, check: Callable[[Any, str], float], doc: str) -> Member[float]:
    """Make a member for a number in the table of surface materials."""

    def get(self) -> float:
        return float(getattr(self._table, name)[self._id])

    def put(self, value):
        if name == "cohesion" and self.model == "COHESIVE":
            raise BadValue("'cohesion' is not for model 'COHESIVE'; call SURFACE_MATERIAL with the same surfaces again for another 'ft'")
        value = check(value, name)
        if name == "spring" and self.model == "COHESIVE":
            _whole(value, float(self._table.cohesion[self._id]), float(self._table.fracture_energy[0, self._id]))
        getattr(self._table, name)[self._id] = value

    return Member(get, put, doc=doc)


def _given(column: str, kind: Callable[[Any], T], doc: str, place: int | tuple[()] = ()) -> Member[T]:
    """Make a member that stays as the command gave it: an entry of a column, made a `kind`."""
    return Member(lambda self: kind(getattr(self._table, column)[..., self._id][place]), doc=doc)


SLOPES = 10.0  # least stiffness of a whole bond, over the slope f^2/(2 G) with which it softens: its strength falls by a part of it


def _whole(spring: float, strength: float, energy: float) -> float:
    """Return the stiffness of a bond that is whole, if it is large enough."""
    least = SLOPES * strength**2 / (2 * energy)
    if 0 < spring < least:
        raise BadValue(
            f"'spring' of a bond of ft = {strength:g} and Gf = {energy:g} must be at least {least:g} (force/volume), or 0: rigid; it is {spring:g}, and the "
            "bond would be gone, or lose much of its strength, before it is damaged"
        )
    return spring


def _bond(model: str, cohesion: float, spring: float, given: dict[str, float | None]) -> dict:
    """Columns of a surface material that describe bonds, from what the user gives of ft, fs, Gf, Gs."""
    if model != "COHESIVE":
        for name, value in given.items():
            if value is not None:
                raise BadValue(f"'{name}' is for model 'COHESIVE'; {model!r} has no bonds that soften")
        return {"shear_strength": 0.0, "fracture_energy": (0.0, 0.0)}
    if cohesion:
        raise BadValue("'cohesion' is not for model 'COHESIVE'; its normal strength is 'ft'")
    for name in ("ft", "Gf"):
        if given[name] is None:
            raise BadValue(f"model 'COHESIVE' needs '{name}'")
    known = {name: checks.positive(value, name) for name, value in given.items() if value is not None}
    strengths, energies = (known["ft"], known.get("fs", known["ft"])), (known["Gf"], known.get("Gs", known["Gf"]))
    _whole(spring, strengths[0], energies[0])
    return {"cohesion": strengths[0], "shear_strength": strengths[1], "fracture_energy": energies}


class SURFACE_MATERIAL(Handle):
    """Contact law between two surfaces (docs/language-objects.md, SURFACE_MATERIAL).

    Parameters
    ----------
    solfec : SOLFEC
    surf1, surf2 : int, optional
        Surface identifiers, in any order; one alone means all its contacts, none means all other contacts.
    model : str
        Law of the contacts: 'SIGNORINI_COULOMB' unless it is given, 'SPRING_DASHPOT', or 'COHESIVE': Signorini-Coulomb beside a bond that softens.
    label : str
        Default 'SURFACE_MATERIAL_i'; the material of all other contacts is labelled 'DEFAULT'.
    friction, cohesion, restitution : float
        Coefficient >= 0, cohesion per unit area >= 0, velocity restitution in [0, 1].
    spring, dashpot, hpow : float
        Normal stiffness >= 0, damping (negative: critical), power >= 0 of Hertz's law.  `spring` of 'COHESIVE': stiffness per area of a whole bond
        [pressure/length]; 0: it is rigid.
    ft, fs : float, optional
        Of 'COHESIVE', which needs `ft` and `Gf`: normal and tangential strength > 0 of the bond [pressure]; `fs` is `ft` by default.
    Gf, Gs : float, optional
        Energies > 0 per area that break the bond when it opens and when it slides [energy/area]; `Gs` is `Gf` by default.
    gap_aware : float, optional
        Distance > 0 from which contacts are found, and may close up to touching within a step; 'OFF' (default): contacts
        are found once they overlap, and keep their overlap.  With SOLFEC (..., contacts = 'MANIFOLD') the default is the
        margin of every pair; the member then returns the largest.
    rolling_length, spinning_length : float
        Lengths >= 0: the moment against rolling is at most `rolling_length`, that against spinning `spinning_length` times the normal reaction.
    """

    __slots__ = ()
    _SHOWN = "label surf1 surf2 model friction cohesion restitution spring dashpot hpow gap_aware"

    @command("SURFACE_MATERIAL")
    def __init__(
        self,
        solfec: SOLFEC,
        surf1: int | None = None,
        surf2: int | None = None,
        model: SurfaceModelName | None = None,
        label: str | None = None,
        friction: float = 0.0,
        cohesion: float = 0.0,
        restitution: float = 0.0,
        spring: float = 0.0,
        dashpot: float = 0.0,
        hpow: float = 1.0,
        gap_aware: float | Literal["OFF"] | None = None,
        ft: float | None = None,
        fs: float | None = None,
        Gf: float | None = None,
        Gs: float | None = None,
        rolling_length: float = 0.0,
        spinning_length: float = 0.0,
    ) -> None:
        simulation = simulation_of(solfec)
        domain = simulation.domain
        model = SURFACE_MODELS[0] if model is None else checks.choice(model, "model", SURFACE_MODELS)
        given = [checks.identifier(s, f"surf{i + 1}") for i, s in enumerate((surf1, surf2)) if s is not None]
        label = None if label is None else checks.string(label, "label")
        data = {
            "model": int(SurfaceModel[model]),
            "friction": checks.nonnegative(friction, "friction"),
            "cohesion": checks.nonnegative(cohesion, "cohesion"),
            "restitution": checks.between(restitution, "restitution", 0.0, 1.0),
            "spring": checks.nonnegative(spring, "spring"),
            "dashpot": checks.number(dashpot, "dashpot"),
            "hpow": checks.nonnegative(hpow, "hpow"),
            "gap_aware": _distance(simulation, gap_aware),
            "rolling_length": checks.nonnegative(rolling_length, "rolling_length"),
            "spinning_length": checks.nonnegative(spinning_length, "spinning_length"),
        }
        data |= _bond(model, data["cohesion"], data["spring"], {"ft": ft, "fs": fs, "Gf": Gf, "Gs": Gs})
        pair = sorted([*given, ANY_SURFACE, ANY_SURFACE][:2])
        table = domain.surface_materials
        same = np.flatnonzero((table.view("surface") == np.reshape(pair, (2, 1))).all(axis=0))
        if same.size:
            row = int(same[0])
        else:
            row = table.append(surface=np.reshape(pair, (2, 1)))
            domain.surface_labels.append(f"SURFACE_MATERIAL_{row}")
        for name, value in data.items():
            getattr(table, name)[..., row] = value
        if label is not None:
            domain.surface_labels[row] = label
        self._simulation = simulation
        self._id = row
        self._refresh()
        if not same.size:
            domain.constraints.renew_materials(table)

    def _refresh(self):
        """Update the distance from which contacts are found: the largest of CONTACT_OPTIONS and materials."""
        self._simulation.domain.settings.widen(self._table.reaches)

    @property
    def _table(self):
        return self._simulation.domain.surface_materials

    def __repr__(self):
        return f"SURFACE_MATERIAL(label={self.label!r}, model={self.model!r}, friction={self.friction:g})"

    surf1 = _given("surface", int, "First surface identifier (the largest 32-bit integer: any).", 0)
    surf2 = _given("surface", int, "Second surface identifier (the largest 32-bit integer: any).", 1)

    @property
    def label(self) -> str:
        """Label."""
        return self._simulation.domain.surface_labels[self._id]

    @property
    def model(self) -> str:
        """Name of the model."""
        return SurfaceModel(int(self._table.model[self._id])).name

    @model.setter
    def model(self, value: str) -> None:
        name = checks.choice(value, "model", SURFACE_MODELS)
        if name == "COHESIVE" != self.model:
            raise BadValue("'model' cannot become 'COHESIVE' without strengths and energies; call SURFACE_MATERIAL with the same surfaces again")
        self._table.model[self._id] = int(SurfaceModel[name])

    friction = _surface_member("friction", checks.nonnegative, "Coefficient of friction.")
    cohesion = _surface_member("cohesion", checks.nonnegative, "Cohesion per unit area.")
    restitution = _surface_member("restitution", partial(checks.between, low=0.0, high=1.0), "Velocity restitution.")
    spring = _surface_member("spring", checks.nonnegative, "Normal stiffness.")
    dashpot = _surface_member("dashpot", checks.number, "Normal damping; negative: critical.")
    hpow = _surface_member("hpow", checks.nonnegative, "Power of Hertz's law.")
    rolling_length = _surface_member("rolling_length", checks.nonnegative, "Largest moment against rolling over the normal reaction.")
    spinning_length = _surface_member("spinning_length", checks.nonnegative, "Largest moment against spinning over the normal reaction.")

    @property
    def ft(self) -> float:
        """Normal strength of bonds; 0: there are none."""
        return self.cohesion if self.model == "COHESIVE" else 0.0

    fs = _given("shear_strength", float, "Tangential strength of bonds; 0: there are none.")
    Gf = _given("fracture_energy", float, "Energy per area that breaks a bond when it opens.", 0)
    Gs = _given("fracture_energy", float, "Energy per area that breaks a bond when it slides.", 1)

    @property
    def gap_aware(self) -> float | str:
        """Distance from which open contacts are found, or 'OFF'."""
        distance = float(self._table.gap_aware[self._id])
        return (self._simulation.domain.settings.margin if distance == WITHIN_MARGIN else distance) or "OFF"

    @gap_aware.setter
    def gap_aware(self, value: float | Literal["OFF"] | None) -> None:
        self._table.gap_aware[self._id] = _distance(self._simulation, value)
        self._refresh()
