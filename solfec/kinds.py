"""Numbers of kinds in tables.  The build writes the kernels' constants from these classes (tools/kind_numbers.py)."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import Literal


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
        """Name of the form in inputs (docs/language-objects.md, BODY)."""
        return self.name.replace("_", "-")


class Law(IntEnum):
    """Law of a bulk material (fortran/bodies/material_laws.f90)."""

    KIRCHHOFF = 0
    LINEAR = 1  # the stiffness at zero displacement, of bodies of form 'BC'
    NEO_HOOKEAN = 2


class Energy(IntEnum):
    """Columns of `BodyTable.energy`, in the order of Solfec-1.0's manual; its last one is FRICTION."""

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
    """Kind of a constraint (docs/language-objects.md, CONSTRAINT.kind); the user's are kinds of rows under the same numbers."""

    CONTACT = 0
    FIXPNT = 1
    FIXDIR = 2
    VELODIR = 3
    VELODIR3 = 4
    RIGLNK = 5
    SPRING = 6
    GUIDE = 10  # a point of the master stays on a line that the slave carries
    PIVOT = 11  # bodies turn against each other about the joint's axis alone
    LOCK = 12  # bodies do not turn against each other
    SWIVEL = 13  # an axis of the one stays square to an axis of the other
    AXIAL = 14  # what acts along a joint's axis: motor, friction, spring, limits
    TORSIONAL = 15  # what acts about it
    SPAN = 16  # what acts along the line between two points
    GEAR = 17  # two wheels turn at a ratio
    RACK = 18  # a rack moves as a wheel turns

    @property
    def family(self) -> RowFamily:
        """Record of its rows; for contacts that of the default surface model."""
        return ROW_FAMILIES[RowKind(self)]

    @property
    def components(self) -> tuple[int, ...]:
        """Components (T1, T2, N) of the relative velocity that it prescribes; none for contacts and springs."""
        return self.family.components

    @property
    def is_joint(self) -> bool:
        """Whether it holds a place without a motion prescribed by the user."""
        return self.family.joint

    @property
    def keeps_length(self) -> bool:
        """Whether it holds the distance of two points, both of which have positions for users."""
        return self.is_joint and self.family.frame == Frame.BETWEEN_POINTS


class RowKind(IntEnum):
    """Kind of a row of local dynamics: the constraint's kind, the law that a constraint follows in this step instead, or a second row of it."""

    CONTACT = 0
    FIXPNT = 1
    FIXDIR = 2
    VELODIR = 3
    VELODIR3 = 4
    RIGLNK = 5
    SPRING = 6  # with a tabulated curve
    GUIDE = 10
    PIVOT = 11
    LOCK = 12
    SWIVEL = 13
    AXIAL = 14
    TORSIONAL = 15
    SPAN = 16
    GEAR = 17
    RACK = 18
    ROLLING = 31  # second row of a contact: rolling and spinning friction
    SPRING_DASHPOT = 32  # contact of a SPRING_DASHPOT material
    OPEN = 33  # contact with an open gap: R = 0, U = B
    HELD = 34  # spring with a Python function: sweeps do not change its reaction
    COHESIVE = 35  # contact that a damageable bond holds together

    @property
    def family(self) -> RowFamily:
        """Record of its rows."""
        return ROW_FAMILIES[self]

    @property
    def components(self) -> tuple[int, ...]:
        """Components of the relative velocity that it prescribes; see ConstraintKind."""
        return self.family.components

    @property
    def is_linear(self) -> bool:
        """Whether its law is linear in the velocities of the step."""
        return bool(self.components) and self.family.linear


class Cone(IntEnum):
    """Set of admissible reactions of a row, for solvers of cones."""

    CONTACT = 0  # in the friction cone
    FIXED = 1  # anything: u = 0
    NORMAL = 2  # along the normal: u_N = 0
    NONE = 3  # zero


class Frame(IntEnum):
    """Motion of the base of a user's constraint with its bodies (fortran/constraints/user_constraints.f90)."""

    KEPT = 0  # it stays as it was put
    OF_SPACE = 1  # the axes of space
    OF_DIRECTION = 2  # n is the constraint's direction, convected if it is to be
    BETWEEN_POINTS = 3  # n points from the slave's point to the master's; gap: distance less `length`
    OF_SPRING = 4  # one of the last two, by the constraint's `update`
    OF_JOINT = 5  # n is the joint's axis as the slave (or space) carries it; gap: the coordinate along or about it
    ACROSS_AXES = 6  # n is square to the axes that the two sides carry; gap: the cosine of their angle
    OF_WHEELS = 7  # n is the common direction of two wheels' rims; gap: a coordinate of one joint less a multiple of another's


@dataclass(frozen=True)
class RowFamily:
    """Properties of a kind of rows, except the law itself, which is a type in `fortran/rows`.

    Parameters
    ----------
    module, type : str
        Fortran module, `fortran/rows/<module>.f90`, and its type that extends `row_family`.
    word : str
        Four letters at most, for pictures.
    frame : Frame
        How the base follows the bodies.
    newton : bool
        Whether NEWTON_SOLVER takes it: the type has `linearise`, or `taken_by_newton` gives another law that has it.
    cone : Cone, optional
        Cone for AUTO_SOLVER and FCLIB.  None: steps with such rows are left to sweeps, or raise an error.
    plain_contact : bool
        Whether its law data are those of `row_block`, so that PENALTY_SOLVER may replace it by a spring and dashpot, and SICONOS_SOLVER by
        a Signorini-Coulomb contact; other contacts are errors there.
    compliant : bool
        Whether its contacts store energy in springs.
    weakens : bool
        Whether its contacts have a bond, whose damage `damaged` returns after every step; contacts without cohesion are Signorini-Coulomb ones.
    components : tuple of int
        Components (T1, T2, N) of the relative velocity that it asks for.
    linear : bool
        Whether its law is linear in the velocities of the step.
    joint : bool
        Whether it holds a place without a motion prescribed by the user: the first step stops its points, and drift is corrected on request.
    slides : bool
        Whether between two bodies the force on the master acts at the slave's point.
    angular : bool
        Whether U is the relative angular velocity at an arm, the constraint's `length`, and R a torque over this arm.
    carried : bool
        Whether U is the velocity relative to the rotating slave.
    masked : bool
        Whether it does not act along n: U_N = R_N = 0.
    geared : bool
        Whether U_N is the difference of velocities at the rims of wheels: H takes the column `levers`.
    drive : bool
        Whether it is a law of one coordinate, which solvers of cones replace by its tangent R_N = p + g U_N.
    options : tuple of (str, bool)
        Components of the Fortran type itself.
    """

    module: str
    type: str
    word: str = ""
    frame: Frame = Frame.KEPT
    newton: bool = True
    cone: Cone | None = None
    plain_contact: bool = False
    compliant: bool = False
    weakens: bool = False
    components: tuple[int, ...] = ()
    linear: bool = True
    joint: bool = False
    slides: bool = False
    angular: bool = False
    carried: bool = False
    masked: bool = False
    geared: bool = False
    drive: bool = False
    options: tuple[tuple[str, bool], ...] = field(default=())


_ALL, _N, _PRESCRIBED = (0, 1, 2), (2,), (("prescribed", True),)

ROW_FAMILIES = {
    RowKind.CONTACT: RowFamily("contact_rows", "contact_family", "CNT", cone=Cone.CONTACT, plain_contact=True),
    RowKind.FIXPNT: RowFamily("joint_rows", "point_family", "PNT", Frame.OF_SPACE, cone=Cone.FIXED, components=_ALL, joint=True),
    RowKind.FIXDIR: RowFamily(
        "joint_rows", "direction_family", "DIR", Frame.OF_DIRECTION, cone=Cone.NORMAL, components=_N, joint=True, slides=True
    ),
    RowKind.VELODIR: RowFamily(
        "joint_rows", "direction_family", "VEL", Frame.OF_DIRECTION, cone=Cone.NORMAL, components=_N, options=_PRESCRIBED
    ),
    RowKind.VELODIR3: RowFamily("joint_rows", "point_family", "VEL3", cone=Cone.FIXED, components=_ALL, options=_PRESCRIBED),
    RowKind.RIGLNK: RowFamily(
        "link_rows", "link_family", "LNK", Frame.BETWEEN_POINTS, cone=Cone.NORMAL, components=_N, linear=False, joint=True
    ),
    RowKind.SPRING: RowFamily("spring_families", "spring_family", "SPR", Frame.OF_SPRING),
    RowKind.GUIDE: RowFamily(
        "joint_rows", "point_family", "GDE", Frame.OF_JOINT, cone=Cone.FIXED, components=_ALL, joint=True, carried=True, masked=True
    ),
    RowKind.PIVOT: RowFamily(
        "joint_rows", "point_family", "PVT", Frame.OF_JOINT, cone=Cone.FIXED, components=_ALL, joint=True, angular=True, masked=True
    ),
    RowKind.LOCK: RowFamily(
        "joint_rows", "point_family", "LCK", Frame.OF_JOINT, cone=Cone.FIXED, components=_ALL, joint=True, angular=True
    ),
    RowKind.SWIVEL: RowFamily(
        "joint_rows", "direction_family", "SWV", Frame.ACROSS_AXES, cone=Cone.NORMAL, components=_N, joint=True, angular=True
    ),
    RowKind.AXIAL: RowFamily("drive_rows", "drive_family", "AXL", Frame.OF_JOINT, carried=True, drive=True),
    RowKind.TORSIONAL: RowFamily("drive_rows", "drive_family", "TOR", Frame.OF_JOINT, angular=True, drive=True),
    RowKind.SPAN: RowFamily("drive_rows", "drive_family", "SPN", Frame.BETWEEN_POINTS, drive=True),
    RowKind.GEAR: RowFamily(
        "joint_rows", "direction_family", "GEA", Frame.OF_WHEELS, cone=Cone.NORMAL, components=_N, joint=True, geared=True
    ),
    RowKind.RACK: RowFamily(
        "joint_rows", "direction_family", "RCK", Frame.OF_WHEELS, cone=Cone.NORMAL, components=_N, joint=True, geared=True
    ),
    RowKind.ROLLING: RowFamily("rolling_rows", "rolling_family", newton=False),
    RowKind.SPRING_DASHPOT: RowFamily("dashpot_rows", "dashpot_family", plain_contact=True, compliant=True),
    RowKind.COHESIVE: RowFamily("cohesive_rows", "cohesive_family", weakens=True),
    RowKind.OPEN: RowFamily("contact_rows", "open_family", cone=Cone.NONE, plain_contact=True),
    RowKind.HELD: RowFamily("spring_families", "held_family", frame=Frame.OF_SPRING, newton=False),
}
"""Families of rows: a new law or joint needs an entry here and a type in `fortran/rows`; the build writes `row_families` from this list."""

DRIVES = tuple(kind for kind in ConstraintKind if kind.family.drive)
PRESCRIBED = tuple(kind for kind in ConstraintKind if kind.family.options == _PRESCRIBED)
SPRINGS = tuple(kind for kind in ConstraintKind if kind.family.frame is Frame.OF_SPRING)
JOINTS = tuple(kind for kind in ConstraintKind if kind.is_joint)
LINKS = tuple(kind for kind in ConstraintKind if kind.keeps_length)
"""Joints that keep the distance of two points."""


class DirectionUpdate(IntEnum):
    """Motion of the direction of a constraint with bodies (docs/language-objects.md, PUT_SPRING.update)."""

    FOLLOW = 0  # it points from the slave's point to the master's
    FIXED = 1  # fixed in space
    CONV1 = 2  # convected with the master
    CONV2 = 3  # convected with the slave


SurfaceModelName = Literal["SIGNORINI_COULOMB", "SPRING_DASHPOT", "COHESIVE"]
"""Names of `SurfaceModel`, for type checkers."""


class SurfaceModel(IntEnum):
    """Surface material models (docs/language-objects.md, SURFACE_MATERIAL)."""

    SIGNORINI_COULOMB = 0
    SPRING_DASHPOT = 1
    COHESIVE = 2  # Signorini-Coulomb beside a bond that softens

    @property
    def row(self) -> RowKind:
        """Kind of rows of its contacts; of a law with bonds, of contacts whose bond holds."""
        return RowKind.CONTACT if self == SurfaceModel.SIGNORINI_COULOMB else RowKind[self.name]


class Motor(IntEnum):
    """Motor of a joint's coordinate (fortran/rows/drive_rows.f90)."""

    NONE = 0
    RATE = 1
    COORDINATE = 2
    EFFORT = 3
    CALLED = 4  # added to one of the others: a Python function gives the value


class JointStart(IntEnum):
    """Treatment in the next step of the relative motion of a joint's points (solfec/constraints/joint_starts.py)."""

    MET = 0  # no treatment: their relative velocity is zero
    NEW = 1  # not checked yet
    IMPACT = 2  # the step stops them
    STRUCK = 3  # the step changes the relative velocity e left by an impact to -e/2
    HALVED = 4  # the step changes -e/2 to zero


class LoopedLink(IntEnum):
    """Condition of a link (solfec/solvers/closed_loops.py)."""

    LENGTH = 0  # it keeps its length
    BESIDE_JOINTS = 1  # it is in a loop with joints that prescribe velocities
    VELOCITY = 2  # and prescribes one, too, in this step, since some of them hold a motion twice
