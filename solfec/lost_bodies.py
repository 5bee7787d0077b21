"""Constraints that break and bodies that leave the scene, after a step."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .bodies import motion
from .constraints import user
from .constraints.elsewhere import Elsewhere
from .lives import Cause, Event

if TYPE_CHECKING:
    from .domain import Domain


def remove_overloaded_and_lost(model: Domain, elsewhere: Elsewhere) -> None:
    """Delete links and points loaded above their strength, and bodies outside of the scene's extents."""
    overloaded = elsewhere.overloaded(model.constraints, user.find_overloaded(model.constraints))
    if overloaded is not None:
        model.local_dynamics.keep_names()
        model.constraints.keep_marked(~overloaded)
    if model.extents is not None:
        outside = elsewhere.outside(motion.find_outside(model.bodies, model.extents))
        if outside is not None:
            model.local_dynamics.keep_names()
            remove_lost(model, outside)


def remove_lost(model: Domain, outside: np.ndarray) -> None:
    """Remove marked rows of bodies, which have left the scene."""
    note_lost(model, model.bodies.view("id")[outside])
    model.remove_bodies(outside)


def note_lost(model: Domain, identifiers: np.ndarray) -> None:
    """Note that bodies have left the scene."""
    for identifier in identifiers.tolist():
        model.lives.note(Event(identifier, False, Cause.EXTENTS, 0, model.time, model.step_number))
