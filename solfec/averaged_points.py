"""Warnings about flush faces that share one averaged contact point, as in Solfec-1.0, on which bodies rock (docs/contact-points.md, From overlaps to contacts)."""

from __future__ import annotations

import numpy as np

from .bodies.table import BodyKind
from .domain import Domain
from .kinds import ConstraintKind, PrimitiveKind

#: Side of a square of the contact's area over the smallest extent of both bodies, from which faces count as flush.
FLUSH = 0.3

REMEDY = "SOLFEC (..., contacts = 'MANIFOLD') gives them up to four"


def pairs(domain: Domain) -> list[tuple[int, int]]:
    """Return identifiers of pairs of rigid or pseudo-rigid bodies whose only present contact is that of flush faces."""
    constraints, bodies = domain.constraints, domain.bodies
    rows = np.flatnonzero(constraints.view("kind") == ConstraintKind.CONTACT)
    if domain.settings.patch or not rows.size:
        return []
    sides = np.sort(np.stack((constraints.master[rows], constraints.slave[rows])), axis=0)
    found, first, count = np.unique(sides, axis=1, return_index=True, return_counts=True)
    extents = bodies.extents[3:] - bodies.extents[:3]
    smallest = extents[:, found].min(axis=(0, 1))
    stiff = (bodies.kind[found] != BodyKind.FINITE_ELEMENT).all(axis=0)
    primitives = np.stack((constraints.master_primitive[rows[first]], constraints.slave_primitive[rows[first]]))
    stiff &= (domain.geometry.primitives.kind[primitives] == PrimitiveKind.CONVEX).all(axis=0)
    flush = stiff & (count == 1) & (np.sqrt(constraints.area[rows[first]]) > FLUSH * smallest)
    return [tuple(pair) for pair in bodies.id[found[:, flush]].T.tolist()]


def told(found: list[tuple[int, int]]) -> str:
    """Return a line for the end of a run about these pairs, or ''."""
    if not found:
        return ""
    one, other = found[0]
    count = "1 pair" if len(found) == 1 else f"{len(found)} pairs"
    return f"contacts: {count} of bodies with flush faces ({one} and {other}, say) rock on one averaged point; {REMEDY}"
