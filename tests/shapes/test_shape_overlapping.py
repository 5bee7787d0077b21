"""OVERLAPPING: shapes that touch obstacles, by depth, inside meshes and round them."""

from __future__ import annotations

import numpy as np
import pytest
from sample_shapes import cube, unit_mesh

from solfec.shapes.ellipsoid import Ellipsoid
from solfec.shapes.mesh_to_convex import mesh_to_convex
from solfec.shapes.overlapping import overlapping
from solfec.shapes.sphere import Sphere
from solfec.shapes.transform import rotation_matrix


def test_touching_shapes_overlap_and_apart_ones_do_not():
    shapes = [cube(0.1, (1, 0, 0)), cube(0.1, (1.01, 0, 0)), Sphere((0.5, 0.5, 1.4), 0.41), Sphere((0.5, 0.5, 1.4), 0.39)]
    assert overlapping([unit_mesh(3, 3, 3)], shapes).tolist() == [True, False, True, False]
    assert overlapping([cube(), Sphere((9, 9, 9), 1)], shapes).tolist() == [True, False, True, False]


def test_only_overlaps_as_deep_as_the_gap_count():
    shapes = [Sphere((0.5, 0.5, 1.0 + 0.4 - depth), 0.4) for depth in (0.0, 0.02, 0.2)]
    assert overlapping([cube()], shapes, gap=-0.01).tolist() == [False, True, True]
    assert overlapping([cube()], shapes, gap=-0.1).tolist() == [False, False, True]
    with pytest.raises(ValueError, match="gap"):
        overlapping([cube()], shapes, gap=0.1)


def test_shapes_inside_inner_elements_and_meshes_round_an_obstacle_overlap():
    mesh, small = unit_mesh(5, 5, 5), cube(0.1, (0.45, 0.45, 0.45))
    assert overlapping([mesh], [small]).tolist() == [True]
    assert overlapping([small], [mesh]).tolist() == [True]
    big = unit_mesh(5, 5, 5)
    big.nodes = 3 * big.nodes - 1
    assert overlapping([mesh], [big]).tolist() == [True]


def test_a_collection_counts_as_one_shape():
    pair = cube(0.1, (9, 9, 9))
    pair.prepend(cube(0.2, (0.9, 0, 0)))
    assert overlapping([cube()], [pair]).tolist() == [True]


def test_many_balls_in_a_box_agree_with_the_distance():
    random = np.random.default_rng(5)
    centres = random.uniform(-0.5, 1.5, (300, 3))
    distance = np.sqrt((np.maximum(np.maximum(-centres, centres - 1.0), 0.0) ** 2).sum(1))
    found = overlapping([unit_mesh(4, 4, 4)], [Sphere(c, 0.1) for c in centres])
    clear = np.abs(distance - 0.1) > 1e-5
    assert found[clear].tolist() == (distance < 0.1)[clear].tolist()


def test_ellipsoids_reach_along_their_axes():
    tall, flat = Ellipsoid((0.5, 0.5, 1.2), (0.1, 0.1, 0.3)), Ellipsoid((0.5, 0.5, 1.2), (0.3, 0.1, 0.1))
    assert overlapping([unit_mesh(3, 3, 3)], [tall, flat]).tolist() == [True, False]
    flat.rotate(flat.centre, rotation_matrix(np.array([0.0, 1.0, 0.0]), 90))
    assert overlapping([cube()], [flat]).tolist() == [True]


def test_elements_turned_into_convexes_overlap_as_the_mesh_does():
    convexes = mesh_to_convex(unit_mesh(3, 3, 3))
    obstacles = [cube(1.0, (0.99, 0, 0)), cube(1.0, (1.01, 0, 0))]
    assert [overlapping([obstacle], [convexes]).tolist() for obstacle in obstacles] == [[True], [False]]
