"""Notes about implicit bodies that touch others and vibrate faster than steps can show, without damping (docs/choices.md, How long a step?)."""

from __future__ import annotations

import numpy as np

from .domain import Domain
from .kinds import BodyKind, ConstraintKind, Scheme
from .tables import unique

#: Steps in the longest period of sound in a body below which contacts were seen to feed vibrations: ten slabs on a slope had 20 J, and 0.2 J with a
#: tenth of the step, for 1.7 steps in a period; 8 J and 1 J for 5.4; 7.2 J and 6.5 J for 17.
FEWEST = 10.0

#: Part of a step above which damping kept the same slabs at rest.
ENOUGH = 0.25


def bodies(domain: Domain) -> list[int]:
    """Return identifiers of bodies of scheme 'DEF_LIM' that touch others, and whose vibrations steps neither show nor damp."""
    constraints, table = domain.constraints, domain.bodies
    contacts = np.flatnonzero(constraints.view("kind") == ConstraintKind.CONTACT)
    if not domain.dynamic or not domain.deformable or not contacts.size:
        return []
    rows = unique(np.concatenate((constraints.master[contacts], constraints.slave[contacts])))
    rows = rows[(table.kind[rows] >= BodyKind.PSEUDO_RIGID) & (table.scheme[rows] == Scheme.DEF_LIM) & (table.damping[rows] < ENOUGH * domain.step)]
    return table.id[rows[longest_period(domain, rows) < FEWEST * domain.step]].tolist()


def longest_period(domain: Domain, rows: np.ndarray) -> np.ndarray:
    """Return the times (n,) in which waves of pressure cross bodies along their longest side and come back, that is 2 L / c."""
    table = domain.bodies
    length = (table.extents[3:, rows] - table.extents[:3, rows]).max(axis=0)
    speed = np.sqrt((table.lame[0, rows] + 2.0 * table.lame[1, rows]) * table.volume[rows] / table.mass[rows])
    return 2.0 * length / speed


def told(found: list[int], step: float) -> str:
    """Return a line for the end of a run about these bodies, or ''."""
    if not found:
        return ""
    count = "1 body" if len(found) == 1 else f"{len(found)} bodies"
    return (
        f"vibrations: {count} of scheme 'DEF_LIM' ({found[0]}, say) vibrate faster than steps of {step:g} can show, and contacts feed this, so that what should stick "
        f"may slide; BODY.damping = {0.5 * step:g}, half a step, ends it"
    )
