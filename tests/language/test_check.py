"""`solfec check`: what a model is like before its first step (docs/running.md, Looking at results and models from the terminal)."""

import json

import pytest

from solfec import cli
from solfec.inspection import text as as_text

HEAD = """
solfec = SOLFEC('DYNAMIC', 1E-3, 'out/checked')
bulk = BULK_MATERIAL(solfec, young=1E6, density=1000.0)
GRAVITY(solfec, (0, 0, -10))

def box(x, y, z, a, b, c):
    return HULL([w for k in (z, z + c) for j in (y, y + b) for i in (x, x + a) for w in (i, j, k)], 1, 1)

BODY(solfec, 'OBSTACLE', box(-5, -5, -1, 10, 10, 1), bulk, label='floor')
"""
RUN = """
def never():
    raise ValueError('a callback was called')
CALLBACK(solfec, 1E-3, (), never)
OUTPUT(solfec, 0.01)
RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-3, 100), 1.0)
"""


@pytest.fixture
def check(run, capsys, tmp_path):
    """`check(text)` writes an input, checks it and returns the exit status and the facts about its only model."""

    def check(text: str, *words: str):
        (tmp_path / "input.py").write_text(HEAD + text + RUN)
        capsys.readouterr()
        status = cli.main(["check", "--json", *words, "input.py"])
        said = capsys.readouterr()
        (facts,) = json.loads(said.out)
        assert sorted(path.name for path in tmp_path.iterdir()) == ["input.py"]
        return status, facts

    return check


def levels(facts) -> list[str]:
    return [level for level, _ in facts["findings"]]


def texts(facts) -> str:
    return "\n".join(text for _, text in facts["findings"])


def test_a_sound_model_has_nothing_to_warn_of(check):
    ball = "BODY(solfec, 'RIGID', SPHERE((0, 0, 0.5), 0.5, 1, 1), bulk, label='ball')"
    status, facts = check(ball)
    assert status == 0 and facts["findings"] == []
    assert facts["bodies"] == {"OBSTACLE": 1, "RIGID": 1} and facts["degrees of freedom"] == 12
    assert facts["masses"]["total"] == pytest.approx(1000 * 3.14159265359 / 6, rel=1e-9)
    assert facts["step"] == {"asked": 1e-3} and facts["results"]["frames"] == 101 and facts["memory"]["megabytes"] > 10
    assert facts["line"] == len((HEAD + ball + RUN).splitlines())


def test_overlaps_and_gaps_are_measured_and_named(check):
    status, facts = check(
        "BODY(solfec, 'RIGID', SPHERE((0, 0, 0.49), 0.5, 1, 1), bulk, label='deep')\n"
        "BODY(solfec, 'RIGID', SPHERE((3, 0, 0.502), 0.5, 1, 1), bulk, label='near')\n"
        "BODY(solfec, 'RIGID', SPHERE((-3, 0, 0.505), 0.5, 1, 1), bulk, label='above')\n"
        "BODY(solfec, 'RIGID', SPHERE((-3, 3, 9), 0.5, 1, 1), bulk, label='far')"
    )
    deepest, gaps = facts["contacts"]["deepest"], facts["gaps"]
    assert status == 0 and facts["contacts"]["points"] == 1
    assert deepest["depth"] == pytest.approx(0.01, rel=1e-4) and deepest["bodies"] == "body 1 (floor) and body 2 (deep)"
    assert gaps["pairs of bodies"] == 2
    assert gaps["smallest"] == {"gap": pytest.approx(0.002, rel=1e-4), "bodies": "body 1 (floor) and body 3 (near)"}
    assert gaps["largest"] == {"gap": pytest.approx(0.005, rel=1e-4), "bodies": "body 1 (floor) and body 4 (above)"}
    assert facts["loose bodies"] == {"count": 3, "first": ["body 3 (near)", "body 4 (above)", "body 5 (far)"]}
    assert levels(facts) == ["warning"] and "nothing holds body 3 (near), body 4 (above), body 5 (far)" in texts(facts)


def test_a_deep_overlap_is_a_warning_and_one_beyond_the_users_limit_an_error(check):
    ball = "BODY(solfec, 'RIGID', SPHERE((0, 0, 0.4), 0.5, 1, 1), bulk, label='deep')\n"
    status, facts = check(ball)
    assert status == 0 and "overlap by 0.1, 10 % of the smaller one" in texts(facts)
    status, facts = check(ball + "UNPHYSICAL_PENETRATION(solfec, 0.05)")
    assert status == 1 and levels(facts) == ["warning", "error"]


@pytest.mark.parametrize("patch, rocking", [("OFF", ["body 1 (floor) and body 2 (block)"]), ("ON", None)])
def test_flush_faces_that_share_one_point_are_told(check, patch, rocking):
    _, facts = check(
        f"CONTACT_OPTIONS(solfec, margin=1E-4, patch='{patch}')\n"
        "BODY(solfec, 'RIGID', box(0, 0, 0, 1, 1, 1), bulk, label='block')\n"
        "BODY(solfec, 'RIGID', HEX([c for x in ((3,0,0),(4,0,0),(4,1,0),(3,1,0),(3,0,1),(4,0,1),(4,1,1),(3,1,1)) for c in x], 3, 3, 1, 1, [1]*6), bulk)"
    )
    assert facts["contacts"]["points"] == (10 if patch == "OFF" else facts["contacts"]["points"])
    assert facts["contacts"].get("one point for flush faces", {}).get("rocking") == rocking
    assert ("on which they rock" in texts(facts)) == (rocking is not None)


def test_joints_that_contradict_one_another_or_move_are_told(check):
    status, facts = check(
        "ball = BODY(solfec, 'RIGID', SPHERE((0, 0, 3), 0.5, 1, 1), bulk)\n"
        "FIX_POINT(ball, (0, 0, 3))\nINITIAL_VELOCITY(ball, (3, 0, 4), (0, 0, 0))\n"
        "held = BODY(solfec, 'RIGID', SPHERE((3, 0, 3), 0.5, 1, 1), bulk)\n"
        "FIX_DIRECTION(held, (3, 0, 3), (1, 0, 0))\nSET_VELOCITY(held, (3, 0, 3), (1, 0, 0), 2.0)"
    )
    assert status == 1 and sorted(levels(facts)) == ["error", "warning"]
    assert facts["joints"]["contradictory"] == "constraint 2 (FIXDIR) of body 3 and constraint 3 (VELODIR) of body 3 contradict one another"
    assert facts["joints"]["moving"] == [{"joint": "constraint 1 (FIXPNT) of body 2", "velocity": pytest.approx(5.0)}]
    assert facts["constraints"] == {"FIXPNT": 1, "FIXDIR": 1, "VELODIR": 1} and facts["loose bodies"]["count"] == 0


def test_motions_that_joints_hold_more_than_once_are_counted(check):
    leaf = "leaf = BODY(solfec, 'RIGID', box(0, 0, 1, 1, 1, 2), bulk)\nHINGE(leaf, None, (0, 0, 1), (0, 0, 1))\n"
    status, facts = check(leaf)
    assert status == 0 and "redundant" not in facts["joints"]
    status, facts = check(leaf + "HINGE(leaf, None, (0, 0, 2), (0, 0, 1))\nFIX_DIRECTION(leaf, (1, 0, 1), (0, 0, 1))")
    assert status == 0 and facts["joints"]["redundant"] == 6
    assert "6 motions are held more than once" in as_text(facts)


def test_the_critical_step_is_told_and_kept(check):
    text = (
        "nodes = [0,0,0, 1,0,0, 1,1,0, 0,1,0, 0,0,1, 1,0,1, 1,1,1, 0,1,1]\n"
        "body = BODY(solfec, 'FINITE_ELEMENT', HEX(nodes, 2, 2, 2, 1, [1]*6), BULK_MATERIAL(solfec, young=1E9, density=1000.0), label='cube')\n"
    )
    status, facts = check(text)
    assert status == 0 and facts["step"]["critical"] < 1e-3 and facts["step"]["body"].startswith("body 2 (cube, FINITE_ELEMENT), element")
    assert "RUN lowers it" in texts(facts) and facts["nodes"] == 27
    status, facts = check(text + "body.scheme = 'DEF_LIM'\nFIX_POINT(body, (0, 0, 0))\nFIX_POINT(body, (1, 0, 0))")
    assert status == 0 and "critical" not in facts["step"] and "lowers" not in texts(facts)


def test_the_text_is_for_people_and_prints_of_the_input_stay_apart(run, tmp_path, capsys):
    (tmp_path / "input.py").write_text(HEAD + "print('hello', NON_SOLFEC_ARGV())\n" + RUN + "print(solfec.mode, solfec.ncon, solfec.time)\n1 / 0\n")
    assert cli.main(["check", "input.py", "7"]) == 0
    said = capsys.readouterr()
    assert said.out.startswith("out/checked (DYNAMIC, line 16)\n  bodies: 1 OBSTACLE; 1 convexes") and said.out.endswith("  nothing to warn of\n")
    assert said.err.startswith("hello ['7']\n") and "the check ends here" in said.err
    assert "WRITE" not in said.err and "1 line that the input prints after RUN is left out" in said.err
    assert [path.name for path in tmp_path.iterdir()] == ["input.py"]


def test_results_that_an_input_wrote_after_an_earlier_run_stay(run, tmp_path, capsys):
    for write in ("open('curve.csv', 'w').write('0')", "import numpy; numpy.savetxt('curve.csv', [0.0])", "open('curve.csv', 'a').write('0')"):
        (tmp_path / "curve.csv").write_text("of a long run")
        (tmp_path / "input.py").write_text("open('before.txt', 'w').write('a record')\n" + HEAD + RUN + write)
        assert cli.main(["check", "input.py"]) == 0
        said = capsys.readouterr()
        assert "the check ends here, after a RUN that took no steps: the input writes into 'curve.csv', which exists" in said.err
        assert (tmp_path / "curve.csv").read_text() == "of a long run" and "bodies: 1 OBSTACLE" in said.out
    open(tmp_path / "curve.csv", "w").close()  # the check is over


def test_models_behind_the_first_run_are_checked(run, tmp_path, capsys):
    loop = "for k in (1, 2):\n" + "".join("    " + line + "\n" for line in (HEAD.replace("out/checked", "out/%d' % k + '") + RUN + "print(k)\n").splitlines())
    (tmp_path / "loop.py").write_text(loop)
    assert cli.main(["check", "--json", "loop.py"]) == 0
    said = capsys.readouterr()
    assert [facts["name"] for facts in json.loads(said.out)] == ["out/1", "out/2"] and "2 lines" in said.err


def test_exports_of_a_checked_input_write_nothing(check):
    _, facts = check(
        "BODY(solfec, 'RIGID', SPHERE((0, 0, 0.5), 0.5, 1, 1), bulk)\nMBFCP_EXPORT(solfec, 'model')\nXDMF_EXPORT(solfec, 0, 'x')\nVTK_EXPORT(solfec, 0, 'v')"
    )
    assert facts["findings"] == []


def test_old_inputs_are_checked_too(run, tmp_path, capsys):
    (tmp_path / "old.py").write_text(HEAD + "print 'two'\n" + RUN)
    assert cli.main(["check", "old.py"]) == 0
    assert capsys.readouterr().out.startswith("out/checked (DYNAMIC, line")


def test_wrong_inputs_and_command_lines_have_their_status(run, tmp_path, capsys):
    (tmp_path / "wrong.py").write_text("SPHERE((0, 0, 0), -1, 1, 1)\n")
    assert cli.main(["check", "wrong.py"]) == 1
    assert capsys.readouterr().err.startswith("wrong.py:1: ValueError: SPHERE: 'radius' must be positive")
    assert cli.main(["check", "none.py"]) == 2 and "solfec check: there is no input file 'none.py'" in capsys.readouterr().err
    (tmp_path / "two.py").write_text("for k in (1, 2): SOLFEC('DYNAMIC', 1E-3, 'out/%d' % k)\n")
    assert cli.main(["check", "--json", "two.py"]) == 0
    assert [facts["name"] for facts in json.loads(capsys.readouterr().out)] == ["out/1", "out/2"]
