"""UNSPRING: release of springs."""

from __future__ import annotations

import math

import numpy as np

from ..language import checks
from ..language.checks import BadType, BadValue, command
from . import arguments
from .kinds import LinkStatus, QuantityKind, ReleaseOperator
from .model import Model, current

ENTITIES = {
    "STROKE": QuantityKind.LINK_STROKE,
    "F": QuantityKind.LINK_TOTAL,
    "SF": QuantityKind.LINK_ELASTIC,
    "FF": QuantityKind.LINK_FRICTION,
}


@command("UNSPRING")
def UNSPRING(
    tsprings: int | list[int],
    msprings: int | list[int],
    limits: tuple[float | None, float | None],
    entity: str = "SF",
    operator: str = "SUM",
    abs: bool = False,
    nsteps: int = 1,
    nfreq: int = 1,
    unload: dict[int, int] | None = None,
    activate: int | list[int] | None = None,
) -> None:
    """Release springs when a quantity of springs leaves its limits.

    Parameters
    ----------
    tsprings : int or list of int
        Springs whose quantity is checked.
    msprings : int or list of int
        Springs that are released; each in one UNSPRING only.
    limits : tuple of 2 floats
        Lower and upper limit; None: no limit.
    entity : str
        'STROKE', 'F' (force), 'SF' (without dashpot) or 'FF' (friction).
    operator : str
        'SUM', 'MIN' or 'MAX' of the springs' quantities.
    abs : bool
        True: their absolute values.
    nsteps : int
        Steps between two checks.
    nfreq : int
        Number of checks that must find the limits exceeded.
    unload : dict of int to int, optional
        Spring -> TSERIES with growing values, along whose slopes its force falls to zero; other springs are released at once.
    activate : int or list of int, optional
        Inactive springs that become active at the same time.
    """
    model = current()
    lists = [springs(model, tsprings, "tsprings"), springs(model, msprings, "msprings")]
    lists.append([] if activate is None else springs(model, activate, "activate"))
    quantity = ENTITIES[checks.choice(entity, "entity", tuple(ENTITIES))]
    combined = ReleaseOperator[checks.choice(operator, "operator", tuple(item.name for item in ReleaseOperator))]
    if not isinstance(abs, (bool, np.bool_)):
        raise BadType(f"'abs' must be True or False, not {checks.kind_of(abs)}")
    steps, wanted = checks.integer(nsteps, "nsteps", minimum=1), checks.integer(nfreq, "nfreq", minimum=1)
    low, high = bounds(limits)
    status = model.links.status
    for number in lists[1]:
        if status[number] != LinkStatus.PLAIN:
            what = "is inactive" if status[number] == LinkStatus.UNDONE else "belongs to another UNSPRING"
            raise BadValue(f"'msprings': spring {number} {what}")
    for number in lists[2]:
        if status[number] != LinkStatus.UNDONE:
            raise BadValue(f"'activate': spring {number} is active already")
    series = unloading(model, unload, lists[1])
    row = model.releases.append(quantity=quantity, operator=combined, absolute=int(abs), steps=steps, wanted=wanted)
    model.releases.limit[:, row] = low, high
    for k, numbers in enumerate(lists):
        model.releases.first[k, row], model.releases.size[k, row] = model.release_lists.n, len(numbers)
        for number in numbers:
            model.release_lists.append(link=number, series=series.get(number, -1) if k == 1 else -1)
    status[lists[1]] = LinkStatus.WATCHED
    model.unsettle()


def springs(model: Model, value, name: str) -> list[int]:
    """Check numbers of springs."""
    items = checks.sequence(value, name) if checks.is_sequence(value) else [value]
    if not items:
        raise BadValue(f"'{name}' must not be empty")
    numbers = [arguments.row(item, name, model.links.n, "spring") for item in items]
    if len(set(numbers)) < len(numbers):
        raise BadValue(f"'{name}' holds a spring twice")
    return numbers


def bounds(limits) -> tuple[float, float]:
    """Return two limits; None is infinite."""
    if not checks.is_sequence(limits) or len(limits) != 2:
        raise BadType("'limits' must be a tuple of two numbers or None")
    low = -math.inf if limits[0] is None else checks.number(limits[0], "limits[0]")
    high = math.inf if limits[1] is None else checks.number(limits[1], "limits[1]")
    if not low < high:
        raise BadValue(f"'limits' must grow; ({low:g}, {high:g}) do not")
    if low == -math.inf and high == math.inf:
        raise BadValue("'limits' must hold a number")
    return low, high


def unloading(model: Model, unload, own: list[int]) -> dict[int, int]:
    """Assign unloading curves to springs; return the numbers of their series by spring."""
    if unload is None:
        return {}
    if not isinstance(unload, dict):
        raise BadType(f"'unload' must be a dict of springs to TSERIES numbers, not {checks.kind_of(unload)}")
    curves = {}
    for key, value in unload.items():
        number = arguments.row(key, "unload", model.links.n, "spring")
        if number not in own:
            raise BadValue(f"'unload': spring {number} is not in 'msprings'")
        curve = arguments.series(model, value, f"unload[{number}]")
        values = model.curve(curve)[1]
        if values.size < 2 or (np.diff(values) <= 0.0).any():
            raise BadValue(f"'unload': the values of TSERIES {value} must increase strictly")
        curves[number] = curve
    for number, curve in curves.items():
        if model.links.law[number] < 0:
            model.links.law[number] = model.laws.append()
        model.laws.release[model.links.law[number]] = curve
    return {int(number): int(unload[number]) for number in unload}
