"""Patterns of labels: POSIX basic regular expressions, alike in every command that takes them."""

from __future__ import annotations

import re
import shutil
import subprocess

import h5py
import numpy as np
import pytest
from unit_cube import CUBE

import solfec as s
from solfec.patterns import compiled
from solfec.results import ResultsReader

pytestmark = pytest.mark.usefixtures("fresh_session")

EXPRESSIONS = [
    ("^BOD.*A$", "BODY12A", True),
    ("a+b", "a+b", True),
    ("a+b", "aab", False),
    (r"a\+b", "aab", True),
    ("(1)", "part (1)", True),
    (r"\(ab\)\{2\}c", "ababc", True),
    (r"\(.\)\1", "abba", True),
    (r"\(.\)\1", "abab", False),
    ("a{2}", "aa", False),
    ("x|y", "x", False),
    (r"x\|y", "y", True),
    (r"a\|^b", "cb", False),
    ("*a", "*a", True),
    ("^*a", "*a", True),
    (r"\(*a\)", "*a", True),
    ("^a**$", "aaa", True),
    (r"^a*\+ab$", "aaab", True),
    ("a^b", "a^b", True),
    ("a$b", "a$b", True),
    (r"\(a$\)", "ba", True),
    ("[[:alpha:]]1", "a1", True),
    ("[[:alpha:]]1", "+1", False),
    ("[[:digit:]]*$", "b12", True),
    ("^[^[:digit:]]$", "1", False),
    ("[]x]", "]", True),
    ("[a-c]$", "ab", True),
    (r"^[\]$", "\\", True),
    ("a.c", "abc", True),
    (r"a\.c", "abc", False),
]
LABELS = {"a1": 1.0, "+1": 2.0, "a22": 4.0}  # and velocities, of which any sum tells whose they are
CHOICES = [("[[:alpha:]]1$", ["a1"]), ("+1", ["+1"]), (r"a2\{2\}$", ["a22"]), (r"^+\|2$", ["+1", "a22"]), (r"^a\+", ["a1", "a22"])]


@pytest.mark.parametrize("pattern, label, matches", EXPRESSIONS)
def test_expressions_are_posix_basic(pattern, label, matches):
    assert bool(compiled(pattern).search(label)) == matches


@pytest.mark.skipif(not shutil.which("grep"), reason="grep is not here")
@pytest.mark.parametrize("pattern, label, matches", EXPRESSIONS)
def test_grep_is_of_the_same_opinion(pattern, label, matches):
    found = subprocess.run(["grep", "-G", "-q", "-e", pattern], input=label + "\n", text=True, timeout=20, check=False)
    assert (found.returncode == 0) == matches


@pytest.mark.parametrize("pattern", [r"\(a", "[a", "[[:letter:]]", "[z-a]", r"a\{2,1\}"])
def test_what_is_no_expression_is_refused(pattern):
    with pytest.raises(ValueError) as refused:
        compiled(pattern)
    assert repr(pattern) in str(refused.value)


def cubes(path, kind="FINITE_ELEMENT", moving=True):
    """Three cubes with the labels above, each with its velocity along x."""
    model = s.SOLFEC("DYNAMIC", 1e-3, str(path))
    model.verbose = "OFF"
    bulk = s.BULK_MATERIAL(model, young=1e3, poisson=0.3, density=1)
    bodies = []
    for k, (label, speed) in enumerate(LABELS.items()):
        bodies.append(s.BODY(model, kind, s.TRANSLATE(s.HEX(CUBE, 1, 1, 1, 1, [1] * 6), (3 * k, 0, 0)), bulk, label, form="TL"))
        if moving:
            s.INITIAL_VELOCITY(bodies[-1], (speed, 0, 0), (0, 0, 0))
    return model, bodies


def labels_of(path):
    with ResultsReader(str(path)) as reader:
        ids = set(reader.table("model/shapes")["body"].tolist())
        return sorted(label for number, label in reader.labels.items() if number in ids)


def exported(path):
    """Identifiers of the bodies in the HDF5 file of an export."""
    found = set()
    with h5py.File(path) as file:
        file.visititems(lambda name, item: found.update(item[:].tolist()) if re.fullmatch("GRIDS/.*/BID|.*/CellData/BID", name) else None)
    return found


@pytest.mark.parametrize("command", [s.INITIALIZE_STATE, s.RIGID_TO_FEM])
@pytest.mark.parametrize("pattern, labels", CHOICES)
def test_states_are_taken_by_patterns(tmp_path, command, pattern, labels):
    source, _ = cubes(tmp_path / "source", "FINITE_ELEMENT" if command is s.INITIALIZE_STATE else "RIGID")
    s.RUN(source, s.PENALTY_SOLVER(), 1e-3)
    model, bodies = cubes(tmp_path / "target", moving=False)
    arguments = (model, str(tmp_path / "source"), 0.0) if command is s.INITIALIZE_STATE else (str(tmp_path / "source"), 0.0, model)
    command(*arguments, pattern)
    speeds = [s.VELOCITY(body, body.center)[0] for body in bodies]
    np.testing.assert_allclose(speeds, [LABELS[label] * (label in labels) for label in LABELS], atol=1e-9)


@pytest.mark.parametrize("pattern, labels", CHOICES)
def test_bodies_are_exported_by_patterns(tmp_path, pattern, labels):
    model, _ = cubes(tmp_path / "run")
    s.SOLFEC_EXPORT(model, 0, str(tmp_path / "part"), pattern)
    assert labels_of(tmp_path / "part") == sorted(labels)
    s.VTK_EXPORT(model, 0, str(tmp_path / "part"), pattern)
    numbers = {list(LABELS).index(label) + 1 for label in labels}
    assert exported(tmp_path / "part.vtkhdf") == numbers
    s.XDMF_EXPORT(model, 0, str(tmp_path / "xdmf"), pattern)
    assert exported(*(tmp_path / "xdmf").glob("*.h5")) == numbers


@pytest.mark.parametrize("pattern, labels", CHOICES)
def test_snapshots_are_taken_by_patterns(tmp_path, pattern, labels):
    model, _ = cubes(tmp_path / "run")
    snapshots = s.COROTATED_DISPLACEMENTS(model, pattern, [1e-3])
    s.RUN(model, s.PENALTY_SOLVER(), 2e-3)
    assert len(snapshots) == len(labels)
