"""Overlaps that no law of contact explains: bodies so deep in one another that the normals of their facets cancel and the normal is a guess, and
bodies that begin, in the input or later, nearer to one another than they move before contacts of theirs are found for the first time, where `first_impacts` does
not see it: beyond a margin of the user, and in models of which each process has its own bodies."""

from __future__ import annotations

from array import array
from collections.abc import Iterable

import numpy as np

from ..kinds import ConstraintKind


class Swallowed:
    """Degenerate contacts of a run, and overlaps of the first half step of bodies, for warnings at its end."""

    def __init__(self):
        self._times = array("d")  # of steps with degenerate contacts
        self._first: tuple | None = None  # time, bodies and point of the first one
        self._overlap, self._begun = 0.0, ""
        self._known = 0  # first identifier of bodies that have made no step; 0: before the first call

    @classmethod
    def joined(cls, parts: Iterable[Swallowed]) -> Swallowed:
        """Return what processes have found in their parts."""
        one = cls()
        for part in parts:
            one._times = array("d", sorted({*one._times, *part._times}))
            one._first = min(filter(None, (one._first, part._first)), default=None)
            if part._overlap > one._overlap:
                one._overlap, one._begun = part._overlap, part._begun
            one._known = max(one._known, part._known)
        return one

    def after_detection(self, geometry, bodies, time: float) -> None:
        """Record new contacts found at `time` whose normal is that of the shallowest face.

        A contact is degenerate if one body lies in the other so evenly that its direction of entry is unknown.
        """
        work = geometry.workspace
        rows = np.flatnonzero((work.result.degenerate[: work.found] == 1) & (work.result.status[: work.found] == 1))
        self._times.append(time)
        if not self._first:
            body, ids = geometry.primitives.body, bodies.id
            pairs = np.sort([ids[body[work.first[rows]]], ids[body[work.second[rows]]]], axis=0)
            k = np.lexsort(pairs[::-1])[0]  # whatever the order in which pairs are found
            self._first = time, *pairs[:, k].tolist(), *work.result.slave_point[:, rows[k]].tolist()

    def after_step(self, model) -> None:
        """Record the deepest gap-aware contact of bodies that have made their first step: of those that were apart before, and have passed each other's surface in its first half.

        Contacts are found in the middle of a step, from where on such materials stop bodies at surfaces; overlaps are not pushed out.
        """
        first, self._known = self._known, model.next_body_id
        if first == self._known or not model.dynamic or not first and model.step_number > 1:  # a continued run has known its bodies
            return
        constraints, bodies, margin = model.constraints, model.bodies, model.geometry.primitives.margin
        rows = np.flatnonzero(constraints.view("kind") == ConstraintKind.CONTACT)
        rows = rows[model.surface_materials.gap_aware[constraints.material[rows]] > 0.0]
        rows = rows[np.maximum(bodies.id[constraints.master[rows]], bodies.id[constraints.slave[rows]]) >= first]
        way = -0.5 * model.step * constraints.V[2, rows]
        gap = constraints.gap[rows]
        deep = np.minimum(margin[constraints.master_primitive[rows]], margin[constraints.slave_primitive[rows]])
        rows, way, gap = (a[(gap < -deep) & (gap + way >= -model.epsilon)] for a in (rows, way, gap))
        if rows.size:
            k = int(np.argmin(gap))
            one, two = sorted(int(bodies.id[side[rows[k]]]) for side in (constraints.master, constraints.slave))
            self._overlap = -float(gap[k])
            self._begun = (
                f"bodies {one} and {two} begin {max(gap[k] + way[k], 0.0):.3g} apart and move by {way[k]:.3g} in the first half step, before contacts are found: they overlap by "
                f"{self._overlap:.3g} from then on; let them begin {way[k]:.3g} apart, or take a shorter step"
            )

    def told(self) -> str:
        """Return the warnings once; '' if there are none."""
        texts = [self._begun] if self._begun else []
        if self._first:
            count, (time, one, two, x, y, z) = len(self._times), self._first
            steps = "1 step" if count == 1 else f"{count} steps"
            first = f"first at time {time:g}, bodies {one} and {two} at ({x:g}, {y:g}, {z:g})"
            texts.append(f"in {steps} bodies lay in one another so that the way out was a guess, through the shallowest face; {first}")
        self._times, self._first, self._overlap, self._begun = array("d"), None, 0.0, ""
        return "; ".join(texts)
