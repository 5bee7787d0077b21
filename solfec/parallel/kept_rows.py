"""Rows of the last step that each process keeps for LOCDYN_DUMP and FCLIB_EXPORT, which put them together in one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..solvers.local_dynamics import LocalDynamics
from .gathered_rows import GatheredRows, PackedRows, pack
from .part import Part


@dataclass
class StepNumbers:
    """Numbers of a step that all parts of it share."""

    step: float
    dynamic: bool
    epsilon: float
    asked: float
    coloured_above: int


@dataclass
class KeptRows:
    """Rows of one part after a step, with their reactions and velocities.

    Attributes
    ----------
    step_number : int
        Of the step.
    packed : PackedRows
    numbers : StepNumbers
    coupled : bool
        Whether implicit bodies couple rows of any part.
    """

    step_number: int
    packed: PackedRows
    numbers: StepNumbers
    coupled: bool

    @classmethod
    def of(cls, part: Part, counted: np.ndarray, held: np.ndarray, coupled: bool) -> KeptRows:
        """Keep the rows that a part counts; it also holds rows that others count."""
        model, local = part.model, part.model.local_dynamics
        packed = pack(part, local, counted, np.setdiff1d(held, counted), coupled)
        packed.rows["U"] = local.rows.U[:, counted]
        order = local.rows.order[counted]
        packed.constraints |= {name: getattr(model.constraints, name)[..., order] for name in ("point", "base")}
        numbers = StepNumbers(local.step, local.dynamic, local.epsilon, local.asked, local.coloured_above)
        return cls(model.step_number, packed, numbers, coupled)


def together(kept: KeptRows | None, whole, world) -> LocalDynamics | None:
    """Return the rows of all processes in process 0, and None in the others.

    In process 0 it is None, too, if there are no rows of the last step of `whole`, or constraints have gone since.
    """
    several = world.collected(kept)
    if several is None or any(one is None or one.step_number != whole.step_number for one in several):
        return None
    listed = [one.packed for one in several]
    if not np.isin(np.concatenate([packed.constraints["id"] for packed in listed]), whole.constraints.view("id")).all():
        return None
    rows = GatheredRows(whole)
    rows.take(listed, kept.numbers, True, kept.coupled)
    return rows
