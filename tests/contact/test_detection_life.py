"""The life of contacts: roles, frames, points, materials, persistence, loss, cohesion, depth."""

from __future__ import annotations

import numpy as np
import pytest
from detection_models import Model, box, mesh_box
from kernel_threads import with_threads

from solfec import _kernels
from solfec.bodies.table import BodyKind
from solfec.constraints.table import ANY_SURFACE, ConstraintTable
from solfec.errors import SolfecError
from solfec.shapes.sphere import Sphere

QUARTER_TURN = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])


def block_on_plate(depth=1e-3, **settings):
    """A unit block (surface 2) sunk into a plate (surface 1); the plate has the smaller lower bound in x."""
    model = Model(**settings)
    model.add(box((-1, -1, -1), (2, 2, 0), 1), kind=BodyKind.OBSTACLE)
    model.add(box((0, 0, -depth), (1, 1, 1 - depth), 2))
    return model


@pytest.mark.parametrize("unit, epsilon", [(1, 1e-6), (1e6, 2.0)], ids=["metres", "micrometres"])
@pytest.mark.parametrize(
    "axis, first, second",
    [(2, (0, -1, 0), (-1, 0, 0)), (1, (0, 0, 1), (-1, 0, 0)), (0, (0, 0, -1), (0, -1, 0))],
)
def test_frames_are_left_handed_and_built_on_the_normal(axis, first, second, unit, epsilon):
    model = Model(epsilon)
    model.add(box(np.zeros(3), np.full(3, unit)))
    upper = np.full(3, 1.0)
    lower = np.zeros(3)
    lower[axis], upper[axis] = 0.999, 1.999
    model.add(box(unit * lower, unit * upper))
    model.detect()
    base = model.constraints.base[:, :, 0]
    assert base[:, 2] == pytest.approx(np.eye(3)[axis], abs=1e-9)
    assert base[:, 0] == pytest.approx(first, abs=1e-9)
    assert base[:, 1] == pytest.approx(second, abs=1e-9)
    assert np.linalg.det(base) == pytest.approx(-1.0)


@pytest.mark.parametrize(
    "first, second, pair", [(box((0.1, 0, 0), (1, 1, 1)), box((0, 0, 0.999), (1, 1, 2)), (1, 0)), (box((0, 0, 0.999), (1, 1, 2)), box((0, 0, 0), (1, 1, 1)), (0, 1))]
)
def test_the_slave_has_the_smaller_lower_bound_in_x_or_of_equal_ones_the_lower_id(first, second, pair):
    model = Model()
    model.add(first)
    model.add(second)
    model.detect()
    assert model.pairs() == [pair]
    assert model.constraints.base[2, 2, 0] == pytest.approx(-1.0)  # out of the slave


def test_roles_do_not_change_when_bodies_travel_together_or_slide_past_each_other():
    model = block_on_plate()
    model.detect()
    assert model.pairs() == [(0, 1)]
    model.move(0, (3.0, 0, 0))
    model.move(1, (1.5, 0, 0))  # now the block has the smaller lower bound
    model.detect()
    assert model.geometry.primitives.box[0, 1] < model.geometry.primitives.box[0, 0]
    assert model.pairs() == [(0, 1)]


def test_referential_points_are_pulled_back_through_the_bodies_maps():
    model = Model()
    model.add(box((-1, -1, -1), (9, 9, 5.501)), kind=BodyKind.OBSTACLE)
    row = model.add(box((0.5, 1.5, 2.5), (1.5, 2.5, 3.5)))
    model.conf(row)[:, :3] = QUARTER_TURN
    model.conf(row)[:, 3] = (4, 5, 6)
    model.detect()
    table = model.constraints
    assert table.point[:, 0] == pytest.approx([4, 5, 5.5005], abs=1e-6)
    assert table.slave_point[:, 0] == pytest.approx([4, 5, 5.5005], abs=1e-6)
    assert table.master_point[:, 0] == pytest.approx([1, 2, 2.5005], abs=1e-6)


def test_a_referential_point_of_a_deformed_body_is_found_by_the_inverse_gradient():
    gradient = np.array([[1.0, 0.2, 0.1], [0, 1.1, 0], [0.1, 0, 0.9]])
    model = Model()
    model.add(Sphere([0.0, 0.0, 0.0], 5.0))
    row = model.add(Sphere([1.0, 0.0, 7.0], 3.0), centre=(0.5, 0.0, 7.0), kind=BodyKind.PSEUDO_RIGID)
    model.conf(row)[:, :3] = gradient.T
    model.detect()
    point, reference = (getattr(model.constraints, name)[:, 0] for name in ("point", "master_point"))
    assert gradient @ (reference - (0.5, 0, 7)) + (0.5, 0, 7) == pytest.approx(point, abs=1e-12)


def test_a_resting_block_keeps_its_contact_and_its_reaction():
    model = block_on_plate(depth=0.0)
    model.detect()
    table = model.constraints
    identifier, birth = int(table.id[0]), int(table.birth[0])
    table.R[:, 0] = (1, 2, 3)
    table.U[:, 0] = (4, 5, 6)
    for _ in range(1000):
        model.detect()
    assert (table.n, table.id[0], table.birth[0]) == (1, identifier, birth)
    assert table.R[:, 0].tolist() == [1, 2, 3]
    assert table.U[:, 0].tolist() == [4, 5, 6]


def test_a_contact_that_opens_is_removed_and_starts_from_zero_when_it_closes_again():
    model = block_on_plate()
    model.detect()
    table = model.constraints
    table.R[:, 0] = 1.0
    model.move(1, (0, 0, 0.1))
    model.detect()
    assert table.n == 0
    model.move(1, (0, 0, -0.1))
    model.detect()
    assert (table.n, table.id[0], table.birth[0]) == (1, 2, 2)
    assert table.R[:, 0].tolist() == [0, 0, 0]


def test_gap_area_and_point_follow_the_bodies():
    model = block_on_plate(depth=1e-3)
    model.detect()
    model.move(1, (0.25, 0, -1e-3))
    model.detect()
    table = model.constraints
    assert table.gap[0] == pytest.approx(-2e-3, abs=2e-6)
    assert table.point[:, 0] == pytest.approx([0.75, 0.5, -1e-3], abs=2e-6)
    assert table.area[0] == pytest.approx(1.0 + 2 * 2e-3, abs=1e-5)


def test_an_old_contact_below_the_least_area_lives_until_the_bodies_part():
    model = Model(min_area=0.3)
    model.add(box((0, 0, 0), (1, 1, 1)))
    model.add(box((0.5, 0, 0.9999), (1.5, 1, 2)))
    model.detect()
    assert model.constraints.n == 1
    model.move(1, (0.4, 0, 0))
    model.detect()
    assert model.constraints.n == 1
    assert model.constraints.area[0] < 0.3
    model.move(1, (0.2, 0, 0))
    model.detect()
    assert model.constraints.n == 0


def test_survivors_and_user_constraints_keep_every_column_when_others_are_removed():
    model = Model()
    model.add(box((-1, -1, -1), (9, 9, 0)), kind=BodyKind.OBSTACLE)
    for k in range(5):
        model.add(box((1.5 * k, 0, -1e-4), (1.5 * k + 1, 1, 1)))
    table = model.constraints
    table.append(id=table.new_ids(1)[0], kind=5, master=1)
    table.user_count = 1
    model.detect()
    rng = np.random.default_rng(0)
    for name, (shape, dtype, _) in ConstraintTable.COLUMNS.items():
        if name in ("R", "U", "V", "merit", "residual", "birth"):
            getattr(table, name)[..., : table.n] = rng.integers(1, 99, (*shape, table.n)).astype(dtype)
    before = {name: table.view(name).copy() for name in ConstraintTable.COLUMNS}
    model.move(2, (0, 0, 1))
    model.move(4, (0, 0, 1))
    model.detect()
    kept = [0, 1, 3, 5]
    assert table.n == 4
    for name, column in before.items():
        assert table.view(name) == pytest.approx(column[..., kept], abs=1e-9), name


def test_contacts_of_a_step_are_appended_in_the_order_of_their_keys():
    model = Model()
    model.add(mesh_box((-1, -1, -1), (3, 3, 0), (2, 2, 1)), kind=BodyKind.OBSTACLE)
    model.add(box((0, 0, -1e-3), (1, 1, 1)))
    model.add(box((0.999, 0, -1e-3), (2, 2, 1)))
    model.detect()
    keys = [sorted(model.key(row)) for row in range(model.constraints.n)]
    assert len(keys) > 4
    assert keys == sorted(keys)
    assert model.constraints.view("id").tolist() == list(range(1, len(keys) + 1))


@pytest.mark.parametrize(
    "with_exact, pair, label",
    [
        (True, (2, 1), "1-2"), (True, (1, 5), "1-any"), (True, (3, 2), "2-any"), (True, (7, 8), "any"),
        (False, (2, 1), "2-any"), (False, (1, 2), "1-any"),
    ],
)  # fmt: skip
def test_surface_materials_are_looked_up_by_pair_then_slave_then_master(with_exact, pair, label):
    model = Model()
    labels = ["any"]
    for surface, name in (((1, 2), "1-2"), ((1, ANY_SURFACE), "1-any"), ((2, ANY_SURFACE), "2-any")):
        if with_exact or name != "1-2":
            model.materials.append(surface=np.reshape(surface, (2, 1)))
            labels.append(name)
    model.add(box((0, 0, 0), (1, 1, 1), pair[0]))
    model.add(box((0.1, 0, 0.999), (1, 1, 2), pair[1]))
    model.detect()
    assert model.constraints.surface[:, 0].tolist() == list(pair)
    assert labels[model.constraints.material[0]] == label


def test_another_surface_in_contact_brings_its_own_material():
    model = Model()
    model.materials.append(surface=np.reshape((7, ANY_SURFACE), (2, 1)))
    model.add(mesh_box((0, 0, 0), (1, 1, 1), surfaces=(1, 1, 1, 7, 1, 1)))
    model.add(Sphere([0.5, 0.5, 1.4], 0.401))
    model.detect()
    assert (model.constraints.surface[0, 0], model.constraints.material[0]) == (1, 0)
    model.move(1, (0.9, 0, -0.9))  # from the top to the side x = 1, without leaving the block in between
    model.detect()
    assert model.constraints.id[0] == 1
    assert (model.constraints.surface[0, 0], model.constraints.material[0]) == (7, 1)


def test_excluded_surfaces_make_no_contact_and_do_not_count_as_penetration():
    model = block_on_plate(depth=0.1)
    model.settings.exclude_surfaces(2, 1)
    model.settings.depth = 0.05
    assert model.detect() == 0
    assert model.pairs() == []


def test_excluded_bodies_make_no_contact():
    model = block_on_plate()
    model.settings.exclude_bodies(2, 1)
    model.detect()
    assert model.pairs() == []


def test_a_contact_as_deep_as_the_limit_stops_the_run():
    model = block_on_plate(depth=0.1)
    model.settings.depth = 0.11
    model.detect()
    model.settings.depth = 0.1 - 1e-9
    with pytest.raises(SolfecError, match=r"bodies 2 and 1 overlap by 0\.1 at"):
        model.detect()


def cohesive_block():
    model = block_on_plate()
    model.materials.append(surface=np.reshape((1, 2), (2, 1)), cohesion=5.0)
    return model


def test_a_contact_of_the_first_step_is_cohesive_and_a_later_one_is_not():
    model = cohesive_block()
    model.detect()
    assert model.constraints.cohesion[0] == 5.0
    late = cohesive_block()
    late.time = 1e-9
    late.detect()
    assert late.constraints.cohesion[0] == 0.0


def test_a_cohesive_contact_stays_with_its_material_points_when_the_bodies_part():
    model = cohesive_block()
    model.detect()
    table = model.constraints
    points = table.master_point[:, 0].copy(), table.slave_point[:, 0].copy()
    model.move(1, (0.2, 0, 0.3))
    model.detect()
    assert table.n == 1
    assert table.point[:, 0] == pytest.approx([0.7, 0.5, 0.3 - 5e-4], abs=1e-6)
    assert (table.master_point[:, 0] == points[0]).all()
    assert (table.slave_point[:, 0] == points[1]).all()
    table.cohesion[0] = 0.0  # broken
    model.detect()
    assert table.n == 0


def test_contacts_have_the_same_bits_for_any_number_of_threads():
    answers = []
    for _ in with_threads(1, 2, 8, 16):
        rng = np.random.default_rng(7)
        model = Model()
        for k in range(600):
            corner = rng.uniform(0, 7, 3)
            model.add(box(corner, corner + rng.uniform(0.3, 1.5, 3), k % 5))
        model.detect()
        for row in range(0, 600, 3):
            model.move(row, rng.uniform(-0.1, 0.1, 3))
        model.detect()
        answers.append([model.constraints.view(name).tobytes() for name in ConstraintTable.COLUMNS])
    assert answers[0] == answers[1] == answers[2]


def test_contacts_do_not_depend_on_the_order_in_which_bodies_are_inserted():
    rng = np.random.default_rng(2)
    corners, sizes = rng.uniform(0, 3, (40, 3)), rng.uniform(0.3, 1.2, (40, 3))
    answers = []
    for order in (np.arange(40), rng.permutation(40)):
        model = Model(threshold=0.0, min_distance=0.0)
        for k in order:
            model.add(box(corners[k], corners[k] + sizes[k]))
        model.detect()
        table = model.constraints
        found = {(order[table.slave[row]], order[table.master[row]]): table.point[:, row] for row in range(table.n)}
        answers.append(found)
    assert answers[0].keys() == answers[1].keys()
    for pair, point in answers[0].items():
        assert answers[1][pair] == pytest.approx(point, abs=1e-9)


@pytest.mark.skipif(_kernels.threads.has_checks() == 1, reason="kernels with checks are not timed")
def test_detection_of_a_small_model_costs_little_python():
    model = block_on_plate()
    model.detect()

    import timeit

    best = min(timeit.repeat(model.detection.run, number=200, repeat=7)) / 200
    assert best < 300e-6  # about 35 microseconds on a quiet machine
