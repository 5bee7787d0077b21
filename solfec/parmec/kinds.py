"""Numbers of kinds in tables of the explicit engine; the build writes the kernels' constants from them."""

from __future__ import annotations

from enum import IntEnum


class ParticleKind(IntEnum):
    """Origin of a particle."""

    ANALYTICAL = 0
    SPHERE = 1
    MESH = 2


class LinkKind(IntEnum):
    """Measure of a linear spring's stroke."""

    FOLLOWER = 0  # along the line between its points
    CONSTANT = 1  # along a direction that is fixed in space
    PLANAR = 2  # across a direction that is fixed in space
    PLANE = 3  # along the normal of a plane that moves with the second particle


class LinkStatus(IntEnum):
    """State of a linear spring, as the history 'SS' shows it; numbers from 0 on are unloading curves."""

    UNDONE = -1  # inactive, or undone by UNSPRING
    WATCHED = -2  # UNSPRING may undo it
    PLAIN = -3


class YieldKind(IntEnum):
    """State of a spring with an unloading curve."""

    ELASTIC = 0  # it has not reached its limits yet
    LOADING = 1  # along the loading curve
    UNLOADING = 2  # along the unloading curve


class ReleaseOperator(IntEnum):
    """Operator by which UNSPRING combines quantities of several springs."""

    SUM = 0
    MIN = 1
    MAX = 2


class DriveKind(IntEnum):
    """Quantity that PRESCRIBE gives of a particle's linear or angular motion."""

    FREE = 0
    VELOCITY = 1
    ACCELERATION = 2


class QuantityKind(IntEnum):
    """Quantity that a history records; of vectors with a component 0, 1, 2, or 3 for the magnitude."""

    TIME = 0
    POSITION = 1
    DISPLACEMENT = 2
    VELOCITY = 3
    SPIN = 4
    FORCE = 5
    TORQUE = 6
    LINK_LENGTH = 7
    LINK_STROKE = 8
    LINK_TOTAL = 9
    LINK_ELASTIC = 10
    LINK_FRICTION = 11
    LINK_STATUS = 12
    TORSION_Z = 13
    TORSION_X = 14
    TORSION_ANGLE = 15
    TORSION_TOTAL = 16
    TORSION_ELASTIC = 17
    REACTION = 18


class PauseKind(IntEnum):
    """Reason for which the kernel of explicit steps returns to Python."""

    END = 0  # of the duration, or of the requested steps
    OUTPUT = 1  # files are due
    ROOM = 2  # the memory for histories is full
    SEARCH = 3  # pairs that may touch must be listed again
    NO_NUMBER = 4  # a particle's motion is not finite
