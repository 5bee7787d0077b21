"""Local dynamics of rows that are assembled already: those of several parts of a model, or some of those of a step."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .assembly import UNLESS_MANY, assemble_blocks, is_stored
from .local_dynamics import LocalDynamics, RowKind, RowTable


class TakenRows(LocalDynamics):
    """Local dynamics whose rows are taken from others, and not assembled from bodies."""

    def _attach(self) -> None:
        """List the rows that act on each body (fortran/solvers/row_order.f90)."""
        rows, order, n = self.rows, self.rows.order[: self.n], self.n
        first, slave, last = rows.entry_ptr[:n], rows.slave_entry[:n], rows.entry_ptr[1 : n + 1]
        body = np.array([self.constraints.master[order], self.constraints.slave[order]])
        row, entry = np.broadcast_to(np.arange(n), (2, n)), np.array([first, slave])
        acts = np.array([slave > first, last > slave])
        body, row, entry = body[acts], row[acts], entry[acts]
        sorted_ = np.lexsort((row, body))
        self.attachments.reserve(sorted_.size)
        self.attachments.row[: sorted_.size], self.attachments.entry[: sorted_.size] = row[sorted_], entry[sorted_]
        count = np.bincount(body, minlength=self.bodies.n)
        self.visits = int((count * (count - 1)).sum())
        self.pointers.reserve(self.bodies.n + 1)
        self.pointers.attachment[0] = 0
        self.pointers.attachment[1 : self.bodies.n + 1] = np.cumsum(count)

    def _take_blocks(self, row: np.ndarray, column: np.ndarray, blocks: np.ndarray) -> None:
        """Take the blocks (3, 3, k) of W at these rows and columns, which must be all that there are off its diagonal."""
        assemble_blocks(self, laying_out=True, adding=False)
        head, n = self.rows.block_ptr[: self.n + 1], max(self.n, 1)
        known = np.repeat(np.arange(self.n), np.diff(head)) * n + self.blocks.column[: head[-1]]
        at = np.searchsorted(known, row * n + column)
        if not np.array_equal(np.sort(at), np.arange(known.size)):
            raise RuntimeError("blocks of W are not those that the rows have")
        self.blocks.block[..., at] = blocks


class UserRows(TakenRows):
    """Rows of the user's constraints of a step whose contacts have got their reactions."""

    def take(self, local: LocalDynamics, velocities: Callable[[LocalDynamics], np.ndarray]) -> None:
        """Take the rows of the user's constraints, whose free velocities become those with the reactions of contacts in `local.rows.R`.

        `velocities` returns U (3, capacity) from all reactions.
        """
        first, n = local.contacts, local.n
        self.bodies, self.materials, self.constraints = local.bodies, local.materials, local.constraints
        self.step, self.dynamic, self.epsilon, self.asked = local.step, local.dynamic, local.epsilon, local.asked
        self.coupled, self.implicit, self.form, self.coloured_above = local.coupled, local.implicit, UNLESS_MANY, local.coloured_above
        self.n = n - first
        self.rows.reserve(self.n + 1)
        for name in RowTable.COLUMNS:
            getattr(self.rows, name)[..., : self.n] = getattr(local.rows, name)[..., first:n]
        self.rows.contact[: self.n], self.rows.patch[: self.n] = -1, 0
        self._push(local, velocities)
        self._take_entries(local)
        self._find_held(np.count_nonzero(self.rows.kind[: self.n] == RowKind.HELD))
        self._attach()
        self.stored = self.coupled or is_stored(self)
        if self.coupled:
            self._take_blocks(*_blocks_from(local, first))
        elif self.stored:
            assemble_blocks(self, laying_out=True, adding=True)

    def give(self, local: LocalDynamics) -> None:
        """Give the reactions back."""
        local.rows.R[:, local.contacts : local.n] = self.rows.R[:, : self.n]
        local.unmet = self.unmet

    def _push(self, local: LocalDynamics, velocities: Callable[[LocalDynamics], np.ndarray]) -> None:
        """Add to free velocities what the reactions of contacts add to them."""
        rows, users = self.rows, slice(local.contacts, local.n)
        local.rows.R[:, users] = 0.0
        change = velocities(local)[:, users] - local.rows.B[:, users]
        for values in (rows.B, rows.free):
            values[:, : self.n] += change
        np.maximum(rows.speed[: self.n], np.abs(change).max(axis=0), out=rows.speed[: self.n])

    def _take_entries(self, local: LocalDynamics) -> None:
        """Take the operators of rows."""
        rows, first, n = local.rows, local.contacts, local.n
        start, end = rows.entry_ptr[[first, n]]
        self.rows.entry_ptr[: self.n + 1] = rows.entry_ptr[first : n + 1] - start
        self.rows.slave_entry[: self.n] = rows.slave_entry[first:n] - start
        self.entries.reserve(end - start)
        self.entries.triple[: end - start] = local.entries.triple[start:end]
        self.entries.operator[..., : end - start] = local.entries.operator[..., start:end]
        self.triples.reserve(self.bodies.triples.n)


def _blocks_from(local: LocalDynamics, first: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return rows and columns, counted from row `first` on, and values of the stored blocks of W among the rows from there on."""
    head = local.rows.block_ptr[first : local.n + 1]
    column = local.blocks.column[head[0] : head[-1]] - first
    row = np.repeat(np.arange(local.n - first), np.diff(head))
    known = column >= 0
    return row[known], column[known], local.blocks.block[..., head[0] : head[-1]][..., known]
