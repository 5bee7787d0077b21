"""Histories against numbers computed by hand from the frames."""

import time

import numpy as np
import pytest
from standin import KINDS, StandIn

from solfec.bodies.table import BodyKind
from solfec.results import ResultsReader, ResultsWriter

FRAMES = 9
POINT = np.array([0.3, -0.2, 0.7])


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run with a birth after frame 2 and a death after frame 3: (reader, domains' data by frame)."""
    path = tmp_path_factory.mktemp("history") / "run"
    domain = StandIn(count=6, contacts=7)
    frames = []
    with ResultsWriter.create(str(path)) as writer:
        for k in range(FRAMES):
            if k == 5:
                domain.contacts = 0
                domain.fill_constraints()
            writer.write_frame(domain)
            frames.append(snapshot(domain))
            if k == 2:
                domain.insert("late")
            if k == 3:
                domain.delete(4)
            domain.advance()
            domain.contacts = 7
    with ResultsReader(path) as reader:
        yield reader, frames


def snapshot(domain):
    """What the tests need of a frame, by loops over bodies and constraints."""
    bodies, table = domain.bodies, domain.constraints
    frame = {"time": domain.time, "bodies": {}, "constraints": []}
    for row in range(bodies.n):
        conf = bodies.configurations.conf[:, bodies.conf_slice(row)].copy()
        velo = bodies.triples.velo[:, bodies.velo_slice(row)].copy()
        arm = POINT - bodies.centre[:, row]
        if bodies.kind[row] == BodyKind.PSEUDO_RIGID:
            place, speed = conf[:, :3].T @ arm + conf[:, 3], velo[:, :3].T @ arm + velo[:, 3]
        else:
            place = conf[:, :3] @ arm + conf[:, 3]
            speed = conf[:, :3] @ np.cross(velo[:, 0], arm) + velo[:, 1]
        frame["bodies"][int(bodies.id[row])] = (place, speed, bodies.energy[:, row].copy())
    for row in range(table.n):
        pair = {int(bodies.id[table.master[row]]), int(bodies.id[table.slave[row]]) if table.slave[row] >= 0 else 0}
        frame["constraints"].append(
            (
                pair, int(table.kind[row]) == 0, float(table.gap[row]), table.R[:, row].copy(), table.U[:, row].copy(),
                table.base[:, :, row].copy(), tuple(sorted(table.surface[:, row].tolist())),
            )
        )  # fmt: skip
    frame["energy"] = domain.energy()
    return frame


def test_times_are_those_of_all_frames_and_skip_takes_every_nth(run):
    reader, frames = run
    assert reader.history([])[0].tolist() == [frame["time"] for frame in frames]
    assert reader.history([], skip=4)[0].tolist() == [frames[k]["time"] for k in (0, 4, 8)]
    assert reader.history([], -5.0, 99.0)[0].size == FRAMES
    assert reader.history([], 2e-3, 5e-3)[0].size == 4
    assert reader.history([], 2e-3 + 1e-10, 5e-3 - 1e-10)[0].size == 4
    assert reader.history([], 4e-3, 4e-3)[0].tolist() == [frames[4]["time"]]


@pytest.mark.parametrize("body", range(1, 8))
def test_placement_displacement_and_velocity_of_a_point_of_every_kind_of_body(run, body):
    reader, frames = run
    items = [(body, tuple(POINT), kind + axis) for kind in "CDV" for axis in "XYZ"]
    _, *values = reader.history(items)
    for k, frame in enumerate(frames):
        if body in frame["bodies"]:
            place, speed, _ = frame["bodies"][body]
            expected = np.concatenate([place, place - POINT, speed])
        else:
            expected = np.full(9, np.nan)
        assert np.allclose([value[k] for value in values], expected, rtol=1e-13, atol=1e-14, equal_nan=True)


def test_a_label_gives_nan_before_birth_and_an_unknown_label_nan_always(run):
    reader, frames = run
    _, late, unknown = reader.history([("late", POINT, "CX"), ("nobody", POINT, "CX")])
    assert np.isnan(late).tolist() == [True] * 3 + [False] * 6
    assert late[5] == pytest.approx(frames[5]["bodies"][7][0][0])
    assert np.isnan(unknown).all()


def test_energies_of_the_model_count_contacts_once_and_lists_count_bodies_once(run):
    reader, frames = run
    kinds = ["KINETIC", "INTERNAL", "EXTERNAL", "CONTACT", "FRICTION", "DISSIPATED"]
    _, *whole = reader.history([(None, kind) for kind in kinds])
    assert np.array_equal(np.array(whole).T, [frame["energy"] for frame in frames])
    _, both, dead = reader.history([([1, 4, 1], "EXTERNAL"), (4, "EXTERNAL")])
    expected = [sum(frame["bodies"][body][2][2] for body in (1, 4) if body in frame["bodies"]) for frame in frames]
    assert np.allclose(both, expected)
    assert np.isnan(dead[4:]).all() and not np.isnan(dead[:4]).any()


@pytest.mark.parametrize("bodies", [None, 3, [1, 2, 6]])
@pytest.mark.parametrize("direction", [None, (0.5, -2.0, 1.0)])
@pytest.mark.parametrize("pair", [None, (2, 1)])
@pytest.mark.parametrize("entity", ["GAP", "R", "U", "CR", "CU"])
def test_constraint_histories_equal_sums_over_the_constraints_of_a_frame(run, bodies, direction, pair, entity):
    reader, frames = run
    _, values = reader.history((bodies, direction, pair, entity))
    wanted = None if bodies is None else set(np.atleast_1d(bodies).tolist())
    for value, frame in zip(values, frames):
        chosen = [
            c for c in frame["constraints"]
            if (wanted is None or c[0] & wanted) and (c[1] or entity in "RU") and (not c[1] or pair is None or c[6] == (1, 2))
        ]  # fmt: skip
        if entity == "GAP":
            expected = min((c[2] for c in chosen), default=0.0)
        else:
            local = [c[3 if entity[-1] == "R" else 4] for c in chosen]
            along = [v[2] if direction is None else np.dot(direction, c[5] @ v) for c, v in zip(chosen, local)]
            expected = sum(along) / (1 if entity[-1] == "R" else max(len(along), 1))
        assert value == pytest.approx(expected, rel=1e-12, abs=1e-13)


def test_the_short_form_of_a_constraint_item_is_the_long_one_without_filters(run):
    reader, _ = run
    _, short, long = reader.history([(2, "R"), (2, None, None, "R")])
    assert np.array_equal(short, long)


def test_counts_steps_and_timings(run):
    reader, frames = run
    names = ["STEP", "CONS", "BODS", "NEWBODS", "DELBODS", "TIMINT", "PARBAL", "MERIT", "GSITERS"]
    _, step, cons, bods, born, gone, timing, nothing, merit, iterations = reader.history(names)
    assert (step == 1e-3).all() and (timing == 0.25).all() and (nothing == 0).all()
    assert cons.tolist() == [len(frame["constraints"]) for frame in frames]
    assert bods.tolist() == [6, 6, 6, 7, 6, 6, 6, 6, 6]
    assert born.tolist() == [0, 0, 0, 1, 0, 0, 0, 0, 0]
    assert gone.tolist() == [0, 0, 0, 0, 1, 0, 0, 0, 0]
    assert np.isnan(merit[0]) and (merit[1:] == 1e-7).all()
    assert np.isnan(iterations[0]) and iterations[1:].tolist() == list(range(1, FRAMES))
    assert np.isnan(reader.history("NTITERS")[1]).all()


@pytest.mark.parametrize(
    "item, text",
    [
        ("NONSENSE", "unknown history 'NONSENSE'"),
        ((1, POINT, "QX"), "unknown entity 'QX'"),
        ((1, (0, 0), "CX"), "a point is three numbers"),
        (([1, 2], POINT, "CX"), "a body or its label is needed"),
        ((None, "SPIN"), "unknown entity 'SPIN'"),
        ((None, (1, 0), None, "R"), "a direction is three numbers"),
        ((None, None, (1, 2, 3), "R"), "a surface pair is two numbers"),
        ((1, 2, 3, 4, 5), "a tuple of 2, 3 or 4"),
        ((3.5, "R"), "is not a body"),
    ],
)
def test_items_that_make_no_sense_are_refused(run, item, text):
    with pytest.raises(ValueError, match=text):
        run[0].history([item])


def test_intervals_that_make_no_sense_are_refused(run):
    with pytest.raises(ValueError, match="t0 = 2 is larger than t1 = 1"):
        run[0].history([], 2.0, 1.0)
    with pytest.raises(ValueError, match="skip = 0"):
        run[0].history([], skip=0)


def test_history_in_results_without_a_body_is_nan(tmp_path):
    with ResultsWriter.create(str(tmp_path / "run")) as writer:
        writer.write_frame(StandIn(count=0))
    with ResultsReader(tmp_path / "run") as reader:
        assert np.isnan(reader.history([("nobody", POINT, "CX"), (3, POINT, "MISES"), (3, "KINETIC")])[1:]).all()


def test_a_hundred_histories_over_two_thousand_frames_take_no_loop_over_frames(tmp_path):
    domain = StandIn(count=10, contacts=20, kinds=KINDS[1:])
    with ResultsWriter.create(str(tmp_path / "run")) as writer:
        for k in range(2000):
            domain.time, domain.step_number = k * 1e-3, k
            writer.write_frame(domain)
    items = [(1 + k % 10, (0.1 * k, 0, 0), "CDV"[k % 3] + "X") for k in range(60)]
    items += [(1 + k % 10, "KINETIC") for k in range(20)] + [(1 + k % 10, (0, 0, 1), None, "R") for k in range(20)]
    with ResultsReader(tmp_path / "run") as reader:
        best = min(timed(reader, items) for _ in range(2))
    assert best < 2.0


def timed(reader, items):
    start = time.perf_counter()
    reader.history(items)
    return time.perf_counter() - start
