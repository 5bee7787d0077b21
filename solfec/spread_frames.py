"""Frames of spread models: process 0 gets bodies and contacts of all parts in pieces, so that it never holds the whole model."""

from __future__ import annotations

import copy
from collections.abc import Iterator

import numpy as np

from . import body_packing
from .bodies.table import BodyTable
from .constraints.table import ConstraintTable
from .contact.geometry import Geometry
from .results.records import constraint_records

BODIES, CONTACTS = 1 << 12, 1 << 13  # in a piece; some megabytes
EVERY = 64  # how many contacts lie between two by which processes choose pieces


class SpreadFrame:
    """A frame of a spread model, as `results.pieces.Pieces`; all processes make one at the same time.

    In process 0 `domain` has settings, the user's constraints, and the bodies to which these and loads belong.  It asks for the pieces; the other
    processes send them by `serve`.

    Parameters
    ----------
    part : Part
    world : Communicator
    margin : float or None
        What the settings give as the margin of contacts, if it depends on the bodies.
    """

    def __init__(self, part, world, margin: float | None):
        self._part, self._world, model = part, world, part.model
        constraints = model.constraints
        mine = part.counts(np.arange(constraints.n))
        users, rows = mine.copy(), np.flatnonzero(mine)
        users[constraints.user_count :] = False
        self._rows = rows[rows >= constraints.user_count]
        ids = constraints.id[self._rows]
        told = ids[::EVERY].copy(), ids.size
        known = world.collected((told, self._special(), body_packing.pack_constraints(model, users), dict(model.timings)))
        model.timings.update(dict.fromkeys(model.timings, 0.0))
        ids = model.bodies.view("id")
        owned, _ = part.everyone
        self._ids = np.union1d(owned, ids[~part.moving])
        self.domain, self._bounds = None, None
        if known is not None:
            some = np.sort(np.concatenate([one[0][0] for one in known]))
            self._bounds = np.append(some[:: CONTACTS // EVERY], np.iinfo(np.int64).max)
            self.domain = self._domain_of(known, margin)
            users = self.domain.constraints.user_count
            self.sizes = self._ids.size, sum(one[0][1] for one in known) + users, users
        self._bounds = world.gathered(self._bounds)[0]

    def _special(self) -> body_packing.PackedBodies:
        """Return those bodies of this process on which loads or constraints of the user act."""
        model, part = self._part.model, self._part
        loads, acted = model.loads, np.zeros(model.bodies.n + 1, bool)
        for rows in (loads.table.view("body"), loads.pressures.table.view("body")):
            acted[rows] = True
        for side in ("master", "slave"):  # also of constraints that other processes count
            acted[model.constraints.view(side)[: model.constraints.user_count]] = True
        ids, acted = model.bodies.view("id"), acted[:-1]
        acted |= np.isin(ids, np.concatenate(self._world.gathered(ids[acted & ~part.moving])))  # process 0 has all obstacles, but few constraints
        return packed_alone(model, ids[acted & part.mine])

    def _domain_of(self, known: list, margin: float | None):
        """Return a model without contacts, with the bodies on which loads and constraints of the user act."""
        model = self._part.model
        domain = emptied(model)
        for _, bodies, _, _ in known:
            domain.unpack_bodies(bodies)
        body_packing.replace_constraints(domain, [constraints for _, _, constraints, _ in known])
        if margin is not None:
            vars(domain.settings)["margin"] = margin
        domain.deleted_bodies, domain.constraints.next_id, domain.next_body_id = model.deleted_bodies, model.constraints.next_id, model.next_body_id
        domain.timings.update({clock: max(times[clock] for *_, times in known) for clock in domain.timings})
        return domain

    def bodies(self) -> Iterator:
        """Yield one model again and again, each time with other bodies, without garbage in between: models are full of circular references."""
        model, part, piece = self._part.model, self._part, None
        mine = model.bodies.view("id")[part.mine]
        for first in range(0, self._ids.size, BODIES):
            chosen = self._ids[first : first + BODIES]
            low, high = np.searchsorted(mine, (chosen[0], chosen[-1] + 1))
            found = self._world.collected(packed_alone(model, mine[low:high]) if high > low else None)
            if found is None:
                continue
            piece = piece or emptied(model)
            piece.remove_bodies(np.ones(piece.bodies.n, bool))
            for bodies in found:
                if bodies is not None:
                    piece.unpack_bodies(bodies)
            yield piece

    def contacts(self) -> Iterator[np.ndarray]:
        """Yield records of some contacts each."""
        model = self._part.model
        ids = model.constraints.id[self._rows]
        for bounds in zip(self._bounds[:-1], self._bounds[1:]):
            low, high = np.searchsorted(ids, bounds)
            found = self._world.collected(constraint_records(model.constraints, model, rows=self._rows[low:high]))
            if found is not None:
                records = np.concatenate(found)
                yield records[np.argsort(records["id"])]

    def serve(self) -> None:
        """Send the pieces that process 0 writes."""
        for pieces in (self.bodies(), self.contacts()):
            for _ in pieces:
                pass


def emptied(model):
    """Return a copy of a model without bodies, constraints and loads of bodies."""
    bodies, body_meshes = BodyTable(), {}
    others = {id(model.bodies): bodies, id(model.body_labels): bodies.labels, id(model.body_meshes): body_meshes,
              id(model.geometry): Geometry(), id(model.constraints): ConstraintTable()}  # fmt: skip
    loads = model.loads
    others |= {id(table): type(table)() for table in (loads.table, loads.pressures)}
    result = copy.deepcopy(model, others)
    result.spread, result.bodies.rank, result.report = False, -1, model.report
    return result


def packed_alone(model, ids: np.ndarray) -> body_packing.PackedBodies:
    """Pack bodies without the constraints on them."""
    packed = model.pack_bodies(ids)
    packed.constraints, packed.factor = body_packing.pack_constraints(model, np.zeros(model.constraints.n, bool)), None
    return packed
