"""Contacts of a body that falls apart: fragments stay bonded where the body was, and start from its reactions."""

import numpy as np
import pytest

import solfec as s
from solfec import body_cuts, fragments
from solfec.bodies.cracks import Crack
from solfec.lives import Cause

CORNERS = [0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1]
GRAVITY, STEP = 10.0, 1e-3
KINDS = ["hull", "RIGID", "PSEUDO_RIGID", "FINITE_ELEMENT"]
SOLVERS = {
    "GAUSS_SEIDEL": lambda: s.GAUSS_SEIDEL_SOLVER(1e-8, 2000),
    "NEWTON": lambda: s.NEWTON_SOLVER(1e-12),
    "AUTO": lambda: s.AUTO_SOLVER(1e-9),
}


def column(kind, place, contacts="CLASSIC"):
    """A column of 1 x 1 x 2 m and 2000 kg, with an obstacle 'above' it, to which it is bonded, or 'below'."""
    solfec = s.SOLFEC("DYNAMIC", STEP, None, contacts=contacts)
    solfec.verbose = "OFF"
    material = s.BULK_MATERIAL(solfec, young=1e8, poisson=0.0, density=1e3)
    s.SURFACE_MATERIAL(solfec, friction=0.5)
    s.SURFACE_MATERIAL(solfec, 7, 8, model="COHESIVE", ft=1e5, Gf=100, friction=0.6, spring=1e10)
    level, surface = {"above": (2, 7), "below": (-1, 1)}[place]
    s.BODY(solfec, "OBSTACLE", s.TRANSLATE(s.SCALE(s.HULL(CORNERS, 1, surface), (3, 3, 1)), (-1, -1, level)), material)
    shape = s.HULL(CORNERS, 1, 8) if kind == "hull" else s.HEX(CORNERS, 2, 2, 4, 1, [8] * 6)
    body = s.BODY(solfec, "RIGID" if kind == "hull" else kind, s.SCALE(shape, (1, 1, 2)), material)
    s.GRAVITY(solfec, (0, 0, -GRAVITY))
    return solfec, body


def cut(solfec, body, point, normal, connected=False):
    """Cut a body now; return the identifiers of its fragments."""
    crack, domain = Crack(point, normal, (3, 3), connected=connected), solfec._simulation.domain
    return fragments.replace(domain, body.id, body_cuts.cut_body(domain, body.id, crack), Cause.CRACK, crack)


def contacts_of(solfec):
    table = solfec._simulation.domain.constraints
    return table, np.arange(table.user_count, table.n)


def mean_height(body):
    """Height of the mass centre above where it was."""
    mesh = body._simulation.domain.bodies.meshes.get(body.id)
    return body.conf[-1] - body.center[2] if mesh is None else np.mean(np.reshape(body.conf, (-1, 3))[:, 2])


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_bonded_fragment_goes_on_hanging_and_the_other_falls(kind, solver):
    solfec, body = column(kind, "above")
    average = {"average": 0} if kind in ("hull", "RIGID") else {}
    s.SIMPLIFIED_CRACK(body, (0.5, 0.5, 1.0), (0, 0, 1), (3, 3), "TENSILE", ft=5e3, **average)
    steps = 60
    s.RUN(solfec, SOLVERS[solver](), steps * STEP)
    upper, lower = sorted(body.fragments, key=lambda part: -part.center[2])
    assert abs(mean_height(upper)) < 1e-3
    assert mean_height(lower) == pytest.approx(-0.5 * GRAVITY * (steps * STEP) ** 2, rel=0.15)  # from the first steps on


@pytest.mark.parametrize("contacts", ["CLASSIC", "MANIFOLD"])
@pytest.mark.parametrize("kind", KINDS)
def test_bonds_keep_area_damage_and_reaction_on_the_fragment_where_they_lie(kind, contacts):
    solfec, body = column(kind, "above", contacts)
    s.RUN(solfec, s.GAUSS_SEIDEL_SOLVER(1e-8, 2000), 30 * STEP)
    table, rows = contacts_of(solfec)
    before = {name: getattr(table, name)[..., rows].copy() for name in ("id", "point", "R", "area", "damage", "cohesion")}
    assert (before["cohesion"] > 0).all() and rows.size
    plane = 0.37
    children = cut(solfec, body, (plane, 0.5, 1.0), (1, 0, 0))
    table, rows = contacts_of(solfec)
    for name, values in before.items():
        assert np.array_equal(getattr(table, name)[..., rows], values)
    bodies = solfec._simulation.domain.bodies
    sides = [np.where(bodies.kind[side[rows]] == 0, -1, bodies.id[side[rows]]) for side in (table.master, table.slave)]
    holder = np.maximum(*sides)
    left = {child: max(c.center[0] for c in solfec.bodies if c.id == child) < plane for child in children}
    assert [left[k] for k in holder.tolist()] == (before["point"][0] < plane).tolist()
    keys = np.array([np.sort([table.master_primitive[rows], table.slave_primitive[rows]], axis=0)[k] for k in (0, 1)] + [table.slot[rows]])
    assert np.unique(keys, axis=1).shape == keys.shape
    s.RUN(solfec, s.GAUSS_SEIDEL_SOLVER(1e-8, 2000), 30 * STEP)
    bonded = {left[c] for c in holder.tolist()}
    for part in (c for c in solfec.bodies if c.id in children):
        fallen = mean_height(part) < -1e-3
        assert fallen == (left[part.id] not in bonded)


@pytest.mark.parametrize("kind", KINDS)
def test_reactions_go_to_the_fragment_that_stands_there(kind):
    solfec, body = column(kind, "below", "MANIFOLD")
    solver = s.GAUSS_SEIDEL_SOLVER(1e-6, 2000)
    s.RUN(solfec, solver, 100 * STEP)
    table, rows = contacts_of(solfec)
    carried, points = table.R[2, rows].copy(), table.point[0, rows].copy()
    children = cut(solfec, body, (0.5, 0.5, 1.0), (1, 0, 0))
    table, rows = contacts_of(solfec)
    assert np.array_equal(table.R[2, rows], carried)
    bodies = solfec._simulation.domain.bodies
    held = bodies.id[table.master[rows]]
    held = np.where(np.isin(held, children), held, bodies.id[table.slave[rows]])
    centre = {part.id: part.center[0] for part in solfec.bodies}
    apart = np.abs(points - 0.5) > 1e-6
    assert [centre[k] < 0.5 for k in held[apart].tolist()] == (points[apart] < 0.5).tolist()
