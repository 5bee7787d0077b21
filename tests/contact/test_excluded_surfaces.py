"""Pairs of surfaces between which there is no contact: primitives of such surfaces alone are not searched for pairs."""

from __future__ import annotations

import numpy as np
import pytest

import solfec as s
from solfec.bodies.materials import BulkMaterial
from solfec.bodies.table import BodyKind
from solfec.contact.manifold import choose
from solfec.domain import Domain
from solfec.shapes import hex_mesh, sphere
from solfec.solvers.auto import AutoSolver

CUBE = [(x, y, z) for z in (0.0, 1.0) for x, y in ((0, 0), (1, 0), (1, 1), (0, 1))]  # nodes, the lower four first
BULK = BulkMaterial(density=1000.0)


def falling(manifold: bool = True) -> Domain:
    domain = Domain(1e-3)
    if manifold:
        choose(domain)
    domain.loads.set_gravity((0.0, 0.0, -10.0))
    return domain


def floor(domain, surface: int, height: float = 0.0) -> None:
    mesh = hex_mesh.hex_mesh([(6 * x - 2.5, 6 * y - 2.5, z - 1 + height) for x, y, z in CUBE], 1, 1, 1, 1, [surface] * 6)
    domain.insert_body(BodyKind.OBSTACLE, [mesh], BULK)


def height_after(domain, body: int, duration: float) -> float:
    for _ in range(round(duration / domain.step)):
        domain.advance(AutoSolver(1e-6))
    return domain.states.conf(body)[11]


@pytest.mark.parametrize("manifold", [False, True], ids=["classic", "manifold"])
def test_faces_of_another_surface_are_enough_to_stand_on(manifold):
    heights = []
    for bottom in (1, 2):
        domain = falling(manifold)
        floor(domain, 1)
        surfaces = [bottom] * 5 + [1]
        cube = domain.insert_body(BodyKind.RIGID, [hex_mesh.hex_mesh(CUBE, 1, 1, 1, 1, surfaces)], BULK)
        domain.settings.exclude_surfaces(1, 1)
        heights.append(height_after(domain, cube, 0.1))
    assert heights[0] == pytest.approx(0.5 - 0.5 * 10 * 0.1**2, abs=1e-9)
    assert heights[1] == pytest.approx(0.5, abs=1e-3)


def test_what_nothing_may_touch_meets_a_surface_that_comes_later():
    """Balls far away from where they were when pairs were last searched, since they could touch nothing then."""
    domain = falling()
    domain.settings.exclude_surfaces(1, 1)
    ball = domain.insert_body(BodyKind.RIGID, [sphere.Sphere((0.5, 0.5, 5.0), 0.2, 1, 1)], BULK)
    domain.insert_body(BodyKind.RIGID, [sphere.Sphere((0.5, 0.5, 4.7), 0.2, 1, 1)], BULK)
    assert height_after(domain, ball, 0.6) == pytest.approx(5 - 0.5 * 10 * 0.6**2, abs=1e-9)
    assert domain.constraints.n == 0
    lid = hex_mesh.hex_mesh([(x, y, 0.1 * z + 2.2) for x, y, z in CUBE], 1, 1, 1, 1, [2] * 6)
    lid = domain.insert_body(BodyKind.RIGID, [lid], BULK)
    domain.joints.fix_point(lid, (0.5, 0.5, 2.25))
    before = domain.states.velo(ball)[5]
    height_after(domain, ball, 0.2)
    assert before < -5.9 and domain.states.velo(ball)[5] > before + 1.0


def test_an_exclusion_that_is_made_in_a_run_lets_bodies_fall_and_leaves_others_alone():
    domain = falling()
    floor(domain, 3)
    balls = [domain.insert_body(BodyKind.RIGID, [sphere.Sphere((x, 0.0, 0.22), 0.2, 1, surface)], BULK) for x, surface in ((0.0, 1), (1.0, 2))]
    height_after(domain, balls[0], 0.02)
    domain.settings.exclude_surfaces(1, 3)
    heights = [height_after(domain, ball, time) for ball, time in zip(balls, (0.18, 0.0), strict=True)]
    assert np.allclose(heights, (0.22 - 0.5 * 10 * 0.2**2, 0.2), atol=1e-3)


@pytest.mark.parametrize("surface", [-9, -5, -3, 2])
def test_pairs_of_negative_identifiers_are_told_apart(surface):
    # a floor of surface -9 let bodies of surface -3 fall where -5 and -3 exclude each other, and carried those it excludes
    domain = falling()
    floor(domain, -9)
    ball = domain.insert_body(BodyKind.RIGID, [sphere.Sphere((0.5, 0.5, 0.2), 0.2, 1, surface)], BULK)
    for pair in ((-5, -3), (-9, -5), (-7, 2), (2, -3)):
        domain.settings.exclude_surfaces(*pair)
    fallen = 0.5 * 10 * 0.05**2 if surface == -5 else 0.0
    assert height_after(domain, ball, 0.05) == pytest.approx(0.2 - fallen, abs=1e-6)


@pytest.mark.parametrize("contacts", ["CLASSIC", "MANIFOLD"])
def test_a_contact_that_comes_to_an_excluded_surface_ends(contacts):
    """A ball goes from the upper face of a box to another face, which it must not touch, within a step."""
    solfec = s.SOLFEC("DYNAMIC", 1e-3, contacts=contacts)
    solfec.verbose = "OFF"
    bulk, solver = s.BULK_MATERIAL(solfec), s.GAUSS_SEIDEL_SOLVER(1e-6, 100)
    s.BODY(solfec, "OBSTACLE", s.BOX((0, 0, 0), (1, 1, 1), 1, [1, 2, 2, 2, 2, 1]), bulk)
    ball = s.BODY(solfec, "RIGID", s.SPHERE((0.4, 0, 0.5999), 0.1, 1, 5), bulk)
    s.CONTACT_EXCLUDE_SURFACES(solfec, 5, 2)
    s.RUN(solfec, solver, 1e-3)
    assert [contact.spair for contact in solfec.constraints] == [(5, 1)]
    ball.conf = [1, 0, 0, 0, 1, 0, 0, 0, 1, 0.5999, 0, 0.4]
    s.RUN(solfec, solver, 1e-3)
    assert solfec.ncon == 0
