"""Numbers of a body or constraint that was clicked."""

from __future__ import annotations

import numpy as np

from ..bodies.table import BodyKind
from ..kinds import ConstraintKind, Energy
from . import places
from .fields import BODY_WORDS
from .picking import Picked


def text_of(vector) -> str:
    """Format a vector."""
    return ", ".join(f"{x:.6g}" for x in np.ravel(vector))


def rows_of(domain, picked: Picked) -> list[tuple[str, str]]:
    """Return names and values of a picked body or constraint; an empty list if it is gone."""
    if picked.constraint:
        rows = np.flatnonzero(domain.constraints.view("id") == picked.constraint)
        return _constraint(domain, int(rows[0])) if len(rows) else []
    rows = np.flatnonzero(domain.bodies.view("id") == picked.body) if picked.body else ()
    return _body(domain, int(rows[0]), picked) if len(rows) else []


def _body(domain, row: int, picked: Picked) -> list[tuple[str, str]]:
    bodies, table = domain.bodies, domain.constraints
    identifier, place = int(bodies.id[row]), np.array([row])
    touching = np.flatnonzero((table.view("master") == row) | (table.view("slave") == row))
    centre = places.centres(domain, place)[0]
    found = [
        ("body", str(identifier)), ("label", domain.body_labels.get(identifier, "")), ("kind", BODY_WORDS[int(bodies.kind[row])]),
        ("mass", f"{bodies.mass[row]:.6g}"), ("centre", text_of(centre)),
    ]  # fmt: skip
    if bodies.kind[row] <= BodyKind.PSEUDO_RIGID:
        found.append(("velocity", text_of(bodies.triples.velo[:, bodies.velo_slice(row)][:, -1])))
    if bodies.kind[row] <= BodyKind.RIGID:
        found.append(("angular velocity, referential", text_of(bodies.triples.velo[:, bodies.velo_ptr[row]])))
    found += [(f"energy {energy.name.lower()}", f"{bodies.energy[energy, row]:.6g}") for energy in Energy]
    if picked.point is not None:
        found.append(("point", text_of(picked.point)))
    found.append(("constraints", str(len(touching))))
    for k in touching[:20].tolist():
        found.append((f"{ConstraintKind(int(table.kind[k])).family.word} {int(table.id[k])}", f"|R| {np.linalg.norm(table.R[:, k]):.4g}, gap {table.gap[k]:.3g}"))
    return found


def _constraint(domain, row: int) -> list[tuple[str, str]]:
    bodies, table = domain.bodies, domain.constraints
    found = [("constraint", str(int(table.id[row]))), ("kind", ConstraintKind(int(table.kind[row])).family.word)]
    for side in ("master", "slave"):
        body = int(table.view(side)[row])
        if body >= 0:
            identifier = int(bodies.id[body])
            found.append((side, f"{identifier} {domain.body_labels.get(identifier, '')}"))
    found += [
        ("point", text_of(table.point[:, row])), ("normal", text_of(table.base[:, 2, row])), ("R (t1, t2, n)", text_of(table.R[:, row])),
        ("U (t1, t2, n)", text_of(table.U[:, row])), ("gap", f"{table.gap[row]:.6g}"), ("area", f"{table.area[row]:.6g}"),
        ("merit", f"{table.merit[row]:.4g}"),
    ]  # fmt: skip
    return found
