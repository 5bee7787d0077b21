"""Misspelt names of commands, keywords, members, choices, labels and switches are corrected in the error message."""

from __future__ import annotations

import pytest

from solfec import BODY, BOX, BULK_MATERIAL, SOLFEC, SPHERE, cli


@pytest.mark.parametrize(
    "text, message",
    [
        ("GRAVTY(1, 2)", "NameError: name 'GRAVTY' is not defined; did you mean GRAVITY?"),
        ("gravity(1, 2)", "NameError: name 'gravity' is not defined; did you mean GRAVITY?"),
        ("keystone = 1\nprint(keystoen)", "name 'keystoen' is not defined; did you mean keystone?"),
        ("BOX((0, 0, 0), (1, 1, 1), surfids=3)", "BOX: got an unexpected keyword argument 'surfids'; did you mean 'surfid'?"),
        ("s = SOLFEC('DYNAMIC', 1)\nSURFACE_MATERIAL(s, fricton=1)", "unexpected keyword argument 'fricton'; did you mean 'friction'?"),
        ("SOLFEC('DYNAMC', 1)", "not 'DYNAMC'; did you mean 'DYNAMIC'?"),
        ("s = SOLFEC('DYNAMIC', 1)\ns.verbos = 'OFF'", "SOLFEC has no member 'verbos'; did you mean 'verbose'?"),
        ("print(SPHERE((0, 0, 0), 1, 1, 1).centre)", "has no attribute 'centre'; did you mean center?"),
        ("import solfec\nsolfec.HISTRY", "has no attribute 'HISTRY'; did you mean HISTORY?"),
        ("s = SOLFEC('DYNAMIC', 1, 'out/a')\ntimes, z = HISTORY(s, ['STEP'], 0, 1)", "NoneType object; HISTORY gives None while results are written: put it under `if solfec.mode"),
        ("print(HISTORY(SOLFEC('DYNAMIC', 1, 'out/a'), ['STEP'], 0, 1)[0])", "HISTORY gives None while results are written"),
        ("HISTORY(SOLFEC('DYNAMIC', 1), ['KINETIC'], 0, 1)", "'list[0]' must tell whose energy: (solfec, 'KINETIC'), or a body instead of solfec"),
        ("zebra(1)", "NameError: name 'zebra' is not defined\n"),
        ("BOX((0, 0, 0), (1, 1, 1), colour=3)", "unexpected keyword argument 'colour'\n"),
    ],
)
def test_errors_name_what_was_probably_meant(run_text, text, message):
    assert message in run_text(text, status=1)


def test_a_keyword_that_is_given_is_not_suggested(run_text):
    assert "did you mean" not in run_text("BOX((0, 0, 0), (1, 1, 1), surfid=1, surfids=3)", status=1)


@pytest.mark.parametrize(
    "words, message",
    [
        (["--quite", "x.py"], "unknown switch --quite; did you mean --quiet?"),
        (["inof", "nowhere"], "there is no input file 'inof'; did you mean solfec info?"),
        (["chek", "x.py"], "there is no command 'chek'; did you mean solfec check? (Arguments of an input stand behind its path.)"),
        (["reprot", "."], "there is no command 'reprot'; did you mean solfec report?"),
        (["convert", "x.py"], "there is no command 'convert'; did you mean solfec --convert?"),
    ],
)
def test_the_command_line_corrects_switches_and_sub_commands(words, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.py").write_text("raise SystemExit('the input has run')")
    assert cli.main(words) == 2
    assert message in capsys.readouterr().err


def test_labels_of_histories_are_corrected(run_text):
    model = """
solfec = SOLFEC('DYNAMIC', 0.1, 'out/x')
solfec.verbose = 'OFF'
ball = BODY(solfec, 'RIGID', SPHERE((0, 0, 0), 1, 0, 0), BULK_MATERIAL(solfec), label='keystone')
HINGE(ball, None, (0, 0, 0), (0, 0, 1), label='door')
RUN(solfec, 0.2)
if solfec.mode == 'READ': HISTORY(solfec, [('dor', 'ANGLE')], 0, 1)
"""
    run_text(model)
    assert "no joint is labelled 'dor'; did you mean 'door'?" in run_text(model, status=1)


def test_objects_tell_what_they_are(new_model):
    model = new_model()
    bulk = BULK_MATERIAL(model, label="stone")
    block = BODY(model, "RIGID", BOX((0, 0, 0), (1, 1, 1)), bulk, label="block")
    other = BODY(model, "OBSTACLE", SPHERE((0, 0, 3), 1, 0, 0), bulk)
    assert (repr(block), repr(other)) == ("BODY 1 'block' (RIGID)", "BODY 2 (OBSTACLE)")
    assert repr(model).endswith("# WRITE, time 0, 2 bodies")
    assert repr(BOX((0, 0, 0), (1, 1, 1))) == "CONVEX of 1 polyhedron, 8 vertices, 6 faces"
    assert repr(BOX((0, 0, 0), (1, 1, 1), divisions=(2, 1, 1))) == "MESH of 12 nodes, 2 elements"
    assert repr(SPHERE((0, 0, 3), 1, 0, 0)) == "SPHERE at 0, 0, 3, radius 1"
    shape = BOX((0, 0, 0), (1, 1, 1))
    BODY(model, "RIGID", shape, bulk)
    assert repr(shape) == "CONVEX (empty)"


def test_notebooks_show_tables_of_members(new_model):
    model = new_model()
    bulk = BULK_MATERIAL(model, density=100.0)
    block = BODY(model, "RIGID", BOX((0, 0, 0), (1, 2, 3)), bulk, label="a<b")
    page = block._repr_html_()
    assert "a&lt;b" in page and "<b" not in page.replace("<br", "")
    assert "<th style='text-align: left'>mass</th><td style='text-align: left'>600</td>" in page
    assert "nbod</th><td style='text-align: left'>1</td>" in model._repr_html_()
    from solfec import DELETE

    DELETE(model, block)
    assert repr(block) == "BODY 1 (gone)" and "mass" not in block._repr_html_()


def test_members_of_python_programs_are_corrected(new_model):
    with pytest.raises(AttributeError, match="did you mean 'step_control'"):
        new_model().step_contrl = "OFF"
    with pytest.raises(TypeError, match="did you mean 'output'"):
        SOLFEC("DYNAMIC", 1, outptu="x")
