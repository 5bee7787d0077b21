"""A domain's state as the records that are stored."""

from __future__ import annotations

import json
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed

import numpy as np

from ..domain import PHASES
from . import layout


def constraint_records(constraints, domain) -> np.ndarray:
    """The constraint table as records, with identities in the place of row numbers."""
    n = constraints.n
    rows = layout.records(layout.CONSTRAINT, constraints, layout.CONTACT_COLUMNS, slice(0, n))
    for side in ("master", "slave"):
        body, primitive = constraints.view(side), constraints.view(side + "_primitive")
        rows[side] = np.where(body >= 0, domain.bodies.id[np.maximum(body, 0)], 0)
        rows[side + "_primitive"] = np.where(
            primitive >= 0, domain.geometry.primitives.number[np.maximum(primitive, 0)], -1
        )
    return rows


def describe_step(row: np.ndarray, domain) -> None:
    """Fill the record of a frame with the domain's scalars."""
    constraints, report = domain.constraints, domain.report
    row["time"], row["step"], row["step_number"] = domain.time, domain.step, domain.step_number
    row["contacts"], row["sparsified"] = constraints.contact_count, domain.sparsified
    for name in ("iterations", "error", "merit", "residual"):
        row[name] = getattr(report, name, np.nan) if report is not None else np.nan
    row["solver"] = str(getattr(report, "solver", "")).encode()[:24]
    row["minimum_gap"] = constraints.gap[constraints.user_count : constraints.n].min(initial=np.inf)
    if not constraints.contact_count:
        row["minimum_gap"] = 0.0
    row["energy"] = domain.energy()
    for phase in PHASES:
        row[phase] = domain.timings.get(phase, 0.0)
    row["clock_time"], row["clock_step"] = domain.clock_origin
    row["next_body_id"], row["next_constraint_id"] = domain.next_body_id, constraints.next_id


def fingerprint(domain) -> tuple:
    """Changes whenever the materials do; cheaper than their text."""
    table = domain.surface_materials
    return (len(domain.bulk_materials), *domain.surface_labels, *(table.view(name).tobytes() for name in table.COLUMNS))


def materials_text(domain) -> str:
    """Bulk and surface materials as JSON."""
    table = domain.surface_materials
    surface = [
        {"label": label, **{name: getattr(table, name)[..., row].tolist() for name in table.COLUMNS}}
        for row, label in zip(range(table.n), [*domain.surface_labels, *[""] * table.n])
    ]
    return json.dumps({"bulk": [asdict(material) for material in domain.bulk_materials], "surface": surface})


def version() -> str:
    """Version of the program."""
    try:
        return installed("solfec")
    except PackageNotFoundError:
        return "unknown"
