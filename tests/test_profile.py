"""`solfec profile`: where the time of a run goes, through the command line."""

from __future__ import annotations

import json
import re
import xml.etree.ElementTree as xml

import pytest

from solfec import _kernels, cli
from solfec.domain import Domain
from solfec.tools import profiling

DROP = """
import time
solfec = SOLFEC('DYNAMIC', 1E-3, 'out/drop')
bulk = BULK_MATERIAL(solfec, density=1000.0)
floor = [c for z in (-1, 0) for y in (-2, 2) for x in (-2, 2) for c in (x, y, z)]
BODY(solfec, 'OBSTACLE', HULL(floor, 1, 1), bulk)
cube = [c for z in (0, 1) for y in (0, 1) for x in (0, 1) for c in (x, y, z)]
BODY(solfec, 'RIGID', HULL(cube, 2, 2), bulk)
GRAVITY(solfec, (0, 0, -10))
OUTPUT(solfec, 5E-3)
CALLBACK(solfec, 1E-2, (), lambda: time.sleep(float(NON_SOLFEC_ARGV()[0])) or 1)
RUN(solfec, GAUSS_SEIDEL_SOLVER(1E-6, 100), 0.1)
print('done')
"""


@pytest.fixture
def profile(tmp_path, monkeypatch, capsys):
    """`profile(*words)` profiles the input in tmp_path; its status, output and errors."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in.py").write_text(DROP)

    def run(*words):
        capsys.readouterr()
        status = cli.main(["profile", *words])
        return status, *capsys.readouterr()

    return run


@pytest.mark.skipif(_kernels.threads.has_checks() == 1, reason="kernels with checks are wrapped already")
def test_parts_add_up_and_are_those_of_the_run(profile, tmp_path):
    status, out, err = profile("--json", "in.py", "0.001")
    found = json.loads(out)
    seconds = found["seconds"]
    assert status == 0 and "done" in err
    assert (found["steps"], found["frames"], found["calls of callbacks"]) == (100, 21, 11)
    assert seconds["input"] + seconds["run"] == pytest.approx(seconds["all"])
    assert sum(seconds[part] for part in ("steps", "output", "callbacks", "rest")) == pytest.approx(seconds["run"])
    assert sum(seconds[part] for part in profiling.PARTS) == pytest.approx(seconds["steps"])
    assert found["kernels"]["CONSOL"]["gauss_seidel.iterate"]["calls"] == 100
    for part in profiling.PARTS:
        assert sum(kernel["seconds"] for kernel in found["kernels"].get(part, {}).values()) <= seconds[part]
    assert len(found["iterations"]) == 100 and found["iterations"][-1] >= 1 and found["constraints"][-1] == 1
    stored = sum(path.stat().st_size for path in (tmp_path / "out" / "drop" / "profile").glob("*.h5*"))
    assert 0 < found["megabytes of results"] <= 1.5e-6 * stored


def test_advice_names_what_takes_most(profile):
    """Callbacks that sleep for 1.6 s in all."""
    _, out, _ = profile("in.py", "0.15")
    assert out.startswith("profile of in.py\n  100 steps; a step has 1 constraints (at most 1)")
    assert re.search(r"of the time is callbacks: 11 calls of (1\.[5-9]|[2-9])e\+02 ms", out)  # a loaded machine sleeps longer


def test_results_that_are_named_are_overwritten_on_request_only(profile, tmp_path):
    assert cli.main(["--quiet", "-s", "mine", "in.py", "0"]) == 0
    results = tmp_path / "out" / "drop" / "mine" / "mine.h5"
    before = results.read_bytes()
    profile("-s", "mine", "in.py", "0.001")
    assert results.read_bytes() == before
    status, out, _ = profile("-w", "-y", "-s", "mine", "in.py", "0.001")
    assert status == 0 and "100 steps" in out and results.read_bytes() != before


@pytest.mark.parametrize("words", [("--log", "a.log"), ("--convert",), ("--html", "nowhere/page.html")])
def test_what_a_profile_cannot_do_is_told_before_the_run(profile, tmp_path, words):
    status, out, err = profile(*words, "in.py", "0")
    assert (status, out) == (2, "") and words[0] in err and not (tmp_path / "out").exists()


def test_results_that_are_there_stay_and_clocks_are_taken_off(profile, tmp_path):
    assert cli.main(["--quiet", "in.py", "0"]) == 0
    before, advance = (tmp_path / "out" / "drop" / "drop.h5").read_bytes(), Domain.advance
    for _ in range(2):  # the second one writes over the first one's results
        assert profile("in.py", "0")[0] == 0
    assert (tmp_path / "out" / "drop" / "drop.h5").read_bytes() == before and Domain.advance is advance


def test_pages_hold_pictures(profile, tmp_path):
    assert profile("--html", "page.html", "in.py", "0")[0] == 0
    text = (tmp_path / "page.html").read_text()
    parts, course = (xml.fromstring(found.split("</svg>")[0] + "</svg>") for found in ("<svg" + part for part in text.split("<svg")[1:]))
    widths = {group.find("title").text.split(":")[0]: float(group.find("rect").get("width")) for group in parts}
    assert widths["all"] == pytest.approx(1000, abs=1) and widths["input"] + widths["RUN"] == pytest.approx(999, abs=1)
    assert len(course.findall("g")) == 100 and len(course.find("polyline").get("points").split()) == 100


@pytest.mark.parametrize(
    "words, said",
    [
        ([], "profile needs an input file"),
        (["--html"], "--html needs a file"),
        (["-c", "in.py"], "-c, --mpi, --convert and --log have no meaning"),
        (["nothing.py"], "there is no input file 'nothing.py'"),
    ],
)
def test_wrong_words_are_named(profile, words, said):
    status, out, err = profile(*words)
    assert status in (1, 2) and said in err


def test_inputs_that_fail_end_with_their_error(profile, tmp_path):
    (tmp_path / "in.py").write_text(DROP + "raise ValueError('no')\n")
    status, out, err = profile("--html", "page.html", "in.py", "0")
    assert (status, out) == (1, "") and "ValueError: no" in err.splitlines()[-2] and not (tmp_path / "page.html").exists()
    (tmp_path / "in.py").write_text("SOLFEC('DYNAMIC', 1E-3, None)\n")
    assert profile("in.py")[1].endswith("The input made no step.\n")
