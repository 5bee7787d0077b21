"""Coordinates and reactions of joints in results: HISTORY, BYLABEL."""

from __future__ import annotations

import math

import pytest

import solfec as s


def arm(directory, mode):
    """A heavy arm on a hinge beside a rod and a gear, which are labelled."""
    solfec = s.SOLFEC("DYNAMIC", 1e-3, str(directory / "arm"), mode)
    solfec.verbose, solfec.joint_correction = "OFF", "ON"
    bulk = s.BULK_MATERIAL(solfec, density=1000.0)
    s.GRAVITY(solfec, (0, 0, -9.81))
    one, two, three = (s.BODY(solfec, "RIGID", s.SPHERE((3.0 * k, 0, 0), 0.1, 1, 1), bulk) for k in range(3))
    joint = s.HINGE(one, None, (-0.5, 0, 0), (0, 1, 0), spring=20.0, label="shoulder")
    other = s.HINGE(two, None, (3, 0, 0), (0, 1, 0))
    s.GEAR(joint, other, 0.5, label="train")
    s.DISTANCE(three, None, (6, 0, 0), (6, 0, 2), strength=50.0, label="rod")
    return solfec, joint


ITEMS = [("shoulder", "ANGLE"), ("shoulder", "TURNING"), ("shoulder", "TORQUE"), ("shoulder", "FZ"), ("train", "TY"), ("rod", "TENSION"), ("rod", "ANGLE")]


def present(solfec, joint):
    train, rod = (s.BYLABEL(solfec, "JOINT", label) for label in ("train", "rod"))
    return [joint.angle, joint.turning, joint.torque, joint.reaction[2], train.reaction[4], rod.tension, math.nan]


def test_histories_of_joints_are_what_their_members_were(tmp_path):
    solfec, joint = arm(tmp_path, "WRITE")
    s.OUTPUT(solfec, 0.01)
    seen = []
    s.CALLBACK(solfec, 0.01, (), lambda: seen.append(present(solfec, joint)) or 1)
    s.RUN(solfec, s.AUTO_SOLVER(1e-10), 0.05)
    seen.append(present(solfec, joint))
    assert s.HISTORY(solfec, [("shoulder", "ANGLE")], 0, 1) is None
    again, joint = arm(tmp_path, "READ")
    s.SEEK(again, 0.02)
    times, *values = s.HISTORY(again, [*ITEMS[:3], "STEP", *ITEMS[3:], (joint, "ANGLE")], 0, 1)
    assert again.time == pytest.approx(0.02)
    assert len(times) == 6 and values[3] == [1e-3] * 6 and values[8] == values[0]
    for frame in range(1, 6):
        row = [values[k][frame] for k in (0, 1, 2, 4, 5, 6, 7)]
        assert any(row == pytest.approx(was, rel=1e-9, abs=1e-12, nan_ok=True) for was in seen), frame
    assert abs(values[0][-1]) > 1e-3 and values[5][-1] != 0.0 and values[6][-1] < -20
    found = s.BYLABEL(again, "JOINT", "shoulder")
    assert (found, found.kind, found.label) == (joint, "HINGE", "shoulder")
    assert s.BYLABEL(again, "JOINT", "elbow") is None


def test_labels_of_joints_are_in_results_that_are_read_without_an_input(tmp_path):
    solfec, _ = arm(tmp_path, "WRITE")
    s.RUN(solfec, s.AUTO_SOLVER(1e-10), 0.01)
    again = s.SOLFEC("DYNAMIC", 1e-3, str(tmp_path / "arm"), "READ")
    times, angle, tension = s.HISTORY(again, [("shoulder", "ANGLE"), ("rod", "TENSION")], 0, 1)
    assert angle[-1] == pytest.approx(solfec_angle(solfec)) and tension[-1] < 0
    assert s.BYLABEL(again, "JOINT", "train").kind == "GEAR"


def solfec_angle(solfec) -> float:
    return s.BYLABEL(solfec, "JOINT", "shoulder").angle


@pytest.mark.parametrize(
    ("item", "told"),
    [
        (("elbow", "ANGLE"), "no joint is labelled 'elbow'"),
        ((3, "ANGLE"), "must be a JOINT object or a label"),
        (("shoulder", "KINETIC"), "SOLFEC object, a BODY object"),
    ],
)
def test_items_of_joints_are_checked(tmp_path, item, told):
    solfec, joint = arm(tmp_path, "WRITE")
    s.RUN(solfec, s.AUTO_SOLVER(1e-10), 0.002)
    again, _ = arm(tmp_path, "READ")
    with pytest.raises((ValueError, TypeError), match=told):
        s.HISTORY(again, [item], 0, 1)
    with pytest.raises(ValueError, match="entity"):
        s.HISTORY(again, [(s.BYLABEL(again, "JOINT", "rod"), "R")], 0, 1)
    with pytest.raises(ValueError, match="belongs to another SOLFEC"):
        s.HISTORY(again, [(joint, "ANGLE")], 0, 1)
