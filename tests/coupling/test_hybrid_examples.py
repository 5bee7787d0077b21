"""Examples of hybrid inputs run as they stand, with the numbers that they should have."""

import math
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
from scipy.optimize import brentq, curve_fit

from solfec import cli, results

INPUTS = Path(__file__).parent.parent.parent / "inp" / "hybrid"


def test_two_cubes_meet_and_swing_as_their_equations_say(tmp_path, capsys):
    """hs0 of the report on the hybrid solver: free swing, an impact by momentum, and a swing of both masses until the spring is unloaded again."""
    for path in INPUTS.glob("two-cubes*.py"):
        shutil.copy(path, tmp_path / path.name)
    gap, k, g = 0.1, 100.0, 10.0
    impact = brentq(lambda t: gap - g * t * t / 2 + g / k * (1 - math.cos(10 * t)), 0.1, 0.3)
    place = -g / k * (1 - math.cos(10 * impact))
    speed = (-g / k * 10 * math.sin(10 * impact) - g * impact) / 2
    frequency, rest = math.sqrt(k / 2), -2 * g / k
    text, errors = (tmp_path / "two-cubes.py").read_text(), []
    for step in (1e-3, 5e-4):
        (tmp_path / "two-cubes.py").write_text(text.replace("= 1E-3, 0.5", f"= {step}, 0.5").replace("2.5E-4", f"{step / 4}"))
        assert cli.main(["-w", "-y", str(tmp_path / "two-cubes.py")]) == 0
        touch, low = map(float, re.search(r"first contact at ([\d.]+) s; lowest by ([\d.]+)", capsys.readouterr().out).groups())
        assert touch == pytest.approx(impact, abs=1.5e-3)
        assert low == pytest.approx(-rest + math.hypot(place - rest, speed / frequency), abs=2e-3)
        t, z = map(np.array, results.open("out/two-cubes").history([(1, (0.5, 0.5, 0.5), "CZ")]))
        before, after = t < impact - 2e-3, t > impact + 3e-3
        errors.append(np.abs(z[before] - 0.5 + g / k * (1 - np.cos(10 * t[before]))).max())
        swing = lambda t, middle, a, b, w: middle + a * np.cos(w * (t - impact)) + b * np.sin(w * (t - impact))  # noqa: E731
        middle, a, b, found = curve_fit(swing, t[after], z[after] - 0.5, [rest, 0.1, -0.1, 7.0])[0]
        assert found == pytest.approx(frequency, rel=1e-5)
        assert middle == pytest.approx(rest, abs=1e-6)
        assert b * found == pytest.approx(speed, rel=1e-5)  # the velocity by momentum
        assert a == pytest.approx(place - rest, abs=step)  # the cubes meet at the end of a step
    assert errors[0] < 1e-6
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.02)


def printed(name, words, tmp_path, capsys):
    """Numbers that an example prints, in the order of their names."""
    for path in INPUTS.glob(name.removesuffix(".py") + "*.py"):
        shutil.copy(path, tmp_path / path.name)
    assert cli.main(["-w", "-y", "--quiet", str(tmp_path / name), *words]) == 0
    return capsys.readouterr().out


NUMBER = r"(-?[\d.]+(?:E[-+]\d+)?)"
ARRAY = re.compile(rf"shaken by {NUMBER} mm; cubes move by up to {NUMBER} mm; impulse {NUMBER}; the coupling made {NUMBER} of {NUMBER} J")


@pytest.mark.parametrize(("words", "counts", "tolerance"), [
    pytest.param(["1", "3", "2", "0.6"], (8, 4, 2), 0.3, id="hs1"),
    pytest.param(["2", "2", "2", "0.6"], (36, 16, 12), 0.3, id="hs2", marks=pytest.mark.slow),
    pytest.param(["3", "2", "1", "0.4"], (125, 27, 26), 0.3, id="hs3", marks=pytest.mark.slow),
])  # fmt: skip
def test_arrays_move_in_one_envelope_when_the_step_is_halved(words, counts, tolerance, tmp_path, capsys):
    found = []
    for step in ("5E-4", "2.5E-4"):
        text = printed("cube-array.py", [*words, step], tmp_path, capsys)
        assert tuple(map(int, re.search(r"(\d+) cubes, (\d+) of them implicit, (\d+) in both", text).groups())) == counts
        found.append([float(number) for number in ARRAY.search(text).groups()])
    shaken, moved, impulse, gain, work = zip(*found)
    time = float(words[3])
    far = 1e3 / (2 * math.pi) ** 2 * (1 - math.cos(2 * math.pi * min(time, 0.5)))
    assert shaken == pytest.approx((far, far), abs=0.02)
    assert moved[0] == pytest.approx(moved[1], abs=tolerance)
    assert impulse[0] == pytest.approx(impulse[1], rel=0.1)
    assert work[0] == pytest.approx(work[1], rel=0.1)
    assert 0.3 < gain[1] / gain[0] < 0.7  # the energy that the coupling makes is of first order in the step
    run = results.open(f"out/cube-array-{words[0]}d")
    assert np.nanmin(run.history([(None, "GAP")])[1]) > -2e-3


BALANCE = """
import numpy
line = numpy.array ([.25, .5, .25])  # of the mass, for nodes along an edge of 2 x 2 x 2 elements
share = numpy.einsum ('i,j,k->ijk', line, line, line).ravel ()
momentum = sum (body.mass * share @ numpy.reshape (body.velo, (-1, 3)) for body in deformable.values ())
momentum = momentum + sum (body.mass * numpy.array (body.velo[3:]) for body in solfec.bodies if body.id in parmec2solfec.values ())
print ('BALANCE', hybrid.exchange['work'], *momentum, *hybrid.exchange['impulse'])
"""


@pytest.mark.parametrize("words", [
    pytest.param(["1", "3", "2", "0.6"], id="hs1"),
    pytest.param(["2", "2", "2", "0.4"], id="hs2", marks=pytest.mark.slow),
    pytest.param(["3", "2", "1", "0.3"], id="hs3", marks=pytest.mark.slow),
])  # fmt: skip
def test_implicit_cubes_have_the_momentum_and_the_energy_that_the_engine_gave_them(words, tmp_path, capsys):
    """Contacts among them, friction and damping take from the energy what histories say."""
    (tmp_path / "cube-array-springs.py").write_text((INPUTS / "cube-array-springs.py").read_text())
    (tmp_path / "cube-array.py").write_text((INPUTS / "cube-array.py").read_text() + BALANCE)
    assert cli.main(["-w", "-y", "--quiet", str(tmp_path / "cube-array.py"), *words]) == 0
    work, *numbers = map(float, capsys.readouterr().out.split("BALANCE")[1].split())
    momentum, impulse = np.reshape(numbers, (2, 3))
    assert np.abs(impulse).max() > 0.01
    assert momentum == pytest.approx(impulse, abs=1e-10)
    energies = balance(f"out/cube-array-{words[0]}d")
    assert min(energies["CONTACT"], -energies["DISSIPATED"]) < -1e-4
    assert energies["EXTERNAL"] - energies["CONTACT"] - energies["FRICTION"] == pytest.approx(work, rel=1e-9)


def balance(path):
    """Energies at the end of a run; those of motion and strain are what external work and reactions gave, less what damping took."""
    run = results.open(path)
    last = {name: run.history([(None, name)])[1][-1] for name in ("KINETIC", "INTERNAL", "EXTERNAL", "CONTACT", "FRICTION", "DISSIPATED")}
    assert last["KINETIC"] + last["INTERNAL"] == pytest.approx(last["EXTERNAL"] - last["DISSIPATED"], rel=3e-5)
    return last


def test_inner_cubes_are_not_touched_before_clearances_are_used_up(tmp_path, capsys):
    """hs1: the first contact inside is later than the time in which the frame has moved by the clearances between it and the inner cubes."""
    printed("cube-array.py", ["1", "2", "2", "0.4"], tmp_path, capsys)
    t, contacts = (np.array(values) for values in results.open("out/cube-array-1d").history(["CONS"]))
    first = t[np.flatnonzero(contacts > 0)[0]]
    moved = lambda time: (1 - math.cos(2 * math.pi * time)) / (2 * math.pi) ** 2  # noqa: E731
    assert first > brentq(lambda time: moved(time) - 1e-3, 0.01, 0.4)
    assert first < 0.4


def test_a_plate_rattles_in_its_slot_within_the_motion_of_the_slot(tmp_path, capsys):
    """hs4: the plate is carried along between walls that leave it a millimetre; the coupling's error is of first order in the step."""
    found = []
    for step in ("5E-4", "2.5E-4"):
        text = printed("plate-slot.py", ["1", "0.2", step], tmp_path, capsys)
        assert "warning" not in text
        found.append([float(word) for word in re.search(rf"plate moves by up to {NUMBER} mm.*work on the plate {NUMBER} J.*made {NUMBER}", text).groups()])
    (moved, work, gain), (moved_finely, work_finely, gain_finely) = found
    assert min(balance("out/plate-slot")[name] for name in ("CONTACT", "FRICTION")) < -1e-4
    t, rows = map(np.array, results.open("out/plate-slot").history(["CONS"]))
    touch = math.acos(1 - 1e-3 * (6 * math.pi) ** 2 / 5) / (6 * math.pi)  # the U has moved by the gap
    assert t[np.flatnonzero(rows > rows[0])[0]] == pytest.approx(touch, abs=2.1e-3)  # frames are 2 ms apart
    far = 1e3 * 2 * 5 / (6 * math.pi) ** 2
    assert moved == pytest.approx(far, abs=0.5) and moved_finely == pytest.approx(far, abs=0.5)
    assert moved == pytest.approx(moved_finely, abs=0.1)
    assert work == pytest.approx(work_finely, rel=0.01)
    assert 0.3 < gain_finely / gain < 0.7
