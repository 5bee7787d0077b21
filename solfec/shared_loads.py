"""Loads by Python functions on a model in parts: which processes call the functions, and how the forces reach the others."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .bodies.loads import BodyCallbacks
from .bodies.table import BodyTable
from .migration import state_of, take_states
from .parallel.part import Part
from .tables import ranges


class SharedLoads:
    """A source of forces (`Loads.sources`) of one part, by the functions of the whole model.

    A function of one body is called by the process that moves the body.  Functions of all bodies are called by all processes, with the whole model in
    the midst of the step, so that their arrays are those of a serial run.

    Parameters
    ----------
    part : Part
    whole : Domain
        The whole model of this process.
    """

    def __init__(self, part: Part, whole):
        self._part, self._whole, self._arrangement = part, whole, -1
        self._mine = BodyCallbacks()
        self._out: dict[int, np.ndarray] = {}
        self._into: dict[int, np.ndarray] = {}

    def __call__(self, bodies: BodyTable, time: float, step: float) -> None:
        """Add forces to the bodies that the part holds."""
        loads = self._whole.loads
        sources = (*loads.sources[1:], *loads.of_step)
        on_parts = all(getattr(source, "on_parts", False) for source in sources)
        if loads.callbacks:
            self._find()
            self._mine(bodies, time, step)
            if on_parts:
                self._part.copy_columns(bodies.triples.force, self._out, self._into)
        if on_parts:
            for source in sources:
                source(bodies, time, step)
        else:
            self._call_all(sources, bodies, time, step)
        loads.of_step.clear()

    def _call_all(self, sources, bodies: BodyTable, time: float, step: float) -> None:
        """Call functions of all bodies, and take the forces on those of this part."""
        part, whole = self._part, self._whole
        take_states(whole, part.world.gathered(state_of(part)))
        with whole.guard.shown_within_step():
            for source in sources:
                source(whole.bodies, time, step)
        bodies.triples.force[:, : bodies.triples.n] = whole.bodies.triples.force[:, part.triples]

    def _find(self) -> None:
        """Find the functions that this process calls, and lists of what it exchanges, for the bodies that the part holds now."""
        part = self._part
        if self._arrangement == part.arrangement:
            return
        self._arrangement = part.arrangement
        ids = self._whole.bodies.view("id")
        body = ids[[callback.body for callback in self._whole.loads.callbacks]]
        held = part.model.bodies.view("id")
        row = np.searchsorted(held, body)
        here = np.append(held, 0)[row] == body
        mine = here & np.append(part.owned, False)[row]
        self._mine[:] = [replace(self._whole.loads.callbacks[k], body=int(row[k])) for k in np.flatnonzero(mine)]
        loaded = np.zeros(held.size, bool)
        loaded[row[here]] = True
        first, width = part.spans["velo"]
        plans = ({rank: rows[loaded[rows]] for rank, rows in plan.items()} for plan in (part.sent, part.received))
        self._out, self._into = ({rank: ranges(first[rows], width[rows]) for rank, rows in plan.items() if rows.size} for plan in plans)
