"""Notes about contacts for which two surface materials are given, each for one of the two surfaces (docs/materials.md, Surface materials)."""

from __future__ import annotations

import numpy as np

from .constraints.table import ANY_SURFACE
from .domain import Domain
from .kinds import ConstraintKind


def surfaces(domain: Domain) -> list[tuple[int, int]]:
    """Return pairs of surfaces in contact whose material depends on which body is the slave."""
    constraints, materials = domain.constraints, domain.surface_materials
    pairs = materials.view("surface")
    alone = np.flatnonzero((pairs[0] != ANY_SURFACE) & (pairs[1] == ANY_SURFACE))
    contacts = np.flatnonzero(constraints.view("kind") == ConstraintKind.CONTACT)
    contacts = contacts[np.isin(constraints.material[contacts], alone)]
    if alone.size < 2 or not contacts.size:
        return []
    row = dict(zip(pairs[0, alone].tolist(), alone.tolist()))
    met = np.unique(np.sort(constraints.surface[:, contacts], axis=0), axis=1).T.tolist()
    columns = [materials.view(name) for name in materials.COLUMNS if name != "surface"]
    return [(p, q) for p, q in met if p != q and p in row and q in row and any((c[..., row[p]] != c[..., row[q]]).any() for c in columns)]


def told(found: list[tuple[int, int]]) -> str:
    """Return a line for the end of a run about these surfaces, or ''."""
    if not found:
        return ""
    one, other = found[0]
    count = "1 pair of surfaces" if len(found) == 1 else f"{len(found)} pairs of surfaces"
    return (
        f"materials: {count} in contact ({one} and {other}, say) have a SURFACE_MATERIAL each and none together, so that it depends on the places of bodies which one "
        f"acts; SURFACE_MATERIAL (solfec, {one}, {other}, ...) decides"
    )
