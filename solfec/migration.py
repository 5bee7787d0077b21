"""Bodies and contacts that move between the parts of a model, and states that parts give to the whole model.

Bodies travel with all that belongs to them, by the tables' lists of columns (`body_packing`), and contacts in whole rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from . import body_packing
from .bodies.table import conf_triples, velo_triples
from .body_packing import PackedConstraints
from .parallel.part import Part, Places, pairs_of_rows
from .tables import ranges

#: Columns of bodies that a step changes.
CHANGING = ("momentum", "energy", "extents")


def counted_contacts(part: Part) -> np.ndarray:
    """Return a mask of the constraints that this process counts: it owns the last moving body of each."""
    constraints = part.model.constraints
    last = pairs_of_rows(constraints, np.arange(constraints.n), part.moving)[1]
    return (last >= 0) & part.owned[last]


def rearrange(part: Part, places: Places, reach: float) -> None:
    """Make a part hold other bodies: send what others need, receive what is needed here, remove the rest.

    Parameters
    ----------
    part : Part
    places : Places
        Where all bodies are, with their new owners; the same in all processes.
    reach : float
    """
    model, world = part.model, part.world
    size = world.size
    before = {rank: set(model.bodies.id[rows].tolist()) for rank, rows in part.sent.items()}  # copies that others have of own bodies
    own = model.bodies.id[part.own]
    contacts = counted_contacts(part)
    ends = contact_ends(model)[:, contacts]
    holders = [places.ids[places.held_by(rank, reach)] for rank in range(size)]
    parcels: list = [None] * size
    for rank in range(size):
        wanted = (np.isin(ends, holders[rank]) | ~np.isin(ends, places.ids)).all(axis=0)
        rows = np.flatnonzero(contacts)[wanted]
        chosen = np.zeros(model.constraints.n, bool)
        chosen[rows] = True
        missing = [] if rank == world.rank else [body for body in own[np.isin(own, holders[rank])].tolist() if body not in before.get(rank, ())]
        bodies = model.pack_bodies(missing) if missing else None
        if bodies is not None:
            bodies.constraints, bodies.factor = body_packing.pack_constraints(model, np.zeros(model.constraints.n, bool)), None
        parcels[rank] = bodies, body_packing.pack_constraints(model, chosen)
    received = world.dealt(parcels)
    held = part.arrange(places, reach)
    ids = model.bodies.view("id")
    kept = np.isin(ids, places.ids[held]) | ~part.moving
    deleted = model.deleted_bodies
    model.remove_bodies(~kept)
    model.deleted_bodies = deleted
    for bodies, _ in received:
        if bodies is not None:
            model.unpack_bodies(bodies)
    body_packing.replace_contacts(model, body_packing.joined_contacts([packed for _, packed in received]))
    part.settle()


def contact_ends(model) -> np.ndarray:
    """Return identifiers of the master and the slave (2, n) of all constraints; 0: none."""
    constraints, ids = model.constraints, np.append(model.bodies.view("id"), 0)
    return np.array([ids[constraints.view(side)] for side in ("master", "slave")])


@dataclass
class State:
    """What the whole model takes from a part: the state of own bodies, and the contacts that the part counts.

    Attributes
    ----------
    ids : ndarray (n,)
        Identifiers of the bodies.
    columns : dict
        Name of a table -> column -> values of these bodies.
    contacts : PackedConstraints
    """

    ids: np.ndarray
    columns: dict[str, dict[str, np.ndarray]]
    contacts: PackedConstraints


def state_of(part: Part) -> State:
    """Return the present state of a part."""
    bodies = part.model.bodies
    columns = {name: {c: np.ascontiguousarray(getattr(table, c)[..., rows]) for c in listed} for name, table, listed, rows in _state_rows(bodies, part.own)}
    return State(bodies.id[part.own], columns, body_packing.pack_constraints(part.model, counted_contacts(part)))


def take_states(whole, states: list[State]) -> None:
    """Give the whole model the state of its parts."""
    bodies = whole.bodies
    for state in states:
        for name, table, listed, rows in _state_rows(bodies, np.searchsorted(bodies.view("id"), state.ids)):
            for column in listed:
                getattr(table, column)[..., rows] = state.columns[name][column]
    body_packing.replace_contacts(whole, body_packing.joined_contacts([state.contacts for state in states]))


def _state_rows(bodies, rows: np.ndarray):
    """Yield name, table, columns and rows of the state of bodies."""
    size = bodies.kind[rows], bodies.node_count[rows], bodies.mode_count[rows]
    yield "bodies", bodies, CHANGING, rows
    yield "configurations", bodies.configurations, tuple(bodies.configurations.COLUMNS), ranges(bodies.conf_ptr[rows], conf_triples(*size))
    yield "triples", bodies.triples, tuple(bodies.triples.COLUMNS), ranges(bodies.velo_ptr[rows], velo_triples(*size))
