"""Numbers of kinds, as tables hold them.  The build makes the kernels' constants of these classes (tools/kind_numbers.py)."""

from __future__ import annotations

from enum import IntEnum


class BodyKind(IntEnum):
    """Kinematic model of a body (docs/language-objects.md, BODY)."""

    OBSTACLE = 0
    RIGID = 1
    PSEUDO_RIGID = 2
    FINITE_ELEMENT = 3


class Scheme(IntEnum):
    """Time integration scheme of a body (docs/language-objects.md, BODY.scheme)."""

    RIG_POS = 0
    RIG_NEG = 1
    RIG_IMP = 2
    DEF_EXP = 3
    DEF_LIM = 4


class Form(IntEnum):
    """Formulation of a finite element body (docs/language-objects.md, BODY)."""

    NONE = 0
    TL = 1
    BC = 2
    BC_MODAL = 3
    BC_RO = 4

    @property
    def label(self) -> str:
        """As the manual writes it."""
        return self.name.replace("_", "-")


class Law(IntEnum):
    """Law of a bulk material (fortran/bodies/material_laws.f90)."""

    KIRCHHOFF = 0
    LINEAR = 1  # the stiffness at zero displacement, of bodies of form 'BC'
    NEO_HOOKEAN = 2


class Energy(IntEnum):
    """Columns of `BodyTable.energy`, in the manual's order, which ends with FRICTION."""

    KINETIC = 0
    INTERNAL = 1
    EXTERNAL = 2
    CONTACT = 3
    FRICTION = 4
    DISSIPATED = 5


class LoadKind(IntEnum):
    """Kind of a point load."""

    SPATIAL_FORCE = 0
    CONVECTED_FORCE = 1
    SPATIAL_TORQUE = 2
    CONVECTED_TORQUE = 3


class PrimitiveKind(IntEnum):
    """Kind of a convex primitive; the pair of kinds chooses the narrow phase."""

    CONVEX = 0
    ELEMENT = 1
    SPHERE = 2
    ELLIPSOID = 3


class ConstraintKind(IntEnum):
    """Kind of a constraint (docs/language-objects.md, CONSTRAINT.kind)."""

    CONTACT = 0
    FIXPNT = 1
    FIXDIR = 2
    VELODIR = 3
    VELODIR3 = 4
    RIGLNK = 5
    SPRING = 6

    @property
    def components(self) -> tuple[int, ...]:
        """Components (T1, T2, N) of the relative velocity that it asks for; none of contacts and springs."""
        return _COMPONENTS.get(self.name, ())

    @property
    def is_joint(self) -> bool:
        """Whether it holds a place that the user does not move."""
        return self.name in _COMPONENTS and not self.name.startswith("VELO")


class RowKind(IntEnum):
    """Kind of a row of local dynamics: the constraint's kind, or the law that a constraint follows in this step instead."""

    CONTACT = 0
    FIXPNT = 1
    FIXDIR = 2
    VELODIR = 3
    VELODIR3 = 4
    RIGLNK = 5
    SPRING = 6  # with a tabulated curve
    SPRING_DASHPOT = 7  # contact of a SPRING_DASHPOT material
    OPEN = 8  # contact with an open gap: R = 0, U = B
    HELD = 9  # spring with a Python function: sweeps leave its reaction alone
    COHESIVE = 10  # contact that a damageable bond holds together

    @property
    def components(self) -> tuple[int, ...]:
        """Components of the relative velocity that it asks for, as of constraints."""
        return _COMPONENTS.get(self.name, ())

    @property
    def is_linear(self) -> bool:
        """Whether what it asks for does not depend on the velocities of the step."""
        return self.name in _COMPONENTS and self.name != "RIGLNK"


_COMPONENTS = {"FIXPNT": (0, 1, 2), "FIXDIR": (2,), "VELODIR": (2,), "VELODIR3": (0, 1, 2), "RIGLNK": (2,)}
JOINTS = tuple(kind for kind in ConstraintKind if kind.is_joint)


class DirectionUpdate(IntEnum):
    """What becomes of the direction of a constraint while bodies move (docs/language-objects.md, PUT_SPRING.update)."""

    FOLLOW = 0  # it points from the slave's point to the master's
    FIXED = 1  # fixed in space
    CONV1 = 2  # convected with the master
    CONV2 = 3  # convected with the slave


class SurfaceModel(IntEnum):
    """Surface material models (docs/language-objects.md, SURFACE_MATERIAL)."""

    SIGNORINI_COULOMB = 0
    SPRING_DASHPOT = 1
    COHESIVE = 2  # Signorini-Coulomb beside a bond that softens


class JointStart(IntEnum):
    """What the next step does about the motion of a joint's points against each other (solfec/constraints/joint_starts.py)."""

    MET = 0  # nothing: they are at rest against each other
    NEW = 1  # nobody has looked yet
    IMPACT = 2  # it stops them
    STRUCK = 3  # it takes what an impact of bodies has left, e, to -e/2
    HALVED = 4  # and the next one takes that to zero
