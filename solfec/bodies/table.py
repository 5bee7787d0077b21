"""The body table: kind, inertia, configuration and velocity of every body.

Velocities and configurations are lists of 3-vectors ("triples"), so that operators on them are made of 3x3
blocks, the same for every kind:

====================  =========================================  ==============================================
kind                  configuration triples                      velocity triples
====================  =========================================  ==============================================
OBSTACLE, RIGID       columns of the rotation, current centre    referential angular velocity, velocity of centre
PSEUDO_RIGID          rows of the gradient F, current centre     rows of dF/dt, velocity of centre
FINITE_ELEMENT        displacements of nodes                     velocities of nodes
in a base of k        as above, then columns of the rotation     as above, then k reduced velocities and zeros
====================  =========================================  ==============================================

The meshes of finite element bodies are in `BodyTable.meshes`, the bases of those that have one in `BodyTable.bases`; `finite_elements.compiled` makes arrays of all of them.
"""

from __future__ import annotations

import numpy as np

from .. import _kernels
from ..kinds import BodyKind, Energy, Form, Scheme  # noqa: F401  # known here, too
from ..tables import Gaps, Table, opened

REDUCED_FORMS = (Form.BC_MODAL, Form.BC_RO)  # velocities in a base


IDENTITY, ORIGIN, NOTHING = np.eye(3), np.zeros(3), np.zeros((3, 3))
_write_body = _kernels.body_rows.write_body
_CONF_TRIPLES, _VELO_TRIPLES = np.array([4, 4, 4, 0]), np.array([2, 2, 4, 0])  # by BodyKind; nodes are added
_TRIPLES = tuple(zip(_CONF_TRIPLES.tolist(), _VELO_TRIPLES.tolist()))


def conf_triples(kind, nodes, modes):
    """Return the number of configuration triples of bodies with `nodes` nodes and `modes` vectors of a base."""
    return _CONF_TRIPLES[kind] + nodes + 3 * (np.asarray(modes) > 0)


def velo_triples(kind, nodes, modes):
    """Return the number of velocity triples of bodies with `nodes` nodes and `modes` vectors of a base."""
    return _VELO_TRIPLES[kind] + nodes + -(-np.asarray(modes) // 3)


def body_name(identifier: int, *words: str | None) -> str:
    """Return a name such as 'body 6 (crane, RIGID)' from the words that are not empty."""
    known = ", ".join(word for word in words if word)
    return f"body {identifier} ({known})" if known else f"body {identifier}"


class TripleTable(Table):
    """Velocity triples of all bodies, body by body (`BodyTable.velo_ptr` points here)."""

    REFILLED = True
    COLUMNS = {
        "velo": ((3,), "f8", 0.0),  # u(t) between steps, the free velocity u* within one
        "velo_prev": ((3,), "f8", 0.0),  # u(t) within a step
        "force": ((3,), "f8", 0.0),  # generalised applied force of the step, whose work is EXTERNAL energy
        "reaction": ((3,), "f8", 0.0),  # generalised constraint reaction of the step
        "inverse_inertia": ((3, 3), "f8", 0.0),  # diagonal block of A^-1 (explicit bodies)
    }


class ConfigurationTable(Table):
    """Configuration triples of all bodies (`BodyTable.conf_ptr` points here)."""

    REFILLED = True
    COLUMNS = {
        "conf": ((3,), "f8", 0.0),
        "kept": ((3,), "f8", 0.0),  # conf(t) of rigid bodies while quasi-static loads are evaluated elsewhere
    }


OPENED_TOGETHER = {"body_tables": {"bodies": "BodyTable", "triples": "TripleTable", "configurations": "ConfigurationTable"}}


class BodyTable(Table):
    """One row per body; flat state in `triples` and `configurations`."""

    REFILLED = True
    COLUMNS = {
        "id": ((), "i8", 0),  # 1, 2, ... in order of creation, never reused
        "owner": ((), "i4", 0),  # rank of the process that moves the body; others have copies of it
        "kind": ((), "i4", 0),  # BodyKind
        "scheme": ((), "i4", 1),  # Scheme
        "rotation_disabled": ((), "i4", 0),  # 1: the angular velocity is held at zero
        "selfcontact": ((), "i4", 0),  # 1: contacts within the body are detected (deformable bodies)
        "material": ((), "i4", 0),  # row of the bulk material table
        "damping": ((), "f8", 0.0),
        "mass": ((), "f8", 0.0),
        "volume": ((), "f8", 0.0),
        "centre": ((3,), "f8", 0.0),  # referential mass centre
        "tensor": ((3, 3), "f8", 0.0),  # inertia J (obstacle, rigid) or Euler tensor E0 (others), referential
        "lame": ((2,), "f8", 0.0),  # Lame's lambda and mu of the bulk material
        "law": ((), "i4", 0),  # materials.Law of the bulk material
        "enhanced": ((), "i4", 0),  # 1: hexahedra have enhanced strains (finite elements)
        "conserving": ((), "i4", 0),  # 1: DEF_LIM conserves energy and momentum (finite elements, form TL)
        "fracture_check": ((), "i4", 0),  # 1: states that reach the fracture energy are recorded (finite elements)
        "form": ((), "i4", 0),  # Form of a finite element body
        "node_count": ((), "i4", 0),  # nodes of a finite element body
        "mode_count": ((), "i4", 0),  # vectors of its base, 0: none
        "node_ptr": ((), "i4", 0),  # its first row among the nodes of all bodies (set by finite_elements.compiled)
        "element_ptr": ((), "i4", 0),  # its first row among the elements of all bodies
        "overlap_ptr": ((), "i4", 0),  # of a body in a background mesh: its first primitive in FiniteElements.overlap_first
        "conf_ptr": ((), "i4", 0),  # first configuration triple
        "velo_ptr": ((), "i4", 0),  # first velocity triple
        "primitive_ptr": ((), "i4", 0),  # first row of the primitive table
        "primitive_count": ((), "i4", 0),
        "momentum": ((3,), "f8", 0.0),  # referential angular momentum carried by RIG_NEG and RIG_IMP
        "energy": ((6,), "f8", 0.0),  # Energy
        "rest": ((), "i4", 0),  # steps for which the body has been slow, at most those after which it may sleep; -1: it sleeps, -2: it wakes within this step
        "extents": ((6,), "f8", 0.0),  # current bounding box: lower corner, upper corner
    }
    POINTS_INTO = {
        "material": "bulk materials",  # Domain.bulk_materials
        "node_ptr": "nodes",  # these three are lists of FiniteElements
        "element_ptr": "elements",
        "overlap_ptr": "overlaps",
        "conf_ptr": "ConfigurationTable",
        "velo_ptr": "TripleTable",
        "primitive_ptr": "PrimitiveTable",
    }

    def __init__(self):
        super().__init__()
        self.triples = TripleTable()
        self.configurations = ConfigurationTable()
        self.meshes: dict = {}  # FiniteElementMesh by body identifier
        self.embedded = 0  # shapes inside meshes that have been added
        self.bases: dict = {}  # ReducedBase by body identifier
        self.labels: dict[int, str] = {}  # labels of bodies
        self.finite_elements = None  # result of finite_elements.compiled; None: it must be made again
        self.rank = -1  # of the process that moves bodies of this owner; -1: it moves all of them
        self._join_handles()

    def __deepcopy__(self, memo: dict):
        memo[id(self.finite_elements)] = None  # its arrays share memory; the copy makes its own
        copied = super().__deepcopy__(memo)
        copied._join_handles()
        return copied

    def _join_handles(self) -> None:
        """Keep the handles of OPENED_TOGETHER side by side."""
        self.handles = np.array([table.handle for table in (self, self.triples, self.configurations)], np.longlong)

    def row_of(self, identifier: int) -> int:
        """Row of a body, or -1 when it is not here: identifiers ascend, and any of them may lack."""
        ids = self.view("id")
        row = int(ids.searchsorted(identifier))
        return row if row < len(ids) and ids[row] == identifier else -1

    @property
    def moved_here(self) -> np.ndarray:
        """Mask (n,) of the bodies that this process moves: all, or in a part of a model those of one owner."""
        return np.ones(self.n, bool) if self.rank < 0 else self.view("owner") == self.rank

    def name(self, identifier: int, *words: str) -> str:
        """Return the name of a body for messages: its number, and in brackets its label, if any, and other words."""
        return body_name(identifier, self.labels.get(identifier), *words)

    def add(self, kind: BodyKind, mesh=None, base=None, **columns) -> int:
        """Append one body at its referential placement and at rest; return its row.

        A finite element body needs its `mesh`, a FiniteElementMesh, and the column `id`; one of a reduced form its `base`.
        """
        if mesh is not None:
            return self._add_finite_elements(kind, mesh, base, columns)
        return self._add_whole(kind, **columns)

    def _add_whole(
        self, kind: BodyKind, id=0, form=0, scheme=1, material=0, law=0, primitive_ptr=0, primitive_count=0, mass=0.0, volume=0.0,
        centre=ORIGIN, tensor=NOTHING, lame=(0.0, 0.0), **others,
    ) -> int:  # fmt: skip
        """Append a body without finite elements."""
        conf_count, velo_count = _TRIPLES[kind]
        conf_ptr, velo_ptr = self.configurations.extend(conf_count), self.triples.extend(velo_count)
        row = self.extend(1)
        opened(_write_body(
            self.handles, id, kind, form, scheme, material, law, conf_ptr, velo_ptr, primitive_ptr, primitive_count,
            mass, volume, centre, tensor, lame,
        ))  # fmt: skip
        for name, value in others.items():
            getattr(self, name)[..., row] = value
        return row

    def _add_finite_elements(self, kind: BodyKind, mesh, base, columns: dict) -> int:
        nodes, modes = mesh.node_count, 0 if base is None else base.mode_count
        conf_ptr = self.configurations.extend(int(conf_triples(kind, nodes, modes)))
        velo_ptr = self.triples.extend(int(velo_triples(kind, nodes, modes)))
        row = self.append_row(kind=int(kind), conf_ptr=conf_ptr, velo_ptr=velo_ptr, node_count=nodes, mode_count=modes, **columns)
        self.meshes[int(self.id[row])] = mesh
        self.embedded += mesh.background is not None
        if base is not None:
            self.bases[int(self.id[row])] = base
            self.configurations.conf[:, conf_ptr + nodes : conf_ptr + nodes + 3] = IDENTITY
        return row

    def conf_slice(self, row: int) -> slice:
        """The body's configuration triples."""
        first = int(self.conf_ptr[row])
        return slice(first, first + conf_triples(self.kind[row], self.node_count[row], self.mode_count[row]))

    def velo_slice(self, row: int) -> slice:
        """The body's velocity triples."""
        first = int(self.velo_ptr[row])
        return slice(first, first + velo_triples(self.kind[row], self.node_count[row], self.mode_count[row]))

    def remove(self, mask: np.ndarray) -> np.ndarray:
        """Remove the rows where `mask` is true; return the map from old to new rows (-1: removed)."""
        rows = np.flatnonzero(mask)
        size = self.kind[rows], self.node_count[rows], self.mode_count[rows]
        gaps = {"BodyTable": Gaps(rows, rows + 1)}
        for table, start, counts in ((self.configurations, self.conf_ptr, conf_triples), (self.triples, self.velo_ptr, velo_triples)):
            gaps[type(table).__name__] = Gaps(start[rows], start[rows] + counts(*size))
        fe = self.finite_elements
        for identifier in self.id[rows].tolist():
            self.meshes.pop(identifier, None)
            self.bases.pop(identifier, None)
        renumbered = gaps["BodyTable"].rows(self.n)
        for table in (self, self.configurations, self.triples):
            table.close(gaps)
        if fe is not None:
            if not (size[0] == BodyKind.FINITE_ELEMENT).any():
                fe.renumber(self, renumbered)
            elif not fe.remove(self, renumbered):
                self.finite_elements = None
        return renumbered
