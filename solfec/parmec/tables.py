"""State tables of the explicit engine, passed to kernels as handles (solfec/tables.py).

Lengths, masses and times are in the user's units.  Referential quantities belong to the initial orientation of a body, spatial ones
to the present one.  Row numbers of particles, springs and joints are the numbers that users see.
"""

from __future__ import annotations

from ..tables import Table


class ControlTable(Table):
    """One row: the clock, and loads that act on all particles."""

    COLUMNS = {
        "time": ((), "f8", 0.0),  # at the start of the next step
        "label": ((), "f8", 0.0),  # time at the start of the last step, which is the time of samples and files
        "step": ((), "f8", 0.0),  # length of the next step
        "drifted": ((), "f8", 0.0),  # time of the last motion of positions
        "leads": ((), "i4", 0),  # 1: there are particles that another program moves
        "followed": ((), "i4", 0),  # 1: particles that another program moves are at their positions for the next step
        "elapsed": ((), "f8", 0.0),  # since the present DEM began
        "duration": ((), "f8", 0.0),  # of the present DEM
        "adaptive": ((), "f8", 0.0),  # largest step over the critical step, 0: steps are equal
        "longest": ((), "f8", 0.0),  # longest adaptive step
        "steps": ((), "i8", 0),  # taken so far
        "margin": ((), "f8", -1.0),  # margin of listed pairs; below zero: pairs must be listed again
        "gravity": ((3,), "f8", 0.0),  # acceleration
        "gravity_curve": ((3,), "i4", -1),  # series of its components, -1: the number above is used
        "linear_damping": ((3,), "f8", 0.0),  # [1/time]
        "linear_damping_curve": ((3,), "i4", -1),
        "angular_damping": ((3,), "f8", 0.0),  # [1/time]
        "angular_damping_curve": ((3,), "i4", -1),
        "damped": ((), "i4", 0),  # 1: DAMPING has been called
        "sample_interval": ((), "f8", 0.0),  # time between samples of histories
        "last_sample": ((), "f8", 0.0),
        "output_interval": ((), "f8", 0.0),  # time between files
        "last_output": ((), "f8", 0.0),
    }  # fmt: skip


class ParticleTable(Table):
    """One row per rigid particle."""

    COLUMNS = {
        "kind": ((), "i4", 0),  # ParticleKind
        "driven": ((), "i4", 0),  # 1: another program moves it
        "steered": ((), "i4", 0),  # 1: PRESCRIBE gives its angular velocity
        "held": ((2,), "i4", 0),  # 1: reactions do not move it, or do not turn it, because it is prescribed or restrained
        "material": ((), "i4", 0),
        "colour": ((), "i4", 0),  # of a sphere
        "radius": ((), "f8", 0.0),  # of a sphere
        "mass": ((), "f8", 1.0),
        "inertia": ((3, 3), "f8", 0.0),  # referential, about the mass centre
        "inverse_inertia": ((3, 3), "f8", 0.0),
        "reference": ((3,), "f8", 0.0),  # mass centre at the start
        "position": ((3,), "f8", 0.0),  # mass centre
        "rotation": ((3, 3), "f8", 0.0),  # takes referential to spatial vectors
        "velocity": ((3,), "f8", 0.0),  # of the mass centre
        "angular": ((3,), "f8", 0.0),  # referential angular velocity
        "spin": ((3,), "f8", 0.0),  # spatial angular velocity
        "point_map": ((8, 4), "f8", 0.0),  # product with (a, 1): position (1..3) and velocity (5..7) of the point with referential arm a
        "force": ((3,), "f8", 0.0),  # total force of the last step
        "torque": ((3,), "f8", 0.0),  # about the mass centre, spatial
        "impulse": ((3,), "f8", 0.0),  # of the forces on a particle that another program moves, since that program reset it
        "angular_impulse": ((3,), "f8", 0.0),  # impulse of the torques
        "work": ((), "f8", 0.0),  # of forces and torques
        "first_end": ((), "i4", 0),  # its first end of a spring in EndTable
        "ends": ((), "i4", 0),  # how many
        "first_contact": ((), "i4", 0),  # its first end of a pair in ContactEndTable
        "contacts": ((), "i4", 0),  # how many
    }  # fmt: skip


class CurveTable(Table):
    """One row per piecewise linear function: time series and tables of springs."""

    COLUMNS = {
        "first": ((), "i4", 0),  # its first point in CurvePointTable
        "size": ((), "i4", 0),
    }  # fmt: skip


class CurvePointTable(Table):
    """Points of all curves."""

    COLUMNS = {
        "x": ((), "f8", 0.0),
        "y": ((), "f8", 0.0),
        "slope": ((), "f8", 0.0),  # to the next point; of the last point the slope before it
    }  # fmt: skip


class LinkTable(Table):
    """One row per linear spring."""

    COLUMNS = {
        "kind": ((), "i4", 0),  # LinkKind
        "status": ((), "i4", -3),  # LinkStatus
        "particle": ((2,), "i4", -1),  # -1: the ground
        "arm": ((3, 2), "f8", 0.0),  # its points, as given, relative to the mass centres, referential; on the ground relative to the origin
        "lever": ((3, 2), "f8", 0.0),  # the same in the last step, when a particle's plane has its point where the first one stands over it
        "direction": ((3,), "f8", 0.0),  # as given; the normal of a plane is referential
        "rest": ((), "f8", 0.0),  # length without stroke
        "curve": ((), "i4", 0),  # force over stroke
        "dashpot": ((), "i4", -1),  # force over velocity, -1: none
        "ratio": ((), "f8", -1.0),  # of critical damping, below zero: none
        "law": ((), "i4", -1),  # row of LinkLawTable, -1: none
        "length": ((), "f8", 0.0),
        "stroke": ((), "f8", 0.0),
        "elastic": ((), "f8", 0.0),  # force without dashpot
        "total": ((), "f8", 0.0),  # force with it
        "friction": ((), "f8", 0.0),  # magnitude
        "force": ((3,), "f8", 0.0),  # on the first particle; its opposite acts on the second one
        "pull": ((4,), "f8", 0.0),  # the same force, stored in every step, with a fourth number for vector instructions
    }  # fmt: skip
    POINTS_INTO = {"particle": "ParticleTable", "curve": "CurveTable", "dashpot": "CurveTable", "law": "LinkLawTable"}


class LinkBatchTable(Table):
    """One row per eight linear springs with successive numbers, in ascending order of `low`: their common properties."""

    COLUMNS = {
        "first": ((), "i4", 0),  # row of LinkTable
        "low": ((), "i4", 0),  # lowest and highest number of their particles
        "high": ((), "i4", 0),
        "plain": ((), "i4", 0),  # 1: eight follower springs between particles, with the same short tables, none of them special
        "curve": ((), "i4", -1),  # row of CurveTable, -2: the springs have different curves
        "dashpot": ((), "i4", -1),  # row of CurveTable, -2: different ones, -1: none has a dashpot
        "grounded": ((), "i4", 0),  # 1: one of them is attached to the ground
        "special": ((), "i4", 0),  # 1: one of them has more than tables of force over stroke and velocity, or may be released
    }  # fmt: skip
    POINTS_INTO = {"first": "LinkTable", "low": "ParticleTable", "high": "ParticleTable", "curve": "CurveTable", "dashpot": "CurveTable"}


class LinkLawTable(Table):
    """One row per spring with friction, stroke offset or unloading curve."""

    COLUMNS = {
        "unload": ((), "i4", -1),  # unloading curve
        "yielded": ((), "i4", 0),  # YieldKind
        "limit": ((2,), "f8", 0.0),  # of compression and tension [force]
        "loaded": ((2,), "f8", 0.0),  # strokes reached along the loading curve on both sides
        "last_stroke": ((), "f8", 0.0),
        "last_force": ((), "f8", 0.0),
        "offset": ((), "i4", -1),  # curve that is subtracted from the stroke
        "friction": ((), "f8", 0.0),  # coefficient
        "tangential": ((), "f8", 0.0),  # stiffness over that along the axis, 0: slip gives friction alone
        "slip": ((3,), "f8", 0.0),  # tangential stroke
        "release": ((), "i4", -1),  # curve along which UNSPRING releases the spring
    }  # fmt: skip
    POINTS_INTO = {"unload": "CurveTable", "offset": "CurveTable", "release": "CurveTable"}


class TorsionTable(Table):
    """One row per torsion spring; roll, pitch and yaw are angles about x, y and z."""

    COLUMNS = {
        "particle": ((2,), "i4", -1),  # -1: the ground
        "x": ((3,), "f8", 0.0),  # axes, referential vectors of the first particle
        "z": ((3,), "f8", 0.0),
        "curve": ((3,), "i4", -1),  # torque over angle, -1: none
        "dashpot": ((3,), "i4", -1),  # torque over angular velocity, -1: none
        "ratio": ((3,), "f8", -1.0),  # of critical damping, below zero: none
        "cone": ((3,), "i4", 0),  # 1: this angle belongs to the cone
        "arm": ((3,), "f8", 0.0),  # from the first particle's mass centre to the point where files show the spring
        "angle": ((3,), "f8", 0.0),
        "elastic": ((3,), "f8", 0.0),  # torques on the first particle about x, y and z, without dashpot
        "total": ((3,), "f8", 0.0),  # with it
        "torque": ((3,), "f8", 0.0),  # on the first particle, spatial; its opposite acts on the second one
    }  # fmt: skip
    POINTS_INTO = {"particle": "ParticleTable", "curve": "CurveTable", "dashpot": "CurveTable"}


class JointTable(Table):
    """One row per ball joint."""

    COLUMNS = {
        "particle": ((2,), "i4", -1),  # -1: the ground
        "arm": ((3, 2), "f8", 0.0),  # its point relative to the mass centres, referential
        "reaction": ((3,), "f8", 0.0),  # force on the first particle
        "restraint": ((2,), "i4", -1),  # rows of RestraintTable of its particles, -1: none
    }  # fmt: skip


class JointGroupTable(Table):
    """Sets of joints that particles connect."""

    COLUMNS = {
        "first": ((), "i4", 0),  # its first joint in JointOrderTable
        "size": ((), "i4", 0),
    }  # fmt: skip


class JointOrderTable(Table):
    """Joints by set."""

    COLUMNS = {
        "joint": ((), "i4", 0),
    }  # fmt: skip


class ReleaseTable(Table):
    """One row per UNSPRING: conditions and lists of springs."""

    COLUMNS = {
        "quantity": ((), "i4", 0),  # QuantityKind of the springs that are checked
        "operator": ((), "i4", 0),  # ReleaseOperator
        "absolute": ((), "i4", 0),  # 1: absolute values are used
        "limit": ((2,), "f8", 0.0),  # lower and upper limit
        "steps": ((), "i4", 1),  # between two checks
        "wanted": ((), "i4", 1),  # checks at which a limit must be exceeded
        "exceeded": ((), "i4", 0),  # checks at which it was exceeded
        "done": ((), "i4", 0),  # 1: the springs are released
        "first": ((3,), "i4", 0),  # in ReleaseListTable: first spring to check, to release and to activate
        "size": ((3,), "i4", 0),
    }  # fmt: skip


class ReleaseListTable(Table):
    """Springs of UNSPRING's lists."""

    COLUMNS = {
        "link": ((), "i4", 0),
        "series": ((), "i4", -1),  # number of the TSERIES along which the spring is released, -1: at once
    }  # fmt: skip
    POINTS_INTO = {"link": "LinkTable", "series": "CurveTable"}


class EndTable(Table):
    """Ends of springs by particle, ascending: the order in which forces are summed."""

    COLUMNS = {
        "end": ((), "i4", 0),  # 2 s of the first and 2 s + 1 of the second point of linear spring s; -1 - 2 s and -2 - 2 s of torsion spring s
    }  # fmt: skip


class PairingTable(Table):
    """Contact laws of pairs of colours."""

    COLUMNS = {
        "colour": ((2,), "i4", 0),  # the lower one first; both 0: of all pairs without a law of their own
        "spring": ((), "f8", 0.0),  # force over depth
        "damper": ((), "f8", 0.0),  # ratio of critical damping
        "friction": ((2,), "f8", 0.0),  # static and dynamic coefficients
        "tangential": ((), "f8", 0.0),  # stiffness and damping over those along the normal
    }  # fmt: skip


class ObstacleTable(Table):
    """One row per obstacle."""

    COLUMNS = {
        "first": ((), "i4", 0),  # its triangles
        "size": ((), "i4", 0),
        "moving": ((), "i4", 0),
        "point": ((3,), "f8", 0.0),  # about which it turns
        "linear": ((3,), "f8", 0.0),  # velocity of this point
        "angular": ((3,), "f8", 0.0),  # angular velocity
        "moved": ((), "f8", 0.0),  # largest motion of its corners since pairs were listed [length]
    }  # fmt: skip


class TriangleTable(Table):
    """Triangles of obstacles."""

    COLUMNS = {
        "obstacle": ((), "i4", 0),
        "colour": ((), "i4", 0),
        "corner": ((3, 3), "f8", 0.0),  # one a column
        "initial": ((3, 3), "f8", 0.0),  # corners when the obstacle was made
        "searched": ((3, 3), "f8", 0.0),  # corners when pairs were listed
    }  # fmt: skip


class SphereTable(Table):
    """Particles that may touch others."""

    COLUMNS = {
        "particle": ((), "i4", 0),
        "searched": ((3,), "f8", 0.0),  # centre when pairs were listed
    }  # fmt: skip


class ContactTable(Table):
    """Pairs that may touch, sorted by their particles."""

    COLUMNS = {
        "pair": ((2,), "i4", 0),  # a sphere, and a sphere with a higher number or -1 - triangle
        "pairing": ((), "i4", 0),  # row of PairingTable
        "alive": ((), "i4", 0),  # 1: there is a contact
        "depth": ((), "f8", 0.0),
        "point": ((3,), "f8", 0.0),
        "normal": ((3,), "f8", 0.0),  # to the first sphere
        "slip": ((3,), "f8", 0.0),  # integral of the tangential velocity
        "normal_force": ((), "f8", 0.0),
        "tangential": ((3,), "f8", 0.0),  # force across the normal
        "force": ((3,), "f8", 0.0),  # on the first sphere
    }  # fmt: skip


class ContactEndTable(Table):
    """Ends of pairs by particle."""

    COLUMNS = {
        "contact": ((), "i4", 0),
        "side": ((), "i4", 0),  # 1 or 2
    }  # fmt: skip


class RestraintTable(Table):
    """Directions in which particles do not move or turn."""

    COLUMNS = {
        "particle": ((), "i4", 0),
        "linear": ((3, 3), "f8", 0.0),  # orthonormal directions, one a column
        "linear_count": ((), "i4", 0),
        "angular": ((3, 3), "f8", 0.0),
        "angular_count": ((), "i4", 0),
    }  # fmt: skip


class DriveTable(Table):
    """Prescribed motion."""

    COLUMNS = {
        "particle": ((), "i4", 0),
        "linear_kind": ((), "i4", 0),  # DriveKind
        "linear": ((3,), "f8", 0.0),  # velocity or acceleration, spatial
        "linear_curve": ((3,), "i4", -1),  # series of its components, -1: Python writes them
        "angular_kind": ((), "i4", 0),
        "angular": ((3,), "f8", 0.0),
        "angular_curve": ((3,), "i4", -1),
    }  # fmt: skip
    POINTS_INTO = {"particle": "ParticleTable", "linear_curve": "CurveTable", "angular_curve": "CurveTable"}


class ProbeTable(Table):
    """One row per history."""

    COLUMNS = {
        "quantity": ((), "i4", 0),  # QuantityKind
        "component": ((), "i4", 0),  # 0, 1, 2, or 3: the magnitude
        "first": ((), "i4", 0),  # its sources in ProbeSourceTable
        "size": ((), "i4", 0),
        "arm": ((3,), "f8", 0.0),  # from the mass centre to the recorded point, referential
    }  # fmt: skip


class ProbeSourceTable(Table):
    """Numbers of the particles, springs or joints over which histories are averaged."""

    COLUMNS = {
        "number": ((), "i4", 0),
    }  # fmt: skip


OPENED_TOGETHER = {
    "model_tables": {
        "control": "ControlTable",
        "particles": "ParticleTable",
        "curves": "CurveTable",
        "points": "CurvePointTable",
        "links": "LinkTable",
        "laws": "LinkLawTable",
        "ends": "EndTable",
        "restraints": "RestraintTable",
        "drives": "DriveTable",
        "probes": "ProbeTable",
        "sources": "ProbeSourceTable",
        "torsions": "TorsionTable",
        "joints": "JointTable",
        "joint_groups": "JointGroupTable",
        "joint_order": "JointOrderTable",
        "releases": "ReleaseTable",
        "release_lists": "ReleaseListTable",
        "pairings": "PairingTable",
        "obstacles": "ObstacleTable",
        "triangles": "TriangleTable",
        "spheres": "SphereTable",
        "contacts": "ContactTable",
        "contact_ends": "ContactEndTable",
        "batches": "LinkBatchTable",
    }
}
