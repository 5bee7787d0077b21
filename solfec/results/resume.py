"""Continue a run: set a domain that the input has built again to the last frame (docs/running.md, Continuing a run)."""

from __future__ import annotations

import numpy as np

from ..errors import SolfecError
from ..kinds import ConstraintKind
from . import layout, settings
from .restore import restore
from .validation import Checks

INPUTS = ("value", "strength", "limits", "dashpot", "implicit", "motor", "drive")  # columns of the user's constraints that the input sets
DISTURBING = ("gravity", "surface materials", "detection")  # settings whose edits wake bodies that sleep in the frame
PLACE = ("id", "kind", "form", "node_count", "centre")  # columns of bodies that must agree


def resume(reader, domain, solver) -> tuple[np.void, np.void]:
    """Set a domain and a solver to the last frame, and keep what the user has edited in the input since the run.

    Returns
    -------
    first, last : records
        Rows of `/frames/steps` of the first and the last frame.

    Raises
    ------
    SolfecError
        The input builds other bodies than the run did, or lacks a Python function that the run used.
    """
    with reader.undamaged("the last frame"):
        return _resume(reader, domain, solver)


def _resume(reader, domain, solver) -> tuple[np.void, np.void]:
    """Resume; Python's own errors that pass through here come from a damaged file."""
    number = len(reader.steps) - 1
    stored = reader.settings(0), reader.settings(number)
    if reader.dynamic != domain.dynamic:
        kinds = ("QUASI_STATIC", "DYNAMIC")
        raise SolfecError(f"{reader.file}: the run was {kinds[reader.dynamic]}, the input makes a {kinds[domain.dynamic]} model")
    first, functions = reader.frame(0), reader.functions
    definitions = reader.table("model/bodies")
    checks = Checks(reader.file)
    checks.listed(first, len(definitions))
    checks.step(first.step)
    definitions = definitions[first.listed["definition"]]
    built = domain.bodies.pack(slice(0, domain.bodies.n), layout.DEFINITION_COLUMNS)
    check_bodies(reader, built, definitions, first.listed["id"])
    check_constraints(reader, domain, first)
    users = edited_constraints(domain, first, functions)
    now, step = settings.describe(domain, functions, solver), domain.step
    restore(reader, domain, number)
    if not settings.surface_rows(domain).keys() <= stored[1]["surface materials"].keys():  # the input has materials that the run had not
        domain.constraints.renew_materials(domain.surface_materials)
    for one in stored:
        checks.point_loads(one["point loads"])
    wanted = settings.continued(*stored, now)
    nodes = dict(zip(domain.bodies.view("id").tolist(), domain.bodies.view("node_count").tolist()))
    checks.pressures(wanted.get("pressures", ()), nodes)
    settings.apply(domain, wanted, functions, solver)
    if any(wanted[name] != stored[1][name] for name in DISTURBING):
        domain.sleeping.wake_all()
    domain.touched = bool(stored[1].get("touched by hand"))
    apply_edited_bodies(domain, built, definitions)
    for identifier, columns in users.items():
        row = domain.constraints.row_of(identifier)
        for name, (edited, value) in columns.items() if row >= 0 else ():
            column = getattr(domain.constraints, name)
            column[..., row] = np.where(edited, value, column[..., row])
    if step != float(first.step["step"]):
        domain.set_step(step)
    return first.step, reader.steps[number]


def check_bodies(reader, built: np.ndarray, stored: np.ndarray, identifiers: np.ndarray) -> None:
    """Raise SolfecError unless the input has built the bodies that the run began with."""
    if len(built) != len(identifiers):
        raise SolfecError(
            f"{reader.file}: the run began with {len(identifiers)} bodies, the input makes {len(built)}; do they belong together?"
        )
    for name in PLACE:
        column = identifiers if name == "id" else stored[name]
        differ = np.flatnonzero((built[name] != column).reshape(len(built), -1).any(axis=1))
        if differ.size:
            k = int(differ[0])
            raise SolfecError(
                f"{reader.file}: body {identifiers[k]} was another one when the run began ({name} was {_shown(column[k])}, "
                f"the input makes {_shown(built[name][k])}); do they belong together?"
            )


def check_constraints(reader, domain, first) -> None:
    """Raise SolfecError unless the input has made the constraints that the run began with, which could not be added to its frames, or taken from them."""
    table = domain.constraints
    ids = np.append(domain.bodies.view("id"), 0)  # 0: none
    columns = table.id, table.kind, ids[table.master], ids[table.slave]
    made = list(zip(*(column[: table.user_count].tolist() for column in columns)))
    stored = first.constraints[: len(first.user_constraints)]
    there = list(zip(*(stored[name].tolist() for name in ("id", "kind", "master", "slave"))))
    if differ := sorted({*made} ^ {*there}):
        identifier, kind, master, slave = differ[0]
        what = f"constraint {identifier} ({ConstraintKind(kind).name} on body {master}" + (f" and body {slave})" if slave > 0 else ")")
        which = f"the input makes {what}, the run began without it" if differ[0] in made else f"the run began with {what}, the input does not make it"
        raise SolfecError(f"{reader.file}: {which}; do they belong together?")


def apply_edited_bodies(domain, built: np.ndarray, first: np.ndarray) -> None:
    """Apply definitions of bodies that the input gives differently from when the run began."""
    bodies = domain.bodies
    rows = np.minimum(np.searchsorted(bodies.view("id"), built["id"]), max(bodies.n - 1, 0))
    alive = bodies.view("id")[rows] == built["id"] if bodies.n else np.zeros(len(built), bool)
    changed = False
    for name in (name for name in layout.DEFINITION_COLUMNS if name not in (*PLACE, "material")):
        edited = alive & (built[name] != first[name]).reshape(len(built), -1).any(axis=1)
        if edited.any():
            changed = True
            getattr(bodies, name)[..., rows[edited]] = np.moveaxis(built[name][edited], 0, -1)
    if changed:
        domain.initialise()


def edited_constraints(domain, first, functions) -> dict[int, dict]:
    """Return columns of the user's constraints, by identifier, that the input gives differently from when the run began: what differs, and values."""
    table = domain.constraints
    stored = {int(row["id"]): (row, user) for row, user in zip(first.constraints, first.user_constraints)}
    edited: dict[int, dict] = {}
    for row in range(table.user_count):
        identifier = int(table.id[row])
        if identifier not in stored:
            continue
        _, user = stored[identifier]
        followed = functions.numbers_of(table.series)[table.series_rows[:, row]]
        curve = functions.numbers_of(table.curves)[table.curve[row]]
        columns = {name: np.array(getattr(table, name)[..., row]) for name in INPUTS}
        if (table.series_rows[:, row] >= 0).any():
            columns.pop("value")  # it holds for the present time, not for the input's
        columns = {name: (value != user[name], value) for name, value in columns.items() if not np.array_equal(value, user[name])}
        if not np.array_equal(followed, user["series_rows"]):
            columns["series_rows"] = True, table.series_rows[:, row].copy()
        if curve != user["curve"]:
            columns["curve"] = True, table.curve[row].copy()
        if columns:
            edited[identifier] = columns
    return edited


def _shown(value) -> str:
    return " ".join(f"{number:g}" for number in np.ravel(value))
