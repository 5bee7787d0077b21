"""Motors of joints with a Python function."""

from __future__ import annotations

import numpy as np

from ..bodies.table import BodyTable
from ..kinds import Motor
from .elsewhere import NOWHERE, Elsewhere
from .joint_operators import coordinates_and_rates
from .table import ConstraintTable
from .user_functions import checked_function

ARGUMENTS = "coordinate", "rate", "time"
CALLED, EFFORT, COORDINATE = int(Motor.CALLED), int(Motor.EFFORT), int(Motor.COORDINATE)  # members of enumerations are slow to access
NO_ROWS = np.zeros(0, int)


def ask(constraints: ConstraintTable, bodies: BodyTable, time_end: float, step: float, elsewhere: Elsewhere = NOWHERE) -> None:
    """Call the functions of motors for the values that they prescribe in a step.

    A rate is ``function(time)`` at the end of the step.  So is a coordinate, whose rate follows from its values at the ends of neighbouring steps.
    An effort is ``function(coordinate, rate, time)`` at the middle of the step, with the rate at its start.

    Parameters
    ----------
    constraints, bodies
        State tables at mid-step, constraints up to date; column `value` of motors is set.
    time_end, step : float
        End and length of the step.
    elsewhere : Elsewhere
        Motors of other parts of the model: every process calls all functions, in the order of their joints, so that what they keep is the same everywhere.

    Raises
    ------
    SolfecError
        A continued run has not been given a function again, or a function does not return a number.
    """
    users = constraints.user_count
    rows = (constraints.motor[:users] & CALLED).nonzero()[0] if users else NO_ROWS
    if not elsewhere.called(rows.size > 0):
        return
    state = coordinates_and_rates(constraints, bodies, rows)
    numbers, state = elsewhere.all_motors(np.array([constraints.id[rows], constraints.joint[rows], constraints.motor[rows]], np.int64), state)
    row_of, value = dict(zip(constraints.id[rows].tolist(), rows.tolist())), constraints.value
    for identifier, joint, motor, coordinate, rate in zip(*numbers.tolist(), *state.tolist()):
        function = checked_function(constraints, identifier, f"function of the motor of joint {joint}", "motors", ARGUMENTS)
        mode = motor & ~CALLED
        found = [function(coordinate, rate, time_end - 0.5 * step) if mode == EFFORT else function(time_end)]
        if mode == COORDINATE:
            found.append((function(time_end + step) - function(time_end - step)) / (2.0 * step))
        if identifier in row_of:  # else another process has the motor
            value[: len(found), row_of[identifier]] = found
