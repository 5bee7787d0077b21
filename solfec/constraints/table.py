"""The constraint table and the surface-material table.

Rows: the user's constraints first, in order of creation, then the contacts, oldest birth step first and within a
step by the key of their pair of primitives.  Identifiers grow with the rows and are never reused, so the
handle of a constraint that is gone finds nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

import numpy as np

from ..element_types import MOST_NODES
from ..kinds import ConstraintKind, DirectionUpdate, SurfaceModel  # noqa: F401  # known here, too
from ..tables import Table
from ..time_series import SeriesTable
from .curves import SpringCurves

USER_ONLY = (  # columns of the constraint table that contacts leave alone
    *("length", "strength", "value", "series_rows", "direction", "update", "limits", "curve", "dashpot", "implicit", "start"),
    *("reversing", "joint", "axes", "travel", "motor", "drive", "geared", "gearing", "levers"),
)


class KeptRowTable(Table):
    """What `user.update` writes of the user's rows, kept while these show another configuration; see ConstraintTable."""

    COLUMNS = {
        "point": ((3,), "f8", 0.0),
        "other_point": ((3,), "f8", 0.0),
        "base": ((3, 3), "f8", 0.0),
        "gap": ((), "f8", 0.0),
        "master_point": ((3,), "f8", 0.0),
        "travel": ((), "f8", 0.0),
        "value": ((3,), "f8", 0.0),
        "levers": ((3, 2, 2), "f8", 0.0),
        "bend": ((3,), "f8", 0.0),
    }


class ConstraintTable(Table):
    """One row per constraint.  Local vectors have component order (T1, T2, N); bases hold t1, t2, n as columns.

    Attributes
    ----------
    series : SeriesTable
        Time series of prescribed velocities.
    curves : SpringCurves
        Tabulated forces of springs.
    functions : dict
        Identifier of a spring -> ``function(stroke, velocity)`` returning its force.
    """

    COLUMNS = {
        "id": ((), "i8", 0),
        "kind": ((), "i4", 0),  # ConstraintKind
        "master": ((), "i4", -1),  # body rows; U is master minus slave, R acts on the master
        "slave": ((), "i4", -1),  # -1: none
        "master_primitive": ((), "i4", -1),  # primitive rows (contacts)
        "slave_primitive": ((), "i4", -1),
        "slot": ((), "i4", 0),  # point number of a contact patch; with the two primitives the contact's key
        "master_point": ((3,), "f8", 0.0),  # referential point on the master
        "slave_point": ((3,), "f8", 0.0),  # referential point on the slave, or the fixed spatial point of a link
        "element": ((2,), "i4", -1),  # mesh elements that hold the points on finite element bodies: master, slave
        "weights": ((MOST_NODES, 2), "f8", 0.0),  # shape functions of these elements at the points
        "point": ((3,), "f8", 0.0),  # current spatial point
        "other_point": ((3,), "f8", 0.0),  # second current point of a link; of a cohesive contact, the point on the slave
        "base": ((3, 3), "f8", 0.0),  # columns t1, t2, n, spatial
        "R": ((3,), "f8", 0.0),  # reaction (force averaged over the step), local
        "moment": ((3,), "f8", 0.0),  # of a contact: moment of rolling and spinning friction on the master, averaged over the step, local
        "U": ((3,), "f8", 0.0),  # relative velocity at the end of the step, local
        "V": ((3,), "f8", 0.0),  # relative velocity at its start, local
        "rounding": ((3, 2), "f8", 0.0),  # of a contact: radii of curvature K_11, K_22, K_12 of master and slave along the tangents, 0: polyhedron
        "carriers": ((2,), "f8", 0.0),  # parts that the angular velocities of master and slave have in that of the contact's normal
        "gap": ((), "f8", 0.0),
        "bend": ((3,), "f8", 0.0),  # of links, ropes, axes and prescribed motions: acceleration of points by the rotation of bodies, master minus slave, spatial
        "damped": ((), "i4", 0),  # of supports, if they damp errors of velocity (supports.py): their number on the body; 1: a coupling that does; of RIGLNK: LoopedLink
        "held": ((), "i4", 0),  # of limits: 1: joints hold their motion in this step, so that they do nothing (solvers/held_limits.py)
        "area": ((), "f8", 0.0),
        "surface": ((2,), "i4", 0),  # surface identifiers: slave, master
        "material": ((), "i4", 0),  # row of the surface-material table
        "cohesion": ((), "f8", 0.0),  # cohesion per unit area while the contact is cohesive, else 0
        "damage": ((), "f8", 0.0),  # of the bond of a cohesive contact, 1: gone
        "birth": ((), "i8", -1),  # step number at which the constraint was created
        "evaluated": ((), "i8", -1),  # number of the last update of shapes before a contact was evaluated (see contact/detection.py)
        "merit": ((), "f8", 0.0),
        "residual": ((), "f8", 0.0),
        "length": ((), "f8", 0.0),  # reference length of a link or spring; arm at which turning counts as moving
        "strength": ((), "f8", np.inf),  # of FIXPNT and RIGLNK
        "value": ((3,), "f8", 0.0),  # prescribed velocity at the end of the step (VELODIR, VELODIR3); of joints, within a step, the velocity that an impact has left
        "series_rows": ((3,), "i4", -1),  # time series of these velocities, -1: constant
        "direction": ((3,), "f8", 0.0),  # unit, of FIXDIR, VELODIR, SPRING: spatial, or referential if convected
        "update": ((), "i4", 0),  # DirectionUpdate
        "limits": ((2,), "f8", 0.0),  # strokes at which a spring's rigid stops begin; coordinates at which a joint's do
        "curve": ((), "i4", -1),  # curve of a spring, -1: a Python function
        "dashpot": ((), "f8", 0.0),  # of a spring with a curve
        "start": ((), "i4", 0),  # joint_starts.Start: whether the next step stops the joint's points
        "reversing": ((3,), "f8", 0.0),  # of a joint's row: V plus the U of the step before (fortran/rows/joint_rows.f90)
        "joint": ((), "i8", 0),  # identifier of the first constraint of the joint that a row belongs to, 0: none
        "axes": ((3, 2, 2), "f8", 0.0),  # a joint's n and t1, referential, as the master and as the slave (space) carry them
        "geared": ((2,), "i8", 0),  # of wheels: identifiers of the constraints whose coordinates they couple
        "gearing": ((3,), "f8", 0.0),  # q less this multiple of s, its value where nothing has drifted, 1: the reaction acts at the rims
        "levers": ((3, 2, 2), "f8", 0.0),  # of wheels: factors of the angular velocity and of a point's velocity, master and slave
        "travel": ((), "f8", 0.0),  # last coordinate of a joint's axis, turns counted
        "motor": ((), "i4", 0),  # Motor: the quantity that `value` prescribes
        "drive": ((6,), "f8", 0.0),  # largest effort of the motor, friction, stiffness, damping, coordinate without force, restitution
        "implicit": ((), "i4", 0),  # 1: a spring's force follows from the mean stroke and velocity of the step
    }
    POINTS_INTO = {
        "master": "BodyTable",
        "slave": "BodyTable",
        "master_primitive": "PrimitiveTable",
        "slave_primitive": "PrimitiveTable",
        "material": "SurfaceMaterialTable",
        "series_rows": "SeriesTable",
        "curve": "SpringCurves",
    }

    def __init__(self):
        super().__init__()
        self.overloaded = np.zeros(0, np.int32)  # work of `user.find_overloaded`
        self.kept = KeptRowTable()  # work of `user.present`
        self.user_count = 0  # leading rows that are the user's constraints
        self.next_id = 1
        self.series = SeriesTable()
        self.curves = SpringCurves()
        self.functions: dict[int, Callable] = {}

    def keep_marked(self, mask: np.ndarray) -> None:
        """Keep the marked rows; the user's constraints stay in front."""
        users = slice(0, self.user_count)
        wheels = np.flatnonzero(self.geared[0, users])
        if wheels.size:  # they go with the joints whose coordinates they couple
            mask = mask.copy()
            mask[wheels] &= np.isin(self.geared[:, wheels], self.id[users][mask[users]]).all(axis=0)
        users = int(mask[users].sum())
        self.keep(mask)
        self.user_count = users

    def _idle_among(self, first: int, stop: int) -> Collection[str]:
        return USER_ONLY if first >= self.user_count else ()

    @property
    def contact_count(self) -> int:
        """Number of contacts; they are the last rows."""
        return self.n - self.user_count

    def renew_materials(self, materials: SurfaceMaterialTable) -> None:
        """Give contacts the materials of their surfaces after one was added; those that get another one lose their cohesion, as where surfaces change.

        Bonds on the faces of cracks keep the material of their crack.
        """
        contacts = np.arange(self.user_count, self.n)
        rows = contacts[materials.surface[0, self.material[contacts]] != NO_SURFACE]
        if not rows.size:
            return
        pairs, kind = np.unique(self.surface[:, rows], axis=1, return_inverse=True)
        found = np.array([materials.row_of(*pair) for pair in pairs.T.tolist()], np.int32)[kind.ravel()]
        self.cohesion[rows[found != self.material[rows]]] = 0.0
        self.material[rows] = found

    def new_ids(self, count: int) -> np.ndarray:
        """Return `count` new identifiers."""
        ids = np.arange(self.next_id, self.next_id + count)
        self.next_id += count
        return ids

    def row_of(self, identifier: int) -> int:
        """Return the row of a constraint, or -1 if it is gone."""
        for first, last in ((0, self.user_count), (self.user_count, self.n)):
            row = first + int(np.searchsorted(self.id[first:last], identifier))
            if row < last and self.id[row] == identifier:
                return row
        return -1


ANY_SURFACE = 2**31 - 1  # wildcard of the look-up: "every other surface"
NO_SURFACE = -(2**31)  # first surface identifier of materials that no look-up finds: those of cracks


class SurfaceMaterialTable(Table):
    """Surface materials; row 0 is the default, valid for any pair."""

    COLUMNS = {
        "surface": ((2,), "i4", ANY_SURFACE),  # sorted pair
        "model": ((), "i4", 0),  # SurfaceModel
        "friction": ((), "f8", 0.0),
        "cohesion": ((), "f8", 0.0),
        "restitution": ((), "f8", 0.0),
        "spring": ((), "f8", 0.0),
        "dashpot": ((), "f8", 0.0),  # negative: critical damping
        "hpow": ((), "f8", 1.0),  # exponent of the spring law
        "shear_strength": ((), "f8", 0.0),  # of bonds; `cohesion` is the normal one
        "fracture_energy": ((2,), "f8", 0.0),  # of bonds per unit area, normal and tangential
        "gap_aware": ((), "f8", 0.0),  # distance up to which open contacts count; 0: only overlaps count
        "rolling_length": ((), "f8", 0.0),  # largest rolling moment over the normal reaction
        "spinning_length": ((), "f8", 0.0),  # and largest spinning moment
    }

    def __init__(self):
        super().__init__()
        self.append()

    def row_of(self, one: int, other: int) -> int:
        """Return the row of the material of two surfaces, the slave's first, as detection does (fortran/contact/contacts.f90)."""
        surface = self.view("surface").T.tolist()
        for pair in (sorted((one, other)), [one, ANY_SURFACE], [other, ANY_SURFACE]):
            if pair in surface:
                return surface.index(pair)
        return 0

    @property
    def rolls(self) -> bool:
        """Whether any material has rolling or spinning friction."""
        return bool(self.view("rolling_length").any() or self.view("spinning_length").any())

    @property
    def reaches(self) -> np.ndarray:
        """Distances up to which contacts of each material must be found: of bonds, the opening at which they are gone."""
        bonded = self.view("model") == SurfaceModel.COHESIVE
        strengths = np.where(bonded, [self.view("cohesion"), self.view("shear_strength")], 1.0)
        return np.maximum(self.view("gap_aware"), np.where(bonded, 2 * self.view("fracture_energy") / strengths, 0.0).max(axis=0))
