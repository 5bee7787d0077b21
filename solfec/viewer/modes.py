"""Modal shapes: natural modes of a finite element body as displacements of vertices."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..bodies import modal
from ..bodies.finite_elements import compiled
from ..bodies.reduced_base import ReducedBase
from ..bodies.table import BodyKind
from ..errors import SolfecError
from . import fields

AMPLITUDE = 0.1  # largest displacement of a mode, in half diagonals of the body's box
PERIOD = 2.0  # seconds of an animated oscillation


@dataclass
class Shape:
    """A displayed mode: identifier of the body, its base, number of the mode, scale, and phase [radian] of the oscillation."""

    body: int
    base: ReducedBase
    number: int = 0
    scale: float = 1.0
    phase: float = np.pi / 2
    animated: bool = False

    @property
    def title(self) -> str:
        """Return number, eigenvalue and frequency of the mode as text."""
        value = float(self.base.values[self.number]) if len(self.base.values) > self.number else 0.0
        return f"mode {self.number + 1} of {self.base.mode_count}, eigenvalue {value:.4g}, frequency {np.sqrt(max(value, 0.0)) / (2 * np.pi):.4g}"

    def displacements(self, domain) -> np.ndarray:
        """Return displacements (n, 3) of all vertices, zero for other bodies."""
        bodies, fe = domain.bodies, compiled(domain.bodies)
        row = domain.body_row(self.body)
        k = fe.number(row)
        nodal = np.zeros((len(fe.conf_row), 3))
        vectors = self.base.vectors[self.number].reshape(-1, 3)
        conf = bodies.configurations.conf[:, bodies.conf_slice(row)]
        if conf.shape[1] == len(vectors) + 3:  # modes are vectors in the body's own frame
            vectors = vectors @ conf[:, -3:].T
        nodal[fe.first[k] : fe.first[k + 1]] = vectors
        low, high = bodies.view("extents")[:3, row], bodies.view("extents")[3:, row]
        reach = AMPLITUDE * self.scale * 0.5 * float(np.linalg.norm(high - low)) / max(float(np.linalg.norm(vectors, axis=1).max()), 1e-300)
        result = np.zeros((domain.geometry.vertices.n, 3))
        fields.spread(domain, reach * np.sin(self.phase) * nodal, result)
        return result


def candidate(view, chosen: int) -> int:
    """Return the body for commands of modes: the chosen one, or the only visible one with elements.

    Raises
    ------
    SolfecError
        There is no such body, or there are several.
    """
    bodies = view.domain.bodies
    seen = np.flatnonzero((view.looks[:, 3] != 0.0) & (bodies.view("kind") == BodyKind.FINITE_ELEMENT))
    if chosen and len(which := view.rows([chosen])) and bodies.kind[which[0]] == BodyKind.FINITE_ELEMENT:
        return int(chosen)
    if len(seen) != 1:
        raise SolfecError(f"modes are those of one finite element body: click it, or hide the others; {len(seen)} are seen")
    return int(bodies.id[seen[0]])


def base_of(view, identifier: int, count: int | None = None) -> ReducedBase:
    """Return the base in which a body moves; with a `count`, compute its lowest modes.

    Raises
    ------
    SolfecError
        The body has no base, or modes cannot be computed.
    """
    domain = view.domain
    if count is None:
        base = view.bases.get(identifier) or domain.bodies.bases.get(identifier)
        if base is None:
            raise SolfecError(f"{domain.bodies.name(identifier)} moves in no base; 'modal analysis 12' computes its twelve lowest modes")
        return base
    row = domain.body_row(identifier)
    mass, stiffness = modal.matrices(domain.bodies, row)
    if not 1 <= count <= len(mass):
        raise SolfecError(f"{domain.bodies.name(identifier)} has between 1 and {len(mass)} modes, not {count}")
    nodes = domain.bodies.meshes[identifier].nodes
    base = view.bases[identifier] = ReducedBase(*modal.lowest_modes(mass, stiffness, count, nodes))
    return base
