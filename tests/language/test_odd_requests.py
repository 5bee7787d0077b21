"""Unusual requests, and files that have moved: runs still end correctly."""

from __future__ import annotations

import textwrap

import pytest
from language_inputs import FALL, RUN10

from solfec import results


@pytest.mark.parametrize("call", ["CALLBACK(solfec, 2E-3, (),", "FORCE(body, 'SPATIAL', (0, 0, 0), (0, 0, 1),"])
def test_a_callback_cannot_run_its_own_simulation(run, call):
    text = FALL + f"    {call} lambda *a: RUN(solfec, gs, 0.01))\n" + RUN10
    outcome = run(text)
    assert outcome.status == 1 and "running already" in outcome.err.splitlines()[0]


def test_a_callback_may_run_another_simulation_and_a_failed_run_may_be_repeated(good):
    text = (
        FALL
        + """
    other = SOLFEC('DYNAMIC', 1E-3, 'out/other')
    other.verbose = 'OFF'
    def once():
        RUN(other, gs, 2E-3)
        raise ValueError('mine')
    CALLBACK(solfec, 2E-3, (), once)
    try:
        RUN(solfec, gs, 0.01)
    except ValueError:
        CALLBACK(solfec, 1, (), print)
    RUN(solfec, gs, 0.01)
    print(solfec.time, other.time)
"""
    )
    assert [float(word) for word in good(text).split()] == pytest.approx([0.011, 0.002])


@pytest.mark.parametrize("interval", ["1E-320", "1E-12", "1E300"])
def test_any_positive_interval_will_do(good, interval):
    text = FALL + f"    CALLBACK(solfec, {interval}, (), lambda: print('called'))\n    OUTPUT(solfec, {interval})\n"
    called = good(text + "    RUN(solfec, gs, 0.01)").count("called")
    assert called == (1 if interval == "1E300" else 10)


def test_an_endless_run_says_so(good):
    text = FALL + "    solfec.verbose = 'ON'\n    CALLBACK(solfec, 5E-3, (), lambda: 0)\n    RUN(solfec, gs, 1E308)"
    assert "over 100 years left" in good(text, "-i", "0")


def test_results_removed_during_a_run_are_missed(run):
    text = FALL + "    import shutil\n    CALLBACK(solfec, 5E-3, (), lambda: shutil.rmtree('out/fall'))\n"
    outcome = run(text + "    RUN(solfec, gs, 0.01)")
    assert outcome.status == 1
    assert "the results were removed or replaced" in outcome.err and "intact" not in outcome.err


def test_results_moved_between_runs_stay_whole_and_the_next_run_says_so(run, tmp_path):
    text = FALL + "    import os\n    CALLBACK(solfec, 1, (), print)\n    OUTPUT(solfec, 1)\n    RUN(solfec, gs, 5E-3)\n"
    outcome = run(text + "    os.rename('out/fall', 'out/moved')\n    RUN(solfec, gs, 5E-3)\n")
    assert outcome.status == 1 and "somebody else has changed or replaced them" in outcome.err
    assert results.open(str(tmp_path / "out/moved/fall.h5")).times == pytest.approx([0, 5e-3])


@pytest.mark.parametrize(
    "make, words",
    [
        ("os.symlink('nowhere', 'out/fall')", "out/fall is not a directory"),
        ("os.makedirs('out/fall/fall.h5')", "fall.h5 is a directory"),
    ],
)
def test_what_stands_in_the_way_of_results_is_named_at_once(run, make, words):
    outcome = run("import os\nos.makedirs('out')\n" + make + textwrap.dedent(FALL))
    assert outcome.status == 1 and words in outcome.err.splitlines()[0]


def test_an_input_in_another_encoding_is_copied_as_it_is(good, tmp_path):
    text = "# -*- coding: latin-1 -*-" + textwrap.dedent(FALL) + "print(chr(233) == '\u00e9')\r\n" + RUN10.strip().replace("\n    ", "\n")
    (tmp_path / "input.py").write_bytes(text.encode("latin-1"))
    assert good(None) == good(None) == good(None, path="out/fall") == "True\n"
    assert (tmp_path / "out/fall/fall.py").read_bytes() == text.encode("latin-1")
    assert "coding: latin-1" in results.open(str(tmp_path / "out/fall")).input_text


def test_an_exception_that_cannot_be_printed_is_named(run):
    text = "class Mute(Exception):\n    def __str__(self):\n        raise self\nraise Mute()\n"
    assert run(text).err.startswith("input.py:4: Mute\n")


def test_far_away_times_lead_to_the_ends_and_misspelt_labels_to_a_warning(run):
    text = FALL + RUN10 + """
    if solfec.mode == 'READ':
        for time in (1E300, -1E300):
            SEEK(solfec, time)
            print(solfec.time)
    HISTORY(solfec, ('bal', (0, 0, 0), 'CX'), 0, 1)
    HISTORY(solfec, ('ball', (0, 0, 0), 'CX'), 0, 1)
    """
    warning = "no body of the results is labelled 'bal'; did you mean 'ball'?"
    written = run(FALL + "    HISTORY(solfec, ('bal', (0, 0, 0), 'CX'), 0, 1)\n" + text.removeprefix(FALL))
    assert written.status == 0 and written.err.count(warning) == 1, written.err  # before the run nobody knows which bodies will be born
    outcome = run(text)
    assert [float(word) for word in outcome.out.split()] == pytest.approx([0.01, 0.0])
    assert warning in outcome.err and outcome.err.count("warning") == 1


def test_none_stands_for_any_optional_argument(good):
    """As if it were left out, whatever the default is; what must be given still has to be."""
    text = """
        solfec = SOLFEC('DYNAMIC', 0.01, 'out/none')
        bulk = BULK_MATERIAL(solfec, None, None, None, density=None)
        surface = SURFACE_MATERIAL(solfec, None, None, None, None, friction=None, hpow=None)
        print(bulk.young, bulk.density, bulk.label, surface.friction, surface.hpow, surface.label)
        gs, newton = GAUSS_SEIDEL_SOLVER(1E-3, 100, None), NEWTON_SOLVER(None, None, theta=None)
        print(gs.meritval, newton.meritval, newton.maxiter, newton.theta)
        CONTACT_SPARSIFY(solfec, None, minarea=None)
        for call in lambda: SPHERE((0, 0, 0), None, 1, 1), lambda: BULK_MATERIAL(None):
            try: call()
            except TypeError as error: print(error)
    """
    lines = good(text).splitlines()
    assert lines[0] == "1000000000.0 1000.0 BULK_MATERIAL_0 0.0 1.0 DEFAULT"
    assert lines[1] == "1.0 1e-08 1000 0.25"
    assert "'radius' must be a number, not None" in lines[2] and "'solfec' must be a SOLFEC object" in lines[3]
