"""Restore a domain from a stored frame."""

from __future__ import annotations

import numpy as np

from ..bodies import implicit
from ..bodies.element_solver import Memory
from ..bodies.finite_elements import compiled
from ..bodies.materials import BulkMaterial
from ..bodies.table import REDUCED_FORMS, BodyKind
from ..constraints import element_points
from ..errors import SolfecError
from ..lives import Cause, Event
from ..time_step import CLOCKS
from . import layout, meshes, settings, shapes
from .bases import StoredBases
from .validation import Checks


def restore(reader, domain, number: int) -> None:
    """Set a domain's tables to frame `number`; the steps that follow have the bits of the original run.

    Bodies are matched by identifier: those absent in the frame vanish, those the domain lacks are rebuilt from the
    definitions in the file.

    Raises
    ------
    SolfecError
        When a body of the frame is of another kind in the domain, or the file does not define it.
    """
    frame, checks = reader.frame(number), Checks(reader.file)
    definitions = reader.definitions()
    checks.listed(frame, len(definitions))
    defined = definitions[frame.listed["definition"]]
    checks.step(frame.step)
    checks.bodies(frame, defined)
    check_kinds(reader, domain, frame, defined)
    bodies = domain.bodies
    if not np.array_equal(bodies.view("id"), frame.listed["id"]):
        rebuild(reader, domain, frame, defined)
    everything = slice(0, bodies.n)
    material = bodies.view("material").copy()
    bodies.fill(defined, everything, layout.DEFINITION_COLUMNS)
    bodies.view("material")[:] = material  # rows of the domain's own table
    bodies.fill(frame.bodies, everything, layout.BODY_STATE)
    if len(frame.configurations) != bodies.configurations.n:
        raise SolfecError(f"{reader.file}: meshes of the results and of the input differ; do they belong together?")
    functions = reader.functions if len(frame.user_constraints) else None
    checks.constraints(frame, bodies.view("id"), bodies.view("primitive_count"), len(functions.numbers) if functions else 0)
    bodies.configurations.view("conf")[:] = frame.configurations.T
    bodies.triples.view("velo")[:] = frame.velocities.T
    stored = reader.settings(number)
    settings.apply_joints(domain, stored)
    settings.apply_bulk_materials(domain, stored["bulk materials"])  # elements may have materials of their own
    domain.sleeping.seen = domain.state_changes  # what sleeps in the frame sleeps on
    domain.initialise()
    bodies.view("energy")[:] = frame.bodies["energy"].T
    restore_constraints(domain, frame, functions)
    restore_surface_materials(domain, stored)
    restore_events(reader, domain, int(frame.step["step_number"]))
    domain.cracks.tensions = reader.tensions(int(frame.step["step_number"]))
    restore_scalars(domain, frame.step, reader.steps["deleted"][: number + 1].sum())
    domain.states.update_shapes()
    if frame.factor is not None:
        checks.count("frames/factors", len(frame.factor), int(frame.step["factor_nodes"]))
        checks.finite("frames/factors", frame.factor)
        counts = int(frame.step["factor_fewest"]), int(frame.step["factor_spent"])
        memory = Memory(np.asfortranarray(frame.factor.T), *counts, bool(frame.step["factor_pivoted"]))
        implicit.recall(bodies, compiled(bodies), domain.step, domain.dynamic, memory)


def check_kinds(reader, domain, frame, defined: np.ndarray) -> None:
    """Raise SolfecError if a body has one kind in the domain and another one in the frame."""
    bodies = domain.bodies
    if np.array_equal(bodies.view("id"), frame.listed["id"]) and np.array_equal(bodies.view("kind"), defined["kind"]):
        return
    shared, here, there = np.intersect1d(bodies.view("id"), frame.listed["id"], return_indices=True)
    kinds = bodies.view("kind")[here]
    for k in np.flatnonzero(kinds != defined["kind"][there])[:1]:
        raise SolfecError(
            f"{reader.file}: body {shared[k]} is {BodyKind(int(defined['kind'][there[k]])).name} in the results but "
            f"{BodyKind(int(kinds[k])).name} in the input; do they belong together?"
        )


def mismatch(reader, domain, number: int) -> str:
    """Name a body that the input makes in another place than frame `number` has it; '' when there is none.

    Rounding differences, for example between machines, do not count.
    """
    frame, bodies = reader.frame(number), domain.bodies
    shared, here, there = np.intersect1d(bodies.view("id"), frame.listed["id"], return_indices=True)
    stored = reader.table("model/bodies")[frame.listed["definition"][there]]["centre"]
    made = bodies.view("centre").T[here]
    for k in np.flatnonzero((np.abs(made - stored) > 1e-9 * np.maximum(np.abs(stored), 1.0)).any(axis=1))[:1]:
        was, is_ = (" ".join(f"{x:g}" for x in centre) for centre in (stored[k], made[k]))
        return f"body {shared[k]} of the results has its centre at {was}, that of the input at {is_}; do they belong together?"
    return ""


def rebuild(reader, domain, frame, defined: np.ndarray) -> None:
    """Make the domain hold exactly the frame's bodies, with their shapes."""
    bodies, geometry = domain.bodies, domain.geometry
    old = {int(identifier): row for row, identifier in enumerate(bodies.view("id"))}
    old_material = bodies.view("material").copy()
    renumbered = np.full(bodies.n, -1)
    once = meshes.ReadOnce(reader)
    index = once.table("model/shapes")
    places = {int(body): row for row, body in enumerate(index["body"])}
    tables = {part: once.table("model/" + part) for part in layout.PARTS}
    labels = reader.labels
    materials, bases = MaterialRows(reader, domain), StoredBases(reader)
    bodies.meshes, bodies.bases, bodies.finite_elements = {}, {}, None
    geometry.clear()
    for table in (bodies, bodies.configurations, bodies.triples):
        table.keep(np.zeros(table.n, bool))
    domain.state_changes += 1  # of all bodies
    checks = Checks(reader.file)
    for k, identifier in enumerate(frame.listed["id"].tolist()):
        if identifier not in places:
            raise SolfecError(f"{reader.file}: the shape of body {identifier} is missing")
        shape = index[places[identifier]]
        checks.shape(shape, tables)
        stored = base = None
        if defined["kind"][k] == BodyKind.FINITE_ELEMENT:
            size = shape, int(defined["node_count"][k])
            stored = meshes.stored_mesh(once, identifier, lambda number: domain.bulk_materials[materials.row(number)], size)
            if stored is None:
                raise SolfecError(f"{reader.file}: the mesh of body {identifier} is missing")
            if defined["form"][k] in REDUCED_FORMS:
                base = bases.of(identifier)
        row = bodies.add(BodyKind(int(defined["kind"][k])), stored and stored[0], base, id=identifier)
        deforms = defined["kind"][k] == BodyKind.FINITE_ELEMENT
        first, count = geometry.add(row, shapes.unpack(shape, tables), deforms)
        if stored and stored[0].background is None:
            geometry.vertices.view("node")[-len(stored[1]) :] = stored[1]
            geometry.primitives.element[first : first + count] = stored[2]
        bodies.primitive_ptr[row], bodies.primitive_count[row] = first, count
        if stored is None and identifier not in domain.body_meshes and (found := meshes.stored_shapes(once, identifier)):
            domain.body_meshes[identifier] = found
        if identifier in old:
            renumbered[old[identifier]] = row
            bodies.material[row] = old_material[old[identifier]]
        else:
            bodies.material[row] = materials.row(int(defined["material"][k]))
            if identifier in labels:
                domain.body_labels[identifier] = labels[identifier]
    present = set(frame.listed["id"].tolist())
    for identifier in set(domain.body_labels) - present:
        del domain.body_labels[identifier]
    domain.loads.remap(renumbered)


class MaterialRows:
    """Map from bulk materials of the file to rows of the domain, matched by label or added."""

    def __init__(self, reader, domain):
        self._domain = domain
        self._stored = reader.materials["bulk"]

    def row(self, number: int) -> int:
        """Row in the domain of material `number` of the file."""
        known = self._domain.bulk_materials
        stored = self._stored[number]
        for row, material in enumerate(known):
            if material.label == stored["label"]:
                return row
        known.append(BulkMaterial(**stored))
        return len(known) - 1


def restore_constraints(domain, frame, functions) -> None:
    """Restore the frame's constraints: identities become row numbers, numbers of functions become rows of tables."""
    table, bodies = domain.constraints, domain.bodies
    table.keep(np.zeros(table.n, bool))
    stored = frame.constraints
    table.append(len(stored))
    table.fill(stored, slice(0, table.n), layout.CONTACT_COLUMNS)
    table.fill(frame.user_constraints, slice(0, len(frame.user_constraints)), layout.USER_ONLY)
    table.user_count = len(frame.user_constraints)
    if functions and functions.numbers:
        refer_functions(table, functions)
    table.next_id = int(frame.step["next_constraint_id"])
    ids = bodies.view("id")
    for side in ("master", "slave"):
        row = np.searchsorted(ids, stored[side])
        present = stored[side] > 0
        table.view(side)[:] = np.where(present, row, -1)
        number = stored[side + "_primitive"]
        first = bodies.primitive_ptr[np.where(present, row, 0)]
        table.view(side + "_primitive")[:] = np.where(present & (number >= 0), first + number, -1)
    for row in range(table.user_count):
        element_points.attach(table, bodies, row, domain.epsilon)


def refer_functions(table, functions) -> None:
    """Replace numbers of functions by rows of the table's own time series and curves."""
    users = table.user_count
    rows = table.series_rows[:, :users]
    for number in np.unique(rows[rows >= 0]):
        rows[rows == number] = -2 - table.series.add(functions[number])
    rows[rows < -1] = -2 - rows[rows < -1]
    curves = table.curve[:users]
    for number in np.unique(curves[curves >= 0]):
        series = functions[number]
        curves[curves == number] = -2 - table.curves.add(np.stack([series.times, series.values], axis=1))
    curves[curves < -1] = -2 - curves[curves < -1]


def restore_surface_materials(domain, stored: dict) -> None:
    """Map surface materials of contacts to the domain's rows, and add those that the run added."""
    if not domain.constraints.contact_count:
        return
    described = stored["surface materials"]
    rows = settings.surface_rows(domain)
    settings.apply_surface_materials(domain, {pair: data for pair, data in described.items() if pair not in rows})
    rows = settings.surface_rows(domain)
    material = domain.constraints.view("material")
    known = np.array([rows[pair] for pair in described], np.int32)
    material[:] = known[np.minimum(material, len(known) - 1)]


def restore_events(reader, domain, step: int) -> None:
    """Restore the births and deaths of bodies up to step `step`."""
    checks, events = Checks(reader.file), reader.events
    checks.within("frames/events: cause", events["cause"], 0, max(Cause) + 1)
    known = events[events["step"] <= step].tolist()
    domain.lives.set(Event(body, bool(born), Cause(cause), *more) for body, born, cause, *more in known)


def restore_scalars(domain, step: np.void, deleted: int) -> None:
    """Restore time, step, counters and the figures of the last step."""
    domain.set_time(float(step["clock_time"]), int(step["clock_step"]))
    domain.set_step(float(step["step"]))
    domain.time, domain.step_number = float(step["time"]), int(step["step_number"])
    domain.contact_energy, domain.friction_energy = float(step["energy"][3]), float(step["energy"][4])
    domain.sparsified = int(step["sparsified"])
    domain.deleted_bodies = int(deleted)
    domain.next_body_id = int(step["next_body_id"])
    domain.timings.update({clock: float(step[clock]) for clock in CLOCKS})
