"""A domain's state as the records that are stored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..time_step import CLOCKS
from . import layout

NO_SCHEDULE = (np.nan,) * 4


def constraint_records(constraints, domain, room: np.ndarray | None = None, rows: np.ndarray | slice | None = None) -> np.ndarray:
    """Return the constraint table, or some of its rows, as records (in `room`, if given), with identities in place of row numbers."""
    bodies, primitives = with_none(domain.bodies.view("id"), 0), with_none(domain.geometry.primitives.view("number"), -1)
    rows = slice(0, constraints.n) if rows is None else rows
    identities = {side: bodies[constraints.view(side)[rows]] for side in ("master", "slave")}
    identities |= {side + "_primitive": primitives[constraints.view(side + "_primitive")[rows]] for side in ("master", "slave")}
    return constraints.pack(rows, layout.CONTACT_COLUMNS, dtype=layout.CONSTRAINT, room=room, **identities)


def with_none(column: np.ndarray, value: int) -> np.ndarray:
    """Append `value` to a column, where index -1 reads it."""
    return np.concatenate((column, np.array([value], column.dtype)))  # np.append takes four times as long


def user_records(constraints, functions) -> np.ndarray:
    """Return the extra columns of the user's constraints, with numbers of functions in the file."""
    users = constraints.user_count
    if not users:
        return np.empty(0, layout.USER)
    rows = constraints.pack(slice(0, users), layout.USER_ONLY, dtype=layout.USER)
    if (constraints.series.n or constraints.curves.n):
        rows["series_rows"] = functions.numbers_of(constraints.series)[rows["series_rows"]]
        rows["curve"] = functions.numbers_of(constraints.curves)[rows["curve"]]
    return rows


@dataclass
class RunRecord:
    """Data of the run that a frame stores.

    Attributes
    ----------
    run : int
        Which call of RUN it is, from 1 on.
    solver : object
        Its constraint solver.
    output, callback : tuple or None
        Schedules: start, interval, events passed and the time of the last one.
    companion : object or None
        An engine that runs beside the domain: ``companion.store(file, frame)``, with a `FrameFile`, adds its state to a frame.
    """

    run: int = 0
    solver: object = None
    output: tuple[float, float, int, float] | None = None
    callback: tuple[float, float, int, float] | None = None
    companion: Any = None


def describe_step(domain, run: RunRecord) -> dict:
    """Return the scalars of a domain and of a run that the record of a frame stores, by name."""
    constraints, report = domain.constraints, domain.report
    row = {
        "time": domain.time, "step": domain.step, "step_number": domain.step_number,
        "contacts": constraints.contact_count, "sparsified": domain.sparsified,
        "solver": str(getattr(report, "solver", "")).encode()[:24],
        "minimum_gap": constraints.gap[constraints.user_count : constraints.n].min() if constraints.contact_count else 0.0,
        "energy": domain.energy(),
        "colours": getattr(report, "colours", 0),
        "clock_step": domain.clock_origin[1], "clock_time": domain.clock_origin[0],
        "next_body_id": domain.next_body_id, "next_constraint_id": constraints.next_id,
        "run": run.run, "output": run.output or NO_SCHEDULE, "callback": run.callback or NO_SCHEDULE,
    }  # fmt: skip
    row |= {name: getattr(report, name, np.nan) for name in ("iterations", "error", "merit", "residual")}
    row |= zip(layout.ROW_SETS, getattr(report, "sets", ()))
    row |= {clock: domain.timings.get(clock, 0.0) for clock in CLOCKS}
    return row
