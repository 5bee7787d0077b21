"""A domain's state as the records that are stored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..time_step import CLOCKS
from . import layout


def constraint_records(constraints, domain, room: np.ndarray | None = None, rows: np.ndarray | slice | None = None) -> np.ndarray:
    """Return the constraint table, or some of its rows, as records (in `room`, if given), with identities in place of row numbers."""
    bodies, primitives = with_none(domain.bodies.view("id"), 0), with_none(domain.geometry.primitives.view("number"), -1)
    rows = slice(0, constraints.n) if rows is None else rows
    identities = {side: bodies[constraints.view(side)[rows]] for side in ("master", "slave")}
    identities |= {side + "_primitive": primitives[constraints.view(side + "_primitive")[rows]] for side in ("master", "slave")}
    return constraints.pack(rows, layout.CONTACT_COLUMNS, dtype=layout.CONSTRAINT, room=room, **identities)


def with_none(column: np.ndarray, value: int) -> np.ndarray:
    """Append `value` to a column, where index -1 reads it."""
    return np.append(column, column.dtype.type(value))


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


def describe_step(row: np.ndarray, domain, run: RunRecord) -> None:
    """Fill the record of a frame with the scalars of the domain and of the run."""
    row["run"] = run.run
    row["output"], row["callback"] = (np.nan if s is None else s for s in (run.output, run.callback))
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
    row["colours"] = getattr(report, "colours", 0)
    for name, count in zip(layout.ROW_SETS, getattr(report, "sets", ())):
        row[name] = count
    for clock in CLOCKS:
        row[clock] = domain.timings.get(clock, 0.0)
    row["clock_time"], row["clock_step"] = domain.clock_origin
    row["next_body_id"], row["next_constraint_id"] = domain.next_body_id, constraints.next_id
