"""Contact between two parts of bodies can be excluded, and stays so whatever rows they have."""

from __future__ import annotations

import numpy as np
from detection_models import Model, box


def crosses(count: int = 3) -> Model:
    """Blocks of two convexes each, one beside the other, pressed on the next body in x."""
    model = Model()
    for k in range(count):
        model.add(box((0.99 * k, 0, 0), (0.99 * k + 1, 1, 1)), box((0.99 * k, 1, 0), (0.99 * k + 1, 2, 1)))
    return model


def parts_in_contact(model: Model) -> list[tuple[int, int]]:
    """Primitive rows of contacts, lower first, sorted; contacts of small area between diagonal neighbours included."""
    contacts = model.constraints
    one, two = contacts.view("slave_primitive"), contacts.view("master_primitive")
    return sorted({(min(a, b), max(a, b)) for a, b in zip(one.tolist(), two.tolist())})


def test_two_parts_do_not_meet_and_all_others_do():
    free, excluded = crosses(), crosses()
    free.settings.threshold = excluded.settings.threshold = 0.0
    excluded.settings.exclude_parts((2, 0), (1, 0))
    excluded.settings.exclude_parts((2, 1), (3, 1))
    free.detect()
    excluded.detect()
    everything = parts_in_contact(free)
    assert {(0, 2), (1, 3), (2, 4), (3, 5)} <= set(everything)
    assert parts_in_contact(excluded) == [pair for pair in everything if pair not in ((0, 2), (3, 5))]


def test_exclusion_during_a_run_counts_from_the_next_detection_on():
    model = crosses(2)
    model.settings.threshold = 0.0
    model.detect()
    before = parts_in_contact(model)
    model.settings.exclude_parts((1, 1), (2, 1))
    for shift in (0.0, 1.0, -1.0):
        model.move(1, (shift, 0, 0))
        model.detect()
        assert (1, 3) not in parts_in_contact(model)
    assert parts_in_contact(model) == [pair for pair in before if pair != (1, 3)]


def test_pairs_are_told_apart_by_parts_and_not_by_their_numbers_sorted():
    """(body 1, part 0)-(body 2, part 1) leaves (body 1, part 1)-(body 2, part 0), which has the same numbers, alone."""
    model = Model()
    model.add(box((0, 0, 0), (1, 1, 1)), box((0, 1, 0), (1, 2, 1)))
    model.add(box((0.99, 1, 0), (2, 2, 1)), box((0.99, 0, 0), (2, 1, 1)))
    model.settings.threshold = 0.0
    model.settings.exclude_parts((1, 0), (2, 1))
    model.detect()
    found = parts_in_contact(model)
    assert (1, 2) in found and (0, 3) not in found


def test_exclusions_of_bodies_that_do_not_exist_are_passed_over():
    model = crosses(2)
    model.settings.exclude_parts((7, 0), (2, 0))
    model.detect()
    assert (0, 2) in parts_in_contact(model)


def test_an_empty_list_of_pairs_is_no_trouble():
    model = Model()
    model.add(box((0, 0, 0), (1, 1, 1)))
    model.add(box((5, 0, 0), (6, 1, 1)))
    model.settings.exclude_parts((1, 0), (2, 0))
    model.detect()
    assert np.all(model.constraints.n == 0)
