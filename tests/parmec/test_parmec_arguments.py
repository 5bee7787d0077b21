"""Wrong arguments of the explicit engine's commands are refused by name, and leave the model as it was."""

import random

import pytest

from solfec import parmec
from solfec.errors import NotBuiltYet, SolfecError

LINE = [-1, -1, 1, 1]
HERE = (0, 0, 0)


def spring(**more):
    """A spring of the particle that is there."""
    return parmec.SPRING(0, HERE, -1, (1, 0, 0), LINE, **more)


@pytest.fixture
def one():
    """A material, an analytical particle, a time series."""
    parmec.MATERIAL(1, 1, 0.3)
    parmec.ANALYTICAL()
    parmec.TSERIES(1.0)


WRONG = [
    (lambda: parmec.MATERIAL(0, 1, 0.3), ValueError, "MATERIAL: 'density' must be positive"),
    (lambda: parmec.SPHERE(HERE, 1, 1, 1), ValueError, "SPHERE: 'material' must be the number of a MATERIAL, not 1; numbers 0 to 0 exist"),
    (lambda: parmec.SPHERE(HERE, 1, 0, 0), ValueError, "SPHERE: 'color' must be at least 1"),
    (lambda: parmec.SPHERE((0, 0), 1, 0, 1), ValueError, "SPHERE: 'center' must hold 3 numbers"),
    (lambda: parmec.SPHERE("abc", 1, 0, 1), TypeError, "SPHERE: 'center' must be a tuple"),
    (lambda: parmec.MESH([0] * 11, [4, 0, 1, 2, 3, 0], 0, 1), ValueError, "MESH: 'nodes' must hold 3 times"),
    (lambda: parmec.MESH([0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1], [4, 0, 1, 2, 4, 0], 0, 1), ValueError, "MESH: element 0 uses a node number out of"),
    (lambda: parmec.MESH([0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1], [4, 0, 1, 2, 3, 5], 0, 1), ValueError, "MESH: 'elements' must be the number of a MATERIAL"),
    (lambda: parmec.ANALYTICAL([1, 1, 1]), ValueError, "ANALYTICAL: 'inertia' must hold 6 numbers"),
    (lambda: parmec.ANALYTICAL([1, 1, -1, 0, 0, 0]), ValueError, "ANALYTICAL: 'inertia' must be positive definite"),
    (lambda: parmec.ANALYTICAL(rotation=[1, 0, 0, 0, 1, 0, 0, 0, 2]), ValueError, "ANALYTICAL: 'rotation' must be a rotation"),
    (lambda: parmec.ANALYTICAL(particle=3), ValueError, "ANALYTICAL: 'particle' must be the number of a particle, not 3"),
    (lambda: parmec.VELOCITY(1), ValueError, "VELOCITY: 'parnum' must be the number of a particle, not 1"),
    (lambda: parmec.VELOCITY(0.0), TypeError, "VELOCITY: 'parnum' must be an integer"),
    (lambda: parmec.GRAVITY(0.0, 0.0, -10), ValueError, "GRAVITY: 'gz': the int -10 means TSERIES number -10, which does not exist; write -10."),
    (lambda: parmec.TSERIES([0, 1]), ValueError, "TSERIES: 'points' must hold 2 times"),
    (lambda: parmec.TSERIES([0, 0, 0, 1]), ValueError, "TSERIES: times must increase strictly"),
    (lambda: parmec.TSERIES("no such file"), ValueError, "TSERIES: 'points': cannot read"),
    (lambda: parmec.DAMPING((0, 0), (0, 0, 0)), TypeError, "DAMPING: 'linear' must be a function of time or a tuple of three TSERIES"),
    (lambda: parmec.DAMPING((0, 0, 1), (0, 0, 0)), ValueError, r"DAMPING: 'linear\[2\]' must be the number of a TSERIES, not 1"),
    (lambda: parmec.RESTRAIN(0, [1, 0]), ValueError, "RESTRAIN: 'linear' must hold 3, 6 or 9"),
    (lambda: parmec.RESTRAIN(0, [1, 0, 0, 2, 0, 0]), ValueError, "RESTRAIN: 'linear': direction 1 is zero, or lies in"),
    (lambda: parmec.PRESCRIBE(0), TypeError, "PRESCRIBE: 'linear' or 'angular' must be given"),
    (lambda: parmec.PRESCRIBE(0, (0, 0, 0), kind="xv"), ValueError, "PRESCRIBE: 'kind' must be one of"),
    (lambda: parmec.SPRING(0, HERE, 0, HERE, LINE), ValueError, "SPRING: 'part1' and 'part2' are the same particle"),
    (lambda: parmec.SPRING(0, HERE, -2, HERE, LINE), ValueError, "SPRING: 'part2' must be the number of a particle, not -2"),
    (lambda: parmec.SPRING(-1, HERE, 0, HERE, LINE), ValueError, "SPRING: 'part1' must be the number of a particle, not -1"),
    (lambda: parmec.SPRING(0, HERE, -1, HERE, [1, 1]), ValueError, "SPRING: 'spring' must hold"),
    (lambda: parmec.SPRING(0, HERE, -1, HERE, [1, 1, 0, 0]), ValueError, "SPRING: 'spring': the first numbers of its pairs must increase"),
    (lambda: parmec.SPRING(0, HERE, -1, HERE, LINE, -0.1), ValueError, "SPRING: 'dashpot' must not be negative"),
    (lambda: parmec.SPRING(0, HERE, -1, HERE, LINE, planar="ON"), ValueError, "SPRING: 'planar' needs a 'direction'"),
    (lambda: parmec.SPRING(0, HERE, -1, HERE, LINE, direction=HERE), ValueError, "SPRING: 'direction' must not be zero"),
    (lambda: parmec.SPRING(0, HERE, -1, HERE, LINE, unload=[-1, 1, 1, 1]), ValueError, "SPRING: 'unload': the forces"),
    (lambda: parmec.SPRING(0, HERE, -1, HERE, LINE, unload=LINE, ylim=(1, 2)), ValueError, "SPRING: 'ylim' must hold a number of at most 0"),
    (lambda: parmec.SPRING(0, HERE, -1, HERE, LINE, ylim=(-1, 2)), ValueError, "SPRING: 'ylim' needs an unloading table"),
    (lambda: parmec.SPRING(0, HERE, -1, HERE, LINE, offset=4), ValueError, "SPRING: 'offset' must be the number of a TSERIES"),
    (lambda: parmec.SPRING(0, HERE, -1, HERE, LINE, friction=-1), ValueError, "SPRING: 'friction' must not be negative"),
    (lambda: parmec.SPRING(0, HERE, -1, HERE, LINE, inactive=1), TypeError, "SPRING: 'inactive' must be True or False"),
    (lambda: parmec.TORSION_SPRING(0, -1, (0, 0, 1), (1, 0, 1)), ValueError, "TORSION_SPRING: 'zdir' and 'xdir' must be at right angles"),
    (lambda: parmec.TORSION_SPRING(0, -1, (0, 0, 1), (1, 0, 0), cone=("roll",)), ValueError, "TORSION_SPRING: 'cone' must hold two or three"),
    (lambda: parmec.TORSION_SPRING(0, -1, (0, 0, 1), (1, 0, 0), cone=("roll", "role")), ValueError, "TORSION_SPRING: 'cone"),
    (lambda: parmec.TORSION_SPRING(0, 0, (0, 0, 1), (1, 0, 0)), ValueError, "TORSION_SPRING: 'part1' and 'part2' are the same"),
    (lambda: parmec.TORSION_SPRING(0, -1, (0, 0, 1), (1, 0, 0), kyaw=[0, 1]), ValueError, "TORSION_SPRING: 'kyaw' must hold"),
    (lambda: parmec.BALL_JOINT(1, HERE), ValueError, "BALL_JOINT: 'part1' must be the number of a particle, not 1"),
    (lambda: parmec.BALL_JOINT(0, HERE, 0), ValueError, "BALL_JOINT: 'part1' and 'part2' are the same"),
    (lambda: parmec.UNSPRING(0, 0, (None, 1)), ValueError, "UNSPRING: 'tsprings' must be the number of a spring, not 0; there is none yet"),
    (lambda: parmec.UNSPRING(spring(), 0, (1, 1)), ValueError, "UNSPRING: 'limits' must grow"),
    (lambda: parmec.UNSPRING(spring(), 0, (None, None)), ValueError, "UNSPRING: 'limits' must hold a number"),
    (lambda: parmec.UNSPRING(spring(), 0, (0, 1), "X"), ValueError, "UNSPRING: 'entity' must be one of"),
    (lambda: parmec.UNSPRING(spring(), 0, (0, 1), activate=0), ValueError, "UNSPRING: 'activate': spring 0 is active already"),
    (lambda: parmec.UNSPRING(spring(), 0, (0, 1), unload={0: 0}), ValueError, "UNSPRING: 'unload': the values of TSERIES 0 must increase"),
    (lambda: parmec.UNSPRING(spring(), spring(inactive=True), (0, 1)), ValueError, "UNSPRING: 'msprings': spring 1 is inactive"),
    (lambda: parmec.HISTORY("ROLL"), ValueError, "HISTORY: 'source' must be the number of a torsion spring"),
    (lambda: parmec.HISTORY("PW"), ValueError, "HISTORY: 'entity' must be one of"),
    (lambda: parmec.HISTORY("F"), ValueError, "HISTORY: 'source' must be the number of a spring, not 0; there is none yet"),
    (lambda: parmec.HISTORY("PX", 1), ValueError, "HISTORY: 'source' must be the number of a particle, not 1"),
    (lambda: parmec.HISTORY("PX", ((0, 0, 0), 1.0)), TypeError, "HISTORY: 'source' must be a number or a list"),
    (lambda: parmec.HISTORY("FX", 0, HERE), ValueError, "HISTORY: 'point' belongs to positions"),
    (lambda: parmec.DEM(1.0, 0.0), ValueError, "DEM: 'step' must be positive"),
    (lambda: parmec.DEM(-1.0, 0.1), ValueError, "DEM: 'duration' must be positive"),
    (lambda: parmec.DEM(1.0, 0.1, adaptive=2), ValueError, "DEM: 'adaptive' must lie in"),
    (lambda: parmec.DEM(1.0, 0.1, (1, 2, 3)), ValueError, "DEM: 'interval' must be one interval or a pair"),
    (lambda: parmec.DEM(1.0, 0.1, 7), ValueError, "DEM: 'interval' must be the number of a TSERIES, not 7"),
    (lambda: parmec.SPHERE(HERE), TypeError, "SPHERE: missing a required argument: 'radius'"),
]  # fmt: skip


def contents(tables):
    return [(type(table).__name__, table.n) for table in tables]


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_wrong_arguments_are_named_and_change_nothing(one, number):
    call, kind, message = WRONG[number]
    before = contents(parmec.model.current().tables)[1:2]
    with pytest.raises(kind, match=message):
        call()
    assert contents(parmec.model.current().tables)[1:2] == before
    assert parmec.model.current().time == 0.0


def test_there_are_twenty_three_commands():
    assert len(parmec.COMMANDS) == 23
    assert set(dir(parmec)) >= set(parmec.COMMANDS)
    assert all(callable(getattr(parmec, name)) for name in parmec.COMMANDS)


@pytest.mark.parametrize("function", [lambda t: (1, 2), lambda t: "abc", lambda t: None])
def test_functions_of_time_must_return_three_numbers(one, function):
    parmec.PRESCRIBE(0, function)
    with pytest.raises(SolfecError, match="PRESCRIBE: the function of time must return three numbers"):
        parmec.DEM(1.0, 0.1)


def test_reset_begins_anew(one):
    parmec.SPRING(0, HERE, -1, (1, 0, 0), LINE)
    parmec.DEM(0.1, 0.01, 1e9)
    assert parmec.RESET() is None
    assert parmec.model.current().time == 0.0
    assert (parmec.model.current().particles.n, parmec.model.current().links.n) == (0, 0)
    assert parmec.ANALYTICAL() == 0
    assert parmec.TSERIES(2.0) == 0


def test_argv_outside_of_the_command_is_the_programs(monkeypatch):
    monkeypatch.setattr("sys.argv", ["prog", "-ntasks", "2", "x.py", "-a", "b"])
    assert parmec.ARGV() == ["-a", "b"]
    assert parmec.ARGV(nonparmec=False) == ["-ntasks", "2", "x.py", "-a", "b"]


VALUES = [None, 0, 1, -1, 7, 0.5, -3.0, 1e300, float("nan"), float("inf"), True, "", "OFF", "vv", "PX", [], (), [1], [0, 1, 2, 3], (0, 0, 1), (1, 2),
          [[0, 1], [1, 2]], [(0, 0, 0), (0, 0, 1)], {}, object(), lambda t: 0.0, lambda t: (0, 0, 1), b"x", 10**20, [None], ["a"], (0.0, float("nan"), 1)]  # fmt: skip


@pytest.mark.parametrize("seed", range(10))
def test_calls_with_arbitrary_arguments_raise_nothing_but_errors_for_users(one, seed):
    chance = random.Random(seed)
    names = [name for name in parmec.COMMANDS if name not in ("DEM", "RESET")]
    for _ in range(500):
        name = chance.choice(names)
        arguments = [chance.choice(VALUES) for _ in range(chance.randint(0, 7))]
        try:
            getattr(parmec, name)(*arguments)
        except (TypeError, ValueError, NotBuiltYet) as error:
            assert name in str(error), (name, arguments)
    try:
        parmec.DEM(0.01, 0.001, (1e9, 0.005))
    except (SolfecError, TypeError, OverflowError, ZeroDivisionError):
        pass  # what was accepted may lead nowhere, with a message
