"""Bodies and constraints that move between the parts of a model, and states that parts give to the whole model.

Bodies travel with all that belongs to them, by the tables' lists of columns (`body_packing`), and constraints in whole rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from . import body_packing
from .bodies.table import conf_triples, velo_triples
from .body_packing import PackedConstraints
from .fractures import Fracture
from .parallel.part import Part, Places
from .tables import ranges

#: Columns of bodies that a step changes.
CHANGING = ("momentum", "energy", "extents")


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
    counted = np.flatnonzero(part.counts(np.arange(model.constraints.n)))
    ends = constraint_ends(model)[:, counted]
    holders = [places.ids[held] for held in part.held(places, reach)]
    tensions = tensions_of(part)
    parcels: list = [None] * size
    for rank in range(size):
        wanted = (np.isin(ends, holders[rank]) | ~np.isin(ends, places.ids)).all(axis=0)
        chosen = np.zeros(model.constraints.n, bool)
        chosen[counted[wanted]] = True
        missing = [] if rank == world.rank else [body for body in own[np.isin(own, holders[rank])].tolist() if body not in before.get(rank, ())]
        bodies = model.pack_bodies(missing) if missing else None
        if bodies is not None:
            bodies.constraints, bodies.factor = body_packing.pack_constraints(model, np.zeros(model.constraints.n, bool)), None
        there = set(holders[rank].tolist()) if tensions else ()
        parcels[rank] = bodies, packed_constraints(model, chosen), {key: value for key, value in tensions.items() if key[0] in there}
    received = world.dealt(parcels)
    held = part.arrange(places, reach)
    ids = model.bodies.view("id")
    kept = np.isin(ids, places.ids[held]) | ~part.moving
    deleted = model.deleted_bodies
    model.remove_bodies(~kept)
    model.deleted_bodies = deleted
    for bodies, *_ in received:
        if bodies is not None:
            model.unpack_bodies(bodies)
    body_packing.replace_constraints(model, [packed for _, packed, _ in received])
    part.settle()
    model.cracks.tensions = {key: value for *_, known in received for key, value in known.items()}


def packed_constraints(model, acting: np.ndarray) -> PackedConstraints:
    """Pack the marked constraints, without Python functions: every process has those of the whole model."""
    packed = body_packing.pack_constraints(model, acting)
    packed.functions = {}
    return packed


def tensions_of(part: Part) -> dict[tuple[int, int], float]:
    """Return the average tensions across cracks of the bodies that a part moves (`Cracks.tensions`)."""
    bodies, tensions = part.model.bodies, part.model.cracks.tensions
    own = set(bodies.id[part.own].tolist()) if tensions else ()
    return {key: value for key, value in tensions.items() if key[0] in own}


def constraint_ends(model) -> np.ndarray:
    """Return identifiers of the master and the slave (2, n) of all constraints; 0: none."""
    constraints, ids = model.constraints, np.append(model.bodies.view("id"), 0)
    return np.array([ids[constraints.view(side)] for side in ("master", "slave")])


@dataclass
class State:
    """What the whole model takes from a part: the state of the bodies whose motion it computes, and the constraints that it counts.

    Attributes
    ----------
    ids : ndarray (n,)
        Identifiers of the bodies.
    columns : dict
        Name of a table -> column -> values of these bodies.
    constraints : PackedConstraints
    tensions : dict
        Average tensions across cracks of these bodies.
    fractures : list of Fracture
        Records of fracture checks since the last time.
    """

    ids: np.ndarray
    columns: dict[str, dict[str, np.ndarray]]
    constraints: PackedConstraints
    tensions: dict[tuple[int, int], float]
    fractures: list[Fracture]


def state_of(part: Part) -> State:
    """Return the present state of a part, which gives away its records of fracture checks."""
    model, rows = part.model, np.flatnonzero(part.mine)
    columns = {name: {c: np.ascontiguousarray(getattr(table, c)[..., k]) for c in listed} for name, table, listed, k in _state_rows(model.bodies, rows)}
    constraints = packed_constraints(model, part.counts(np.arange(model.constraints.n)))
    return State(model.bodies.id[rows], columns, constraints, tensions_of(part), model.fractures.give())


def take_states(whole, states: list[State]) -> None:
    """Give the whole model the state of its parts."""
    bodies = whole.bodies
    for state in states:
        for name, table, listed, rows in _state_rows(bodies, np.searchsorted(bodies.view("id"), state.ids)):
            for column in listed:
                getattr(table, column)[..., rows] = state.columns[name][column]
    body_packing.replace_constraints(whole, [state.constraints for state in states])
    whole.cracks.tensions = {key: value for state in states for key, value in state.tensions.items()}
    whole.fractures.take([record for state in states for record in state.fractures])


def _state_rows(bodies, rows: np.ndarray):
    """Yield name, table, columns and rows of the state of bodies."""
    size = bodies.kind[rows], bodies.node_count[rows], bodies.mode_count[rows]
    yield "bodies", bodies, CHANGING, rows
    yield "configurations", bodies.configurations, tuple(bodies.configurations.COLUMNS), ranges(bodies.conf_ptr[rows], conf_triples(*size))
    yield "triples", bodies.triples, tuple(bodies.triples.COLUMNS), ranges(bodies.velo_ptr[rows], velo_triples(*size))
