"""A run reports its balance of energy and momentum, and warns if a law or scheme is violated."""

from __future__ import annotations

import re
import warnings

import pytest
from unit_cube import CUBE

import solfec as sf
from solfec.errors import SolfecWarning


def falling(kind: str, step: float = 2e-4, contacts: str = "CLASSIC", **words):
    solfec = sf.SOLFEC("DYNAMIC", step, output=None, contacts=contacts)
    sf.SURFACE_MATERIAL(solfec, friction=0.3)
    bulk = sf.BULK_MATERIAL(solfec, model="KIRCHHOFF", young=1e6, poisson=0.25, density=1000)
    sf.GRAVITY(solfec, (1, 0, -10))
    sf.BODY(solfec, "OBSTACLE", sf.TRANSLATE(sf.SCALE(sf.HULL(CUBE, 1, 1), (9, 9, 1)), (-4, -4, -1)), bulk)
    shape = sf.HEX(CUBE, 2, 2, 2, 1, [1] * 6) if kind == "FINITE_ELEMENT" else sf.HULL(CUBE, 1, 1)
    return solfec, sf.BODY(solfec, kind, sf.TRANSLATE(shape, (0, 0, 0.05)), bulk, **words)


def missing(printed: str) -> tuple[float, float]:
    (found,) = re.findall(r"^energy: .*; unaccounted (\S+) of the largest; momentum to (\S+)$", printed, re.M)
    return float(found[0]), float(found[1])


@pytest.mark.parametrize("contacts", ["CLASSIC", "MANIFOLD"])
@pytest.mark.parametrize(("kind", "bound"), [("RIGID", 1e-12), ("PSEUDO_RIGID", 1e-4), ("FINITE_ELEMENT", 1e-4)])
def test_a_fall_on_the_ground_is_accounted_for(capsys, kind, bound, contacts):
    solfec, _ = falling(kind, contacts=contacts)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sf.RUN(solfec, sf.AUTO_SOLVER(1e-8), 0.2)
    energy, momentum = missing(capsys.readouterr().out)
    assert energy < bound and momentum < 1e-7


def test_nothing_is_printed_by_silent_runs(capsys):
    solfec, _ = falling("RIGID")
    solfec.verbose = "OFF"
    sf.RUN(solfec, sf.AUTO_SOLVER(1e-8), 0.1)
    assert capsys.readouterr().out == ""


def switched(solfec, body):
    return sf.BODY_SWITCH(body, "FINITE_ELEMENT", mesh=sf.TRANSLATE(sf.HEX(CUBE, 2, 2, 2, 1, [1] * 6), (0, 0, 0.05))) and 1


def born(solfec, body):
    other = sf.BODY(solfec, "RIGID", sf.SPHERE((9, 9, 9), 0.5, 1, 1), body.material)
    sf.INITIAL_VELOCITY(other, (5, 0, 0), (0, 0, 30))
    return 1


EDITS = {
    "velocity": lambda solfec, body: sf.INITIAL_VELOCITY(body, (0, 0, 3), (0, 0, 0)) or 1,
    "birth": born,
    "deletion": lambda solfec, body: sf.DELETE(solfec, body) or 1,
    "switch": switched,
}


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("steps", [400, 500])  # the last one ends with the edit
def test_what_users_change_in_mid_run_is_not_part_of_the_balance(capsys, edit, steps):
    solfec, body = falling("RIGID")
    once = iter([lambda *_: 1, EDITS[edit]])  # the first call comes after the first step
    sf.CALLBACK(solfec, 0.05, 0, lambda _: next(once, lambda *_: 1)(solfec, body))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sf.RUN(solfec, sf.AUTO_SOLVER(1e-8), steps * 2e-4)
    energy, momentum = missing(capsys.readouterr().out)
    assert next(once, None) is None and energy < 1e-4 and momentum < 1e-7


@pytest.mark.parametrize("edit", EDITS)
def test_energy_that_appears_beside_such_changes_is_told_of(edit):
    solfec, body = falling("RIGID")
    other = sf.BODY(solfec, "RIGID", sf.SPHERE((0, 0, 9), 0.5, 1, 1), body.material, label="THIEF")
    domain = solfec._simulation.domain

    def steal(_):
        if solfec.time < 0.01:
            return 1
        EDITS[edit](solfec, body)
        row = domain.body_row(other.id)
        domain.bodies.triples.velo[:, domain.bodies.velo_ptr[row] + 1] *= 9.0  # behind the program's back
        return 1

    sf.CALLBACK(solfec, 0.05, 0, steal)
    with pytest.warns(SolfecWarning, match="of the largest energy of the run is not accounted for, most of it in body 3 \\(THIEF\\)"):
        sf.RUN(solfec, sf.AUTO_SOLVER(1e-8), 0.09)


class Pushes:
    """A broken law: three times the reaction that stops the approach."""

    def solve(self, local):
        rows = local.rows
        for a in range(local.n):
            approach = max(-rows.B[2, a], 0.0)
            rows.R[:, a] = 0.0, 0.0, 3.0 * approach / rows.diagonal[2, 2, a] / max(local.n, 1)


def test_a_law_that_gives_energy_is_told_of():
    solfec, _ = falling("RIGID")
    with pytest.warns(SolfecWarning, match="RUN: contacts have added energy, .* though their laws only take"):
        sf.RUN(solfec, Pushes(), 0.3)


def on_springs(step: float, contacts: str = "CLASSIC"):
    """A floor without friction, whose contacts are springs."""
    solfec = sf.SOLFEC("DYNAMIC", step, output=None, contacts=contacts)
    sf.SURFACE_MATERIAL(solfec, model="SPRING_DASHPOT", friction=0.0, spring=1e6, dashpot=0.0)
    bulk = sf.BULK_MATERIAL(solfec, model="KIRCHHOFF", young=1e6, poisson=0.25, density=1000)
    sf.BODY(solfec, "OBSTACLE", sf.TRANSLATE(sf.SCALE(sf.HULL(CUBE, 1, 1), (9, 9, 1)), (-4, -4, -1)), bulk)
    return solfec, bulk


def test_springs_that_give_more_energy_than_they_held_are_told_of():
    """A soft block that falls on a corner, and overlaps by most of an element, doubles its energy: contacts = 'CLASSIC' turns the normal while the spring is loaded."""
    solfec, bulk = on_springs(1e-3)
    block = sf.ROTATE(sf.TRANSLATE(sf.HEX(CUBE, 3, 3, 3, 1, [1] * 6), (0, 0, 0.95)), (0, 0, 0.95), (1, -1, 0), -40)
    body = sf.BODY(solfec, "FINITE_ELEMENT", block, bulk, form="BC")
    body.scheme = "DEF_LIM"
    sf.INITIAL_VELOCITY(body, (0, 0, -8), (0, 0, 0))
    with pytest.warns(SolfecWarning, match="RUN: contacts have added energy, .* beyond what their springs held at first"):
        sf.RUN(solfec, sf.PENALTY_SOLVER(), 0.3)
    assert sf.ENERGY(solfec).kinetic > 1.3 * 0.5 * 1000 * 8**2


@pytest.mark.parametrize("solver", [sf.PENALTY_SOLVER, sf.AUTO_SOLVER], ids=["PENALTY", "AUTO"])
@pytest.mark.parametrize("contacts", ["CLASSIC", "MANIFOLD"])
def test_springs_may_return_what_they_held_when_a_run_began(solver, contacts):
    """A ball that begins 0.1 deep in the floor, and one that is thrown down, in runs that end while they are on the way up."""
    solfec, bulk = on_springs(1e-4, contacts)
    balls = [sf.BODY(solfec, "RIGID", sf.SPHERE((x, 0.5, z), 0.5, 1, 1), bulk) for x, z in ((0, 0.4), (2, 0.51))]
    sf.INITIAL_VELOCITY(balls[1], (0, 0, -4), (0, 0, 0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(12):
            sf.RUN(solfec, solver(), 0.01)
    assert balls[0].velo[5] == pytest.approx((1e6 * 0.1**2 / balls[0].mass) ** 0.5, rel=1e-3)
    assert balls[1].velo[5] == pytest.approx(4, rel=1e-2)


def test_energy_that_appears_from_nowhere_is_told_of():
    solfec, body = falling("RIGID")
    domain = solfec._simulation.domain

    def steal(_):
        domain.bodies.triples.velo[2, domain.bodies.velo_ptr[domain.body_row(body.id)] + 1] *= 0.5  # behind the program's back
        domain.bodies.energy[0] *= 0.25
        return 1

    sf.CALLBACK(solfec, 0.05, 0, steal)
    with pytest.warns(SolfecWarning, match="of the largest energy of the run is not accounted for"):
        sf.RUN(solfec, sf.AUTO_SOLVER(1e-8), 0.09)


def test_rounding_of_a_model_that_has_come_to_rest_is_no_imbalance():
    solfec = sf.SOLFEC("DYNAMIC", 1e-3, output=None)
    solfec.verbose = "OFF"
    ball = sf.BODY(solfec, "RIGID", sf.SPHERE((0, 0, 0), 1, 1, 1), sf.BULK_MATERIAL(solfec, density=1.0))
    sf.INITIAL_VELOCITY(ball, (1, 0, 0), (0, 0, 0))
    sf.SET_VELOCITY(ball, (0, 0, 0), (1, 0, 0), 0.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(5):
            sf.RUN(solfec, sf.AUTO_SOLVER(1e-8), 1e-3)


def slid(solfec, body):
    """Let a block slide with friction for a while."""
    sf.INITIAL_VELOCITY(body, (3, 0, 0), (0, 0, 0))
    sf.RUN(solfec, sf.AUTO_SOLVER(1e-8), 0.1)


def figures(printed: str) -> dict:
    (line,) = re.findall(r"^energy: (.*); unaccounted", printed, re.M)
    return {name: float(value) for name, value in (part.split() for part in line.split(", ") if part != "unchanged")}


def test_works_of_contacts_stay_in_the_balance_when_bodies_are_deleted(capsys):
    found = []
    for late in (False, True):
        solfec, body = falling("RIGID")
        slid(solfec, body)
        capsys.readouterr()
        if late:
            sf.CALLBACK(solfec, 0.1, 0, lambda _: solfec.time < 0.195 or sf.DELETE(solfec, body) or 1)  # noqa: B023
        sf.RUN(solfec, sf.AUTO_SOLVER(1e-8), 0.1)
        found.append(figures(capsys.readouterr().out))
    for name in ("contacts", "friction"):
        assert found[1][name] == pytest.approx(found[0][name], rel=1e-2)


def test_energies_that_are_not_numbers_are_told_of():
    solfec, body = falling("RIGID")
    domain = solfec._simulation.domain

    def spoil(_):
        domain.bodies.energy[2] = float("nan")
        return 1

    sf.CALLBACK(solfec, 0.05, 0, spoil)
    with pytest.warns(SolfecWarning, match="energies at the end of the run are not numbers"):
        sf.RUN(solfec, sf.AUTO_SOLVER(1e-8), 0.09)


@pytest.mark.parametrize("form", ["TL", "BC"])
def test_rounding_of_a_model_to_which_nothing_happens_is_no_imbalance(form):
    solfec = sf.SOLFEC("DYNAMIC", 2e-3, output=None)
    solfec.verbose = "OFF"
    bulk = sf.BULK_MATERIAL(solfec, model="KIRCHHOFF", young=1e7, poisson=0.3, density=1200)
    for k in range(5):
        mesh = sf.TRANSLATE(sf.SCALE(sf.HEX(CUBE, 3, 3, 3, 1, [1] * 6), (0.095, 0.1, 0.095)), (0.11 * k + 0.037, 0, 1.7))
        sf.BODY(solfec, "FINITE_ELEMENT", mesh, bulk, form=form).scheme = "DEF_LIM"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sf.RUN(solfec, sf.AUTO_SOLVER(1e-8), 0.1)


DRIVES = {  # a body is moved, and has stopped before the end of the run
    "displacement": lambda body: sf.SET_DISPLACEMENT(body, body.center, (1, 0, 0), sf.TIME_SERIES([0, 0, 0.4, 0.2, 1, 0.2])),
    "there and back": lambda body: sf.SET_DISPLACEMENT(body, body.center, (1, 0, 0), sf.TIME_SERIES([0, 0, 0.4, 0.2, 0.8, 0, 1, 0])),
    "late": lambda body: sf.SET_VELOCITY(body, body.center, (1, 0, 0), sf.TIME_SERIES([0, 0, 0.6, 0, 0.7, 1, 0.8, 0])),
    "motor": lambda body: sf.MOTOR(sf.SLIDER(body, None, body.center, (1, 0, 0)), "POSITION", sf.TIME_SERIES([0, 0, 0.4, 0.2, 1, 0.2])),
}


@pytest.mark.parametrize("name", DRIVES)
@pytest.mark.parametrize("solver", [lambda: sf.GAUSS_SEIDEL_SOLVER(1e-10, 1000), lambda: sf.AUTO_SOLVER()], ids=["GAUSS_SEIDEL", "AUTO"])
def test_a_body_that_is_driven_and_stopped_leaves_nothing_unaccounted(solver, name):
    """All energies are round-off at the end, and so is their error; the largest energy of the run is that of the motion."""
    solfec = sf.SOLFEC("DYNAMIC", 1e-2)
    solfec.verbose = "OFF"
    body = sf.BODY(solfec, "RIGID", sf.SPHERE((0.1, 0.2, 0.3), 0.1, 1, 1), sf.BULK_MATERIAL(solfec, density=731))
    DRIVES[name](body)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sf.RUN(solfec, solver(), 1.2)
    assert abs(body.velo[3]) < 1e-12
