"""Records of finite element bodies whose internal energy has reached their fracture energy (docs/language-objects.md, BODY.fracturecheck).

A record is input for codes that compute fracture: displacements of nodes, and the constraints that act on the body. The run is not affected.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .bodies.finite_elements import compiled
from .bodies.table import BodyKind, Energy


@dataclass
class Fracture:
    """A body at the end of a step in which its internal energy reaches its fracture energy.

    Attributes
    ----------
    body : int
        Identifier.
    time, step : float, int
    displacement : ndarray (n, 3)
        Of nodes [length].
    radius : ndarray (m,)
        Radii of circles with the areas of the constraints; 0 for constraints without area [length].
    point, reaction : ndarray (m, 3)
        Referential points of constraints [length], and their spatial reactions on the body [force].
    """

    body: int
    time: float
    step: int
    displacement: np.ndarray
    radius: np.ndarray
    point: np.ndarray
    reaction: np.ndarray


class Fractures:
    """Records since the last frame, which removes them; `limits` are fracture energies by body.

    In a part of a model, records are of the bodies that this process moves, since the whole model took them last.
    """

    def __init__(self):
        self.records: list[Fracture] = []
        self._limits: tuple | None = None

    def __deepcopy__(self, memo: dict):
        copied = memo[id(self)] = type(self)()
        copied.records = list(self.records)
        return copied

    def look(self, domain) -> None:
        """Record every body with this option that this process moves and whose energy is high enough."""
        bodies = domain.bodies
        if not (bodies.finite_elements.count and np.count_nonzero(bodies.view("fracture_check"))):
            return
        asked = np.flatnonzero((bodies.view("fracture_check") > 0) & bodies.moved_here)
        asked = asked[bodies.kind[asked] == BodyKind.FINITE_ELEMENT]
        if not asked.size:
            return
        reached = bodies.energy[Energy.INTERNAL, asked] >= self.limits(domain, asked)
        for row in asked[reached].tolist():
            self.records.append(record(domain, row))

    def give(self) -> list[Fracture]:
        """Return all records, and forget them."""
        given, self.records = self.records, []
        return given

    def take(self, records: list[Fracture]) -> None:
        """Add records of several parts, in the order of a model that is whole."""
        self.records += sorted(records, key=lambda record: (record.step, record.body))

    def limits(self, domain, rows: np.ndarray) -> np.ndarray:
        """Return sums over elements of fracture energy per volume times volume, of the bodies in some rows."""
        materials = [material.fracene for material in domain.bulk_materials]
        state = domain.bodies.edits, domain.state_changes, materials, rows.tolist()
        if self._limits is None or self._limits[0] != state:
            self._limits = state, np.array([fracture_energy(domain, row) for row in rows.tolist()])
        return self._limits[1]


def fracture_energy(domain, row: int) -> float:
    """Return the integral of a body's fracture energy per volume over the body."""
    bodies = domain.bodies
    fe, mesh = compiled(bodies), bodies.meshes[int(bodies.id[row])]
    everywhere = np.ones(len(fe.element_size))
    volume = sum(part.lumped_mass(everywhere)[1] for part in (fe.assembly, fe.resting) if part is not None)
    k = fe.number(row)
    volume = volume[fe.first_element[k] : fe.first_element[k + 1]]
    own = np.full(len(volume), domain.bulk_materials[int(bodies.material[row])].fracene)
    for number, material in enumerate(mesh.materials):
        own[mesh.material == number] = material.fracene
    return float((own[volume > 0.0] * volume[volume > 0.0]).sum())


def record(domain, row: int) -> Fracture:
    """Return a record of the present state of the body in a row, with the constraints that act on it."""
    bodies, table = domain.bodies, domain.constraints
    radius, point, reaction = [], [], []
    for side, sense in (("master", 1.0), ("slave", -1.0)):
        which = np.flatnonzero(table.view(side) == row)
        radius.append(np.sqrt(table.area[which] / np.pi))
        point.append(getattr(table, side + "_point")[:, which].T)
        reaction.append(sense * np.einsum("ijn,jn->ni", table.base[:, :, which], table.R[:, which]))
    nodes = int(bodies.node_count[row])
    displacement = bodies.configurations.conf[:, bodies.conf_slice(row)].T[:nodes].copy()
    joined = (np.concatenate(parts) for parts in (radius, point, reaction))
    return Fracture(int(bodies.id[row]), domain.time, domain.step_number, displacement, *joined)
