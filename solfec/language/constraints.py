"""CONSTRAINT, FIX_POINT and PUT_RIGID_LINK (manual, 4.2.16)."""

from __future__ import annotations

import math

from ..bodies.table import BodyKind
from ..constraints.table import ConstraintKind
from ..simulation import Simulation
from . import checks
from .bodies import BODY, body_of, point_on
from .checks import BadType, BadValue, Members, command


def _member(doc: str):
    """A read-only member that is None once the constraint is gone; the function gets the table and the row."""

    def decorate(function) -> property:
        def get(self):
            table = self._simulation.domain.constraints
            row = table.row_of(self._id)
            return None if row < 0 else function(self, table, row)

        return property(get, doc=doc)

    return decorate


def _local(name: str, doc: str) -> property:
    return _member(doc)(lambda self, table, row: tuple(getattr(table, name)[:, row].tolist()))


def _scalar(name: str, doc: str) -> property:
    return _member(doc)(lambda self, table, row: float(getattr(table, name)[row]))


class CONSTRAINT(Members):
    """A constraint, prescribed or by contact; a handle that finds it by (SOLFEC, id), made by other commands.

    All members are read-only, and None when the constraint does not exist any more.
    """

    __slots__ = ("_simulation", "_id")

    def __init__(self, *arguments, **keywords):
        raise BadType("CONSTRAINT objects come from commands such as FIX_POINT and from SOLFEC.constraints")

    @classmethod
    def _of(cls, simulation: Simulation, identifier: int) -> CONSTRAINT:
        handle = object.__new__(cls)
        handle._simulation = simulation
        handle._id = identifier
        return handle

    def __eq__(self, other):
        return isinstance(other, CONSTRAINT) and self._simulation is other._simulation and self._id == other._id

    def __hash__(self):
        return hash(("CONSTRAINT", id(self._simulation), self._id))

    def __repr__(self):
        return f"CONSTRAINT {self._id} ({self.kind or 'gone'})"

    R = _local("R", "Reaction (T1, T2, N) in the local base: force averaged over the last step.")
    U = _local("U", "Relative velocity (T1, T2, N) at the end of the step.")
    V = _local("V", "Relative velocity (T1, T2, N) at the start of the step.")
    gap = _scalar("gap", "Gap of a contact, negative when penetrating; of a link its elongation; else 0.")
    area = _scalar("area", "Area of a contact, else 0.")
    merit = _scalar("merit", "Contribution to the constraints satisfaction merit function.")

    @_member("Kind: 'CONTACT', 'FIXPNT', 'FIXDIR', 'VELODIR', 'VELODIR3', 'RIGLNK' or 'SPRING'.")
    def kind(self, table, row):
        return ConstraintKind(int(table.kind[row])).name

    @_member("Local base: first tangent, second tangent, normal, three spatial components each.")
    def base(self, table, row):
        return tuple(table.base[:, :, row].T.ravel().tolist())

    @_member("Current spatial point; both points, 6 numbers, of a 'RIGLNK'.")
    def point(self, table, row):
        point = table.point[:, row].tolist()
        if table.kind[row] == ConstraintKind.RIGLNK:
            point += table.other_point[:, row].tolist()
        return tuple(point)

    @_member("The two adjacent bodies (master, slave), or the one BODY.")
    def adjbod(self, table, row):
        identifiers = self._simulation.domain.bodies.id
        master = BODY._of(self._simulation, int(identifiers[table.master[row]]))
        if table.slave[row] < 0:
            return master
        return master, BODY._of(self._simulation, int(identifiers[table.slave[row]]))

    @_member("Label of the surface material of a contact, else None.")
    def matlab(self, table, row):
        if table.kind[row] != ConstraintKind.CONTACT:
            return None
        return self._simulation.domain.surface_labels[int(table.material[row])]

    @_member("Surface identifiers of a contact in the order of `adjbod`, else None.")
    def spair(self, table, row):
        if table.kind[row] != ConstraintKind.CONTACT:
            return None
        slave, master = table.surface[:, row].tolist()
        return master, slave


def _strength(value) -> float:
    return math.inf if value is None else checks.positive(value, "strength", infinite=True)


@command("FIX_POINT")
def FIX_POINT(body, point, strength=None):
    """Fix a referential point of a body in space.

    Parameters
    ----------
    body : BODY
    point : tuple of 3
        Referential point in or on the shape.
    strength : float
        Magnitude of the reaction beyond which the constraint is deleted (default: infinity).

    Returns
    -------
    CONSTRAINT
    """
    body = body_of(body, "body")
    point = point_on(body, point, "point")
    strength = _strength(strength)
    simulation = body._simulation
    return CONSTRAINT._of(simulation, simulation.domain.fix_point(body._id, point, strength))


@command("PUT_RIGID_LINK")
def PUT_RIGID_LINK(body1, body2, point1, point2, strength=None):
    """Keep the distance between referential points of two bodies, or of one body and a point in the air.

    Parameters
    ----------
    body1, body2 : BODY or None
        Not both None, of one SOLFEC object, not both obstacles.
    point1, point2 : tuple of 3
        Equal points couple the bodies there.
    strength : float
        Tensile force beyond which the link is deleted; of a coupling, magnitude of its reaction.

    Returns
    -------
    CONSTRAINT
    """
    if body1 is None and body2 is None:
        raise BadType("'body1' and 'body2' must not both be None")
    pairs = []
    for i, (body, point) in enumerate(((body1, point1), (body2, point2)), 1):
        if body is None:
            pairs.append((None, checks.vector(point, f"point{i}")))
        else:
            body = body_of(body, f"body{i}")
            pairs.append((body, point_on(body, point, f"point{i}")))
    (one, first), (two, second) = pairs
    strength = _strength(strength)
    if one is not None and two is not None:
        if one._simulation is not two._simulation:
            raise BadValue("'body1' and 'body2' belong to different SOLFEC objects")
        if one == two:
            raise BadValue("'body1' and 'body2' are the same body")
    if all(body is None or body._kind == BodyKind.OBSTACLE for body in (one, two)) and one and two:
        raise BadValue("two obstacles cannot be linked")
    simulation = (one or two)._simulation
    ids = [None if body is None else body._id for body in (one, two)]
    return CONSTRAINT._of(simulation, simulation.domain.rigid_link(*ids, first, second, strength))
